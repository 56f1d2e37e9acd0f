"""Sampled-data linear model: how does a machine under sampled controllers answer to small changes, tick by tick?

    x' = A x + B m,   y = C x + D m          between ticks, the memory m held
    m[places] <- J_x x + J_m m               at the ticks of each task, one after another

All are deviations. Memory is what tasks remember and what they hold as outputs. Over a cycle of all ticks it is one
matrix, [x, m] after the cycle from [x, m] before it; its eigenvalues mu are the multipliers, log(mu) / T the poles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import expm

from robodyn.analysis.linear.linear_model import Variable
from robodyn.analysis.linear.subspaces import sort_roots
from robodyn.base.errors import Flaw, ModelError

MOST_WORK = 10**9
"""Base periods of a cycle times the entries of its matrix that are followed: seconds of computing."""
FORGOTTEN = 1e-6
"""Multipliers smaller than this, by base period, are those of memory that is written anew: they are no motion."""


@dataclass(frozen=True, eq=False)
class Update:
    """What a task does to the memory at ticks `offset + k period` of the base period.

    Attributes:
        places: of the memory it writes, (k,); by_state: (k, n), by_memory: (k, n_memory).
    """

    name: str
    period: int
    offset: int
    places: np.ndarray
    by_state: np.ndarray
    by_memory: np.ndarray

    def is_due(self, tick: int) -> bool:
        return (tick - self.offset) % self.period == 0


@dataclass(frozen=True, eq=False)
class SampledModel:
    """A linear model of a machine between and at its ticks.

    Attributes:
        updates: in the order in which tasks due at the same tick run.
        period: base period [s], of which all times are multiples.
        notes: sentences for whoever uses the numbers.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    updates: tuple[Update, ...]
    period: float
    states: tuple[Variable, ...] = ()
    memory: tuple[Variable, ...] = ()
    outputs: tuple[Variable, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> int:
        """How many states; the memory comes behind them."""
        return len(self.A)

    @property
    def size(self) -> int:
        """Number of states, with the held inputs."""
        return len(self.A) + self.B.shape[1]

    @cached_property
    def turn(self) -> int:
        """Base periods until all tasks are in step again."""
        return int(np.lcm.reduce([update.period for update in self.updates])) if self.updates else 1

    @property
    def turn_time(self) -> float:
        """[s]."""
        return self.turn * self.period

    def flow(self, time: float) -> np.ndarray:
        """x a time [s] after [x, m], without ticks: exact, the memory being held; (n, size)."""
        n, read = self.order, np.flatnonzero(self.B.any(axis=0))
        rates = np.zeros((n + read.size, n + read.size))
        rates[:n, :n], rates[:n, n:] = self.A, self.B[:, read]
        found = np.zeros((n, self.size))
        found[:, [*range(n), *(n + read)]] = expm(rates * time)[:n]
        return found

    @cached_property
    def glide(self) -> np.ndarray:
        """x a base period after [x, m]."""
        return self.flow(self.period)

    def apply(self, tick: int, whole: np.ndarray) -> None:
        """All tasks due at a tick, on the rows of a matrix [x, m] <- start, in place."""
        n = self.order
        for update in self.updates:
            if update.is_due(tick):
                fresh = update.by_state @ whole[:n] + update.by_memory @ whole[n:]
                whole[n + update.places] = fresh

    @cached_property
    def matrix(self) -> np.ndarray:
        """[x, m] before the tasks of a cycle's first tick, from the same a cycle before."""
        if self.turn * self.size**2 > MOST_WORK:
            what = f"{self.size} states and memory are too many for {self.turn} base periods until sample times meet"
            raise ModelError([Flaw("loop", what, "choose longer periods, or shorter delays")])
        whole = np.eye(self.size)
        with np.errstate(over="ignore", invalid="ignore"):
            for tick in range(self.turn):
                self.apply(tick, whole)
                whole[: self.order] = self.glide @ whole
        if not np.isfinite(whole).all():
            what = "its motion outgrows all numbers before its sample times meet again"
            raise ModelError([Flaw("loop", what, "reduce the gains")])
        return whole

    @cached_property
    def multipliers(self) -> np.ndarray:
        """By how much the motions are multiplied in a cycle, complex, the largest first; those of zero are left out."""
        kept = remembered(self.matrix)
        found = np.linalg.eigvals(self.matrix[np.ix_(kept, kept)])
        found = found[np.abs(found) > FORGOTTEN**self.turn]
        return found[np.argsort(-np.abs(found), kind="stable")]

    def poles(self) -> np.ndarray:
        """log(mu) / T [rad/s], by magnitude; frequencies above half a cycle's look lower than they are."""
        return sort_roots(np.log(self.multipliers.astype(complex)) / self.turn_time)

    @property
    def growth(self) -> float:
        """Rate of the motion that grows most or decays least [1/s]."""
        largest = abs(self.multipliers[0]) if self.multipliers.size else 0.0
        return float(np.log(largest) / self.turn_time) if largest else -np.inf


def remembered(matrix: np.ndarray, *readers: np.ndarray) -> np.ndarray:
    """Places of a cycle's start that its end, or a reader, depends on; the others only add multipliers of zero."""
    kept = np.arange(len(matrix))
    while True:
        columns = np.vstack([matrix[np.ix_(kept, kept)], *(reader[:, kept] for reader in readers)])
        used = columns.any(axis=0)
        if used.all():
            return kept
        kept = kept[used]
