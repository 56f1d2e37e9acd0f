"""What is the machine? A mechanism with its drives, friction, sensors and controllers, and loads on it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from robodyn.errors import FlawList, nearest
from robodyn.model.block import Block
from robodyn.model.constraint import Closure, Constraint, Coupling, Prescribed, Relation, Rod
from robodyn.model.contact import AnyContact
from robodyn.model.coordinate import Along, Combination, Coordinate, Distance, Linkage, Triangle
from robodyn.model.delay import Delay
from robodyn.model.formula_signal import FormulaSignal
from robodyn.model.interface import Interface
from robodyn.model.joint import GROUND
from robodyn.model.mechanism import Mechanism
from robodyn.model.numbers import (
    XYZ,
    Number,
    Numbered,
    check_distinct,
    check_name,
    check_text,
    check_texts,
    check_vector,
    keep_floats,
)

PARTS = ("coordinates", "blocks", "signals", "delays", "loads", "constraints", "contacts", "interfaces")


@dataclass(frozen=True)
class Load(Numbered):
    """A constant force [N] and torque [N m] on a body at a named point, in world axes."""

    NUMBERS = {"force": (XYZ, "N"), "torque": (XYZ, "N m")}

    name: str
    point: str
    force: tuple[float, ...] = (0.0, 0.0, 0.0)
    torque: tuple[float, ...] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_text(flaws, "point", self.point)
        check_vector(flaws, "force", self.force, 3)
        check_vector(flaws, "torque", self.torque, 3)
        flaws.raise_if_any(f"load '{self.name}'")
        keep_floats(self, "force", "torque")


@dataclass(frozen=True)
class Machine:
    """A mechanism and everything that moves, brakes, measures and controls it.

    Attributes:
        tunable: patterns of mechanism numbers ("*.mass", "payload.*") that stay inputs of the native code;
            block and load numbers always do.
        interfaces: places at which it is coupled with other machines.
        signals: computed from others by formulas.
    """

    name: str
    mechanism: Mechanism | None = None
    blocks: tuple[Block, ...] = ()
    coordinates: tuple[Coordinate, ...] = ()
    delays: tuple[Delay, ...] = ()
    loads: tuple[Load, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    contacts: tuple[AnyContact, ...] = ()
    tunable: tuple[str, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    signals: tuple[FormulaSignal, ...] = ()

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_texts(flaws, "tunable", self.tunable, "patterns")
        flaws.raise_if_any(f"machine '{self.name}'")
        for field in (*PARTS, "tunable"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        check_part_names(flaws, (*self._joints, *self._points, *self._names(*PARTS)))
        check_references(flaws, self._joints, self._points, self.actuated, self)
        check_constraint_references(flaws, self._points, self.actuated, self.constraints)
        check_contact_references(flaws, self._points, self.contacts)
        check_interface_references(flaws, self._points, self.actuated, self.interfaces)
        if not flaws.found:
            check_distinct(flaws, self.numbers())
        self._check_tunable(flaws)
        flaws.raise_if_any(f"machine '{self.name}'")

    @property
    def _joints(self) -> tuple[str, ...]:
        """Moving joints, and the modes of flexible bodies, which can be used like them."""
        if self.mechanism is None:
            return ()
        return (*(j.name for j in self.mechanism.moving_joints), *(mode.name for mode in self.mechanism.modes))

    @property
    def _points(self) -> tuple[str, ...]:
        return tuple(point.name for point in self.mechanism.points) if self.mechanism else ()

    def _names(self, *fields: str) -> Iterator[str]:
        return (part.name for field in fields for part in getattr(self, field))

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

    def numbers(self) -> Iterator[Number]:
        if self.mechanism:
            yield from self.mechanism.numbers()
        for part in (part for group in PARTS for part in getattr(self, group)):
            yield from part.numbers() if hasattr(part, "numbers") else ()

    def with_numbers(self, changes: Mapping[str, float]) -> Machine:
        parts: dict[str, Any] = {
            field: tuple(
                part.with_numbers(changes) if hasattr(part, "with_numbers") else part for part in getattr(self, field)
            )
            for field in PARTS
        }
        mechanism = self.mechanism.with_numbers(changes) if self.mechanism else None
        return dataclasses.replace(self, mechanism=mechanism, **parts)


def check_part_names(flaws: FlawList, names: Iterable[str]) -> None:
    """Moving joints, points, coordinates, blocks, delays, loads, constraints and contacts share one name space."""
    for name, count in Counter(names).items():
        if count > 1:
            flaws.add(name, f"{count} parts have this name", "joints, points, blocks ... share one name space")
        if name in ("time", "energy", "constraints", "treatment"):
            flaws.add(name, "is the name of a signal of every machine", "choose another name")


def check_references(
    flaws: FlawList, joints: Collection[str], points: Collection[str], actuated: Collection[str], parts: Any
) -> None:
    """What coordinates, loads and blocks (of anything that has these three) refer to must be there."""
    for c in parts.coordinates:
        path = f"coordinates.{c.name}"
        if isinstance(c, (Combination, Linkage, Triangle)):
            _check_known(flaws, f"{path}.of", c.of, joints, "moving joint")
        if isinstance(c, Triangle) and c.at is not None:
            _check_known(flaws, f"{path}.at", (c.at,), points, "point")
        elif isinstance(c, Distance):
            _check_known(flaws, path, (c.start, c.end), points, "point")
        elif isinstance(c, Along):
            _check_known(flaws, f"{path}.point", (c.point,), points, "point")
    for load in parts.loads:
        _check_known(flaws, f"loads.{load.name}.point", (load.point,), points, "point")
    for block in parts.blocks:
        path = f"blocks.{block.name}"
        if block.on:
            _check_known(flaws, f"{path}.on", (block.on,), actuated, "joint or coordinate")
        for output, target in block.acts.items():
            _check_known(flaws, f"{path}.acts.{output}", (target,), actuated, "joint or coordinate")


def check_constraint_references(
    flaws: FlawList, points: Collection[str], actuated: Collection[str], constraints: Iterable[Constraint]
) -> None:
    """Points, joints and coordinates that constraints name must be there."""
    for c in constraints:
        path = f"constraints.{c.name}"
        if isinstance(c, Closure):
            _check_known(flaws, path, (c.first, c.second), points, "point")
        elif isinstance(c, Rod):
            _check_known(flaws, path, (c.start, c.end), points, "point")
        elif isinstance(c, (Coupling, Relation)):
            _check_known(flaws, f"{path}.of", c.of, actuated, "joint or coordinate")
        elif isinstance(c, Prescribed):
            _check_known(flaws, f"{path}.of", (c.of,), actuated, "joint or coordinate")


def check_contact_references(flaws: FlawList, points: Collection[str], contacts: Iterable[AnyContact]) -> None:
    """Points that contacts name must be there."""
    for contact in contacts:
        for role, point in zip(("touching", "against"), contact.points, strict=True):
            _check_known(flaws, f"contacts.{contact.name}.{role}.point", (point,), points, "point")


def check_interface_references(
    flaws: FlawList, points: Collection[str], actuated: Collection[str], interfaces: Iterable[Interface]
) -> None:
    """The point, joint or coordinate of each interface must be there."""
    for interface in interfaces:
        path = f"interfaces.{interface.name}"
        if interface.point is not None:
            _check_known(flaws, f"{path}.point", (interface.point,), points, "point")
        else:
            _check_known(flaws, f"{path}.on", (interface.on,), actuated, "joint or coordinate")


def _check_known(flaws: FlawList, path: str, names: Any, known: Any, noun: str) -> None:
    for name in names:
        if name not in known:
            hint = "a force on the ground has no effect" if name == GROUND else nearest(name, known)
            flaws.add(path, f"there is no {noun} '{name}'", hint)
