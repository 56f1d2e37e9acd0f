"""EPAAS study, rounding of its printed data: how far can half of each last digit move what follows from them?

Each printed number of the arm is moved by half a unit of its last digit; what that does to a quantity is added up over
all of them. Inertias are printed about the origins of the links' frames, so that they stay when a centre of mass moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from robodyn.description.model import Body
from robodyn_studies.catalog.epaas_arm import GRIPPERS, LENGTH, LINKS
from robodyn_studies.epaas_runs import ACTUATORS, arm_system
from robodyn_studies.kinetics import Kinetics

HALF_GRAM, HALF_MILLIMETRE, TENTH = 5e-4, 5e-4, 5e-5
SEVENTH = 5e-8
"""Half a unit of the last digit of the inertias [kg m^2]."""
ARM = {"link2": LINKS[1], "link3": LINKS[2], "link5": GRIPPERS["vertical"]}
"""Links whose data are printed with a centre of mass: mass, centre of mass, inertia about the origin."""
CENTRE_DIGITS = {
    "link2": (HALF_MILLIMETRE, HALF_MILLIMETRE, TENTH),
    "link3": (HALF_MILLIMETRE, HALF_MILLIMETRE, TENTH),
    "link5": (TENTH, TENTH, HALF_MILLIMETRE),
}
"""Half a unit of the last printed digit of each centre of mass [m]."""
FRAMES = {"joint2_frame.origin.x": LENGTH[1], "joint3_frame.origin.x": LENGTH[2]}
"""Lengths of the upper arm and of the forearm, in millimetres."""


def numbers_of(link: str, mass: float, centre: tuple[float, ...], inertia: tuple[float, ...]) -> dict[str, float]:
    """A link's numbers by name, from what is printed of it."""
    body = Body.about_origin(link, mass, centre, inertia, physical=False)
    places = zip("xyz", body.com, strict=True)
    moments = zip(("xx", "yy", "zz", "xy", "xz", "yz"), body.inertia, strict=True)
    return {
        f"{link}.mass": body.mass,
        **{f"{link}.com.{axis}": value for axis, value in places},
        **{f"{link}.inertia.{axes}": value for axes, value in moments},
    }


def moved_numbers() -> Iterator[dict[str, float]]:
    """The arm's numbers with one printed one moved, one after the other."""
    for link, (mass, centre, inertia) in ARM.items():
        yield numbers_of(link, mass + HALF_GRAM, centre, inertia)
        for k, half in enumerate(CENTRE_DIGITS[link]):
            yield numbers_of(link, mass, _moved(centre, k, half), inertia)
        for k in range(6):
            yield numbers_of(link, mass, centre, _moved(inertia, k, SEVENTH))
    for name, length in FRAMES.items():
        yield {name: length + HALF_MILLIMETRE}


def _moved(numbers: tuple[float, ...], k: int, half: float) -> tuple[float, ...]:
    return tuple(value + half * (j == k) for j, value in enumerate(numbers))


@cache
def arm_kinetics(actuators: bool) -> Kinetics:
    """The arm in its joints or in its actuators, with all these numbers to be moved."""
    tunable = (*(name for link, data in ARM.items() for name in numbers_of(link, *data)), *FRAMES)
    return Kinetics(arm_system(tunable=tunable), ACTUATORS if actuators else None)


def rounding_of(quantity: Callable[[Kinetics], np.ndarray], actuators: bool = False) -> np.ndarray:
    """How far the rounding of the printed arm can move a quantity: the sum over all of its numbers."""
    kinetics = arm_kinetics(actuators)
    here = quantity(kinetics)
    return np.asarray(sum(np.abs(quantity(kinetics.changed(numbers)) - here) for numbers in moved_numbers()))
