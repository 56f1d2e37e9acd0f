"""Drive library: which drives are there by name, what is published of each, and by which rules is the rest estimated?

A drive is a table of `drives.toml` or of a user's own file in the same form. Every number comes with its source: the
drive's, one of its own, or the rule that estimated it. With x = effort limit / peak torque, sizes follow a joint by
similarity: torques, stiffness, friction ~ x, inertia ~ x^(5/3).
"""

from __future__ import annotations

import fnmatch
import math
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from robodyn.base import Displayed, Flaw, FlawList, ModelError, UnitError, frozen, near_names, nearest, refuse
from robodyn.description.files.reading import is_required
from robodyn.description.files.units import read_quantity
from robodyn.description.laws.drives import COPPER, REFERENCE
from robodyn.description.model import Joint
from robodyn.description.model.description import Description
from robodyn.description.model.fields import EMPTY, array, choice, flag, quantity, text, text_map, whole_number
from robodyn.description.model.formula import Node, evaluate, names_in, parse_formula
from robodyn.description.model.kinds import Quantity

SPUR, PLANETARY, STRAIN_WAVE, BALL_SCREW = FAMILIES = ("spur", "planetary", "strain-wave", "ball-screw")
SIZED = (STRAIN_WAVE, PLANETARY, BALL_SCREW)
"""Families that have sizes to be scaled."""
EXPONENTS = {"rotor_inertia": 5 / 3, "stiffness": 1.0, "coulomb": 1.0, "viscous": 1.0}
"""By which power of the ratio of torques a number of a size grows; others stay."""
MODELS = tuple(f"m{k}" for k in range(1, 7))
Read = TypeVar("Read", bound=Description)


@frozen
class Sourced:
    """A number and where it comes from."""

    value: float
    source: str

    @property
    def estimated(self) -> bool:
        """Whether a rule gave it, or it is quoted without having been read at its source."""
        return self.source.startswith(("estimated", "rule of thumb", "as commonly quoted"))


def optional(unit: str, doc: str, *, zero: bool = False) -> Any:
    """A number of a drive that is given where it is known: positive, or also zero.

    Args:
        unit: of SI; with `{F}` and `{x}` for those of the joint's force and position.
    """
    of = {"written": unit} if "{" in unit else {"unit": unit} if unit else {}
    return quantity(**of, **{"non_negative" if zero else "positive": True}, default=None, doc=doc)


class DriveNumbers(Description, kw_only=True):
    """Numbers of a drive, whether published or given for a joint: on the joint's side but for the motor's own."""

    rotor_inertia: float | None = optional("kg m^2", "on the motor's shaft")
    torque_constant: float | None = optional("N m/A", "of the motor")
    resistance: float | None = optional("ohm", "of the winding at 25 deg C")
    inductance: float | None = optional("H", "of the winding")
    voltage: float | None = optional("V", "of the supply")
    counts: float | None = optional("", "of the encoder in a turn of the motor")
    stiffness: float | None = optional("{F}/{x}", "of the gear")
    loss: float | None = optional("", "of the gear, by the torque it transmits", zero=True)
    coulomb: float | None = optional("{F}", "dry friction", zero=True)
    viscous: float | None = optional("{F} s/{x}", "viscous friction", zero=True)
    transmission_error: float | None = optional("{x}", "its amplitude", zero=True)


class Actuator(DriveNumbers, kw_only=True):
    """A drive as it is published; counts of a spur servo's encoder are those in a turn of its output."""

    NOUN = "drive"

    family: str = choice(FAMILIES, doc="of its gear")
    source: str = text(doc="where its numbers are published")
    date: str | None = text(default=None, doc="when they were read there")
    size: bool = flag(default=False, doc="whether dress scales it to a joint's effort limit")
    phases: int = whole_number(default=1, doc="3 where currents are amplitudes and resistance that of a phase")
    ratio: float = quantity(written="rad/{x}", positive=True, doc="of the gear")
    peak_torque: float = quantity(written="{F}", positive=True, doc="for a moment; of a servo at stall")
    rated_torque: float | None = optional("{F}", "continuously")
    peak_current: float | None = optional("A", "at peak torque")
    rated_current: float | None = optional("A", "at rated torque")
    no_load_speed: float | None = optional("rad/s", "at that voltage")
    speeds: tuple[float, ...] | None = array(default=None, doc="of a measured torque-speed curve, rising [rad/s]")
    torques: tuple[float, ...] | None = array(default=None, doc="of that curve, falling [N m]")
    play: float | None = optional("rad", "total backlash of the gear", zero=True)
    mass: float | None = optional("kg", "of all of it")
    winding_resistance: float | None = optional("K/W", "winding to housing")
    housing_resistance: float | None = optional("K/W", "housing to air")
    winding_time: float | None = optional("s", "thermal time constant")
    housing_time: float | None = optional("s", "thermal time constant")
    winding_limit: float | None = optional("K", "at which it trips")
    housing_limit: float | None = optional("K", "at which it trips")
    friction: str | None = text(default=None, doc="servo of servo_friction.toml whose models M1 to M6 are its own")
    sources: Mapping[str, str] = text_map(default=EMPTY, doc="of numbers that are from elsewhere")

    def check(self, flaws: FlawList) -> None:
        """Report contradictions: a drive without losses, a curve that turns back, more at rest than at its peak."""
        if flaws.found:
            return
        flaws.add_unknown(self.sources, self.KINDS, "names no number", "sources")
        for rated, peak in (("rated_torque", "peak_torque"), ("rated_current", "peak_current")):
            least, most = getattr(self, rated), getattr(self, peak)
            if least is not None and most is not None and least > most:
                flaws.add(rated, f"is {least:g}, above {peak} of {most:g}", "swap them, or correct one")
        for key in ("winding_limit", "housing_limit"):
            limit = getattr(self, key)
            if limit is not None and limit <= REFERENCE:
                what = f"is {limit:g} K, {limit - ZERO:.0f} deg C: it would trip in a cool room"
                flaws.add(key, what, f"say a temperature in K, such as {limit + ZERO:g}")
        if self.torque_constant is not None and self.peak_current is not None:
            efficiency = self.peak_torque / (self.ratio * self.torque_constant * self.peak_current)
            if not 0.2 < efficiency < 1.1:
                what = f"{self.peak_torque:g} is {100 * efficiency:.3g} % of ratio x torque_constant x peak_current"
                flaws.add("peak_torque", what, "between 20 and 110 % is plausible: check ratio, side and unit")
        self._check_curve(flaws)
        if self.friction is not None and self.friction not in servo_models():
            flaws.add("friction", f"'{self.friction}' is not a servo", nearest(self.friction, servo_models()))

    def _check_curve(self, flaws: FlawList) -> None:
        if (self.speeds is None) != (self.torques is None):
            flaws.add("speeds", "and torques are one curve", "give both, or none")
        if self.speeds is None or self.torques is None:
            return
        if len(self.speeds) != len(self.torques) or len(self.speeds) < 2:
            flaws.add("torques", f"are {len(self.torques)} of {len(self.speeds)} speeds", "give as many, two at least")
            return
        for key, values in (("speeds", self.speeds), ("torques", self.torques)):
            for k, value in enumerate(values):
                if not 0.0 <= value < math.inf:
                    flaws.add(f"{key}[{k}]", f"must be 0 or a positive number, is {value:g}")
        if max(self.torques) > self.peak_torque:
            what = f"reach {max(self.torques):g}, above peak_torque of {self.peak_torque:g}"
            flaws.add("torques", what, "correct one of them")
        for k in range(1, len(self.speeds)):
            if self.speeds[k] <= self.speeds[k - 1]:
                what = f"must rise, but {self.speeds[k]:g} follows {self.speeds[k - 1]:g}"
                flaws.add(f"speeds[{k}]", what, "sort the curve by speed, each speed once")
            if self.torques[k] > self.torques[k - 1]:
                what = f"must not rise with speed, but {self.torques[k]:g} follows {self.torques[k - 1]:g}"
                flaws.add(f"torques[{k}]", what, "give the limit of the torque, without the noise of its measurement")

    def published(self) -> dict[str, Sourced]:
        """All numbers that are said, each with its source."""
        numbers = {}
        source = self.source if self.date is None else f"{self.source}, read {self.date}"
        for key, kind in self.KINDS.items():
            value = getattr(self, key)
            if isinstance(kind, Quantity) and value is not None and not isinstance(value, tuple):
                numbers[key] = Sourced(float(value), self.sources.get(key, source))
        return numbers


# --------------------------------------------------------------------------------------------------
# Rules of thumb: how is a number estimated that nobody has published?

ZERO = 273.15
"""0 deg C [K]."""
RULES, IMPERFECTIONS = "rules", "imperfections"
"""Tables of `rules.toml`: of all drives, and what `errors = "typical"` adds to one."""


@frozen
class Rule:
    """How a number follows from others, for some families; a rule whose numbers are not known does not apply."""

    key: str
    formula: Node
    why: str
    families: tuple[str, ...]


@cache
def rules_of(table: str) -> tuple[Rule, ...]:
    """The rules of a table of `rules.toml`, in its order."""
    return tuple(
        Rule(one["key"], parse_formula(one["formula"]), one["why"], tuple(one.get("families", FAMILIES)))
        for one in tomllib.loads(_data("rules.toml"))[table]
    )


def estimate(family: str, numbers: Mapping[str, Sourced], table: str = RULES) -> dict[str, Sourced]:
    """The numbers with those that follow from them, each told as estimated by its rule."""
    found = dict(numbers)
    for rule in rules_of(table):
        known = {key: number.value for key, number in found.items()} | {"reference": REFERENCE, "copper": COPPER}
        needed = {name.name for name in names_in(rule.formula)}
        if rule.key not in found and family in rule.families and needed <= known.keys():
            found[rule.key] = Sourced(float(evaluate(rule.formula, known)), f"rule of thumb: {rule.why}")
    return found


# --------------------------------------------------------------------------------------------------
# The library: drives by name.


@frozen
class NamedDrive:
    """A drive of the library: what is published of it, and all its numbers.

    Attributes:
        numbers: of the equivalent motor with one winding, where a three-phase motor's phase resistance counts 3 / 2 and
            its voltage sqrt(3) / 2, so that `P = R i^2` and `tau = kT i`.
    """

    JSON = """
    name
    family = actuator.family
    numbers: each with its source
    """
    name: str
    actuator: Actuator
    numbers: dict[str, Sourced]

    def __getitem__(self, key: str) -> float:
        return self.numbers[key].value

    def get(self, key: str) -> float | None:
        """A number, None where it can not even be estimated."""
        return self.numbers[key].value if key in self.numbers else None

    @property
    def armature(self) -> float:
        """Inertia of the rotor at the output [kg m^2 or kg]: J n^2."""
        return self["rotor_inertia"] * self["ratio"] ** 2

    def torque_at(self, speed: float) -> float:
        """Largest torque at a speed of the output: by its curve, or by voltage, resistance and peak torque."""
        if self.actuator.speeds is not None and self.actuator.torques is not None:
            if speed > self.actuator.speeds[-1]:
                return 0.0
            return float(np.interp(speed, self.actuator.speeds, self.actuator.torques))
        top = self.get("no_load_speed")
        if top is None:
            return self["peak_torque"]
        # The line from the torque that voltage and resistance give at rest to the no-load speed, cut at the peak.
        stall = self["voltage"] / self["resistance"] * self["ratio"] * self["torque_constant"]
        return max(0.0, min(self["peak_torque"], max(stall, self["peak_torque"]) * (1 - speed / top)))

    def friction_models(self) -> dict[str, dict[str, float]]:
        """Identified friction M1 to M6, by model; empty where there is none."""
        return servo_models().get(self.actuator.friction or "", {})


@cache
def servo_models() -> dict[str, dict[str, dict[str, float]]]:
    """Numbers of models M1 to M6 by servo and model."""
    return tomllib.loads(_data("servo_friction.toml"))


def _data(name: str) -> str:
    return files("robodyn.analysis.commissioning").joinpath(name).read_text(encoding="utf-8")


@cache
def _own_library() -> dict[str, NamedDrive]:
    return _read(tomllib.loads(_data("drives.toml")), "drives.toml")


def read_library(path: str | Path | None = None) -> dict[str, NamedDrive]:
    """Drives by name: those of robodyn, and before them those of a user's own TOML file.

    Raises:
        ModelError: with all that is wrong in the file.
    """
    if path is None:
        return _own_library()
    return {**_own_library(), **_read(load_toml(Path(path)), str(path))}


def load_toml(path: Path) -> dict[str, Any]:
    """The tables of a file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError([Flaw("", f"cannot be read: {error.strerror or error}")], str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError([Flaw("", f"is not TOML: {error}")], str(path)) from error


def _identified(actuator: Actuator) -> dict[str, Sourced]:
    """Friction and inertia of the simplest model that was identified of it, before any rule of thumb."""
    found = servo_models().get(actuator.friction or "", {}).get("m1")
    if found is None:
        return {}
    numbers = {"coulomb": found["coulomb"], "viscous": found["viscous"]}
    numbers["rotor_inertia"] = found["armature"] / actuator.ratio**2
    source = f"identified as M1 of {actuator.friction}, github.com/Rhoban/bam"
    return {key: Sourced(value, source) for key, value in numbers.items()}


def _read(tables: Mapping[str, Any], source: str) -> dict[str, NamedDrive]:
    flaws, drives = FlawList(), {}
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            flaws.add(name, f"must be a table of a drive, is {table!r}", f'such as ["{name}"] family = "spur" ...')
            continue
        if (actuator := read_fields(flaws, Actuator, table, name)) is not None:
            numbers = actuator.published()
            if actuator.phases == 3:
                for key, factor in (("resistance", 1.5), ("inductance", 1.5), ("voltage", math.sqrt(0.75))):
                    if key in numbers:
                        numbers[key] = Sourced(numbers[key].value * factor, f"{numbers[key].source}, x {factor:.3g}")
            numbers = _identified(actuator) | numbers
            drives[name] = NamedDrive(name, actuator, estimate(actuator.family, numbers))
    flaws.raise_if_any(source)
    return drives


def read_fields(flaws: FlawList, cls: type[Read], table: Mapping[str, Any], path: str) -> Read | None:
    """A description from a table whose quantities may have units; None where a key or a value is wrong."""
    before = len(flaws.found)
    flaws.add_unknown(table, cls.KINDS, "is unknown", path)
    values: dict[str, Any] = {}
    for key, kind in cls.KINDS.items():
        value = table.get(key)
        if key not in table:
            if is_required(cls, key):
                flaws.add(f"{path}.{key}", "is missing", f"every {cls.NOUN} needs it")
        elif isinstance(kind, Quantity) and isinstance(value, str):
            try:
                values[key] = read_quantity(value, kind.written or str(kind.unit) or "1")
            except UnitError as error:
                flaws.add(f"{path}.{key}", str(error))
        else:
            values[key] = value
    # What is right is checked all the same, as far as nothing is missing.
    if all(key in values for key in cls.KINDS if is_required(cls, key)):
        try:
            made = cls(**values)
        except ModelError as error:
            flaws.extend(error.flaws, under=path)
    return made if len(flaws.found) == before else None


def find_drive(name: str, library: Mapping[str, NamedDrive] | None = None, key: str = "name") -> NamedDrive:
    """A drive by its name, capitals and hyphens aside.

    Raises:
        ModelError: with the nearest names, where there is none.
    """
    library = read_library() if library is None else library

    def plain(word: str) -> str:
        return word.lower().replace("-", "").replace("_", "").replace(" ", "")

    asked, names = plain(name), {plain(one): one for one in library}
    if asked in names:
        return library[names[asked]]
    near = [one for one in names if asked and asked in one] or near_names(asked, names)
    meant = f"did you mean {' or '.join(repr(names[one]) for one in near[:4])}?; " if near else ""
    refuse(key, f"there is no drive '{name}'", f"{meant}robodyn drives lists all")


# --------------------------------------------------------------------------------------------------
# Drive sizing: which motor and gear does a joint get, and where do their numbers come from?


@frozen
class SizedDrive:
    """A drive that fits a joint: ratio, rotor_inertia (motor's shaft), torque_constant, stiffness ... with sources.

    Attributes:
        effort: largest torque or force on the joint; scale: it over the peak torque of the size, 1 of a named drive.
    """

    family: str
    size: str
    effort: float
    scale: float
    elastic: bool
    numbers: dict[str, Sourced]

    def __getitem__(self, name: str) -> float:
        return self.numbers[name].value

    def get(self, name: str) -> float:
        """A number, 0 where the drive has none."""
        return self.numbers[name].value if name in self.numbers else 0.0

    @property
    def armature(self) -> float:
        """Inertia of the rotor as the joint sees it [kg m^2 or kg]: J n^2."""
        return self["rotor_inertia"] * self["ratio"] ** 2


def sizes_of(family: str) -> list[NamedDrive]:
    """The sizes of a family that are scaled."""
    return [drive for drive in read_library().values() if drive.actuator.size and drive.actuator.family == family]


def size_family(family: str, joint: Joint, effort: float, given: dict[str, Sourced], typical: bool) -> SizedDrive:
    """The nearest size of a family scaled to an effort, with what is given instead of its numbers."""
    drive = min(sizes_of(family), key=lambda one: abs(math.log(effort / one["peak_torque"])))
    x = effort / drive["peak_torque"]
    said = f"{drive.actuator.source}, scaled by similarity to {100 * x:.3g} % of its peak torque"
    numbers = {key: drive.numbers[key] for key in ("ratio", "torque_constant", "loss", "counts")}
    for key, power in EXPONENTS.items():
        number = drive.numbers[key]
        numbers[key] = Sourced(number.value * x**power, number.source if number.estimated else said)
    scaled = {"peak_torque": Sourced(effort, said), "rated_torque": Sourced(drive["rated_torque"] * x, said)}
    return _finish(family, drive.name, joint, effort, x, numbers | scaled, given, typical)


def mount_drive(drive: NamedDrive, joint: Joint, effort: float, given: dict[str, Sourced], typical: bool) -> SizedDrive:
    """A drive of the library on a joint, with what is given instead of its numbers."""
    numbers = dict(drive.numbers)
    if drive.actuator.family == SPUR:
        # Its encoder sits on the output: as many counts there as one on the motor with a share of them.
        counts = numbers["counts"]
        numbers["counts"] = Sourced(counts.value / drive["ratio"], f"{counts.source}, on the output, over the ratio")
    return _finish(drive.actuator.family, drive.name, joint, effort, 1.0, numbers, given, typical)


def _finish(
    family: str, size: str, joint: Joint, effort: float, scale: float, numbers: dict[str, Sourced],
    given: dict[str, Sourced], typical: bool,
) -> SizedDrive:  # fmt: skip
    """Take over the robot's own numbers and those given, and estimate what follows from all of them."""
    ratio = given.get("ratio", numbers["ratio"]).value
    kept = {"coulomb": joint.friction, "viscous": joint.damping}
    own = {key: Sourced(value, "the robot's own") for key, value in kept.items() if value is not None}
    if joint.armature > 0:
        own["rotor_inertia"] = Sourced(joint.armature / ratio**2, "the robot's own armature over ratio^2")
    numbers = estimate(family, numbers | own | given)
    return SizedDrive(
        family, size, effort, scale, True, estimate(family, numbers, IMPERFECTIONS) if typical else numbers
    )


@frozen(eq=False)
class DriveComparison(Displayed):
    """Some drives of the library, listed, or side by side with all that one compares."""

    JSON = """
    drives
    """
    drives: tuple[NamedDrive, ...]
    side_by_side: bool = False


def compare_drives(
    names: Iterable[str] = (),
    library: str | Path | None = None,
    family: str | None = None,
    side_by_side: bool = False,
) -> DriveComparison:
    """Drives by names or patterns such as "XM*", all by default, those of one family if wanted.

    Raises:
        ModelError: with each name that there is none of, and the nearest.
    """
    known, flaws = read_library(library), FlawList()
    if family is not None and family not in FAMILIES:
        flaws.add("family", f"'{family}' is unknown", nearest(family, FAMILIES))
    chosen: dict[str, NamedDrive] = {}
    for name in names:
        fits = [one for one in known if fnmatch.fnmatchcase(one.lower(), name.lower())]
        try:
            chosen |= {one: known[one] for one in fits or [find_drive(name, known).name]}
        except ModelError as error:
            flaws.extend(error.flaws)
    flaws.raise_if_any("drives")
    drives = (chosen or known).values()
    fitting = tuple(one for one in drives if family is None or one.actuator.family == family)
    return DriveComparison(fitting, side_by_side)
