"""Machines: what is one? A mechanism with its drives, friction, sensors and controllers, and loads on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from robodyn.base.errors import FlawList, nearest
from robodyn.base.lazy import Displayed
from robodyn.description.model.block import Block
from robodyn.description.model.constraint import CONSTRAINTS, Constraint
from robodyn.description.model.contact import CONTACTS, AnyContact, RigidContact
from robodyn.description.model.coordinate import COORDINATES, Coordinate
from robodyn.description.model.delay import Delay
from robodyn.description.model.description import Description
from robodyn.description.model.fields import ZERO, child, children, choice, part_name, reference, texts, vector
from robodyn.description.model.formula_signal import FormulaSignal
from robodyn.description.model.interface import Interface
from robodyn.description.model.joint import GROUND
from robodyn.description.model.mechanism import Mechanism
from robodyn.description.model.mimic import mimic_constraints
from robodyn.description.model.numbers import Floats, check_distinct
from robodyn.description.model.referring_kinds import Parts
from robodyn.description.model.state_controller import StateController
from robodyn.description.model.vector_kinds import WORLD

if TYPE_CHECKING:
    from robodyn.base.spatial import Pose

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
