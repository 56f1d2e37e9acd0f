"""Trim: at which inputs does a machine rest where it is wanted? Some signals are held, some numbers found.

    f(x, d, m, u) = 0,   w - d = 0,   tasks leave m as it is,   h(q) = 0,   y(x, d, m, u) = wanted

Newton's method on all of these at once, in the sense of least squares where constraints make some of them follow from
others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from robodyn.analysis.linear.linearisation import OperatingPoint, sticking_directions
from robodyn.analysis.point_functions import PointFunctions, described_point
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.base.numerics import limit_step, solve_newton
from robodyn.base.symbolic.kinds import changed_entries
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import DelayInfo, StateInfo
from robodyn.computation.assembly.system import FREE

NEWTON_STEPS = 60
SETTLED = 1e-10
"""Largest Newton step, relative to nominal magnitudes, of a point found."""
STILL = 1e-7
"""Largest rate or distance left there, in nominal magnitudes (a second)."""
LONGEST_STEP = 0.5
"""Largest change of an unknown in one step, relative to its nominal magnitude and its value."""


@dataclass(frozen=True, eq=False)
class Trim:
    """A point at rest and what holds it there.

    Attributes:
        inputs: name -> value found for each free number.
    """

    point: OperatingPoint
    inputs: Mapping[str, float]
    iterations: int


class Trimmer:
    """The equations of rest of a system with some signals held by some numbers; many points of them can be asked for.

    Args:
        held: signals that are to have given values.
        by: tunable numbers that are found; as many as there are held signals, or fewer where symmetry makes up for it.
    """

    def __init__(self, system: System, held: Sequence[str], by: Sequence[str]) -> None:
        self.system, self.held, self.by = system, tuple(held), tuple(by)
        _check_names(self)
        tunable = [number.name for number in system.parameters]
        self._free = [tunable.index(name) for name in by]
        self._n = count_states(system)
        self._memory = [k for k, row in enumerate(memory_changes(system)) if row is not None]
        rows = self._rows()
        self._functions = PointFunctions(system, {"rows": rows}, (rows, self._columns()))
        self._scale = self._nominal()

    def _rows(self) -> ca.SX:
        system = self.system
        kept = [row for row in memory_changes(system) if row is not None]
        delayed = system.expressions.delayed - system.symbols.d if system.delays else ca.SX(0, 1)
        closed = system.expressions.constraints[: len(system.motion.constraint_forces)]
        places = [system.signal_names.index(name) for name in self.held]
        signals = [system.expressions.outputs[k] for k in places]
        return ca.densify(ca.vertcat(system.expressions.rhs[: self._n], delayed, *kept, closed, *signals))

    def _columns(self) -> ca.SX:
        symbols = self.system.symbols
        memory = [symbols.m[k] for k in self._memory]
        return ca.vertcat(symbols.x[: self._n], symbols.d, *memory, *(symbols.p[k] for k in self._free))

    def _nominal(self) -> np.ndarray:
        parts: list[StateInfo | DelayInfo] = [*self.system.states[: self._n], *self.system.delays]
        known = [float(part.nominal) for part in parts]
        return np.array(known + [1.0] * (len(self._memory) + len(self._free)))

    def find(
        self,
        values: Sequence[float],
        guess: OperatingPoint | Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Trim:
        """The point at rest at which the held signals have the values.

        Args:
            guess: a point found before, or states by name; the scenario's start otherwise.
            parameters: tunable numbers to change.
        """
        work = _Work(self, np.asarray(values, float), self._begin(guess, dict(parameters or {})))
        z, iterations = work.solve()
        point = work.point(z)
        found = {name: float(point.p[k]) for name, k in zip(self.by, self._free, strict=True)}
        return Trim(point, found, iterations)

    def _begin(self, guess: OperatingPoint | Mapping[str, float] | None, changes: dict[str, float]) -> OperatingPoint:
        system = self.system
        if isinstance(guess, OperatingPoint):
            p = guess.p.copy()
            for k, number in enumerate(system.parameters):
                p[k] = changes.get(number.name, p[k] if k in self._free else number.value)
            return OperatingPoint(guess.t, guess.x, guess.d, guess.m, p)
        given = dict.fromkeys(sticking_directions(system), FREE) | dict(guess or {})
        x = np.array([given.get(info.name, info.start) for info in system.states], float)
        m = np.array([given.get(info.name, info.start) for info in system.memory], float)
        p = np.array([changes.get(number.name, number.value) for number in system.parameters], float)
        return replace(described_point(system), x=x, m=m, p=p)


@dataclass(frozen=True, eq=False)
class _Work:
    """Newton's method for one set of values; unknowns in units of their nominal magnitudes."""

    trimmer: Trimmer
    values: np.ndarray
    start: OperatingPoint

    def point(self, z: np.ndarray) -> OperatingPoint:
        t, whole = self.trimmer, z * self.trimmer._scale
        x, m, p = self.start.x.copy(), self.start.m.copy(), self.start.p.copy()
        cuts = np.cumsum([t._n, len(t.system.delays), len(t._memory)])
        x[: t._n], d, m[t._memory], p[t._free] = np.split(whole, cuts)
        return OperatingPoint(self.start.t, x, d, m, p)

    def unknowns(self) -> np.ndarray:
        t, s = self.trimmer, self.start
        return np.concatenate([s.x[: t._n], s.d, s.m[t._memory], s.p[t._free]]) / t._scale

    def residual(self, z: np.ndarray) -> np.ndarray:
        rows, n = self.trimmer._functions("rows", self.point(z)), self.trimmer._n
        rows[:n] /= self.trimmer._scale[:n]
        rows[rows.size - self.values.size :] -= self.values
        return rows

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        scale, n = self.trimmer._scale, self.trimmer._n
        matrix = self.trimmer._functions.slopes(self.point(z)) * scale
        matrix[:n] /= scale[:n, None]
        return matrix

    def solve(self) -> tuple[np.ndarray, int]:
        found = solve_newton(
            lambda z: (self.residual(z), None),
            lambda z, residual, _: -np.linalg.lstsq(self.jacobian(z), residual, rcond=1e-12)[0],
            self.unknowns(),
            most_steps=NEWTON_STEPS,
            still=STILL,
            settled=SETTLED,
            shorten=lambda z, step: limit_step(LONGEST_STEP)(z, step / (1 + np.abs(z))),
            uphill=True,
        )
        if not found.solved:
            raise self._unrest(found.residual)
        return found.z, found.steps

    def _unrest(self, residual: np.ndarray) -> ModelError:
        t = self.trimmer
        names = [f"rate of {state.name}" for state in t.system.states[: t._n]]
        names += [f"what {delay.name} delays" for delay in t.system.delays]
        names += [f"memory {t.system.memory[k].name}" for k in t._memory]
        names += [f"constraint {name}" for name in t.system.motion.constraint_forces] + list(t.held)
        worst = int(np.argmax(np.where(np.isfinite(residual), np.abs(residual), np.inf)))
        wanted = ", ".join(f"{name} = {value:g}" for name, value in zip(t.held, self.values, strict=True))
        where = f" with {wanted}" if wanted else ""
        what = f"nothing at rest found{where}: {residual[worst]:.3g} is left of {names[worst]}"
        remedy = "name the numbers that hold it there, or start nearer to it"
        return ModelError([Flaw("held", what, remedy)], f"trim of '{t.system.scenario.name}'")


def find_trim(
    system: System,
    held: Mapping[str, float],
    by: Sequence[str],
    *,
    guess: OperatingPoint | Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Trim:
    """The point at rest where signals have given values, and the numbers that hold it there.

    Args:
        held: signal -> wanted value, such as `arm1.q1.position`.
        by: tunable numbers to be found, such as motor torques.
        guess: a point found before, or states by name; the scenario's start otherwise.
        parameters: other tunable numbers to change.
    """
    return Trimmer(system, tuple(held), by).find(tuple(held.values()), guess, parameters)


def count_states(system: System) -> int:
    """How many of the first states something depends on: a rate, a delayed signal or a task; the rest keeps books."""
    tasks = [system.memory_after(task) for task in system.discrete.tasks if task.call is None]
    delayed = [system.expressions.delayed] if system.delays else []
    rows = ca.vertcat(system.expressions.rhs, *delayed, *tasks)
    needed = ca.which_depends(rows, system.symbols.x, 1, False) if system.states else []
    return max((k + 1 for k, used in enumerate(needed) if used), default=0)


def memory_changes(system: System) -> list[ca.SX | None]:
    """For each entry of the memory what tasks change it by, None where no task does."""
    m = system.symbols.m
    rows: list[ca.SX | None] = [None] * m.numel()
    for task in system.discrete.tasks:
        if task.call is not None:
            what = f"block '{task.name}' is called in Python: whether it is at rest cannot be known"
            raise ModelError([Flaw("system", what)], system.scenario.name)
        after = system.memory_after(task)
        for k in changed_entries(m, after):
            rows[k] = after[k] - m[k]
    return rows


def _check_names(trimmer: Trimmer) -> None:
    system, flaws = trimmer.system, FlawList()
    tunable = [number.name for number in system.parameters]
    flaws.add_unknown(trimmer.held, system.signal_names, "there is no such signal", "held")
    flaws.add_unknown(trimmer.by, tunable, "is not tunable in this system", "by")
    if len(trimmer.by) > len(trimmer.held):
        what = f"{len(trimmer.by)} numbers cannot be found from {len(trimmer.held)} held signals"
        flaws.add("by", what, "hold as many signals")
    flaws.raise_if_any(f"trim of '{system.scenario.name}'")
