"""Is nothing lost and nothing run twice, whenever a sweep is killed?"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial

import numpy as np
import pytest

from robodyn import ModelError
from robodyn.analysis.sweeps.folder import PARTS, PartWriter, SweepRow, locking, read_parts
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.runner import run_sweep
from robodyn.analysis.sweeps.runs import Nonlinear, SweepJob, SweepWorker
from robodyn.analysis.sweeps.variation import Distribution
from robodyn.computation.simulation.batch import run_in_threads
from robodyn.description.catalog import find_scenario

pyarrow = pytest.importorskip("pyarrow.parquet")

RUNS = 150
OPTIONS = ["--random", "*.coulomb=scale:0.5:2", "--runs", str(RUNS), "--set", "duration=0.3", "--no-plot"]
OPTIONS += ["--measure", "rms:tool.velocity.x", "--keep", "tool.position.x", "--points", "20", "--out", "swept"]
PATIENCE = 60.0


def start(folder):
    code = "from robodyn.cli import main; main()"
    command = [sys.executable, "-c", code, "sweep", "two-link-loop", *OPTIONS, "--workers", "2"]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    # A supervisor may have started us with interrupts ignored; the command must hear them.
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    return subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet, **heard)


def kept_lines(folder):
    """All finished lines in the parts of a sweep."""
    paths = (folder / "swept" / PARTS).glob("*.jsonl")
    return [line for path in paths for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def same_plan():
    """What the command line is asked for, asked for in Python."""
    scenario = find_scenario("two-link-loop").with_numbers({"duration": 0.3})
    kept = {"measures": ["rms:tool.velocity.x"], "keep": ["tool.position.x"], "points": 20}
    return plan_sweep(scenario, random={"*.coulomb": Distribution("scale", (0.5, 2))}, runs=RUNS, **kept)


@pytest.fixture(scope="module")
def undisturbed(same_plan):
    return run_sweep(same_plan, workers=2)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_sweep_goes_on_with_nothing_lost_and_nothing_run_twice(tmp_path, same_plan, undisturbed, how):
    first = start(tmp_path)
    wait_for(lambda: len(kept_lines(tmp_path)) >= 15)
    if how == signal.SIGINT:
        os.killpg(first.pid, how)
    else:
        first.kill()
    said, _ = first.communicate(timeout=PATIENCE)
    assert first.returncode == (130 if how == signal.SIGINT else -how)
    before = kept_lines(tmp_path)
    assert 15 <= len(before) < RUNS, "killed in the middle"
    if how == signal.SIGINT:
        assert "run the same command again to continue" in said

    table = run_sweep(same_plan, tmp_path / "swept", workers=2)
    after = kept_lines(tmp_path)
    assert set(before) <= set(after)
    assert Counter(json.loads(line)[0] for line in after) == dict.fromkeys(range(RUNS), 1)
    written = pyarrow.read_table(tmp_path / "swept" / "table.parquet")["rms:tool.velocity.x"].to_pylist()
    assert written == table["rms:tool.velocity.x"].tolist() == undisturbed["rms:tool.velocity.x"].tolist()
    curves = pyarrow.read_table(tmp_path / "swept" / "curves.parquet")["tool.position.x"].to_pylist()
    assert curves == undisturbed.curves.values["tool.position.x"].tolist()


@pytest.fixture
def plan():
    scenario = find_scenario("pendulum").with_numbers({"duration": 0.1})
    return plan_sweep(scenario, vary={"bob.mass": [1.0, 2.0, 3.0]})


def test_a_finished_sweep_runs_nothing_again(tmp_path, plan):
    first = run_sweep(plan, tmp_path, workers=1)
    lines = [path.read_bytes() for path in (tmp_path / PARTS).iterdir()]
    second = run_sweep(plan, tmp_path, workers=1)
    assert [path.read_bytes() for path in (tmp_path / PARTS).iterdir()] == lines
    assert np.array_equal(first["final:hinge.position"], second["final:hinge.position"])
    assert np.isnan(second.rate)


@pytest.mark.parametrize("end", [b"", b"\0\0\0\0\n"])
def test_a_line_that_was_cut_off_counts_for_nothing(tmp_path, plan, end):
    run_sweep(plan, tmp_path, workers=1)
    (path,) = (tmp_path / PARTS).iterdir()
    path.write_bytes(path.read_bytes()[:-20] + end)
    assert sorted(done.run for done in read_parts(tmp_path)) == [0, 1]
    table = run_sweep(plan, tmp_path, workers=1)
    assert table.done.all()
    assert sorted(done.run for done in read_parts(tmp_path)) == [0, 1, 2]


def test_what_is_kept_of_a_run_is_read_back_to_the_last_bit(tmp_path):
    done = SweepRow(7, "finished", "so", 0.1, 1 / 3, (np.pi, float("nan")), {"y": np.array([1 / 3, np.nan, -0.0])})
    writer = PartWriter(tmp_path)
    writer.add(done)
    writer.close()
    (found,) = read_parts(tmp_path)
    assert found.run == 7
    assert found.curves["y"].tobytes() == done.curves["y"].tobytes()
    assert found.measures[0] == np.pi
    assert np.isnan(found.measures[1])
    assert (found.outcome, found.sentence, found.time, found.wall_time) == ("finished", "so", 0.1, 1 / 3)


def test_another_plan_in_the_same_folder_is_refused_and_fresh_begins_anew(tmp_path, plan):
    run_sweep(plan, tmp_path, workers=1)
    other = plan_sweep(plan.scenario, vary={"bob.mass": [1.0, 2.0]})
    with pytest.raises(ModelError, match="another sweep: runs, axes differ"):
        run_sweep(other, tmp_path, workers=1)
    longer = plan_sweep(plan.scenario.with_numbers({"duration": 0.2}), vary={"bob.mass": [1.0, 2.0, 3.0]})
    with pytest.raises(ModelError, match="description differ"):
        run_sweep(longer, tmp_path, workers=1)
    assert len(run_sweep(other, tmp_path, workers=1, fresh=True)) == 2
    assert len(pyarrow.read_table(tmp_path / "table.parquet")) == 2


def test_a_second_sweep_in_the_same_folder_is_kept_out(tmp_path, plan):
    code = f"""
import time, pathlib
from robodyn.analysis.sweeps.folder import locking
with locking(pathlib.Path({str(tmp_path)!r})):
    print("locked", flush=True)
    time.sleep({PATIENCE})
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(ModelError, match="another sweep is running"), locking(tmp_path):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with locking(tmp_path):
        pass


def test_the_table_holds_inputs_outcomes_and_measures_with_their_units(tmp_path, plan):
    run_sweep(plan, tmp_path, workers=1)
    table = pyarrow.read_table(tmp_path / "table.parquet")
    assert table.column_names == [
        "run", "bob.mass", "outcome", "sentence", "end_time", "wall_time", "final:hinge.position",
    ]  # fmt: skip
    assert table["bob.mass"].to_pylist() == [1.0, 2.0, 3.0]
    assert table.schema.field("bob.mass").metadata[b"unit"] == b"kg"
    assert table["outcome"].to_pylist() == ["finished"] * 3


def test_what_fails_in_a_run_ends_the_sweep_and_keeps_what_is_finished(tmp_path, plan):
    def prepare(plan):
        simulate = Nonlinear(plan)

        def fail_once(changes):
            if changes["bob.mass"] == 3.0 and (tmp_path / "failing").exists():
                raise ZeroDivisionError("no such run")
            return simulate(changes)

        return fail_once

    (tmp_path / "failing").touch()
    with pytest.raises(ZeroDivisionError, match="no such run"):
        run_sweep(plan, tmp_path, method=prepare)
    assert sorted(done.run for done in read_parts(tmp_path)) == [0, 1]
    (tmp_path / "failing").unlink()
    assert run_sweep(plan, tmp_path, method=prepare).done.all()


def test_what_fails_in_one_thread_ends_the_others(plan):
    job = SweepJob(plan, Nonlinear)

    def keep(done):
        raise ZeroDivisionError("nowhere to keep it")

    with pytest.raises(ZeroDivisionError):
        run_in_threads(range(3), 2, partial(SweepWorker, job, keep), lambda: None)


def test_curves_beyond_the_memory_are_refused_before_the_first_run(plan, monkeypatch):
    monkeypatch.setattr("robodyn.analysis.sweeps.table.memory_size", lambda: 1000.0)
    many = plan_sweep(plan.scenario, vary={"bob.mass": [1.0, 2.0]}, keep=["hinge.position"], points=100)
    with pytest.raises(ModelError, match="keep: curves of 1 signals at 100 places of 2 runs take .* GB"):
        run_sweep(many)
