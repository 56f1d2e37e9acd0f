"""Equalities, tendons and actuators of MJCF: which constraints, coordinates and drives are they?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.model import Block, LinearCombination, LinearConstraint, LoopJoint, Point
from robodyn.model.numbers import as_floats
from robodyn.robots.mjcf_joints import BALL, FREE, effort_limit
from robodyn.robots.mjcf_source import row_of, sections
from robodyn.robots.xml_tree import CHOICE, CONVERTED, UNUSED, Element
from robodyn.spatial import from_quaternion

if TYPE_CHECKING:
    from robodyn.robots.mjcf import MjcfReader

EXACT = "held exactly, where MuJoCo's constraint gives way a little"
COMMAND = "`{name}_command.constant` is its command, {value:g}: name a signal in its place to control it"


class PartReader:
    """Reads what is beside the tree of bodies."""

    def __init__(self, reader: MjcfReader) -> None:
        self.reader, self.model, self.draft = reader, reader.model, reader.draft
        self.coordinates: dict[int, str] = {}

    def read(self) -> None:
        self.each("tendon", self.model.ntendon, self.tendon)
        self.each("equality", self.model.neq, self.equality)
        self.each("actuator", self.model.nu, self.actuator)

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

    def actuator(self, k: int, element: Element) -> str:
        """An actuator with constant gain and affine bias on a joint or coordinate.

        torque = g (gain u + b_0) + g^2 (b_1 (s + q_ref) + b_2 v) = P (target - s) - D v
        """
        import mujoco

        model = self.model
        if int(model.actuator_dyntype[k]) != mujoco.mjtDyn.mjDYN_NONE:
            return "has a state of its own (dyntype), for which robodyn has no law"
        affine = (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)
        if (
            int(model.actuator_gaintype[k]) != mujoco.mjtGain.mjGAIN_FIXED
            or int(model.actuator_biastype[k]) not in affine
        ):
            return "has another gain than a constant, or another bias than an affine one"
        own = [
            name
            for name in ("armature", "damping", "dampingpoly", "delay")
            if np.any(row_of(model, f"actuator_{name}", k))
        ]
        if own:
            return f"has {' and '.join(own)} of its own; say it of its joint or block"
        on, shift = self.target(k)
        if on is None:
            return "acts on no joint along one axis, and no sum of such"
        gear, bias = float(model.actuator_gear[k][0]), [float(b) for b in model.actuator_biasprm[k][:3]]
        gain = float(model.actuator_gainprm[k][0])
        low, high = map(float, model.actuator_ctrlrange[k])
        command = min(max(0.0, low), high) if model.actuator_ctrllimited[k] else 0.0
        P, D = -gear * gear * bias[1], -gear * gear * bias[2]
        limit = {}
        if model.actuator_forcelimited[k]:
            ends = [gear * float(end) for end in model.actuator_forcerange[k]]
            limit = {"limit": effort_limit(element, sorted(ends), "forcerange")["effort_limit"]}
        wanted = gear * (gain * command + bias[0])
        self.drive(self.reader.own_name(self.reader.name("actuator", k)), on, P, D, wanted, shift, limit, element)
        return ""

    def target(self, k: int) -> tuple[str | None, float]:
        """The joint or coordinate that an actuator acts on, and MuJoCo's length of it where ours is 0, without gear."""
        import mujoco

        kind, number = int(self.model.actuator_trntype[k]), int(self.model.actuator_trnid[k][0])
        if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
            return self.joint(number), self.zero(number)
        if kind == mujoco.mjtTrn.mjTRN_TENDON and number in self.coordinates:
            first = int(self.model.tendon_adr[number])
            wraps = range(first, first + int(self.model.tendon_num[number]))
            shift = sum(float(self.model.wrap_prm[w]) * self.zero(int(self.model.wrap_objid[w])) for w in wraps)
            return self.coordinates[number], shift
        return None, 0.0

    def drive(
        self,
        name: str,
        on: str,
        P: float,
        D: float,
        wanted: float,
        shift: float,
        limit: dict[str, float],
        element: Element,
    ) -> None:
        blocks, command = self.draft.blocks, self.reader.own_name(f"{name}_command")
        torque = self.force_unit(on)
        constant = wanted / P - shift if P else wanted
        unit = torque[1] if P else torque[0]
        blocks.append(Block(command, "constant_reference", parameters={"constant": constant}, unit=unit))
        signal = f"{command}.value"
        if P:
            loop = self.reader.own_name(f"{name}_loop")
            inputs = {"target": signal, "position": f"{on}.position", "velocity": f"{on}.velocity"}
            values = {"proportional": P, "derivative": D, **limit}
            blocks.append(Block(loop, "pd_control", inputs=inputs, parameters=values, unit=torque[0]))
            blocks.append(Block(name, "torque_source", on, inputs={"command": f"{loop}.command"}))
        else:
            most = {"torque_limit": limit["limit"]} if limit else {}
            blocks.append(Block(name, "torque_source", on, inputs={"command": signal}, parameters=most))
            if D:
                damper = self.reader.own_name(f"{name}_damping")
                blocks.append(Block(damper, "damper", on, parameters={"damping": D}))
        element.mark(CHOICE, COMMAND.format(name=name, value=constant))

    def force_unit(self, on: str) -> tuple[str, str]:
        """Units of the force on a joint or coordinate, and of its position."""
        joints = {joint.name: joint.kind for joint in self.draft.joints}
        sums = {coordinate.name: next(iter(coordinate.of)) for coordinate in self.draft.coordinates}
        return ("N", "m") if joints[sums.get(on, on)] == "prismatic" else ("N m", "rad")
