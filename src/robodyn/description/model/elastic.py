"""Elastic gears: what does a machine become with them? Motors on one side, joints on the other, a twist between.

    rigid:    M(q) + T^T J T,   phi = T q
    elastic:  M(q) for the joints, T^T J T for the drives theta,   phi = T theta,   gear torque of the twist q - theta

Each elastic joint gets a drive: a hinge (or slide) on the ground without mass, in the joint's own unit. Rotors,
friction, motors and encoders go to the drives; gravity and inertia stay with the joints. As stiffness grows, the rigid
machine is met again. What the turning of a rotor with its arm does to the arm (gyroscopic moments) is left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from robodyn.base.errors import FlawList, nearest
from robodyn.description.model.block import Block
from robodyn.description.model.body import Body
from robodyn.description.model.coordinate import (
    Distance,
    FunctionCoordinate,
    LinearCombination,
    PointCoordinate,
    TriangleLength,
)
from robodyn.description.model.description import Description
from robodyn.description.model.fields import part_name, quantity
from robodyn.description.model.joint import GROUND, SINGLE, Joint
from robodyn.description.model.kinds import Rename
from robodyn.description.model.machine import Machine
from robodyn.description.model.mechanism import Mechanism

ARM = (PointCoordinate, Distance, FunctionCoordinate, TriangleLength)
"""Coordinates of the arm itself; combinations turn with the drives."""
OF_DRIVES: Mapping[str, Any] = {"armature": 0.0, "damping": None, "friction": None, "effort_limit": None}
"""Properties of a joint that are its drive's, and their values without it; positions and speeds are the arm's."""


class ElasticGear(Description):
    """A gear that twists."""

    NOUN = "gear"

    drive: str = part_name(doc="name of the coordinate of the motor's side, in joint units")
    stiffness: float = quantity(positive=True, doc="on the joint's side [N m/rad or N/m]")
    damping: float = quantity(non_negative=True, default=0.0, doc="[N m s/rad or N s/m]")
    gap: float = quantity(non_negative=True, default=0.0, doc="whole play between the teeth [rad or m]")

    @property
    def twist(self) -> str:
        """Name of the coordinate of joint minus drive."""
        return f"{self.drive}_twist"


def with_elastic_joints(machine: Machine, gears: Mapping[str, ElasticGear], link_side: Collection[str] = ()) -> Machine:
    """The same machine with elastic gears.

    Combinations of elastic joints, and blocks on such joints, go to the drives, their names kept; so do the signals
    that blocks, formulas and delays read.

    Args:
        gears: joint -> its gear.
        link_side: coordinates, blocks, formulas and delays that stay with the joints (a sensor behind the gear).
    """
    _check(machine, gears, link_side)
    assert machine.mechanism is not None
    drives = {joint: gear.drive for joint, gear in gears.items()}
    rename = _to_drives(drives)

    def moved(parts: Iterable[Any]) -> tuple[Any, ...]:
        stays = [part.name in link_side or isinstance(part, ARM) for part in parts]
        return tuple(part if stay else part.renamed(rename) for part, stay in zip(parts, stays, strict=True))

    twists = tuple(LinearCombination(gear.twist, {joint: 1.0, gear.drive: -1.0}) for joint, gear in gears.items())
    return dataclasses.replace(
        machine,
        mechanism=_add_drives(machine.mechanism, gears),
        coordinates=(*moved(machine.coordinates), *twists),
        blocks=(*moved(machine.blocks), *(_gear_block(gear) for gear in gears.values())),
        delays=moved(machine.delays),
        controllers=moved(machine.controllers),
        signals=moved(machine.signals),
    )


def _add_drives(mechanism: Mechanism, gears: Mapping[str, ElasticGear]) -> Mechanism:
    """Massless hinges on the ground after all others; what belongs to a joint's drive goes to them."""
    moved = {joint.name: joint for joint in mechanism.joints if joint.name in gears}
    joints = [joint.replaced(**OF_DRIVES) if joint.name in moved else joint for joint in mechanism.joints]
    drives = [
        Joint(gear.drive, _drive_kind(moved[name]), GROUND, f"{gear.drive}_rotor").replaced(
            **{field: getattr(moved[name], field) for field in OF_DRIVES}
        )
        for name, gear in gears.items()
    ]
    rotors = tuple(Body(joint.child) for joint in drives)
    return dataclasses.replace(mechanism, bodies=(*mechanism.bodies, *rotors), joints=(*joints, *drives))


def _drive_kind(joint: Joint) -> str:
    return "revolute" if joint.rotates else "prismatic"


def _to_drives(drives: Mapping[str, str]) -> Rename:
    """Names of joints, and of their signals, become those of the drives; parts keep their own names."""

    def rename(to: str, name: str) -> str:
        if to != "signal":
            return name if to == "part" else drives.get(name, name)
        joint, _, quantity = name.rpartition(".")
        return f"{drives[joint]}.{quantity}" if joint in drives else name

    return rename


def _gear_block(gear: ElasticGear) -> Block:
    parameters = {"stiffness": gear.stiffness, "damping": gear.damping}
    law = "backlash_gear" if gear.gap else "spring"
    parameters |= {"gap": gear.gap} if gear.gap else {}
    return Block(f"{gear.drive}.gear", law, on=gear.twist, parameters=parameters)


def _check(machine: Machine, gears: Mapping[str, ElasticGear], link_side: Collection[str]) -> None:
    flaws = FlawList()
    joints = [joint.name for joint in machine.mechanism.joints if joint.kind in SINGLE] if machine.mechanism else []
    for name in gears:
        if name not in joints:
            flaws.add(f"gears.{name}", f"there is no joint of one motion '{name}'", nearest(name, joints))
    groups = (machine.coordinates, machine.blocks, machine.signals, machine.delays, machine.controllers)
    known = [part.name for group in groups for part in group]
    flaws.add_unknown(link_side, known, "there is no such coordinate, block or delay", "link_side")
    flaws.raise_if_any(f"machine '{machine.name}'")
