"""What are several machines together? One machine: each keeps its parts under a prefix, and stands at its own place."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.model.block import Block
from robodyn.model.constraint import Closure, Constraint
from robodyn.model.contact import AnyContact
from robodyn.model.coordinate import Along, Coordinate, Triangle
from robodyn.model.joint import GROUND, Joint, Point
from robodyn.model.machine import PARTS, Machine
from robodyn.model.mechanism import Mechanism
from robodyn.model.numbers import XYZ, as_floats, check_name
from robodyn.model.shape import Ball, Box, Plane
from robodyn.spatial import Pose

SHARED = ("energy.", "constraints.")
"""Signals that belong to the whole, not to one of the machines."""
REFERENCES = (
    "of", "start", "end", "point", "at", "on", "first", "second", "signal", "position", "velocity", "acceleration",
)  # fmt: skip
"""Fields by which coordinates, delays, loads, constraints and interfaces name joints, points and signals."""


def combine(
    name: str,
    machines: Mapping[str, Machine],
    *,
    places: Mapping[str, Pose] | None = None,
    blocks: Sequence[Block] = (),
    constraints: Sequence[Constraint] = (),
) -> Machine:
    """Several machines as one: part `elbow` of the machine `left` becomes `left.elbow`.

    A machine's place moves and turns all that it ties to the ground, world directions of its loads and coordinates
    included; gravity stays as it is.

    Args:
        places: pose of a machine's ground in the world, by prefix; the others stand where they are described.
        blocks, constraints: between the machines, with the names of the whole.

    Raises:
        ModelError: for different gravity, places of unknown machines, and blocks that read signals of the whole.
    """
    places = places or {}
    _check(name, machines, places)
    moved = [_prefix(prefix, machine, places.get(prefix, Pose.identity())) for prefix, machine in machines.items()]
    mechanisms = [machine.mechanism for machine in moved if machine.mechanism]
    parts = {
        field: tuple(part for machine in moved for part in getattr(machine, field)) for field in (*PARTS, "tunable")
    }
    parts["blocks"] += tuple(blocks)
    parts["constraints"] += tuple(constraints)
    parts["tunable"] = tuple(dict.fromkeys(parts["tunable"]))
    return Machine(name, _join(name, mechanisms) if mechanisms else None, **parts)


def _join(name: str, mechanisms: Sequence[Mechanism]) -> Mechanism:
    bodies, joints, points = (
        tuple(part for mechanism in mechanisms for part in getattr(mechanism, field))
        for field in ("bodies", "joints", "points")
    )
    return Mechanism(name, bodies, joints, points, mechanisms[0].gravity)


def _check(name: str, machines: Mapping[str, Machine], places: Mapping[str, Pose]) -> None:
    flaws = FlawList()
    if not machines:
        flaws.add("machines", "there are none", "name at least one")
    for prefix in machines:
        check_name(flaws, prefix)
    for prefix in places:
        if prefix not in machines:
            flaws.add(f"places.{prefix}", "there is no such machine", nearest(prefix, machines))
    _check_gravity(flaws, machines)
    for prefix, machine in machines.items():
        _check_signals(flaws, prefix, machine)
        if prefix in places:
            _check_world(flaws, prefix, machine, places[prefix])
    flaws.raise_if_any(f"machine '{name}'")


def _check_signals(flaws: FlawList, prefix: str, machine: Machine) -> None:
    for path, signal in _signals(machine):
        if signal.startswith(SHARED):
            what = f"reads '{signal}', which would be that of all machines together"
            flaws.add(f"{prefix}.{path}", what, "read a signal of the machine's own parts")


def _check_world(flaws: FlawList, prefix: str, machine: Machine, place: Pose) -> None:
    """What is measured from the world's origin would silently change with the place."""
    points = [point.name for point in machine.mechanism.points] if machine.mechanism else []
    for path, signal in _signals(machine):
        if any(signal.startswith((f"{point}.position.", f"{point}.velocity.")) for point in points):
            what = f"reads '{signal}', which is measured in the world, not in the machine's place"
            flaws.add(f"{prefix}.{path}", what, "give such a block to the whole, in world axes")
    for coordinate in machine.coordinates:
        if isinstance(coordinate, Along) and abs(np.dot(place.R @ coordinate.direction, place.p)) > 0:
            what = "is measured from the world's origin: the place would shift it"
            flaws.add(f"{prefix}.coordinates.{coordinate.name}", what, "choose a place square to its direction")


def _check_gravity(flaws: FlawList, machines: Mapping[str, Machine]) -> None:
    found = {prefix: machine.mechanism.gravity for prefix, machine in machines.items() if machine.mechanism}
    for prefix, gravity in found.items():
        first = next(iter(found.values()))
        if gravity != first:
            flaws.add(f"{prefix}.gravity", f"is {gravity}, that of the first machine {first}", "make them alike")


def _signals(machine: Machine) -> Iterable[tuple[str, str]]:
    """Every signal a machine's blocks and delays read, with the place where it is named."""
    for block in machine.blocks:
        for key, value in block.inputs.items():
            for signal in value if isinstance(value, (tuple, list)) else (value,):
                if isinstance(signal, str):
                    yield f"blocks.{block.name}.inputs.{key}", signal
    for formula in machine.signals:
        yield from ((f"signals.{formula.name}.formula", signal) for signal in formula.signals)
    for delay in machine.delays:
        yield f"delays.{delay.name}.signal", delay.signal


def _prefix(prefix: str, machine: Machine, place: Pose) -> Machine:
    """A machine with its parts under a prefix, and at another place."""
    grounded = {point.name for point in machine.mechanism.points if point.body == GROUND} if machine.mechanism else ()
    return dataclasses.replace(
        machine,
        mechanism=_move_mechanism(prefix, machine.mechanism, place) if machine.mechanism else None,
        blocks=tuple(_rename_block(prefix, block) for block in machine.blocks),
        coordinates=tuple(_rename(prefix, _turn_coordinate(c, place, grounded)) for c in machine.coordinates),
        signals=tuple(s.renamed(f"{prefix}.{s.name}", lambda name: _named(prefix, name)) for s in machine.signals),
        delays=tuple(_rename(prefix, delay) for delay in machine.delays),
        loads=tuple(_rename(prefix, _turn(load, place, "force", "torque")) for load in machine.loads),
        constraints=tuple(_rename(prefix, _turn_constraint(c, place, grounded)) for c in machine.constraints),
        contacts=tuple(_rename_contact(prefix, c, place, grounded) for c in machine.contacts),
        interfaces=tuple(_rename(prefix, interface) for interface in machine.interfaces),
        tunable=tuple(name for pattern in machine.tunable for name in _rename_pattern(prefix, pattern)),
    )


def _rename_pattern(prefix: str, pattern: str) -> Iterable[str]:
    """A pattern of a machine's numbers; gravity is one for all."""
    gravity = [f"gravity.{axis}" for axis in XYZ if fnmatchcase(f"gravity.{axis}", pattern)]
    own = [] if pattern.startswith("gravity.") else [f"{prefix}.{pattern}"]
    return (*gravity, *own)


def _named(prefix: str, value: Any) -> Any:
    """A reference, several of them, or weights by reference, under a prefix; numbers, `time` and the ground stay."""
    if isinstance(value, Mapping):
        return {f"{prefix}.{key}": entry for key, entry in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple(_named(prefix, entry) for entry in value)
    return f"{prefix}.{value}" if isinstance(value, str) and value not in (GROUND, "time") else value


def _rename(prefix: str, part: Any) -> Any:
    fields = [field.name for field in dataclasses.fields(part) if field.name in REFERENCES]
    return dataclasses.replace(
        part, name=f"{prefix}.{part.name}", **{field: _named(prefix, getattr(part, field)) for field in fields}
    )


def _rename_block(prefix: str, block: Block) -> Block:
    inputs = {key: _named(prefix, value) for key, value in block.inputs.items()}
    acts = {key: _named(prefix, value) for key, value in block.acts.items()}
    return dataclasses.replace(
        block, name=f"{prefix}.{block.name}", on=_named(prefix, block.on), inputs=inputs, acts=acts
    )


def _rename_contact(prefix: str, contact: AnyContact, place: Pose, grounded: Collection[str]) -> AnyContact:
    shapes: dict[str, Any] = {
        role: _rename_shape(prefix, getattr(contact, role), place, grounded) for role in ("touching", "against")
    }
    return dataclasses.replace(contact, name=f"{prefix}.{contact.name}", **shapes)


def _rename_shape(prefix: str, shape: Ball | Box | Plane, place: Pose, grounded: Collection[str]) -> Any:
    """A shape whose point has a new name; on the ground its directions turn with the place."""
    turned: dict[str, Any] = {}
    if shape.point in grounded and isinstance(shape, Plane):
        turned = {"normal": as_floats(place.R @ np.array(shape.normal))}
    elif shape.point in grounded and isinstance(shape, Box):
        turned = {"rotation": as_floats(place.R @ np.array(shape.rotation))}
    return dataclasses.replace(shape, point=f"{prefix}.{shape.point}", **turned)


def _move_mechanism(prefix: str, mechanism: Mechanism, place: Pose) -> Mechanism:
    return Mechanism(
        mechanism.name,
        tuple(dataclasses.replace(body, name=f"{prefix}.{body.name}") for body in mechanism.bodies),
        tuple(_move_joint(prefix, joint, place) for joint in mechanism.joints),
        tuple(_move_point(prefix, point, place) for point in mechanism.points),
        mechanism.gravity,
    )


def _move_joint(prefix: str, joint: Joint, place: Pose) -> Joint:
    frame = Pose(np.array(joint.rotation), np.array(joint.origin))
    frame = place @ frame if joint.parent == GROUND else frame
    return dataclasses.replace(
        joint,
        name=f"{prefix}.{joint.name}",
        parent=_named(prefix, joint.parent),
        child=f"{prefix}.{joint.child}",
        origin=as_floats(frame.p),
        rotation=as_floats(frame.R),
    )


def _move_point(prefix: str, point: Point, place: Pose) -> Point:
    origin = as_floats(place.apply(point.origin)) if point.body == GROUND else point.origin
    return dataclasses.replace(point, name=f"{prefix}.{point.name}", body=_named(prefix, point.body), origin=origin)


def _turn(part: Any, place: Pose, *fields: str) -> Any:
    """A part whose world directions turn with the place."""
    return dataclasses.replace(part, **{field: as_floats(place.R @ np.array(getattr(part, field))) for field in fields})


def _turn_coordinate(coordinate: Coordinate, place: Pose, grounded: Collection[str]) -> Coordinate:
    if isinstance(coordinate, Along):
        return _turn(coordinate, place, "direction")
    turns = isinstance(coordinate, Triangle) and coordinate.at in grounded
    return _turn(coordinate, place, "arm", "axis") if turns else coordinate


def _turn_constraint(constraint: Constraint, place: Pose, grounded: Collection[str]) -> Constraint:
    """Axes and rotations that are given in the ground's own frame turn with it."""
    if not isinstance(constraint, Closure) or constraint.kind == "spherical":
        return constraint
    first, second = (point in grounded for point in (constraint.first, constraint.second))
    if constraint.kind in ("universal", "revolute"):
        turned = _turn(constraint, place, "axis") if first else constraint
        return _turn(turned, place, "second_axis") if second else turned
    rotation = np.array(constraint.rotation)
    rotation = place.R @ rotation if first else rotation
    rotation = rotation @ place.R.T if second else rotation
    turns = first and constraint.kind == "prismatic"
    axis = as_floats(place.R @ constraint.axis) if turns else constraint.axis
    return dataclasses.replace(constraint, axis=axis, second_axis=None, rotation=as_floats(rotation))
