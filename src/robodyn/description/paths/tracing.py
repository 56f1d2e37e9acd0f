"""Branch tracking: how do the joints follow a path on one branch of the inverse kinematics, and where can they not?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn.base.records import dataclass
from robodyn.description.paths.arm import Placed, SerialArm, jacobian, jacobian_rate
from robodyn.description.paths.cartesian import CartesianPath, PathMotion
from robodyn.description.paths.inverse import find_branches
from robodyn.description.paths.posture import Posture
from robodyn.description.paths.refinement import SINGULAR_SHARE, refine, solve_rates

JUMP = 0.3
"""Largest miss of a prediction that still counts as the same branch [rad]."""
MOST_JUMPS = 8
"""Losses of a branch after which shorter steps are not tried any more: the path is refused as it is."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The joints at knots along a path, nan where the pose is out of reach.

    Attributes:
        knots: [m], (m,), twice where pieces meet; pieces: the piece of each, (m,).
        position, slope, bend: q [rad or m], dq/ds, d2q/ds2, (m, n).
        closeness: smallest singular value of the scaled Jacobian, (m,); sense: sign of its determinant, (m,).
        idle: the joint rates of that singular value, which hardly move the tool, unit length, (m, n).
        jumps: ways [m] at which the branch was lost and another one taken.
    """

    knots: np.ndarray
    pieces: np.ndarray
    position: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    closeness: np.ndarray
    sense: np.ndarray
    idle: np.ndarray
    jumps: tuple[float, ...]

    @property
    def reached(self) -> np.ndarray:
        return np.isfinite(self.position[:, 0])


def spread_knots(path: CartesianPath, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Knots evenly spaced within each piece, both ends of each included, and the piece of each knot."""
    knots, pieces = [], []
    for k, (start, end) in enumerate(zip(path.ends[:-1], path.ends[1:], strict=True)):
        count = max(int(np.ceil((end - start) / spacing)), 2)
        knots.append(np.linspace(start, end, count + 1))
        pieces.append(np.full(count + 1, k))
    return np.concatenate(knots), np.concatenate(pieces)


def pose_at(path: CartesianPath, knots: np.ndarray, pieces: np.ndarray) -> PathMotion:
    """The path at knots, each taken on its own piece."""
    parts = [path.at(knots[pieces == k], int(k)) for k in np.unique(pieces)]
    return PathMotion(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def differentiate(arm: SerialArm, q: np.ndarray, wanted: PathMotion) -> tuple[np.ndarray, np.ndarray]:
    """Exact derivatives by s of joint positions (m, n) that follow the path, the shortest of a redundant arm.

        J q' = twist,   J q'' = twist' - J' q'

    Where J is singular they are infinite or, as here, what least squares gives; such places are refused later.
    """
    placed = arm.place(q)
    slope = _solve(arm, placed, wanted, wanted.twist)
    return slope, _solve(arm, placed, wanted, _left_of_bend(arm, placed, wanted, slope))


def _solve(arm: SerialArm, placed: Placed, wanted: PathMotion, motion: np.ndarray) -> np.ndarray:
    """Joint rates that make a motion of the tool, as far as it counts, (m, n)."""
    J = arm.select(wanted.R, jacobian(placed) * arm.scale)
    return arm.scale * solve_rates(J, arm.select(wanted.R, motion[..., None])[..., 0])


def _left_of_bend(arm: SerialArm, placed: Placed, wanted: PathMotion, slope: np.ndarray) -> np.ndarray:
    """twist' - J' q'; where a rotation about an axis of the tool is free, what the turning of that axis adds.

    S R^T (J q' - twist) = 0 holds along the path, S the rows that count: R^T' adds omega x (J q' - twist).
    """
    left = wanted.twist_rate - (jacobian_rate(placed, slope) @ slope[..., None])[..., 0]
    if not arm.whole and any(arm.kept[:3]):
        free = (jacobian(placed) @ slope[..., None])[..., 0] - wanted.twist
        left = np.concatenate([left[..., :3] + np.cross(wanted.twist[..., :3], free[..., :3]), left[..., 3:]], axis=-1)
    return left


def follow(
    arm: SerialArm, path: CartesianPath, start: np.ndarray | None, spacing: float, posture: Posture | None = None
) -> Trace:
    """The joints from knot to knot on one branch.

    Where that fails, the branch nearest to the last position is taken, if there is one.
    """
    knots, pieces = spread_knots(path, spacing)
    wanted = pose_at(path, knots, pieces)
    position = np.full((len(knots), arm.n), np.nan)
    jumps: list[float] = []
    last = start
    for k, way in enumerate(knots):
        q = np.full(arm.n, np.nan)
        if k and np.isfinite(position[k - 1, 0]):
            q = _advance(arm, position[k - 1], _row(wanted, k - 1), _row(wanted, k), way - knots[k - 1])
            if not np.isfinite(q[0]) and len(jumps) < MOST_JUMPS:
                q = _advance_in_parts(arm, path, int(pieces[k]), position[k - 1], knots[k - 1], way)
        elif k == 0 and arm.redundant and start is not None:
            q = refine(arm, start, wanted.R[0], wanted.p[0])
        if not np.isfinite(q[0]):
            q = _nearest_branch(arm, _row(wanted, k), last)
            if k and np.isfinite(q[0]) and np.isfinite(position[k - 1, 0]):
                jumps.append(float(way))
        if posture is not None and np.isfinite(q[0]):
            q = refine(arm, posture.settle(q, wanted.R[k], wanted.p[k], way / path.length), wanted.R[k], wanted.p[k])
        position[k] = q
        last = q if np.isfinite(q[0]) else last
    return examine(arm, position, knots, pieces, wanted, tuple(jumps))


def _row(motion: PathMotion, k: int) -> PathMotion:
    return PathMotion(*(column[k] for column in motion))


def _advance(arm: SerialArm, q: np.ndarray, here: PathMotion, there: PathMotion, step: float) -> np.ndarray:
    """One step along the path: predicted by two derivatives, corrected by Newton's method; nan where they disagree.

    q + step q' + step^2/2 q''
    """
    slope, bend = differentiate(arm, q, here)
    guess = q + step * (slope + 0.5 * step * bend)
    found = refine(arm, guess, there.R, there.p)
    return found if np.max(np.abs(found - guess) / arm.scale) < JUMP else np.full(arm.n, np.nan)


def _advance_in_parts(
    arm: SerialArm, path: CartesianPath, piece: int, q: np.ndarray, begin: float, end: float, halvings: int = 6
) -> np.ndarray:
    """The same in halved steps, as often as it helps: joints may turn far on a short way near a singularity."""
    motion = path.at([begin, end], piece)
    found = _advance(arm, q, _row(motion, 0), _row(motion, 1), end - begin)
    if np.isfinite(found[0]) or not halvings:
        return found
    middle = 0.5 * (begin + end)
    half = _advance_in_parts(arm, path, piece, q, begin, middle, halvings - 1)
    if not np.isfinite(half[0]):
        return half
    return _advance_in_parts(arm, path, piece, half, middle, end, halvings - 1)


def _nearest_branch(arm: SerialArm, pose: PathMotion, last: np.ndarray | None) -> np.ndarray:
    branches = find_branches(arm, pose.R, pose.p)
    if not len(branches):
        return np.full(arm.n, np.nan)
    return branches.nearest(np.zeros(arm.n) if last is None else last)


def follow_table(
    arm: SerialArm,
    path: CartesianPath,
    guess: np.ndarray,
    knots: np.ndarray,
    pieces: np.ndarray,
    posture: Posture | None = None,
) -> Trace:
    """The joints at new knots, corrected from good guesses (m, n), all at once."""
    wanted = pose_at(path, knots, pieces)
    if posture is not None:
        guess = posture.settle(guess, wanted.R, wanted.p, knots / path.length)
    position = refine(arm, guess, wanted.R, wanted.p)
    return examine(arm, position, knots, pieces, wanted, ())


def examine(
    arm: SerialArm,
    position: np.ndarray,
    knots: np.ndarray,
    pieces: np.ndarray,
    wanted: PathMotion,
    jumps: tuple[float, ...],
) -> Trace:
    """Derivatives and nearness to singularities at the knots in reach."""
    rows = np.flatnonzero(np.isfinite(position[:, 0]))
    slope, bend, idle = (np.full((len(knots), arm.n), np.nan) for _ in range(3))
    closeness, sense = np.full(len(knots), np.nan), np.full(len(knots), np.nan)
    if rows.size:
        there = PathMotion(*(column[rows] for column in wanted))
        slope[rows], bend[rows] = differentiate(arm, position[rows], there)
        scaled = arm.select(there.R, arm.scaled(jacobian(arm.place(position[rows]))))
        _, values, turned = np.linalg.svd(scaled)
        closeness[rows], idle[rows] = values[:, arm.rank - 1], turned[:, arm.rank - 1]
        square = scaled.shape[-1] == scaled.shape[-2] == arm.rank
        sense[rows] = np.sign(np.linalg.det(scaled)) if square else 1.0
    trace = Trace(knots, pieces, position, slope, bend, closeness, sense, idle, jumps)
    return _with_null_motion(arm, trace, wanted) if arm.redundant and trace.reached.all() and not jumps else trace


def _with_null_motion(arm: SerialArm, trace: Trace, wanted: PathMotion) -> Trace:
    """The same with the derivatives' part in the null space, from splines through the knots of each piece.

        q' = J^+ twist + N N^T spline',   q'' = J^+ (twist' - J' q') + N N^T spline''

    The tool follows the path exactly whatever stands in the null space. Where two pieces meet q' is one.
    """
    # Loaded where it is used: it takes as long as a fifth of all that a run needs.
    from scipy.interpolate import make_interp_spline

    first, second = np.empty_like(trace.slope), np.empty_like(trace.slope)
    for piece in np.unique(trace.pieces):
        rows = np.flatnonzero(trace.pieces == piece)
        spline = make_interp_spline(trace.knots[rows], trace.position[rows], k=min(5, len(rows) - 1))
        first[rows], second[rows] = spline(trace.knots[rows], 1), spline(trace.knots[rows], 2)
    twice = np.flatnonzero(np.diff(trace.knots) == 0)
    first[twice] = first[twice + 1] = 0.5 * (first[twice] + first[twice + 1])
    placed = arm.place(trace.position)
    J = arm.select(wanted.R, jacobian(placed) * arm.scale)
    own = np.eye(arm.n) - np.linalg.pinv(J, rcond=SINGULAR_SHARE) @ J
    slope = trace.slope + arm.scale * (own @ (first / arm.scale)[..., None])[..., 0]
    bend = _solve(arm, placed, wanted, _left_of_bend(arm, placed, wanted, slope))
    bend = bend + arm.scale * (own @ (second / arm.scale)[..., None])[..., 0]
    return replace(trace, slope=slope, bend=bend)
