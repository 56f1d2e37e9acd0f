"""Combined machines: several as one, each with its parts under a prefix, and at its own place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.spatial import Pose
from robodyn.description.model.block import Block
from robodyn.description.model.constraint import Constraint
from robodyn.description.model.coordinate import PointCoordinate
from robodyn.description.model.joint import GROUND
from robodyn.description.model.kinds import Rename
from robodyn.description.model.machine import PARTS, Machine, find_references
from robodyn.description.model.mechanism import Mechanism
from robodyn.description.model.numbers import XYZ, check_name

SHARED = ("energy.", "constraints.")
"""Signals that belong to the whole, not to one of the machines."""


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
        if isinstance(coordinate, PointCoordinate) and abs(np.dot(place.R @ coordinate.direction, place.p)) > 0:
            what = "is measured from the world's origin: the place would shift it"
            flaws.add(f"{prefix}.coordinates.{coordinate.name}", what, "choose a place perpendicular to its direction")


def _check_gravity(flaws: FlawList, machines: Mapping[str, Machine]) -> None:
    found = {prefix: machine.mechanism.gravity for prefix, machine in machines.items() if machine.mechanism}
    for prefix, gravity in found.items():
        first = next(iter(found.values()))
        if gravity != first:
            flaws.add(f"{prefix}.gravity", f"is {gravity}, that of the first machine {first}", "make them alike")


def _signals(machine: Machine) -> Iterable[tuple[str, str]]:
    """Every signal a machine's parts read, with the place where it is named."""
    groups = {group: getattr(machine, group) for group in PARTS}
    return [(path, name) for path, to, name in find_references(groups) if to == "signal"]


def _prefix(prefix: str, machine: Machine, place: Pose) -> Machine:
    """A machine with its parts under a prefix, and at another place."""
    points = machine.mechanism.points if machine.mechanism else ()
    grounded = {GROUND, *(point.name for point in points if point.body == GROUND)}
    parts = {
        group: tuple(part.moved(place, grounded).renamed(_under(prefix)) for part in getattr(machine, group))
        for group in PARTS
    }
    tunable = tuple(name for pattern in machine.tunable for name in _rename_pattern(prefix, pattern))
    mechanism = machine.mechanism
    if mechanism:
        mechanism = mechanism.moved(place, grounded).renamed(_under(prefix)).replaced(name=mechanism.name)
    return machine.replaced(mechanism=mechanism, tunable=tunable, **parts)


def _under(prefix: str) -> Rename:
    """Names under a prefix; the time and the ground stay."""
    return lambda to, name: name if name in (GROUND, "time") else f"{prefix}.{name}"


def _rename_pattern(prefix: str, pattern: str) -> Iterable[str]:
    """A pattern of a machine's numbers; gravity is one for all."""
    gravity = [f"gravity.{axis}" for axis in XYZ if fnmatchcase(f"gravity.{axis}", pattern)]
    own = [] if pattern.startswith("gravity.") else [f"{prefix}.{pattern}"]
    return (*gravity, *own)
