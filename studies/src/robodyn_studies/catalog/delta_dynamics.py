"""Inverse dynamics of the delta robot: which motor torques does a motion need? Functions of numbers or symbols.

Arms, angles and frames as in `delta_kinematics`. Three arms are joined at their tips, so that the motors and the forces
between the tips share what the arms' motions need: [B H^T] [u; lam] = M a + c + g.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn import symbolic as sym
from robodyn_studies.catalog.delta_kinematics import Triple, combine, dot, drift, slopes, to_arm, to_world
from robodyn_studies.catalog.delta_parameters import GRAVITY, DeltaRobot


def arm_torques(robot: DeltaRobot, payload: Any, angles: Triple, rates: Triple, acceleration: Triple) -> Triple:
    """Generalised forces on (phi, theta, alpha) that an arm's motion needs, damping and weight included [N m].

        sum over parts m J^T (p'' + g z) + damping

    Args:
        acceleration: of the tip in the arm's frame [m/s^2].
    """
    third = (robot.platform_mass + payload) / 3
    l1 = robot.proximal_length
    columns = slopes(angles, l1, robot.distal_length)
    beyond = drift(angles, rates, l1, robot.distal_length)
    wanted = [a - d for a, d in zip(acceleration, beyond, strict=True)]
    turning = sym.solve_linear([[column[i] for column in columns] for i in range(3)], wanted)
    # A body that turns counts as a mass on its direction: I |u'|^2 / 2 is its energy, and it has no weight.
    parts = (
        (robot.proximal_mass, robot.proximal_com, 0.0, GRAVITY),
        (robot.distal_mass, l1, robot.distal_com, GRAVITY),
        (third, l1, robot.distal_length, GRAVITY),
        (robot.proximal_inertia, 1.0, 0.0, 0.0),
        (robot.distal_inertia, 0.0, 1.0, 0.0),
    )
    total = damping_torques(robot, angles, rates)
    for mass, a, b, gravity in parts:
        J = slopes(angles, a, b)
        moved, drifted = combine(J, turning), drift(angles, rates, a, b)
        x, y, z = (mass * (m + d) for m, d in zip(moved, drifted, strict=True))
        total = [t + dot(column, (x, y, z + mass * gravity)) for t, column in zip(total, J, strict=True)]
    return tuple(total)


def damping_torques(robot: DeltaRobot, angles: Triple, rates: Triple) -> list[Any]:
    """What the damping of the motor and of the study's phi2 and phi3 takes: d1 phi', and d (dphi_i/da)^T phi_i'."""
    _, theta, alpha = angles
    total = [robot.damping[0] * rates[0], 0.0, 0.0]
    ca, sa, ct, st = sym.cos(alpha), sym.sin(alpha), sym.cos(theta), sym.sin(theta)
    square = sa * sa + ca * ca * st * st
    across = sym.sqrt(square)
    for damping, by_theta, by_alpha in (
        (robot.damping[1], ca * st / across, sa * ct / across),
        (robot.damping[2], -sa * ca * ct / square, st / square),
    ):
        rate = by_theta * rates[1] + by_alpha * rates[2]
        total[1], total[2] = total[1] + damping * by_theta * rate, total[2] + damping * by_alpha * rate
    return total


def motor_torques(robot: DeltaRobot, arms: Sequence[Triple], forces: Sequence[Triple]) -> tuple[Any, ...]:
    """Motor torques that, with the forces at the joined tips, make given forces on the angles: (u1, u2, u3) [N m].

        [B  H^T] [u; lam] = forces        (9 equations)

    Args:
        forces: on (phi, theta, alpha) of each arm.
    """
    rows, right = [], []
    for k in range(3):
        J = slopes(arms[k], robot.proximal_length, robot.distal_length)
        for i, column in enumerate(J):
            pull = to_world(k, column)
            first = pull if k == 0 else tuple(-entry if k == 1 else 0.0 for entry in pull)
            second = pull if k == 0 else tuple(-entry if k == 2 else 0.0 for entry in pull)
            rows.append([*(1.0 if i == 0 and j == k else 0.0 for j in range(3)), *first, *second])
            right.append(forces[k][i])
    return sym.solve_linear(rows, right)[:3]


def holding_torques(robot: DeltaRobot, payload: Any, arms: Sequence[Triple]) -> tuple[Any, ...]:
    """Gravity compensation: motor torques that hold the robot where it is [N m]."""
    still = (0.0, 0.0, 0.0)
    return inverse_torques(robot, payload, arms, (still,) * 3, still)


def inverse_torques(
    robot: DeltaRobot, payload: Any, arms: Sequence[Triple], rates: Sequence[Triple], acceleration: Triple
) -> tuple[Any, ...]:
    """Motor torques that accelerate the platform as wanted [m/s^2, world]: feedback linearisation of its place."""
    forces = [arm_torques(robot, payload, arms[k], rates[k], to_arm(k, acceleration)) for k in range(3)]
    return motor_torques(robot, arms, forces)
