"""Long runs leave memory for their file while they go on; what is said and read of them stays what it was."""

import errno
import sys
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.random_machines import random_scenario

from robodyn import ModelError, Recording, Solver, assemble, compile_system, simulate
from robodyn.computation.results import OutcomeKind, identical, load, rows
from robodyn.computation.results.archive import ZipWriter
from robodyn.computation.results.store import RunWriter
from robodyn.computation.simulation import streaming
from robodyn.computation.simulation.certificate import BETWEEN
from robodyn.description.catalog import find_scenario

TOLERANCE = 1e-6


@pytest.fixture
def small_blocks(monkeypatch):
    """A run of hundreds of rows as one of millions."""
    monkeypatch.setattr(rows, "SMALLEST_BLOCK", 64)
    monkeypatch.setattr(rows, "LARGEST_BLOCK", 64)
    module = sys.modules["robodyn.computation.engine.integrate"]
    monkeypatch.setattr(module, "DRAINED_NUMBERS", 500)
    monkeypatch.setattr(module, "FIRST_BUDGET", 10)
    monkeypatch.setattr(streaming, "HELD_NUMBERS", 500)


def scenario(name):
    # Laws, clocks and jumps as they come.
    if isinstance(name, int):
        return random_scenario(name, largest=2)
    return replace(find_scenario(name), duration=5.0 if name == "bouncing-ball" else 0.8)


@cache
def compiled(name):
    return compile_system(assemble(scenario(name)))


@cache
def in_memory(name):
    return simulate(compiled(name))


@pytest.mark.parametrize("name", ["bouncing-ball", "scara-ptp", 33, 38])
def test_a_streamed_run_is_that_in_memory_and_read_alike_everywhere(name, tmp_path, small_blocks):
    whole, streamed = in_memory(name), simulate(compiled(name), file=tmp_path / "x.run", tolerance=TOLERANCE)
    assert "stored" in streamed.__dict__, "it went to its file on the way"
    for run in (streamed, load(tmp_path / "x.run")):
        assert run.time.tobytes() == whole.time.tobytes()
        assert np.array_equal(run.knots, whole.knots)
        assert (run.events, run.end, run.found) == (whole.events, whole.end, whole.found)
        assert run.statistics.steps == whole.statistics.steps
        assert run.outcome == whole.outcome
        assert run.passed_limits == whole.passed_limits
    times = np.random.default_rng(1).uniform(whole.time[0], whole.time[-1], 2000)
    for signal in whole:
        exact = whole[signal]
        error = np.abs(run[signal](times) - exact(times))
        assert np.nanmax(error, initial=0.0) <= TOLERANCE * exact.peak, signal


@pytest.mark.parametrize("name", ["bouncing-ball", "scara-ptp", 33])
def test_what_is_said_of_a_run_does_not_depend_on_where_its_rows_are(name, tmp_path, small_blocks):
    whole, streamed = in_memory(name), simulate(compiled(name), file=tmp_path / "x.run", tolerance=0.0)
    assert identical(streamed, whole)
    assert streamed.statistics.extra == whole.statistics.extra
    for check, expected in zip(streamed.certificate.checks, whole.certificate.checks, strict=True):
        # Fewer probes are read: those at the edges of what was taken away at once are left out.
        assert check == expected or (check.name == expected.name == BETWEEN and check.ok)


def test_the_last_seconds_are_those_of_the_whole_run(small_blocks):
    whole, end = in_memory("scara-ptp"), simulate(compiled("scara-ptp"), last=0.3)
    begin = whole.outcome.time - 0.3
    assert end.time[0] <= begin
    assert end.n_rows < 0.3 * whole.n_rows
    times = np.linspace(begin, whole.outcome.time, 200)
    for name in ("elbow.velocity", "shoulder.motor.current"):
        assert np.allclose(end[name](times), whole[name](times), rtol=0.0, atol=1e-7 * whole[name].peak)
    assert (end.events, end.outcome, end.end) == (whole.events, whole.outcome, whole.end)


@pytest.mark.parametrize("recording", [Recording(rate=2000.0), Recording(refine=3)])
def test_rows_at_a_rate_or_in_steps_are_taken_away_too(recording, tmp_path, small_blocks):
    ball = compiled("bouncing-ball")
    whole = simulate(ball, recording=recording)
    assert identical(simulate(ball, recording=recording, file=tmp_path / "x.run", tolerance=0.0), whole)


def test_a_record_of_any_size_is_kept_in_a_file(tmp_path):
    swing = replace(find_scenario("pendulum"), duration=20_000.0)
    solver = Solver("rk4", step=1e-5, max_steps=1000)
    with pytest.raises(ModelError, match=r"at most 2 GB .* name a file"):
        simulate(swing, replace(solver, max_steps=0))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the run needs")
        run = simulate(swing, solver, file=tmp_path / "x.run")
    assert run.outcome.kind is OutcomeKind.STEP_LIMIT


class Disk:
    """A disk of so many bytes."""

    def __init__(self, size):
        self.size, self.add = size, ZipWriter.add

    def write(self, writer, name, data, deflated=False):
        begin = writer._end()
        self.add(writer, name, data, deflated)
        if writer._end() > self.size:
            writer.members.pop()
            assert begin == writer._end()
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("size", [35_000, 60_000])
def test_a_full_disk_ends_the_run_with_what_fits(size, tmp_path, small_blocks, monkeypatch):
    whole, disk = in_memory("scara-ptp"), Disk(size)
    monkeypatch.setattr(ZipWriter, "add", lambda *parts, **named: disk.write(*parts, **named))
    run = simulate(compiled("scara-ptp"), file=tmp_path / "x.run", tolerance=0.0)
    assert run.outcome.kind is OutcomeKind.RECORD_FULL
    assert "No space left on device" in run.outcome.sentence
    assert [path.name for path in tmp_path.iterdir()] == ["x.run"]
    kept = load(tmp_path / "x.run")
    assert kept.outcome == run.outcome
    assert 0 < kept.n_rows < whole.n_rows
    assert np.array_equal(kept.values, whole.values[: kept.n_rows])


def test_a_run_that_is_killed_leaves_its_rows(tmp_path, small_blocks, monkeypatch):
    whole, parts = in_memory("scara-ptp"), []

    def kill(writer):
        parts.extend(tmp_path.iterdir())
        data = parts[0].read_bytes()
        (tmp_path / "cut.part").write_bytes(data[: len(data) * 2 // 3])
        raise SystemExit

    monkeypatch.setattr(ZipWriter, "finish", kill)
    with pytest.raises(SystemExit):
        simulate(compiled("scara-ptp"), file=tmp_path / "x.run", tolerance=0.0)
    assert parts[0].name.startswith("x.run.")
    assert parts[0].suffix == ".part"
    for path, least in ((parts[0], 0.9), (tmp_path / "cut.part", 0.3)):
        kept = load(path)
        assert kept.outcome.kind is OutcomeKind.INTERRUPTED
        assert least * whole.n_rows < kept.n_rows <= whole.n_rows
        assert np.array_equal(kept.values, whole.values[: kept.n_rows])
        assert np.array_equal(kept.knots, whole.knots[: kept.n_rows])


@pytest.mark.parametrize("place", ["before", "within", "behind"])
def test_ctrl_c_while_rows_are_written_loses_and_repeats_none(place, tmp_path, small_blocks, monkeypatch):
    whole, left = in_memory("scara-ptp"), [5]
    owner, name = (ZipWriter, "add") if place == "within" else (RunWriter, "add")
    add = getattr(owner, name)

    def interrupted(*parts, **named):
        left[0] -= 1
        if left[0] == 0 and place == "before":
            raise KeyboardInterrupt
        add(*parts, **named)
        if left[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupted)
    run = simulate(compiled("scara-ptp"), file=tmp_path / "x.run", tolerance=0.0)
    assert run.outcome.kind is OutcomeKind.INTERRUPTED
    kept = load(tmp_path / "x.run")
    # An interrupted run ends with the row that stands for its last instant.
    n = kept.n_rows - 1
    # Written before the interruption: four blocks of rows, behind the part that says what they are, or five without it.
    assert n > 4 * 64
    assert np.array_equal(kept.time[:n], whole.time[:n])
    assert np.array_equal(kept.values[:n], whole.values[:n])


@pytest.mark.parametrize(
    ("wish", "complaint"),
    [
        ({"last": -1.0}, "last: must be positive and shorter than the duration"),
        ({"last": 100.0}, "last: must be positive and shorter than the duration"),
        ({"last": 1.0, "certify": True}, "last: keeps the end of a run alone"),
        ({"tolerance": -1e-6}, r"tolerance: must be from 0 \(exact\) to 0.01"),
        ({"tolerance": 0.5}, r"tolerance: must be from 0 \(exact\) to 0.01"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(wish, complaint, tmp_path):
    with pytest.raises(ModelError, match=complaint):
        simulate(find_scenario("pendulum"), file=tmp_path / "x.run", **wish)
