"""Cross-section and material of a beam: from sizes or from measured rigidities."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Self

import numpy as np

from robodyn.errors import FlawList
from robodyn.model.numbers import check_finite


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
        _check_sizes(**vars(self)).raise_if_any("section")

    @classmethod
    def tube(
        cls,
        radius: float,
        thickness: float,
        young: float,
        shear: float,
        density: float,
        shear_area: float | None = None,
    ) -> Self:
        """A round tube of an outer radius and a wall thickness [m]; thickness = radius is a rod."""
        flaws = _check_sizes(
            radius=radius, thickness=thickness, young=young, shear=shear, density=density, shear_area=shear_area
        )
        if not flaws.found and thickness > radius:
            what = f"{thickness:g} m is more than the outer radius of {radius:g} m"
            flaws.add("thickness", what, "a full section has thickness = radius")
        flaws.raise_if_any("section")
        inner = radius - thickness
        second = pi / 4 * (radius**4 - inner**4)
        return cls(young, shear, density, pi * (radius**2 - inner**2), second, second, 2 * second, shear_area)

    @classmethod
    def rod(cls, radius: float, young: float, shear: float, density: float, shear_area: float | None = None) -> Self:
        """A full round section [m]."""
        flaws = _check_sizes(radius=radius, young=young, shear=shear, density=density, shear_area=shear_area)
        flaws.raise_if_any("section")
        return cls.tube(radius, radius, young, shear, density, shear_area)

    @classmethod
    def rectangle(
        cls, width: float, height: float, young: float, shear: float, density: float, shear_area: float | None = None
    ) -> Self:
        """A full rectangle, width along y and height along z [m]; torsion after Roark, to 4 %."""
        _check_sizes(
            width=width, height=height, young=young, shear=shear, density=density, shear_area=shear_area
        ).raise_if_any("section")
        long, short = max(width, height), min(width, height)
        torsion = long * short**3 * (1 / 3 - 0.21 * short / long * (1 - (short / long) ** 4 / 12))
        area = width * height
        return cls(young, shear, density, area, width * height**3 / 12, height * width**3 / 12, torsion, shear_area)

    @classmethod
    def of_rigidities(
        cls,
        stretching: float,
        bending_y: float,
        bending_z: float,
        twisting: float,
        mass_per_length: float,
        shearing: float | None = None,
    ) -> Self:
        """A section known by E A [N], E I_y, E I_z, G J [N m^2], rho A [kg/m], and G A_s [N] where it shears.

        Moduli count as 1 Pa, so that areas are rigidities; rotary inertia is rho A (E I) / (E A), as of one material.
        """
        _check_sizes(
            stretching=stretching,
            bending_y=bending_y,
            bending_z=bending_z,
            twisting=twisting,
            mass_per_length=mass_per_length,
            shearing=shearing,
        ).raise_if_any("section")
        density = mass_per_length / stretching
        return cls(1.0, 1.0, density, stretching, bending_y, bending_z, twisting, shearing)

    def shear_ratio(self, second: float, length: float) -> float:
        """Phi = 12 E I / (G A_s L^2)."""
        if self.shear_area is None:
            return 0.0
        return 12 * self.young * second / (self.shear * self.shear_area * length**2)

    @property
    def tensor(self) -> np.ndarray:
        """Inertia of a slice [kg m], (3, 3), about its centre."""
        return self.density * np.diag([self.iy + self.iz, self.iy, self.iz])


def _check_sizes(**sizes: float | None) -> FlawList:
    """All must be positive; those of shear may be missing."""
    flaws = FlawList()
    for name, value in sizes.items():
        if value is None and name in ("shear_area", "shearing"):
            continue
        if check_finite(flaws, name, value) and value is not None and not value > 0:
            flaws.add(name, f"must be positive, is {value:g}")
    return flaws
