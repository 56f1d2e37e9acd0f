"""Mechanisms: which bodies hang on which joints? A tree of bodies with branches, gravity and named points."""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import cached_property
from typing import Any

from robodyn.base import FlawList, nearest

from .body import Body, FlexibleBody, check_attachments
from .coordinate import check_mimics
from .description import Description
from .fields import children, part_name, vector
from .joint import GROUND, Freedom, Joint, Point
from .kinds import FieldKind
from .numbers import Floats, check_distinct


class Mechanism(Description):
    """A tree of bodies, rigid and flexible, on the ground."""

    NOUN = "mechanism"

    name: str = part_name(key="mechanism", doc="name of the mechanism", absent="the scenario's")
    bodies: tuple[Body, ...] = children(Body, FlexibleBody)
    joints: tuple[Joint, ...] = children(Joint)
    points: tuple[Point, ...] = children(Point, default=())
    gravity: Floats = vector(
        "m/s^2", default=(0.0, 0.0, -9.81), doc="acceleration of free fall in world axes, three numbers"
    )

    def check(self, flaws: FlawList) -> None:
        if flaws.concern("bodies", "joints", "points"):
            return
        check_topology(flaws, [b.name for b in self.bodies], self.joints, self.points)
        if not flaws.found:
            check_attachments(flaws, self.bodies, self.joints, self.points)
            check_mimics(flaws, self.joints)
            check_distinct(flaws, self.numbers())

    def __repr__(self) -> str:
        counts = f"{len(self.bodies)} bodies, {len(self.joints)} joints, {len(self.points)} points"
        return f"<Mechanism {self.name}: {counts}>"

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The elementary motions of all joints, parents before children, then the modes: the order of q and v."""
        return (*(freedom for joint in self.ordered_joints for freedom in joint.freedoms), *self.modes)

    @property
    def axes(self) -> tuple[Freedom, ...]:
        """The motions of joints along or about an axis, which have one position each."""
        return tuple(freedom for freedom in self.freedoms if freedom.axis)

    @property
    def scalar_freedoms(self) -> tuple[Freedom, ...]:
        """The motions that have one position: axes, then modes."""
        return tuple(freedom for freedom in self.freedoms if freedom.is_single)

    @cached_property
    def limited_joints(self) -> tuple[Joint, ...]:
        """The joints that have limits."""
        return tuple(joint for joint in self.ordered_joints if joint.limits)

    @property
    def rigid_stops(self) -> tuple[Joint, ...]:
        """The joints with rigid end stops."""
        return tuple(joint for joint in self.limited_joints if joint.stop_restitution is not None)

    @cached_property
    def flexible_bodies(self) -> tuple[FlexibleBody, ...]:
        """The bodies that deform, in the order of the joints that carry them."""
        carried = [self.body(joint.child) for joint in self.ordered_joints]
        return tuple(body for body in carried if isinstance(body, FlexibleBody))

    @cached_property
    def modes(self) -> tuple[Freedom, ...]:
        """The modal coordinates of all flexible bodies: they follow those of joints in q and v."""
        return tuple(mode for body in self.flexible_bodies for mode in body.modes)

    @cached_property
    def ordered_joints(self) -> tuple[Joint, ...]:
        """All joints, parents before children, otherwise in the order given."""
        reached, ordered, waiting = {GROUND}, [], list(self.joints)
        while waiting:
            joint = next(joint for joint in waiting if joint.parent in reached)
            waiting.remove(joint)
            ordered.append(joint)
            reached.add(joint.child)
        return tuple(ordered)

    def body(self, name: str) -> Body:
        """The body of that name; KeyError where there is none."""
        return self._bodies[name]

    @cached_property
    def _bodies(self) -> dict[str, Body]:
        return {body.name: body for body in self.bodies}

    def _path(self, prefix: str | None, field: str, kind: FieldKind) -> str:
        """Gravity is that of everything: its numbers' names do not have the mechanism's."""
        return super()._path("", field, kind)

    def with_bodies(self, *bodies: Body) -> Mechanism:
        """This mechanism with other bodies in place of those of the same names."""
        return self._with_parts("bodies", bodies)

    def with_joints(self, *joints: Joint) -> Mechanism:
        """This mechanism with other joints in place of those of the same names."""
        return self._with_parts("joints", joints)

    def _with_parts(self, group: str, parts: tuple[Body, ...] | tuple[Joint, ...]) -> Mechanism:
        old = getattr(self, group)
        flaws, names = FlawList(), [part.name for part in old]
        fresh = {part.name: part for part in parts}
        noun = {"bodies": "body", "joints": "joint"}[group]
        flaws.add_unknown(fresh, names, f"there is no such {noun} to replace", group)
        flaws.raise_if_any(f"mechanism '{self.name}'")
        return self.replaced(**{group: tuple(fresh.get(part.name, part) for part in old)})

    def joint(self, name: str) -> Joint:
        """The joint of that name; KeyError where there is none."""
        return self._joints[name]

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    def with_payload(self, payload: Body, on: str, origin: Any = (0.0, 0.0, 0.0)) -> Mechanism:
        """This mechanism carrying one more body, fixed to the body `on` at `origin`."""
        joint = Joint(f"{payload.name}_mount", "fixed", on, payload.name, origin)
        return dataclasses.replace(self, bodies=(*self.bodies, payload), joints=(*self.joints, joint))


def check_topology(flaws: FlawList, bodies: list[str], joints: Any, points: Any) -> None:
    """Every body hangs on exactly one joint, every chain ends at the ground, names are used once."""
    groups = {"bodies": bodies, "joints": [j.name for j in joints], "points": [p.name for p in points]}
    for group, names in groups.items():
        for name, count in Counter(names).items():
            if count > 1:
                flaws.add(f"{group}.{name}", f"this name is used {count} times", "give each its own name")
    if GROUND in bodies:
        flaws.add(f"bodies.{GROUND}", f"'{GROUND}' names the world itself", "choose another name")
    carriers = {GROUND, *bodies}
    for joint in joints:
        for role in ("parent", "child"):
            body = getattr(joint, role)
            if body not in carriers:
                flaws.add(f"joints.{joint.name}.{role}", f"there is no body '{body}'", nearest(body, carriers))
        if joint.child == GROUND:
            flaws.add(f"joints.{joint.name}.child", "the ground cannot be a child", "swap parent and child")
    for point in points:
        if point.body not in carriers:
            what = f"there is no body '{point.body}'"
            flaws.add(f"points.{point.name}.body", what, nearest(point.body, carriers))
    _check_connections(flaws, bodies, joints)


def _check_connections(flaws: FlawList, bodies: list[str], joints: Any) -> None:
    carriers = Counter(joint.child for joint in joints)
    for name, count in carriers.items():
        if count > 1:
            remedy = "a tree allows one; closing a loop is a constraint"
            flaws.add(f"bodies.{name}", f"is the child of {count} joints", remedy)
    reached, growing = {GROUND}, True
    while growing:
        new = {joint.child for joint in joints if joint.parent in reached} - reached
        reached |= new
        growing = bool(new)
    for name in dict.fromkeys(bodies):
        if name not in reached:
            hanging = carriers[name] > 0
            remedy = "its chain never reaches the ground" if hanging else "add a joint with it as child"
            flaws.add(f"bodies.{name}", "is not connected to the ground", remedy)
