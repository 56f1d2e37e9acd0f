"""Which of a mechanism's constraint equations follow from the others?

Seen at positions where all are met: there, an equation whose gradient is a combination of those before it says nothing
new. A position may be singular by chance, so that two of them must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from robodyn.assembly.builder import Builder
from robodyn.assembly.motion import Motion
from robodyn.model import Prescribed
from robodyn.symbolic.tables import spell_out

if TYPE_CHECKING:
    from robodyn.assembly.constraints import Equation

NEW = 1e-7
"""Part of a gradient beyond which it is not a combination of others."""
CLOSED = 1e-9
"""Residual of equations that are met."""
ELSEWHERE = 0.1
"""How far from the start the second position is looked for [rad or m]."""


def find_redundant(builder: Builder, motion: Motion, equations: Sequence[Equation]) -> list[int]:
    """Indices of the equations that follow from those before them; a warning names them."""
    evaluate = _numeric(motion, equations)
    start = motion.values_at_start(motion.q)
    closed, residual = close(evaluate, start)
    if not np.isfinite(residual):
        builder.warnings.append("the constraints have no direction at the start: the ends of a rod may coincide")
        return []
    met = residual <= CLOSED
    if not met:
        told = f"the constraints cannot be met near the start: {residual:.3g} is left of the largest equation"
        builder.warnings.append(told)
    generator = np.random.default_rng(1)
    other, residual = close(evaluate, closed + ELSEWHERE * generator.standard_normal(len(closed)))
    both_met = met and residual <= CLOSED
    motion.somewhere = other if both_met else closed
    # Equations that contradict each other depend on each other too: only where they are met, one of them is idle.
    find_rows = _dependent_rows if both_met else _idle_rows
    found = sorted(set.intersection(*(set(find_rows(evaluate(place)[1])) for place in (closed, other))))
    _tell_hopeless(builder, [(equations[k], evaluate(closed)[0][k]) for k in found])
    if found:
        names = ", ".join(equations[k].force for k in found)
        builder.warnings.append(
            f"{len(found)} of {len(equations)} constraint equations follow from the others and are left out; "
            f"the forces of these cannot be told and are given as 0: {names}"
        )
    return found


def _numeric(motion: Motion, equations: Sequence[Equation]) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Residuals and gradients at a position, at time zero; a prescribed coordinate is where it should be."""
    rows = [ca.SX(0) if isinstance(e.constraint, Prescribed) else e.h for e in equations]
    h = ca.vertcat(*rows)
    gradients = ca.jacobian(ca.vertcat(*(e.h for e in equations)), motion.q)
    values = motion.builder.values
    inputs = [motion.q, motion.builder.time, ca.vertcat(ca.SX(0, 1), *values.symbols)]
    function = spell_out(ca.Function("equations", inputs, [h, ca.densify(gradients)], {"allow_free": True}))
    given = [number.value for number in values.tunable]

    def evaluate(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found: Any = function(q, 0.0, given)
        return np.array(found[0]).ravel(), np.array(found[1])

    return evaluate


def close(
    evaluate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], q: np.ndarray, steps: int = 60
) -> tuple[np.ndarray, float]:
    """The position nearest to q at which the equations are met, by damped Newton; and the residual left."""
    h, H = evaluate(q)
    for _ in range(steps):
        if not np.all(np.isfinite(H)):
            return q, np.inf
        if np.max(np.abs(h), initial=0.0) <= CLOSED / 100:
            break
        step = -np.linalg.lstsq(H, h, rcond=1e-10)[0]
        factor = min(1.0, 0.5 / max(float(np.max(np.abs(step))), 1e-300))
        while factor > 1e-3 and not np.linalg.norm(evaluate(q + factor * step)[0]) < np.linalg.norm(h):
            factor /= 2
        q = q + factor * step
        h, H = evaluate(q)
    return q, float(np.max(np.abs(h), initial=0.0))


def _tell_hopeless(builder: Builder, idle: Sequence[tuple[Equation, float]]) -> None:
    """Equations that are not met and that no joint can change."""
    for equation, left in idle:
        if abs(left) > CLOSED:
            what = f"cannot be met: {left:.3g} is left of the equation of {equation.force}, and no joint can change it"
            builder.flaws.add(f"constraints.{equation.constraint.name}", what, "move its points or turn its axes")


def _idle_rows(H: np.ndarray) -> list[int]:
    """Rows that no joint has an effect on."""
    sizes = np.linalg.norm(H, axis=1)
    return [k for k, size in enumerate(sizes) if not size > NEW * np.max(sizes)]


def _dependent_rows(H: np.ndarray) -> list[int]:
    """Rows that are combinations of rows before them."""
    basis: list[np.ndarray] = []
    found = []
    for k, row in enumerate(H):
        left = row.copy()
        for _ in range(2):
            for direction in basis:
                left = left - (left @ direction) * direction
        if np.linalg.norm(left) <= NEW * max(float(np.linalg.norm(row)), 1e-12):
            found.append(k)
        else:
            basis.append(left / np.linalg.norm(left))
    return found
