"""Robot drafts: what does a robot file say, before it is a machine? Links, joints and what belongs to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.spatial import Pose
from robodyn.description.model import Block, LinearCombination, Load, Point
from robodyn.description.model.body import Look
from robodyn.description.model.constraint import Constraint
from robodyn.description.robots.xml_tree import Element


@dataclass(eq=False)
class LinkDraft:
    """A link: its inertia is about its centre of mass, in its own axes.

    Attributes:
        inertial: element that says the inertia.
        marked: whether the file itself makes a point of its frame.
    """

    name: str
    element: Element
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    looks: list[Look] = field(default_factory=list)
    inertial: Element | None = None


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: `position = ratio * leader + offset`."""

    leader: str
    ratio: float
    offset: float
    element: Element


@dataclass(eq=False)
class JointDraft:
    """A joint, with further fields of the description under their names."""

    name: str
    element: Element
    kind: str
    parent: str
    child: str
    place: Pose
    fields: dict[str, Any] = field(default_factory=dict)
    mimic: Mimic | None = None

    @property
    def axis(self) -> np.ndarray:
        return np.array(self.fields.get("axis", (0.0, 0.0, 1.0)))


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
    turned = R @ inertia @ R.T
    return 0.5 * (turned + turned.T)
