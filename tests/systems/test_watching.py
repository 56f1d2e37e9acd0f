"""Adaptive steps see what drives a machine and what is watched, also where no state moves."""

import math
from dataclasses import replace

import numpy as np
import pytest

from robodyn import GROUND, Block, Body, Delay, Event, Joint, Machine, Mechanism, Point, Scenario, Solver, law, simulate
from robodyn.base import symbolic as sym

METHODS = (Solver("dopri5"), Solver("dopri5", rtol=1e-9, atol=1e-11), Solver("rodas4"))


def sliding_mass(*blocks):
    slide = Joint("slide", "prismatic", GROUND, "mass", axis=(1, 0, 0))
    return Machine("mass", Mechanism("mass", (Body("mass", 1.0),), (slide,)), blocks)


def held_mass(amplitude, frequency, static):
    """Held by friction against a drive that follows a sine."""
    return sliding_mass(
        Block("reference", "sine_reference", parameters={"amplitude": amplitude, "frequency": frequency}),
        Block(
            "control",
            "pd_control",
            on="slide",
            inputs={"target": "reference.value"},
            parameters={"proportional": 100.0, "derivative": 10.0},
        ),
        Block("drive", "torque_source", on="slide", inputs={"command": "control.command"}),
        Block("friction", "stick_friction", on="slide", parameters={"coulomb": 2.0, "static": static}),
    )


def slips(run):
    return sum(event.name == "friction.slips" for event in run.events)


@pytest.mark.parametrize("solver", METHODS, ids=str)
@pytest.mark.parametrize(("amplitude", "frequency"), [(0.05, 1.0), (0.031, 2.0), (0.035, 10.0), (0.0301, 5.0)])
def test_no_slip_of_a_held_joint_is_missed(amplitude, frequency, solver):
    scenario = Scenario("held", held_mass(amplitude, frequency, 3.0), 4.0)
    run, short = simulate(scenario, solver), simulate(scenario, Solver("dopri5", rtol=1e-9, max_step=1e-3))
    # The drive passes what friction holds twice a period, by 0.3 % in the last case.
    assert slips(run) == slips(short) >= 7 * frequency
    times = np.linspace(0, 4.0, 801)
    np.testing.assert_allclose(run["slide.position"](times), short["slide.position"](times), atol=2e-7)


@pytest.mark.parametrize("solver", METHODS, ids=str)
def test_a_short_pulse_on_a_mass_at_rest_is_seen(solver):
    pulse = Block("pulse", lambda time: {"force": 10 * sym.exp(-(((time - 7) / 0.05) ** 2))}, on="slide")
    run = simulate(Scenario("pulse", sliding_mass(pulse), 10.0), solver)
    # The impulse of the pulse, 10 N 0.05 s sqrt(pi), on 1 kg.
    assert run.final["slide.velocity"] == pytest.approx(0.5 * math.sqrt(math.pi), rel=1e-6)


def test_a_load_that_begins_to_swing_late_is_seen():
    def shake(time):
        return {"force": 1.5 * sym.where(time < 3.0, 0.5, 1.0) * sym.sin(10 * math.pi * time)}

    friction = Block("friction", "stick_friction", on="slide", parameters={"coulomb": 1.0})
    scenario = Scenario("late", sliding_mass(Block("shake", shake, on="slide"), friction), 10.0)
    assert slips(simulate(scenario)) == slips(simulate(scenario, Solver("dopri5", max_step=1e-3))) == 70


@pytest.mark.parametrize("acts", [False, True])
@pytest.mark.parametrize("direction", ["falling", "rising", "both"])
def test_every_passage_of_a_crank_at_constant_speed_is_counted(direction, acts):
    """Its angle is a straight line, so that the error of the states allows any step."""
    hinge = Joint("hinge", "revolute", GROUND, "crank")
    crank, tip = Body("crank", 1.0, inertia=(1, 1, 1)), Point("tip", "crank", (1, 0, 0))
    mechanism = Mechanism("crank", (crank,), (hinge,), (tip,))
    counter = Block("counter", lambda n: {"count": n}, memory={"n": 0.0})
    inputs = {"x": "tip.position.x"} | ({"n": "counter.n"} if acts else {})
    action = {"action": lambda n: {"counter.n": n + 1}} if acts else {}
    random = np.random.default_rng(5)
    for speed, start, level in random.uniform((0.5, -3.0, -0.99), (40.0, 3.0, 0.99), (8, 3)).tolist():
        event = Event("edge", lambda x, level=level: x - level, inputs, direction=direction, **action)
        scenario = Scenario(
            "turning",
            Machine("crank", mechanism, (counter,)),
            10.0,
            {"hinge.velocity": speed, "hinge.position": start},
            (event,),
        )
        course = np.sign(np.cos(start + speed * np.linspace(0, 10.0, 1_000_001)) - level)
        changes = np.diff(course)
        expected = {"falling": changes < 0, "rising": changes > 0, "both": changes != 0}[direction].sum()
        assert len(simulate(scenario).events) == expected


def limited_sine(phase):
    """A force of sin(2 t + phase) that an amplifier limits to 0.7."""
    sine = {"amplitude": 1.0, "frequency": 1 / math.pi, "phase": phase}
    reference = Block("reference", "sine_reference", parameters=sine)
    drive = {"on": "slide", "inputs": {"command": "reference.value"}, "parameters": {"torque_limit": 0.7}}
    return Scenario("limited", sliding_mass(reference, Block("drive", "torque_source", **drive)), 3.0)


def impulse(phase, end=3.0):
    """Of the limited sine: its antiderivative, piece by piece between the times at which the limit is met."""
    meets = [(k * math.pi + side * math.asin(0.7) - phase) / 2 for k in range(-2, 4) for side in (-1, 1)]
    times = np.sort(np.clip([0.0, end, *meets], 0.0, end))
    total = 0.0
    for a, b in zip(times[:-1], times[1:], strict=True):
        middle = math.sin(a + b + phase)
        free = (math.cos(2 * a + phase) - math.cos(2 * b + phase)) / 2
        total += free if abs(middle) < 0.7 else math.copysign(0.7 * (b - a), middle)
    return total


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_steps_end_where_a_limit_bends_what_drives(method):
    """Both solutions of an embedded pair may be off alike at a bend: with luck of the wrong kind, by far too much."""
    for phase in np.linspace(0.0, 3.0, 25):
        run = simulate(limited_sine(float(phase)), Solver(method, rtol=1e-9, atol=1e-9))
        assert run.final["slide.velocity"] == pytest.approx(impulse(phase), abs=1e-9)


def test_steps_end_where_a_force_of_time_jumps():
    kick = Block("kick", lambda time: {"force": sym.where(time > math.sqrt(2), 3.0, 1.0)}, on="slide")
    run = simulate(Scenario("kick", sliding_mass(kick), 3.0), Solver("dopri5"))
    assert run.final["slide.velocity"] == pytest.approx(3 * 3.0 - 2 * math.sqrt(2), abs=1e-12)
    assert run.statistics.rejected == 0
    assert {1.0, 3.0} == set(run["kick.force"].values)


def test_what_is_smooth_has_no_bends():
    """A short pulse and a fast sine: steps are as long as they need, and nothing breaks their signals."""
    swing = Block(
        "swing", lambda time: {"force": sym.sin(200 * time) + sym.exp(-(((time - 1) / 0.01) ** 2))}, on="slide"
    )
    run = simulate(Scenario("swing", sliding_mass(swing), 2.0), Solver("dopri5"))
    assert np.all(np.diff(run.time) > 0)


def test_what_jumps_all_the_time_is_left_to_the_control_of_steps():
    """A ramp that is counted in steps of 1/400: on the average it is 1/800 lower."""
    counted = Block("counted", lambda time: {"force": sym.floor(400 * time) / 400}, on="slide")
    run = simulate(Scenario("counted", sliding_mass(counted), 2.0), Solver("dopri5"))
    assert run.outcome.ok
    assert np.all(np.diff(run.time) > 0)
    assert run.final["slide.velocity"] == pytest.approx(2.0 - 2.0 / 800, abs=1e-4)


@law(force="N", position="m", stiffness="N/m", limit="N")
def limited_spring(position, *, stiffness, limit):
    """A force that a limit bends."""
    return {"force": sym.clip(-stiffness * position, -limit, limit)}


def test_a_force_that_reaches_its_limit_inside_steps_is_followed_to_the_tolerance():
    """Parabolas beyond the limit, sines within it: a mass that starts at x = 1 where the limit begins at x = 1/4.

    In a quarter period x falls to 1/4 with -40 m/s^2, and then to 0 as a sine.
    """
    spring = Block("spring", limited_spring, on="slide", parameters={"stiffness": 160.0, "limit": 40.0})
    outside, omega = math.sqrt(2 * 0.75 / 40.0), math.sqrt(160.0)
    inside = math.atan2(0.25 * omega, math.sqrt(2 * 40.0 * 0.75)) / omega
    period = 4 * (outside + inside)
    for method in ("dopri5", "auto"):
        run = simulate(Scenario("mass", sliding_mass(spring), 5 * period, {"slide.position": 1.0}), Solver(method))
        # The energy, and the phase after five periods: steps across the bends were off by 5e-5.
        assert run["slide.position"].final == pytest.approx(1.0, abs=1e-5)
        assert run["slide.velocity"].final == pytest.approx(0.0, abs=2e-5 * omega)


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_limit_in_what_is_delayed_is_followed_where_it_is_reached_and_where_it_arrives(method):
    """Velocity 10 cos(10 t) cut at 4 m/s, 0.3 s late, integrated: 4 m/s at first, then nothing over half periods."""
    blocks = (
        Block("spring", "spring", on="slide", parameters={"stiffness": 100.0, "damping": 0.0}),
        Block(
            "cut",
            "saturation",
            inputs={"value": "slide.velocity"},
            parameters={"lower": -4.0, "upper": 4.0},
            unit="m/s",
        ),
        Block("sum", "limited_integrator", inputs={"rate": "late.output"}, unit="m"),
    )
    machine = replace(sliding_mass(*blocks), delays=(Delay("late", "cut.output", 0.3),))
    scenario = Scenario("late", machine, 0.3 + 3 * math.pi / 10, {"slide.velocity": 10.0})
    # Smeared over steps it was off by 3e-4.
    assert simulate(scenario, Solver(method))["sum.value"].final == pytest.approx(4.0 * 0.3, abs=1e-6)
