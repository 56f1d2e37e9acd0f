"""How are two bodies joined, and which frames on a body have names?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.model.numbers import (
    XYZ,
    Number,
    Numbered,
    as_floats,
    check_finite,
    check_name,
    check_text,
    check_vector,
    keep_floats,
)

GROUND = "ground"
KINDS = ("revolute", "prismatic", "fixed")
Z_AXIS = (0.0, 0.0, 1.0)
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def check_rotation(flaws: FlawList, rotation: Any) -> None:
    """R^T R = E and det R = 1, to the precision of hand-written numbers."""
    try:
        matrix = np.array(rotation)
    except ValueError:  # rows of different lengths
        matrix = np.zeros(0)
    if matrix.shape != (3, 3) or matrix.dtype.kind not in "if":
        remedy = "robodyn.spatial has from_rpy, from_quaternion, about_axis"
        flaws.add("rotation", "must be a 3x3 matrix of numbers", remedy)
    elif not np.allclose(matrix.T @ matrix, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        flaws.add("rotation", "is not a rotation matrix", "columns must be orthonormal and right-handed")


def _check_node(flaws: FlawList, node: Any) -> None:
    if node is not None:
        check_text(flaws, "node", node)


@dataclass(frozen=True)
class Joint(Numbered):
    """A joint: at zero position the child's frame stands at `origin`, turned by `rotation`, in the parent's.

    Attributes:
        kind: "revolute" (turns about the axis), "prismatic" (slides along it) or "fixed".
        parent: name of the body that carries the joint, or "ground".
        origin: [m]; rotation: R_parent_child at zero position.
        axis: unit vector in the child's frame (normalised here); a fixed joint has none.
        armature: inertia of a rotor geared to the joint, as the joint sees it [kg m^2 or kg].
        node: of a flexible parent, the node that carries it, as by a rigid bracket; None for the one at `origin`.
    """

    NUMBERS = {"origin": (XYZ, "m"), "armature": ((), "kg m^2")}

    name: str
    kind: str
    parent: str
    child: str
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[tuple[float, ...], ...] = IDENTITY
    axis: tuple[float, ...] = Z_AXIS
    armature: float = 0.0
    node: str | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        if self.kind not in KINDS:
            flaws.add("kind", f"'{self.kind}' is unknown", nearest(str(self.kind), KINDS))
        check_text(flaws, "parent", self.parent)
        check_text(flaws, "child", self.child)
        check_vector(flaws, "origin", self.origin, 3)
        check_rotation(flaws, self.rotation)
        _check_node(flaws, self.node)
        self._check_motion(flaws)
        flaws.raise_if_any(f"joint '{self.name}'")
        keep_floats(self, "origin", "rotation", "armature")
        object.__setattr__(self, "axis", as_floats(np.asarray(self.axis, float) / np.linalg.norm(self.axis)))

    def _check_motion(self, flaws: FlawList) -> None:
        usable = check_vector(flaws, "axis", self.axis, 3)
        if usable and np.linalg.norm(self.axis) < 1e-9:
            flaws.add("axis", "must not be zero")
        if check_finite(flaws, "armature", self.armature) and self.armature < 0:
            flaws.add("armature", f"must not be negative, is {self.armature:g}")
        if self.kind == "fixed":
            if usable and as_floats(self.axis) != Z_AXIS:
                flaws.add("axis", "has no effect on a fixed joint", "turn the child by rotation instead")
            if self.armature != 0:
                flaws.add("armature", "has no effect on a fixed joint", "leave it out")

    def numbers(self) -> Iterator[Number]:
        for number in super().numbers():
            if number.name != f"{self.name}.armature":
                yield number
            elif self.kind != "fixed":
                yield Number(number.name, number.value, "kg m^2" if self.turns else "kg")

    @property
    def turns(self) -> bool:
        """Whether its position is an angle."""
        return self.kind == "revolute"


@dataclass(frozen=True)
class Point(Numbered):
    """A named point of a body: its world position and velocity become signals, forces can act there.

    Attributes:
        node: of a flexible body, the node that carries it, as by a rigid bracket; None for the one at `origin`.
    """

    NUMBERS = {"origin": (XYZ, "m")}

    name: str
    body: str
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    node: str | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_text(flaws, "body", self.body)
        check_vector(flaws, "origin", self.origin, 3)
        _check_node(flaws, self.node)
        flaws.raise_if_any(f"point '{self.name}'")
        keep_floats(self, "origin")
