"""Machine: mechanism, blocks and what connects them; several in a workcell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.lazy import Displayed
from robodyn.base.spatial import Pose
from robodyn.description.model.block import Block
from robodyn.description.model.constraint import CONSTRAINTS, Constraint
from robodyn.description.model.contact import CONTACTS, AnyContact, RigidContact
from robodyn.description.model.coordinate import COORDINATES, Coordinate, PointCoordinate, mimic_constraints
from robodyn.description.model.description import Description
from robodyn.description.model.event import Delay
from robodyn.description.model.fields import ZERO, child, children, choice, part_name, reference, texts, vector
from robodyn.description.model.formula import FormulaSignal
from robodyn.description.model.interface import Interface
from robodyn.description.model.joint import GROUND
from robodyn.description.model.kinds import WORLD, Parts, Rename
from robodyn.description.model.mechanism import Mechanism
from robodyn.description.model.numbers import XYZ, Floats, check_distinct, check_name
from robodyn.description.model.state_controller import StateController

if TYPE_CHECKING:
    from robodyn.base.spatial import Pose

# --------------------------------------------------------------------------------------------------
# Machines: what is one? A mechanism with its drives, friction, sensors and controllers, and loads on it.


BODY = "body"
Names = Mapping[str, Collection[str]]
"""What can be referred to ("point", "moving joint", ...) -> names of those that there are."""


class Load(Description):
    """A force and torque on a body at a named point, constant or times a signal."""

    NOUN = "load"

    name: str = part_name()
    point: str = reference("point", doc="where it acts")
    force: Floats = vector("N", default=ZERO, frame=WORLD, doc="in the axes of `frame`")
    torque: Floats = vector("N m", default=ZERO, frame=WORLD, doc="in the axes of `frame`")
    frame: str = choice((WORLD, BODY), default=WORLD, doc='`"world"`, or `"body"`: its axes rotate with the body')
    times: str | None = reference(
        "signal",
        default=None,
        absent="nothing",
        doc="signal that force and torque are multiplied by; they are then those per unit of the signal",
    )

    def moved(self, place: Pose, grounded: Collection[str]) -> Self:
        return self if self.frame == BODY else super().moved(place, grounded)


class Machine(Description, Displayed):
    """A mechanism and everything that moves, brakes, measures and controls it; interfaces couple it with others."""

    NOUN = "machine"

    name: str = part_name(key="machine", doc="name of the machine", absent="the scenario's")
    mechanism: Mechanism | None = child(Mechanism, default=None, inline=True)
    blocks: tuple[Block, ...] = children(Block, default=())
    coordinates: tuple[Coordinate, ...] = children(*COORDINATES, default=())
    delays: tuple[Delay, ...] = children(Delay, default=())
    loads: tuple[Load, ...] = children(Load, default=())
    constraints: tuple[Constraint, ...] = children(*CONSTRAINTS, default=())
    contacts: tuple[AnyContact, ...] = children(*CONTACTS, default=())
    tunable: tuple[str, ...] = texts(
        "pattern",
        default=(),
        absent="none",
        doc='patterns of numbers of the mechanism (`"*.mass"`, `"payload.*"`) that change without compiling again; '
        "those of blocks and loads always do",
    )
    interfaces: tuple[Interface, ...] = children(Interface, default=())
    signals: tuple[FormulaSignal, ...] = children(FormulaSignal, default=())
    controllers: tuple[StateController, ...] = children(StateController, default=())

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        others = [name for name in PARTS if name != "constraints"]
        own = [*self._names(*others), *(part.name for part in (*self.all_constraints, *self.joint_blocks))]
        check_part_names(flaws, (*self._joints, *self._balls, *self._points, *own))
        names = reference_names(self._joints, self._points, tuple(self._names("coordinates")))
        check_references(flaws, names, {group: getattr(self, group) for group in PARTS})
        if not flaws.found:
            check_distinct(flaws, self.numbers())
        self._check_tunable(flaws)

    @cached_property
    def joint_blocks(self) -> tuple[Block, ...]:
        """Damping, friction and end stops of the joints."""
        joints = self.mechanism.ordered_joints if self.mechanism else ()
        return tuple(block for joint in joints for block in joint.blocks)

    @cached_property
    def all_blocks(self) -> tuple[Block, ...]:
        """Every block that acts: those given, then those of the joints."""
        return (*self.blocks, *self.joint_blocks)

    def with_all_blocks(self, blocks: Iterable[Block]) -> Self:
        """The same machine with other blocks in place of all, those of its joints too."""
        mechanism = self.mechanism
        if mechanism is not None and self.joint_blocks:
            mechanism = mechanism.replaced(joints=tuple(joint.without_blocks() for joint in mechanism.joints))
        return self.replaced(blocks=tuple(blocks), mechanism=mechanism)

    @property
    def rigid_parts(self) -> tuple[str, ...]:
        """Where it is said that something is rigid and may be hit: contacts, end stops of joints."""
        contacts = [f"contacts.{contact.name}" for contact in self.contacts if isinstance(contact, RigidContact)]
        stops = self.mechanism.rigid_stops if self.mechanism else ()
        return (*contacts, *(f"joints.{joint.name}.stop_restitution" for joint in stops))

    @cached_property
    def all_constraints(self) -> tuple[Constraint, ...]:
        """Those described, and those of joints that follow others."""
        return (*self.constraints, *(mimic_constraints(self.mechanism.joints) if self.mechanism else ()))

    @property
    def _joints(self) -> tuple[str, ...]:
        """Axes of joints, and the modes of flexible bodies, which can be used like them."""
        return tuple(freedom.name for freedom in self.mechanism.scalar_freedoms) if self.mechanism else ()

    @property
    def _balls(self) -> tuple[str, ...]:
        """Joints that have an orientation instead of a position."""
        return tuple(f.name for f in self.mechanism.freedoms if not f.is_single) if self.mechanism else ()

    @property
    def _points(self) -> tuple[str, ...]:
        return tuple(point.name for point in self.mechanism.points) if self.mechanism else ()

    def _names(self, *fields: str) -> Iterator[str]:
        return (part.name for field in fields for part in getattr(self, field))

    def __repr__(self) -> str:
        joints = self.mechanism.joints if self.mechanism else ()
        return f"<Machine {self.name}: {len(joints)} joints, {len(self.blocks)} blocks>"

    @property
    def actuated(self) -> tuple[str, ...]:
        """Names a force can act on: moving joints, modes and coordinates."""
        return (*self._joints, *self._names("coordinates"))

    def _check_tunable(self, flaws: FlawList) -> None:
        parts = [*([self.mechanism] if self.mechanism else []), *self.coordinates]
        known = [number.name for part in parts for number in part.numbers()]
        for pattern in self.tunable:
            if not any(fnmatchcase(name, str(pattern)) for name in known):
                what = f"'{pattern}' matches no number of the mechanism"
                flaws.add("tunable", what, f"{nearest(pattern, known)} (numbers of blocks and loads always are)")


PARTS = tuple(field for field, kind in Machine.KINDS.items() if isinstance(kind, Parts))
"""Groups of a machine's parts."""


def check_part_names(flaws: FlawList, names: Iterable[str]) -> None:
    """Moving joints, points, coordinates, blocks, delays, loads, constraints and contacts share one name space."""
    for name, count in Counter(names).items():
        if count > 1:
            flaws.add(name, f"{count} parts have this name", "joints, points, blocks ... share one name space")
        if name in ("time", "energy", "constraints", "constraint_method"):
            flaws.add(name, "is the name of a signal of every machine", "choose another name")


def reference_names(joints: Collection[str], points: Collection[str], coordinates: Collection[str]) -> Names:
    """What parts of a machine may refer to; signals are known only when it is assembled."""
    return {"point": points, "moving joint": joints, "joint or coordinate": (*joints, *coordinates)}


def check_references(flaws: FlawList, names: Names, parts: Mapping[str, Iterable[Any]]) -> None:
    """Points, joints and coordinates that parts name must be there.

    Args:
        parts: by their group ("blocks").
    """
    for path, to, name in find_references(parts):
        if to in names and name not in names[to]:
            hint = "a force on the ground has no effect" if name == GROUND else nearest(name, names[to])
            flaws.add(path, f"there is no {to} '{name}'", hint)


def find_references(parts: Mapping[str, Iterable[Any]]) -> Iterator[tuple[str, str, str]]:
    """Every name by which parts refer to others: its path, what it refers to, the name."""
    for group, members in parts.items():
        for part in members:
            yield from part.references(f"{group}.{part.name}")


# --------------------------------------------------------------------------------------------------
# Combined machines: several as one, each with its parts under a prefix, and at its own place.


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
    flaws.add_unknown(places, machines, "there is no such machine", "places")
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
    gravities = {prefix: machine.mechanism.gravity for prefix, machine in machines.items() if machine.mechanism}
    for prefix, gravity in gravities.items():
        first = next(iter(gravities.values()))
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
