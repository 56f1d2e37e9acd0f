"""Cross-section and material of a beam: from sizes or from measured rigidities."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.description.model.description import Description
from robodyn.description.model.fields import MISSING, declare, declare_as, quantity
from robodyn.description.model.referring_kinds import Part


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
    shear_area: float | None = quantity(
        "m^2", positive=True, default=None, doc="area that bears shear", absent="stiff in shear"
    )

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
        return Rod(radius=radius, young=young, shear=shear, density=density, shear_area=shear_area).made()

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
    def tensor(self) -> np.ndarray:
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


class Rod(Shape, kw_only=True):
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


SECTIONS = (Tube, Rod, Rectangle, Section, Rigidities)
"""What files may give."""


class SectionPart(Part):
    """A section, or in files the name of one."""


def section() -> Any:
    return declare(SectionPart, MISSING, (Section,), doc="name of a [section](#sections), or its table")
