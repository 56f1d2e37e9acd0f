"""Trim: at which inputs does a machine rest where it is wanted? Some signals are held, some numbers found.

    f(x, d, m, u) = 0,   w - d = 0,   tasks leave m as it is,   h(q) = 0,   y(x, d, m, u) = wanted

Newton's method on all of these at once, in the sense of least squares where constraints make some of them follow from
others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from robodyn.analysis.point_functions import OperatingPoint, PointFunctions, described_point
from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, limit_step, refuse, solve_newton
from robodyn.base.symbolic import changed_entries
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


@frozen(eq=False)
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
        flaws = FlawList()
        flaws.add_unknown(held, system.signal_names, "there is no such signal", "held")
        flaws.add_unknown(by, system.places, "is not tunable in this system", "by")
        if len(by) > len(held):
            what = f"{len(by)} numbers cannot be found from {len(held)} held signals"
            flaws.add("by", what, "hold as many signals")
        flaws.raise_if_any(f"trim of '{system.scenario.name}'")

        # Unknowns: states that something depends on, delayed signals, memory that tasks change, numbers.
        changes = memory_changes(system)
        symbols, expressions = system.symbols, system.expressions
        self._n = system.n_moving
        self._memory = [k for k, change in enumerate(changes) if change is not None]
        self._free = [system.places[name] for name in by]
        memory, numbers = [symbols.m[k] for k in self._memory], [symbols.p[k] for k in self._free]
        columns = ca.vertcat(symbols.x[: self._n], symbols.d, *memory, *numbers)
        # Equations: rates, what delays and tasks change, constraints, and the signals that are held.
        delayed = expressions.delayed - symbols.d
        closed = expressions.constraints[: len(system.motion.constraint_forces)]
        signals = [system.signal_expressions[name] for name in held]
        still = [change for change in changes if change is not None]
        rows = ca.densify(ca.vertcat(expressions.rhs[: self._n], delayed, *still, closed, *signals))
        self._functions = PointFunctions(system, {"rows": rows}, (rows, columns))
        parts: list[StateInfo | DelayInfo] = [*system.states[: self._n], *system.delays]
        nominal = [float(part.nominal) for part in parts]
        self._scale = np.array(nominal + [1.0] * (len(memory) + len(numbers)))

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
        start = self._begin(guess, dict(parameters or {}))
        targets, n, scale = np.asarray(values, float), self._n, self._scale
        cuts = np.cumsum([n, len(self.system.delays), len(self._memory)])

        # Unknowns z are in units of their nominal magnitudes, and so are the rates of states.
        def point_at(z: Array) -> OperatingPoint:
            x, m, p = start.x.copy(), start.m.copy(), start.p.copy()
            x[:n], d, m[self._memory], p[self._free] = np.split(z * scale, cuts)
            return OperatingPoint(start.t, x, d, m, p)

        def residual(z: Array) -> Array:
            rows = self._functions("rows", point_at(z))
            rows[:n] /= scale[:n]
            rows[rows.size - targets.size :] -= targets
            return rows

        def newton_step(z: Array, error: Array, _: None) -> Array:
            matrix = self._functions.slopes(point_at(z)) * scale
            matrix[:n] /= scale[:n, None]
            return -np.linalg.lstsq(matrix, error, rcond=1e-12)[0]

        first = np.concatenate([start.x[:n], start.d, start.m[self._memory], start.p[self._free]]) / scale
        solution = solve_newton(
            lambda z: (residual(z), None),
            newton_step,
            first,
            most_steps=NEWTON_STEPS,
            still=STILL,
            settled=SETTLED,
            shorten=lambda z, step: limit_step(LONGEST_STEP)(z, step / (1 + np.abs(z))),
            uphill=True,
        )
        if not solution.solved:
            raise self._unrest(solution.residual, targets)
        point = point_at(solution.z)
        inputs = {name: float(point.p[k]) for name, k in zip(self.by, self._free, strict=True)}
        return Trim(point, inputs, solution.steps)

    def _begin(self, guess: OperatingPoint | Mapping[str, float] | None, changes: dict[str, float]) -> OperatingPoint:
        system = self.system
        if isinstance(guess, OperatingPoint):
            p = guess.p.copy()
            for k, number in enumerate(system.parameters):
                p[k] = changes.get(number.name, p[k] if k in self._free else number.value)
            return replace(guess, p=p)
        values = dict.fromkeys(system.stick_directions, FREE) | dict(guess or {})
        x, m = (
            np.array([values.get(info.name, info.start) for info in infos], float)
            for infos in (system.states, system.memory)
        )
        return replace(described_point(system), x=x, m=m, p=system.parameter_values(changes))

    def _unrest(self, residual: Array, values: Array) -> ModelError:
        """Which equation is met least."""
        system = self.system
        names = [f"rate of {name}" for name in system.state_names[: self._n]]
        names += [f"what {delay.name} delays" for delay in system.delays]
        names += [f"memory {system.memory[k].name}" for k in self._memory]
        names += [f"constraint {name}" for name in system.motion.constraint_forces] + list(self.held)
        worst = int(np.argmax(np.where(np.isfinite(residual), np.abs(residual), np.inf)))
        targets = ", ".join(f"{name} = {value:g}" for name, value in zip(self.held, values, strict=True))
        where = f" with {targets}" if targets else ""
        what = f"nothing at rest found{where}: {residual[worst]:.3g} is left of {names[worst]}"
        remedy = "name the numbers that hold it there, or start nearer to it"
        return ModelError([Flaw("held", what, remedy)], f"trim of '{system.scenario.name}'")


def find_trim(
    system: System,
    held: Mapping[str, float],
    by: Sequence[str],
    *,
    guess: OperatingPoint | Mapping[str, float] | None = None,
) -> Trim:
    """The point at rest where signals have given values, and the numbers that hold it there.

    Args:
        held: signal -> wanted value, such as `arm1.q1.position`.
        by: tunable numbers to be found, such as motor torques.
        guess: a point found before, or states by name; the scenario's start otherwise.
    """
    return Trimmer(system, tuple(held), by).find(tuple(held.values()), guess)


def memory_changes(system: System) -> list[ca.SX | None]:
    """For each entry of the memory what tasks change it by, None where no task does."""
    m = system.symbols.m
    rows: list[ca.SX | None] = [None] * m.numel()
    for task in system.discrete.tasks:
        if task.call is not None:
            what = f"block '{task.name}' is called in Python: whether it is at rest cannot be known"
            refuse("system", what, source=system.scenario.name)
        after = system.memory_after(task)
        for k in changed_entries(m, after):
            rows[k] = after[k] - m[k]
    return rows
