"""Flexible links: how does a link move that deforms, and which forces does its inertia ask for?

Floating frame of reference: in the axes of the link a particle stands at

    r = r0 + sum Phi_i eta_i + 1/2 sum Gamma_ij eta_i eta_j

where eta are the link's modal coordinates and Gamma, the foreshortening of bent beams, may be zero. Summed over all
particles, to second order in eta (Shabana 2013, chapter 5; Wallrapp 1994):

    h(eta) = sum m r             f_i = dh/deta_i
    P(eta) = sum m r r^T         P_i = dP/deta_i
    n_i(eta) = sum m r x dr/deta_i

    2 T = m u.u + 2 u.(omega x h) + omega.J omega + 2 sum (u.f_i + omega.n_i) eta_i' + eta'^T M eta'

A node is a place of such a link that carries others: a joint whose rates are the link's modal rates.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.base import Array, frozen
from robodyn.base import symbolic as sym
from robodyn.base.spatial import Matrix, Moments, Pose, Quaternion, Scalar, Vector, build_matrix, cross, dot

from .joints import Column

Load = tuple[Vector, Vector]
"""Force, and torque about the link's origin, in link axes."""


@frozen(eq=False)
class Elasticity:
    """What the deformation of a link changes in its inertia; derivatives at eta = 0, n modes.

    Args:
        first: dh/deta, (n, 3) [kg]; first_bend: d2h/deta2, (n, n, 3).
        second: dP/deta, (n, 3, 3) [kg m]; second_bend: d2P/deta2, (n, n, 3, 3).
        turning: n_i, (n, 3) [kg m]; turning_bend: dn_i/deta_j, (n, n, 3).
        mass: of the modes, (n, n) [kg].
    """

    first: Array
    first_bend: Array
    second: Array
    second_bend: Array
    turning: Array
    turning_bend: Array
    mass: Array

    @property
    def n(self) -> int:
        """Number of modes."""
        return len(self.mass)

    def deform(self, rest: Moments, eta: Sequence[Scalar]) -> Moments:
        """Moments of the deformed link, given those at rest."""
        half = [0.5 * entry for entry in eta]
        first = [_extend(self.first[i], self.first_bend[i], half) for i in range(self.n)]
        second = [_extend(self.second[i], self.second_bend[i], half) for i in range(self.n)]

        return Moments(rest.mass, _weigh(first, eta, rest.first), _weigh(second, eta, rest.second))

    def columns(self, eta: Sequence[Scalar]) -> list[Load]:
        """Load (f_i, n_i) of a unit acceleration of each mode."""
        return [
            (
                _extend(self.first[i], self.first_bend[i], eta),
                _extend(self.turning[i], self.turning_bend[i], eta),
            )
            for i in range(self.n)
        ]

    def second_rates(self, eta: Sequence[Scalar]) -> list[Matrix]:
        """P_i = dP/deta_i at eta."""
        return [_extend(self.second[i], self.second_bend[i], eta) for i in range(self.n)]

    def load(
        self, motion: tuple[Vector, Vector, Vector], eta: Sequence[Scalar], rate: Sequence[Scalar], a: Sequence[Scalar]
    ) -> tuple[Load, list[Scalar]]:
        """Force and torque that the deformation adds to those of the deformed link as a rigid one; forces on the modes.

            f += 2 omega x h' + sum f_i a_i + sum d2h eta' eta'
            n += J' omega + omega x N + sum n_i a_i + sum dn_i eta_i' eta',   N = sum n_i eta_i'
            g_i = f_i.accel + n_i.alpha + sum M_ij a_j - omega.J_i omega / 2
                + omega.sum (dn_i/deta_j - dn_j/deta_i) eta_j'

        Args:
            motion: omega, alpha, and the acceleration of the origin less gravity, in link axes; rate, a: of eta.
        """
        omega, alpha, accel = motion
        loads, spreads = self.columns(eta), self.second_rates(eta)
        # Rates of the first moment and of the second, and the angular momentum of the modes.
        h_dot = _weigh([f for f, _ in loads], rate)
        N = _weigh([n for _, n in loads], rate)
        P_dot = _weigh(spreads, rate, np.zeros((3, 3)))
        # Coriolis, accelerations of the modes, and what bending does at constant rate.
        force = 2.0 * cross(omega, h_dot) + _weigh([f for f, _ in loads], a) + _twice(self.first_bend, rate)
        torque = _tensor_times(P_dot, omega) + cross(omega, N) + _weigh([n for _, n in loads], a)
        torque = torque + _twice(self.turning_bend, rate)
        # Modes that rotate against each other: gyroscopic, without power.
        gyration = self.turning_bend - self.turning_bend.transpose(1, 0, 2)
        on_modes = [
            dot(f, accel)
            + dot(n, alpha)
            + dot(omega, _weigh(list(gyration[i]), rate) - 0.5 * _tensor_times(spreads[i], omega))
            + sum((self.mass[i, j] * a[j] for j in range(self.n) if self.mass[i, j] != 0.0), 0.0)
            for i, (f, n) in enumerate(loads)
        ]

        return (force, torque), on_modes


@frozen(eq=False)
class Node:
    """A place of a link that deforms.

    Args:
        position: at rest, in the link's frame [m], (3,).
        shift: displacement of each mode, (n, 3); turn: its rotation vector, (n, 3).
        shortening: d2p/deta2, (n, n, 3).
    """

    position: Array
    shift: Array
    turn: Array
    shortening: Array

    def pose(self, eta: Sequence[Scalar]) -> Pose:
        """Pose of the node in the link's frame; it rotates by theta = sum turn_i eta_i, as Cayley's R(theta)."""
        half = [0.5 * entry for entry in eta]
        shifts = [_extend(self.shift[i], self.shortening[i], half) for i in range(len(self.shift))]

        return Pose(cayley(_weigh(list(self.turn), eta)), _weigh(shifts, eta, self.position))

    def quaternion(self, eta: Sequence[Scalar]) -> Quaternion:
        """The quaternion of the rotation R(theta): (1, theta / 2), of length 1."""
        half = 0.5 * _weigh(list(self.turn), eta)
        length = sym.sqrt(1.0 + dot(half, half))

        return 1.0 / length, half[0] / length, half[1] / length, half[2] / length

    def columns(self, eta: Sequence[Scalar]) -> list[Column]:
        """Angular and linear motion for a unit rate of each mode, in the node's axes."""
        # Cayley's spin: omega = 4 / (4 + theta.theta) (theta_dot - theta x theta_dot / 2).
        theta = _weigh(list(self.turn), eta)
        R, scale = cayley(theta), 4.0 / (4.0 + dot(theta, theta))
        moves = [_extend(self.shift[i], self.shortening[i], eta) for i in range(len(self.shift))]

        return [
            (scale * (turn - 0.5 * cross(theta, turn)), R.T @ move) for turn, move in zip(self.turn, moves, strict=True)
        ]

    def drift(
        self, eta: Sequence[Scalar], rate: Sequence[Scalar], spin: Vector, slide: Vector
    ) -> tuple[Vector, Vector]:
        """Rates of spin and slide, the motion relative to the link, while the modes do not accelerate; node's axes."""
        theta, theta_dot = _weigh(list(self.turn), eta), _weigh(list(self.turn), rate)
        R = cayley(theta)
        slower = -2.0 * dot(theta, theta_dot) / (4.0 + dot(theta, theta))

        return slower * spin, R.T @ _twice(self.shortening, rate) - cross(spin, slide)


def cayley(theta: Vector) -> Matrix:
    """Rotation of about theta [rad], exactly by 2 atan(|theta| / 2): a rotation for any theta, without trigonometry.

    R = 1 + 4 (S + S^2 / 2) / (4 + theta.theta),  S = skew(theta)
    """
    x, y, z = theta[0], theta[1], theta[2]
    half = [0.5 * entry for entry in (x, y, z)]
    scale = 4.0 / (4.0 + x * x + y * y + z * z)
    xx, yy, zz = x * half[0], y * half[1], z * half[2]
    xy, yz, zx = x * half[1], y * half[2], z * half[0]

    return build_matrix(
        [
            [1.0 - scale * (yy + zz), scale * (xy - z), scale * (zx + y)],
            [scale * (xy + z), 1.0 - scale * (zz + xx), scale * (yz - x)],
            [scale * (zx - y), scale * (yz + x), 1.0 - scale * (xx + yy)],
        ]
    )


def _weigh(parts: Sequence[Array], weights: Sequence[Scalar], start: Array | None = None) -> Vector:
    """start + sum weight_i part_i; what is zero is left out, so that graphs stay small."""
    total = np.zeros(3) if start is None else start
    for k, part in enumerate(parts):
        if not isinstance(part, np.ndarray) or np.any(part):
            total = total + part * weights[k]

    return total


def _extend(start: Array, slopes: Array, eta: Sequence[Scalar]) -> Vector:
    """start + sum slope_j eta_j."""
    return _weigh(list(slopes), eta, start)


def _twice(parts: Array, rate: Sequence[Scalar]) -> Vector:
    """sum part_ij rate_i rate_j."""
    return _weigh([_weigh(list(row), rate) for row in parts], rate) if np.any(parts) else np.zeros(3)


def _tensor_times(second: Matrix, omega: Vector) -> Vector:
    """J omega = trace(P) omega - P omega."""
    return (second[0, 0] + second[1, 1] + second[2, 2]) * omega - second @ omega
