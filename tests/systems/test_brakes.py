"""Friction whose holding limit a signal opens and closes never drives a machine."""

import numpy as np
import pytest

from robodyn import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario, law, simulate
from robodyn import symbolic as sym


@law(sticks=True, velocity="m/s", force="N", holding_limit="N", normal="N")
def brake(velocity, direction, normal, *, mu):
    """Dry friction under a normal force."""
    return {"force": -mu * normal * direction, "holding_limit": mu * normal}


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
        Block("brake", brake, on="slide", inputs={"normal": "press.value"}, parameters={"mu": 0.5}),
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
    power = run["brake.force"].values * run["slide.velocity"].values
    assert power[moving].max(initial=0.0) <= 0.0
    assert run.statistics.energy_error < 1e-5
