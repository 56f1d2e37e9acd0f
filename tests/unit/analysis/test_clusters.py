"""Does a cluster whose workers and scheduler come and go lose no run of a sweep, and carry out none twice?"""

import json
import os
import pickle
import socket
import subprocess
import sys
import time
import types
from collections import Counter
from contextlib import contextmanager

import pytest

from robodyn import ModelError
from robodyn.analysis import ClusterLost, plan_sweep, run_sweep
from robodyn.analysis.sweeps.folder import PARTS
from robodyn.description.catalog import find_scenario

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

RUNS, PATIENCE = 100, 120.0
OTHER_VERSION = """
import importlib.metadata, robodyn.analysis.sweeps.folder as versions
versions.version = lambda package: "0.0.9" if package == "robodyn" else importlib.metadata.version(package)
"""


class Processes:
    """A scheduler on one port and its workers, as real processes."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.folder, self.started = folder, []

    def start(self, *arguments):
        with open(self.folder / f"process-{len(self.started)}.log", "w", encoding="utf-8") as log:
            command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
            self.started.append(subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log))
        return self.started[-1]

    def scheduler(self):
        return self.start("scheduler", "--host", self.address)

    def worker(self, *options):
        return self.start("worker", self.address, "--no-nanny", "--nthreads", "1", *options)

    @contextmanager
    def client(self):
        wait_for(lambda: is_open(self.address))
        with distributed.Client(self.address, timeout=2) as client:
            yield client


def is_open(address):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(address.rpartition(":")[2]))) == 0


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    found = Processes(tmp_path_factory.mktemp("cluster"))
    yield found
    for process in found.started:
        process.kill()
        process.wait()


@pytest.fixture(autouse=True)
def single_runs(monkeypatch):
    """One run a task, so that gates stop just what is behind them."""
    monkeypatch.setattr("robodyn.analysis.sweeps.clusters.LARGEST_TASK", 1)


@pytest.fixture(scope="module")
def plan():
    scenario = find_scenario("pendulum").with_numbers({"duration": 0.1})
    masses = [1.0 + k for k in range(RUNS)]
    return plan_sweep(scenario, vary={"bob.mass": masses}, measures=["final:hinge.position"], keep=["hinge.velocity"])


@pytest.fixture(scope="module")
def local(plan):
    return run_sweep(plan)


def gated(folder, *gates):
    """The usual simulation; each run says that it begins, and waits for a file where its number is one of the gates."""

    def prepare(plan):
        from robodyn.analysis.sweeps.runs import Nonlinear

        simulate = Nonlinear(plan)

        def wait_and_simulate(changes):
            number = int(changes["bob.mass"]) - 1
            with open(folder / "begun", "a", encoding="utf-8") as log:
                log.write(f"{number} {os.getpid()}\n")
            for gate in gates:
                while number >= gate and not (folder / f"{gate}").exists():
                    time.sleep(0.01)
            return simulate(changes)

        return wait_and_simulate

    return prepare


def begun(folder):
    """(number, process) of each run that began."""
    return [tuple(map(int, line.split())) for line in (folder / "begun").read_text().splitlines()]


def check_rows(folder, table, local):
    lines = [line for path in (folder / PARTS).iterdir() for line in path.read_text().splitlines()]
    assert Counter(json.loads(line)[0] for line in lines) == dict.fromkeys(range(RUNS), 1)
    assert table["final:hinge.position"].tolist() == local["final:hinge.position"].tolist()
    assert table.curves.values["hinge.velocity"].tobytes() == local.curves.values["hinge.velocity"].tobytes()


def test_a_killed_worker_a_late_one_and_one_of_another_version_change_no_row(tmp_path, processes, plan, local):
    (tmp_path / "other.py").write_text(OTHER_VERSION)
    processes.scheduler()
    first, late, refused = processes.worker(), [], {}
    processes.worker("--preload", str(tmp_path / "other.py"))

    def steer(at):
        refused.update(at.refused)
        if at.done == 20 and at.workers == 1 and not late:
            late.append(processes.worker())
        if at.workers == 2 and not (tmp_path / "20").exists():
            first.kill()
            (tmp_path / "20").touch()

    with processes.client() as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        table = run_sweep(plan, tmp_path / "swept", client=client, method=gated(tmp_path, 20), progress=steer)
    check_rows(tmp_path / "swept", table, local)
    by = {process: [n for n, p in begun(tmp_path) if p == process] for process in (first.pid, late[0].pid)}
    # What the killed worker was at is carried out by the other; nothing else is begun again.
    assert by[first.pid] == list(range(21))
    assert sorted(by[late[0].pid]) == list(range(20, RUNS))
    (why,) = refused.values()
    assert why.startswith("it has robodyn 0.0.9 (here ")


def test_a_sweep_goes_on_where_its_scheduler_was_lost(tmp_path, processes, plan, local):
    method, scheduler = gated(tmp_path, 40), processes.started[0]

    def steer(at):
        if at.done == 40:
            scheduler.kill()

    with pytest.raises(ClusterLost, match="scheduler"), processes.client() as client:
        run_sweep(plan, tmp_path / "swept", client=client, method=method, progress=steer)
    assert {number for number, _ in begun(tmp_path)} > set(range(40))
    (tmp_path / "begun").unlink()
    (tmp_path / "40").touch()
    scheduler.wait()
    processes.scheduler()
    with processes.client() as client:
        # Workers may come later than the sweep.
        processes.worker()
        table = run_sweep(plan, tmp_path / "swept", client=client, method=method)
    check_rows(tmp_path / "swept", table, local)
    assert sorted(number for number, _ in begun(tmp_path)) == list(range(40, RUNS))


def test_a_cluster_that_cannot_be_reached_is_reported_with_what_to_start(plan):
    from robodyn.analysis.sweeps.clusters import connect

    with pytest.raises(ModelError, match=r"dask:tcp://127.0.0.1:9: no scheduler .* dask worker ADDRESS"):
        connect("tcp://127.0.0.1:9", timeout=0.2)
    with pytest.raises(ModelError, match="workers: has no effect"):
        run_sweep(plan, workers=2, client=object())
    with pytest.raises(ModelError, match="client: must be a distributed.Client"):
        run_sweep(plan, client="tcp://127.0.0.1:9")


def test_a_worker_refuses_other_laws_and_missing_modules_in_words_that_travel(plan, monkeypatch):
    from robodyn.analysis.sweeps import clusters

    absent = types.ModuleType("absent")
    absent.prepare = types.FunctionType((lambda plan: None).__code__, vars(absent), "prepare")
    absent.prepare.__module__, absent.prepare.__qualname__ = "absent", "prepare"
    with monkeypatch.context() as there:
        there.setitem(sys.modules, "absent", absent)
        missing = clusters.cloudpickle.dumps((plan.without_inputs(), absent.prepare))
    same = clusters.cloudpickle.dumps((plan.without_inputs(), clusters.run_task))
    for content, words in ((missing, "absent: is not installed there"), (same, "a law has been edited")):
        with pytest.raises(ModelError, match=words) as refused:
            clusters.run_task(content, "other equations", [0])
        travelled = pickle.loads(pickle.dumps(refused.value))
        assert (str(travelled), travelled.flaws) == (str(refused.value), refused.value.flaws)
