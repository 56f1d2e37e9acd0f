"""Robot drafts: what does a robot file say, before it is a machine? Links, joints, what belongs to them, and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.spatial import Pose
from robodyn.description.model import Block, LinearCombination, Load, Point
from robodyn.description.model.body import Look
from robodyn.description.model.constraint import Constraint
from robodyn.description.model.joint import GROUND
from robodyn.description.model.numbers import NAME
from robodyn.description.robots.xml_tree import XmlElement


@dataclass(eq=False)
class LinkDraft:
    """A link: its inertia is about its centre of mass, in its own axes.

    Attributes:
        inertial: element that says the inertia.
    """

    name: str
    element: XmlElement
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    looks: list[Look] = field(default_factory=list)
    inertial: XmlElement | None = None


@dataclass(frozen=True)
class MimicDraft:
    """A joint that follows another: `position = ratio * leader + offset`."""

    leader: str
    ratio: float
    offset: float
    element: XmlElement


@dataclass(eq=False)
class JointDraft:
    """A joint, with further fields of the description under their names."""

    name: str
    element: XmlElement
    kind: str
    parent: str
    child: str
    place: Pose
    fields: dict[str, Any] = field(default_factory=dict)
    mimic: MimicDraft | None = None

    @property
    def axis(self) -> np.ndarray:
        return np.array(self.fields.get("axis", (0.0, 0.0, 1.0)))

    def fix(self) -> None:
        """It moves no more."""
        self.kind, self.fields, self.mimic = "fixed", {}, None


@dataclass(eq=False)
class RobotDraft:
    """All that a file says of a robot.

    Attributes:
        bases: how links that no joint carries stand on the ground, by name: kind of joint and place.
        stands_as_asked: whether one of them is the caller's choice.
        points, constraints, blocks, loads, coordinates: parts that the file says itself.
        initial: positions at the start, by signal name.
    """

    name: str
    links: list[LinkDraft] = field(default_factory=list)
    joints: list[JointDraft] = field(default_factory=list)
    bases: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    stands_as_asked: bool = False
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    points: list[Point] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    coordinates: list[LinearCombination] = field(default_factory=list)
    initial: dict[str, float] = field(default_factory=dict)
    flaws: FlawList = field(default_factory=FlawList)

    @property
    def part_names(self) -> list[str]:
        """Names of the parts that the file says itself, joints aside."""
        groups = (self.points, self.constraints, self.blocks, self.loads, self.coordinates)
        return [part.name for group in groups for part in group]


def rotated_inertia(R: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """`R I R^T`, symmetric to the last bit."""
    rotated = R @ inertia @ R.T
    return 0.5 * (rotated + rotated.T)


TAKEN = ("time", "energy", "constraints", "constraint_method", GROUND)
"""Names that every machine has for itself."""


def usable_name(name: str, suffix: str) -> str:
    """A name as near as can be to a given one: letters, digits, _ and -, not one that every machine has."""
    if not NAME.fullmatch(name):
        name = re.sub(r"[^\w\-]", "_", name)
        name = name if NAME.fullmatch(name) else f"_{name}"
    return f"{name}_{suffix}" if name in TAKEN else name


def distinct(name: str, taken: Sequence[str]) -> str:
    """A name that is not taken yet: with a number behind it where it is."""
    number, fresh = 2, name
    while fresh in taken:
        fresh, number = f"{name}_{number}", number + 1
    return fresh


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """A name for a part that the file does not name itself."""
    return distinct(usable_name(wanted, "point"), [*taken])
