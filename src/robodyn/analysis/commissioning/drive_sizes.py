"""Drive sizing: which motor and gear does a joint of a given effort get, and where do their numbers come from?

The sizes stand in `drive_sizes.toml`. With x = effort limit / peak torque of the nearest size, by similarity,

    torque, stiffness, friction ~ x,   inertia ~ x^(5/3)
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from robodyn.analysis.commissioning.options import Drive
from robodyn.description.model import Joint

EXPONENTS = {"rotor_inertia": 5 / 3, "stiffness": 1.0, "coulomb": 1.0, "viscous": 1.0}
"""By which power of the ratio of torques a number of a size grows; others stay."""
STATIC, DAMPING_RATIO = 1.2, 0.01
LINEAR = "ball-screw"


@dataclass(frozen=True)
class Sourced:
    """A number and where it comes from."""

    value: float
    source: str


@dataclass(frozen=True)
class SizedDrive:
    """A drive that fits a joint: ratio, rotor_inertia (motor's shaft), torque_constant, stiffness ... with sources.

    Attributes:
        effort: largest torque or force on the joint; scale: it over the peak torque of the size.
    """

    family: str
    size: str
    effort: float
    scale: float
    elastic: bool
    numbers: dict[str, Sourced]

    def __getitem__(self, name: str) -> float:
        return self.numbers[name].value

    @property
    def armature(self) -> float:
        """Inertia of the rotor as the joint sees it [kg m^2 or kg]: J n^2."""
        return self["rotor_inertia"] * self["ratio"] ** 2


@cache
def drive_families() -> dict[str, Any]:
    """The data base as it stands in its file."""
    text = files("robodyn.analysis.commissioning").joinpath("drive_sizes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def size_drive(drive: Drive, joint: Joint, effort: float) -> SizedDrive:
    """The drive of a joint: the nearest size of its family, scaled, with what is given instead of it."""
    name = drive.family if joint.rotates or drive.stated("family") else LINEAR
    family = drive_families()[name]
    size = min(family["sizes"], key=lambda row: abs(math.log(effort / row["peak_torque"])))
    x = effort / size["peak_torque"]
    numbers = {key: Sourced(size[key] * x**power, _scaled(size, x)) for key, power in EXPONENTS.items()}
    numbers |= {key: Sourced(size[key], size["source"]) for key in ("ratio", "torque_constant")}
    numbers |= {key: Sourced(family[key], family["sources"][key]) for key in ("loss", "counts")}
    for key, found in numbers.items():
        told = family["sources"][key]
        if told.startswith("rule of thumb"):
            numbers[key] = Sourced(found.value, told)
    given = {key: Sourced(value, "given") for key, value in drive.numbers_given().items()}
    numbers |= _of_robot(joint, (numbers | given)["ratio"].value) | given
    numbers = _derived(numbers, family["sources"])
    elastic = family["elastic"] if drive.elastic is None else drive.elastic
    return SizedDrive(name, size["name"], effort, x, elastic, numbers)


def _scaled(size: dict[str, Any], x: float) -> str:
    return f"{size['source']}, scaled by similarity to {100 * x:.3g} % of its peak torque"


def _of_robot(joint: Joint, ratio: float) -> dict[str, Sourced]:
    """Rotor and friction that the robot's description has already: they are kept."""
    found = {"coulomb": joint.friction, "viscous": joint.damping}
    numbers = {key: Sourced(value, "the robot's own") for key, value in found.items() if value is not None}
    if joint.armature > 0:
        numbers["rotor_inertia"] = Sourced(joint.armature / ratio**2, "the robot's own armature over ratio^2")
    return numbers


def _derived(numbers: dict[str, Sourced], sources: dict[str, str]) -> dict[str, Sourced]:
    """What follows from the others where it is not given: static friction, damping of the gear."""
    armature = numbers["rotor_inertia"].value * numbers["ratio"].value ** 2
    critical = 2 * math.sqrt(numbers["stiffness"].value * armature)
    follows = {
        "static": Sourced(STATIC * numbers["coulomb"].value, sources["static"]),
        "damping": Sourced(DAMPING_RATIO * critical, sources["damping"]),
    }
    return follows | numbers
