"""Constraints break, hold again and let go at located instants; the equations stay the same."""

from dataclasses import replace
from math import acos, cos, sin, sqrt

import numpy as np
import pytest

from robodyn import (
    Body,
    Distance,
    Event,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    Rod,
    Scenario,
    Solver,
    assemble,
    simulate,
)
from robodyn.description.catalog import breaking_pendulum, cartesian_pendulum

GRAVITY = 9.81
PRECISE = Solver("dopri5", rtol=1e-10, atol=1e-12)


def mass_on_a_rod(*events, initial, active=True, duration=1.0, solver=PRECISE):
    """A mass of 2 kg free in x and z, and a rod of 1 m from the origin that may hold it."""
    joints = (
        Joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0)),
        Joint("z", "prismatic", "slide", "mass", axis=(0, 0, 1)),
    )
    points = (Point("centre", "ground"), Point("tip", "mass"))
    mechanism = Mechanism("mass", (Body("slide"), Body("mass", 2.0)), joints, points)
    rod = Rod("rod", "centre", "tip", 1.0, active=active)
    machine = Machine("mass", mechanism, coordinates=(Distance("reach", "centre", "tip"),), constraints=(rod,))
    return Scenario("mass", machine, duration, initial, events, solver=solver)


def crossing(name, signal, level, direction, **values):
    return Event(name, lambda s, level: s - level, {"s": signal}, {"level": level}, direction, action=lambda: values)


# A line that is slack catches at its length; the margin keeps one that has just slackened from catching at once.
TAUT = Event(
    "taut",
    lambda reach, active, length: reach - length - active,
    {"reach": "reach.position", "active": "rod.active"},
    {"length": 1.0 + 1e-9},
    "rising",
    action=lambda: {"rod.active": 1.0},
)


def test_a_rod_breaks_at_its_strength_and_the_mass_flies_a_parabola():
    run = simulate(breaking_pendulum(strength=20.0))
    # Tension of a pendulum let go horizontally: 3 m g sin(depth); speed from the energy.
    depth = np.arcsin(20.0 / (3 * GRAVITY))
    speed = sqrt(2 * GRAVITY * sin(depth))
    (fracture,) = run.events
    assert fracture.name == "fracture"
    x, z = -cos(depth), -sin(depth)
    flight = run.time > fracture.time
    t = run.time[flight] - fracture.time
    # The rod turns with the mass ahead of it: down and forth.
    assert run["x.position"].values[flight] == pytest.approx(x + speed * sin(depth) * t, abs=1e-7)
    parabola = z - speed * cos(depth) * t - GRAVITY / 2 * t**2
    assert run["z.position"].values[flight] == pytest.approx(parabola, abs=1e-7)
    assert np.all(run["rod.tension"].values[flight] == 0.0)
    assert np.all(run["rod.active"].values[flight] == 0.0)
    assert run.statistics.energy_error < 1e-8


def test_what_is_broken_is_no_error_of_the_constraints():
    run = simulate(breaking_pendulum(strength=20.0))
    assert run.statistics.extra["constraint_position_error"] < 1e-8
    assert run["tip.position.z"].final < -1.5


def test_breaking_leaves_the_number_of_states_and_equations():
    plain, breaking = assemble(cartesian_pendulum()), assemble(breaking_pendulum())
    assert [state.name for state in plain.states] == [state.name for state in breaking.states]
    assert plain.motion.constraint_forces == breaking.motion.constraint_forces


def test_a_strong_rod_does_not_break():
    run = simulate(breaking_pendulum(strength=1.001 * 3 * GRAVITY, duration=2.0))
    assert not run.events
    assert np.max(run["rod.tension"].values) == pytest.approx(3 * GRAVITY, rel=1e-3)


def test_a_line_that_goes_taut_stops_what_moves_along_it_only():
    """Thrown sideways and falling; at 1 m from the origin the line holds: an impact without rebound."""
    start = {"x.position": 0.3, "x.velocity": 1.0}
    run = simulate(mass_on_a_rod(TAUT, initial=start, active=False))
    assert [event.name for event in run.events] == ["taut", "rod.closes"]
    time = run.events[0].time
    assert run.events[1].time == time
    place = np.array([0.3 + time, -GRAVITY / 2 * time**2])
    assert np.linalg.norm(place) == pytest.approx(TAUT.parameters["length"], abs=1e-12)
    before = np.array([1.0, -GRAVITY * time])
    after = before - (before @ place) * place
    first = np.searchsorted(run.time, time, side="right")
    found = [run[f"{axis}.velocity"].values[first - 1] for axis in "xz"]
    assert found == pytest.approx(list(after), abs=1e-8)
    # The line takes the energy of the motion along it, the impulse is 2 kg times the speed along it.
    energy = run["energy.kinetic"].values + run["energy.potential"].values
    assert energy[0] - energy[-1] == pytest.approx(0.5 * 2.0 * (before @ place) ** 2, rel=1e-7)
    assert run["reach.position"].values[first:] == pytest.approx(1.0, abs=1e-8)


def test_a_line_can_slacken_and_go_taut_again():
    """Over the top too slowly, a line slackens where it would push, and catches the mass lower down."""
    slack = crossing("slack", "rod.tension", 0.0, "falling", **{"rod.active": 0.0})
    speed = 6.0
    start = {"z.position": -1.0, "x.velocity": speed}
    run = simulate(mass_on_a_rod(slack, TAUT, initial=start, duration=2.0))
    assert [event.name for event in run.events][:3] == ["slack", "taut", "rod.closes"]
    # Slack where v^2 = g z and v^2 = v0^2 - 2 g (1 + z).
    height = (speed**2 - 2 * GRAVITY) / (3 * GRAVITY)
    assert run["z.position"](run.events[0].time) == pytest.approx(height, abs=1e-7)
    assert np.max(run["reach.position"].values) < 1.0 + 1e-6


def test_a_mass_leaves_a_ball_where_it_would_have_to_be_held():
    """Sliding down a ball of 1 m without friction it leaves at cos(angle) = 2/3 + v^2 / (3 g)."""
    lost = crossing("lost", "rod.tension", 0.0, "rising", **{"rod.active": 0.0})
    speed = 0.2
    run = simulate(mass_on_a_rod(lost, initial={"z.position": 1.0, "x.velocity": speed}, duration=1.5))
    (event,) = run.events
    angle = acos(2 / 3 + speed**2 / (3 * GRAVITY))
    assert run["z.position"](event.time) == pytest.approx(cos(angle), abs=1e-7)
    assert run["x.position"](event.time) == pytest.approx(sin(angle), abs=1e-7)
    # In free flight it never comes back to the ball.
    assert np.min(np.diff(run["reach.position"].values[run.time > event.time])) > 0


@pytest.mark.parametrize("how", ["described", "initial"])
def test_a_constraint_may_be_off_from_the_start(how):
    scenario = mass_on_a_rod(initial={"x.position": 1.0}, active=how != "described")
    if how == "initial":
        scenario = replace(scenario, initial={**scenario.initial, "rod.active": 0.0})
    run = simulate(scenario)
    assert run["z.position"].final == pytest.approx(-GRAVITY / 2, abs=1e-9)
    assert run["rod.tension"].final == 0.0


def test_a_python_action_can_break_a_constraint():
    release = replace(crossing("release", "time", 0.25, "rising", **{"rod.active": 0.0}), native=False)
    run = simulate(mass_on_a_rod(release, initial={"x.position": 1.0}))
    assert run["rod.tension"].final == 0.0
    assert run["x.velocity"].values[-1] == run["x.velocity"].values[-2] != 0.0


def test_what_a_run_before_has_broken_stays_so_or_is_told():
    broken = simulate(breaking_pendulum(strength=20.0))
    with pytest.raises(ModelError, match=r"constraints\.rod: is broken at the end of the run before"):
        simulate(cartesian_pendulum(), start=broken)
    flying = replace(cartesian_pendulum(duration=0.5), initial={"rod.active": 0.0})
    run = simulate(flying, start=broken)
    fall = broken["z.position"].final + broken["z.velocity"].final * 0.5 - GRAVITY / 2 * 0.5**2
    assert run["z.position"].final == pytest.approx(fall, abs=1e-9)
