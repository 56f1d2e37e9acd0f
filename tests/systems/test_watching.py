"""Adaptive steps see what drives a machine and what is watched, also where no state moves."""

import math

import numpy as np
import pytest

from robodyn import GROUND, Block, Body, Event, Joint, Machine, Mechanism, Point, Scenario, Solver, simulate
from robodyn import symbolic as sym

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
