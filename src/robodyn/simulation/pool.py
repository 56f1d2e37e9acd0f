"""Pool of runs: how does one thread carry out run after run in the same memory, several at once where that pays?

Where native code of several lanes is there, the runs of a slice are carried out at once, each in a lane: see
`engine/lanes.c`. What a run computes does not depend on the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robodyn.engine import BrokenRun, Integration, Status, Trajectory
from robodyn.engine.pack import Pack, describe_missing_lanes, has_ended, lanes_are_there
from robodyn.model import Solver
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.prepared import PreparedRuns
from robodyn.simulation.python_calls import PythonCalls, calls_python
from robodyn.simulation.starting import Start

Look = Callable[..., None]


class Inputs(NamedTuple):
    """What a run begins with: values of the tunable parameters, all numbers by name, its start."""

    values: np.ndarray
    numbers: Any
    start: Start


class Completed(NamedTuple):
    """What a run left; where a law or an action in Python failed, its name and error."""

    trajectory: Trajectory
    failed: tuple[str, Exception] | None = None


class RunPool:
    """The runs of one thread.

    Args:
        probes: whether what is noted between rows is wanted.

    Attributes:
        pack: carries out several at once; None: one after the other.
    """

    def __init__(self, runs: PreparedRuns, probes: bool) -> None:
        self.runs, self.probes = runs, probes
        self.pack: Pack | None = None

    def carry_out(self, inputs: Sequence[Inputs], is_stopped: Callable[[], bool] | None = None) -> list[Completed]:
        """Runs from their beginning to their end.

        Args:
            is_stopped: asked now and then whether nobody wants them any more.

        Raises:
            KeyboardInterrupt: where that is so, or where Ctrl-C ends them.
        """
        begun = [self._begin(each) for each in inputs]
        look = stop_when(is_stopped) if is_stopped else None
        if self.pack is None or len(begun) == 1:
            completed = [self._complete(run, calls, look) for run, calls in begun]
        else:
            runs = [run for run, _ in begun]
            self._advance_in_lanes(self.pack, runs, look)
            completed = [Completed(run.trajectory(self.probes)) for run in runs]
        for run, _ in begun:
            self.runs.give_back(run)
        return completed

    def _begin(self, inputs: Inputs) -> tuple[Integration, PythonCalls]:
        compiled, start = self.runs.compiled, inputs.start
        p = compiled.module.prepare(inputs.values)
        return self.runs.begin(self.runs.set_up(p, inputs.numbers, start), p, start), PythonCalls(compiled, p)

    def advance(self, runs: list[Integration], is_stopped: Callable[[], bool]) -> None:
        """Runs that call no Python and have begun, to their end."""
        look = stop_when(is_stopped)
        if self.pack is None or len(runs) == 1:
            for run in runs:
                run.begun = time.perf_counter()
                run.call_back(None, None, look)
                run.loop()
        else:
            self._advance_in_lanes(self.pack, runs, look)

    def _advance_in_lanes(self, pack: Pack, runs: list[Integration], look: Look | None) -> None:
        """Runs at once; those that ask for something, as for a Jacobian, go on alone."""
        try:
            reasons = pack.advance(runs, look)
        except BaseException:
            # Runs that were left in the middle of a call cannot go on.
            self.pack = None
            raise
        for run, reason in zip(runs, reasons, strict=True):
            if not has_ended(reason):
                run.call_back(None, None, look)
                run.loop()

    def _complete(self, run: Integration, calls: PythonCalls, look: Look | None) -> Completed:
        run.call_back(calls.run_task, calls.run_action, look)
        try:
            trajectory = run.complete(self.probes)
        except BrokenRun as broken:
            return Completed(broken.trajectory, (calls.running, broken.cause))
        if trajectory.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return Completed(trajectory)


def why_no_lanes(compiled: CompiledSystem, solver: Solver) -> str:
    """What keeps the runs of a system from lanes; empty where nothing does."""
    if calls_python(compiled.system):
        return "laws or actions in plain Python are called one at a time"
    if solver.max_wall_time is not None:
        return "a limit of wall time (solver.max_wall_time) is that of single runs"
    return describe_missing_lanes()


def make_pack(compiled: CompiledSystem) -> Pack | None:
    """What carries out several runs of a system at once; None where that cannot be."""
    module = compiled.module
    if calls_python(compiled.system) or not lanes_are_there() or (vectors := compiled.lane_module) is None:
        return None
    addresses = {module.kernels[name].address: address for name, address in vectors.addresses.items()}
    longest = max(size for kernel in module.kernels.values() for size in kernel.out_sizes)
    pack = Pack(vectors.lanes, addresses, module.n_parameters + module.n_prelude, module.data, longest)
    pack.keeps = module, vectors
    return pack


def stop_when(is_stopped: Callable[[], bool]) -> Look:
    """Threads are never interrupted themselves: they look whether the one that is, was."""

    def look(*_: Any) -> None:
        if is_stopped():
            raise KeyboardInterrupt

    return look
