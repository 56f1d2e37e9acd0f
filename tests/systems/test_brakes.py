"""Friction whose holding limit a signal opens and closes never drives a machine."""

import numpy as np
import pytest
from support.machines import cart

from robodyn import GROUND, Block, Body, Joint, LinearCombination, Machine, Mechanism, Scenario, Solver, law, simulate
from robodyn.base import symbolic as sym


@law(time="s", value="N", breaks=lambda p: [p["close"], p["open"]])
def press(time, *, height, close, open):
    """A normal force between two times."""
    return {"value": sym.where(time < close, 0.0, sym.where(time < open, height, 0.0))}


def braked(push, start=0.0, stiffness=0.0, duration=1.0, **times):
    mechanism = Mechanism(
        "mass", (Body("mass", 1.0),), (Joint("slide", "prismatic", GROUND, "mass", axis=(1, 0, 0)),), gravity=(0, 0, 0)
    )
    blocks = (
        Block("push", "constant_force", on="slide", parameters={"value": push}),
        Block(
            "spring",
            lambda x, k: {"force": -k * x},
            on="slide",
            inputs={"x": "slide.position"},
            parameters={"k": stiffness},
        ),
        Block("press", press, parameters={"height": 10.0, "close": 0.5, "open": 9.0} | times),
        Block("brake", "brake", on="slide", inputs={"normal": "press.value"}, parameters={"friction": 0.5}),
    )
    return Scenario("braked", Machine("mass", mechanism, blocks), duration, {"slide.velocity": start})


@pytest.mark.parametrize("push", [-1.0, 1.0])
def test_a_brake_that_closes_on_a_mass_pushed_from_rest_stops_it(push):
    run = simulate(braked(push))
    # 1 m/s2 for 0.5 s, then 4 m/s2 against it.
    assert run["slide.velocity"](0.5) == pytest.approx(0.5 * push, rel=1e-9)
    assert run["slide.velocity"](0.6) == pytest.approx(0.1 * push, rel=1e-9)
    assert run.final["slide.velocity"] == 0.0
    assert [(event.name, round(event.time, 9)) for event in run.events] == [("brake.stops", 0.625)]


@pytest.mark.parametrize("phase", np.linspace(0.0, 1.4, 8).tolist())
def test_a_brake_on_a_swinging_mass_never_gives_energy(phase):
    times = {"close": 0.3 + phase, "open": 0.9 + phase}
    run = simulate(braked(0.0, start=1.0, stiffness=40.0, duration=4.0, **times))
    moving = np.abs(run["slide.velocity"].values) > 1e-5
    power = run["brake.torque"].values * run["slide.velocity"].values
    assert power[moving].max(initial=0.0) <= 0.0
    assert run.statistics.energy_error < 1e-5


LAWS = {
    "brake": {"friction": 0.3, "arm": 0.2},
    "clutch": {"friction": 0.25, "radius": 0.1},
    "one_way_clutch": {"capacity": 1.5},
    "two_way_stick_friction": {"coulomb": 0.5, "coulomb_back": 1.5},
}
LEVELS = {"brake": 0.06, "clutch": 0.05}
"""Friction of the laws that something presses, per newton."""


def smoothed(name):
    """The same friction over a very small speed."""
    if name in LEVELS:
        return lambda velocity, normal: {"torque": -LEVELS[name] * sym.maximum(normal, 0.0) * sym.tanh(velocity / 1e-5)}
    forth = LAWS[name].get("coulomb", 0.0)
    return lambda velocity: {"torque": -sym.where(velocity > 0, forth, 1.5) * sym.tanh(velocity / 1e-5)}


def shafts(name, random, sticks):
    """Two shafts, one driven by a torque that swings, the other on a spring; friction between them or on the first."""
    inertia, speed = random.uniform(0.05, 0.6, 2), random.uniform(-3, 3)
    (force, beat, offset), (push, swing), spring = (
        random.uniform((10, 2, -0.3), (30, 15, 1)),
        random.uniform((-4, 1), (4, 12)),
        random.uniform(5, 60),
    )
    bodies = [Body(f"body{k}", 1.0, inertia=(i, i, i)) for k, i in enumerate(inertia)]
    joints = [Joint(name, "revolute", GROUND, body.name) for name, body in zip(("one", "two"), bodies, strict=True)]
    on = "one" if name == "brake" else "slip"
    inputs = {"normal": "press.value"} if name in LEVELS else {}
    friction = (name, LAWS[name]) if sticks else (smoothed(name), {})
    blocks = (
        Block("press", lambda time: {"value": force * (offset + sym.sin(beat * time))}),
        Block("push", lambda time: {"torque": push * sym.sin(swing * time)}, on="one"),
        Block("spring", "spring", on="two", parameters={"stiffness": spring}),
        Block("friction", friction[0], on=on, inputs=inputs, parameters=friction[1]),
    )
    mechanism = Mechanism("shafts", bodies, joints, gravity=(0, 0, 0))
    slip = LinearCombination("slip", {"two": 1.0, "one": -1.0})
    return on, Scenario("shafts", Machine("shafts", mechanism, blocks, (slip,)), 3.0, {"one.velocity": speed})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", LAWS)
def test_random_brakes_and_clutches_never_drive_and_move_as_smoothed_ones(name, seed):
    on, scenario = shafts(name, np.random.default_rng(seed), sticks=True)
    run = simulate(scenario, Solver("dopri5", rtol=1e-8, atol=1e-10))
    smooth = simulate(
        shafts(name, np.random.default_rng(seed), sticks=False)[1], Solver("rodas4", rtol=1e-9, atol=1e-11)
    )
    power = run["friction.torque"].values * run[f"{on}.velocity"].values
    # At rest the speed is rounding.
    assert power.max() < 1e-9
    assert run.statistics.energy_error < 1e-6
    times = np.linspace(0, 3.0, 61)
    for joint in ("one", "two"):
        # The smoothed friction creeps, by up to 1e-5 rad/s where it should hold.
        course, expected = run[f"{joint}.position"](times), smooth[f"{joint}.position"](times)
        np.testing.assert_allclose(course, expected, atol=2e-4)


def test_friction_that_differs_with_the_way_holds_one_load_and_lets_the_other_slide():
    def loaded(push):
        levels = {"coulomb": 1.0, "coulomb_back": 3.0, "static_back": 4.0}
        slide = Joint("slide", "prismatic", GROUND, "mass", axis=(1, 0, 0))
        blocks = (
            Block("push", "constant_force", on="slide", parameters={"value": push}),
            Block("friction", "two_way_stick_friction", on="slide", parameters=levels),
        )
        return simulate(Scenario("mass", Machine("m", Mechanism("m", (Body("mass", 1.0),), (slide,)), blocks), 1.0))

    # 2 N forth pass the level of 1 N; 3.5 N back are held by 4 N, 4.5 N pass them and slide against 3 N.
    assert loaded(2.0)["slide.position"].final == pytest.approx(0.5, rel=1e-9)
    assert loaded(-3.5)["slide.position"].final == 0.0
    assert loaded(-4.5)["slide.position"].final == pytest.approx(-0.75, rel=1e-9)
    assert loaded(0.0)["friction.holding_limit_back"].final == 4.0


def test_a_freewheel_lets_a_load_overrun_and_takes_it_along():
    """A motor that swings, `w = w0 sin(t)`, drives a load through a freewheel: the load keeps the largest speed."""
    bodies = [Body(name, 1.0, inertia=(1, 1, 1)) for name in ("motor", "load")]
    joints = [Joint(f"{body.name}_shaft", "revolute", GROUND, body.name) for body in bodies]
    drive = Block("drive", lambda time: {"torque": 10 * sym.cos(time)}, on="motor_shaft")
    # The slip load - motor may grow freely and not fall below zero speed.
    freewheel = Block("freewheel", "one_way_clutch", on="slip", parameters={"capacity": 100.0})
    slip = LinearCombination("slip", {"load_shaft": 1.0, "motor_shaft": -1.0})
    machine = Machine("pair", Mechanism("pair", bodies, joints, gravity=(0, 0, 0)), (drive, freewheel), (slip,))
    run = simulate(Scenario("pair", machine, 4.0), Solver("dopri5", rtol=1e-9, atol=1e-11))
    # Together they are 2 kg m2 until the torque turns round at pi / 2; then the load goes on alone.
    assert run.events[0].time == pytest.approx(np.pi / 2, abs=1e-7)
    assert run["load_shaft.velocity"].final == pytest.approx(5.0, rel=1e-8)
    assert run["slip.velocity"].values.min() > -1e-9


def test_a_brake_and_friction_on_one_rail_share_what_they_hold():
    """8 N is less than both hold together, 3 N and 6 N, and more than either does; 10 N is more than both."""
    friction = Block("friction", "stick_friction", on="rail", parameters={"coulomb": 3.0})
    more = Block("more", "stick_friction", on="rail", parameters={"coulomb": 6.0})
    load = Block("load", "ramp_reference", parameters={"rate": 10.0})
    push = Block("push", "torque_source", on="rail", inputs={"command": "load.value"})
    run = simulate(cart(load, push, friction, more, duration=1.0))
    assert run.certificate.ok
    at = run.time[run.time < 0.89]
    assert run["friction.torque"](at) == pytest.approx(-10.0 * at / 3, abs=1e-6)
    assert run["more.torque"](at) == pytest.approx(-20.0 * at / 3, abs=1e-6)
    assert {event.name for event in run.events} <= {"friction.slips", "more.slips"}
    # Both slip at 0.9 s; from there 2 kg are pushed by 10 (t - 0.9) N.
    assert min(event.time for event in run.events) == pytest.approx(0.9, abs=1e-6)
    assert run["rail.velocity"].final == pytest.approx(10 * 0.1**2 / 2 / 2, rel=1e-4)
