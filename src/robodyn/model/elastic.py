"""What does a machine become when its gears are elastic? Motors on one side, joints on the other, a twist between.

    rigid:    M(q) + T^T J T,   phi = T q
    elastic:  M(q) for the joints, T^T J T for the drives theta,   phi = T theta,   gear torque of the twist q - theta

Each elastic joint gets a drive: a hinge (or slide) on the ground without mass, in the joint's own unit. Rotors,
friction, motors and encoders go to the drives; gravity and inertia stay with the joints. As stiffness grows, the rigid
machine is met again. What the turning of a rotor with its arm does to the arm (gyroscopic moments) is left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.errors import FlawList, nearest
from robodyn.model.block import Block
from robodyn.model.body import Body
from robodyn.model.coordinate import Combination, Coordinate
from robodyn.model.delay import Delay
from robodyn.model.formula_signal import FormulaSignal
from robodyn.model.joint import GROUND, Joint
from robodyn.model.machine import Machine
from robodyn.model.mechanism import Mechanism
from robodyn.model.numbers import check_name


@dataclass(frozen=True)
class ElasticGear:
    """A gear that twists.

    Attributes:
        drive: name of the coordinate of the motor's side, in joint units; twist: of joint minus drive.
        stiffness: joint side [N m/rad or N/m]; damping: [N m s/rad or N s/m].
        gap: whole play between the teeth [rad or m]; 0 for none.
    """

    drive: str
    stiffness: float
    damping: float = 0.0
    gap: float = 0.0

    @property
    def twist(self) -> str:
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
    coordinates = tuple(c if c.name in link_side else _move_coordinate(c, drives) for c in machine.coordinates)
    blocks = tuple(b if b.name in link_side else _move_block(b, drives) for b in machine.blocks)
    delays = tuple(d if d.name in link_side else _move_delay(d, drives) for d in machine.delays)
    signals = tuple(s if s.name in link_side else _move_formula(s, drives) for s in machine.signals)
    twists = tuple(Combination(gear.twist, {joint: 1.0, gear.drive: -1.0}) for joint, gear in gears.items())
    return dataclasses.replace(
        machine,
        mechanism=_add_drives(machine.mechanism, gears),
        coordinates=(*coordinates, *twists),
        blocks=(*blocks, *(_gear_block(gear) for gear in gears.values())),
        delays=delays,
        signals=signals,
    )


def _add_drives(mechanism: Mechanism, gears: Mapping[str, ElasticGear]) -> Mechanism:
    """Massless hinges on the ground after all others; armatures go to them."""
    moved = {joint.name: joint for joint in mechanism.joints if joint.name in gears}
    joints = [dataclasses.replace(j, armature=0.0) if j.name in moved else j for j in mechanism.joints]
    drives = [
        Joint(gear.drive, moved[name].kind, GROUND, f"{gear.drive}_rotor", armature=moved[name].armature)
        for name, gear in gears.items()
    ]
    rotors = tuple(Body(joint.child) for joint in drives)
    return dataclasses.replace(mechanism, bodies=(*mechanism.bodies, *rotors), joints=(*joints, *drives))


def _move_coordinate(coordinate: Coordinate, drives: Mapping[str, str]) -> Coordinate:
    """Combinations turn with the drives; lengths between points are those of the arm itself."""
    if not isinstance(coordinate, Combination):
        return coordinate
    return dataclasses.replace(coordinate, of={drives.get(joint, joint): n for joint, n in coordinate.of.items()})


def _move_block(block: Block, drives: Mapping[str, str]) -> Block:
    return dataclasses.replace(
        block,
        on=drives.get(block.on, block.on) if block.on else None,
        acts={output: drives.get(target, target) for output, target in block.acts.items()},
        inputs={key: _move_signal(signal, drives) for key, signal in block.inputs.items()},
    )


def _move_delay(delay: Delay, drives: Mapping[str, str]) -> Delay:
    return dataclasses.replace(delay, signal=_move_signal(delay.signal, drives))


def _move_formula(formula: FormulaSignal, drives: Mapping[str, str]) -> FormulaSignal:
    return formula.renamed(formula.name, lambda signal: _move_signal(signal, drives))


def _move_signal(signal: Any, drives: Mapping[str, str]) -> Any:
    if isinstance(signal, (tuple, list)):
        return tuple(_move_signal(entry, drives) for entry in signal)
    if not isinstance(signal, str):
        return signal
    joint, _, quantity = signal.rpartition(".")
    return f"{drives[joint]}.{quantity}" if joint in drives else signal


def _gear_block(gear: ElasticGear) -> Block:
    parameters = {"stiffness": gear.stiffness, "damping": gear.damping}
    law = "backlash_gear" if gear.gap else "spring"
    parameters |= {"gap": gear.gap} if gear.gap else {}
    return Block(f"{gear.drive}.gear", law, on=gear.twist, parameters=parameters)


def _check(machine: Machine, gears: Mapping[str, ElasticGear], link_side: Collection[str]) -> None:
    flaws = FlawList()
    joints = [joint.name for joint in machine.mechanism.moving_joints] if machine.mechanism else []
    for name, gear in gears.items():
        if name not in joints:
            flaws.add(f"gears.{name}", f"there is no moving joint '{name}'", nearest(name, joints))
        check_name(flaws, gear.drive)
    known = [part.name for part in (*machine.coordinates, *machine.blocks, *machine.signals, *machine.delays)]
    for name in link_side:
        if name not in known:
            flaws.add(f"link_side.{name}", "there is no such coordinate, block or delay", nearest(name, known))
    flaws.raise_if_any(f"machine '{machine.name}'")
