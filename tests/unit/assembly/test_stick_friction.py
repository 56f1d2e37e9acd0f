"""Friction that sticks: joints held together are found, flaws are reported."""

import numpy as np
import pytest

from robodyn import Block, Body, Joint, LinearCombination, Machine, Mechanism, ModelError, Scenario, assemble, law
from robodyn.computation.assembly.contact.stick_friction import find_held_joints


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
