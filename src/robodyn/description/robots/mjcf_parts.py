"""Equalities and tendons of MJCF: which constraints and coordinates are they?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.spatial import from_quaternion
from robodyn.description.model import Block, LinearCombination, LinearConstraint, LoopJoint, Point
from robodyn.description.model.numbers import as_floats
from robodyn.description.robots.mjcf_actuators import ActuatorReader
from robodyn.description.robots.mjcf_joints import BALL, FREE
from robodyn.description.robots.mjcf_source import row_of, sections
from robodyn.description.robots.xml_tree import CHOICE, CONVERTED, UNUSED, Element

if TYPE_CHECKING:
    from robodyn.description.robots.mjcf import MjcfReader

EXACT = "held exactly, where MuJoCo's constraint gives way a little"


class PartReader:
    """Reads what is beside the tree of bodies."""

    def __init__(self, reader: MjcfReader) -> None:
        self.reader, self.model, self.draft = reader, reader.model, reader.draft
        self.coordinates: dict[int, str] = {}

    def read(self) -> None:
        self.each("tendon", self.model.ntendon, self.tendon)
        self.each("equality", self.model.neq, self.equality)
        self.each("actuator", len(self.model.actuator_gear), ActuatorReader(self).read)

    def each(self, section: str, count: int, read: Any) -> None:
        """Read parts in order, each with its element; a reason that comes back says why it is not used."""
        elements = sections(self.reader.root, section)
        for k in range(count):
            element = elements[k] if len(elements) == count else self.reader.root
            reason = read(k, element)
            if reason and len(elements) == count:
                element.mark(UNUSED, reason)
                element.drop(reason)
            elif reason:
                self.reader.elements[0].mark(CHOICE, f"{section} {k} is not used: {reason}")

    def joint(self, number: int) -> str | None:
        """The name of a joint along or about one axis; None for others."""
        return None if int(self.model.jnt_type[number]) in (FREE, BALL) else self.reader.joints[number]

    def zero(self, number: int) -> float:
        return float(self.model.qpos0[int(self.model.jnt_qposadr[number])])

    def tendon(self, k: int, element: Element) -> str:
        model, first = self.model, int(self.model.tendon_adr[k])
        wraps = range(first, first + int(model.tendon_num[k]))
        if any(int(model.wrap_type[w]) != 1 for w in wraps):
            return "tendons through sites have no coordinate in robodyn; a distance of two points has"
        joints = [int(model.wrap_objid[w]) for w in wraps]
        names = [self.joint(number) for number in joints]
        kinds = {int(model.jnt_type[number]) for number in joints}
        if None in names or len(kinds) != 1 or len(set(names)) < len(names):
            return "sums only single-axis joints of one kind, each once"
        weights = {str(name): float(model.wrap_prm[w]) for name, w in zip(names, wraps, strict=True)}
        name = self.reader.own_name(self.reader.name("tendon", k))
        self.draft.coordinates.append(LinearCombination(name, weights))
        self.coordinates[k] = name
        element.mark(CONVERTED, "a coordinate: the weighted sum of positions")
        if np.any(row_of(model, "tendon_armature", k)) or model.tendon_frictionloss[k]:
            element.mark(CHOICE, "its armature and friction are not used: only joints have them in robodyn")
        stiffness, damping = float(model.tendon_stiffness[k]), float(model.tendon_damping[k])
        low, high = map(float, model.tendon_lengthspring[k])
        if low != high and stiffness:
            element.mark(CHOICE, f"its spring is slack from {low:g} to {high:g}: taken at rest at the middle")
        if stiffness or damping:
            shift = sum(weight * self.zero(number) for weight, number in zip(weights.values(), joints, strict=True))
            values = {"stiffness": stiffness, "damping": damping, "rest": 0.5 * (low + high) - shift}
            block = self.reader.own_name(f"{name}_spring")
            self.draft.blocks.append(Block(block, "spring", name, parameters=values))
        return ""

    def equality(self, k: int, element: Element) -> str:
        import mujoco

        kind, data = int(self.model.eq_type[k]), np.array(self.model.eq_data[k])
        active, types = bool(self.model.eq_active0[k]), mujoco.mjtEq
        name = self.reader.name("equality", k)
        first, second = int(self.model.eq_obj1id[k]), int(self.model.eq_obj2id[k])
        if kind == types.mjEQ_JOINT:
            return self.couple(name, first, second, data, active, element)
        if kind not in (types.mjEQ_CONNECT, types.mjEQ_WELD):
            return "only connect, weld and joint equalities have a constraint in robodyn"
        if self.model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE:
            places = [(int(self.model.site_bodyid[s]), np.array(self.model.site_pos[s])) for s in (first, second)]
            turns = [from_quaternion(*map(float, self.model.site_quat[s])) for s in (first, second)]
            rotation = turns[0] @ turns[1].T
        else:
            swapped = (data[3:6], data[0:3]) if kind == types.mjEQ_WELD else (data[0:3], data[3:6])
            places = [(first, swapped[0]), (second, swapped[1])]
            rotation = from_quaternion(*data[6:10]) if kind == types.mjEQ_WELD else np.eye(3)
        a, b = (self.point(f"{name}_{end}", *place) for end, place in zip("ab", places, strict=True))
        own = self.reader.own_name(name)
        made = LoopJoint(own, a, b, "spherical", active=active)
        if kind == types.mjEQ_WELD:
            made = LoopJoint(own, a, b, "fixed", rotation=as_floats(rotation), active=active)
        self.draft.constraints.append(made)
        element.mark(CONVERTED, f"a {made.kind} loop joint, {EXACT}")
        return ""

    def point(self, name: str, body: int, place: np.ndarray) -> str:
        made = Point(self.reader.own_name(name), self.reader.bodies[body], as_floats(place - self.reader.anchors[body]))
        self.draft.points.append(made)
        return made.name

    def couple(self, name: str, first: int, second: int, data: np.ndarray, active: bool, element: Element) -> str:
        leader = None if second < 0 else self.joint(second)
        follower = self.joint(first)
        if follower is None or (second >= 0 and leader is None):
            return "couples joints that do not move along one axis"
        if np.any(data[2:5]) and leader is not None:
            return "only the linear part of a polynomial has a constraint in a file; a function of your own can say it"
        of = {follower: 1.0} | ({leader: -float(data[1])} if leader is not None and data[1] else {})
        self.draft.constraints.append(LinearConstraint(self.reader.own_name(name), of, float(data[0]), active))
        element.mark(CONVERTED, f"s_1 = c_0 + c_1 s_2, {EXACT}")
        return ""
