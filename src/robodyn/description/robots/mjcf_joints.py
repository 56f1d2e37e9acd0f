"""Joints of MJCF: which chain carries a body? MuJoCo allows several between two bodies, each with an anchor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.spatial import Pose
from robodyn.description.model import Block
from robodyn.description.model.numbers import as_floats
from robodyn.description.robots.draft import JointDraft, LinkDraft
from robodyn.description.robots.mjcf_source import row_of
from robodyn.description.robots.xml_tree import CHOICE, UNUSED, Element

if TYPE_CHECKING:
    from robodyn.description.robots.mjcf import MjcfReader

FREE, BALL, SLIDE, HINGE = range(4)
KINDS = {FREE: "free", BALL: "ball", SLIDE: "prismatic", HINGE: "revolute"}
LOST = "is not used: only joints along or about one axis have it in robodyn"
CURVED = "has a nonlinear part, which is not used; laws of your own can say it"


@dataclass
class JointChain:
    """The joints between two bodies, the massless frames between them, and where the last one's anchor is."""

    joints: list[JointDraft] = field(default_factory=list)
    frames: list[LinkDraft] = field(default_factory=list)
    anchor: np.ndarray = field(default_factory=lambda: np.zeros(3))


class JointReader:
    """Reads the joints of one body."""

    def __init__(self, reader: MjcfReader, body: int) -> None:
        self.reader, self.model, self.body = reader, reader.model, body
        self.chain = JointChain()

    def read(self, parent: str, place: Pose) -> JointChain:
        """The joints from a parent's frame to the body, which stands at a place in it.

            X_parent_body = X_place  T(a_1) J_1 T(-a_1)  T(a_2) J_2 T(-a_2) ...

        with anchors a_k in the body's frame; ours stands at the last of them.
        """
        name, first = self.reader.bodies[self.body], int(self.model.body_jntadr[self.body])
        count = int(self.model.body_jntnum[self.body])
        if not count:
            joint = self.reader.own_name(f"{name}_mount")
            self.chain.joints.append(JointDraft(joint, self.reader.elements[self.body], "fixed", parent, name, place))
        for k in range(count):
            number, last = first + k, k == count - 1
            kind = int(self.model.jnt_type[number])
            anchor = self.chain.anchor if kind in (FREE, SLIDE) else np.array(self.model.jnt_pos[number])
            element = self.reader.part_element(self.body, ("joint", "freejoint"), k)
            joint = self.reader.own_name(self.reader.name("joint", number))
            self.reader.joints[number] = joint
            child = name if last else f"{joint}_frame"
            here = place @ Pose.translation(anchor - self.chain.anchor)
            draft = JointDraft(joint, element, KINDS[kind], parent, child, here)
            if kind == FREE:
                self.release(draft, number)
            self.fill(draft, number, kind)
            self.chain.joints.append(draft)
            self.chain.anchor = anchor
            if not last:
                self.chain.frames.append(LinkDraft(child, element))
                parent, place = child, Pose.identity()
        return self.chain

    def release(self, draft: JointDraft, number: int) -> None:
        """A free joint's positions are MuJoCo's own: place and orientation in the world."""
        draft.place = Pose.identity()
        start = self.model.qpos0[int(self.model.jnt_qposadr[number]) :][:7]
        names = [f"{draft.name}.{axis}.position" for axis in "xyz"]
        names += [f"{draft.name}.orientation.{part}" for part in "wxyz"]
        rest = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        values = dict(zip(names, map(float, start), strict=True))
        if [*values.values()] != rest:
            self.reader.draft.initial |= values

    def fill(self, draft: JointDraft, number: int, kind: int) -> None:
        """Limits, losses, rotor and spring of a joint."""
        model, dof = self.model, int(self.model.jnt_dofadr[number])
        for name, table, at in (("damping", "dof_dampingpoly", dof), ("stiffness", "jnt_stiffnesspoly", number)):
            if np.any(row_of(model, table, at)):
                draft.element.mark(CHOICE, f"{name} {CURVED}")
        damping, friction, armature = (
            float(table[dof]) for table in (model.dof_damping, model.dof_frictionloss, model.dof_armature)
        )
        stiffness = float(model.jnt_stiffness[number])
        if kind in (FREE, BALL):
            lost = {"damping": damping, "frictionloss": friction, "armature": armature, "stiffness": stiffness}
            lost |= {"range": float(model.jnt_limited[number])}
            _lose(draft.element, [key for key, value in lost.items() if value])
            return
        zero = float(model.qpos0[int(model.jnt_qposadr[number])])
        draft.fields["axis"] = as_floats(np.array(model.jnt_axis[number]))
        given = {"damping": damping, "friction": friction, "armature": armature}
        draft.fields |= {key: value for key, value in given.items() if value > 0.0}
        if model.jnt_limited[number]:
            lower, upper = (float(end) - zero for end in model.jnt_range[number])
            draft.fields |= {"lower_limit": lower, "upper_limit": upper}
        if model.jnt_actfrclimited[number]:
            draft.fields |= effort_limit(draft.element, model.jnt_actfrcrange[number], "actuatorfrcrange")
        if stiffness:
            rest = float(model.qpos_spring[int(model.jnt_qposadr[number])]) - zero
            spring = {"stiffness": stiffness} | ({"rest": rest} if rest else {})
            name = self.reader.own_name(f"{draft.name}_spring")
            self.reader.draft.blocks.append(Block(name, "spring", draft.name, parameters=spring))


def effort_limit(element: Element, ends: Any, key: str) -> dict[str, float]:
    """The largest effort either way; of two different ones the larger."""
    lower, upper = map(float, ends)
    if -lower != upper:
        element.mark(CHOICE, f"{lower:g} to {upper:g} is not alike both ways: the larger one limits both", key)
    return {"effort_limit": max(abs(lower), abs(upper))}


def _lose(element: Element, keys: list[str]) -> None:
    for key in keys:
        if key in element.attributes:
            element.mark(UNUSED, f"{key} {LOST}", key)
    others = [key for key in keys if key not in element.attributes]
    if others:
        element.mark(CHOICE, f"{', '.join(others)} of its defaults {LOST}")
