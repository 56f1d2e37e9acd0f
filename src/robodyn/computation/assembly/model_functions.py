"""Functions of a controller's model: what of its motion does it need, by time, positions, velocities and its numbers?

    s'' = d(q, v) + B(q) f,    y'' = d_y(q, v, r) + B_y(q, r) f

of axes s(q) with forces f on them, and of a task y(q, r) with a reference r: all from the accelerations of one
assembled system, in which a block `probe.<name>` has an unknown force on each axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.symbolic.tables import spell_out, substitute
from robodyn.computation.assembly.model_task import ModelTask
from robodyn.computation.assembly.system import System

PROBE = "probe"


@dataclass(frozen=True)
class ModelFunctions:
    """Functions (t, q, v, numbers, target of the task) by name: see `columns_of`.

    Attributes:
        direct: places of axes that are joints themselves: number of the axis -> (place in q, place in v).
        positional: rows of the constraints that are equations of positions, not of velocities alone.
        spare: rows of the constraints that follow from others.
    """

    named: dict[str, ca.Function]
    direct: dict[int, tuple[int, int]]
    positional: list[int]
    spare: int
    n_v: int
    numbers: np.ndarray

    @property
    def free(self) -> int:
        """Motions that constraints leave."""
        return self.n_v + self.spare - (self.named["positions"].size1_out(0) - self.named["drift"].size1_out(0))

    @property
    def is_overactuated(self) -> bool:
        """Whether there are more axes than motions: forces on some only strain the machine."""
        return bool(self.named["drift"].size1_out(0) > self.free)

    def at_rest(self, name: str, q: np.ndarray) -> np.ndarray:
        """A function's value in a position that is wanted, with the numbers as described."""
        given: list[Any] = [0.0, q, np.zeros(self.n_v), self.numbers]
        target = spell_out(self.named["here"])(*given, np.zeros(self.named["here"].size1_out(0)))
        return np.array(spell_out(self.named[name])(*given, target))


def trace_functions(system: System, axes: Sequence[str], task: ModelTask) -> ModelFunctions:
    """All functions of a model."""
    x, p, n = system.symbols.x, system.symbols.p, system.n_q + system.n_v
    unknown = [number.name.startswith(f"{PROBE}.") for number in system.parameters]
    forces, numbers = (
        ca.vertcat(ca.SX(0, 1), *(p[k] for k, probe in enumerate(unknown) if probe is side)) for side in (True, False)
    )
    columns = columns_of(system, axes, task)
    # Without unknown forces, all constraints on; what blocks remember, or energies sum up, has no part in it.
    memory = ca.vertcat(ca.SX(0, 1), *(info.start for info in system.memory))
    others = ca.vertcat(x[n:], system.symbols.m, forces)
    values = ca.vertcat(ca.SX.zeros(x[n:].numel()), memory, ca.SX.zeros(forces.numel()))
    plain = substitute(list(columns.values()), others, values)
    given = [system.symbols.t, system.q, system.v, numbers, task.target]
    h = system.expressions.constraints[: len(system.motion.constraint_forces)]
    return ModelFunctions(
        {name: ca.Function("f", given, [ca.densify(column)]) for name, column in zip(columns, plain, strict=True)},
        _direct_axes(system, axes),
        [row for row in range(h.numel()) if not h[row].is_zero()],
        system.motion.spare,
        system.n_v,
        np.array([n.value for n, probe in zip(system.parameters, unknown, strict=True) if not probe]),
    )


def columns_of(system: System, axes: Sequence[str], task: ModelTask) -> dict[str, ca.SX]:
    """What the functions compute, with the unknown forces as symbols."""
    q, v, rhs = system.q, system.v, system.expressions.rhs
    q_dot, motion = rhs[: system.n_q], rhs[: system.n_q + system.n_v]
    names = [number.name for number in system.parameters]
    probes = {
        name.removeprefix(f"{PROBE}.").removesuffix(".value"): system.symbols.p[k]
        for k, name in enumerate(names)
        if name.startswith(f"{PROBE}.")
    }
    s, y = ca.vertcat(*(system.motion.coordinates[axis] for axis in axes)), task.deviation
    k = len(system.motion.constraint_forces)
    h, h_dot = system.expressions.constraints[:k], system.expressions.constraints[k:]
    r, r_dot = task.reference, task.reference_rate
    s_dot, y_dot = ca.jtimes(s, q, q_dot), ca.jtimes(y, ca.vertcat(q, r), ca.vertcat(q_dot, r_dot))
    # Total time derivatives of the rates along the motion: linear in the unknown forces.
    moving, moved = ca.vertcat(q, v, r), ca.vertcat(motion, r_dot)
    s_ddot, y_ddot = (ca.jtimes(column, moving, moved) for column in (s_dot, y_dot))
    f = ca.vertcat(*(probes[axis] for axis in axes))
    columns = {
        "drift": s_ddot,
        "mobility": ca.jacobian(s_ddot, f),
        "here": task.here,
        "deviation": y,
        "deviation_rate": y_dot,
        "task_drift": y_ddot,
        "task_mobility": ca.jacobian(y_ddot, f),
        "free_mass_matrix": system.mass_matrix,
        "slopes": system.slopes(ca.vertcat(s, y)),
        "positions": ca.vertcat(s, h),
        "position_slopes": system.slopes(ca.vertcat(s, h)),
        "rates": ca.vertcat(s_dot, h_dot),
        "rate_slopes": ca.jacobian(ca.vertcat(s_dot, h_dot), v),
        "position_rates": ca.jacobian(q_dot, v),
    }
    for name, force in probes.items():
        place = system.motion.coordinates[name]
        columns[f"motion of {name}"] = ca.vertcat(place, ca.jtimes(place, q, q_dot))
        columns[f"response to {name}"] = ca.jacobian(s_ddot, force)
        columns[f"task response to {name}"] = ca.jacobian(y_ddot, force)
    return columns | _open_tree(system, axes)


def _open_tree(system: System, axes: Sequence[str]) -> dict[str, ca.SX]:
    """Of a tree whose joints all have motors, M and c themselves, by composite bodies and Newton-Euler."""
    places = [place for _, place in _direct_axes(system, axes).values()]
    if system.motion.constraint_forces or len(places) < system.n_v:
        return {}
    bias = system.bias - system.expressions.applied
    return {"mass_matrix": system.mass_matrix[places, places], "bias": bias[places]}


def _direct_axes(system: System, axes: Sequence[str]) -> dict[int, tuple[int, int]]:
    q, v = ([symbol.name() for symbol in ca.vertsplit(column)] for column in (system.q, system.v))
    return {
        k: (q.index(f"{axis}.position"), v.index(f"{axis}.velocity"))
        for k, axis in enumerate(axes)
        if f"{axis}.position" in q
    }
