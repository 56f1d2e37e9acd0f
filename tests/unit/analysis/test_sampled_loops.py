"""Is a machine under sampled loops followed exactly from tick to tick, cut open, delayed and driven too?"""

from dataclasses import replace

import numpy as np
import pytest
from support.machines import signals_only
from support.sampled_loops import PERIOD, SLOW, cascade, integrate, proportional, single_loop

from robodyn import Solver, assemble, simulate
from robodyn.analysis.linear.linear_model import Variable
from robodyn.analysis.linear.margins import find_bandwidth, respond_held, respond_loop
from robodyn.analysis.linear.responses import FrequencyResponse
from robodyn.analysis.linear.sampling import lift, linearise_sampled
from robodyn.base.errors import ModelError
from robodyn.description.catalog.two_link import two_link_loop
from robodyn.description.model import Block, Delay


def largest(values, count=4):
    return np.sort(np.abs(values))[::-1][:count]


def test_the_matrix_of_a_turn_repeats_a_simulation():
    """The cascade is linear: states after n turns are the n-th power's, to the solver's tolerance."""
    turns = 30
    scenario = cascade(duration=turns * SLOW)
    model = linearise_sampled(scenario)
    run = simulate(scenario, Solver("dopri5", rtol=1e-11, atol=1e-14))
    start = np.zeros(model.size)
    start[0] = 1e-3
    end = np.linalg.matrix_power(model.matrix, turns) @ start
    names = [variable.name for variable in model.states]
    assert names == ["rail.position", "rail.velocity"]
    np.testing.assert_allclose(end[:2], [run[name].final for name in names], rtol=1e-7)


@pytest.mark.parametrize("signal", ["outer.velocity_command", "inner.torque_command"])
def test_a_loop_cut_and_closed_again_has_the_multipliers_of_the_whole(signal):
    model = linearise_sampled(cascade())
    closed = lift(model, [signal]).multipliers()
    np.testing.assert_allclose(largest(closed), largest(model.multipliers), rtol=1e-9)


@pytest.mark.parametrize("extra", [0.5e-3, 1e-3, 2e-3, 7e-3, 20e-3])
@pytest.mark.parametrize("signal", ["outer.velocity_command", "inner.torque_command"])
def test_a_signal_read_later_is_a_block_that_computes_longer(signal, extra):
    later = {"outer": "slow_delay", "inner": "fast_delay"}[signal.split(".")[0]]
    now = {"slow_delay": 3e-3, "fast_delay": 1e-3}[later]
    slower = linearise_sampled(cascade(**{later: now + extra}))
    delayed = lift(linearise_sampled(cascade()), [signal], extra).multipliers()
    # Pipelines make multipliers near zero, which are known badly; the motions are the largest.
    np.testing.assert_allclose(largest(delayed), largest(slower.multipliers), rtol=1e-7)


@pytest.mark.parametrize("samples", [0, 1, 2])
def test_the_gain_round_a_loop_of_one_rate_is_its_transfer_function(samples):
    """L(z) = k T z^-n / (z - 1)."""
    response = respond_loop(linearise_sampled(single_loop(delay=samples * PERIOD)), "loop.command")
    z = np.exp(2j * np.pi * response.frequency * PERIOD)
    np.testing.assert_allclose(response.values, 3.0 * PERIOD * z**-samples / (z - 1), rtol=1e-9)


def test_what_follows_a_driven_signal_has_its_transfer_function():
    """x / u = T / (z - 1) at the ticks."""
    model = linearise_sampled(single_loop(), outputs=["plant.output"])
    response = respond_held(model, "loop.command", "plant.output", np.array([0.1, 0.5, 2.0, 4.9]))
    z = np.exp(2j * np.pi * response.frequency * PERIOD)
    np.testing.assert_allclose(response.values, PERIOD / (z - 1), rtol=1e-9)


def test_the_bandwidth_of_a_sampled_lag_has_its_closed_form():
    """|a / (z - 1 + a)|^2 = 1/2 at cos(theta) = ((1 - a)^2 + 1 - 2 a^2) / (2 (1 - a)), a = k T."""
    a = 3.0 * PERIOD
    model = linearise_sampled(single_loop())
    gain = respond_loop(model, "loop.command", np.geomspace(1e-3, 4.99, 4000))
    closed = type(gain)(gain.input, gain.output, gain.frequency, gain.values / (1 + gain.values))
    theta = np.arccos(((1 - a) ** 2 + 1 - 2 * a * a) / (2 * (1 - a)))
    # The grid has 470 points a decade and is interpolated between them.
    assert find_bandwidth(closed) == pytest.approx(theta / (2 * np.pi * PERIOD), rel=1e-5)


def test_a_dip_beside_a_resonance_does_not_end_the_band():
    frequency = np.geomspace(0.01, 100, 2000)
    lag, s = 1 / (1 + 1j * frequency / 20), 1j * frequency / 3
    dip = (s**2 + 0.02 * s + 1) / (s**2 + 0.5 * s + 1)
    unit = Variable("u", "V")
    plain, dipped = (FrequencyResponse(unit, unit, frequency, values) for values in (lag, lag * dip))
    assert find_bandwidth(plain) == pytest.approx(20, rel=1e-4)
    # At 20 Hz the dip at 3 Hz has all but passed.
    assert find_bandwidth(dipped) == pytest.approx(20, rel=0.02)
    assert np.isnan(find_bandwidth(FrequencyResponse(unit, unit, frequency, np.ones(2000))))


def test_friction_left_out_is_as_if_it_were_not_there():
    whole = two_link_loop()
    blocks = tuple(block for block in whole.machine.blocks if not block.name.endswith("friction"))
    bare = type(whole)("bare", type(whole.machine)("bare", whole.machine.mechanism, blocks), 1.0)
    ours, theirs = linearise_sampled(whole), linearise_sampled(bare)
    assert len(ours.states) == 4
    np.testing.assert_allclose(ours.matrix, theirs.matrix, atol=1e-12)
    assert ours.notes == ("friction is left out: shoulder.friction, elbow.friction",)


def test_friction_that_sticks_is_a_spring_and_a_damper():
    model = linearise_sampled(two_link_loop(), friction="stuck")
    names = [variable.name for variable in model.states]
    bristle, speed = names.index("shoulder.friction.bristle"), names.index("shoulder.velocity")
    assert model.A[bristle, speed] == 1.0
    without = linearise_sampled(two_link_loop())
    # The torque on the shoulder is -(c0 z + (c1 + c2) w), c0 = 1e5, c1 + c2 = 38, seen through the same inertia.
    added = model.A[speed, speed] - without.A[2, 2]
    assert added / model.A[speed, bristle] == pytest.approx(38 / 1e5, rel=1e-9)


def test_friction_that_slides_has_bristles_bent_by_its_level():
    at = {"shoulder.velocity": 0.5, "elbow.velocity": -0.5}
    model = linearise_sampled(two_link_loop(), at, friction="sliding")
    bent = {variable.name: variable.value for variable in model.states}
    # At ten times the Stribeck velocity the level is the Coulomb torque: 8 N m / 1e5 N m/rad, 4 / 5e4.
    assert bent["shoulder.friction.bristle"] == pytest.approx(8e-5, rel=1e-9)
    assert bent["elbow.friction.bristle"] == pytest.approx(-8e-5, rel=1e-9)


def test_encoders_and_limits_count_as_ideal():
    def loop(value):
        return Block("loop", proportional, inputs={"value": value}, parameters={"gain": 3.0}, period=PERIOD)

    def machine(clipped, measured):
        """A start far beyond the limit: as it is, the loop would seem cut."""
        plant = Block("plant", integrate, inputs={"command": clipped}, states={"value": 40.0})
        sensor = Block("sensor", "quantised", inputs={"value": "plant.value"}, parameters={"resolution": 0.01})
        bounds = {"lower": -1.0, "upper": 1.0}
        limit = Block("limit", "saturation", inputs={"value": "loop.command"}, parameters=bounds)
        return signals_only(plant, sensor, limit, loop(measured))

    rough = linearise_sampled(machine("limit.output", "sensor.measured"))
    plain = linearise_sampled(machine("loop.command", "plant.value"))
    np.testing.assert_allclose(rough.multipliers, plain.multipliers, rtol=1e-12)


def test_what_cannot_be_followed_is_told():
    with pytest.raises(ModelError, match="continuous delays"):
        linearise_sampled(signals_only(*single_loop().machine.blocks, delays=(Delay("late", "plant.value", 0.2),)))
    python = Block(
        "echo", lambda value: {"held": value}, inputs={"value": 1.0}, period=PERIOD, native=False, hold={"held": 0}
    )
    with pytest.raises(ModelError, match="called in Python"):
        linearise_sampled(signals_only(*single_loop().machine.blocks, python))
    with pytest.raises(ModelError, match="did you mean 'stuck'"):
        linearise_sampled(single_loop(), friction="stick")
    with pytest.raises(ModelError, match="no such signal"):
        linearise_sampled(single_loop(), outputs=["plant.valu"])
    model = linearise_sampled(assemble(single_loop()))
    with pytest.raises(ModelError, match="is not held"):
        lift(model, ["plant.value"])
    slow = replace(single_loop().machine.blocks[1], name="slow", period=300 * PERIOD)
    with pytest.raises(ModelError, match="more than 128 times until"):
        lift(linearise_sampled(signals_only(*single_loop().machine.blocks, slow)), ["loop.command"])
    with pytest.raises(ModelError, match="half of the sample rate"):
        respond_loop(model, "loop.command", [1.0, 6.0])
    with pytest.raises(ModelError, match="not an output of the model"):
        respond_held(model, "loop.command", "plant.value")
