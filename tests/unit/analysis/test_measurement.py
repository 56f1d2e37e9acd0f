"""Are measured data read, matched, synchronised and turned into responses as they should?"""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import freqz, lfilter
from typer.testing import CliRunner

from robodyn.analysis.measurement.data_sheet import assess_clock, assess_signal
from robodyn.analysis.measurement.measured import match_measured, read_measured, synchronise
from robodyn.analysis.measurement.responses import LowPass, differentiate, estimate_response, resample
from robodyn.base.errors import ModelError
from robodyn.cli.application import app
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo

# --------------------------------------------------------------------------------------------------
# Do data sheets find what was put into data, and do filters and clocks do what they say?


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


# --------------------------------------------------------------------------------------------------
# Is measured data read in SI units, and is every flaw of a file reported by line and column?


GOOD = """# rig 3, Tuesday
time [ms], rail.position [mm], rail.velocity
0, 1.5, 0.1
10, , 0.2

20, 2.5, nan
"""


def write(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return path


def flaws_of(tmp_path, text):
    with pytest.raises(ModelError) as caught:
        read_measured(write(tmp_path, text))
    assert "data.csv" in str(caught.value)
    return [str(flaw) for flaw in caught.value.flaws]


def test_values_are_in_si_and_missing_ones_are_not_numbers(tmp_path):
    data = read_measured(write(tmp_path, GOOD))
    np.testing.assert_allclose(data.time, [0.0, 0.01, 0.02])
    np.testing.assert_allclose(data["rail.position"].values, [1.5e-3, math.nan, 2.5e-3])
    np.testing.assert_allclose(data["rail.velocity"].values, [0.1, 0.2, math.nan])
    assert [info.unit for info in data.infos] == ["m", ""]


@pytest.mark.parametrize("part", [";", "\t"])
def test_semicolons_and_tabs_part_cells_too(tmp_path, part):
    data = read_measured(write(tmp_path, GOOD.replace(",", part)))
    assert data.names == ("rail.position", "rail.velocity")


def test_all_bad_cells_are_told_with_line_and_column(tmp_path):
    found = flaws_of(tmp_path, "time,a\n0,one\n1,2\n2,two\n3\n")
    assert found[0].startswith("line 2, column 2 (a): 'one' is not a finite number")
    assert found[1].startswith("line 4, column 2 (a): 'two'")
    assert found[2].startswith("line 5: has 1 cells, the headings 2")


def test_times_must_rise_and_be_there(tmp_path):
    found = flaws_of(tmp_path, "time,a\n0,1\n2,1\n1,1\n,1\n")
    assert any(flaw.startswith("line 4, column 'time': 1 s comes after 2 s") for flaw in found)
    assert any(flaw.startswith("line 5, column 'time': is missing") for flaw in found)
    assert all("bad_rows" in flaw for flaw in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no samples"),
        ("time,a\n", "no samples"),
        ("clock,a\n0,1\n", "there is no column 'time'"),
        ("time [m],a\n0,1\n", "must be in a unit of time"),
        ("time\n0\n", "names no signal"),
        ("time,a,a\n0,1,2\n", "twice"),
        ("time,,b\n0,1,2\n", "no name"),
    ],
)
def test_bad_headings_are_refused(tmp_path, text, message):
    assert any(message in flaw for flaw in flaws_of(tmp_path, text))


def test_a_file_of_another_kind_is_not_told_cell_by_cell(tmp_path):
    lines = "\n".join("x,y" for _ in range(1000))
    assert len(flaws_of(tmp_path, f"time,a\n{lines}\n")) <= 40


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        read_measured(tmp_path / "none.csv")


def test_data_that_no_signal_matches_are_refused_all_at_once(tmp_path):
    data = read_measured(write(tmp_path, "time,rail.positon,rail.velocity [rad/s],c\n-1,1,2,\n0,1,2,\n"))
    with pytest.raises(ModelError) as caught:
        match_measured(data, {"rail.position": "m", "rail.velocity": "m/s", "c": ""})
    message = str(caught.value)
    assert all(part in message for part in ("did you mean 'rail.position'", "rad/s", "c: has no sample", "before"))


# --------------------------------------------------------------------------------------------------
# Do measured frequency responses meet the exact ones as often as their intervals say, in loops too?


RATE, N = 1000.0, 64_000
B, A = [0.0, 0.02, 0.018], [1.0, -1.9, 0.94]
"""A resonance at some 30 Hz."""


def record(**columns):
    time = np.arange(N) / RATE
    infos = tuple(SignalInfo(name, "V") for name in columns)
    outcome = Outcome(OutcomeKind.FINISHED, "", time[-1])
    return Run(time, np.column_stack(list(columns.values())), infos, outcome, Provenance("measured"))


def exact(response):
    return freqz(B, A, response.frequency, fs=RATE)[1]


def test_intervals_of_an_open_loop_hold_the_exact_response():
    rng = np.random.default_rng(1)
    u = rng.normal(size=N)
    found = estimate_response(record(u=u, y=lfilter(B, A, u) + 0.05 * rng.normal(size=N)), "u", "y", resolution=0.5)
    true = exact(found)
    lower, upper = found.interval
    assert 30 < found.reliable.sum() < len(true)
    held = ((lower < abs(true)) & (abs(true) < upper))[found.reliable]
    # Windows of 2 s are long against the decay. Neighbours are correlated: three deviations of half as many.
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / (held.size / 2)) < held.mean()
    turned = (np.angle(found.values / true) / found.deviation)[found.reliable]
    assert np.sqrt(np.mean(turned**2)) == pytest.approx(1.0, abs=0.25)
    assert found.coherence[found.frequency > 300].max() < 0.9 < found.coherence[np.argmax(abs(true))]


def test_periods_of_a_multisine_leak_nothing():
    t = np.arange(N) / RATE
    u = sum(np.cos(2 * np.pi * k * t + k * k) for k in range(1, 60))
    y = lfilter(B, A, u)
    # The start is over after a second.
    data = record(u=np.roll(u, 0)[:N], y=y)
    data = Run(data.time[2000:], data.values[2000:], data.infos, data.outcome, data.provenance)
    found = estimate_response(data, "u", "y", period=1.0)
    excited = found.frequency < 59.5
    np.testing.assert_allclose(found.values[excited], exact(found)[excited], rtol=1e-6)


def test_a_reference_makes_the_response_of_a_loop_right():
    """u = r - 2 y with noise on y: without the reference H tends to the controller's inverse."""
    rng = np.random.default_rng(2)
    r, noise = rng.normal(size=N), 0.5 * rng.normal(size=N)
    y, u = np.zeros(N), np.zeros(N)
    plant = np.zeros(N)
    for k in range(N):
        if k >= 2:
            plant[k] = -A[1] * plant[k - 1] - A[2] * plant[k - 2] + B[1] * u[k - 1] + B[2] * u[k - 2]
        y[k] = plant[k] + noise[k]
        u[k] = r[k] - 2 * y[k]
    data = record(r=r, u=u, y=y)
    band = slice(2, 20)
    plain, right = (estimate_response(data, "u", "y", reference=ref, resolution=2.0) for ref in (None, "r"))
    errors = [np.abs(f.values[band] / exact(f)[band] - 1) for f in (plain, right)]
    assert np.median(errors[1]) < 0.25 * np.median(errors[0])
    assert np.mean(errors[1] < 3 * np.sqrt(2) * right.deviation[band]) > 0.9


def test_what_tells_nothing_is_refused():
    data = record(u=np.ones(N), y=np.arange(N) % 7.0)
    with pytest.raises(ModelError, match=r"u: is constant"):
        estimate_response(data, "u", "y")
    with pytest.raises(ModelError, match=r"z: is not in the data"):
        estimate_response(data, "y", "z")
    with pytest.raises(ModelError, match=r"do not fit twice"):
        estimate_response(data, "y", "y", resolution=0.02)
