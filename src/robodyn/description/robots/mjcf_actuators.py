"""Actuators of MJCF: which drives are they? Motors, position and velocity servos, DC motors with their circuit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.description.model import Block
from robodyn.description.robots.mjcf_joints import effort_limit
from robodyn.description.robots.mjcf_source import row_of
from robodyn.description.robots.xml_tree import CHOICE, Element

if TYPE_CHECKING:
    from robodyn.description.robots.mjcf_parts import PartReader

COMMAND = "`{name}_command.constant` is its command, {value:g}: name a signal in its place to control it"
VOLTAGE = 8
"""MuJoCo's word for a motor whose command is its voltage."""
STATES = "has a state of its own (dyntype), for which robodyn has no law"


class ActuatorReader:
    """Reads the actuators of a model."""

    def __init__(self, parts: PartReader) -> None:
        self.parts, self.reader, self.model, self.draft = parts, parts.reader, parts.model, parts.draft

    def read(self, k: int, element: Element) -> str:
        """Read one actuator; a reason where it is not used."""
        import mujoco

        model = self.model
        motor = "DCMOTOR" in mujoco.mjtGain(int(model.actuator_gaintype[k])).name
        if not motor and int(model.actuator_dyntype[k]) != mujoco.mjtDyn.mjDYN_NONE:
            return STATES
        affine = (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE)
        fixed = int(model.actuator_gaintype[k]) == mujoco.mjtGain.mjGAIN_FIXED
        if not motor and not (fixed and int(model.actuator_biastype[k]) in affine):
            return "has another gain than a constant, or another bias than an affine one"
        if np.any(row_of(model, "actuator_dampingpoly", k)) or np.any(row_of(model, "actuator_delay", k)):
            return "has a delay or nonlinear damping of its own"
        on, shift = self.target(k)
        if on is None:
            return "acts on no joint along one axis, and no sum of such"
        reason = self.check_motor(k) if motor else ""
        if reason or (reason := self.carry(k, on)):
            return reason
        name = self.reader.own_name(self.reader.name("actuator", k))
        if motor:
            self.motor(name, k, on, element)
        else:
            self.servo(name, k, on, shift, element)
        return ""

    def carry(self, k: int, on: str) -> str:
        """Put the actuator's own rotor and damping on its joint: gear^2 times them."""
        gear = float(self.model.actuator_gear[k][0])
        for field in ("armature", "damping"):
            value = float(row_of(self.model, f"actuator_{field}", k).flat[0])
            joint = next((joint for joint in self.draft.joints if joint.name == on), None)
            if value and joint is None:
                return f"has {field} of its own on a sum of joints"
            if value and joint is not None:
                joint.fields[field] = joint.fields.get(field, 0.0) + gear * gear * value
        return ""

    def command(self, k: int) -> float:
        """0, or the nearest that the actuator allows."""
        low, high = map(float, self.model.actuator_ctrlrange[k])
        return min(max(0.0, low), high) if self.model.actuator_ctrllimited[k] else 0.0

    def check_motor(self, k: int) -> str:
        """Why a DC motor has no law here: all but resistance, motor constant, inductance and LuGre friction."""
        others = [self.model.actuator_gainprm[k][2:], self.model.actuator_biasprm[k][:3]]
        others += [self.model.actuator_dynprm[k][1:5], self.model.actuator_dynprm[k][7:]]
        if any(np.any(row) for row in others) or self.model.actuator_forcelimited[k]:
            return "has cogging, heat, saturation or a controller of its own, for which robodyn has no law"
        if int(row_of(self.model, "actuator_ctrlspec", k)) != VOLTAGE:
            return "is commanded by another thing than its voltage"
        return ""

    def motor(self, name: str, k: int, on: str, element: Element) -> None:
        """A DC motor by its voltage: `torque = g K i`, `L i_dot + R i = u - K g v`; LuGre friction on its shaft."""
        model, gear = self.model, float(self.model.actuator_gear[k][0])
        R, K = (float(value) for value in model.actuator_gainprm[k][:2])
        L, u = R * float(model.actuator_dynprm[k][0]), self.command(k)
        if L:
            command = self.add_command(name, u, "V", element)
            circuit = {"resistance": R, "inductance": L, "torque_constant": K, "gear": gear}
            self.draft.blocks.append(Block(name, "dc_motor", on, inputs={"voltage": command}, parameters=circuit))
        else:
            self.push(name, on, gear * K / R * u, gear * gear * K * K / R, {}, element)
        c0, c1 = (float(value) for value in model.actuator_dynprm[k][5:7])
        coulomb, static, stribeck = (float(value) for value in model.actuator_biasprm[k][3:6])
        if c0:
            # On the joint's side: bristles bend by 1 / g as far, forces are g times as large.
            bristles = {"stiffness": gear * gear * c0, "damping": gear * gear * c1, "viscous": 0.0}
            bristles |= {"coulomb": abs(gear) * coulomb, "static": abs(gear) * static}
            bristles |= {"stribeck_velocity": stribeck / abs(gear)}
            friction = self.reader.own_name(f"{name}_friction")
            self.draft.blocks.append(Block(friction, "lugre_friction", on, parameters=bristles))

    def servo(self, name: str, k: int, on: str, shift: float, element: Element) -> None:
        """An actuator with constant gain and affine bias.

        torque = g (gain u + b_0) + g^2 (b_1 (s + q_ref) + b_2 v) = P (target - s) - D v
        """
        model, gear = self.model, float(self.model.actuator_gear[k][0])
        bias = [float(b) for b in model.actuator_biasprm[k][:3]]
        P, D = -gear * gear * bias[1], -gear * gear * bias[2]
        limit = {}
        if model.actuator_forcelimited[k]:
            ends = sorted(gear * float(end) for end in model.actuator_forcerange[k])
            limit = {"limit": effort_limit(element, ends, "forcerange")["effort_limit"]}
        wanted = gear * (float(model.actuator_gainprm[k][0]) * self.command(k) + bias[0])
        if not P:
            self.push(name, on, wanted, D, limit, element)
            return
        force, position = self.units(on)
        loop = self.reader.own_name(f"{name}_loop")
        target = self.add_command(name, wanted / P - shift, position, element)
        inputs = {"target": target, "position": f"{on}.position", "velocity": f"{on}.velocity"}
        values = {"proportional": P, "derivative": D, **limit}
        self.draft.blocks.append(Block(loop, "pd_control", inputs=inputs, parameters=values, unit=force))
        self.draft.blocks.append(Block(name, "torque_source", on, inputs={"command": f"{loop}.command"}))

    def push(self, name: str, on: str, wanted: float, D: float, limit: dict[str, float], element: Element) -> None:
        """A torque that is commanded, with a damper beside it."""
        most = {"torque_limit": limit["limit"]} if limit else {}
        command = self.add_command(name, wanted, self.units(on)[0], element)
        self.draft.blocks.append(Block(name, "torque_source", on, inputs={"command": command}, parameters=most))
        if D:
            damper = self.reader.own_name(f"{name}_damping")
            self.draft.blocks.append(Block(damper, "damper", on, parameters={"damping": D}))

    def add_command(self, name: str, value: float, unit: str, element: Element) -> str:
        """A constant command; its signal."""
        command = self.reader.own_name(f"{name}_command")
        self.draft.blocks.append(Block(command, "constant_reference", parameters={"constant": value}, unit=unit))
        element.mark(CHOICE, COMMAND.format(name=name, value=value))
        return f"{command}.value"

    def target(self, k: int) -> tuple[str | None, float]:
        """The joint or coordinate that an actuator acts on, and MuJoCo's length of it where ours is 0, without gear."""
        import mujoco

        kind, number = int(self.model.actuator_trntype[k]), int(self.model.actuator_trnid[k][0])
        if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
            return self.parts.joint(number), self.parts.zero(number)
        if kind == mujoco.mjtTrn.mjTRN_TENDON and number in self.parts.coordinates:
            first = int(self.model.tendon_adr[number])
            wraps = range(first, first + int(self.model.tendon_num[number]))
            shift = sum(float(self.model.wrap_prm[w]) * self.parts.zero(int(self.model.wrap_objid[w])) for w in wraps)
            return self.parts.coordinates[number], shift
        return None, 0.0

    def units(self, on: str) -> tuple[str, str]:
        """Units of the force on a joint or coordinate, and of its position."""
        joints = {joint.name: joint.kind for joint in self.draft.joints}
        sums = {coordinate.name: next(iter(coordinate.of)) for coordinate in self.draft.coordinates}
        return ("N", "m") if joints[sums.get(on, on)] == "prismatic" else ("N m", "rad")
