"""Redundant constraints: which equations follow from others, and what stays undetermined?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, FlawList, frozen, limit_step, solve_newton
from robodyn.base.symbolic import to_column, where
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.contribution import Contribution, define_signal, merge
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings
from robodyn.computation.dynamics import ldl, solve_ldl
from robodyn.description.model import EMPTY, Constraint, LoopJoint, PrescribedMotion, Rod, Wheel

if TYPE_CHECKING:
    from .solution import Constrained, ConstraintEquation

# --------------------------------------------------------------------------------------------------
# Redundant constraints: which equations follow from the others, and which forces are therefore not determined?
#
# Seen at positions where all are met: there, an equation whose gradient is a combination of those before it says
# nothing new, and forces in the null space of H^T move nothing. A position may be singular by accident, so that two
# must agree. Left out is only what is the same combination at both. Where the combination changes, no choice of
# equations need be independent everywhere: a joint that is locked by a loop joint which rotates with its carrier may be
# seen by each of the world's axes in turn. There, all equations stay, and the compliance of their forces makes up for
# those too many.


NEW = 1e-7
"""Part of a gradient beyond which it is not a combination of others."""
ROUNDING = 1e-12
"""Size of a gradient, lengths by that of the machine, that is nothing but rounding: no joint has an effect."""
CLOSED = 1e-9
"""Residual of equations that are met, lengths by that of the machine."""
SAME = 1e-6
"""Difference of coefficients of a combination that counts as none."""
NOT_MET = "the constraints cannot be met near the start"
ATTEMPTS = 4
"""Places from which the second position is looked for."""
ELSEWHERE = 0.1
"""How far from the start the second position is looked for [rad, or lengths of the machine]."""


Evaluated = tuple[Array, Array, Array]
"""Residuals, their gradients by the positions, and those of their rates by the velocities."""


@frozen
class Redundancy:
    """Equations, by the names of their forces.

    Attributes:
        left_out: those that follow from others, everywhere in the same way.
        idle: those of them that no joint has an effect on.
        undetermined: those whose force the motion does not determine, also of equations that stay.
        spare: how many of those that stay follow from others, in a way that changes with the position.
        null_forces: of each force, its part in forces that move nothing, where some are not determined.
        somewhere: a position that meets the equations, general if it can be.
    """

    left_out: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    undetermined: tuple[str, ...] = ()
    spare: int = 0
    null_forces: Mapping[str, Array] = EMPTY
    somewhere: Array | None = None
    warnings: tuple[str, ...] = ()


def find_redundant(motion: Motion, equations: Sequence[ConstraintEquation], steady: Sequence[bool]) -> Redundancy:
    """The equations that follow from others, and the forces that are not determined; a warning names them.

    Args:
        steady: whether each equation holds from the start to the end: nothing is left out for one that may break.
    """
    evaluate, flaws = _numeric(motion, equations), motion.flaws
    start = motion.values_at_start(motion.q) / motion.scales
    blind = _check_directions(flaws, equations, steady, evaluate(start))
    if blind is not None:
        return Redundancy(warnings=blind)
    # Two positions on the constraints, the second one random: a singular one is not singular at both.
    closed, residual = close(evaluate, start)
    met = residual <= CLOSED
    warnings = () if met else (f"{NOT_MET}: {residual:.3g} is left of the largest equation",)
    generator = np.random.default_rng(1)
    # From some places no way leads back to the constraints: then from one nearer by.
    for attempt in range(ATTEMPTS):
        away = 0.5**attempt * ELSEWHERE * generator.standard_normal(len(closed))
        other, residual = close(evaluate, closed + away)
        if residual <= CLOSED:
            break
    both_met = met and residual <= CLOSED
    redundancy = Redundancy(somewhere=motion.scales * (other if both_met else closed), warnings=warnings)
    gradients = [evaluate(place)[2] for place in (closed, other)]
    if not np.all(np.isfinite(gradients)):
        return redundancy
    idle = _agree(_idle_rows(H) for H in gradients)
    sizes = _sizes(motion, equations)
    left = evaluate(closed)[0]
    for k in idle:
        if abs(left[k]) > CLOSED:
            missed = f"{left[k] * sizes[k]:.3g} is left of the equation of {equations[k].force}"
            what = f"cannot be met: {missed}, and no joint can change it"
            flaws.add(f"constraints.{equations[k].constraint.name}", what, "move its points or rotate its axes")
    # Equations that contradict each other depend on each other too: only where they are met, one of them is idle.
    dependent = _agree(_dependent_rows(H, steady) for H in gradients) if both_met else idle
    index3 = motion.context.scenario.constraint_method.method == "index3"
    left_out = dependent if index3 or _same_combinations(gradients, dependent, idle) else idle
    undetermined = _agree(_shared_rows(H) for H in gradients) if both_met else idle
    spare, names = len(dependent) - len(left_out), [equation.force for equation in equations]
    out, unmoved, shared = (tuple(names[k] for k in group) for group in (left_out, idle, undetermined))
    redundancy = replace(redundancy, left_out=out, idle=unmoved, undetermined=shared, spare=spare)
    if not undetermined:
        return redundancy
    null = _null_forces(gradients[-1] if both_met else gradients[0])
    if index3 and null.shape[1] > len(left_out):
        what = "index3 needs independent equations, and here some follow from those of a constraint that may break"
        flaws.add("constraint_method.method", what, "use baumgarte or projection")
    null_forces = dict(zip(names, null / sizes[:, None], strict=True))
    return replace(redundancy, null_forces=null_forces, warnings=(*warnings, _describe(len(equations), redundancy)))


def _agree(rows_at: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """The rows that are found at all positions."""
    return tuple(sorted(set.intersection(*map(set, rows_at))))


def _describe(count: int, redundancy: Redundancy) -> str:
    left_out, spare, undetermined = redundancy.left_out, redundancy.spare, redundancy.undetermined
    sentence = f"{len(left_out) + spare} of {count} constraint equations follow from the others"
    if spare:
        sentence += f", {spare} of them in a way that changes with the position, so that these stay"
    if left_out:
        sentence += f"{'; left out' if spare else ' and are left out'}: {', '.join(left_out)}"
    message = (
        f"the motion does not determine {len(undetermined)} forces, the least-squares ones are given "
        f"(forces and torques weighed by the mean mobility of their kind): {', '.join(undetermined)}"
    )
    return f"{sentence}; {message}" if left_out or spare else message


def _check_directions(
    flaws: FlawList, equations: Sequence[ConstraintEquation], steady: Sequence[bool], start: Evaluated
) -> tuple[str, ...] | None:
    """None where all equations have gradients at the start; which have none, and why, is a flaw or a warning."""
    values, _, H = start
    good = np.isfinite(values) & np.all(np.isfinite(H), axis=1)
    blind = {equations[k].constraint.name: k for k in range(len(equations)) if not good[k]}
    warnings = []
    for name, k in blind.items():
        what, remedy = _why_blind(equations[k].constraint)
        # A constraint that begins to hold later may have a direction by then, unless no joint has an effect on it.
        if steady[k] or not ca.symvar(equations[k].h):
            flaws.add(f"constraints.{name}", what, remedy)
        else:
            warnings.append(f"constraint '{name}' {what}: {remedy}")
    return tuple(warnings) if blind else None


def _why_blind(constraint: Constraint) -> tuple[str, str]:
    """The flaw of a constraint that has no direction, and the remedy."""
    if isinstance(constraint, Wheel):
        return "lies flat on its plane at the start", "start it upright or leaning"
    if not isinstance(constraint, LoopJoint):
        return "has no direction at the start: its ends may coincide", "start elsewhere"
    if constraint.kind == "revolute":
        opposite = ", ".join(f"{-entry + 0.0:g}" for entry in constraint.second_axis or ())
        return (
            "its axes point in opposite directions at the start",
            f"use second_axis = ({opposite}), or start elsewhere",
        )
    return "is rotated by 180 deg at the start", "change its rotation, or start elsewhere"


def _numeric(motion: Motion, equations: Sequence[ConstraintEquation]) -> Callable[[Array], Evaluated]:
    """Residuals at a position, at time zero; a prescribed coordinate is where it should be.

    Lengths, of positions and residuals, are parts of that of the machine.
    """
    rows = [SX(0) if isinstance(e.constraint, PrescribedMotion) else e.h for e in equations]
    h = ca.vertcat(*rows)
    by_positions = ca.jacobian(to_column(e.h for e in equations), motion.q)
    gradients = ca.jacobian(to_column(e.h_dot for e in equations), motion.v)
    values = motion.values
    inputs = [motion.q, motion.context.time, to_column(values.symbols)]
    function = spell_out(ca.Function("equations", inputs, [h, by_positions, gradients], {"allow_free": True}))
    numbers = [number.value for number in values.tunable]

    by_q, by_v, rows_of = motion.scales, motion.speed_scales, _sizes(motion, equations)

    def evaluate(q: Array) -> Evaluated:
        results: Any = function(q * by_q, 0.0, numbers)
        h, by_positions, gradients = to_arrays(results)
        return h / rows_of, by_positions * by_q / rows_of[:, None], gradients * by_v / rows_of[:, None]

    return evaluate


def _sizes(motion: Motion, equations: Sequence[ConstraintEquation]) -> Array:
    """The sizes of residuals: that of the machine where a force keeps them, 1 rad where a torque does, (k,)."""
    return np.array([motion.context.size.length if e.unit == "N" else 1.0 for e in equations])


def to_arrays(matrices: Sequence[ca.DM]) -> Evaluated:
    """Residuals and gradients as dense arrays; most of their entries are zeros, which CasADi need not list."""
    h, by_positions, gradients = (np.zeros(value.shape) for value in matrices)
    for array, value in zip((h, by_positions, gradients), matrices, strict=True):
        array[value.sparsity().get_triplet()] = value.nonzeros()
    return h.ravel(), by_positions, gradients


def close(evaluate: Callable[[Array], Evaluated], q: Array, steps: int = 60) -> tuple[Array, float]:
    """The position nearest to q at which the equations are met, by damped Newton; and the residual left."""

    def find_equations(q: Array) -> tuple[Array, Array]:
        h, H, _ = evaluate(q)
        # Equations without a direction are not met.
        return h if np.all(np.isfinite(H)) else np.full_like(h, np.inf), H

    solution = solve_newton(
        find_equations,
        # Gauss-Newton: the least-norm step of H dq = -h, no longer than half a radian.
        lambda q, h, H: -np.linalg.lstsq(H, h, rcond=1e-10)[0],
        q,
        most_steps=steps,
        still=CLOSED / 100,
        shorten=limit_step(0.5),
        least=1e-3,
        uphill=True,
    )
    return solution.z, float(np.max(np.abs(solution.residual), initial=0.0))


def _idle_rows(H: Array) -> list[int]:
    """Rows that no joint has an effect on."""
    sizes = np.linalg.norm(H, axis=1)
    return [k for k, size in enumerate(sizes) if not size > max(NEW * np.max(sizes), ROUNDING)]


def _dependent_rows(H: Array, steady: Sequence[bool]) -> list[int]:
    """Rows that are combinations of rows that are steady, and before them if they are steady themselves."""
    basis, size = np.zeros(H.shape), 0
    dependent = []
    for k in sorted(range(len(H)), key=lambda k: not steady[k]):
        # Gram-Schmidt, twice for the sake of rounding: what is left of a row is new.
        left = H[k].copy()
        for _ in range(2):
            left -= (basis[:size] @ left) @ basis[:size]
        if np.linalg.norm(left) <= max(NEW * float(np.linalg.norm(H[k])), ROUNDING):
            dependent.append(k)
        elif steady[k]:
            basis[size] = left / np.linalg.norm(left)
            size += 1
    return dependent


def _same_combinations(gradients: Sequence[Array], dependent: Sequence[int], idle: Sequence[int]) -> bool:
    """Whether the equations that follow from others are everywhere the same combinations of these: H_d = C H."""
    used = [k for k in dependent if k not in idle]
    first, *others = (np.linalg.lstsq(np.delete(H, dependent, axis=0).T, H[used].T)[0] for H in gradients)
    return all(np.allclose(first, other, rtol=SAME, atol=SAME) for other in others)


def _null_forces(H: Array) -> Array:
    """Forces which move nothing, H^T lam = 0, one column each."""
    # Null space of H^T, its rows scaled so that forces and torques are compared by what they do.
    U, s, _ = np.linalg.svd(H / _row_sizes(H))
    rank = int(np.sum(s > NEW * np.max(s)))
    return U[:, rank:] / _row_sizes(H)


def _row_sizes(H: Array) -> Array:
    """The size of each gradient, 1 for one that is zero; a column."""
    sizes = np.linalg.norm(H, axis=1)
    return np.where(sizes > NEW * np.max(sizes), sizes, 1.0)[:, None]


def _shared_rows(H: Array) -> list[int]:
    """Rows whose force is not determined: those that take part in forces which move nothing."""
    parts = np.linalg.norm(_null_forces(H) * _row_sizes(H), axis=1)
    return [k for k, part in enumerate(parts) if part > NEW]


# --------------------------------------------------------------------------------------------------
# Undetermined constraint forces: how do redundant constraints share what the motion does not determine?
#
#     H_d = C H,    lam = lam_0 - C^T mu,    mu of the equations left out,    lam^T w lam + mu^T w mu least
#
# Whatever mu is, the joints feel the same. The weights w are mean mobilities, 1/kg of all forces and 1/(kg m^2) of all
# torques, so that the sum does not depend on units.


NOTE = "not determined by the motion: the smallest consistent with it"


def define_constraint_forces(motion: Motion, constrained: Constrained, lam: SX, bindings: Bindings) -> Contribution:
    """The forces of all equations as signals; those that the motion does not determine have a note."""
    parts = []
    for equation, force in _share_forces(motion, constrained, lam):
        note = NOTE if equation.force in constrained.redundancy.undetermined else ""
        value = -force if isinstance(equation.constraint, Rod) else force
        parts.append(define_signal(equation.force, equation.unit, value, bindings, note=note))
    return merge(parts)


def _share_forces(motion: Motion, constrained: Constrained, lam: SX) -> list[tuple[ConstraintEquation, SX]]:
    """The forces of all equations, those left out too, of the least weighted sum of squares.

    Args:
        lam: forces of the equations that are not left out, which alone would do.
    """
    # What no joint has an effect on carries nothing.
    idle = [(e, SX(0)) for e in constrained.left_out if e.force in constrained.redundancy.idle]
    shared = [e for e in constrained.left_out if e.force not in constrained.redundancy.idle]
    if not shared:
        if any(e.force in constrained.redundancy.undetermined for e in constrained.equations):
            # Compliance has shared them so, but for what errors of the motion add: H^T does not see that.
            lam = constrained.carry(constrained.H.T @ lam)
        return [*idle, *zip(constrained.equations, ca.vertsplit(lam), strict=True)]
    H_d, k = ca.jacobian(to_column(e.h_dot for e in shared), motion.v), len(constrained.equations)
    w = _weigh(constrained, shared, H_d)
    # Column d: the forces of the equations that stay which do to the joints what equation d does.
    C_T = ca.horzcat(*(constrained.carry(H_d[d, :].T) for d in range(len(shared))))
    # What does not hold takes no part.
    C_T = C_T @ ca.diag(to_column(where(e.active, 1.0, 0.0) for e in shared))
    # Normal equations of the weighted least squares: (C w C^T + w_d) mu = C w lam_0.
    normal = C_T.T @ ca.diag(w[:k]) @ C_T + ca.diag(w[k:])
    mu = SX(solve_ldl(ldl(normal), ca.vertsplit(C_T.T @ (w[:k] * lam))))
    forces = ca.vertsplit(ca.vertcat(lam - C_T @ mu, mu))
    return [*idle, *zip((*constrained.equations, *shared), forces, strict=True)]


def _weigh(constrained: Constrained, shared: list[ConstraintEquation], H_d: SX) -> SX:
    """Mean mobility of all equations of the same unit, for those that stay and then for those left out."""
    mobilities = ca.vertsplit(ca.sum2(constrained.H * constrained.W.T))
    left = [ca.dot(H_d[d, :].T, constrained.solve(H_d[d, :].T)) for d in range(len(shared))]
    return mean_mobility((*constrained.equations, *shared), (*mobilities, *left))


def mean_mobility(equations: Sequence[ConstraintEquation], mobilities: Sequence[SX]) -> SX:
    """For each equation the mean mobility of all whose forces are of its unit."""
    total: dict[str, SX] = {}
    for equation, mobility in zip(equations, mobilities, strict=True):
        total[equation.unit] = total.get(equation.unit, SX(0)) + mobility
    count = Counter(equation.unit for equation in equations)
    return to_column(total[equation.unit] / count[equation.unit] for equation in equations)
