"""Closed-loop poles: do deviations from a point at rest decay, sampled controllers and constraints included?

Between ticks deviations of states and memory obey x' = A x + B m, m' = 0; at a tick each task due makes
m <- J_x x + J_m m of them. One cycle through all ticks is a matrix; its eigenvalues mu are poles s = log(mu) / T.
Without sampled tasks these are the eigenvalues of A. Motions that break constraints are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.analysis.jumps import find_staircases, smooth_expressions
from robodyn.analysis.linear.constrained import free_motions
from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel
from robodyn.analysis.linear.operating_point import OperatingPoint
from robodyn.analysis.linear.sampled_model import SampledModel, Update
from robodyn.analysis.linear.sampling import check_sampled
from robodyn.analysis.linear.subspaces import sort_roots
from robodyn.analysis.linear.trim import count_states, memory_changes
from robodyn.assembly import System
from robodyn.assembly.functions import INPUTS
from robodyn.native import compile_kernels


@dataclass(frozen=True, eq=False)
class _Slopes:
    """Derivatives at a point: of rates by x, d, m; of delayed signals by x, d; of each task's memory by x, m."""

    A: np.ndarray
    E: np.ndarray
    B: np.ndarray
    F: np.ndarray
    H: np.ndarray
    tasks: tuple[tuple[np.ndarray, np.ndarray], ...]


class LoopPoles:
    """The poles of a system at any of its points at rest; derivatives are compiled once."""

    def __init__(self, system: System) -> None:
        self.system = system
        check_sampled(system)
        self._n = count_states(system)
        symbols = system.symbols
        smooth = smooth_expressions(system, find_staircases(system.scenario))
        delayed = smooth.delayed if system.delays else ca.SX(0, 1)
        closed = smooth.constraints if system.motion.constraint_forces else ca.SX(0, 1)
        # Memory that no task changes is a constant, not a motion.
        self._memory = [k for k, change in enumerate(memory_changes(system)) if change is not None]
        tasks = [self._chosen(smooth.updates[task.function]) for task in system.discrete.tasks if task.function]
        self._rows = [smooth.rhs[: self._n], delayed, closed, *tasks]
        columns = ca.vertcat(symbols.x[: self._n], symbols.d, self._chosen(symbols.m))
        self._cuts = np.cumsum([self._n, len(system.delays)])
        slopes = ca.vec(ca.densify(ca.cse(ca.jacobian(ca.vertcat(*self._rows), columns))))
        by = [*symbols]
        self._module = compile_kernels({"slopes": ca.Function("slopes", by, [slopes])}, INPUTS.index("p"))

    def _chosen(self, memory: ca.SX) -> ca.SX:
        return ca.vertcat(ca.SX(0, 1), *(memory[k] for k in self._memory))

    def at(self, point: OperatingPoint) -> np.ndarray:
        """Poles [rad/s], complex, by magnitude."""
        slopes = self._slopes_at(point)
        if self.system.discrete.tasks:
            return self._sampled(slopes)
        if not self.system.delays:
            return sort_roots(np.linalg.eigvals(slopes.A))
        numbers = dict(zip((number.name for number in self.system.parameters), point.p.tolist(), strict=True))
        delays = tuple(
            DelayedSignal(delay.name, numbers.get(f"{delay.owner}.time", delay.time)) for delay in self.system.delays
        )
        return LinearModel(slopes.A, E=slopes.E, F=slopes.F, H=slopes.H, delays=delays).poles()

    def _slopes_at(self, point: OperatingPoint) -> _Slopes:
        inputs = (np.array([point.t]), point.x, point.d, point.m, self._module.prepare(point.p))
        sizes = [rows.numel() for rows in self._rows]
        matrix = np.array(self._module.kernels["slopes"](*inputs)).reshape((sum(sizes), -1), order="F")
        rates, delayed, closed, *tasks = np.split(matrix, np.cumsum(sizes)[:-1])
        (A, E, B), (F, H, _) = (np.split(part, self._cuts, axis=1) for part in (rates, delayed))
        N, chosen = np.eye(self._n), list(range(self._n))
        if self.system.motion.constraint_forces:
            N, chosen = free_motions(closed[:, : self._n])
        parts = [np.split(task, self._cuts, axis=1) for task in tasks]
        return _Slopes(
            *((A @ N)[chosen], E[chosen], B[chosen], F @ N, H), tuple((by_x @ N, by_m) for by_x, _, by_m in parts)
        )

    def _sampled(self, slopes: _Slopes) -> np.ndarray:
        """Through all ticks of a cycle."""
        system, everything = self.system, np.arange(len(self._memory))
        updates = tuple(
            Update(task.name, task.period, task.offset, everything, by_x, by_m)
            for task, (by_x, by_m) in zip(system.discrete.tasks, slopes.tasks, strict=True)
        )
        none = np.zeros((0, 0))
        return SampledModel(slopes.A, slopes.B, none, none, updates, float(system.discrete.base_period or 0)).poles()
