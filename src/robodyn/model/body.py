"""What is a rigid body? Its mass, centre of mass and inertia, checked to be physically possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from robodyn.errors import FlawList
from robodyn.model.numbers import (
    XYZ,
    Numbered,
    as_floats,
    check_finite,
    check_flag,
    check_name,
    check_vector,
    keep_floats,
)

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


@dataclass(frozen=True)
class Body(Numbered):
    """A rigid body in its own frame.

    Attributes:
        mass: [kg]; 0 for a massless intermediate link.
        com: centre of mass [m].
        inertia: about the centre of mass, body axes [kg m^2]: xx, yy, zz, xy, xz, yz (or three, or 3x3).
        physical: False accepts an impossible inertia as published (simplified data), True refuses it.
    """

    NUMBERS = {"mass": ((), "kg"), "com": (XYZ, "m"), "inertia": (TENSOR, "kg m^2")}

    name: str
    mass: float = 0.0
    com: tuple[float, ...] = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] = (0.0,) * 6
    physical: bool = True

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        self._check_mass(flaws)
        check_vector(flaws, "com", self.com, 3)
        check_flag(flaws, "physical", self.physical)
        self._check_inertia(flaws)
        flaws.raise_if_any(f"body '{self.name}'")
        keep_floats(self, "mass", "com")

    def _check_mass(self, flaws: FlawList) -> None:
        if check_finite(flaws, "mass", self.mass) and self.mass < 0:
            flaws.add("mass", f"must not be negative, is {self.mass:g} kg", "0 makes a massless link")

    def _check_inertia(self, flaws: FlawList) -> None:
        try:
            matrix = np.array(self.inertia, float)
        except (TypeError, ValueError):
            flaws.add("inertia", f"must be 3 or 6 numbers or a 3x3 matrix, is {self.inertia!r}")
            return
        if matrix.shape == (3, 3) and not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0, equal_nan=True):
            flaws.add("inertia", "must be symmetric", "give the matrix's own off-diagonals, both alike")
            return
        if matrix.shape not in ((3,), (6,), (3, 3)):
            flaws.add("inertia", f"must be 3 or 6 numbers or a 3x3 matrix, has shape {matrix.shape}")
            return
        entries = _entries(self.inertia)
        object.__setattr__(self, "inertia", entries)
        if check_vector(flaws, "inertia", entries, 6) and self.physical:
            self._check_possible(flaws, np.linalg.eigvalsh(tensor_of(entries)))

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
    def about_origin(cls, name: str, mass: float, com: Any, inertia: Any, physical: bool = True) -> Self:
        """A body whose inertia is given about the origin of its frame instead of its centre of mass.

        I_com = I_origin - m (c.c E - c c^T)
        """
        # What cannot be moved to the centre of mass is refused here, whatever its moments would be.
        checked = cls(name, mass, com, inertia, physical=False)
        c = np.array(checked.com)
        tensor = tensor_of(checked.inertia) - checked.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return cls(name, mass, com, as_floats(tensor), physical)
