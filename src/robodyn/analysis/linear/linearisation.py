"""Linearisation: which linear model does a system have around an operating point? Exact derivatives, in native code.

A = df/dx, B = df/dp, E = df/dd, and the same of the delayed signals and the outputs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from robodyn.analysis.jumps import Jump, find_staircases, smooth_expressions
from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.analysis.linear.linearisation_notes import describe_notes
from robodyn.analysis.linear.operating_point import OperatingPoint, Place, find_point
from robodyn.analysis.linear.tangent import find_tangent
from robodyn.analysis.point_functions import PointFunctions
from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System
from robodyn.computation.assembly.functions import INPUTS, Expressions
from robodyn.computation.native import KernelModule, find_rough_entries, read_program
from robodyn.computation.simulation.equilibrium import Balance, share_balance


def linearise(
    system: System,
    at: Place = "equilibrium",
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
) -> LinearModel:
    """The linear model of a system around an operating point, by exact derivatives; delays stay delays.

    Memory of sampled blocks is held, friction that sticks is left out (without its viscous part) where the point does
    not say what it does, and book-keeping states that nothing depends on are left out; quantisers and other staircases
    have their mean slope. The model's notes say so, and also what is not at rest and where a slope jumps.

    Args:
        at: "equilibrium" | "start" | a run (its end) | (run, time [s]) | values of states and memory by name | the
            `point` of another model of the system.
        inputs: names of tunable numbers: set-points, forces of loads, any parameter.
        outputs: names of signals.
        parameters: tunable numbers to change.
    """
    asked = (tuple(inputs), tuple(outputs))
    known = system.kept.get(("linear", *asked))
    if known is None:
        parts = Parts(system, *asked)
        parts.check()
        known = system.kept["linear", *asked] = parts, parts.functions()
    parts, functions = known
    slopes = Slopes(parts, functions, find_point(system, at, parameters, _rest_of(parts, functions.module)))
    slopes.check()
    return replace(build_model(slopes), notes=describe_notes(slopes))


def _rest_of(parts: Parts, module: KernelModule) -> Balance | None:
    """The equations of rest, which the rows of the model hold unless staircases are smoothed in it."""
    values, slopes, n = module.kernels["values"], module.kernels["slopes"], parts.n

    def jacobian(*at: np.ndarray) -> np.ndarray:
        return np.array(slopes(*at)).reshape((values.out_sizes[0], -1), order="F")[:n, :n]

    return None if parts.staircases else share_balance(parts.system, module, lambda *at: values(*at)[:n], jacobian)


@dataclass(frozen=True)
class Parts:
    """The rows [f, w, y] and columns [x, d, u] of a linear model in a system's expressions."""

    system: System
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def n(self) -> int:
        """States that count: all but the last ones that no rate and no delayed signal depends on."""
        rows = ca.vertcat(self.system.expressions.rhs, self._delayed)
        needed = ca.which_depends(rows, self.system.symbols.x, 1, False) if self.system.states else []
        return max((k + 1 for k, used in enumerate(needed) if used), default=0)

    @property
    def _delayed(self) -> ca.SX:
        return self.system.expressions.delayed if self.system.delays else ca.SX(0, 1)

    def check(self) -> None:
        """Unknown inputs and outputs, and outputs of the book-keeping, are flaws."""
        system, flaws = self.system, FlawList()
        tunable = [number.name for number in system.parameters]
        constants = [name for name in self.inputs if name in system.numbers and name not in tunable]
        for name in constants:
            flaws.add(f"inputs.{name}", "is a constant of the system", "name it in the machine's tunable")
        flaws.add_unknown(self.inputs, [*tunable, *constants], "there is no such number", "inputs")
        flaws.add_unknown(self.outputs, system.signal_names, "there is no such signal", "outputs")
        for name in set(self.outputs) & set(system.signal_names):
            if self._integrates(name):
                flaws.add(f"outputs.{name}", "integrates along the motion", "choose a signal of the present state")
        for part, names in (("inputs", self.inputs), ("outputs", self.outputs)):
            for name in sorted({name for name in names if names.count(name) > 1}):
                flaws.add(f"{part}.{name}", "is named twice", "name it once")
        if not self.n:
            flaws.add("states", "the system has none", "a linear model needs at least one")
        flaws.raise_if_any(f"scenario '{system.scenario.name}'")

    def _integrates(self, output: str) -> bool:
        left_out = self.system.symbols.x[self.n :]
        return left_out.numel() > 0 and ca.depends_on(self._row(output), left_out)

    def _row(self, output: str) -> ca.SX:
        return self.system.expressions.outputs[self.system.signal_names.index(output)]

    @cached_property
    def rough_states(self) -> list[int]:
        """Places of the states at which a slope can jump at all."""
        values = self.system.function(self._rows(self.system.expressions))
        found = find_rough_entries(read_program(values), INPUTS.index("x"))
        return [k for k in found if k < self.n]

    @cached_property
    def staircases(self) -> tuple[Jump, ...]:
        """Blocks with steps."""
        return find_staircases(self.system.scenario)

    def _rows(self, expressions: Expressions) -> ca.SX:
        places = [self.system.signal_names.index(name) for name in self.outputs]
        delayed = expressions.delayed if self.system.delays else ca.SX(0, 1)
        outputs = [expressions.outputs[k] for k in places]
        return ca.densify(ca.vertcat(expressions.rhs[: self.n], delayed, *outputs))

    def functions(self) -> PointFunctions:
        """Values of the rows, and their derivatives by the columns."""
        symbols = self.system.symbols
        tunable = [number.name for number in self.system.parameters]
        chosen = [symbols.p[tunable.index(name)] for name in self.inputs]
        columns = ca.vertcat(symbols.x[: self.n], symbols.d, *chosen)
        smooth = self._rows(smooth_expressions(self.system, self.staircases))
        values = {"values": self._rows(self.system.expressions)}
        return PointFunctions(self.system, values, (smooth, columns), quick=True)


class Slopes:
    """Values of the rows and their derivatives by the columns, in native code, at an operating point."""

    def __init__(self, parts: Parts, functions: PointFunctions, point: OperatingPoint) -> None:
        self.parts, self.point, self._functions = parts, point, functions
        self.values = functions("values", point)
        self.matrix = functions.slopes(point)

    def at(self, x: np.ndarray) -> np.ndarray:
        """Derivatives with the states at x, the rest as at the operating point."""
        return self._functions.slopes(replace(self.point, x=x))

    def check(self) -> None:
        """Refuse values and derivatives that are not numbers, and say of what by what."""
        flaws = FlawList()
        rows, columns = self._names()
        for k in np.flatnonzero(~np.isfinite(self.values)):
            flaws.add(rows[k], f"is {self.values[k]} at this operating point", "choose another one")
        for i, j in np.argwhere(~np.isfinite(self.matrix)):
            what = f"its derivative by {columns[j]} is {self.matrix[i, j]} at this operating point"
            flaws.add(rows[i], what, "choose another one")
        flaws.raise_if_any(f"scenario '{self.parts.system.scenario.name}'")

    def _names(self) -> tuple[list[str], list[str]]:
        system = self.parts.system
        states = [state.name for state in system.states[: self.parts.n]]
        delays = [delay.name for delay in system.delays]
        rows = [f"rate of {name}" for name in states] + [f"what {name} delays" for name in delays]
        return [*rows, *self.parts.outputs], [*states, *delays, *self.parts.inputs]


def build_model(slopes: Slopes) -> LinearModel:
    """The derivatives cut into matrices, with names, units and values."""
    parts, point = slopes.parts, slopes.point
    system, n, n_d = parts.system, parts.n, len(parts.system.delays)
    rows = np.split(slopes.matrix, [n, n + n_d])
    (A, E, B), (F, H, G), (C, K, D) = (np.split(block, [n, n + n_d], axis=1) for block in rows)
    # By small rotations instead of quaternions.
    tangent = find_tangent(system, point.x[:n], slopes.values[:n], range(n))
    A, E, B = tangent.out @ A @ tangent.into + tangent.turning, tangent.out @ E, tangent.out @ B
    F, C = F @ tangent.into, C @ tangent.into
    units = {info.name: info.unit for info in system.signals}
    numbers = {number.name: number.unit for number in system.parameters}
    values = dict(zip(numbers, point.p.tolist(), strict=True))
    outputs = zip(parts.outputs, slopes.values[n + n_d :].tolist(), strict=True)
    return LinearModel(
        *(A, B, C, D, E, F, G, H, K),
        states=tangent.variables,
        inputs=tuple(Variable(name, numbers[name], values[name]) for name in parts.inputs),
        outputs=tuple(Variable(name, units[name], value) for name, value in outputs),
        delays=tuple(
            # Times that are tunable count as they are now.
            DelayedSignal(d.name, values.get(f"{d.name.removesuffix('.output')}.time", d.time), units.get(d.name, ""))
            for d in system.delays
        ),
        point=point,
    )
