"""Trees of robots: does every link hang on one joint, and all of them together? What does not is reported by line."""

from __future__ import annotations

from collections import Counter

from robodyn.base.errors import nearest
from robodyn.description.model.joint import GROUND
from robodyn.description.robots.draft import JointDraft, RobotDraft


def order_joints(draft: RobotDraft) -> list[JointDraft]:
    """Joints, those to the ground first, parents before children; flaws are noted where there is no such order."""
    flaws, links = draft.flaws, {link.name: link for link in draft.links}
    before = len(flaws.found)
    known = {*links, GROUND}
    for joint in draft.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                flaws.add(joint.element.place, f"there is no {role} link '{name}'", nearest(name, known))
        if joint.parent == joint.child:
            flaws.add(joint.element.place, f"joins '{joint.child}' to itself", "name another parent")
    carriers = Counter(joint.child for joint in draft.joints)
    for joint in draft.joints:
        if carriers[joint.child] > 1:
            what = f"'{joint.child}' is the child of {carriers[joint.child]} joints"
            flaws.add(joint.element.place, what, "a tree allows one; a loop is closed by a constraint, in TOML")
    flawed = len(flaws.found) > before
    ordered, reached = [], {GROUND, *draft.bases}
    waiting = list(draft.joints)
    while fitting := [joint for joint in waiting if joint.parent in reached]:
        ordered += fitting
        reached |= {joint.child for joint in fitting}
        waiting = [joint for joint in waiting if joint not in fitting]
    for name, link in links.items():
        cyclic = carriers[name] > 0
        # What hangs on a joint that is wrong itself is not wrong too.
        if name not in reached and not (cyclic and flawed):
            what = "is in a ring of joints, or carried by one" if cyclic else "is connected to nothing"
            remedy = "one link of a tree has no joint above it" if cyclic else "add a joint with it as child"
            flaws.add(link.element.place, what, remedy)
    return ordered
