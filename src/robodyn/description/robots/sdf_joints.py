"""Joints of SDF: which limits, losses, springs and leaders do they have, and which of them close loops?"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.spatial import Pose
from robodyn.description.model import Block, LoopJoint, Point
from robodyn.description.model.joint import GROUND
from robodyn.description.model.numbers import as_floats
from robodyn.description.robots.draft import JointDraft, Mimic, RobotDraft
from robodyn.description.robots.names import usable_name
from robodyn.description.robots.sdf_frames import text_floats
from robodyn.description.robots.shapes import distinct
from robodyn.description.robots.xml_tree import CHOICE, CONVERTED, UNUSED, Element

LOOPS = {"fixed": "fixed", "ball": "spherical", "revolute": "revolute", "prismatic": "prismatic"}
"""Joints that can close a loop, and what they are called there."""
UNLIMITED = 1e16
"""SDF's own word for no limit."""
LIMITS = {"lower": "lower_limit", "upper": "upper_limit", "velocity": "speed_limit", "effort": "effort_limit"}


class JointReader:
    """Reads what joints have beside their place."""

    def __init__(self, draft: RobotDraft) -> None:
        self.draft, self.flaws = draft, draft.flaws

    def own_name(self, wanted: str, noun: str) -> str:
        """A name that no part of the machine has yet."""
        return distinct(usable_name(wanted, noun), self.draft.part_names)

    def fill(self, draft: JointDraft, given: str, axis: np.ndarray, second: np.ndarray | None) -> None:
        """Axis, limits, losses, spring and leader of a joint."""
        part = draft.element.one("axis")
        if draft.kind in ("fixed", "ball") or part is None:
            return
        draft.fields["axis"] = as_floats(axis)
        if draft.kind == "universal":
            draft.fields["second_axis"] = as_floats(second)
            return
        if draft.kind == "screw":
            pitch = text_floats(draft.element, "screw_thread_pitch", 1, [0.0], self.flaws)[0]
            draft.fields["pitch"] = pitch / (2.0 * np.pi)
            for child in draft.element.all("screw_thread_pitch")[:1]:
                child.mark(CONVERTED, "m of a turn / (2 pi rad)")
        self.limits(draft, part.one("limit"), given)
        dynamics = part.one("dynamics")
        for key in ("damping", "friction"):
            value = text_floats(dynamics, key, 1, [0.0], self.flaws)[0]
            draft.fields |= {key: value} if value > 0.0 else {}
        stiffness = text_floats(dynamics, "spring_stiffness", 1, [0.0], self.flaws)[0]
        rest = text_floats(dynamics, "spring_reference", 1, [0.0], self.flaws)[0]
        if stiffness > 0.0:
            name, on = self.own_name(f"{draft.name}_spring", "block"), usable_name(draft.name, "joint")
            self.draft.blocks.append(Block(name, "spring", on, parameters={"stiffness": stiffness, "rest": rest}))
        self.mimic(draft, part)

    def limits(self, draft: JointDraft, element: Element | None, given: str) -> None:
        if element is None:
            return
        found = {}
        for key, field in LIMITS.items():
            child = element.one(key)
            text = "" if child is None else child.text.strip().lower()
            if child is None or "inf" in text:
                continue
            value = text_floats(element, key, 1, [UNLIMITED], self.flaws)[0]
            if abs(value) >= UNLIMITED or (key in ("velocity", "effort") and value < 0.0):
                child.mark(CONVERTED, "no limit")
            elif value == 0.0 and key in ("velocity", "effort"):
                child.mark(CHOICE, f"0 would let nothing move: taken as no limit; `{field}` gives one")
            elif given == "continuous" and key in ("lower", "upper"):
                child.mark(UNUSED, "a continuous joint has no limits of position")
            else:
                found[field] = value
        lower, upper = found.get("lower_limit"), found.get("upper_limit")
        if lower is not None and upper is not None and lower >= upper:
            element.mark(CHOICE, f"{lower:g} to {upper:g} leaves no room: taken as no limits")
            found = {key: value for key, value in found.items() if key not in ("lower_limit", "upper_limit")}
        draft.fields |= found

    def mimic(self, draft: JointDraft, part: Element) -> None:
        element = part.one("mimic")
        leader = None if element is None else element.take("joint")
        if element is None or not leader:
            return
        ratio = text_floats(element, "multiplier", 1, [1.0], self.flaws)[0]
        offset = text_floats(element, "offset", 1, [0.0], self.flaws)[0]
        reference = text_floats(element, "reference", 1, [0.0], self.flaws)[0]
        element.mark(CONVERTED, "`mimic`: position = multiplier (position of the joint - reference) + offset")
        # Names in a model are those of parts beside the joint.
        scope = draft.name.removesuffix(draft.element.attributes["name"])
        draft.mimic = Mimic(scope + leader, ratio, offset - ratio * reference, element)

    def close(self, draft: JointDraft, axis: np.ndarray, X_joint: Pose, X_parent: Pose, X_child: Pose) -> None:
        """A joint whose child hangs on another one already: a constraint between two points.

        Args:
            X_joint, X_parent, X_child: poses in the model where nothing has moved; axis: in the child's frame.
        """
        if draft.kind not in LOOPS:
            remedy = f"known: {', '.join(LOOPS)}"
            self.flaws.add(draft.element.place, f"a {draft.kind} joint cannot close a loop", remedy)
            return
        names = []
        for end, body, X in (("a", draft.parent, X_parent), ("b", draft.child, X_child)):
            names.append(self.own_name(f"{draft.name}_{end}", "point"))
            on = body if body == GROUND else usable_name(body, "link")
            self.draft.points.append(Point(names[-1], on, as_floats(X.inverse().apply(X_joint.p))))
        R = X_parent.R.T @ X_child.R
        words: dict[str, Any] = {"kind": LOOPS[draft.kind]}
        words |= {"axis": as_floats(R @ axis)} if draft.kind in ("revolute", "prismatic") else {}
        words |= {"second_axis": as_floats(axis)} if draft.kind == "revolute" else {}
        words |= {"rotation": as_floats(R)} if draft.kind in ("prismatic", "fixed") else {}
        name = self.own_name(draft.name, "joint")
        self.draft.constraints.append(LoopJoint(name, names[0], names[1], **words))
        draft.element.mark(CONVERTED, f"closes a loop: a {words['kind']} constraint between two points")
        for part in draft.element.all("axis"):
            for tag in ("limit", "dynamics"):
                for inner in part.all(tag):
                    inner.drop("a constraint that closes a loop has neither limits nor losses")
