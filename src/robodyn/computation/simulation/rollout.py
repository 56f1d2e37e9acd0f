"""Rates and rollouts of many robots: how do many states change, and where do fixed steps lead them? Four at a time.

What a planner or a learning controller asks for thousands of times: no ticks, events, limits of states or delays, no
record and no certificate; all of that is `simulate_many`. Elementary functions are computed by arithmetic, so results
are those of the engine but for a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base import Array, FlawList, frozen, nearest
from robodyn.base.symbolic import tables
from robodyn.computation.assembly import System
from robodyn.computation.assembly.system import INPUTS
from robodyn.computation.engine.pack import ManyCall
from robodyn.computation.native import KernelModule, LaneModule, Options, compile_kernels, compile_lanes

from .run_functions import LANES

Step = Callable[[System, ca.SX], ca.SX]


def _rates(system: System, t: ca.SX, x: ca.SX) -> ca.SX:
    """x_dot at another time and state."""
    symbols = ca.vertcat(system.symbols.t, system.symbols.x)
    return tables.substitute([system.expressions.rhs], symbols, ca.vertcat(t, x))[0]


def _symplectic_euler(system: System, h: ca.SX) -> ca.SX:
    """Velocities and all other states first, then positions with the velocities just found."""
    t, x, n = system.symbols.t, system.symbols.x, system.n_q
    x_next = ca.vertcat(x[:n], (x + h * system.expressions.rhs)[n:])
    return ca.vertcat(x[:n] + h * _rates(system, t + h, x_next)[:n], x_next[n:])


def _rk4(system: System, h: ca.SX) -> ca.SX:
    t, x, k1 = system.symbols.t, system.symbols.x, system.expressions.rhs
    k2 = _rates(system, t + 0.5 * h, x + 0.5 * h * k1)
    k3 = _rates(system, t + 0.5 * h, x + 0.5 * h * k2)
    k4 = _rates(system, t + h, x + h * k3)
    return x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


STEPS: Mapping[str, Step] = {
    "euler": lambda system, h: system.symbols.x + h * system.expressions.rhs,
    "symplectic_euler": _symplectic_euler,
    "rk4": _rk4,
}


@frozen(eq=False)
class Rollout:
    """The rates of a system and one fixed step, for many robots at once.

    Attributes:
        method: of the step.
    """

    system: System
    method: str
    module: KernelModule
    vectors: LaneModule

    def rates(
        self, states: Any, *, time: float = 0.0, memory: Any = None, parameters: Mapping[str, Any] | None = None
    ) -> Array:
        """Rates of the states, a row a robot.

        Args:
            states: a row for each robot, in the order of `system.states`.
            memory: held outputs of sampled blocks and inputs from outside, alike, or one row for all; as described by
                default.
            parameters: tunable numbers that differ from the described ones, one value for all or one a robot.
        """
        x, m, p = self._read(states, memory, parameters or {})
        out = np.empty_like(x)
        ManyCall(self.vectors, "rates", [x, np.zeros((1, 0)), m, p, out], self.module.data)(float(time))
        return out

    def roll(
        self,
        states: Any,
        steps: int,
        step: float,
        *,
        time: float = 0.0,
        memory: Any = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Array:
        """States after so many fixed steps [s], a row a robot; arguments as of `rates`."""
        if steps < 0 or not (np.isfinite(step) and step > 0):
            flaws = FlawList()
            flaws.add("steps", f"must be 0 or more of a positive length, are {steps} of {step!r} s")
            flaws.raise_if_any("rollout")
        x, m, p = self._read(states, memory, parameters or {})
        x = x.copy()
        ManyCall(self.vectors, "step", [x, np.zeros((1, 0)), m, p, x], self.module.data)(time, step, steps)
        return x

    def _read(self, states: Any, memory: Any, parameters: Mapping[str, Any]) -> tuple[Array, ...]:
        system, flaws = self.system, FlawList()
        memory_values = system.described.m if memory is None else memory
        x = _rows(flaws, "states", states, len(system.states))
        m = _rows(flaws, "memory", memory_values, len(system.memory))
        values = _values(flaws, system, parameters)
        counts = {"memory": len(m), "parameters": len(values)}
        if any(count not in (1, len(x)) for count in counts.values()):
            flaws.add("states", f"are of {len(x)} robots, others of {counts}", "give one row for each, or one for all")
        flaws.raise_if_any(f"rollout of '{system.scenario.name}'")
        n_own = self.module.n_parameters + self.module.n_prelude
        return x, m, np.ascontiguousarray(self.module.prepare_rows(values)[:, :n_own])


def compile_rollout(system: System, method: str = "symplectic_euler") -> Rollout:
    """Compile a system's rates and one fixed step to native code, for many robots at once; cached on disk.

    Args:
        method: euler, symplectic_euler or rk4.

    Raises:
        ModelError: where more happens than a continuous motion.
    """
    flaws = FlawList()
    if method not in STEPS:
        flaws.add("method", f"'{method}' has no rollout", nearest(method, STEPS))
    for what, there in (
        ("sampled blocks", system.discrete.tasks),
        ("events", system.discrete.guards),
        ("limits of states", system.limited),
        ("delays", system.delays),
        ("projections on constraints", system.expressions.projection is not None),
    ):
        if there:
            flaws.add("system", f"has {what}, which a rollout does not support", "use simulate_many")
    flaws.raise_if_any(f"rollout of '{system.scenario.name}'")
    t, x, d, m, p = system.symbols
    h = ca.SX.sym("h")
    columns = [ca.vertcat(t, h), x, d, m, p]
    outputs = {"rates": system.expressions.rhs, "step": STEPS[method](system, h)}
    functions = {name: ca.Function(name, columns, [ca.densify(column)]) for name, column in outputs.items()}
    options, place = Options(inexact=tuple(functions)), INPUTS.index("p")
    module = compile_kernels(functions, place, data=system.data, quick=True, options=options)
    return Rollout(system, method, module, compile_lanes(functions, place, LANES, options))


def _rows(flaws: FlawList, name: str, values: Any, size: int) -> Array:
    rows = np.ascontiguousarray(np.atleast_2d(np.asarray(values, float)))
    if rows.ndim != 2 or rows.shape[1] != size or not len(rows):
        flaws.add(name, f"must have {size} numbers a robot, has the shape {np.shape(values)}")
        return np.zeros((1, size))
    return rows


def _values(flaws: FlawList, system: System, parameters: Mapping[str, Any]) -> Array:
    """Values of the tunable parameters, a row a robot; one row where all have the same."""
    place = system.places
    columns = {name: np.atleast_1d(np.asarray(values, float)) for name, values in parameters.items()}
    count = max((values.size for values in columns.values()), default=1)
    for name, values in columns.items():
        if name not in place:
            flaws.add(name, "is not tunable in this system", nearest(name, place))
        elif values.shape not in ((1,), (count,)):
            flaws.add(name, f"must have one value or {count}, has the shape {values.shape}")
    if flaws.found:
        return np.zeros((1, len(place)))
    return system.parameter_rows(columns, count)
