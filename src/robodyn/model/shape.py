"""What can touch, and what can be touched? Points, balls and boxes; planes and boxes. All hang on named points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from robodyn.errors import FlawList
from robodyn.model.joint import IDENTITY, check_rotation
from robodyn.model.numbers import (
    XYZ,
    Number,
    as_floats,
    check_finite,
    check_text,
    check_vector,
    keep_floats,
)


@dataclass(frozen=True)
class Ball:
    """A ball about a named point of a body; the point itself where its radius is 0 [m]."""

    point: str
    radius: float = 0.0

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_text(flaws, "point", self.point)
        if check_finite(flaws, "radius", self.radius) and self.radius < 0:
            flaws.add("radius", f"must not be negative, is {self.radius:g} m")
        flaws.raise_if_any("ball")
        keep_floats(self, "radius")

    def numbers(self, prefix: str) -> Iterator[Number]:
        yield Number(f"{prefix}.radius", self.radius, "m")

    def with_numbers(self, prefix: str, changes: Mapping[str, float]) -> Self:
        return type(self)(self.point, changes.get(f"{prefix}.radius", self.radius))


@dataclass(frozen=True)
class Box:
    """A box whose middle is a named point: its eight corners touch, or its six faces are touched.

    Attributes:
        size: full lengths of its edges [m].
        rotation: of the box in the frame of the point's body.
    """

    point: str
    size: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...] = IDENTITY

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_text(flaws, "point", self.point)
        if check_vector(flaws, "size", self.size, 3) and min(self.size) <= 0:
            flaws.add("size", f"must be positive, is {min(self.size):g} m")
        check_rotation(flaws, self.rotation)
        flaws.raise_if_any("box")
        keep_floats(self, "size", "rotation")

    def numbers(self, prefix: str) -> Iterator[Number]:
        for axis, length in zip(XYZ, self.size, strict=True):
            yield Number(f"{prefix}.size.{axis}", length, "m")

    def with_numbers(self, prefix: str, changes: Mapping[str, float]) -> Self:
        size = tuple(changes.get(f"{prefix}.size.{axis}", old) for axis, old in zip(XYZ, self.size, strict=True))
        return type(self)(self.point, size, self.rotation)


@dataclass(frozen=True)
class Plane:
    """A plane through a named point, of the ground or of a body; what may be touched lies behind it.

    Attributes:
        normal: out of the material, in the frame of the point's body (normalised here).
    """

    point: str
    normal: tuple[float, ...] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_text(flaws, "point", self.point)
        if check_vector(flaws, "normal", self.normal, 3) and np.linalg.norm(self.normal) < 1e-9:
            flaws.add("normal", "must not be zero")
        flaws.raise_if_any("plane")
        object.__setattr__(self, "normal", as_floats(np.asarray(self.normal, float) / np.linalg.norm(self.normal)))

    def numbers(self, prefix: str) -> Iterator[Number]:
        return iter(())

    def with_numbers(self, prefix: str, changes: Mapping[str, float]) -> Self:
        return self


Touching = Ball | Box
Touched = Plane | Box


def check_shape(flaws: FlawList, path: str, value: Any, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        names = " or ".join(f"a {kind.__name__}" for kind in kinds)
        flaws.add(path, f"must be {names}, is {value!r}")
