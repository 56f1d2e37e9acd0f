"""Constraint equations: what loops, prescribed motions and couplings demand of the accelerations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.spatial import perpendicular_to
from robodyn.base.symbolic import sqrt
from robodyn.computation.assembly.contact.geometry import find_touch
from robodyn.computation.assembly.motion import Motion
from robodyn.description.laws import arguments_of
from robodyn.description.model import (
    Constraint,
    ConstraintFunction,
    LinearConstraint,
    LoopJoint,
    PrescribedMotion,
    Rod,
    Wheel,
)

# --------------------------------------------------------------------------------------------------
# Constraint equations: which h(q, t) = 0 does a constraint stand for, as expressions?


def express_equations(motion: Motion, constraint: Constraint) -> list[ca.SX]:
    """The residuals of a constraint; that of a prescribed motion is the coordinate itself, which is to follow."""
    return _EXPRESSIONS[type(constraint)](motion, constraint)


def _rod(motion: Motion, rod: Rod) -> list[ca.SX]:
    apart = motion.point_position(rod.end) - motion.point_position(rod.start)
    return [sqrt(ca.sumsqr(apart)) - motion.context.values[f"{rod.name}.length"]]


def express_rates(motion: Motion, constraint: Constraint) -> list[ca.SX | None]:
    """Rates of the residuals that follow from no residual of positions, by equation; None of all others."""
    if isinstance(constraint, Wheel):
        return [*find_touch(motion, constraint).slips, None]
    return [None] * len(constraint.equations)


def _wheel(motion: Motion, wheel: Wheel) -> list[ca.SX]:
    return [ca.SX(0), ca.SX(0), find_touch(motion, wheel).height]


def _coupling(motion: Motion, coupling: LinearConstraint) -> list[ca.SX]:
    total = sum((weight * motion.positions[name] for name, weight in coupling.of.items()), ca.SX(0))
    return [total - motion.context.values[f"{coupling.name}.offset"]]


def _prescribed(motion: Motion, prescribed: PrescribedMotion) -> list[ca.SX]:
    return [motion.positions[prescribed.of]]


def _relation(motion: Motion, relation: ConstraintFunction) -> list[ca.SX]:
    """The user's function, traced; what it raises is reported as a flaw of that constraint."""
    path = f"constraints.{relation.name}"
    positions = [motion.positions[name] for name in relation.of]
    timed = any(argument.name == "time" for argument in arguments_of(relation.function))
    try:
        returned = relation.function(*positions, **({"time": motion.context.time} if timed else {}))
        values = [ca.SX(value) for value in (returned if isinstance(returned, (tuple, list)) else (returned,))]
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        what = f"its function cannot be traced: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        motion.context.flaws.add(path, what, "take functions from robodyn.symbolic")
        return [positions[0]] * relation.count
    if len(values) != relation.count:
        motion.context.flaws.add(path, f"its function returns {len(values)} values, count says {relation.count}")
        return [positions[0]] * relation.count
    return values


def _loop_joint(motion: Motion, loop_joint: LoopJoint) -> list[ca.SX]:
    p_1, p_2 = motion.point_position(loop_joint.first), motion.point_position(loop_joint.second)
    R_1, R_2 = motion.point_rotation(loop_joint.first), motion.point_rotation(loop_joint.second)
    # Three equations of the positions, and as many of the rotations as the joint takes away.
    meeting = ca.vertsplit(p_1 - p_2)
    axis, second = np.array(loop_joint.axis), np.array(loop_joint.second_axis)
    if loop_joint.kind == "spherical":
        return meeting
    # Universal: the two axes stay perpendicular; revolute: they stay parallel.
    if loop_joint.kind == "universal":
        return [*meeting, ca.dot(R_1 @ axis, R_2 @ second)]
    if loop_joint.kind == "revolute":
        return [*meeting, *_tilt(R_1 @ axis, R_2, second)]
    # How the first body is rotated from where it should be, in its own axes: its torques act on that body.
    turned = _turn(ca.DM(loop_joint.rotation) @ R_2.T @ R_1)
    if loop_joint.kind == "prismatic":
        return [*(ca.dot(p_1 - p_2, R_1 @ square) for square in perpendicular_to(axis)), *turned]
    return [*meeting, *turned]


def _tilt(axis: ca.SX, R: ca.SX, second: np.ndarray) -> list[ca.SX]:
    """Twice the tangent of half the angle between an axis and `R second`, about two directions perpendicular to that.

    Unlike its sine it is not zero for axes that point against each other.
    """
    along = 1 + ca.dot(axis, R @ second)
    return [2 * ca.dot(axis, R @ square) / along for square in perpendicular_to(second)]


def _turn(R: ca.SX) -> list[ca.SX]:
    """Twice the tangent of half the angle from the identity, about each axis: zero for the identity alone."""
    along = 1 + ca.trace(R)
    return [2 * (R[i, j] - R[j, i]) / along for i, j in ((2, 1), (0, 2), (1, 0))]


_EXPRESSIONS: dict[type, Callable[[Motion, Any], list[ca.SX]]] = {
    LoopJoint: _loop_joint,
    Rod: _rod,
    Wheel: _wheel,
    LinearConstraint: _coupling,
    PrescribedMotion: _prescribed,
    ConstraintFunction: _relation,
}


# --------------------------------------------------------------------------------------------------
# Joints at rest: which sets of friction elements hold a joint, so that its speed can be exactly zero?


LARGEST_SEARCH = 10
"""Number of elements up to which all their combinations are looked at for joints they hold together."""

HeldBy = tuple[tuple[tuple[int, ...], ...], ...]


def find_held_joints(G: np.ndarray, always: np.ndarray | None = None) -> HeldBy:
    """For each joint the smallest sets of rows of G in whose span its own axis lies: held, they hold the joint.

    Args:
        always: gradients of constraints, which hold in any case and leave the joints at rest.
    """
    k, n = G.shape
    always = np.zeros((0, n)) if always is None else always
    # Rows of unit length: which of them are in m and which in rad has no say in their span.
    G, always = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300) for rows in (G, always))
    sizes = range(1, k + 1) if k <= LARGEST_SEARCH else (1, 2, 3, k)
    found: list[list[tuple[int, ...]]] = [[] for _ in range(n)]
    for size in sizes:
        for group in combinations(range(k), size):
            # pinv(R) R projects on the span of the rows: the joint's own axis lies in it where the entry is 1.
            rows = np.vstack([always, G[list(group)]])
            reached = np.linalg.pinv(rows, rcond=1e-9) @ rows
            for j in range(n):
                # Only sets without a smaller one inside are kept.
                new = not any(set(smaller) <= set(group) for smaller in found[j])
                if new and reached[j, j] > 1 - 1e-9:
                    found[j].append(group)
    return tuple(tuple(groups) for groups in found)
