"""Names of robot files: which name of the project's does each link and joint have? Two of one name are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from robodyn.base.errors import FlawList
from robodyn.description.model.joint import GROUND
from robodyn.description.model.numbers import NAME
from robodyn.description.robots.draft import JointDraft, LinkDraft, RobotDraft
from robodyn.description.robots.mesh_files import distinct
from robodyn.description.robots.xml_tree import CONVERTED

TAKEN = ("time", "energy", "constraints", "constraint_method", GROUND)
"""Names that every machine has for itself."""


def usable_name(name: str, suffix: str) -> str:
    """A name as near as can be to a given one: letters, digits, _ and -, not one that every machine has."""
    if not NAME.fullmatch(name):
        name = re.sub(r"[^\w\-]", "_", name)
        name = name if NAME.fullmatch(name) else f"_{name}"
    return f"{name}_{suffix}" if name in TAKEN else name


def settle_names(draft: RobotDraft) -> None:
    """Give links and joints names that a machine may have, everywhere where they are named."""
    draft.name = usable_name(draft.name, "robot")
    links = _rename(draft.flaws, draft.links, "link")
    joints = _rename(draft.flaws, draft.joints, "joint")
    for joint in draft.joints:
        joint.parent, joint.child = links.get(joint.parent, joint.parent), links.get(joint.child, joint.child)
        if joint.mimic is not None:
            leader = joints.get(joint.mimic.leader, joint.mimic.leader)
            joint.mimic = type(joint.mimic)(leader, joint.mimic.ratio, joint.mimic.offset, joint.mimic.element)
    draft.bases = {links.get(name, name): base for name, base in draft.bases.items()}


def _rename(flaws: FlawList, parts: Sequence[LinkDraft] | Sequence[JointDraft], noun: str) -> dict[str, str]:
    """New names of parts by their old ones."""
    new: dict[str, str] = {}
    kept = [part.name for part in parts if usable_name(part.name, noun) == part.name]
    for part in parts:
        if part.name in new or kept.count(part.name) > 1:
            if part.name in new:
                flaws.add(part.element.place, f"there is another {noun} '{part.name}'", "give each its own name")
            new[part.name] = part.name
            continue
        fresh = usable_name(part.name, noun)
        if fresh != part.name:
            fresh = distinct(fresh, [*kept, *new.values()])
            part.element.mark(CONVERTED, f"the name is written '{fresh}'", "name")
        new[part.name] = fresh
    for part in parts:
        part.name = new[part.name]
    return new


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """A name for a part that the file does not name itself."""
    return distinct(usable_name(wanted, "point"), [*taken])
