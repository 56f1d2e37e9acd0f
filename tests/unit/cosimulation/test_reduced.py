"""A reduced interface model is what the whole mechanism does at its interface."""

import dataclasses

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.coupled import START, arm, load

from robodyn import (
    GROUND,
    Body,
    ConstraintMethod,
    Interface,
    Joint,
    Machine,
    Mechanism,
    Point,
    PointCoordinate,
    PrescribedMotion,
    Scenario,
    assemble,
)
from robodyn.computation.cosimulation import (
    Connection,
    CosimSettings,
    ScenarioUnit,
    cosimulate,
    model_from_mobility,
    reduce_system,
)
from robodyn.computation.cosimulation.reduced import invert, turn_between
from robodyn.computation.simulation import close_constraints
from robodyn.description.catalog import four_bars
from robodyn.description.structures import Reduction, Section, beam

STRAIGHT = dict(START) | {"joint5.position": 0.0}


def four_bar():
    """A moving closed loop: one degree of freedom, coupled at its first joint."""
    scenario = four_bars()
    port = Interface("port", "force", on="foot0")
    machine = dataclasses.replace(scenario.machine, interfaces=(port,))
    start = close_constraints(assemble(scenario), guess={"foot0.position": 1.1}, keep=("foot0.position",)).require()
    names = [state.name for state in assemble(scenario).states]
    initial = {
        name: float(value)
        for name, value in zip(names, start.x, strict=True)
        if name.endswith(("position", "velocity"))
    }
    return dataclasses.replace(scenario, machine=machine, initial=initial, constraint_method=ConstraintMethod())


def flexible_rod():
    """A beam on a hinge that bends in its plane, coupled at its tip."""
    section = Section(7.0e10, 2.7e10, 2700.0, 1.0e-3, 1.0e-9, 2.0e-9, 1.7e-9)
    rod = beam("rod", 1.0, section, Reduction(modes=1, directions=("y", "rz")))
    joint = Joint("hinge", "revolute", GROUND, "rod", axis=(0.0, 0.0, 1.0))
    mechanism = Mechanism("rod", (rod,), (joint,), (Point("end", "rod", node="tip"),))
    sway = PointCoordinate("sway", "end", (0.0, 1.0, 0.0))
    machine = Machine("rod", mechanism, coordinates=(sway,), interfaces=(Interface("port", "force", on="sway"),))
    return Scenario("rod", machine, 1.0, {"hinge.position": 0.4})


def driven_arm():
    """Two links, the first of which is made to accelerate, coupled at the second."""
    bodies = (Body("upper", 1.0, (0.25, 0.0, 0.0), (0.05,) * 3), Body("lower", 1.0, (0.25, 0.0, 0.0), (0.05,) * 3))
    joints = (Joint("first", "revolute", GROUND, "upper"), Joint("second", "revolute", "upper", "lower", (0.5, 0, 0)))
    machine = Machine(
        "driven",
        Mechanism("driven", bodies, joints, gravity=(0.0, -9.81, 0.0)),
        constraints=(PrescribedMotion("drive", "first", 0.0, 0.0, 20.0),),
        interfaces=(Interface("port", "force", on="second"),),
    )
    return Scenario("driven", machine, 1.0)


def accelerate(system, x, force):
    """The interface's acceleration, from the rates of the whole system."""
    port = system.motion.ports[0]
    velocity = ca.jtimes(port.velocity, system.symbols.x, system.expressions.rhs)
    function = ca.Function("w_dot", [*system.symbols], [velocity])
    changed = dict(zip(port.interface.names("force"), force, strict=True))
    p = [changed.get(number.name, number.value) for number in system.parameters]
    m = [info.start for info in system.memory]
    return np.array(function(0.0, x, [], m, p)).ravel()


@pytest.mark.parametrize(
    "make",
    [lambda: arm("force", 1.0), flexible_rod, four_bar, driven_arm],
    ids=["arm", "flexible", "loop", "prescribed"],
)
def test_it_accelerates_as_the_whole_mechanism_does(make):
    system = assemble(make())
    x = np.array([state.start for state in system.states])
    if not system.motion.constraint_forces:
        x[system.n_q : 2 * system.n_q] = 0.3 * np.sin(1.0 + np.arange(system.n_q))
    model = reduce_system(system, system.motion.ports[0].interface.name, x)
    rows = len(model.force)
    for force in (np.zeros(rows), *100.0 * np.eye(rows)):
        expected = accelerate(system, x, force)
        found = np.linalg.solve(model.inertia, force + model.effective_force - model.inertial_force)
        # The constraint solver gives way by 1e-7 and corrects for it twice.
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * max(1.0, np.max(np.abs(expected))))


def test_derivatives_of_the_acceleration_give_the_same_model():
    system = assemble(arm("force", 1.0))
    x = np.array([state.start for state in system.states])
    model = reduce_system(system, "grip", x)
    free = accelerate(system, x, np.zeros(6))
    mobility = np.column_stack([accelerate(system, x, column) - free for column in np.eye(6)])
    other = model_from_mobility(mobility, free, model.motion)
    # A condition number of 1e4 on differences of doubles.
    np.testing.assert_allclose(other.inertia, model.inertia, rtol=1e-7, atol=1e-7 * np.max(model.inertia))
    np.testing.assert_allclose(other.force, model.force, rtol=1e-6, atol=1e-6 * np.max(np.abs(model.force)))
    assert other.condition == pytest.approx(model.condition, rel=1e-6)


def test_a_singular_arm_has_no_inertia_and_the_run_says_so():
    system = assemble(arm("force", 1.0, STRAIGHT))
    x = np.array([state.start for state in system.states])
    model = reduce_system(system, "grip", x)
    assert model.condition > 1e12
    units = [
        ScenarioUnit(arm("force", 0.1, STRAIGHT)),
        ScenarioUnit(load("model", 0.1, model.motion)),
    ]
    run = cosimulate(units, [Connection("arm.grip", "load.grip")], settings=CosimSettings(1e-3))
    assert run.outcome.kind.name == "ILL_CONDITIONED"
    assert "'arm.grip' broke down at 0 s" in run.outcome.sentence


@pytest.mark.parametrize("rank", [0, 2, 4])
def test_the_inverse_leaves_out_what_is_not_independent(rank):
    rows = np.random.default_rng(rank).normal(size=(4, rank))
    S = rows @ rows.T

    # Another algorithm for the same: singular values. Rounding, times condition numbers below 1e3.
    np.testing.assert_allclose(invert(S), np.linalg.pinv(S, rcond=1e-10), atol=1e-9)


def test_a_turn_is_that_of_an_independent_implementation():
    first, second = Rotation.from_rotvec([[0.4, -0.2, 1.0], [0.1, 0.9, -0.3]])
    apart = (second * first.inv()).as_rotvec()

    np.testing.assert_allclose(turn_between(first.as_matrix(), second.as_matrix()), apart, atol=1e-15)
    assert np.all(turn_between(first.as_matrix(), first.as_matrix()) == 0.0)


def test_a_condition_number_beyond_the_warning_is_told_once_with_its_value():
    system = assemble(arm("force", 1.0))
    model = reduce_system(system, "grip", np.array([state.start for state in system.states]))
    units = [ScenarioUnit(arm("force", 0.01)), ScenarioUnit(load("model", 0.01, model.motion))]
    joined = [Connection("arm.grip", "load.grip")]
    settings = CosimSettings(1e-3, condition_warning=0.5 * model.condition)
    run = cosimulate(units, joined, settings=settings)
    (warning,) = [text for text in run.warnings if "condition" in text]
    assert f"{model.condition:.2g}" in warning
    assert "0 s" in warning
    quiet = CosimSettings(1e-3, condition_warning=10.0 * model.condition)
    assert not [
        text for text in cosimulate([u.renew() for u in units], joined, settings=quiet).warnings if "condition" in text
    ]
