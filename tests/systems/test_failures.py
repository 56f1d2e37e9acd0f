"""Does a simulation that cannot go on say when, which state and why, and keep what it has?"""

import numpy as np
import pytest
from support.machines import cart, signals_only

from robodyn import Solver, simulate
from robodyn.base import symbolic as sym
from robodyn.description.model import Block, Recording

EXPLODES = Block("boom", lambda x: {"x_dot": x * x}, states={"x": 1.0})


def test_an_explosion_names_the_state_and_the_time():
    run = simulate(signals_only(EXPLODES, duration=3.0))
    assert run.outcome.failed
    assert "boom.x" in run.outcome.sentence
    # x = 1 / (1 - t)
    assert run.outcome.time == pytest.approx(1.0, abs=1e-3)
    assert run["boom.x"](0.5) == pytest.approx(2.0, rel=1e-5)


def test_a_root_of_a_negative_number_names_the_state_and_keeps_the_run():
    law = Block("leak", lambda x: {"x_dot": -sym.sqrt(x) - 0.1}, states={"x": 1.0})
    run = simulate(signals_only(law, duration=5.0))
    assert run.outcome.failed
    assert "leak.x" in run.outcome.sentence
    assert len(run.time) > 3


@pytest.mark.parametrize("method", ["euler", "heun", "rk4"])
def test_a_fixed_step_beyond_stability_says_so(method):
    spring = Block("spring", "spring", on="rail", parameters={"stiffness": 1e6, "damping": 1e3})
    run = simulate(cart(spring, duration=50.0, initial={"rail.position": 0.01}), Solver(method, step=0.1))
    assert run.outcome.failed
    assert "stability" in run.outcome.sentence
    assert "rail." in run.outcome.sentence


def test_step_and_time_limits_cut_a_run_short():
    scenario = cart(initial={"rail.velocity": 1.0}, duration=1.0)
    run = simulate(scenario, Solver("euler", step=1e-3, max_steps=100))
    assert run.outcome.kind.name == "STEP_LIMIT"
    assert run["rail.position"].final == pytest.approx(0.1, abs=1e-9)
    run = simulate(scenario, Solver("euler", step=1e-9, max_steps=0, max_wall_time=0.2))
    assert run.outcome.kind.name == "WALL_TIME"
    assert 0 < run.outcome.time < 1.0


def test_an_error_in_a_python_block_keeps_the_run_before_it():
    def fails(time):
        if time > 0.5:
            raise RuntimeError("out of paper")
        return {"force": 1.0}

    block = Block("printer", fails, on="rail", period=0.1, native=False, hold={"force": 0.0})
    run = simulate(cart(block))
    assert run.outcome.failed
    assert "out of paper" in run.outcome.sentence
    assert "printer" in run.outcome.sentence
    assert run["rail.velocity"].final == pytest.approx(0.25, abs=0.051)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (RuntimeError("out of paper"), "out of paper"),
        ({"forc": 1.0}, "returned forc; known: force"),
        ({"force": "1.0"}, "must return a number for force, returned '1.0'"),
        ({"force": np.array([1.0])}, "must return a number for force"),
    ],
)
@pytest.mark.parametrize("recording", [Recording(), Recording(rate=100.0), Recording(times=(0.5,))])
def test_a_python_block_that_fails_at_once_is_named_and_leaves_the_start(returned, message, recording):
    def fails(time):
        if isinstance(returned, Exception):
            raise returned
        return returned

    block = Block("printer", fails, on="rail", period=0.1, native=False, hold={"force": 0.0})
    run = simulate(cart(block), recording=recording)
    assert run.outcome.failed
    assert run.outcome.time == 0.0
    assert "'printer' raised" in run.outcome.sentence
    assert message in run.outcome.sentence
    assert len(run.time) == (0 if recording.times else 1)


def test_an_interrupt_keeps_the_run(monkeypatch):
    def interrupt(time, step, steps):
        if time > 0.2:
            raise KeyboardInterrupt

    run = simulate(
        cart(initial={"rail.velocity": 1.0}, duration=1e4), Solver("euler", step=1e-3, max_steps=0), progress=interrupt
    )
    assert run.outcome.kind.name == "INTERRUPTED"
    assert len(run.time) > 100
    assert np.all(np.isfinite(run.values))
