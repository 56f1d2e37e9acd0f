"""Beam element (Euler-Bernoulli, Timoshenko): its stiffness and shape functions, in its own axes.

Two-node beams in space (Przemieniecki 1968): x along the element, freedoms u, v, w and rotations about x, y, z at each
end. With shear (Timoshenko) the shape functions depend on Phi = 12 E I / (G A_s L^2); Phi = 0 is Euler-Bernoulli.
"""

from __future__ import annotations

import numpy as np

from robodyn.description.model.description import Description
from robodyn.description.model.fields import Z_AXIS, text, vector, whole_number
from robodyn.description.model.numbers import Floats
from robodyn.description.structures.sections import Section, section

X, V, W, TWIST = (0, 6), (1, 7), (2, 8), (3, 9)
BEND_Y, BEND_Z = (1, 5, 7, 11), (2, 4, 8, 10)
"""Freedoms of bending in the planes x-y and x-z; a rotation about y is -dw/dx."""


class Element(Description):
    """Beams between two named nodes of a frame."""

    NOUN = "element"

    start: str = text(doc="node")
    end: str = text(doc="node")
    section: Section = section()
    parts: int = whole_number(least=1, default=1, doc="number of elements")
    up: Floats = vector(
        "",
        suffixes=(),
        zero=False,
        default=Z_AXIS,
        doc="a direction in the plane x-z of the section; 1, 0, 0 for one along z",
    )


def is_along(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two directions are parallel."""
    return bool(np.linalg.norm(np.cross(first, second)) <= 1e-9 * np.linalg.norm(first) * np.linalg.norm(second))


def element_axes(along: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Axes x, y, z of an element as columns, z as near to `up` as may be; to another axis where that is along x."""
    x = along / np.linalg.norm(along)
    if is_along(x, up):
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
    """Of deflections and rotations at both ends; sign: of a rotation to the slope."""
    a, b, c = 6.0 * length * sign, (4.0 + phi) * length**2, (2.0 - phi) * length**2
    K = np.array([[12.0, a, -12.0, a], [a, b, -a, c], [-12.0, -a, 12.0, -a], [a, c, -a, b]])
    return rigidity / (length**3 * (1.0 + phi)) * K


def shapes(section: Section, length: float, xi: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Displacement, rotation and slope (v', w') at xi in 0..1 for each freedom: (3, 12), (3, 12), (2, 12)."""
    moves, turns, slopes = np.zeros((3, 12)), np.zeros((3, 12)), np.zeros((2, 12))
    moves[0, X], turns[0, TWIST] = (1 - xi, xi), (1 - xi, xi)
    for row, freedoms, second, sign in ((1, BEND_Y, section.iz, 1.0), (2, BEND_Z, section.iy, -1.0)):
        moved, turned, sloped = _bent(length, section.shear_ratio(second, length), xi)
        signs = np.array([1.0, sign, 1.0, sign])
        moves[row, freedoms], slopes[row - 1, freedoms] = moved * signs, sloped * signs
        turns[3 - row, freedoms] = sign * turned * signs
    return moves, turns, slopes


def _bent(length: float, phi: float, xi: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Deflection, rotation and slope at xi for deflection and rotation at each end."""
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
