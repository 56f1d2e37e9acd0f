"""Rigid bodies: what is one? Its mass, centre of mass and inertia, checked to be physically possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.description.model.description import Description
from robodyn.description.model.fields import ZERO, children, flag, part_name, place, quantity, vector
from robodyn.description.model.look import LOOKS, Look
from robodyn.description.model.numbers import Floats, as_floats
from robodyn.description.model.vector_kinds import Vector

TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
# Rounded catalogue data may miss the triangle inequality by their last digit.
TRIANGLE_TOLERANCE = 1e-6


def tensor_of(entries: Any) -> np.ndarray:
    """The symmetric 3x3 matrix of (xx, yy, zz, xy, xz, yz); products are the matrix's own off-diagonals."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _entries(inertia: Any) -> tuple[float, ...]:
    """Six entries from three (diagonal), six, or a symmetric 3x3 matrix."""
    values = as_floats(inertia)
    if len(values) == 3 and isinstance(values[0], tuple):
        return tuple(values[i][j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return (*values, 0.0, 0.0, 0.0) if len(values) == 3 else values


class Inertia(Vector):
    """Six entries from three (diagonal), six, or a symmetric 3x3 matrix."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        try:
            matrix = np.array(value, float)
        except (TypeError, ValueError):
            flaws.add(path, f"must be 3 or 6 numbers or a 3x3 matrix, is {value!r}")
            return value
        if matrix.shape == (3, 3) and not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0, equal_nan=True):
            flaws.add(path, "must be symmetric", "give the matrix's own off-diagonals, both alike")
            return value
        if matrix.shape not in ((3,), (6,), (3, 3)):
            flaws.add(path, f"must be 3 or 6 numbers or a 3x3 matrix, has shape {matrix.shape}")
            return value
        return super().settle(flaws, path, _entries(value))


class Body(Description):
    """A rigid body in its own frame; the inertia may be given by three moments, six numbers or a 3x3 matrix."""

    NOUN = "body"

    name: str = part_name()
    mass: float = quantity("kg", non_negative=True, default=0.0, remedy="0 makes a massless link", doc="")
    com: Floats = place(default=ZERO, doc="centre of mass in the body's frame")
    inertia: Floats = vector(
        "kg m^2",
        6,
        suffixes=TENSOR,
        default=(0.0,) * 6,
        make=Inertia,
        doc="about the centre of mass: three moments, six numbers, a 3 x 3 list, or a table "
        "with any of `xx`, `yy`, `zz`, `xy`, `xz`, `yz`",
    )
    physical: bool = flag(default=True, doc="`false` accepts an inertia no real body can have")
    looks: tuple[Look, ...] = children(*LOOKS, default=(), doc="tables of [looks](#looks) by name", absent="made up")

    def check(self, flaws: FlawList) -> None:
        if self.physical and not flaws.concern("inertia"):
            self._check_possible(flaws, np.linalg.eigvalsh(tensor_of(self.inertia)))

    def _check_possible(self, flaws: FlawList, moments: np.ndarray) -> None:
        """A body of positive density has moments >= 0, none larger than the sum of the other two."""
        smallest, middle, largest = moments
        tolerance = TRIANGLE_TOLERANCE * max(abs(largest), abs(smallest))
        shown = ", ".join(f"{moment:.6g}" for moment in moments)
        remedy = "check whether it is given about the centre of mass; physical = false accepts it as published"
        if smallest < -tolerance:
            flaws.add("inertia", f"has a negative principal moment ({shown} kg m^2)", remedy)
        elif smallest + middle < largest - tolerance:
            what = f"breaks the triangle inequality (principal moments {shown} kg m^2)"
            flaws.add("inertia", what, remedy)

    @classmethod
    def about_origin(
        cls, name: str, mass: float, com: Any, inertia: Any, physical: bool = True, looks: Sequence[Look] = ()
    ) -> Self:
        """A body whose inertia is given about the origin of its frame instead of its centre of mass.

        I_com = I_origin - m (c.c E - c c^T)
        """
        # What cannot be moved to the centre of mass is refused here, whatever its moments would be.
        checked = cls(name, mass, com, inertia, physical=False)
        c = np.array(checked.com)
        tensor = tensor_of(checked.inertia) - checked.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return cls(name, mass, com, as_floats(tensor), physical, tuple(looks))
