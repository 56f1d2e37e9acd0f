"""Kinematic tree: which links does a mechanism have, fixed bodies merged, its numbers made values or symbols?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.base import frozen
from robodyn.base.spatial import Inertia, Pose, build_matrix
from robodyn.base.symbolic import is_symbolic, stack
from robodyn.computation.dynamics import GROUND as GROUND_LINK
from robodyn.computation.dynamics import Elasticity, Link, Node, Tree
from robodyn.description.model import GROUND, XYZ, Body, BodyNode, FlexibleBody, Freedom, Joint, Mechanism, Point
from robodyn.description.model.body import TENSOR, tensor_of
from robodyn.description.model.joint import SINGLE

from .values import Values


@frozen
class BodyPlacement:
    """Where a body is: the link it belongs to (-1 the ground) and its pose in that link's frame."""

    link: int
    pose: Pose


@frozen
class Mechanics:
    """The tree of a mechanism and where its bodies, and the nodes of its flexible bodies, are in it."""

    tree: Tree
    placements: dict[str, BodyPlacement]
    nodes: dict[tuple[str, str], int]

    def locate(self, point: Point, mechanism: Mechanism, origin: Any) -> BodyPlacement:
        """Where a point of a body is, given its origin in that body's frame as values or symbols."""
        place = self.placements[point.body]
        node = _node_of(mechanism, point.body, point)
        if node is None:
            return BodyPlacement(place.link, place.pose @ Pose.translation(origin))
        return BodyPlacement(self.nodes[point.body, node.name], Pose.translation(origin - np.array(node.position)))


@dataclass
class MergedLink:
    """A link in the making."""

    link: Link
    inertias: list[Inertia]


class TreeBuilder:
    """A tree in the making: fixed bodies are merged into the links they are fixed to, unless these deform."""

    def __init__(self, mechanism: Mechanism, values: Values, merge: bool = True) -> None:
        self.mechanism, self.values, self.merge = mechanism, values, merge
        self.placements = {GROUND: BodyPlacement(GROUND_LINK, Pose.identity())}
        self.nodes: dict[tuple[str, str], int] = {}
        self.drafts: list[MergedLink] = []

    def add_joint(self, joint: Joint) -> None:
        """The body that a joint carries."""
        parent, frame = self._find_parent(joint)
        body = self.mechanism.body(joint.child)
        deforms = isinstance(body, FlexibleBody)
        # A body on a fixed joint has no degrees of freedom: its inertia joins that of the link it stands on.
        if joint.kind == "fixed" and not deforms and self.merge:
            self.placements[joint.child] = BodyPlacement(parent, frame)
            if parent != GROUND_LINK:
                self.drafts[parent].inertias.append(_inertia(self.values, body).moved(frame))
            return
        elasticity = build_elasticity(body) if isinstance(body, FlexibleBody) else None
        # All motions of the joint but the last carry massless links.
        links = [self._link(joint, freedom) for freedom in joint.freedoms] or [_link(joint.child, joint.name, "fixed")]
        for link in links[:-1]:
            parent, frame = self._add(replace(link, parent=parent, frame=frame)), Pose.identity()
        last = replace(links[-1], name=joint.child, parent=parent, frame=frame, elasticity=elasticity)
        self.placements[joint.child] = BodyPlacement(self._add(last), Pose.identity())
        self.drafts[-1].inertias.append(_inertia(self.values, body))

    def _link(self, joint: Joint, freedom: Freedom) -> Link:
        """A massless link on the ground that one motion of a joint carries."""
        numbers = {key: self.values[f"{joint.name}.{key}"] for key in ("armature",) if joint.kind in SINGLE}
        if joint.kind == "screw":
            numbers["pitch"] = self.values[f"{joint.name}.pitch"]
        return _link(freedom.name, freedom.name, freedom.kind, freedom.axis, **numbers)

    def _find_parent(self, joint: Joint) -> tuple[int, Pose]:
        """Link that carries a joint, and the joint's frame in it; on a flexible body, the node where it stands."""
        origin = _vector(self.values, f"{joint.name}.origin", XYZ)
        node = _node_of(self.mechanism, joint.parent, joint)
        if node is not None:
            # On a flexible body the joint moves with a node; what lies between the two is rigid.
            rest = Pose(np.array(joint.rotation), origin - np.array(node.position))
            return self.reach_node(joint.parent, node), rest
        place = self.placements[joint.parent]
        return place.link, place.pose @ Pose(np.array(joint.rotation), origin)

    def reach_node(self, body: str, node: BodyNode) -> int:
        """The link that stands for a node of a flexible body; made where there is none yet."""
        if (body, node.name) not in self.nodes:
            # A node is a massless link whose motion is that of its parent's modes.
            name, parent = f"{body}.{node.name}", self.placements[body].link
            link = replace(_link(name, name, "fixed"), parent=parent, node=build_node(node))
            self.nodes[body, node.name] = self._add(link)
        return self.nodes[body, node.name]

    def _add(self, link: Link) -> int:
        self.drafts.append(MergedLink(link, []))
        return len(self.drafts) - 1

    def finish(self) -> Mechanics:
        """The tree with the inertias of merged bodies summed up."""
        links = [
            replace(draft.link, inertia=sum(draft.inertias[1:], draft.inertias[0])) if draft.inertias else draft.link
            for draft in self.drafts
        ]
        return Mechanics(Tree(tuple(links), _vector(self.values, "gravity", XYZ)), self.placements, self.nodes)


def _link(name: str, joint: str, kind: str, axis: Any = None, **numbers: Any) -> Link:
    """A massless link on the ground."""
    direction = None if axis is None else np.array(axis)
    return Link(name, joint, kind, GROUND_LINK, Pose.identity(), direction, Inertia.massless(), **numbers)


def build_tree(mechanism: Mechanism, values: Values, merge: bool = True) -> Mechanics:
    """Merge fixed joints, order parents before children, and give flexible bodies a link for each node in use.

    Args:
        merge: False keeps each body on a fixed joint as a link of its own.
    """
    tree_builder = TreeBuilder(mechanism, values, merge)
    for joint in mechanism.ordered_joints:
        tree_builder.add_joint(joint)
    # Points that are only looked at need their nodes too.
    for point in mechanism.points:
        node = _node_of(mechanism, point.body, point)
        if node is not None:
            tree_builder.reach_node(point.body, node)
    return tree_builder.finish()


def build_elasticity(body: FlexibleBody) -> Elasticity:
    """The arrays that the mechanics of a flexible body needs."""
    names = ("first", "first_bend", "second", "second_bend", "turning", "turning_bend")
    sums = {name: np.array(getattr(body.modal_inertia, name)) for name in names}
    return Elasticity(mass=np.diag(body.modal_mass), **sums)


def build_node(node: BodyNode) -> Node:
    """A node of a flexible body, as arrays."""
    n = len(node.shift)
    shortening = np.array(node.shortening) if node.shortening else np.zeros((n, n, 3))
    return Node(np.array(node.position), np.array(node.shift), np.array(node.turn), shortening)


def _node_of(mechanism: Mechanism, body: str, part: Joint | Point) -> BodyNode | None:
    """The node of a flexible body that carries a joint or point; None for the ground and rigid bodies."""
    owner = mechanism.body(body) if body != GROUND else None
    return owner.find_node(part.origin, part.node) if isinstance(owner, FlexibleBody) else None


def _inertia(values: Values, body: Body) -> Inertia:
    if isinstance(body, FlexibleBody):
        return Inertia(body.mass, np.array(body.com), tensor_of(body.inertia))
    entries = values.vector(f"{body.name}.inertia", TENSOR)
    if not is_symbolic(entries):
        tensor: Any = tensor_of(entries)
    else:
        xx, yy, zz, xy, xz, yz = entries
        tensor = build_matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(values[f"{body.name}.mass"], _vector(values, f"{body.name}.com", XYZ), tensor)


def _vector(values: Values, prefix: str, suffixes: tuple[str, ...]) -> Any:
    return stack(values.vector(prefix, suffixes))
