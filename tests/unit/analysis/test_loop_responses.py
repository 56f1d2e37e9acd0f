"""Do step and frequency responses of sampled loops meet simulations, closed forms and python-control?"""

import json

import numpy as np
import pytest
from support.machines import cart
from support.sampled_loops import FAST, PERIOD, cascade, single_loop
from typer.testing import CliRunner

from robodyn import Solver, simulate
from robodyn.analysis.linear.exchange import loop_to_control
from robodyn.analysis.linear.margins import find_margins, refine_curve, respond_held_step, respond_loop
from robodyn.analysis.linear.sampling import linearise_sampled
from robodyn.analysis.step_response import measure_step
from robodyn.cli.application import app
from robodyn.computation.results.signal import Signal
from robodyn.description.model import Block


def inner_alone(duration):
    """The inner loop of the cascade, its command a constant."""
    inner = Block(
        "inner", "sampled_velocity_loop", on="rail", inputs={"velocity_command": 1.0},
        parameters={"proportional": 150.0, "integral": 900.0}, period=FAST, delay=1e-3,
    )  # fmt: skip
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "inner.torque_command"})
    return cart(inner, drive, duration=duration)


def test_a_step_of_a_held_command_is_what_a_simulation_with_that_command_does():
    """The machine is linear; two rates and a delay within a sample."""
    model = linearise_sampled(cascade(offset=0.0, slow_delay=0.0), outputs=["rail.velocity"])
    found = respond_held_step(model, "outer.velocity_command", "rail.velocity", 0.2)
    run = simulate(inner_alone(0.2), Solver("dopri5", rtol=1e-11, atol=1e-14))
    assert found.time.size == 200
    np.testing.assert_allclose(found.values, run["rail.velocity"](found.time), atol=1e-8)


def test_rise_and_settling_of_a_lag_are_logarithms():
    time = np.linspace(0, 10, 20001)
    found = measure_step(Signal("y", "", time, 1 - np.exp(-2 * time)), 0.0, final=1.0)
    assert found.rise_time() == pytest.approx(np.log(9) / 2, rel=1e-6)
    assert found.settling_time() == pytest.approx(np.log(50) / 2, rel=1e-6)
    assert found.settling_time(0.5) == pytest.approx(np.log(2) / 2, rel=1e-6)
    assert np.isnan(measure_step(Signal("y", "", time[:100], time[:100]), 0.0, final=1.0).settling_time())


def test_a_narrow_resonance_between_the_points_of_a_grid_is_found_as_high_as_it_is():
    """1 / (1 - r^2 + 2 i D r), r = f / 10 Hz, is 1 / (2 D) at its peak."""

    def gain(frequency):
        r = frequency / 10
        return 1 / (1 - r**2 + 2e-3j * r)

    grid = np.geomspace(0.1, 1000, 500)
    assert np.abs(gain(grid)).max() < 150
    frequency, values = refine_curve(gain, grid, gain(grid))
    assert np.abs(values).max() == pytest.approx(500, rel=5e-3)
    assert np.all(np.diff(frequency) > 0)
    assert frequency.size < 1200


def test_python_control_finds_the_same_margins_and_steps():
    control = pytest.importorskip("control")
    model = linearise_sampled(single_loop(delay=PERIOD), outputs=["plant.output"])
    L = loop_to_control(model, "loop.command")
    gain = control.margin(L)[0]
    assert gain == pytest.approx(find_margins(model, "loop.command").gain_to, rel=1e-6)
    ours = respond_loop(model, "loop.command")
    theirs = L(np.exp(2j * np.pi * ours.frequency * PERIOD))
    np.testing.assert_allclose(theirs, ours.values, rtol=1e-9)
    follow = loop_to_control(model, "loop.command", "plant.output")
    step = respond_held_step(model, "loop.command", "plant.output", 2.0)
    answer = control.step_response(follow, step.time).outputs
    np.testing.assert_allclose(answer, step.values, atol=1e-12)


def test_commands_print_and_draw(tmp_path):
    def call(*arguments):
        result = CliRunner().invoke(app, [*arguments, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    files = [str(tmp_path / name) for name in ("bode.png", "nyquist.png", "step.png")]
    signal = "elbow.velocity_loop.torque_command"
    found = call("bode", "two-link-loop", "--loop", signal, "--plot", files[0], "--nyquist", files[1])["loops"][0]
    at = np.interp(0.0, found["open"]["magnitude_db"][::-1], found["open"]["frequency"][::-1])
    assert at == pytest.approx(found["crossover"], rel=1e-3)
    target = ["--target", "elbow.position_loop.velocity_command", "--answer", "elbow.velocity"]
    step = call("step", "two-link-loop", *target, "--plot", files[2])["responses"][0]
    assert step["final"] == pytest.approx(1.0, rel=0.01)
    assert 0 < step["rise"] < step["settled"]
    # Cut off halfway up, it still rises to the same level.
    cut = call("step", "two-link-loop", *target, "--duration", str(0.5 * step["peak"]))["responses"][0]
    assert cut["final"] == pytest.approx(step["final"], rel=1e-6)
    assert (cut["peak"], cut["settled"]) == (None, None)
    assert all((tmp_path / name).stat().st_size > 5000 for name in ("bode.png", "nyquist.png", "step.png"))
    for arguments, told in (
        (["step", "two-link-loop", "--answer", "elbow.velocity"], "name the input that steps"),
        (["bode", "two-link-loop", "--loop", "elbow.velocity_lop.x"], "is not held by a sampled block"),
        (["bode", "two-link-loop", "--input", "x"], "give both or neither"),
        (["step", "two-link-loop", *target, "--when", "0.1"], "--when: has no effect without a run file"),
        (["step", "one.run", "--answer", "x", "--height", "2"], "--height: has no effect on run files"),
        (["step", "pendulum", "--target", "bob.mass", "--answer", "x", "--friction", "stuck"], "no sampled block"),
    ):
        refused = CliRunner().invoke(app, arguments)
        assert refused.exit_code == 2
        assert told in refused.stderr
