"""A run that breaks where hinges become parallel says so, and which; no other run does."""

from math import pi

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintFunction,
    Joint,
    Load,
    Machine,
    Mechanism,
    Point,
    Scenario,
    Solver,
    assemble,
    simulate,
)
from robodyn.base.symbolic import sqrt
from robodyn.computation.results import OutcomeKind
from robodyn.computation.simulation.outcomes import find_dependent_joints

LOAD = Load("push", "side", (1.0, 2.0, 3.0))


def gimbal(initial, constraints=(), **fields):
    """A body on three hinges with massless frames between: first and third are parallel at a pitch of 90 deg."""
    bodies = (Body("outer"), Body("inner"), Body("top", 2.0, (0, 0, 0), (0.1, 0.2, 0.3)))
    joints = (
        Joint("yaw", "revolute", GROUND, "outer", axis=(0, 0, 1)),
        Joint("pitch", "revolute", "outer", "inner", axis=(0, 1, 0)),
        Joint("roll", "revolute", "inner", "top", axis=(1, 0, 0)),
    )
    mechanism = Mechanism("gimbal", bodies, joints, (Point("side", "top", (0.1, 0.2, 0.3)),), (0, 0, 0))
    machine = Machine("gimbal", mechanism, loads=(LOAD,), constraints=constraints)
    return Scenario("gimbal", machine, 2.0, initial, **fields)


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "rk4"])
def test_a_start_with_parallel_axes_names_them(method):
    run = simulate(gimbal({"pitch.position": pi / 2}, solver=Solver(method)))
    assert not run.outcome.ok
    assert "'yaw' and 'roll' have parallel axes" in run.outcome.sentence


@pytest.mark.parametrize(("method", "limit"), [("dopri5", 2000), ("rodas4", 2000), ("rk4", 10_000)])
def test_a_motion_into_parallel_axes_names_them(method, limit):
    turn = ConstraintFunction("turn", ("pitch",), lambda angle, time: angle - time)
    solver = Solver(method, step=1e-3 if method == "rk4" else None, max_steps=limit)
    run = simulate(gimbal({"roll.velocity": 1.0, "pitch.velocity": 1.0}, (turn,), solver=solver))
    assert not run.outcome.ok
    assert run.outcome.time == pytest.approx(pi / 2, abs=0.01)
    assert "'yaw' and 'roll' have parallel axes" in run.outcome.sentence


def test_other_failures_are_not_blamed_on_axes():
    """A light body between heavy ones on parallel slides, and a law that breaks."""
    bodies = (Body("light", 1e-5), Body("heavy", 1.0))
    slides = (Joint("first", "prismatic", GROUND, "light"), Joint("second", "prismatic", "light", "heavy"))
    root = Block("root", lambda place: {"force": -sqrt(place + 1.0)}, on="first", inputs={"place": "first.position"})
    run = simulate(Scenario("slides", Machine("slides", Mechanism("slides", bodies, slides), (root,)), 5.0))
    assert run.outcome.kind is OutcomeKind.NOT_A_NUMBER
    assert "parallel" not in run.outcome.sentence


@pytest.mark.parametrize("n", [3, 10, 20])
def test_the_joints_of_a_chain_are_independent_however_long_it_is(n):
    bodies = [Body(f"b{k}", 0.1, (0.05, 0, 0), (0, 1e-5, 1e-5)) for k in range(n)]
    joints = [
        Joint(f"j{k}", "revolute", f"b{k - 1}" if k else GROUND, f"b{k}", (0.1 if k else 0.0, 0, 0), axis=(0, 1, 0))
        for k in range(n)
    ]
    system = assemble(Scenario("chain", Machine("chain", Mechanism("chain", bodies, joints)), 1.0))
    assert find_dependent_joints(system, np.zeros(len(system.states))) == []


def test_a_point_mass_that_joints_can_turn_about_is_named_as_the_cause():
    """Two hinges whose axes span the line through a point mass: turning about that line moves nothing."""
    bodies = (Body("neck"), Body("head", 1.3, (0.1, 0.0, 0.2)))
    joints = (
        Joint("nod", "revolute", GROUND, "neck", axis=(1, 0, 0)),
        Joint("turn", "revolute", "neck", "head", axis=(0, 0, 1)),
    )
    run = simulate(Scenario("neck", Machine("neck", Mechanism("neck", bodies, joints)), 1.0))
    assert not run.outcome.ok
    assert "'nod' and 'turn' can rotate without moving anything that has inertia, since 'head'" in run.outcome.sentence
