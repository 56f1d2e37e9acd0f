"""What is a beam element? Its section, stiffness and shape functions, in its own axes.

Two-node beams in space (Przemieniecki 1968): x along the element, freedoms u, v, w and turns about x, y, z at each end.
With shear (Timoshenko) the shape functions depend on Phi = 12 E I / (G A_s L^2); Phi = 0 is Euler-Bernoulli.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Self

import numpy as np

from robodyn.errors import FlawList
from robodyn.model.numbers import check_finite

X, V, W, TWIST = (0, 6), (1, 7), (2, 8), (3, 9)
BEND_Y, BEND_Z = (1, 5, 7, 11), (2, 4, 8, 10)
"""Freedoms of bending in the planes x-y and x-z; a turn about y is -dw/dx."""


@dataclass(frozen=True)
class Section:
    """A beam's cross-section and material, principal axes y and z.

    Attributes:
        young, shear: moduli [Pa]; density: [kg/m^3]; area: [m^2].
        iy, iz: second moments of area about y (bending in x-z) and z (bending in x-y) [m^4].
        torsion: torsion constant [m^4].
        shear_area: area that bears shear [m^2]; None for a beam stiff in shear (Euler-Bernoulli).
    """

    young: float
    shear: float
    density: float
    area: float
    iy: float
    iz: float
    torsion: float
    shear_area: float | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        for name in ("young", "shear", "density", "area", "iy", "iz", "torsion", "shear_area"):
            value = getattr(self, name)
            if value is None and name == "shear_area":
                continue
            if check_finite(flaws, name, value) and not value > 0:
                flaws.add(name, f"must be positive, is {value:g}")
        flaws.raise_if_any("section")

    @classmethod
    def tube(cls, radius: float, thickness: float, young: float, shear: float, density: float) -> Self:
        """A round tube of an outer radius and a wall thickness [m]; thickness = radius is a rod."""
        inner = radius - thickness
        second = pi / 4 * (radius**4 - inner**4)
        return cls(young, shear, density, pi * (radius**2 - inner**2), second, second, 2 * second)

    @classmethod
    def rectangle(cls, width: float, height: float, young: float, shear: float, density: float) -> Self:
        """A full rectangle, width along y and height along z [m]; torsion after Roark, to 4 %."""
        long, short = max(width, height), min(width, height)
        torsion = long * short**3 * (1 / 3 - 0.21 * short / long * (1 - (short / long) ** 4 / 12))
        area = width * height
        return cls(young, shear, density, area, width * height**3 / 12, height * width**3 / 12, torsion)

    def shear_ratio(self, second: float, length: float) -> float:
        """Phi = 12 E I / (G A_s L^2)."""
        if self.shear_area is None:
            return 0.0
        return 12 * self.young * second / (self.shear * self.shear_area * length**2)

    @property
    def tensor(self) -> np.ndarray:
        """Inertia of a slice [kg m], (3, 3), about its centre."""
        return self.density * np.diag([self.iy + self.iz, self.iy, self.iz])


@dataclass(frozen=True)
class Element:
    """Beams between two named nodes of a frame.

    Attributes:
        parts: number of elements it is divided into.
        up: a direction in the plane x-z of the section, in the body's axes.
    """

    start: str
    end: str
    section: Section
    parts: int = 1
    up: tuple[float, ...] = (0.0, 0.0, 1.0)


def element_axes(along: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Axes x, y, z of an element as columns, z as near to `up` as may be; any where that is along x."""
    x = along / np.linalg.norm(along)
    if np.linalg.norm(np.cross(up, x)) < 1e-9 * np.linalg.norm(up):
        up = np.eye(3)[int(np.argmin(np.abs(x)))]
    y = np.cross(up, x)
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def stiffness(section: Section, length: float) -> np.ndarray:
    """Stiffness of an element in its own axes, (12, 12)."""
    K = np.zeros((12, 12))
    pair = np.array([[1.0, -1.0], [-1.0, 1.0]]) / length
    K[np.ix_(X, X)] = section.young * section.area * pair
    K[np.ix_(TWIST, TWIST)] = section.shear * section.torsion * pair
    for freedoms, second, sign in ((BEND_Y, section.iz, 1.0), (BEND_Z, section.iy, -1.0)):
        phi = section.shear_ratio(second, length)
        K[np.ix_(freedoms, freedoms)] = _bending(section.young * second, length, phi, sign)
    return K


def _bending(rigidity: float, length: float, phi: float, sign: float) -> np.ndarray:
    """Of deflections and turns at both ends; sign: of a turn to the slope."""
    a, b, c = 6.0 * length * sign, (4.0 + phi) * length**2, (2.0 - phi) * length**2
    K = np.array([[12.0, a, -12.0, a], [a, b, -a, c], [-12.0, -a, 12.0, -a], [a, c, -a, b]])
    return rigidity / (length**3 * (1.0 + phi)) * K


def shapes(section: Section, length: float, xi: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Displacement, turn and slope (v', w') at xi in 0..1 for each freedom: (3, 12), (3, 12), (2, 12)."""
    moves, turns, slopes = np.zeros((3, 12)), np.zeros((3, 12)), np.zeros((2, 12))
    moves[0, X], turns[0, TWIST] = (1 - xi, xi), (1 - xi, xi)
    for row, freedoms, second, sign in ((1, BEND_Y, section.iz, 1.0), (2, BEND_Z, section.iy, -1.0)):
        moved, turned, sloped = _bent(length, section.shear_ratio(second, length), xi)
        signs = np.array([1.0, sign, 1.0, sign])
        moves[row, freedoms], slopes[row - 1, freedoms] = moved * signs, sloped * signs
        turns[3 - row, freedoms] = sign * turned * signs
    return moves, turns, slopes


def _bent(length: float, phi: float, xi: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Deflection, turn and slope at xi for deflection and turn at each end."""
    L, s, s2, s3 = length, xi, xi * xi, xi**3
    moved = [
        1 - 3 * s2 + 2 * s3 + phi * (1 - s),
        L * (s - 2 * s2 + s3 + phi / 2 * (s - s2)),
        3 * s2 - 2 * s3 + phi * s,
        L * (s3 - s2 + phi / 2 * (s2 - s)),
    ]
    turned = [6 * (s2 - s) / L, 1 - 4 * s + 3 * s2 + phi * (1 - s), 6 * (s - s2) / L, 3 * s2 - 2 * s + phi * s]
    sloped = [
        (6 * (s2 - s) - phi) / L,
        1 - 4 * s + 3 * s2 + phi / 2 * (1 - 2 * s),
        (6 * (s - s2) + phi) / L,
        3 * s2 - 2 * s + phi / 2 * (2 * s - 1),
    ]
    scale = 1.0 / (1.0 + phi)
    return scale * np.array(moved), scale * np.array(turned), scale * np.array(sloped)
