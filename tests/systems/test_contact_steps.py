"""Time-stepping with rigid contacts: contacts land, stick, slip and part within steps, without located events."""

from dataclasses import replace

import numpy as np
import pytest
from convergence.rates import observed_order

from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import bouncing_ball, box_on_slope, quadruped, two_link
from robodyn.description.catalog.quadruped import LEGS
from robodyn.description.model import Box, Plane, Recording, RigidContact, Solver

METHOD = "stewart_trinkle"
LOCATED = Solver("dopri5", rtol=1e-8, atol=1e-10)


def slope(coefficient):
    """The box of the catalogue on a slope of 0.4 with rigid corners; its friction holds, or does not."""
    friction = {"friction": "dry_friction", "friction_parameters": {"coefficient": coefficient}}
    contact = RigidContact("slope", Box("middle", (0.4, 0.3, 0.2)), Plane("floor"), **friction)
    scenario = box_on_slope()
    return replace(scenario, machine=replace(scenario.machine, contacts=(contact,)))


def test_a_box_on_a_slope_sticks_without_creep():
    run = simulate(slope(0.5), Solver(METHOD, step=2e-3))
    assert run.certificate.ok
    assert np.max(np.abs(run["along.position"].values)) < 1e-12
    # Its corners carry it, and hold it as much as it pulls: friction by the normal force is the slope.
    normal, across = run["slope.force.normal"].final, run["slope.force.x"].final
    assert normal > 1.0
    assert np.hypot(across, run["slope.force.z"].final) == pytest.approx(normal * np.hypot(1.0, 0.4))


def test_errors_of_a_sliding_box_fall_as_the_step():
    # It slides from rest for 1 s with g (sin - mu cos) of the slope.
    exact, steps = 0.5 * 9.81 * (0.4 - 0.3) / np.hypot(1.0, 0.4), np.array([4e-3, 2e-3, 1e-3])
    errors = [abs(simulate(slope(0.3), Solver(METHOD, step=h))["along.position"].final - exact) for h in steps]
    assert observed_order(steps, errors) == pytest.approx(1.0, abs=0.1)


def test_a_bouncing_ball_lands_when_and_as_hard_as_it_should():
    """Landings are found within the step, to first order; heights after a bounce follow from the restitution."""
    scenario, times = bouncing_ball(), []
    exact = simulate(scenario, LOCATED)
    hits = [event.time for event in exact.events if event.name.endswith(".hits")][:3]
    for step in (1e-3, 1e-4):
        run = simulate(scenario, Solver(METHOD, step=step))
        times.append([event.time for event in run.events if event.name.endswith(".touches")][:3])
        assert run.certificate.ok
    late = np.max(np.abs(np.array(times) - hits), axis=1)
    assert late[0] < 1e-3
    assert late[1] < 0.2 * late[0]


def test_a_quadruped_stands_and_then_trots():
    """Its feet land, slip and stop 40 times in 0.8 s; none sinks in, and none slips while it stands."""
    names = ("base.?.position", "*.gap", "*.slip")
    scenario = replace(quadruped(rigid=True, duration=0.8), recording=Recording(rate=100.0, signals=names))
    system = assemble(replace(scenario, solver=Solver(METHOD)))
    run, exact = (simulate(system, Solver(METHOD, step=step)) for step in (1e-3, 1e-4))
    assert run.certificate.ok
    assert np.max(np.abs(run["base.x.position"].values - exact["base.x.position"].values)) < 1e-3
    assert np.max(np.abs(run["base.z.position"].values - exact["base.z.position"].values)) < 1e-3
    for leg in LEGS:
        assert np.min(run[f"{leg}_touch.gap"].values) > -1e-9
        # While the robot stands, 0.2 s, and settles by 2 mm: what sticks moves by the curvature of its way in a step.
        assert np.sum(run[f"{leg}_touch.slip"].values[:20]) * 0.01 < 1e-6


def test_what_it_cannot_move_is_refused():
    with pytest.raises(ModelError, match="moves machines with rigid contacts"):
        simulate(two_link.two_link_loop(0.1), Solver(METHOD))
    soft = slope(0.5)
    bristles = {
        "friction": "bristle_friction",
        "friction_parameters": {"coefficient": 0.5, "stiffness": 1e4, "damping": 10.0},
    }
    contact = replace(soft.machine.contacts[0], **bristles)
    with pytest.raises(ModelError, match="takes dry_friction or none, not bristle_friction"):
        simulate(replace(soft, machine=replace(soft.machine, contacts=(contact,))), Solver(METHOD))
