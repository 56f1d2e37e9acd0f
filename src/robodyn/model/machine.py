"""What is the machine? A mechanism with its drives, friction, sensors and controllers, and loads on it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.errors import FlawList, nearest
from robodyn.model.block import Block, Delay
from robodyn.model.coordinate import Along, Combination, Coordinate, Distance, Linkage
from robodyn.model.joint import GROUND
from robodyn.model.mechanism import Mechanism
from robodyn.model.numbers import XYZ, Number, Numbered, as_floats, check_name, check_vector

PARTS = ("coordinates", "blocks", "delays", "loads")


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
        check_vector(flaws, "force", self.force, 3)
        check_vector(flaws, "torque", self.torque, 3)
        flaws.raise_if_any(f"load '{self.name}'")
        object.__setattr__(self, "force", as_floats(self.force))
        object.__setattr__(self, "torque", as_floats(self.torque))


@dataclass(frozen=True)
class Machine:
    """A mechanism and everything that moves, brakes, measures and controls it.

    Attributes:
        tunable: patterns of mechanism numbers ("*.mass", "payload.*") that stay inputs of the native code; block
            and load numbers always do.
    """

    name: str
    mechanism: Mechanism | None = None
    blocks: tuple[Block, ...] = ()
    coordinates: tuple[Coordinate, ...] = ()
    delays: tuple[Delay, ...] = ()
    loads: tuple[Load, ...] = ()
    tunable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in (*PARTS, "tunable"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        flaws = FlawList()
        check_name(flaws, self.name)
        self._check_names(flaws)
        self._check_coordinates(flaws)
        self._check_actions(flaws)
        flaws.raise_if_any(f"machine '{self.name}'")

    def _check_names(self, flaws: FlawList) -> None:
        joints = self.mechanism.moving_joints if self.mechanism else ()
        points = self.mechanism.points if self.mechanism else ()
        parts = [*joints, *points, *self.coordinates, *self.blocks, *self.delays, *self.loads]
        for name, count in Counter(part.name for part in parts).items():
            if count > 1:
                flaws.add(name, f"{count} parts have this name", "joints, points, blocks ... share one name space")
            if name in ("time", "energy"):
                flaws.add(name, "is the name of a signal of every machine", "choose another name")

    @property
    def actuated(self) -> tuple[str, ...]:
        """Names a force can act on: moving joints and coordinates."""
        joints = self.mechanism.moving_joints if self.mechanism else ()
        return (*(joint.name for joint in joints), *(c.name for c in self.coordinates))

    def _check_coordinates(self, flaws: FlawList) -> None:
        joints = {joint.name for joint in self.mechanism.moving_joints} if self.mechanism else set()
        points = {point.name for point in self.mechanism.points} if self.mechanism else set()
        for c in self.coordinates:
            if isinstance(c, (Combination, Linkage)):
                _check_known(flaws, f"coordinates.{c.name}.of", c.of, joints, "moving joint")
            elif isinstance(c, Distance):
                _check_known(flaws, f"coordinates.{c.name}", (c.start, c.end), points, "point")
            elif isinstance(c, Along):
                _check_known(flaws, f"coordinates.{c.name}.point", (c.point,), points, "point")
        for load in self.loads:
            _check_known(flaws, f"loads.{load.name}.point", (load.point,), points, "point")

    def _check_actions(self, flaws: FlawList) -> None:
        for block in self.blocks:
            targets = ([("on", block.on)] if block.on else []) + list(block.acts.items())
            for key, target in targets:
                _check_known(flaws, f"blocks.{block.name}.{key}", (target,), self.actuated, "joint or coordinate")

    def numbers(self) -> Iterator[Number]:
        if self.mechanism:
            yield from self.mechanism.numbers()
        for part in (*self.coordinates, *self.blocks, *self.delays, *self.loads):
            yield from part.numbers()

    def with_numbers(self, changes: Mapping[str, float]) -> Machine:
        parts: dict[str, Any] = {
            field: tuple(part.with_numbers(changes) for part in getattr(self, field)) for field in PARTS
        }
        mechanism = self.mechanism.with_numbers(changes) if self.mechanism else None
        return dataclasses.replace(self, mechanism=mechanism, **parts)


def _check_known(flaws: FlawList, path: str, names: Any, known: Any, noun: str) -> None:
    for name in names:
        if name not in known:
            hint = "a force on the ground has no effect" if name == GROUND else nearest(name, known)
            flaws.add(path, f"there is no {noun} '{name}'", hint)
