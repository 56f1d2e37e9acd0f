"""Do data sheets find what was put into data, and do filters and clocks do what they say?"""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from robodyn.analysis.measurement.data_sheet import assess_clock, assess_signal
from robodyn.analysis.measurement.measured import synchronise
from robodyn.analysis.measurement.responses import LowPass, differentiate, resample
from robodyn.base.errors import ModelError
from robodyn.cli.application import app
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo

RNG = np.random.default_rng(3)
TIME = np.arange(4000) * 1e-3
SWING = np.sin(2 * np.pi * 1.3 * TIME) + 0.4 * np.sin(2 * np.pi * 3.1 * TIME)


def make_run(time, **columns):
    infos = tuple(SignalInfo(name, "rad") for name in columns)
    values = np.column_stack(list(columns.values()))
    return Run(time, values, infos, Outcome(OutcomeKind.FINISHED, "", float(time[-1])), Provenance("measured"))


def test_noise_and_steps_are_those_that_were_added():
    noisy = assess_signal(SWING + RNG.normal(0, 0.01, TIME.size))
    # The median of 4000 differences is known to some percent.
    assert noisy.noise == pytest.approx(0.01, rel=0.1)
    assert noisy.quantum == 0
    assert assess_signal(np.round(SWING / 0.02) * 0.02).quantum == pytest.approx(0.02, rel=1e-6)


def test_saturation_spikes_and_missing_samples_are_found_by_row():
    values = np.clip(SWING + RNG.normal(0, 1e-3, TIME.size), -9, 1.0)
    values[[700, 1900]] += 0.5, -0.5
    values[50] = np.nan
    found = assess_signal(values)
    values[700] = np.nan
    assert assess_signal(values).saturated
    assert all(values[s.start] == values[s.end] == 1.0 for s in assess_signal(values).saturated)
    assert found.missing == 1
    assert {700, 1900} <= set(found.spikes)
    assert len(found.spikes) < 6
    assert not assess_signal(SWING).saturated
    for step in (0.003, 0.01, 0.05):
        assert not assess_signal(np.round(SWING / step) * step).saturated
        assert assess_signal(np.clip(np.round(SWING / step) * step, -9, 0.7)).saturated
    assert not assess_signal(SWING).spikes


def test_gaps_and_jitter_of_a_clock_are_measured():
    time = np.delete(TIME + RNG.normal(0, 1e-5, TIME.size), [10, 11, 3000])
    clock = assess_clock(time)
    assert clock.rate == pytest.approx(1000, rel=1e-4)
    assert clock.jitter == pytest.approx(1e-5 * 2**0.5, rel=0.1)
    assert [(gap.row, gap.missing) for gap in clock.gaps] == [(9, 2), (2997, 1)]


def test_a_zero_phase_filter_halves_power_at_its_cutoff_and_delays_nothing():
    tone = np.sin(2 * np.pi * 50 * TIME)
    middle = slice(1000, 3000)
    passed = LowPass(50.0)(tone, 1000.0)[middle]
    np.testing.assert_allclose(passed, 0.5**0.5 * tone[middle], atol=1e-9)


def test_a_causal_filter_is_late_by_what_it_says():
    slow, low_pass = np.sin(2 * np.pi * 0.5 * TIME), LowPass(20.0, phase="causal")
    late = np.sin(2 * np.pi * 0.5 * (TIME - low_pass.delay(1000.0)))
    # The delay is that at 0 Hz; at a fortieth of the cutoff it differs by some 1e-4 of itself.
    np.testing.assert_allclose(low_pass(slow, 1000.0)[1000:], late[1000:], atol=2e-5)


def test_derivatives_are_of_fourth_order():
    errors = []
    for n in (500, 1000):
        t = np.arange(n) / n
        errors.append(np.nanmax(np.abs(differentiate(np.sin(9 * t), float(n)) - 9 * np.cos(9 * t))))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.1)


def test_resampling_folds_nothing_and_leaves_gaps_missing():
    jitter = TIME + RNG.normal(0, 1e-5, TIME.size)
    kept = (np.arange(TIME.size) < 2000) | (np.arange(TIME.size) > 2100)
    clean = np.sin(2 * np.pi * 1.3 * jitter)
    data = make_run(jitter[kept], q=(clean + 0.3 * np.sin(2 * np.pi * 390 * jitter))[kept])
    found = resample(data, 200.0)["q"]
    np.testing.assert_allclose(np.diff(found.time), 5e-3, rtol=1e-9)
    inside = np.isfinite(found.values)
    assert not inside[(found.time > 2.01) & (found.time < 2.09)].any()
    away = inside & (np.abs(found.time - 2.05) > 0.2) & (found.time > 0.2) & (found.time < 3.8)
    # 390 Hz would be seen at 10 Hz with 0.3; a spline between rows that are off by 1e-5 s leaves a hundredth of that.
    np.testing.assert_allclose(found.values[away], np.sin(2 * np.pi * 1.3 * found.time[away]), atol=5e-3)


@pytest.mark.parametrize("clock", [lambda k: k * 1e-3, lambda k: k / 1000, lambda k: np.round(k * 1e-3 + 4e-7, 6)])
def test_held_samples_stay_at_their_rows_when_times_are_rounded(clock):
    k = np.arange(4000.0)
    infos = (SignalInfo("u", "A", "held"), SignalInfo("w", "A"))
    outcome, provenance = Outcome(OutcomeKind.FINISHED, "measured", 4.0), Provenance("measured", {})
    data = Run(clock(k), np.column_stack([k, k]), infos, outcome, provenance)
    same = resample(data, 1000.0)
    assert np.array_equal(same["u"].values, k)
    np.testing.assert_allclose(same["w"].values, k, atol=1e-2)


def test_offset_and_skew_of_a_second_clock_are_found():
    rng = np.random.default_rng(5)
    wave = LowPass(8.0)(rng.normal(0, 1, 60_000), 1000.0)
    t = np.arange(wave.size) * 1e-3
    first = make_run(t, q=wave)
    late, skew = 0.4371, 30e-6
    u = t[::2] + late + skew * t[::2]
    second = make_run(u, angle=3 * wave[::2] + rng.normal(0, 1e-3, u.size))
    found = synchronise(first, second, "q", "angle", longest=2.0)
    back = found.corrected(second)
    # Noise of 1e-3 / 3 on 60,000 samples of a signal that changes by some 10/s: far below a tick of 2 ms.
    np.testing.assert_allclose(back.time, t[::2], atol=5e-6)
    assert found.skew == pytest.approx(skew, abs=4 * found.skew_deviation)
    with pytest.raises(ModelError, match="correlation"):
        synchronise(first, replace(second, values=rng.normal(0, 1, (u.size, 1))), "q", "angle")


def test_the_command_prints_a_sheet_and_a_mapping(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t [ms];q (deg)\n0;1,5\n1;2,5\n2;3,5\n")
    told = CliRunner().invoke(app, ["data", str(path), "--json"])
    clock = json.loads(told.stdout)["clocks"][0]
    assert clock["clock"]["rate"] == pytest.approx(1000)
    assert clock["units"] == {"q": "rad"}
    mapping = tmp_path / "map.toml"
    assert CliRunner().invoke(app, ["data", str(path), "--template", str(mapping)]).exit_code == 0
    again = CliRunner().invoke(app, ["data", str(path), "--map", str(mapping), "--json"])
    assert json.loads(again.stdout)["clocks"][0]["signals"]["q"]["maximum"] == pytest.approx(np.radians(3.5))
    assert CliRunner().invoke(app, ["data", str(tmp_path / "none.csv")]).exit_code == 2


def test_times_since_1970_are_told_to_the_millisecond(tmp_path):
    times = 1.7e9 + np.delete(np.arange(400) / 100.0, slice(200, 250))
    rows = "\n".join(f"{t:.3f},{np.sin(t):.6f}" for t in times)
    (tmp_path / "log.csv").write_text(f"time,a\n{rows}\n")
    printed = CliRunner().invoke(app, ["data", str(tmp_path / "log.csv")]).stdout
    assert "350 rows from 1700000000.000 s to 1700000003.990 s" in printed
    assert "0.51 s after row 200 at 1700000001.990 s" in printed
