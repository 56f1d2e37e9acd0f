"""Massless moving links: which joints move nothing that has inertia? They could accelerate without bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.base.spatial import Pose, about_axis
from robodyn.description.model.joint import GROUND, SINGLE
from robodyn.description.robots.draft import JointDraft, LinkDraft

NOTHING = 1e-20
"""Inertia [kg m^2 or kg] that is none but for rounding."""


def find_massless(links: Sequence[LinkDraft], joints: Sequence[JointDraft]) -> list[JointDraft]:
    """Joints along or about whose axis nothing that they carry has inertia, from the tips of the tree on.

    Args:
        joints: parents before children.
    """
    poses = _place_links(joints)
    carried: dict[str, list[LinkDraft]] = {link.name: [link] for link in links}
    found = []
    for joint in reversed(joints):
        if joint.kind != "fixed" and not _has_inertia(joint, carried[joint.child], poses):
            found.append(joint)
        if joint.parent != GROUND:
            carried[joint.parent] += carried[joint.child]
    return found[::-1]


def _place_links(joints: Sequence[JointDraft]) -> dict[str, Pose]:
    """Where links are at positions that are nothing special, so that no axis meets a centre of mass by coincidence."""
    poses = {GROUND: Pose.identity()}
    for k, joint in enumerate(joints):
        here = poses[joint.parent] @ joint.place
        if joint.kind != "fixed":
            here = here @ Pose.rotation(about_axis(joint.axis, 0.3 + 0.37 * (k % 11)))
        poses[joint.child] = here
    return poses


def _has_inertia(joint: JointDraft, carried: Sequence[LinkDraft], poses: dict[str, Pose]) -> bool:
    if joint.fields.get("armature", 0.0) > 0.0:
        return True
    if joint.kind not in SINGLE:
        return any(link.mass > NOTHING for link in carried)
    if joint.kind == "prismatic":
        return any(link.mass > NOTHING for link in carried)
    # Moment of inertia about the axis: k^T I k + m |k x (c - p)|^2.
    pose = poses[joint.child]
    axis, total = pose.R @ joint.axis, 0.0
    for link in carried:
        R = poses[link.name].R
        arm = np.cross(axis, poses[link.name].apply(link.com) - pose.p)
        total += axis @ (R @ link.inertia @ R.T) @ axis + link.mass * float(arm @ arm)
        if total > NOTHING:
            return True
    return False
