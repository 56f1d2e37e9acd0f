"""Parts of digital controllers against their closed forms, and against scipy.signal."""

import math

import numpy as np
import pytest
from scipy import signal
from support.machines import cart, signals_only

from robodyn import Block, Delay, ModelError, Solver, simulate
from robodyn.description.laws import control, filters, hydraulics, references

T = 1e-3
GAINS = {"proportional": 5.0, "integral": 43.0, "derivative": 0.0, "period": T}
EXACT = Solver("dopri5", rtol=1e-10, atol=1e-12)


def run_law(law, values, memory, **parameters):
    """Outputs of a sampled law, called once a sample; values by argument, one entry a sample."""
    found = []
    for sample in zip(*values.values(), strict=True):
        results = law(**dict(zip(values, sample, strict=True)), **memory, **parameters)
        memory = {name: float(results[f"{name}_next"]) for name in memory}
        found.append(results)
    return {name: np.array([float(one[name]) for one in found]) for name in found[0] if not name.endswith("_next")}


def command(law, errors, memory, **parameters):
    still = np.zeros(len(errors))
    values = {"target": errors, "position": still, "velocity": still}
    return run_law(law, values, dict.fromkeys(memory, 0.0), **GAINS, **parameters)["command"]


LAST = ("last_command", "last_error", "last_velocity_error", "last_feed_forward")
VARIANTS = [
    (control.sampled_pid, ("error_sum",), {}),
    (control.back_calculation_pid, ("error_sum",), {"tracking_time": 0.02}),
    (control.incremental_pid, LAST, {}),
]


@pytest.mark.parametrize(("law", "memory", "more"), VARIANTS)
def test_without_a_limit_all_variants_are_proportional_and_sum(law, memory, more):
    errors = np.sin(0.05 * np.arange(200))
    before = np.concatenate([[0.0], np.cumsum(errors)[:-1]])
    assert command(law, errors, memory, **more) == pytest.approx(5.0 * errors + 43.0 * T * before, abs=1e-12)


def test_what_is_beyond_the_limit_is_forgotten_as_each_variant_says():
    """An error of 1 for 0.5 s, limit 6, then -0.2: how long until the command leaves its limit?"""
    errors = np.where(np.arange(1000) < 500, 1.0, -0.2)
    leaves = {law.__name__: command(law, errors, memory, limit=6.0, **more) for law, memory, more in VARIANTS}
    plain = 5.0 * errors + 43.0 * T * np.concatenate([[0.0], np.cumsum(errors)[:-1]])
    # With all of it summed up, the sum alone would hold the command at the limit for hundreds of samples more.
    assert np.sum(plain[500:] > 6.0) > 100
    # The sum stands still where P e + I s first passes the limit, after 24 samples: I s = 1.032.
    assert leaves["sampled_pid"][500:503] == pytest.approx([0.032, 0.0234, 0.0148], abs=1e-12)
    # Only changes are summed: 6 - 5 (1.2), and the last error's share of the sum.
    assert leaves["incremental_pid"][500] == pytest.approx(6.0 - 6.0 + 43.0 * T, abs=1e-12)
    # Drawn back with 1 - exp(-T/Tt) of the excess, which settles where T e = that: excess = I T e / (1 - exp(-T/Tt)).
    excess = 43.0 * T / (1 - math.exp(-T / 0.02))
    assert leaves["back_calculation_pid"][500] == pytest.approx(6.0 + excess - 6.0, rel=1e-6)


def response(law, omega, **parameters):
    """Gain of a sampled filter at a frequency: from its answer to exp(i w k T), settled."""
    k = np.arange(4000)
    memory = dict.fromkeys(law.law_info.memory, 0.0)
    parts = [run_law(law, {"value": wave(omega * T * k)}, memory, **parameters)["output"] for wave in (np.cos, np.sin)]
    return (parts[0][-1] + 1j * parts[1][-1]) / np.exp(1j * omega * T * k[-1])


def analogue(name, w0, s):
    if name == "sampled_low_pass":
        return w0**2 / (s**2 + 2 * 0.6 * w0 * s + w0**2)
    if name == "sampled_notch":
        return (s**2 + 0.2 * 0.5 * w0 * s + w0**2) / (s**2 + 0.5 * w0 * s + w0**2)
    r = (1 + math.sin(0.7)) / math.cos(0.7)
    return 2.0 * r * (s + w0 / r) / (s + w0 * r)


FILTERS = [
    (filters.sampled_low_pass, {"damping": 0.6}),
    (filters.sampled_notch, {"width": 0.5, "depth": 0.2}),
    (filters.sampled_lead, {"lead": 0.7, "gain": 2.0}),
]


@pytest.mark.parametrize(("law", "more"), FILTERS)
def test_filters_are_their_analogue_forms_at_the_design_frequency_and_bilinear_elsewhere(law, more):
    """120 Hz at 1 kHz: without the bend, the frequency would be off by 5 %."""
    w0 = 2 * math.pi * 120.0
    given = {"frequency": 120.0, "period": T, **more}
    assert response(law, w0, **given) == pytest.approx(analogue(law.__name__, w0, 1j * w0), rel=1e-9)
    bent = w0 / math.tan(w0 * T / 2)
    for w in (0.1 * w0, 2.2 * w0):
        s = bent * 1j * math.tan(w * T / 2)
        assert response(law, w, **given) == pytest.approx(analogue(law.__name__, w0, s), rel=1e-9)


def test_the_notch_is_that_of_scipy():
    """iirnotch of quality Q is a notch of depth 0 whose 3-dB band is f/Q wide after the bend."""
    f, quality = 80.0, 6.0
    b, a = signal.iirnotch(f, quality, 1 / T)
    w = 2 * math.pi * f
    width = math.tan(w / quality * T / 2) * (w / math.tan(w * T / 2)) / w * 2 / math.sin(w * T) * math.tan(w * T / 2)
    values = np.random.default_rng(1).normal(size=300)
    parameters = {"frequency": f, "width": width, "period": T}
    found = run_law(filters.sampled_notch, {"value": values}, {"first": 0.0, "second": 0.0}, **parameters)["output"]
    assert found == pytest.approx(signal.lfilter(b, a, values), abs=1e-9)


def test_a_low_pass_without_a_peak_is_scipys_butterworth():
    b, a = signal.butter(2, 60.0, fs=1 / T)
    values = np.random.default_rng(2).normal(size=300)
    given = {"frequency": 60.0, "period": T}
    found = run_law(filters.sampled_low_pass, {"value": values}, {"first": 0.0, "second": 0.0}, **given)["output"]
    assert found == pytest.approx(signal.lfilter(b, a, values), abs=1e-12)


def test_filters_above_half_the_sample_rate_are_refused():
    with pytest.raises(
        ModelError, match=r"parameters.frequency: must be below half the sample rate, 500 Hz, is 500 Hz"
    ):
        Block("f", "sampled_notch", inputs={"value": "x"}, parameters={"frequency": 500.0}, period=T)


def test_a_disturbance_observer_finds_a_constant_force_as_a_first_order_lag():
    """A cart of 2 kg pushed by 3 N, and by a command that changes at the samples."""
    observer = Block(
        "observer",
        "disturbance_observer",
        inputs={"command": "push.force", "velocity": "rail.velocity"},
        parameters={"inertia": 2.0, "frequency": 5.0},
        period=0.01,
    )
    blocks = (
        observer,
        Block("wave", "sine_reference", parameters={"amplitude": 4.0, "frequency": 3.0}, unit="N"),
        Block("push", lambda value: {"force": value}, "rail", {"value": "wave.value"}, period=0.01),
        Block("load", "constant_force", "rail", parameters={"value": 3.0}),
    )
    # The command of this sample, not of the last one: the observer runs after it.
    run = simulate(cart(*blocks[1:], observer, solver=EXACT))
    t = np.arange(20) * 0.01
    assert run["observer.disturbance"](t + 1e-6) == pytest.approx(3.0 * (1 - np.exp(-10 * math.pi * t)), abs=1e-8)


@pytest.mark.parametrize("damping", [0.0, 0.15])
@pytest.mark.parametrize("kind", ["zv_shaper", "zvd_shaper"])
def test_shaped_steps_leave_no_vibration(kind, damping):
    """A mass of 2 kg on a spring whose other end jumps by 10 mm: after the last step it rests there."""
    f = 1.5
    w, T_half = 2 * math.pi * f, filters.shaper_delay(f, damping)
    late = {"late": "d1.output", "later": "d2.output"} if kind == "zvd_shaper" else {"late": "d1.output"}

    def pulled(position, velocity, end):
        return {"force": -2.0 * (w * w * (position - end) + 2 * damping * w * velocity)}

    blocks = (
        Block("jump", "step_reference", parameters={"after": 0.01, "at": 0.1}, unit="m"),
        Block("shaped", kind, inputs={"value": "jump.value", **late}, parameters={"damping": damping}, unit="m"),
        Block("spring", pulled, "rail", {"end": "shaped.output"}),
    )
    delays = [Delay(f"d{k}", "jump.value", k * T_half) for k in (1, 2)][: len(late)]
    run = simulate(cart(*blocks, delays=tuple(delays), solver=EXACT, duration=1.2))
    t = np.linspace(0.1 + len(late) * T_half + 1e-9, 1.2, 50)
    assert run["rail.position"](t) == pytest.approx(0.01, abs=1e-9)
    assert np.max(np.abs(run["rail.velocity"](t))) < 1e-7
    assert abs(run["rail.velocity"](0.1 + 0.5 * T_half)) > 1e-2


def test_an_opening_fed_forward_gives_the_speed_and_carries_the_force():
    """v0(x) = v + F / ch of the actuator itself, on both sides of its dead band."""
    table = {"openings": (-0.3, -0.1, 0.02, 0.08, 0.3), "speeds": (-1.0, -0.5, 0.0, 0.0, 0.8), "leakage": 1e-4}
    for force, velocity in ((300.0, 0.2), (-500.0, 0.0), (50.0, -0.3), (0.0, 0.6)):
        opening = hydraulics.actuator_feed_forward(force, velocity, **table)["opening"]
        found = hydraulics.hydraulic_actuator(opening, velocity, force, oil_compliance=1e-6, **table)
        # Next to the dead band the table is bent by 5e-5 of its speeds.
        assert found["oil_force_dot"] * 1e-6 == pytest.approx(0.0, abs=1e-4)
    assert hydraulics.actuator_feed_forward(0.0, 0.0, **table)["opening"] == pytest.approx(0.05)


def test_friction_fed_forward_carries_an_axis_through_its_reversal():
    """A cart with dry friction of 5 N on a wanted sine: with the feed-forward it follows, without it sticks behind."""
    wave = Block(
        "wave", "sine_reference", parameters={"amplitude": 0.02, "frequency": 1.0, "phase": math.pi / 2}, unit="m"
    )
    rub = Block("rub", "stick_friction", "rail", parameters={"coulomb": 5.0, "static": 5.0})
    inputs = {"target": "wave.value", "target_velocity": "wave.rate", "position": "rail.position"}
    inputs |= {"velocity": "rail.velocity", "acceleration": "wave.acceleration"}

    def control(target, target_velocity, position, velocity, acceleration, known, *, level):
        return {
            "force": 2.0 * acceleration
            + 800.0 * (target - position)
            + 60.0 * (target_velocity - velocity)
            + level * known
        }

    known = Block(
        "known",
        "reversal_feed_forward",
        inputs={"target_velocity": "wave.rate", "target_acceleration": "wave.acceleration"},
        parameters={"coulomb": 5.0, "static": 5.0, "stribeck_velocity": 0.01},
        unit="m",
    )
    errors = []
    for level in (0.0, 1.0):
        drive = Block("drive", control, "rail", inputs | {"known": "known.torque_command"}, {"level": level})
        run = simulate(
            cart(wave, rub, known, drive, initial={"rail.position": 0.02}, solver=Solver(rtol=1e-8, atol=1e-10))
        )
        t = np.linspace(0.3, 1.0, 400)
        errors.append(np.max(np.abs(run["rail.position"](t) - run["wave.value"](t))))
    assert errors[0] > 3e-3
    # What it lags behind while it sticks at a reversal, with the level of 5 N bent over 0.01 m/s.
    assert errors[1] < 1e-5


def test_a_chirp_has_the_frequencies_and_rates_that_it_says():
    given = {"amplitude": 2.0, "start_frequency": 3.0, "end_frequency": 30.0, "duration": 2.0, "begin": 0.5}
    t = np.linspace(0.6, 2.4, 300)
    found = references.chirp_reference(t, **given)
    expected = 2.0 * signal.chirp(t - 0.5, 3.0, 2.0, 30.0, method="logarithmic", phi=-90)
    assert found["value"] == pytest.approx(expected, abs=1e-9)
    h = 1e-6
    for lower, upper, size in (("value", "rate", 400.0), ("rate", "acceleration", 8e4)):
        ends = [references.chirp_reference(t + s * h, **given)[lower] for s in (-1, 1)]
        assert found[upper] == pytest.approx((ends[1] - ends[0]) / (2 * h), abs=1e-6 * size)
    steady = references.chirp_reference(t, **given | {"end_frequency": 3.0})["value"]
    assert steady == pytest.approx(2.0 * np.sin(6 * math.pi * (t - 0.5)), abs=1e-9)


def test_noise_is_normal_white_and_that_of_the_integers():
    block = Block("n", "noise", parameters={"deviation": 0.5, "mean": 2.0, "seed": 7.0}, period=T, unit="m")
    run = simulate(signals_only(block, duration=4.0))
    values = run["n.value"](np.arange(4000) * T + T / 2)
    drawn, expected = 7 * 48271 % references.MODULUS, []
    for _ in range(4000):
        first = 16807 * drawn % references.MODULUS
        drawn = 16807 * first % references.MODULUS
        u, v = first / references.MODULUS, drawn / references.MODULUS
        expected.append(2.0 + 0.5 * math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v))
    assert values == pytest.approx(expected, abs=1e-12)
    # Of 4000 samples: four standard errors of the mean, of the deviation and of each correlation.
    assert values.mean() == pytest.approx(2.0, abs=4 * 0.5 / math.sqrt(4000))
    assert values.std() == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(8000))
    centred = (values - values.mean()) / values.std()
    assert np.max(np.abs([centred[k:] @ centred[:-k] / 4000 for k in range(1, 20)])) < 4 / math.sqrt(4000)
    assert np.mean(np.abs(centred) < 1) == pytest.approx(0.6827, abs=0.03)


@pytest.mark.parametrize(
    ("law", "numbers", "message"),
    [
        ("noise", {"deviation": 1.0, "seed": 2.0**31 - 1}, "seed: must be below 2147483647, is 2147483647"),
        ("noise", {"deviation": 1.0, "seed": 1.5}, "seed: must be a whole number, is 1.5"),
        ("sampled_lead", {"frequency": 10.0, "lead": -math.pi / 2}, "lead: must be between -90 and 90 deg, is -90 deg"),
        ("sampled_lead", {"frequency": 10.0, "lead": 2.0}, "lead: must be between -90 and 90 deg, is 114.592 deg"),
    ],
)
def test_numbers_without_a_finite_signal_are_refused(law, numbers, message):
    inputs = {"value": 1.0} if law == "sampled_lead" else {}
    with pytest.raises(ModelError, match=message):
        Block("b", law, inputs=inputs, parameters=numbers, period=T)
