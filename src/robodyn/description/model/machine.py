"""Machine: mechanism, blocks and what connects them; several in a workcell."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Self

import numpy as np

from robodyn.base import Displayed, FlawList, nearest
from robodyn.base.spatial import Pose

from .block import Block
from .body import Body
from .constraint import CONSTRAINTS, Constraint
from .contact import CONTACTS, AnyContact, RigidContact
from .control_model import StateController
from .coordinate import (
    COORDINATES,
    Coordinate,
    Distance,
    FunctionCoordinate,
    LinearCombination,
    PointCoordinate,
    TriangleLength,
    mimic_constraints,
)
from .description import Description, Rename
from .event import Delay
from .fields import (
    ZERO,
    child,
    children,
    choice,
    part_name,
    quantity,
    reference,
    texts,
    vector,
)
from .formula import FormulaSignal
from .interface import Interface
from .joint import GROUND, SINGLE, Joint
from .kinds import WORLD, Children
from .mechanism import Mechanism
from .numbers import XYZ, Floats, check_distinct, check_name

# --------------------------------------------------------------------------------------------------
# Machines: what is one? A mechanism with its drives, friction, sensors and controllers, and loads on it.


BODY = "body"
Names = Mapping[str, Collection[str]]
"""Kind of parts that can be referred to ("point", "moving joint", ...) -> names of those that there are."""


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


NO_MECHANISM = Mechanism("none", (), ())


class Machine(Description, Displayed):
    """A mechanism with its drives, brakes, sensors and controllers; interfaces couple it with others."""

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

    @property
    def any_mechanism(self) -> Mechanism:
        """Its mechanism; one without bodies where it has none."""
        return self.mechanism or NO_MECHANISM

    @cached_property
    def joint_blocks(self) -> tuple[Block, ...]:
        """Damping, friction and end stops of the joints."""
        return tuple(block for joint in self.any_mechanism.ordered_joints for block in joint.blocks)

    @cached_property
    def all_blocks(self) -> tuple[Block, ...]:
        """Every block that acts: those given, then those of the joints."""
        return (*self.blocks, *self.joint_blocks)

    def with_all_blocks(self, blocks: Iterable[Block]) -> Self:
        """This machine with other blocks in place of all, those of its joints too."""
        mechanism = self.mechanism
        if mechanism is not None and self.joint_blocks:
            mechanism = mechanism.replaced(joints=tuple(joint.without_blocks() for joint in mechanism.joints))
        return self.replaced(blocks=tuple(blocks), mechanism=mechanism)

    @property
    def rigid_parts(self) -> tuple[str, ...]:
        """Where it is said that something is rigid and may be hit: contacts, end stops of joints."""
        contacts = [f"contacts.{contact.name}" for contact in self.contacts if isinstance(contact, RigidContact)]
        return (*contacts, *(f"joints.{joint.name}.stop_restitution" for joint in self.any_mechanism.rigid_stops))

    @cached_property
    def all_constraints(self) -> tuple[Constraint, ...]:
        """Those described, and those of joints that follow others."""
        return (*self.constraints, *mimic_constraints(self.any_mechanism.joints))

    @property
    def _joints(self) -> tuple[str, ...]:
        """Axes of joints, and the modes of flexible bodies, which can be used like them."""
        return tuple(freedom.name for freedom in self.any_mechanism.scalar_freedoms)

    @property
    def _balls(self) -> tuple[str, ...]:
        """Joints that have an orientation instead of a position."""
        return tuple(freedom.name for freedom in self.any_mechanism.freedoms if not freedom.is_single)

    @property
    def _points(self) -> tuple[str, ...]:
        return tuple(point.name for point in self.any_mechanism.points)

    def _names(self, *fields: str) -> Iterator[str]:
        return (part.name for field in fields for part in getattr(self, field))

    def __repr__(self) -> str:
        return f"<Machine {self.name}: {len(self.any_mechanism.joints)} joints, {len(self.blocks)} blocks>"

    @property
    def actuated(self) -> tuple[str, ...]:
        """Names a force can act on: moving joints, modes and coordinates."""
        return (*self._joints, *self._names("coordinates"))

    def _check_tunable(self, flaws: FlawList) -> None:
        parts = [*([self.mechanism] if self.mechanism else []), *self.coordinates]
        names = [number.name for part in parts for number in part.numbers()]
        for pattern in self.tunable:
            if not any(fnmatchcase(name, str(pattern)) for name in names):
                what = f"'{pattern}' matches no number of the mechanism"
                flaws.add("tunable", what, f"{nearest(pattern, names)} (numbers of blocks and loads always are)")


PARTS = tuple(field for field, kind in Machine.KINDS.items() if isinstance(kind, Children))
"""Groups of a machine's parts."""


def check_part_names(flaws: FlawList, names: Iterable[str]) -> None:
    """Moving joints, points, coordinates, blocks, delays, loads, constraints and contacts share one name space."""
    for name, count in Counter(names).items():
        if count > 1:
            flaws.add(name, f"{count} parts have this name", "joints, points, blocks ... share one name space")
        if name in ("time", "energy", "constraints", "constraint_method"):
            flaws.add(name, "is the name of a signal of every machine", "choose another name")


def reference_names(joints: Collection[str], points: Collection[str], coordinates: Collection[str]) -> Names:
    """Names that parts of a machine may refer to; signals are known only when it is assembled."""
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
    """Combine several machines into one: part `elbow` of the machine `left` becomes `left.elbow`.

    A machine's place moves and turns all that it ties to the ground, world directions of its loads and coordinates
    included; gravity stays as it is.

    Args:
        places: pose of a machine's ground in the world, by prefix; the others stand where they are described.
        blocks, constraints: between the machines, with the names of the whole.

    Raises:
        ModelError: for different gravity, places of unknown machines, and blocks that read signals of the whole.
    """
    places = places or {}
    flaws = FlawList()
    if not machines:
        flaws.add("machines", "there are none", "name at least one")
    for prefix in machines:
        check_name(flaws, prefix)
    flaws.add_unknown(places, machines, "there is no such machine", "places")
    # One gravity holds for the whole, and no part reads a signal that would be that of all machines together.
    gravities = {prefix: machine.mechanism.gravity for prefix, machine in machines.items() if machine.mechanism}
    for prefix, gravity in gravities.items():
        first = next(iter(gravities.values()))
        if gravity != first:
            flaws.add(f"{prefix}.gravity", f"is {gravity}, that of the first machine {first}", "make them alike")
    for prefix, machine in machines.items():
        for path, signal in _signals(machine):
            if signal.startswith(SHARED):
                what = f"reads '{signal}', which would be that of all machines together"
                flaws.add(f"{prefix}.{path}", what, "read a signal of the machine's own parts")
        if prefix in places:
            _check_world(flaws, prefix, machine, places[prefix])
    flaws.raise_if_any(f"machine '{name}'")
    # Each machine under its prefix and in its place; then all parts side by side.
    placed = [_prefix(prefix, machine, places.get(prefix, Pose.identity())) for prefix, machine in machines.items()]
    mechanisms = [machine.mechanism for machine in placed if machine.mechanism]
    parts = {
        field: tuple(part for machine in placed for part in getattr(machine, field)) for field in (*PARTS, "tunable")
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


def _check_world(flaws: FlawList, prefix: str, machine: Machine, place: Pose) -> None:
    """Check that nothing is measured from the world's origin: it would silently change with the place."""
    measured = tuple(
        f"{point.name}.{word}." for point in machine.any_mechanism.points for word in ("position", "velocity")
    )
    for path, signal in _signals(machine):
        if signal.startswith(measured):
            what = f"reads '{signal}', which is measured in the world, not in the machine's place"
            flaws.add(f"{prefix}.{path}", what, "give such a block to the whole, in world axes")
    for coordinate in machine.coordinates:
        if isinstance(coordinate, PointCoordinate) and abs(np.dot(place.R @ coordinate.direction, place.p)) > 0:
            what = "is measured from the world's origin: the place would shift it"
            flaws.add(f"{prefix}.coordinates.{coordinate.name}", what, "choose a place perpendicular to its direction")


def _signals(machine: Machine) -> Iterable[tuple[str, str]]:
    """Every signal a machine's parts read, with the place where it is named."""
    groups = {group: getattr(machine, group) for group in PARTS}
    return [(path, name) for path, to, name in find_references(groups) if to == "signal"]


def _prefix(prefix: str, machine: Machine, place: Pose) -> Machine:
    """A machine with its parts under a prefix, and at another place."""
    grounded = {GROUND, *(point.name for point in machine.any_mechanism.points if point.body == GROUND)}
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


# --------------------------------------------------------------------------------------------------
# Controllers of a machine: which of its continuous blocks close loops?


CONTROL = tuple(f"robodyn.description.laws.{name}" for name in ("control", "model_based"))
"""Modules whose laws are controllers, whatever they read."""
MOTION = ""
"""Owner of signals that no block computes: positions, speeds, forces of the machine."""


def find_controllers(machine: Machine) -> list[Block]:
    """Continuous blocks at which a reference and the machine's motion meet first, and those with a controller's law.

    A reference is a block that reads nothing: a step, a spline, a table.
    """
    members: tuple[Any, ...] = (*machine.blocks, *machine.signals, *machine.delays)
    parts = {part.name: part for part in members}
    reads = {name: _read_by(part, parts) for name, part in parts.items()}
    meets: dict[str, bool] = {}
    for name in parts:
        upstream = _upstream(name, reads)
        referred = any(not reads[one] for one in upstream if one in reads)
        meets[name] = bool(reads[name]) and referred and MOTION in upstream
    controllers = []
    for block in machine.blocks:
        first = meets[block.name] and not any(meets.get(one) for one in _upstream(block.name, reads) - {block.name})
        is_control = getattr(block.function, "__module__", "") in CONTROL and MOTION in _upstream(block.name, reads)
        if not block.sampled and not block.info.disturbance and (first or is_control):
            controllers.append(block)
    return controllers


def has_loops(machine: Machine) -> bool:
    """Whether any block is sampled or a continuous controller."""
    return any(block.sampled for block in machine.blocks) or bool(find_controllers(machine))


def _read_by(part: Any, parts: Mapping[str, Any]) -> set[str]:
    """Names of the parts whose signals a part reads; `MOTION` where it reads the machine's own."""
    owners = set()
    for _, to, name in part.references():
        if to == "signal":
            pieces = str(name).split(".")
            longer = (".".join(pieces[:k]) for k in range(len(pieces), 0, -1))
            owners.add(next((owner for owner in longer if owner in parts and owner != part.name), MOTION))
    if isinstance(part, Block) and (part.on or part.takes_model):
        owners.add(MOTION)
    return owners


def _upstream(name: str, reads: Mapping[str, set[str]]) -> set[str]:
    """All parts that a part depends on, itself and `MOTION` included; the machine itself is not passed."""
    visited, waiting = {name}, [name]
    while waiting:
        fresh = reads.get(waiting.pop(), set()) - visited
        visited |= fresh
        waiting += fresh
    return visited


# --------------------------------------------------------------------------------------------------
# Elastic gears: what does a machine become with them? Motors on one side, joints on the other, a twist between.
#
#     rigid:    M(q) + T^T J T,   phi = T q
#     elastic:  M(q) for the joints, T^T J T for the drives theta,   phi = T theta,   gear torque of the twist q - theta
#
# Each elastic joint gets a drive: a hinge (or slide) on the ground without mass, in the joint's own unit. Rotors,
# friction, motors and encoders go to the drives; gravity and inertia stay with the joints. As stiffness grows, the
# rigid machine is met again. What the turning of a rotor with its arm does to the arm (gyroscopic moments) is left out.


ARM = (PointCoordinate, Distance, FunctionCoordinate, TriangleLength)
"""Coordinates of the arm itself; combinations turn with the drives."""
OF_DRIVES: Mapping[str, Any] = {"armature": 0.0, "damping": None, "friction": None, "effort_limit": None}
"""Properties of a joint that are its drive's, and their values without it; positions and speeds are the arm's."""


class ElasticGear(Description):
    """An elastic gear between a motor and its joint."""

    NOUN = "gear"

    drive: str = part_name(doc="name of the coordinate of the motor's side, in joint units")
    stiffness: float = quantity(positive=True, doc="on the joint's side [N m/rad or N/m]")
    damping: float = quantity(non_negative=True, default=0.0, doc="[N m s/rad or N s/m]")
    gap: float = quantity(non_negative=True, default=0.0, doc="total backlash [rad or m]")

    @property
    def twist(self) -> str:
        """Name of the coordinate of joint minus drive."""
        return f"{self.drive}_twist"


def with_elastic_joints(machine: Machine, gears: Mapping[str, ElasticGear], link_side: Collection[str] = ()) -> Machine:
    """The machine with elastic gears.

    Combinations of elastic joints, and blocks on such joints, go to the drives, their names kept; so do the signals
    that blocks, formulas and delays read.

    Args:
        gears: joint -> its gear.
        link_side: coordinates, blocks, formulas and delays that stay with the joints (a sensor behind the gear).
    """
    flaws = FlawList()
    joints = [joint.name for joint in machine.any_mechanism.joints if joint.kind in SINGLE]
    for name in gears:
        if name not in joints:
            flaws.add(f"gears.{name}", f"there is no joint of one motion '{name}'", nearest(name, joints))
    groups = (machine.coordinates, machine.blocks, machine.signals, machine.delays, machine.controllers)
    names = [part.name for group in groups for part in group]
    flaws.add_unknown(link_side, names, "there is no such coordinate, block or delay", "link_side")
    flaws.raise_if_any(f"machine '{machine.name}'")
    assert machine.mechanism is not None
    # The motor's side of a gear is a joint of its own: what acted on the joint acts on that, unless it stays behind.
    drives = {joint: gear.drive for joint, gear in gears.items()}
    rename = _to_drives(drives)

    def moved(parts: Iterable[Any]) -> tuple[Any, ...]:
        stays = [part.name in link_side or isinstance(part, ARM) for part in parts]
        return tuple(part if stay else part.renamed(rename) for part, stay in zip(parts, stays, strict=True))

    # The gear is a spring in the twist between both.
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
    geared = {joint.name: joint for joint in mechanism.joints if joint.name in gears}
    joints = [joint.replaced(**OF_DRIVES) if joint.name in geared else joint for joint in mechanism.joints]
    drives = [
        Joint(gear.drive, "revolute" if geared[name].rotates else "prismatic", GROUND, f"{gear.drive}_rotor").replaced(
            **{field: getattr(geared[name], field) for field in OF_DRIVES}
        )
        for name, gear in gears.items()
    ]
    rotors = tuple(Body(joint.child) for joint in drives)
    return dataclasses.replace(mechanism, bodies=(*mechanism.bodies, *rotors), joints=(*joints, *drives))


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
