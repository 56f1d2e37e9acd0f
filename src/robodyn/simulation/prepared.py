"""Prepared runs: what of a run is the same whatever its numbers? Made once, so that each run costs little beside the
engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from robodyn.engine import Integration, Setup, set_up
from robodyn.model import Recording, Solver
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.extent import check_extent
from robodyn.simulation.problem import build_problem, deciding_numbers, parameter_tables
from robodyn.simulation.settings import engine_recording
from robodyn.simulation.starting import Start

LARGE, MOST_IDLE = 2**20, 128
"""Numbers in the record of a run whose memory is not kept for another, and how many such runs there may be; own
choices."""
MOST_KEPT = 8
"""Solvers, recordings and durations for which one compiled system keeps what it made ready; own choice."""


class PreparedRuns:
    """Runs of one compiled system with one solver and one recording, from one time to another.

    Attributes:
        recording: which instants the engine keeps.
        deciding: names of the numbers that decide delays and jumps; decide: their values; ready: these of the last
            run, and its setup.
    """

    def __init__(
        self, compiled: CompiledSystem, solver: Solver, recording: Recording, begin: float, duration: float
    ) -> None:
        compiled.check_solver(solver)
        limited = "within" in compiled.module.kernels
        self.compiled, self.solver, self.span = compiled, solver, (begin, begin + duration)
        self.duration = duration
        self.recording = engine_recording(recording, solver, begin, duration, watch_steps=limited)
        deciding = deciding_numbers(compiled.system)
        self.deciding = frozenset(deciding)
        self.decide: Callable[[Mapping[str, Any]], Any] = itemgetter(*deciding) if deciding else lambda numbers: ()
        # A delayed signal without a given past has that of the start, which any number may decide.
        self.free = any(delay.before is None for delay in compiled.system.delays)
        self.ready: tuple[Any, Setup] | None = None
        self.idle: list[Integration] = []

    def set_up(self, p: np.ndarray, numbers: Mapping[str, Any], start: Start) -> Setup:
        """What the engine needs to know of a run with these parameters."""
        ready, decided = self.ready, self.decide(numbers)
        if ready is not None and ready[0] == decided and not self.free:
            return ready[1]
        if ready is None:
            setup = set_up(build_problem(self.compiled, p, numbers, start), self.solver, self.recording)
        else:
            setup = ready[1]
        setup = setup.changed(**parameter_tables(self.compiled, p, numbers, start, self.duration))
        self.ready = decided, setup
        return setup

    def begin(self, setup: Setup, p: np.ndarray, start: Start) -> Integration:
        """A run, ready to be carried out; in the memory of an earlier one where that fits."""
        while self.idle:
            # Popping is atomic: what one thread has, no other has.
            try:
                run = self.idle.pop()
            except IndexError:
                break
            if run.setup is setup and run.derivatives is None:
                run.restart(start.x, start.m, p)
                return run
        return Integration(setup, *self.span, start.x, start.m, p)

    def give_back(self, run: Integration) -> None:
        """A run that nobody looks at any more, to be begun again; one of a large record is let go."""
        if run.run.row_capacity * (run.problem.n_y + 2) < LARGE and len(self.idle) < MOST_IDLE:
            self.idle.append(run)


def prepare_runs(
    compiled: CompiledSystem, solver: Solver, recording: Recording, begin: float, duration: float
) -> PreparedRuns:
    """What runs share, kept with the compiled system for the next ones like them."""
    key, kept = (solver, recording, begin, duration), compiled.prepared
    found = kept.get(key)
    if found is None:
        found = PreparedRuns(compiled, solver, recording, begin, duration)
        check_extent(compiled, solver, found.recording, duration)
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[key] = found
    return found
