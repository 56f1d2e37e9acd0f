"""Closed-form inverse kinematics (Pieper): which joint positions bring the tool to a pose, with a spherical wrist?

The meeting point c does not move with joints 4 to 6, so that the first three joints alone must bring it to its place t
(Pieper 1968), and the last three then turn the tool. Rotations about fixed lines turn every question into one of

    A + B cos(x) + C sin(x) = 0       two roots
    a sum of those, squared           four roots, of a polynomial in z = exp(i x)

which holds for any directions and distances of the axes: orthogonal and parallel ones are cases of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from robodyn.description.paths.arm import SerialArm

N_JOINTS = 6
TINY = 1e-9
"""Distances over the reach, and sines, that count as zero."""
ON_CIRCLE = 1e-5
"""How far a root exp(i x) may lie off the unit circle: double roots move by the square root of rounding."""


def wrist_center(arm: SerialArm) -> np.ndarray | None:
    """The point in which axes 4 to 6 meet at zero position [m]; None where they do not, or it is another arm."""
    if arm.n != N_JOINTS or not np.all(arm.periodic) or not arm.whole:
        return None
    across = [np.eye(3) - np.outer(w, w) for w in arm.w[3:]]
    matrix = np.concatenate(across)
    right = np.concatenate([A @ o for A, o in zip(across, arm.o[3:], strict=True)])
    center, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=TINY)
    missed = np.max(np.abs(matrix @ center - right))
    turning = np.linalg.svd(arm.w[3:5])[1][-1]
    return center if rank == 3 and missed < TINY * arm.reach and turning > TINY else None


def solve_closed_form(arm: SerialArm, center: np.ndarray, R: np.ndarray, p: np.ndarray) -> Iterator[np.ndarray]:
    """All joint positions (6,) that bring the tool to a pose, up to eight."""
    # X = exp(S_1 q_1) ... exp(S_6 q_6) is what the joints do; the center's place is X c.
    turn = R @ arm.R.T
    target = p + turn @ (center - arm.p)
    for q1, q2, q3 in _solve_shoulder(arm, center, target):
        carried = arm.turn(0, q1) @ arm.turn(1, q2) @ arm.turn(2, q3)
        for wrist in _solve_wrist(arm, carried.T @ turn):
            yield np.array([q1, q2, q3, *wrist])


def _solve_shoulder(arm: SerialArm, center: np.ndarray, target: np.ndarray) -> Iterator[tuple[float, float, float]]:
    """Joints 1 to 3 that bring the center to the target: q3 from what joint 1 cannot change, then q2, then q1."""
    w1, w2 = arm.w[0], arm.w[1]
    o1, o2 = _common_normal(w1, arm.o[0], w2, arm.o[1])
    d, a = o2 - o1, w1 - (w1 @ w2) * w2
    intersecting, parallel = np.linalg.norm(d) < TINY * arm.reach, np.linalg.norm(a) < TINY

    def lifted(q3: float) -> tuple[np.ndarray, float, float, float]:
        """The center, rotated by joint 3, as joint 2 sees it (across, squared length), and what must become of it.

        Joint 1 keeps the height along w1 and the distance from o1: with e' the part e across w2 rotated by joint 2,
            a . e' = alpha,   d . e' = beta
        """
        u = arm.o[2] + arm.turn(2, q3) @ (center - arm.o[2]) - o2
        h = u @ w2
        alpha = w1 @ (target - o2) - h * (w1 @ w2)
        beta = 0.5 * (np.sum((target - o1) ** 2) - u @ u - d @ d)
        return u - h * w2, float(u @ u - h * h), float(alpha), float(beta)

    def missing(q3: float) -> float:
        _, square, alpha, beta = lifted(q3)
        if intersecting:
            return beta
        return alpha if parallel else alpha**2 / (a @ a) + beta**2 / (d @ d) - square

    for q3 in _roots(missing, 1 if intersecting or parallel else 2):
        e, _, alpha, beta = lifted(q3)
        for q2 in _solve_second(e, w2, (a, alpha), (d, beta), bool(intersecting), bool(parallel)):
            x = o2 + arm.turn(1, q2) @ (arm.o[2] + arm.turn(2, q3) @ (center - arm.o[2]) - o2)
            yield _angle_about(w1, x - o1, target - o1), q2, q3


def _solve_second(
    e: np.ndarray,
    w2: np.ndarray,
    height: tuple[np.ndarray, float],
    distance: tuple[np.ndarray, float],
    intersecting: bool,
    parallel: bool,
) -> list[float]:
    """Turns about w2 that give e the wanted products with the two directions, one of which may be missing."""
    (a, alpha), (d, beta) = height, distance
    if intersecting:
        return _circle_roots(-alpha, float(a @ e), float(a @ np.cross(w2, e)))
    if parallel:
        return _circle_roots(-beta, float(d @ e), float(d @ np.cross(w2, e)))
    return [_angle_about(w2, e, alpha / (a @ a) * a + beta / (d @ d) * d)]


def _solve_wrist(arm: SerialArm, turn: np.ndarray) -> Iterator[tuple[float, float, float]]:
    """Joints 4 to 6 that make a rotation: q5 from w4 . (turn w6), then q4, then q6."""
    w4, w5, w6 = arm.w[3:]
    goal = turn @ w6
    across = w6 - (w5 @ w6) * w5
    along = (w5 @ w6) * (w4 @ w5)
    for q5 in _circle_roots(along - w4 @ goal, w4 @ across, w4 @ np.cross(w5, w6)):
        bent = arm.turn(4, q5)
        q4 = _angle_about(w4, bent @ w6, goal)
        rest = bent.T @ arm.turn(3, q4).T @ turn
        side = np.cross(w6, np.eye(3)[np.argmin(np.abs(w6))])
        yield q4, q5, _angle_about(w6, side, rest @ side)


def _common_normal(w1: np.ndarray, o1: np.ndarray, w2: np.ndarray, o2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Feet of the common normal on two lines; for parallel ones that at o1."""
    cosine, between = w1 @ w2, o2 - o1
    sine_squared = 1.0 - cosine**2
    if sine_squared < TINY**2 or np.linalg.norm(np.cross(w1, w2)) < TINY:
        return o1, o2 - (between @ w1) * w1
    along1 = (between @ w1 - cosine * (between @ w2)) / sine_squared
    along2 = (cosine * (between @ w1) - between @ w2) / sine_squared
    return o1 + along1 * w1, o2 + along2 * w2


def _angle_about(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Angle about w that brings x over y; 0 where one of them lies on w and any angle does."""
    height, width = float(w @ np.cross(x, y)), float(x @ y - (w @ x) * (w @ y))
    size = np.linalg.norm(x) * np.linalg.norm(y)
    return float(np.arctan2(height, width)) if np.hypot(height, width) > 1e-14 * size else 0.0


def _circle_roots(A: float, B: float, C: float) -> list[float]:
    """Angles with A + B cos(x) + C sin(x) = 0: x = atan2(C, B) +- acos(-A / hypot(B, C)); 0 where any does."""
    size = float(np.hypot(B, C))
    if size < 1e-14:
        return [0.0] if abs(A) < 1e-12 else []
    cosine = -A / size
    if abs(cosine) > 1.0 + ON_CIRCLE**2:
        return []
    middle, half = float(np.arctan2(C, B)), float(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return [middle + half, middle - half]


def _roots(function: Callable[[float], float], degree: int) -> list[float]:
    """Angles at which a trigonometric polynomial of degree 1 or 2 is zero.

    f(x) = sum_{k=-n..n} c_k z^k, z = exp(i x): c by a discrete Fourier transform, roots z on the unit circle.
    """
    n = 2 * degree + 1
    values = np.array([function(2 * np.pi * k / n) for k in range(n)])
    c = np.fft.fft(values) / n
    if degree == 1:
        return _circle_roots(c[0].real, 2 * c[1].real, -2 * c[1].imag)
    coefficients = np.array([c[2], c[1], c[0], c[-1], c[-2]])
    z = np.roots(np.where(np.abs(coefficients) > 1e-14 * np.max(np.abs(coefficients)), coefficients, 0.0))
    return [float(np.angle(root)) for root in z if abs(abs(root) - 1.0) < np.sqrt(ON_CIRCLE)]
