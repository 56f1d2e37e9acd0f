"""Which links does a mechanism have, with fixed bodies merged and its numbers replaced by values or symbols?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.assembly.values import Values
from robodyn.dynamics import GROUND as GROUND_LINK
from robodyn.dynamics import Link, Tree
from robodyn.model import GROUND, Joint, Mechanism
from robodyn.model.body import TENSOR, tensor_of
from robodyn.model.numbers import XYZ
from robodyn.spatial import Inertia, Pose, build_matrix
from robodyn.symbolic import is_symbolic, stack


@dataclass(frozen=True)
class Placement:
    """Where a body is: the link it belongs to (-1 the ground) and its pose in that link's frame."""

    link: int
    pose: Pose


@dataclass(frozen=True)
class Mechanics:
    """The tree of a mechanism and where its bodies are in it."""

    tree: Tree
    placements: dict[str, Placement]


def build_tree(mechanism: Mechanism, values: Values) -> Mechanics:
    """Merge fixed joints, order parents before children."""
    placements = {GROUND: Placement(GROUND_LINK, Pose.identity())}
    carried: dict[int, list[Inertia]] = {}
    bases: list[tuple[Joint, int, Pose]] = []
    for joint in mechanism.ordered_joints:
        parent = placements[joint.parent]
        frame = parent.pose @ Pose(np.array(joint.rotation), _vector(values, f"{joint.name}.origin", XYZ))
        if joint.kind == "fixed":
            place = Placement(parent.link, frame)
        else:
            place = Placement(len(bases), Pose.identity())
            bases.append((joint, parent.link, frame))
        placements[joint.child] = place
        carried.setdefault(place.link, []).append(_inertia(values, joint.child).moved(place.pose))
    links = [_link(values, base, carried[k]) for k, base in enumerate(bases)]
    return Mechanics(Tree(tuple(links), _vector(values, "gravity", XYZ)), placements)


def _link(values: Values, base: tuple[Joint, int, Pose], inertias: list[Inertia]) -> Link:
    joint, parent, frame = base
    total = sum(inertias[1:], inertias[0])
    armature = values[f"{joint.name}.armature"]
    return Link(joint.child, joint.name, joint.kind, parent, frame, np.array(joint.axis), total, armature)


def _inertia(values: Values, body: str) -> Inertia:
    entries = values.vector(f"{body}.inertia", TENSOR)
    if not is_symbolic(entries):
        tensor: Any = tensor_of(entries)
    else:
        xx, yy, zz, xy, xz, yz = entries
        tensor = build_matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(values[f"{body}.mass"], _vector(values, f"{body}.com", XYZ), tensor)


def _vector(values: Values, prefix: str, suffixes: tuple[str, ...]) -> Any:
    return stack(values.vector(prefix, suffixes))
