"""Checks of a planned path: reach, joint limits, singularities. Where along the path, and which joint?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.numerics import bisect
from robodyn.description.laws.speed_profile import travel
from robodyn.description.model import Joint
from robodyn.description.paths.arm import SerialArm
from robodyn.description.paths.cartesian import CartesianPath
from robodyn.description.paths.inverse import find_branches
from robodyn.description.paths.joint_path import JointPath
from robodyn.description.paths.tracing import Trace

N_JOINTS = 6
WRIST_SHARE = 0.3
"""Where the joints 1 to 3 have less of the rates that do not move the tool, it is the wrist that is singular."""


def check_reach(flaws: FlawList, arm: SerialArm, path: CartesianPath, trace: Trace) -> None:
    """Report every stretch of the path that the tool cannot follow, its ends to a tenth of a millimetre."""
    for first, last in _stretches(~trace.reached):
        begin = trace.knots[first] if first == 0 else _edge(arm, path, trace.knots[first - 1], trace.knots[first])
        inside = last == len(trace.knots) - 1
        end = trace.knots[last] if inside else _edge(arm, path, trace.knots[last + 1], trace.knots[last])
        remedy = "no joint positions bring the tool there: move the path nearer, or turn the tool"
        flaws.add("", f"the path is out of reach {_where(begin, end)}", remedy)


def _edge(arm: SerialArm, path: CartesianPath, reached: float, missed: float) -> float:
    """Way at which the reach ends, between a way in reach and one out of it [m]."""

    def is_missed(way: float) -> bool:
        pose = path.at(way)
        return not len(find_branches(arm, pose.R[0], pose.p[0]))

    return float(bisect(is_missed, reached, missed, within=1e-4)[1])


def check_limits(flaws: FlawList, joints: Sequence[Joint], ways: np.ndarray, positions: np.ndarray) -> None:
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


def check_singularities(flaws: FlawList, trace: Trace, arm: SerialArm, tolerance: float) -> None:
    """Report where the arm comes near a singularity, which one, and which joint would race."""
    joints, hinges = arm.joints, arm.n == N_JOINTS and bool(np.all(arm.periodic))
    near = trace.closeness < tolerance
    remedy = "turn the tool, move the path, or take another branch"
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


def _crossings(trace: Trace) -> np.ndarray:
    """Knots behind which, before the next one, the arm changes its branch."""
    lost = np.searchsorted(trace.knots, trace.jumps) - 1
    return np.union1d(lost.astype(int), np.flatnonzero(trace.sense[:-1] * trace.sense[1:] < 0))


def _singularity(idle: np.ndarray, hinges: bool) -> tuple[str, int]:
    """Its name in an arm of six hinges, else the arm's; and the joint that would race."""
    return singularity(idle) if hinges else ("arm's", int(np.argmax(np.abs(idle))))


def singularity(idle: np.ndarray) -> tuple[str, int]:
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


def _stretches(mask: np.ndarray) -> Iterator[tuple[int, int]]:
    """First and last index of every run of true entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    yield from ((int(first), int(last) - 1) for first, last in zip(edges[::2], edges[1::2], strict=True))
