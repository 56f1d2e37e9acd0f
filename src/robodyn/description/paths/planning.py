"""Path planning: how do the joints have to move so that the tool follows a path, and can they?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.description.model import GROUND, Joint, Mechanism
from robodyn.description.model.kinds import Bounds
from robodyn.description.model.numbers import check_finite, check_vector
from robodyn.description.paths.arm import DIRECTIONS, SerialArm, build_arm
from robodyn.description.paths.cartesian import CartesianPath
from robodyn.description.paths.inverse import find_branches
from robodyn.description.paths.joint_path import JointPath, JointTable, PathRequest, make_table
from robodyn.description.paths.plan_checks import (
    check_limits,
    check_motion,
    check_reach,
    check_singularities,
)
from robodyn.description.paths.posture import MANIPULABILITY, Posture, choose_posture
from robodyn.description.paths.refinement import approach, refine
from robodyn.description.paths.tracing import Trace, follow, follow_table, pose_at

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
        near: joint positions [rad or m] that the branch is chosen near to at the start, (n,) or by joint; the middle
            of each joint's limits, or 0, by default.
        branch: number of the branch at the start instead, as `find_branches` counts.
        free: motions of the tool that may be as they like: "x", "y", "z" in world axes, one of "rx", "ry", "rz" about
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
    start = _start(arm, path, _wished(joints) if near is None else near, branch)
    posture = choose_posture(arm, start, prefer)
    trace = follow(arm, path, start, spacing or path.length / COARSE, posture)
    if trace.reached.all() and not trace.jumps and spacing is None:
        trace = _refined(arm, path, trace, posture)
    check_reach(flaws, arm, path, trace)
    check_singularities(flaws, trace, arm, singular)
    if trace.jumps or not trace.reached.all():
        check_limits(flaws, joints, trace.knots, trace.position)
        flaws.raise_if_any(f"path of '{point}'")
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
        flaws.add("free", f"'{name}' is no motion of the tool", f"{', '.join(DIRECTIONS)}")
    turns = set(DIRECTIONS[:3])
    if path.orientation is None:
        names |= turns
    if len(names & turns) == 2:
        what = "two of three rotations are free, and what is left of the third is not defined"
        flaws.add("free", what, "free one or all three; an orientation that the arm can keep needs none")
    if names >= set(DIRECTIONS):
        flaws.add("free", "leaves nothing to follow", "free fewer")
    return arm if flaws.found else arm.leave_free(names)


def _positions(flaws: FlawList, key: str, given: Any, arm: SerialArm) -> Any:
    """Joint positions as a list, from one or from values by joint."""
    if given is None or not isinstance(given, Mapping):
        if given is not None:
            check_vector(flaws, key, given, arm.n)
        return given
    for name in given:
        if name not in arm.joints:
            flaws.add(f"{key}.{name}", "is no joint of the arm", nearest(str(name), arm.joints))
    return [given.get(name, 0.0) for name in arm.joints]


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
    given = {"speed": speed, "acceleration": acceleration, "jerk": jerk}
    for key, value in given.items():
        if value is not None:
            Bounds(positive=True, infinite=key == "jerk").check(flaws, key, value, "")
    if all(value is None for value in given.values()):
        return None
    for key in ("speed", "acceleration"):
        if given[key] is None:
            flaws.add(key, "is missing", "speed and acceleration go together")
    return given | {"jerk": np.inf if jerk is None else jerk}


def _check_numbers(flaws: FlawList, near: Any, branch: Any, spacing: Any, singular: Any) -> None:
    if near is not None and branch is not None:
        flaws.add("branch", "is given beside near", "give one of them")
    if spacing is not None:
        Bounds(positive=True).check(flaws, "spacing", spacing, "m")
    Bounds(non_negative=True).check(flaws, "singular", singular, "")


def _wished(joints: Sequence[Joint]) -> np.ndarray:
    """The middle of each joint's range, 0 where it has none."""
    ranges = [(joint.lower_limit, joint.upper_limit) for joint in joints]
    return np.array([0.0 if lower is None or upper is None else 0.5 * (lower + upper) for lower, upper in ranges])


def _start(arm: SerialArm, path: CartesianPath, near: Any, branch: int | None) -> np.ndarray:
    """Joint positions at the beginning; those wished for where it is out of reach, which is reported later."""
    pose = path.at(0.0)
    if arm.redundant and branch is None:
        found = approach(arm, np.asarray(near, float), pose.R[0], pose.p[0])
        if np.isfinite(found[0]):
            return found
    branches = find_branches(arm, pose.R[0], pose.p[0])
    if not len(branches):
        return np.asarray(near, float)
    return branches.nearest(near) if branch is None else branches.select(branch)


def _refined(arm: SerialArm, path: CartesianPath, trace: Trace, posture: Posture | None) -> Trace:
    """The same at as many knots as the interpolation needs, closer together where it needs them."""
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


def _graded_knots(trace: Trace, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New knots so dense that every interval has the same error, which falls with the sixth power of its width."""
    knots, pieces = [], []
    wanted = np.clip((errors / (0.3 * TOLERANCE)) ** (1 / 6), 0.2, 10.0)
    for piece in np.unique(trace.pieces):
        old = trace.knots[trace.pieces == piece]
        begin = int(np.searchsorted(np.flatnonzero(np.diff(trace.knots) > 0), np.argmax(trace.pieces == piece)))
        share = wanted[begin : begin + len(old) - 1]
        # An interval follows its denser neighbour: the error between two middles is not known.
        share = np.maximum(share, np.maximum(np.append(share[1:], 0.0), np.append(0.0, share[:-1])))
        count = np.concatenate([[0.0], np.cumsum(share)])
        even = np.linspace(0.0, count[-1], max(int(np.ceil(count[-1])), 2) + 1)
        knots.append(np.interp(even, count, old))
        pieces.append(np.full(len(even), piece))
    return np.concatenate(knots), np.concatenate(pieces)


def _table(trace: Trace) -> JointTable:
    return make_table(trace.knots, trace.position, trace.slope, trace.bend)


def _interpolation_errors(arm: SerialArm, path: CartesianPath, trace: Trace) -> np.ndarray:
    """Distance between the interpolated joints and exact ones half way between the knots [rad], (n,)."""
    k = np.flatnonzero(np.diff(trace.knots) > 0)
    middles = 0.5 * (trace.knots[k] + trace.knots[k + 1])
    guess = _table(trace).at(middles)[0]
    wanted = pose_at(path, middles, trace.pieces[k])
    exact = refine(arm, guess, wanted.R, wanted.p)
    return np.where(np.isfinite(exact[:, 0]), np.max(np.abs(exact - guess) / arm.scale, axis=1), np.inf)


def _joint_path(arm: SerialArm, point: str, path: CartesianPath, trace: Trace) -> JointPath:
    """The table; a joint that moves by no more than the tolerance stands still: its speed has no rounding errors."""
    error = float(np.max(_interpolation_errors(arm, path, trace)))
    still = np.ptp(trace.position, axis=0) <= TOLERANCE * arm.scale
    position = np.where(still, np.round(trace.position[0], 12) + 0.0, trace.position)
    slope, bend = (np.where(still, 0.0, rows) for rows in (trace.slope, trace.bend))
    columns = (trace.knots, position, slope, bend, error, trace.closeness)
    return JointPath(arm.joints, point, *columns, arm.units, path.rests)
