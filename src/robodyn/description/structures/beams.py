"""Beams: sections, elements and the frames they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, frozen
from robodyn.description.model import Description, Floats
from robodyn.description.model.fields import MISSING, Z_AXIS, declare, declare_as, quantity, text, vector, whole_number
from robodyn.description.model.kinds import Child

# --------------------------------------------------------------------------------------------------
# Cross-section and material of a beam: from sizes or from measured rigidities.


class Section(Description):
    """A beam's cross-section and material; principal axes are y and z, x is along the beam."""

    NOUN, MARKS = "section", ("kind=general",)

    young: float = quantity("Pa", positive=True, doc="modulus of elasticity")
    shear: float = quantity("Pa", positive=True, doc="shear modulus")
    density: float = quantity("kg/m^3", positive=True)
    area: float = quantity("m^2", positive=True)
    iy: float = quantity("m^4", positive=True, doc="second moment about y")
    iz: float = quantity("m^4", positive=True, doc="second moment about z")
    torsion: float = quantity("m^4", positive=True, doc="torsion constant")
    shear_area: float | None = quantity("m^2", positive=True, default=None, doc="shear area", absent="stiff in shear")

    @staticmethod
    def tube(
        radius: float, thickness: float, young: float, shear: float, density: float, shear_area: float | None = None
    ) -> Section:
        """A round tube of an outer radius and a wall thickness [m]; thickness = radius is a rod."""
        sizes = {"radius": radius, "thickness": thickness}
        return Tube(**sizes, young=young, shear=shear, density=density, shear_area=shear_area).made()

    @staticmethod
    def rod(radius: float, young: float, shear: float, density: float, shear_area: float | None = None) -> Section:
        """A full round section [m]."""
        return RodSection(radius=radius, young=young, shear=shear, density=density, shear_area=shear_area).made()

    @staticmethod
    def rectangle(
        width: float, height: float, young: float, shear: float, density: float, shear_area: float | None = None
    ) -> Section:
        """A full rectangle, width along y and height along z [m]; torsion after Roark, to 4 %."""
        sizes = {"width": width, "height": height}
        return Rectangle(**sizes, young=young, shear=shear, density=density, shear_area=shear_area).made()

    @staticmethod
    def of_rigidities(
        stretching: float,
        bending_y: float,
        bending_z: float,
        twisting: float,
        mass_per_length: float,
        shearing: float | None = None,
    ) -> Section:
        """A section known by E A [N], E I_y, E I_z, G J [N m^2], rho A [kg/m], and G A_s [N] where it shears.

        Moduli count as 1 Pa, so that areas are rigidities; rotary inertia is rho A (E I) / (E A), as of one material.
        """
        return Rigidities(stretching, bending_y, bending_z, twisting, mass_per_length, shearing).made()

    def shear_ratio(self, second: float, length: float) -> float:
        """Phi = 12 E I / (G A_s L^2)."""
        if self.shear_area is None:
            return 0.0
        return 12 * self.young * second / (self.shear * self.shear_area * length**2)

    @property
    def tensor(self) -> Array:
        """Inertia of a slice [kg m], (3, 3), about its centre."""
        return self.density * np.diag([self.iy + self.iz, self.iy, self.iz])


class Shape(Description, kw_only=True):
    """A section by its sizes and material."""

    NOUN = "section"

    young: float = declare_as(Section, "young")
    shear: float = declare_as(Section, "shear")
    density: float = declare_as(Section, "density")
    shear_area: float | None = declare_as(Section, "shear_area")

    def of_area(self, area: float, iy: float, iz: float, torsion: float) -> Section:
        return Section(self.young, self.shear, self.density, area, iy, iz, torsion, self.shear_area)


class Tube(Shape, kw_only=True):
    MARKS = ("kind=tube",)
    radius: float = quantity("m", positive=True, doc="outer radius")
    thickness: float = quantity("m", positive=True, doc="of the wall")

    def check(self, flaws: FlawList) -> None:
        if not flaws.found and self.thickness > self.radius:
            what = f"{self.thickness:g} m is more than the outer radius of {self.radius:g} m"
            flaws.add("thickness", what, "a full section has thickness = radius")

    def made(self) -> Section:
        inner = self.radius - self.thickness
        second = pi / 4 * (self.radius**4 - inner**4)
        return self.of_area(pi * (self.radius**2 - inner**2), second, second, 2 * second)


class RodSection(Shape, kw_only=True):
    MARKS = ("kind=rod",)
    radius: float = quantity("m", positive=True)

    def made(self) -> Section:
        second = pi / 4 * self.radius**4
        return self.of_area(pi * self.radius**2, second, second, 2 * second)


class Rectangle(Shape, kw_only=True):
    MARKS = ("kind=rectangle",)
    width: float = quantity("m", positive=True, doc="along y")
    height: float = quantity("m", positive=True, doc="along z")

    def made(self) -> Section:
        w, h = self.width, self.height
        long, short = max(w, h), min(w, h)
        torsion = long * short**3 * (1 / 3 - 0.21 * short / long * (1 - (short / long) ** 4 / 12))
        return self.of_area(w * h, w * h**3 / 12, h * w**3 / 12, torsion)


class Rigidities(Description):
    NOUN, MARKS = "section", ("kind=rigidities",)
    stretching: float = quantity("N", positive=True, doc="E A")
    bending_y: float = quantity("N m^2", positive=True, doc="E I_y")
    bending_z: float = quantity("N m^2", positive=True, doc="E I_z")
    twisting: float = quantity("N m^2", positive=True, doc="G J")
    mass_per_length: float = quantity("kg/m", positive=True)
    shearing: float | None = quantity("N", positive=True, default=None, doc="G A_s", absent="stiff in shear")

    def made(self) -> Section:
        density = self.mass_per_length / self.stretching
        areas = (self.stretching, self.bending_y, self.bending_z, self.twisting, self.shearing)
        return Section(1.0, 1.0, density, *areas)


SECTIONS = (Tube, RodSection, Rectangle, Section, Rigidities)
"""Kinds of sections that files may give."""


class SectionPart(Child):
    """A section, or in files the name of one."""


def section() -> Any:
    return declare(SectionPart, MISSING, (Section,), doc="name of a [section](#sections), or its table")


# --------------------------------------------------------------------------------------------------
# Beam element (Euler-Bernoulli, Timoshenko): its stiffness and shape functions, in its own axes.
#
# Two-node beams in space (Przemieniecki 1968): x along the element, freedoms u, v, w and rotations about x, y, z at
# each
# end. With shear (Timoshenko) the shape functions depend on Phi = 12 E I / (G A_s L^2); Phi = 0 is Euler-Bernoulli.


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


def is_along(first: Array, second: Array) -> bool:
    """Whether two directions are parallel."""
    return bool(np.linalg.norm(np.cross(first, second)) <= 1e-9 * np.linalg.norm(first) * np.linalg.norm(second))


def element_axes(along: Array, up: Array) -> Array:
    """Axes x, y, z of an element as columns, z as near to `up` as may be; to another axis where that is along x."""
    x = along / np.linalg.norm(along)
    if is_along(x, up):
        up = np.eye(3)[int(np.argmin(np.abs(x)))]
    y = np.cross(up, x)
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def stiffness(section: Section, length: float) -> Array:
    """Stiffness of an element in its own axes, (12, 12)."""
    K = np.zeros((12, 12))
    pair = np.array([[1.0, -1.0], [-1.0, 1.0]]) / length
    K[np.ix_(X, X)] = section.young * section.area * pair
    K[np.ix_(TWIST, TWIST)] = section.shear * section.torsion * pair
    for freedoms, second, sign in ((BEND_Y, section.iz, 1.0), (BEND_Z, section.iy, -1.0)):
        phi = section.shear_ratio(second, length)
        K[np.ix_(freedoms, freedoms)] = _bending(section.young * second, length, phi, sign)
    return K


def _bending(rigidity: float, length: float, phi: float, sign: float) -> Array:
    """The bending matrix of deflections and rotations at both ends; sign: of a rotation to the slope."""
    a, b, c = 6.0 * length * sign, (4.0 + phi) * length**2, (2.0 - phi) * length**2
    K = np.array([[12.0, a, -12.0, a], [a, b, -a, c], [-12.0, -a, 12.0, -a], [a, c, -a, b]])
    return rigidity / (length**3 * (1.0 + phi)) * K


def shapes(section: Section, length: float, xi: float) -> tuple[Array, Array, Array]:
    """Displacement, rotation and slope (v', w') at xi in 0..1 for each freedom: (3, 12), (3, 12), (2, 12)."""
    moves, turns, slopes = np.zeros((3, 12)), np.zeros((3, 12)), np.zeros((2, 12))
    moves[0, X], turns[0, TWIST] = (1 - xi, xi), (1 - xi, xi)
    for row, freedoms, second, sign in ((1, BEND_Y, section.iz, 1.0), (2, BEND_Z, section.iy, -1.0)):
        moved, turned, sloped = _bent(length, section.shear_ratio(second, length), xi)
        signs = np.array([1.0, sign, 1.0, sign])
        moves[row, freedoms], slopes[row - 1, freedoms] = moved * signs, sloped * signs
        turns[3 - row, freedoms] = sign * turned * signs
    return moves, turns, slopes


def _bent(length: float, phi: float, xi: float) -> tuple[Array, Array, Array]:
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


# --------------------------------------------------------------------------------------------------
# Frame of beams as one structure: its stiffness, its particles, and how it gets shorter where it bends.


GAUSS = np.polynomial.legendre.leggauss(4)
"""Exact to degree 7: products of two cubic shape functions have degree 6."""


@frozen(eq=False)
class Beam:
    """One element: its nodes, axes (columns), length and section."""

    nodes: tuple[int, int]
    axes: Array
    length: float
    section: Section

    @property
    def freedoms(self) -> Array:
        """Numbers of its freedoms among those of the structure, (12,)."""
        return np.concatenate([6 * node + np.arange(6) for node in self.nodes])

    @property
    def turned(self) -> Array:
        """From the body's axes to the element's own, (12, 12)."""
        return np.kron(np.eye(4), self.axes.T)


@frozen(eq=False)
class BeamStructure:
    """Nodes [m, (N, 3)] with names, and the beams between them."""

    names: tuple[str, ...]
    positions: Array
    beams: tuple[Beam, ...]

    @property
    def K(self) -> Array:
        """Stiffness, (6 N, 6 N)."""
        total = np.zeros((6 * len(self.names),) * 2)
        for beam in self.beams:
            T = beam.turned
            total[np.ix_(beam.freedoms, beam.freedoms)] += T.T @ stiffness(beam.section, beam.length) @ T
        return total

    def stations(self) -> list[tuple[float, Array, Array, Array, Array]]:
        """At each Gauss point: mass, place, tensor, and the matrices (3, 6 N) of displacement and rotation."""
        points = []
        for beam in self.beams:
            for xi, weight in zip(0.5 * (GAUSS[0] + 1), 0.5 * GAUSS[1], strict=True):
                moves, turns, _ = shapes(beam.section, beam.length, xi)
                spread = np.zeros((12, 6 * len(self.names)))
                spread[np.arange(12), beam.freedoms] = 1.0
                local = beam.turned @ spread
                start, end = self.positions[list(beam.nodes)]
                points.append(
                    (
                        beam.section.density * beam.section.area * beam.length * weight,
                        start + xi * (end - start),
                        beam.length * weight * beam.axes @ beam.section.tensor @ beam.axes.T,
                        beam.axes @ moves @ local,
                        beam.axes @ turns @ local,
                    )
                )
        return points

    def shorten(self, modes: Array, root: int) -> Array:
        """Second-order displacements of all freedoms, (6 N, n, n): bending takes away length.

            strain_ij = -(v_i' v_j' + w_i' w_j'),  then linear statics, clamped at the root

        Args:
            modes: shapes over all freedoms, (6 N, n).
        """
        n, size = modes.shape[1], 6 * len(self.names)
        loads = np.zeros((size, n * n))
        for beam in self.beams:
            strain = -self._slopes(beam, modes)
            pull = np.zeros(12)
            pull[[0, 6]] = -1.0, 1.0
            rows = beam.turned.T @ pull * beam.section.young * beam.section.area
            loads[beam.freedoms] += np.outer(rows, strain.ravel())
        free = np.array([k for k in range(size) if k // 6 != root])
        shortening = np.zeros((size, n * n))
        shortening[free] = np.linalg.solve(self.K[np.ix_(free, free)], loads[free])
        return shortening.reshape(size, n, n)

    def _slopes(self, beam: Beam, modes: Array) -> Array:
        """Mean over an element of v_i' v_j' + w_i' w_j', (n, n)."""
        local = beam.turned @ modes[beam.freedoms]
        total = np.zeros((modes.shape[1],) * 2)
        for xi, weight in zip(0.5 * (GAUSS[0] + 1), 0.5 * GAUSS[1], strict=True):
            slopes = shapes(beam.section, beam.length, xi)[2] @ local
            total += weight * slopes.T @ slopes
        return total


def assemble_structure(nodes: Mapping[str, Sequence[float]], elements: Sequence[Element]) -> BeamStructure:
    """Divide elements into parts and number all nodes: the named ones first."""
    names, positions = list(nodes), [np.asarray(place, float) for place in nodes.values()]
    beams = []
    for element in elements:
        start, end = names.index(element.start), names.index(element.end)
        inner = []
        for k in range(1, element.parts):
            inner.append(len(names))
            names.append(f"{element.start}_{element.end}{k}")
            positions.append(positions[start] + k / element.parts * (positions[end] - positions[start]))
        chain = [start, *inner, end]
        along = positions[end] - positions[start]
        axes, length = element_axes(along, np.asarray(element.up, float)), float(np.linalg.norm(along))
        beams += [
            Beam(pair, axes, length / element.parts, element.section)
            for pair in zip(chain[:-1], chain[1:], strict=True)
        ]
    return BeamStructure(tuple(names), np.array(positions), tuple(beams))
