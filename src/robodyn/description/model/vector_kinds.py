"""Kinds of fields of several numbers: vectors, places, directions, rotations and arrays, and how they move."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.records import dataclass
from robodyn.description.model.kinds import FREE, Bounds, Kind
from robodyn.description.model.numbers import Number, as_floats, check_rotation, check_vector

if TYPE_CHECKING:
    from robodyn.base.spatial import Pose
    from robodyn.description.model.description import Description

WORLD = "world"


def is_grounded(frame: str, owner: Description, grounded: Collection[str]) -> bool:
    """Whether a frame is the world's, or that of the ground or of one of its points."""
    return frame == WORLD or (bool(frame) and getattr(owner, frame) in grounded)


@dataclass(frozen=True)
class Vector(Kind):
    """Several numbers of one unit.

    Attributes:
        length: how many; None for any number of them.
        suffixes: of their names, () where they are no numbers of the description.
        units: of each of them, where they differ; in files they are then a table by their suffixes.
        frame: field that names the point or body in whose frame it is given, or "world".
        placed: whether it is a place, not a direction or a free vector.
        zero: whether it may have no length.
    """

    unit: str = ""
    length: int | None = None
    suffixes: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    bounds: Bounds = FREE
    frame: str = ""
    placed: bool = False
    zero: bool = True

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not check_vector(flaws, path, value, self.length):
            return value
        for k, entry in enumerate(value if self.bounds != FREE else ()):
            self.bounds.check(flaws, f"{path}[{k}]", entry, self.unit)
        if not self.zero and float(np.linalg.norm(value)) < 1e-9:
            flaws.add(path, "must not be zero")
        return as_floats(tuple(value))

    def numbers(self, owner: Description, path: str, value: Any) -> Iterator[Number]:
        units = self.units or (self.unit,) * len(self.suffixes)
        for suffix, entry, unit in zip(self.suffixes, value if self.suffixes else (), units, strict=True):
            yield Number(f"{path}.{suffix}", entry, unit)

    def changed(self, owner: Description, path: str, value: Any, changes: Mapping[str, float]) -> Any:
        names = [f"{path}.{suffix}" for suffix in self.suffixes]
        if not any(name in changes for name in names):
            return value
        return tuple(changes.get(name, entry) for name, entry in zip(names, value, strict=True))

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        if not is_grounded(self.frame, owner, grounded):
            return value
        return as_floats(place.apply(value) if self.placed else place.R @ np.array(value))


@dataclass(frozen=True)
class Direction(Vector):
    """Three numbers, kept as a unit vector."""

    length: int | None = 3
    zero: bool = False

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        value = super().settle(flaws, path, value)
        if flaws.concern(path):
            return value
        size = float(np.linalg.norm(value))
        # A vector of length one to the last bits stays as it is, so that descriptions are the same when read again.
        near = abs(size - 1.0) < 4 * np.finfo(float).eps
        return value if near else as_floats(np.array(value) / size)


@dataclass(frozen=True)
class Rotation(Kind):
    """A rotation matrix, three rows."""

    frame: str = ""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return as_floats(value) if check_rotation(flaws, value, path) else value

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        return as_floats(place.R @ np.array(value)) if is_grounded(self.frame, owner, grounded) else value


@dataclass(frozen=True)
class Array(Kind):
    """Nested lists of numbers (or of "string" or "boolean"), whose shape its description checks."""

    unit: str = ""
    of: str = "number"

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return as_floats(tuple(value) if isinstance(value, Iterable) else value)
