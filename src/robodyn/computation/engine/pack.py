"""Pack of runs: how does Python let the engine carry out several runs at once, one in each lane of a vector?"""

from __future__ import annotations

import ctypes
import platform
import sys
import time as clock
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array

from .binding import address_of, functions
from .integrate import SLICE, Integration, Reason

if TYPE_CHECKING:
    from robodyn.computation.native import LaneModule

FIRST_CALLS = 1000
"""Calls of functions before the first look at the clock, own choice."""
WITHOUT_END = 2**62
"""Steps: a pack counts calls instead."""


class Pack:
    """Runs of one model at once; belongs to one thread at a time.

    Args:
        lanes: runs that one call of a function computes.
        vectors: address of a function -> that of the same function in lanes, the cheapest first.
        n_p: numbers of a run's parameters that are its own; table: those behind them, the same for all runs.
        longest: most numbers that a function gives.

    Attributes:
        keeps: what must live as long as the addresses are used.

    Raises:
        OSError: where this machine has no lanes.
    """

    def __init__(self, lanes: int, vectors: Mapping[int, int], n_p: int, table: Array, longest: int) -> None:
        self.free, self.address, self.lanes = functions().pack_free, 0, lanes
        self.kernels, self.vectors = (np.array(list(each), np.int64) for each in (vectors, vectors.values()))
        table = np.array(table, float)
        self.address = functions().pack_new(
            lanes,
            len(vectors),
            address_of(self.kernels),
            address_of(self.vectors),
            n_p,
            address_of(table),
            len(table),
            longest,
        )
        if not self.address:
            raise OSError("runs cannot be carried out in lanes here")
        self.size = FIRST_CALLS
        self.keeps: Any = None

    def __del__(self) -> None:
        if self.address:
            self.free(self.address)

    def advance(self, runs: Sequence[Integration], look: Callable[[], None] | None = None) -> list[int]:
        """Why the engine returned for each run.

        Args:
            look: called about fifty times a second; what it raises ends all runs.
        """
        addresses, reasons = np.array([run.address for run in runs], np.int64), np.zeros(len(runs), np.int64)
        for run in runs:
            run.run.budget = WITHOUT_END
        arguments = self.address, address_of(addresses), len(runs), address_of(reasons)
        advance, start_time = functions().pack_advance, clock.perf_counter()
        while advance(*arguments, self.size):
            if look is not None:
                look()
            now = clock.perf_counter()
            # As many calls as take 20 ms, by how long the last ones took.
            self.size = int(max(1, self.size * min(4.0, SLICE / max(now - start_time, 1e-6))))
            start_time = now
        return reasons.tolist()

    @property
    def filled(self) -> float:
        """How many robots a call has computed, on average."""
        calls, computed, _ = self._count()
        return computed / max(calls, 1)

    @property
    def joined(self) -> float:
        """Part of all that was computed for runs in convoys."""
        _, computed, together = self._count()
        return together / max(computed, 1)

    def _count(self) -> list[int]:
        counts = np.zeros(3, np.int64)
        functions().pack_count(self.address, address_of(counts))
        return counts.tolist()


MOST_ENTRIES = 1 << 12
"""Numbers that a function of many robots may give for each, as in lanes.c."""


class ManyCall:
    """A function in lanes, bound to the numbers of many robots; for one thread at a time.

    Args:
        arrays: x, d, m, p and what the function gives, each a row a robot (n, size) or one for all (1, size); the last
            may be x. They are read and written where they lie, at every call. table: numbers behind the parameters.
    """

    def __init__(self, module: LaneModule, name: str, arrays: Sequence[Array], table: Array) -> None:
        p, out = arrays[-2:]
        if out.shape[1] > MOST_ENTRIES:
            raise ValueError(f"{name} gives {out.shape[1]} numbers, more than {MOST_ENTRIES}")
        self.clock, self.at = np.zeros((1, 3)), (0.0, 0.0)
        rows = [self.clock, *arrays]
        strides = np.array([each.shape[1] if len(each) > 1 else 0 for each in rows], np.int64)
        places = np.array([address_of(each) for each in rows], np.int64)
        side_by_side = np.concatenate([np.zeros(module.lanes * p.shape[1]), table])
        self.before = module.addresses[name], module.lanes, len(out)
        self.behind = address_of(places), address_of(strides), p.shape[1], address_of(side_by_side)
        self.call = functions().compute_many
        # The engine reads them as long as the call is used.
        self.keeps = module, rows, strides, places, side_by_side

    def __call__(self, begin: float = 0.0, distance: float = 0.0, times: int = 1) -> None:
        """Compute the function for each robot, one or more times, at times so far apart."""
        if (begin, distance) != self.at:
            self.clock[0], self.at = (begin, distance, begin), (begin, distance)
        self.clock[0, 0] = begin
        self.call(*self.before, times, *self.behind)


def has_ended(reason: int) -> bool:
    """Whether a run is over; else it goes on by itself."""
    return reason == Reason.ENDED


def describe_missing_lanes() -> str:
    """Why this machine cannot carry out runs in lanes; empty where it can."""
    if lanes_are_there():
        return ""
    if sys.platform == "win32":
        return "runs cannot wait for one another on stacks of their own on Windows"
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"processors of the kind {platform.machine()} have none: only x86-64 has"
    return "this processor guards return addresses by a shadow stack, or the engine was built to check its memory"


def lanes_are_there() -> bool:
    """Whether this machine can carry out runs in lanes."""
    none = np.zeros(1, np.int64)
    address = functions().pack_new(1, 0, address_of(none), address_of(none), 0, address_of(none), 0, 0)
    if address:
        functions().pack_free(ctypes.c_void_p(address))
    return bool(address)
