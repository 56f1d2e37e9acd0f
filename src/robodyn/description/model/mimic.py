"""Mimic joints: which constraints and start values follow from joints that follow others?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from robodyn.base.errors import FlawList, nearest
from robodyn.description.model.constraint import LinearConstraint
from robodyn.description.model.joint import Joint, Mimic

CONTRADICTS = 1e-9
"""Difference, absolute and relative, beyond which a given start value contradicts the one that follows."""


def followers(joints: Sequence[Joint]) -> dict[str, Mimic]:
    """Joints that follow another one."""
    return {joint.name: joint.mimic for joint in joints if joint.mimic is not None}


def mimic_constraints(joints: Sequence[Joint]) -> tuple[LinearConstraint, ...]:
    """`follower - ratio leader = offset`, one a follower, each by the name `<joint>.mimic`."""
    return tuple(
        LinearConstraint(f"{name}.mimic", {name: 1.0, mimic.joint: -mimic.ratio}, mimic.offset)
        for name, mimic in followers(joints).items()
    )


def check_mimics(flaws: FlawList, joints: Sequence[Joint]) -> None:
    """Leaders are axes of joints, and no joint follows itself through others."""
    axes = [freedom.name for joint in joints for freedom in joint.freedoms if freedom.is_single]
    fixed = [joint.name for joint in joints if joint.kind == "fixed"]
    found = followers(joints)
    for name, mimic in found.items():
        path = f"joints.{name}.mimic.joint"
        if mimic.joint in fixed:
            flaws.add(
                path, f"'{mimic.joint}' is fixed", "a joint that does not move leads nothing; make this one fixed"
            )
        elif mimic.joint not in axes:
            flaws.add(path, f"there is no moving joint '{mimic.joint}'", nearest(mimic.joint, axes))
        elif name in _leaders(name, found):
            round_trip = " -> ".join([name, *_leaders(name, found)])
            flaws.add(path, f"the joint follows itself: {round_trip}", "let one of them follow nothing")
    if not flaws.found:
        _check_reach(flaws, joints)


def _check_reach(flaws: FlawList, joints: Sequence[Joint]) -> None:
    """What its leader can reach brings a joint to positions within its own limits."""
    ranges = {joint.name: _range(joint) for joint in joints}
    for name, mimic in followers(joints).items():
        # Axes of joints of several motions have no limits.
        least, most = sorted(mimic.ratio * end + mimic.offset for end in ranges.get(mimic.joint, (-math.inf, math.inf)))
        own_least, own_most = ranges[name]
        if least > own_most or most < own_least:
            what = f"'{mimic.joint}' brings the joint to {least:g} to {most:g}, its own limits are {own_least:g} to"
            flaws.add(f"joints.{name}.mimic", f"{what} {own_most:g}", "change ratio, offset or limits of one of both")


def _range(joint: Joint) -> tuple[float, float]:
    lower, upper = joint.limits.get("lower_limit", -math.inf), joint.limits.get("upper_limit", math.inf)
    return lower, upper


def _leaders(name: str, found: Mapping[str, Mimic]) -> list[str]:
    """Whom a joint follows, whom that one follows, and so on until one follows none or comes again."""
    chain: list[str] = []
    while name in found and found[name].joint not in chain:
        name = found[name].joint
        chain.append(name)
    return chain


def follow(initial: Mapping[str, float], joints: Sequence[Joint]) -> dict[str, float]:
    """Start values of all followers, as their leaders' say; given ones of followers lead those that follow them."""
    found = followers(joints)
    starts: dict[str, float] = {}

    def start(name: str, quantity: str) -> float:
        key = f"{name}.{quantity}"
        if name in found and key not in starts:
            mimic = found[name]
            own = mimic.ratio * start(mimic.joint, quantity) + (mimic.offset if quantity == "position" else 0.0)
            starts[key] = own
        return initial.get(key, starts.get(key, 0.0))

    for name in found:
        for quantity in ("position", "velocity"):
            start(name, quantity)
    return starts


def check_starts(flaws: FlawList, initial: Mapping[str, float], joints: Sequence[Joint]) -> None:
    """Given start values of followers must be those that follow from their leaders'."""
    for key, value in follow(initial, joints).items():
        given, name = initial.get(key, value), key.rpartition(".")[0]
        begins = initial.get(f"{name}.mimic.active", 1.0) != 0
        if begins and abs(given - value) > CONTRADICTS * max(1.0, abs(value)):
            leader = followers(joints)[name].joint
            flaws.add(
                f"initial.{key}", f"is {given:g}, but it follows '{leader}' and begins at {value:.9g}", "leave it out"
            )
