"""Path planning: the joints' motion along a path, checked against limits and singularities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, bisect, frozen
from robodyn.description.laws.speed_profile import travel
from robodyn.description.model import GROUND, Bounds, Joint, Mechanism, check_finite, check_vector

from .arm import DIRECTIONS, PlacedArm, SerialArm, build_arm, jacobian, jacobian_rate
from .cartesian import CartesianPath, PathMotion
from .inverse import (
    SINGULAR_SHARE,
    approach,
    find_branches,
    limit_step,
    pose_error,
    refine,
    solve_rates,
)
from .reference import JointPath, JointTable, PathRequest, make_table

# --------------------------------------------------------------------------------------------------
# Redundancy resolution: which of the joint positions that meet a pose does an arm with joints to spare take?
#
# Along a path that starts at y0, at the fraction f of the way, the positions that meet the pose minimise
#
#     g = sum w_i (y_i - y0_i - h (p_i - y0_i))^2 / 2 + h (sum x_i^8 / 8 - kappa log m)
#
# y: joint positions over their scale, p: preferred ones, w: weights, x: positions over half their range from its
# middle, m: the manipulability (product of the Jacobian's singular values), h = f^3 (10 - 15 f + 6 f^2). They are a
# function of the path alone, smooth where the minimum is one: stationary on the null space, N^T grad g = 0, found by
# Newton's method.


MANIPULABILITY = "manipulability"
FAINT, WEAK = 1e-6, 1e-2
"""Weight of joints that are not preferred, beside preferred ones and beside the manipulability."""
SHARE = 0.1
"""Of the manipulability where nothing is preferred."""
POWER = 8
ROUNDS, DIFFERENCE, STATIONARY, LEAST = 60, 1e-5, 1e-11, 1e-3
"""Newton steps; step of differences; gradient at the minimum; least curvature that is believed, of the largest."""


@frozen(eq=False)
class PosturePreference:
    """The aim of an arm's spare joints.

    Attributes:
        start: y0, (n,); preferred: p, (n,); weights: w, (n,); share: kappa.
    """

    arm: SerialArm
    start: Array
    preferred: Array
    weights: Array
    share: float

    def settle(self, q: Array, R: Array, p: Array, fraction: Any) -> Array:
        """Joint positions (..., n) that meet poses and minimise g, from near ones; nan where they are not found."""
        arm, y = self.arm, q / self.arm.scale
        for _ in range(ROUNDS):
            # Towards the pose by the shortest step, and along the null space towards the minimum of g.
            error, J = pose_error(arm, arm.scale * y, R, p)
            inverse = np.linalg.pinv(J, rcond=SINGULAR_SHARE)
            step = (inverse @ error[..., None])[..., 0]
            slide = self._slide(y, R, fraction, J, inverse, step)
            y = y + limit_step(step + slide, 0.3)
            if np.max(np.abs(step), initial=0.0) < 1e-14 and np.max(np.abs(slide), initial=0.0) < STATIONARY:
                break
        positions: Array = arm.scale * y
        return positions

    def _slide(self, y: Array, R: Array, fraction: Any, J: Array, inverse: Array, step: Array) -> Array:
        """Newton's step in the null space of J: N^T (H - K) (step + N alpha) = -N^T grad g, K = d(J^T lam)."""
        gradient = self._gradient(y, R, fraction)
        # Multipliers of the pose, J^T lam = grad g at a minimum: its constraint is curved too.
        lam = (np.swapaxes(inverse, -1, -2) @ gradient[..., None])[..., 0]
        # Second derivatives of g, by differences of its gradient: they guide the steps, not the result.
        n = self.arm.n
        units = (DIFFERENCE * np.eye(n)).reshape(n, *(1,) * (y.ndim - 1), n)
        ahead, behind = (self._gradient(y + side * units, R, fraction) for side in (1, -1))
        curvature = np.moveaxis((ahead - behind) / (2 * DIFFERENCE), 0, -1) - self._turning(y, R, lam)
        # Columns of N span the null space: the right singular vectors that have no singular value.
        N = np.swapaxes(np.linalg.svd(J)[2], -1, -2)[..., self.arm.rank :]
        N_T = np.swapaxes(N, -1, -2)
        right = -(N_T @ (gradient + (curvature @ step[..., None])[..., 0])[..., None])
        reduced = N_T @ curvature @ N
        values, vectors = np.linalg.eigh(0.5 * (reduced + np.swapaxes(reduced, -1, -2)))
        # Downhill also where it is no minimum yet.
        floor = LEAST * np.maximum(np.max(np.abs(values), axis=-1, keepdims=True), 1e-300)
        sizes = np.maximum(np.abs(values), floor)
        alpha = vectors @ ((np.swapaxes(vectors, -1, -2) @ right) / sizes[..., None])
        return np.asarray((N @ alpha)[..., 0])

    def _gradient(self, y: Array, R: Array, fraction: Any) -> Array:
        arm, f = self.arm, np.asarray(fraction, float)[..., None]
        h = f**3 * (10 - 15 * f + 6 * f**2)
        preferred = self.start + h * (self.preferred - self.start)
        repelled = self._limits(y)
        if self.share:
            # Gradient of log m: d log m / dy_i = trace(J^+ dJ/dy_i).
            placed = self.arm.place(self.arm.scale * y)
            J = self.arm.select(R, self.arm.scaled(jacobian(placed)))
            inverse = np.linalg.pinv(J, rcond=SINGULAR_SHARE)
            repelled = repelled - self.share * np.asarray(np.einsum("...ij,k...ji->...k", inverse, self._slopes(y, R)))
        return np.asarray(self.weights * (y - preferred / arm.scale) + h * repelled)

    def _limits(self, y: Array) -> Array:
        """Gradient of sum x^8 / 8; joints without both limits have none."""
        arm = self.arm
        bound = np.isfinite(arm.upper) & np.isfinite(arm.lower)
        lower, upper = (np.where(bound, limit, side) / arm.scale for limit, side in ((arm.lower, -1), (arm.upper, 1)))
        half = 0.5 * (upper - lower)
        return np.where(bound, ((y - 0.5 * (lower + upper)) / half) ** (POWER - 1) / half, 0.0)

    def _slopes(self, y: Array, R: Array) -> Array:
        """dJ / dy_k, selected and scaled, (n, ..., 6, n)."""
        arm = self.arm
        units = np.diag(arm.scale).reshape(arm.n, *(1,) * (y.ndim - 1), arm.n)
        slopes = jacobian_rate(arm.place(arm.scale * y), np.broadcast_to(units, (arm.n, *y.shape)))
        return arm.select(R, arm.scaled(slopes))

    def _turning(self, y: Array, R: Array, lam: Array) -> Array:
        """Columns (dJ / dy_k)^T lam, (..., n, n)."""
        return np.asarray(np.einsum("k...ji,...j->...ik", self._slopes(y, R), lam))


def choose_posture(arm: SerialArm, start: Array, prefer: Any) -> PosturePreference | None:
    """The aim of the spare joints, None for an arm without.

    Args:
        prefer: positions by joint that are to be kept or reached, "manipulability", or None to stay near the start.
    """
    if not arm.redundant:
        return None
    if prefer is None:
        return PosturePreference(arm, start, start, np.ones(arm.n), SHARE)
    if prefer == MANIPULABILITY:
        return PosturePreference(arm, start, start, np.full(arm.n, WEAK), 1.0)
    named = np.array([name in prefer for name in arm.joints])
    preferred = np.array([prefer.get(name, q) for name, q in zip(arm.joints, start, strict=True)], float)
    return PosturePreference(arm, start, preferred, np.where(named, 1.0, FAINT), 0.0)


# --------------------------------------------------------------------------------------------------
# Checks of a planned path: reach, joint limits, singularities. Where along the path, and which joint?


N_JOINTS = 6
WRIST_SHARE = 0.3
"""Where the joints 1 to 3 have less of the rates that do not move the tool, it is the wrist that is singular."""


def check_reach(flaws: FlawList, arm: SerialArm, path: CartesianPath, trace: JointTrace) -> None:
    """Report every stretch of the path that the tool cannot follow, its ends to a tenth of a millimetre."""
    for first, last in _stretches(~trace.reached):
        begin = trace.knots[first] if first == 0 else _edge(arm, path, trace.knots[first - 1], trace.knots[first])
        inside = last == len(trace.knots) - 1
        end = trace.knots[last] if inside else _edge(arm, path, trace.knots[last + 1], trace.knots[last])
        remedy = "no joint positions bring the tool there: move the path nearer, or rotate the tool"
        flaws.add("", f"the path is out of reach {_where(begin, end)}", remedy)


def _edge(arm: SerialArm, path: CartesianPath, reached: float, missed: float) -> float:
    """Way at which the reach ends, between a way in reach and one out of it [m]."""

    def is_missed(way: float) -> bool:
        pose = path.at(way)
        return not len(find_branches(arm, pose.R[0], pose.p[0]))

    return float(bisect(is_missed, reached, missed, within=1e-4)[1])


def check_limits(flaws: FlawList, joints: Sequence[Joint], ways: Array, positions: Array) -> None:
    """Report every stretch on which a joint would have to leave its range, and by how much.

    Args:
        ways: [m], (n,); positions: of the joints there, nan where out of reach, (n, n_joints).
    """
    for column, joint in enumerate(joints):
        q = positions[:, column]
        for word, bound in (("upper", joint.upper_limit), ("lower", joint.lower_limit)):
            if bound is None:
                continue
            excess = q - bound if word == "upper" else bound - q
            for first, last in _stretches(excess > 0):
                most = np.nanmax(excess[first : last + 1])
                where = _where(ways[first], ways[last])
                limit = f"exceeds its {word} limit of {_shown(joint, bound)}"
                what = f"{limit} by up to {_shown(joint, most, digits=3)} {where}"
                flaws.add(f"joints.{joint.name}", what, "another branch may keep within it, or move the path")


def check_singularities(flaws: FlawList, trace: JointTrace, arm: SerialArm, tolerance: float) -> None:
    """Report where the arm comes near a singularity, which one, and which joint would race."""
    joints, hinges = arm.joints, arm.n == N_JOINTS and bool(np.all(arm.periodic))
    near = trace.closeness < tolerance
    remedy = "rotate the tool, move the path, or take another branch"
    for first, last in _stretches(near):
        worst = first + int(np.nanargmin(trace.closeness[first : last + 1]))
        kind, joint = _singularity(trace.idle[worst], hinges)
        where = _where(trace.knots[first], trace.knots[last])
        value = f"smallest singular value {trace.closeness[worst]:.2g}, allowed {tolerance:g}"
        flaws.add(f"joints.{joints[joint]}", f"comes too near the {kind} singularity {where} ({value})", remedy)
    for k in _crossings(trace):
        if not near[k : k + 2].any():
            kind, joint = _singularity(trace.idle[k], hinges)
            begin, end = 1e3 * trace.knots[k : k + 2]
            what = f"reaches the {kind} singularity between {begin:.1f} and {end:.1f} mm"
            flaws.add(f"joints.{joints[joint]}", f"{what}, where its branch ends", remedy)


def _crossings(trace: JointTrace) -> Array:
    """Knots behind which, before the next one, the arm changes its branch."""
    lost = np.searchsorted(trace.knots, trace.jumps) - 1
    return np.union1d(lost.astype(int), np.flatnonzero(trace.sense[:-1] * trace.sense[1:] < 0))


def _singularity(idle: Array, hinges: bool) -> tuple[str, int]:
    """Its name in an arm of six hinges, else the arm's; and the joint that would race."""
    return singularity(idle) if hinges else ("arm's", int(np.argmax(np.abs(idle))))


def singularity(idle: Array) -> tuple[str, int]:
    """Which part of the arm is singular, and its fastest joint, from the unit joint rates that do not move the tool.

    Only the wrist's joints: wrist; else the shoulder where joint 1 turns more than joints 2 and 3 (the wrist's
    center near the first axis), the elbow otherwise (stretched or folded).
    """
    rates = np.abs(idle)
    if np.linalg.norm(rates[:3]) < WRIST_SHARE:
        return "wrist", 3 + int(np.argmax(rates[3:]))
    if rates[0] > np.max(rates[1:3]):
        return "shoulder", 0
    return "elbow", 1 + int(np.argmax(rates[1:3]))


def check_motion(flaws: FlawList, path: JointPath, joints: Sequence[Joint], profile: Mapping[str, float]) -> None:
    """Report joints that must move faster than they can to keep the speed along the path, predicted from the table."""
    phases = path.phases(**profile)
    # Evenly in time, and on both sides of each instant at which the acceleration along the path jumps.
    breaks = [float(phase.begin) for phase in phases]
    times = np.unique(np.concatenate([np.linspace(0.0, breaks[-1], 4001), breaks, np.nextafter(breaks, -np.inf)]))
    _, v, a = path.motion(times, **profile)
    ways = travel(times, phases)[0]
    for column, joint in enumerate(joints):
        pairs = (("speed", v, joint.speed_limit, "/s"), ("acceleration", a, joint.acceleration_limit, "/s^2"))
        for word, values, bound, per in pairs:
            size = np.abs(values[:, column])
            needed = float(np.max(size))
            # The first place of several that differ by rounding alone.
            largest = int(np.argmax(size >= (1 - 1e-9) * needed))
            if bound is not None and needed > bound:
                what = f"must reach {_shown(joint, needed, per)} at {1e3 * ways[largest]:.1f} mm"
                remedy = "go slower along the path" if word == "speed" else "lower speed or acceleration of the path"
                flaws.add(f"joints.{joint.name}", f"{what}, its {word} limit is {_shown(joint, bound, per)}", remedy)


def _shown(joint: Joint, value: float, per: str = "", digits: int = 4) -> str:
    """A position of a joint, or its rate, in degrees or metres."""
    return f"{np.degrees(value) if joint.rotates else value:.{digits}g} {'deg' if joint.rotates else 'm'}{per}"


def _where(begin: float, end: float) -> str:
    """A stretch in millimetres along the path."""
    if abs(end - begin) < 5e-5:
        return f"at {1e3 * begin:.1f} mm"
    return f"from {1e3 * begin:.1f} to {1e3 * end:.1f} mm"


def _stretches(mask: Array) -> Iterator[tuple[int, int]]:
    """First and last index of every run of true entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    yield from ((int(first), int(last) - 1) for first, last in zip(edges[::2], edges[1::2], strict=True))


# --------------------------------------------------------------------------------------------------
# Branch tracking: how do the joints follow a path on one branch of the inverse kinematics, and where can they not?


JUMP = 0.3
"""Largest miss of a prediction that still counts as the same branch [rad]."""
MOST_JUMPS = 8
"""Losses of a branch after which shorter steps are not tried any more: the path is refused as it is."""


@frozen(eq=False)
class JointTrace:
    """The joints at knots along a path, nan where the pose is out of reach.

    Attributes:
        knots: [m], (m,), twice where pieces meet; pieces: the piece of each, (m,).
        position, slope, bend: q [rad or m], dq/ds, d2q/ds2, (m, n).
        closeness: smallest singular value of the scaled Jacobian, (m,); sense: sign of its determinant, (m,).
        idle: the joint rates of that singular value, which hardly move the tool, unit length, (m, n).
        jumps: ways [m] at which the branch was lost and another one taken.
    """

    knots: Array
    pieces: Array
    position: Array
    slope: Array
    bend: Array
    closeness: Array
    sense: Array
    idle: Array
    jumps: tuple[float, ...]

    @property
    def reached(self) -> Array:
        return np.isfinite(self.position[:, 0])


def spread_knots(path: CartesianPath, spacing: float) -> tuple[Array, Array]:
    """Knots evenly spaced within each piece, both ends of each included, and the piece of each knot."""
    knots, pieces = [], []
    for k, (start, end) in enumerate(zip(path.ends[:-1], path.ends[1:], strict=True)):
        count = max(int(np.ceil((end - start) / spacing)), 2)
        knots.append(np.linspace(start, end, count + 1))
        pieces.append(np.full(count + 1, k))
    return np.concatenate(knots), np.concatenate(pieces)


def pose_at(path: CartesianPath, knots: Array, pieces: Array) -> PathMotion:
    """The path at knots, each taken on its own piece."""
    parts = [path.at(knots[pieces == k], int(k)) for k in np.unique(pieces)]
    return PathMotion(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def differentiate(arm: SerialArm, q: Array, tool: PathMotion) -> tuple[Array, Array]:
    """Exact derivatives by s of joint positions (m, n) that follow the path, the shortest of a redundant arm.

        J q' = twist,   J q'' = twist' - J' q'

    Where J is singular they are infinite or, as here, what least squares gives; such places are refused later.
    """
    placed = arm.place(q)
    slope = _solve(arm, placed, tool, tool.twist)
    return slope, _solve(arm, placed, tool, _left_of_bend(arm, placed, tool, slope))


def _solve(arm: SerialArm, placed: PlacedArm, tool: PathMotion, motion: Array) -> Array:
    """Joint rates that make a motion of the tool, as far as it counts, (m, n)."""
    J = arm.select(tool.R, jacobian(placed) * arm.scale)
    return arm.scale * solve_rates(J, arm.select(tool.R, motion[..., None])[..., 0])


def _left_of_bend(arm: SerialArm, placed: PlacedArm, tool: PathMotion, slope: Array) -> Array:
    """twist' - J' q'; where a rotation about an axis of the tool is free, what the turning of that axis adds.

    S R^T (J q' - twist) = 0 holds along the path, S the rows that count: R^T' adds omega x (J q' - twist).
    """
    left = tool.twist_rate - (jacobian_rate(placed, slope) @ slope[..., None])[..., 0]
    if not arm.whole and any(arm.kept[:3]):
        free = (jacobian(placed) @ slope[..., None])[..., 0] - tool.twist
        left = np.concatenate([left[..., :3] + np.cross(tool.twist[..., :3], free[..., :3]), left[..., 3:]], axis=-1)
    return left


def follow(
    arm: SerialArm,
    path: CartesianPath,
    start: Array | None,
    spacing: float,
    posture: PosturePreference | None = None,
) -> JointTrace:
    """The joints from knot to knot on one branch.

    Where that fails, the branch nearest to the last position is taken, if there is one.
    """
    knots, pieces = spread_knots(path, spacing)
    tool = pose_at(path, knots, pieces)
    position = np.full((len(knots), arm.n), np.nan)
    jumps: list[float] = []
    last = start
    for k, way in enumerate(knots):
        q = np.full(arm.n, np.nan)
        # From the knot before, by prediction and correction, in shorter steps where these disagree ...
        if k and np.isfinite(position[k - 1, 0]):
            q = _advance(arm, position[k - 1], _row(tool, k - 1), _row(tool, k), way - knots[k - 1])
            if not np.isfinite(q[0]) and len(jumps) < MOST_JUMPS:
                q = _advance_in_parts(arm, path, int(pieces[k]), position[k - 1], knots[k - 1], way)
        elif k == 0 and arm.redundant and start is not None:
            q = refine(arm, start, tool.R[0], tool.p[0])
        # ... or else by the branch that is nearest to where the arm was last: the one before is lost there.
        if not np.isfinite(q[0]):
            q = _nearest_branch(arm, _row(tool, k), last)
            if k and np.isfinite(q[0]) and np.isfinite(position[k - 1, 0]):
                jumps.append(float(way))
        # Spare joints take their posture; the tool stays where it is.
        if posture is not None and np.isfinite(q[0]):
            q = refine(arm, posture.settle(q, tool.R[k], tool.p[k], way / path.length), tool.R[k], tool.p[k])
        position[k] = q
        last = q if np.isfinite(q[0]) else last
    return examine(arm, position, knots, pieces, tool, tuple(jumps))


def _row(motion: PathMotion, k: int) -> PathMotion:
    return PathMotion(*(column[k] for column in motion))


def _advance(arm: SerialArm, q: Array, here: PathMotion, there: PathMotion, step: float) -> Array:
    """One step along the path: predicted by two derivatives, corrected by Newton's method; nan where they disagree.

    q + step q' + step^2/2 q''
    """
    slope, bend = differentiate(arm, q, here)
    guess = q + step * (slope + 0.5 * step * bend)
    solution = refine(arm, guess, there.R, there.p)
    return solution if np.max(np.abs(solution - guess) / arm.scale) < JUMP else np.full(arm.n, np.nan)


def _advance_in_parts(
    arm: SerialArm, path: CartesianPath, piece: int, q: Array, begin: float, end: float, halvings: int = 6
) -> Array:
    """Advance in halved steps, as often as it helps: joints may turn far on a short way near a singularity."""
    motion = path.at([begin, end], piece)
    whole = _advance(arm, q, _row(motion, 0), _row(motion, 1), end - begin)
    if np.isfinite(whole[0]) or not halvings:
        return whole
    middle = 0.5 * (begin + end)
    half = _advance_in_parts(arm, path, piece, q, begin, middle, halvings - 1)
    if not np.isfinite(half[0]):
        return half
    return _advance_in_parts(arm, path, piece, half, middle, end, halvings - 1)


def _nearest_branch(arm: SerialArm, pose: PathMotion, last: Array | None) -> Array:
    branches = find_branches(arm, pose.R, pose.p)
    if not len(branches):
        return np.full(arm.n, np.nan)
    return branches.nearest(np.zeros(arm.n) if last is None else last)


def follow_table(
    arm: SerialArm,
    path: CartesianPath,
    guess: Array,
    knots: Array,
    pieces: Array,
    posture: PosturePreference | None,
) -> JointTrace:
    """The joints at new knots, corrected from good guesses (m, n), all at once."""
    tool = pose_at(path, knots, pieces)
    if posture is not None:
        guess = posture.settle(guess, tool.R, tool.p, knots / path.length)
    position = refine(arm, guess, tool.R, tool.p)
    return examine(arm, position, knots, pieces, tool, ())


def examine(
    arm: SerialArm,
    position: Array,
    knots: Array,
    pieces: Array,
    tool: PathMotion,
    jumps: tuple[float, ...],
) -> JointTrace:
    """Derivatives and nearness to singularities at the knots in reach."""
    rows = np.flatnonzero(np.isfinite(position[:, 0]))
    slope, bend, idle = (np.full((len(knots), arm.n), np.nan) for _ in range(3))
    closeness, sense = np.full(len(knots), np.nan), np.full(len(knots), np.nan)
    if rows.size:
        there = PathMotion(*(column[rows] for column in tool))
        slope[rows], bend[rows] = differentiate(arm, position[rows], there)
        # J = U S V^T: the smallest singular value says how near a singularity is, its row of V^T which joints race.
        scaled = arm.select(there.R, arm.scaled(jacobian(arm.place(position[rows]))))
        _, values, turned = np.linalg.svd(scaled)
        closeness[rows], idle[rows] = values[:, arm.rank - 1], turned[:, arm.rank - 1]
        square = scaled.shape[-1] == scaled.shape[-2] == arm.rank
        sense[rows] = np.sign(np.linalg.det(scaled)) if square else 1.0
    trace = JointTrace(knots, pieces, position, slope, bend, closeness, sense, idle, jumps)
    return _with_null_motion(arm, trace, tool) if arm.redundant and trace.reached.all() and not jumps else trace


def _with_null_motion(arm: SerialArm, trace: JointTrace, tool: PathMotion) -> JointTrace:
    """The knots with the derivatives' part in the null space, from splines through the knots of each piece.

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
    J = arm.select(tool.R, jacobian(placed) * arm.scale)
    own = np.eye(arm.n) - np.linalg.pinv(J, rcond=SINGULAR_SHARE) @ J
    slope = trace.slope + arm.scale * (own @ (first / arm.scale)[..., None])[..., 0]
    bend = _solve(arm, placed, tool, _left_of_bend(arm, placed, tool, slope))
    bend = bend + arm.scale * (own @ (second / arm.scale)[..., None])[..., 0]
    return replace(trace, slope=slope, bend=bend)


# --------------------------------------------------------------------------------------------------
# Path planning: how do the joints have to move so that the tool follows a path, and can they?


SINGULAR = 0.02
"""Smallest singular value of the Jacobian (lengths over the reach) still allowed: this project's own choice, about
1.6 degrees from the straight wrist of a common arm."""
TOLERANCE = 1e-11
"""Largest error of the interpolation between knots [rad] where no spacing is given."""
COARSE, MOST_KNOTS, SHOWN = 100, 2000, 4001
"""Intervals of the first trace, most of a refined one, and places at which limits are checked."""
MOST_SPACED = 10_000
"""Knots at a spacing that is given."""


def plan_path(
    mechanism: Mechanism,
    point: str,
    path: CartesianPath,
    *,
    near: Any = None,
    branch: int | None = None,
    free: Sequence[str] = (),
    prefer: Any = None,
    speed: float | None = None,
    acceleration: float | None = None,
    jerk: float | None = None,
    spacing: float | None = None,
    singular: float = SINGULAR,
) -> JointPath:
    """Joint positions along a path with exact derivatives, by inverse kinematics on one branch, within joints' limits.

    Args:
        point: of the mechanism; its place is the tool's, its body's axes are the tool's.
        near: joint positions [rad or m] near which the branch is chosen at the start, (n,) or by joint; the middle
            of each joint's limits, or 0, by default.
        branch: number of the branch at the start instead, as `find_branches` counts.
        free: motions of the tool that are left free: "x", "y", "z" in world axes, one of "rx", "ry", "rz" about
            the tool's own axes, or all three; a path without orientation leaves all three free.
        prefer: what an arm with joints to spare does with them: positions by joint, "manipulability", or None to stay
            near the start; limits are kept away from in any case.
        speed, acceleration, jerk: along the path; predict what the joints need of theirs.
        spacing: of the knots [m]; by default what keeps the interpolation to 1e-11 rad.
        singular: smallest singular value of the Jacobian that is allowed, lengths over the arm's reach.

    Raises:
        ModelError: with every place where the path leaves the reach, a joint its range, or the arm comes near a
            singularity; and every joint that would have to be too fast.
    """
    flaws = FlawList()

    # What is asked for, as far as it can be judged without a motion.
    arm = _arm_for(flaws, build_arm(mechanism, point), path, free)
    joints = arm_joints(mechanism, arm)
    profile = _profile(flaws, speed, acceleration, jerk)
    near = _positions(flaws, "near", near, arm)
    _check_prefer(flaws, arm, prefer)
    _check_numbers(flaws, near, branch, spacing, singular)
    if spacing and not flaws.found and path.length > MOST_SPACED * spacing:
        what = f"{spacing:g} m on a path of {path.length:g} m are {path.length / spacing:.3g} knots"
        flaws.add("spacing", what, f"at most {MOST_SPACED} are placed; leave it out to have as many as are needed")
    flaws.raise_if_any(f"path of '{point}'")

    # One branch of the inverse kinematics, from knot to knot; where it holds, at as many knots as the table needs.
    start = _start(arm, path, _wished(joints) if near is None else near, branch)
    posture = choose_posture(arm, start, prefer)
    trace = follow(arm, path, start, spacing or path.length / COARSE, posture)
    if trace.reached.all() and not trace.jumps and spacing is None:
        trace = _refined(arm, path, trace, posture)

    # A path that is not followed to its end is refused with all that is wrong on the way so far.
    check_reach(flaws, arm, path, trace)
    check_singularities(flaws, trace, arm, singular)
    if trace.jumps or not trace.reached.all():
        check_limits(flaws, joints, trace.knots, trace.position)
        flaws.raise_if_any(f"path of '{point}'")

    # The table of the joints, checked between its knots too: against their ranges, and against their speeds where the
    # speed along the path is known.
    chosen = None if near is None else tuple(float(q) for q in near)
    names = (free,) if isinstance(free, str) else tuple(free)
    request = PathRequest(point, path, chosen, branch, names, prefer, singular, spacing)
    joint_path = replace(_joint_path(arm, point, path, trace), request=request)
    ways = np.linspace(0.0, path.length, SHOWN)
    check_limits(flaws, joints, ways, joint_path.at(ways)[0])
    if profile is not None:
        check_motion(flaws, joint_path, joints, profile)
    flaws.raise_if_any(f"path of '{point}'")
    return joint_path


def arm_joints(mechanism: Mechanism, arm: SerialArm) -> list[Joint]:
    """The joints of an arm's motions, with their limits; a motion of a joint with several has none."""
    own = {joint.name: joint for joint in mechanism.joints}
    kinds = dict(zip(arm.joints, arm.units, strict=True))
    return [
        own.get(name) or Joint(name, "revolute" if kinds[name] == "rad" else "prismatic", GROUND, name)
        for name in arm.joints
    ]


def _arm_for(flaws: FlawList, arm: SerialArm, path: CartesianPath, free: Any) -> SerialArm:
    """The arm for the motions that count."""
    names = {free} if isinstance(free, str) else set(free)
    for name in sorted(names - set(DIRECTIONS)):
        flaws.add("free", f"'{name}' is not a motion of the tool", f"{', '.join(DIRECTIONS)}")
    turns = set(DIRECTIONS[:3])
    if path.orientation is None:
        names |= turns
    if len(names & turns) == 2:
        what = "two of three rotations are free, and what is left of the third is not defined"
        flaws.add("free", what, "free one or all three; an orientation that the arm can keep needs none")
    if names >= set(DIRECTIONS):
        flaws.add("free", "leaves nothing to follow", "free fewer")
    return arm if flaws.found else arm.leave_free(names)


def _positions(flaws: FlawList, key: str, positions: Any, arm: SerialArm) -> Any:
    """Joint positions as a list, from one or from values by joint."""
    if positions is None or not isinstance(positions, Mapping):
        if positions is not None:
            check_vector(flaws, key, positions, arm.n)
        return positions
    flaws.add_unknown(positions, arm.joints, "is not a joint of the arm", key)
    return [positions.get(name, 0.0) for name in arm.joints]


def _check_prefer(flaws: FlawList, arm: SerialArm, prefer: Any) -> None:
    if prefer is None or flaws.found:
        return
    if not arm.redundant:
        what = f"has no effect: all {arm.n} joints are needed for the {arm.rank} motions of the tool that count"
        flaws.add("prefer", what, "leave it out, or free motions of the tool")
    elif isinstance(prefer, Mapping):
        _positions(flaws, "prefer", prefer, arm)
        for name, value in prefer.items():
            check_finite(flaws, f"prefer.{name}", value)
    elif prefer != MANIPULABILITY:
        flaws.add("prefer", f"is {prefer!r}", f'positions by joint, or "{MANIPULABILITY}"')


def _profile(flaws: FlawList, speed: Any, acceleration: Any, jerk: Any) -> dict[str, float] | None:
    profile = {"speed": speed, "acceleration": acceleration, "jerk": jerk}
    for key, value in profile.items():
        if value is not None:
            Bounds(positive=True, infinite=key == "jerk").check(flaws, key, value, "")
    if all(value is None for value in profile.values()):
        return None
    for key in ("speed", "acceleration"):
        if profile[key] is None:
            flaws.add(key, "is missing", "speed and acceleration go together")
    return profile | {"jerk": np.inf if jerk is None else jerk}


def _check_numbers(flaws: FlawList, near: Any, branch: Any, spacing: Any, singular: Any) -> None:
    if near is not None and branch is not None:
        flaws.add("branch", "is given beside near", "give one of them")
    if spacing is not None:
        Bounds(positive=True).check(flaws, "spacing", spacing, "m")
    Bounds(non_negative=True).check(flaws, "singular", singular, "")


def _wished(joints: Sequence[Joint]) -> Array:
    """The middle of each joint's range, 0 where it has none."""
    ranges = [(joint.lower_limit, joint.upper_limit) for joint in joints]
    return np.array([0.0 if lower is None or upper is None else 0.5 * (lower + upper) for lower, upper in ranges])


def _start(arm: SerialArm, path: CartesianPath, near: Any, branch: int | None) -> Array:
    """Joint positions at the beginning; those wished for where it is out of reach, which is reported later."""
    pose = path.at(0.0)
    if arm.redundant and branch is None:
        solution = approach(arm, np.asarray(near, float), pose.R[0], pose.p[0])
        if np.isfinite(solution[0]):
            return solution
    branches = find_branches(arm, pose.R[0], pose.p[0])
    if not len(branches):
        return np.asarray(near, float)
    return branches.nearest(near) if branch is None else branches.select(branch)


def _refined(arm: SerialArm, path: CartesianPath, trace: JointTrace, posture: PosturePreference | None) -> JointTrace:
    """The path at as many knots as the interpolation needs, closer together where it needs them."""
    for _ in range(4):
        errors = _interpolation_errors(arm, path, trace)
        if np.max(errors) <= TOLERANCE or not np.isfinite(errors).all() or len(trace.knots) > MOST_KNOTS:
            break
        knots, pieces = _graded_knots(trace, errors)
        finer = follow_table(arm, path, _table(trace).at(knots)[0], knots, pieces, posture)
        if not finer.reached.all():
            break
        trace = finer
    return trace


def _graded_knots(trace: JointTrace, errors: Array) -> tuple[Array, Array]:
    """New knots so dense that every interval has the same error, which falls with the sixth power of its width."""
    knots, pieces = [], []
    # Intervals to make of each one: error ~ width^6, aimed at 0.3 of the tolerance, not changed too much at once.
    spacing = np.clip((errors / (0.3 * TOLERANCE)) ** (1 / 6), 0.2, 10.0)
    for piece in np.unique(trace.pieces):
        old = trace.knots[trace.pieces == piece]
        begin = int(np.searchsorted(np.flatnonzero(np.diff(trace.knots) > 0), np.argmax(trace.pieces == piece)))
        share = spacing[begin : begin + len(old) - 1]
        # An interval follows its denser neighbour: the error between two middles is not known.
        share = np.maximum(share, np.maximum(np.append(share[1:], 0.0), np.append(0.0, share[:-1])))
        # Even steps in the count of intervals are knots that are dense where many are needed.
        count = np.concatenate([[0.0], np.cumsum(share)])
        even = np.linspace(0.0, count[-1], max(int(np.ceil(count[-1])), 2) + 1)
        knots.append(np.interp(even, count, old))
        pieces.append(np.full(len(even), piece))
    return np.concatenate(knots), np.concatenate(pieces)


def _table(trace: JointTrace) -> JointTable:
    return make_table(trace.knots, trace.position, trace.slope, trace.bend)


def _interpolation_errors(arm: SerialArm, path: CartesianPath, trace: JointTrace) -> Array:
    """Distance between the interpolated joints and exact ones half way between the knots [rad], (n,)."""
    k = np.flatnonzero(np.diff(trace.knots) > 0)
    middles = 0.5 * (trace.knots[k] + trace.knots[k + 1])
    guess = _table(trace).at(middles)[0]
    tool = pose_at(path, middles, trace.pieces[k])
    exact = refine(arm, guess, tool.R, tool.p)
    return np.where(np.isfinite(exact[:, 0]), np.max(np.abs(exact - guess) / arm.scale, axis=1), np.inf)


def _joint_path(arm: SerialArm, point: str, path: CartesianPath, trace: JointTrace) -> JointPath:
    """The table; a joint that moves by no more than the tolerance stands still: its speed has no rounding errors."""
    error = float(np.max(_interpolation_errors(arm, path, trace)))
    still = np.ptp(trace.position, axis=0) <= TOLERANCE * arm.scale
    position = np.where(still, np.round(trace.position[0], 12) + 0.0, trace.position)
    slope, bend = (np.where(still, 0.0, rows) for rows in (trace.slope, trace.bend))
    columns = (trace.knots, position, slope, bend, error, trace.closeness)
    return JointPath(arm.joints, point, *columns, arm.units, path.rests)
