"""Inverse kinematics: which joint positions bring the tool to a pose? All branches, and the one that is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from robodyn.base import Array, frozen, refuse

from .arm import SerialArm, jacobian
from .cartesian import rotation_vector

# --------------------------------------------------------------------------------------------------
# Newton's method on the pose error: which joint positions near given ones bring the tool exactly to a pose?


EXACT = 1e-12
"""Largest pose error of a solution: angle [rad] and distance over the arm's reach."""
INITIALISATIONS, SEED = 240, 6
"""Starts of the search for all branches, spread at random but always alike."""
ROUNDS, SINGULAR_SHARE = 60, 1e-10
"""Damped steps of a search; singular values below this share of the largest count as zero."""


def pose_error(arm: SerialArm, q: Array, R: Array, p: Array) -> tuple[Array, Array]:
    """Motion still missing to a pose (rotation [rad], shift / reach) as far as it counts, and J in the same scaling."""
    placed = arm.place(q)
    turn = rotation_vector(R @ np.swapaxes(placed.R, -1, -2))
    error = np.concatenate([turn, (p - placed.p) / arm.reach], axis=-1)
    return arm.select(R, error[..., None])[..., 0], arm.select(R, arm.scaled(jacobian(placed)))


def refine(arm: SerialArm, q: Array, R: Array, p: Array, iterations: int = 8) -> Array:
    """Joint positions after Newton steps from q, (..., n); nan where these do not meet the pose.

    J dq = error; a step turns no joint by more than 0.5 rad, and it stops where the error stays at rounding. Of a
    redundant arm the shortest steps are taken.
    """
    for _ in range(iterations):
        error, J = pose_error(arm, q, R, p)
        if np.all(np.abs(error) < 1e-15):
            return q
        q = q + arm.scale * limit_step(solve_rates(J, error), 0.5)
    error, _ = pose_error(arm, q, R, p)
    reached = np.max(np.abs(error), axis=-1, keepdims=True) < EXACT
    return np.where(reached, q, np.nan)


def search(arm: SerialArm, R: Array, p: Array) -> Array:
    """Joint positions that meet one pose, found from many starts, (k, n), in no order and repeated.

    Nothing says that all branches are found; those of the arms tested are.
    """
    half = np.where(arm.periodic, np.pi, arm.scale)
    lower = np.where(np.isfinite(arm.lower) & ~arm.periodic, arm.lower, -half)
    upper = np.where(np.isfinite(arm.upper) & ~arm.periodic, arm.upper, half)
    q = np.random.default_rng(SEED).uniform(lower, upper, (INITIALISATIONS, arm.n))
    solution = approach(arm, q, R, p)
    return solution[np.isfinite(solution[:, 0])]


def approach(arm: SerialArm, q: Array, R: Array, p: Array) -> Array:
    """Joint positions that meet a pose, from far away, (..., n); nan where they are not found.

    Damped steps dq = J^T (J J^T + mu 1)^-1 error with mu falling with the error, then Newton's: near singularities the
    joints stay slow, and nothing of the damping is left at the end.
    """
    for _ in range(ROUNDS):
        error, J = pose_error(arm, q, R, p)
        mu = 0.05 * np.sum(error**2, axis=-1)[..., None, None] + 1e-14
        q = q + arm.scale * limit_step(_damped(J, error, mu), 0.6)
    return refine(arm, q, R, p)


def _damped(J: Array, error: Array, mu: Array) -> Array:
    J_T = np.swapaxes(J, -1, -2)
    rows, columns = J.shape[-2:]
    if rows <= columns:
        return (J_T @ np.linalg.solve(J @ J_T + mu * np.eye(rows), error[..., None]))[..., 0]
    return np.linalg.solve(J_T @ J + mu * np.eye(columns), J_T @ error[..., None])[..., 0]


def solve_rates(J: Array, motion: Array) -> Array:
    """Joint rates J^-1 motion, (..., n); the shortest by least squares where J is not square, or exactly singular."""
    if J.shape[-1] == J.shape[-2]:
        try:
            return np.linalg.solve(J, motion[..., None])[..., 0]
        except np.linalg.LinAlgError:
            pass
    return (np.linalg.pinv(J, rcond=SINGULAR_SHARE) @ motion[..., None])[..., 0]


def limit_step(step: Array, largest: float) -> Array:
    """Steps none of whose entries is larger than allowed, shortened as a whole."""
    size = np.max(np.abs(step), axis=-1, keepdims=True)
    return step * np.minimum(1.0, largest / np.maximum(size, 1e-300))


# --------------------------------------------------------------------------------------------------
# Closed-form inverse kinematics (Pieper): which joint positions bring the tool to a pose, with a spherical wrist?
#
# The meeting point c does not move with joints 4 to 6, so that the first three joints alone must bring it to its
# place t (Pieper 1968), and the last three then turn the tool. Rotations about fixed lines turn every question into
# one of
#
# A + B cos(x) + C sin(x) = 0       two roots
# a sum of those, squared           four roots, of a polynomial in z = exp(i x)
#
# which holds for any directions and distances of the axes: orthogonal and parallel ones are cases of it.


N_JOINTS = 6
TINY = 1e-9
"""Distances over the reach, and sines, that count as zero."""
ON_CIRCLE = 1e-5
"""How far a root exp(i x) may lie off the unit circle: double roots move by the square root of rounding."""


def wrist_center(arm: SerialArm) -> Array | None:
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


def solve_closed_form(arm: SerialArm, center: Array, R: Array, p: Array) -> Iterator[Array]:
    """All joint positions (6,) that bring the tool to a pose, up to eight."""
    # X = exp(S_1 q_1) ... exp(S_6 q_6) is what the joints do; the center's place is X c.
    turn = R @ arm.R.T
    target = p + turn @ (center - arm.p)
    for q1, q2, q3 in _solve_shoulder(arm, center, target):
        carried = arm.turn(0, q1) @ arm.turn(1, q2) @ arm.turn(2, q3)
        for wrist in _solve_wrist(arm, carried.T @ turn):
            yield np.array([q1, q2, q3, *wrist])


def _solve_shoulder(arm: SerialArm, center: Array, target: Array) -> Iterator[tuple[float, float, float]]:
    """Joints 1 to 3 that bring the center to the target: q3 from what joint 1 cannot change, then q2, then q1."""
    w1, w2 = arm.w[0], arm.w[1]
    o1, o2 = _common_normal(w1, arm.o[0], w2, arm.o[1])
    d, a = o2 - o1, w1 - (w1 @ w2) * w2
    intersecting, parallel = np.linalg.norm(d) < TINY * arm.reach, np.linalg.norm(a) < TINY

    def lifted(q3: float) -> tuple[Array, float, float, float]:
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

    # |e across w2| is known: alpha and beta fit it at a few q3, each with its q2; q1 then turns x onto the target.
    for q3 in _roots(missing, 1 if intersecting or parallel else 2):
        e, _, alpha, beta = lifted(q3)
        for q2 in _solve_second(e, w2, (a, alpha), (d, beta), bool(intersecting), bool(parallel)):
            x = o2 + arm.turn(1, q2) @ (arm.o[2] + arm.turn(2, q3) @ (center - arm.o[2]) - o2)
            yield _angle_about(w1, x - o1, target - o1), q2, q3


def _solve_second(
    e: Array,
    w2: Array,
    height: tuple[Array, float],
    distance: tuple[Array, float],
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


def _solve_wrist(arm: SerialArm, turn: Array) -> Iterator[tuple[float, float, float]]:
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


def _common_normal(w1: Array, o1: Array, w2: Array, o2: Array) -> tuple[Array, Array]:
    """Feet of the common normal on two lines; for parallel ones that at o1."""
    cosine, between = w1 @ w2, o2 - o1
    sine_squared = 1.0 - cosine**2
    if sine_squared < TINY**2 or np.linalg.norm(np.cross(w1, w2)) < TINY:
        return o1, o2 - (between @ w1) * w1
    along1 = (between @ w1 - cosine * (between @ w2)) / sine_squared
    along2 = (cosine * (between @ w1) - between @ w2) / sine_squared
    return o1 + along1 * w1, o2 + along2 * w2


def _angle_about(w: Array, x: Array, y: Array) -> float:
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


ALIKE = 1e-6
"""Joint positions closer than this are one branch [rad]: at a singularity two branches meet."""


@frozen(eq=False)
class Branches:
    """All joint positions found that bring the tool to a pose.

    Attributes:
        positions: [rad or m], those of hinges in (-pi, pi], (k, n).
        analytic: whether they come from the closed form; otherwise from a search with many starts.
        periodic: joints that come back after a whole turn, (n,).
    """

    joints: tuple[str, ...]
    positions: Array
    analytic: bool
    periodic: Array

    def __len__(self) -> int:
        return len(self.positions)

    def nearest(self, near: Any) -> Array:
        """The branch whose joints turn least from given positions, whole turns of a joint counted as none, (n,)."""
        if not len(self):
            refuse("pose", "is out of reach", source="inverse kinematics")
        shifted = near + wrap(self.positions - np.asarray(near, float), self.periodic)
        return shifted[np.argmin(np.max(np.abs(shifted - near), axis=1))]

    def select(self, index: int) -> Array:
        """The branch of a number, (n,)."""
        if not isinstance(index, int) or not 0 <= index < len(self):
            what = f"there is no branch {index!r}"
            refuse("branch", what, f"there are {len(self)}, counted from 0", "inverse kinematics")
        return self.positions[index]


def find_branches(arm: SerialArm, R: Any, p: Any, method: str = "auto") -> Branches:
    """All ways to bring the tool to a pose.

    Args:
        R: R_world_tool, 3 x 3; p: place of the tool's point [m, world].
        method: "closed" form, where the last three axes meet; "search" from many starts; "auto" takes the closed
            form where there is one. A closed form gives up to eight branches, in an order that stays along a path.
    """
    if method not in ("auto", "closed", "search"):
        refuse("method", f"'{method}' is unknown", "auto, closed or search", "inverse kinematics")
    R, p = np.asarray(R, float), np.asarray(p, float)
    center = wrist_center(arm) if method != "search" else None
    if center is None and method == "closed":
        what = "the last three of six axes do not meet, or not all motions of the tool count"
        refuse("method", what, "use search", "inverse kinematics")
    if np.all(arm.periodic) and all(arm.kept[3:]) and np.linalg.norm(p - arm.o[0]) > (1 + 1e-9) * arm.reach:
        return Branches(arm.joints, np.zeros((0, arm.n)), center is not None, arm.periodic)
    if center is None:
        solutions = wrap(search(arm, R, p), arm.periodic)
        order = np.lexsort(np.round(solutions, 6).T[::-1])
        return Branches(arm.joints, _distinct(arm, solutions[order]), False, arm.periodic)
    raw = np.array(list(solve_closed_form(arm, center, R, p))).reshape(-1, 6)
    exact = refine(arm, raw, R, p, iterations=3)
    return Branches(arm.joints, _distinct(arm, wrap(exact[np.isfinite(exact[:, 0])])), True, arm.periodic)


def wrap(angle: Any, periodic: Any = True) -> Array:
    """Angles in (-pi, pi]; positions of joints that are not periodic as they are."""
    angle = np.asarray(angle, float)
    return np.where(periodic, -((np.pi - angle) % (2 * np.pi) - np.pi), angle)


def _distinct(arm: SerialArm, solutions: Array) -> Array:
    distinct: list[Array] = []
    for q in solutions:
        if all(np.max(np.abs(wrap(q - other, arm.periodic) / arm.scale)) > ALIKE for other in distinct):
            distinct.append(q)
    return np.array(distinct).reshape(-1, arm.n)
