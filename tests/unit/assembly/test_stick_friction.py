"""Friction that sticks: directions agree with forces, joints held together are found, flaws are reported."""

import casadi as ca
import numpy as np
import pytest

from robodyn import Block, Body, Joint, LinearCombination, Machine, Mechanism, ModelError, Scenario, assemble, law
from robodyn.assembly.builder import StickElement
from robodyn.assembly.held_joints import find_held_joints
from robodyn.assembly.stick_friction import Sticking


def direction_finder(k):
    """Directions of k elements at rest as a function of S, g, and of what slides and holds forth and back."""
    S, g, sliding, holding = (
        ca.SX.sym("S", k, k),
        ca.SX.sym("g", k),
        ca.SX.sym("sliding", k, 2),
        ca.SX.sym("held", k, 2),
    )
    elements = tuple(
        StickElement(
            *(None, "s", "f", ca.SX(0), ca.SX(0)),
            *(-sliding[i, 0], sliding[i, 1], ca.SX(0)),
            (holding[i, 0], holding[i, 1]),
            {},
        )
        for i in range(k)
    )
    sticking = Sticking(elements, None, None, S, ca.SX.zeros(k), ca.SX.zeros(k), g, ())
    directions, _ = sticking.find_directions()
    return ca.Function("directions", [S, g, sliding, holding], [ca.vertcat(*directions)])


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("ratio", [1.0, 1.5])
@pytest.mark.parametrize("back", [1.0, 4.0, 0.0])
def test_directions_agree_with_forces_and_accelerations(k, ratio, back):
    """Also where friction back is another than forth, or none as in a one-way clutch."""
    find, generator = direction_finder(k), np.random.default_rng(k)
    for _ in range(300):
        root = generator.normal(size=(k, k))
        S, g = root @ root.T + 0.01 * np.eye(k), generator.normal(size=k) * generator.choice([1.0, 10.0])
        sliding = generator.uniform(0.1, 3.0, (k, 1)) * [1.0, back]
        direction = np.array(find(S, g, sliding, ratio * sliding)).ravel()
        stuck, force = direction == 0, np.where(direction > 0, -sliding[:, 0], sliding[:, 1])
        if stuck.any():
            due = -(g + S @ np.where(stuck, 0.0, force))[stuck]
            force[stuck] = np.linalg.solve(S[np.ix_(stuck, stuck)], due)
        # What holds is within its limits, and what slides does so against its friction; the margin of 1e-9 aside.
        margin = 1e-8 * ratio * sliding.sum(axis=1)
        assert np.all(force[stuck] >= (-ratio * sliding[:, 0] - margin)[stuck])
        assert np.all(force[stuck] <= (ratio * sliding[:, 1] + margin)[stuck])
        assert np.all((direction * (g + S @ force) + margin * np.diag(S))[~stuck] >= 0)


def test_joints_held_together_are_found():
    # A piston over joints 0 and 1, one over joint 0: together they hold both; joint 2 is free.
    G = np.array([[1.0, 0.5, 0.0], [2.0, 0.0, 0.0]])
    assert find_held_joints(G) == (((1,),), ((0, 1),), ())


def arm(*blocks, coordinates=()):
    mechanism = Mechanism(
        "arm",
        [Body("upper", 1.0, inertia=(1, 1, 1, 0, 0, 0)), Body("lower", 1.0, inertia=(1, 1, 1, 0, 0, 0))],
        [Joint("one", "revolute", "ground", "upper"), Joint("two", "revolute", "upper", "lower")],
    )
    return Scenario("arm", Machine("arm", mechanism, blocks=blocks, coordinates=coordinates), 1.0)


def stick(name, on):
    return Block(name, "stick_friction", on=on, parameters={"coulomb": 1.0})


def test_friction_on_dependent_motions_is_warned_of():
    coupled = LinearCombination("sum", {"one": 1.0, "two": 1.0})
    system = assemble(arm(stick("a", "one"), stick("b", "two"), stick("c", "sum"), coordinates=[coupled]))
    assert any("share its load" in warning for warning in system.warnings)
    assert not assemble(arm(stick("a", "one"), stick("b", "two"))).warnings


def test_a_direction_cannot_be_given():
    scenario = arm(stick("a", "one"))
    with pytest.raises(ModelError, match="found from the speed"):
        assemble(Scenario("arm", scenario.machine, 1.0, initial={"a.direction": 1.0}))
    with pytest.raises(ModelError, match="found from the speed"):
        Block("a", "stick_friction", on="one", parameters={"coulomb": 1.0}, memory={"direction": 1.0})


def test_friction_that_sticks_needs_a_place_and_no_period():
    with pytest.raises(ModelError) as error:
        Block("a", "stick_friction", inputs={"velocity": 0.0}, parameters={"coulomb": 1.0}, period=0.001)
    assert {"on", "period"} <= {flaw.path for flaw in error.value.flaws}


def test_a_law_that_sticks_returns_its_force_and_its_limit():
    @law(sticks=True)
    def forgetful(velocity, direction):
        return {"torque": -direction}

    with pytest.raises(ModelError, match="holding_limit"):
        assemble(arm(Block("a", forgetful, on="one")))


def test_a_law_that_sticks_takes_a_direction():
    with pytest.raises(TypeError, match="direction"):

        @law(sticks=True)
        def aimless(velocity):
            return {"torque": 0.0, "holding_limit": 1.0}
