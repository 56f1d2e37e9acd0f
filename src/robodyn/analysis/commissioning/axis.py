"""Drive train and cascade of one joint: which blocks move it, brake it, measure it and control it?

    reference -> position loop -> velocity loop -> current -> motor -> gear -> joint
                      ^---------------^------- encoder on the motor

In joint units on both sides of the gear; an elastic one stands between the joint and its drive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from robodyn.analysis.commissioning.drive_sizes import SizedDrive
from robodyn.analysis.commissioning.options import Control, Drive
from robodyn.description.model import Block, ElasticGear, Joint

STRIBECK_SHARE, SMOOTHING_SHARE = 0.01, 0.002
"""Speeds of the Stribeck bump and of smoothed friction, in top speeds of the joint: rules of thumb."""
PRESLIDING = 100.0
"""Encoder counts that bristles bend before they slip, which gives their stiffness: a rule of thumb."""
TOP_SPEED = {"rad": 3.0, "m": 1.0}
"""Of a joint without a speed limit."""


@dataclass(frozen=True)
class Gains:
    """Of a cascade: position [1/s], proportional [N m s/rad or N s/m] and integral [N m/rad or N/m] of the velocity."""

    position: float
    proportional: float
    integral: float


@dataclass(frozen=True)
class Axis:
    """A joint to be dressed."""

    joint: Joint
    drive: Drive
    sized: SizedDrive
    control: Control

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def unit(self) -> str:
        return "rad" if self.joint.rotates else "m"

    @property
    def top_speed(self) -> float:
        """The joint's speed limit, or a common one."""
        return self.joint.speed_limit or TOP_SPEED[self.unit]

    @property
    def resolution(self) -> float:
        """Of the encoder, in joint units: a count over the ratio."""
        return 2 * math.pi / (self.sized["counts"] * self.sized["ratio"])

    @property
    def torque_constant(self) -> float:
        """On the joint's side: n kT."""
        return self.sized["ratio"] * self.sized["torque_constant"]

    @property
    def gear(self) -> ElasticGear | None:
        """The elastic gear, None for a rigid one."""
        if not self.sized.elastic:
            return None
        return ElasticGear(f"{self.name}_drive", self.sized["stiffness"], self.sized["damping"], self.drive.gap)

    @property
    def driven(self) -> str:
        """What its motor turns: the drive of an elastic gear, else the joint."""
        return self.gear.drive if self.gear is not None else self.name

    def bare_joint(self) -> Joint:
        """The joint with its rotor; friction comes as a block."""
        return self.joint.replaced(
            armature=self.sized.armature, friction=None, damping=None, effort_limit=self.sized.effort
        )

    def blocks(self, start: float, gains: Gains) -> tuple[Block, ...]:
        """All blocks of the joint under a cascade, standing at a position."""
        return (
            *self._reference(start),
            *self._cascade(gains),
            *self._train(f"{self.name}.velocity_loop.torque_command"),
        )

    def commanded_blocks(self, start: float, torque: str) -> tuple[Block, ...]:
        """The same where a signal commands its torque; it is limited to the drive's."""
        bounds = {"lower": -self.sized.effort, "upper": self.sized.effort}
        unit = "N m" if self.joint.rotates else "N"
        limit = Block(f"{self.name}.limit", "saturation", None, {"value": torque}, bounds, unit=unit)
        return (*self._reference(start), limit, *self._train(f"{self.name}.limit.output"))

    def _train(self, torque: str) -> tuple[Block, ...]:
        """Motor, friction and gear under a commanded torque."""
        return (*self._motor(torque), *self._friction(), *self._loss())

    def _reference(self, start: float) -> tuple[Block, ...]:
        name, speed, fast = self.name, self.top_speed, 1 / self.control.velocity_rate
        limits = {"speed": 0.5 * speed, "top_acceleration": 2.0 * speed, "top_jerk": 20.0 * speed}
        measured = {"resolution": self.resolution, "period": fast}
        return (
            Block(
                f"{name}.reference",
                "s_curve_reference",
                parameters={"target": start, "start": start} | limits,
                unit=self.unit,
            ),
            Block(
                f"{name}.encoder",
                "sampled_encoder",
                None,
                {"value": f"{name}.position"},
                measured,
                period=fast,
            ),
        )

    def _cascade(self, gains: Gains) -> tuple[Block, ...]:
        name, slow, fast = self.name, 1 / self.control.position_rate, 1 / self.control.velocity_rate
        targets = {
            "target": f"{name}.reference.position",
            "position": f"{name}.encoder.measured",
            "feed_forward": f"{name}.reference.velocity",
        }
        rates = {
            "velocity_command": f"{name}.position_loop.velocity_command",
            "velocity": f"{name}.encoder.measured_rate",
        }
        pi = {"proportional": gains.proportional, "integral": gains.integral, "period": fast}
        return (
            Block(
                f"{name}.position_loop",
                "position_loop",
                None,
                targets,
                {"proportional": gains.position},
                period=slow,
            ),
            Block(
                f"{name}.velocity_loop",
                "sampled_velocity_loop",
                None,
                rates,
                pi | {"limit": self.sized.effort},
                period=fast,
                delay=self.control.delay,
            ),
        )

    def _motor(self, torque: str) -> tuple[Block, ...]:
        name, command = self.name, {"value": torque}
        numbers = {"torque_constant": self.torque_constant, "time_constant": self.control.current_lag}
        current = {"current_command": f"{name}.current.output"}
        return (
            Block(f"{name}.current", "amplifier", None, command, {"gain": 1 / self.torque_constant}, unit="A"),
            Block(f"{name}.motor", "current_lag", name, current, numbers),
        )

    def _friction(self) -> tuple[Block, ...]:
        law = {"coulomb": "coulomb_friction", "stribeck": "stribeck_friction", "stick": "stick_friction"}
        kind = self.drive.friction
        if kind == "none":
            return ()
        numbers = {key: self.sized[key] for key in ("coulomb", "static", "viscous")}
        smooth = {"smoothing_velocity": SMOOTHING_SHARE * self.top_speed}
        bump = {"stribeck_velocity": STRIBECK_SHARE * self.top_speed}
        if kind == "coulomb":
            numbers = {"coulomb": numbers["coulomb"], "viscous": numbers["viscous"]} | smooth
        elif kind == "stribeck":
            numbers |= smooth | bump
        elif kind == "lugre":
            numbers |= bump | self._bristles()
        return (Block(f"{self.name}.friction", law.get(kind, "lugre_friction"), self.name, parameters=numbers),)

    def _bristles(self) -> dict[str, float]:
        """Stiffness and damping of LuGre's bristles: bent by some counts at the static level, damped by the rotor."""
        stiffness = self.sized["static"] / (PRESLIDING * self.resolution)
        return {"stiffness": stiffness, "damping": math.sqrt(stiffness * self.sized.armature)}

    def _loss(self) -> tuple[Block, ...]:
        if not self.sized["loss"]:
            return ()
        load = f"{self.name}_drive.gear.force" if self.sized.elastic else f"{self.name}.motor.torque"
        numbers = {"load_loss": self.sized["loss"], "smoothing_velocity": SMOOTHING_SHARE * self.top_speed}
        return (Block(f"{self.name}.gear_loss", "gear_loss", self.name, {"load": load}, numbers),)
