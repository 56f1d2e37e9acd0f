"""Choice of lanes: does it pay to compute several robots a call? Tried once, and kept where it is faster.

Long functions are computed up to four times as fast in lanes. Where they are short, what the engine does beside them
decides, and the waiting of runs for one another may cost more than lanes save. Results are the same.
"""

from __future__ import annotations

import threading

from robodyn.engine.pack import Pack
from robodyn.model import Solver
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.pool import RunPool, make_pack

WORTHWHILE = 4.0
"""Seconds of computing still to come, above which the functions are compiled for lanes, own choice."""
MOST, AT_ONCE = 64, 0.03
"""Runs that a thread takes at once: at most so many, and not many more than last so long [s], own choices."""
_compiling = threading.Lock()


class LaneChoice:
    """How one thread carries out its runs: one by one, then in lanes, then in the faster of both ways.

    Args:
        wanted: False: never in lanes, True: always; None: where it pays.
    """

    def __init__(self, compiled: CompiledSystem, solver: Solver, wanted: bool | None) -> None:
        self.compiled, self.wanted = compiled, wanted
        self.possible = wanted is not False and solver.max_wall_time is None
        self.pack: Pack | None = None
        self.seconds: dict[bool, float] = {}

    def choose(self, pool: RunPool, left: int, threads: int) -> int:
        """Whether the next runs are carried out in lanes, which the pool is told; how many of those left they are."""
        pool.pack = self._choose(left)
        fitting = int(AT_ONCE / max(self.seconds.get(pool.pack is not None, AT_ONCE), 1e-9))
        # In lanes, as many in each; at the end no thread is to have much more to do than another.
        lanes = pool.pack.lanes if pool.pack is not None else 1
        return max(lanes, min(MOST, fitting, left // (2 * threads)) // lanes * lanes)

    def note(self, pool: RunPool, seconds: float) -> None:
        """How long a run took as chosen [s of this thread]: other work on the machine does not count."""
        self.seconds[pool.pack is not None] = seconds

    def _choose(self, left: int) -> Pack | None:
        if self.possible and self.pack is None and (self.wanted or self.seconds.get(False, 0.0) * left > WORTHWHILE):
            # The first thread compiles, the others wait for it.
            with _compiling:
                self.pack = make_pack(self.compiled)
            self.possible = self.pack is not None
        if self.wanted or True not in self.seconds:
            return self.pack
        return self.pack if self.seconds[True] < self.seconds[False] else None
