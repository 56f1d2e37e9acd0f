"""Task of a controller's model: how far are positions and orientations from what is wanted, along which directions?

    y(q, r) = 0 where the machine is as wanted;  y' and y'' along its motion and that of the reference r

A row of y is a position minus the wanted one, in world axes or in those of the wanted orientation, or a component of a
rotation vector. With d the quaternion from wanted to present orientation,

    three rotations of a point     rotation vector of d
    two                            of the shortest rotation that brings the third axis to where it is wanted (swing)
    one                            the angle about its axis (twist)

so that what a task leaves free has no effect on it. In world axes d = q q_ref^-1, in those wanted d = q_ref^-1 q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.spatial import (
    Quaternion,
    conjugate,
    from_quaternion,
    multiply,
    quaternion_from_matrix,
    rotation_vector,
)
from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import link_quaternions
from robodyn.description.model.numbers import XYZ
from robodyn.description.model.task import TaskRow, TaskRows


@dataclass(frozen=True, eq=False)
class ModelTask:
    """A task as expressions.

    Attributes:
        deviation: y; reference: symbols r, of wanted positions, their velocities, orientations, angular velocities;
            reference_rate: r', with symbols of the accelerations; target: both; here: its values at which y = 0.
    """

    rows: TaskRows
    deviation: ca.SX
    reference: ca.SX
    reference_rate: ca.SX
    target: ca.SX
    here: ca.SX


def express_task(system: System, rows: TaskRows) -> ModelTask:
    """Symbols of what is wanted, and deviations from it."""
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    found = {name: _orientation(system, name) for name in rows.oriented}
    n, k = len(rows.positions), len(rows.oriented)
    p, v, a = (ca.SX.sym(name, n) for name in ("target", "target_velocity", "target_acceleration"))
    orientations, omega, alpha = (
        ca.SX.sym(name, size, k)
        for name, size in (("orientation", 4), ("angular_velocity", 3), ("angular_acceleration", 3))
    )
    wanted: dict[str, Any] = {name: ca.vertsplit(orientations[:, j]) for j, name in enumerate(rows.oriented)}
    turning = [_quaternion_rate(wanted[name], omega[:, j]) for j, name in enumerate(rows.oriented)]
    left = {name: outputs[name] - p[j] for j, name in enumerate(rows.positions)}
    reference = ca.vertcat(p, v, ca.vec(orientations), ca.vec(omega))
    positions = [outputs[name] for name in rows.positions]
    quaternions = [ca.SX(part) for name in rows.oriented for part in found[name]]
    return ModelTask(
        rows,
        ca.vertcat(ca.SX(0, 1), *_deviations(rows, left, found, wanted)),
        reference,
        ca.vertcat(v, a, *turning, ca.vec(alpha)),
        ca.vertcat(reference, a, ca.vec(alpha)),
        ca.vertcat(*positions, ca.SX.zeros(n), *quaternions, ca.SX.zeros(6 * k + n)),
    )


def _orientation(system: System, point: str) -> Quaternion:
    """Of the body of a point, world from body."""
    mechanism, mechanics = system.scenario.machine.mechanism, system.motion.mechanics
    assert mechanism is not None
    assert mechanics is not None
    described = next(one for one in mechanism.points if one.name == point)
    place = mechanics.locate(described, mechanism, np.array(described.origin))
    fixed, q = quaternion_from_matrix(place.pose.R), ca.vertsplit(system.q)
    return fixed if place.link < 0 else multiply(link_quaternions(mechanics.tree, q)[place.link], fixed)


def _quaternion_rate(q: Quaternion, omega: ca.SX) -> ca.SX:
    """q' = q (0, omega / 2), omega in the axes of the rotated frame."""
    return ca.vertcat(ca.SX(0, 1), *multiply(q, (0.0, omega[0] / 2, omega[1] / 2, omega[2] / 2)))


def _deviations(
    rows: TaskRows,
    left: Mapping[str, ca.SX],
    found: Mapping[str, Quaternion],
    wanted: Mapping[str, Quaternion],
) -> Sequence[ca.SX]:
    turned = {name: _turned(rows, name, found[name], wanted[name]) for name in rows.rotating}
    return [turned[row.point][row.axis] if row.rotates else _moved(rows, row, left, wanted) for row in rows.all]


def _moved(rows: TaskRows, row: TaskRow, left: Mapping[str, ca.SX], wanted: Mapping[str, Quaternion]) -> ca.SX:
    """How far a position is from where it is wanted."""
    if not row.point or rows.frame == "world":
        return left[row.name]
    away = ca.vertcat(*(left[f"{row.point}.position.{axis}"] for axis in XYZ))
    return from_quaternion(*wanted[row.point])[:, row.axis].T @ away


def _turned(rows: TaskRows, point: str, found: Quaternion, wanted: Quaternion) -> dict[int, ca.SX]:
    """How far a point's body is rotated about each of the axes that a task names."""
    axes = [row.axis for row in rows.all if row.rotates and row.point == point]
    world = rows.frame == "world"
    d = multiply(found, conjugate(wanted)) if world else multiply(conjugate(wanted), found)
    if len(axes) == 2:
        free = ({0, 1, 2} - {*axes}).pop()
        d = _swing(d, free, left=world)
    elif len(axes) == 1:
        d = (d[0], *(part if k == axes[0] else 0.0 for k, part in enumerate(d[1:])))
    vector = rotation_vector(*(ca.SX(part) for part in d))
    return {axis: vector[axis] for axis in axes}


def _swing(d: Quaternion, free: int, left: bool) -> Quaternion:
    """d without its twist, a rotation about the free axis: d = twist swing, or swing twist."""
    # Of any length: w^2 + z^2 in place of its root takes no part in the rotation vector.
    untwist = (d[0], *(-part if k == free else 0.0 for k, part in enumerate(d[1:])))
    w, *vector = multiply(untwist, d) if left else multiply(d, untwist)
    return (w, *(0.0 if k == free else part for k, part in enumerate(vector)))
