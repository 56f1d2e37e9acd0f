"""Time-stepping with rigid contacts: contacts land, stick, slip and part within steps, without located events."""

from dataclasses import replace

import numpy as np
import pytest
from convergence.rates import observed_order

from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import bouncing_ball, box_on_slope, quadruped, two_link
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
    weight = 9.81 * box_on_slope().machine.mechanism.bodies[0].mass
    assert run["slope.force.normal"].final == pytest.approx(weight * np.cos(np.arctan(0.4)), rel=1e-9)


def test_errors_of_a_sliding_box_fall_as_the_step():
    exact, steps = simulate(slope(0.3), LOCATED)["along.position"].final, np.array([4e-3, 2e-3, 1e-3])
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


def test_a_quadruped_trots_as_with_located_events():
    """Its feet land, slip and stop 60 times in 1.2 s; no foot sinks in, and none slips while it stands."""
    names = ("base.?.position", "*.gap", "*.slip")
    scenario = quadruped(rigid=True, duration=1.2).replaced(recording=Recording(rate=100.0, signals=names))
    exact, run = simulate(scenario, LOCATED), simulate(scenario, Solver(METHOD, step=1e-3))
    assert run.certificate.ok
    apart = {axis: np.max(np.abs((run - exact)[f"base.{axis}.position"])) for axis in "xz"}
    assert apart["x"] < 2e-3
    assert apart["z"] < 1e-3
    stands = run["front_left_touch.slip"].t < 0.2
    for leg in ("front_left", "front_right", "rear_left", "rear_right"):
        assert np.min(run[f"{leg}_touch.gap"].values) > -1e-9
        assert np.max(run[f"{leg}_touch.slip"].values[stands][2:]) < 1e-8


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
