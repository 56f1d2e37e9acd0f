"""Drives of dressed robots: sizes, options and the axis that they make."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest, refuse
from robodyn.base.units import UnitError
from robodyn.description.files.units import read_quantity
from robodyn.description.model import Block, ElasticGear, Joint
from robodyn.description.model.description import Description
from robodyn.description.model.fields import choice, flag, quantity
from robodyn.description.model.kinds import FieldKind, Quantity

# --------------------------------------------------------------------------------------------------
# Drive sizing: which motor and gear does a joint of a given effort get, and where do their numbers come from?
#
# The sizes stand in `drive_sizes.toml`. With x = effort limit / peak torque of the nearest size, by similarity,
#
#     torque, stiffness, friction ~ x,   inertia ~ x^(5/3)


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
    # What follows from the others where it is not given: static friction, damping of the gear.
    sources = family["sources"]
    armature = numbers["rotor_inertia"].value * numbers["ratio"].value ** 2
    critical = 2 * math.sqrt(numbers["stiffness"].value * armature)
    follows = {
        "static": Sourced(STATIC * numbers["coulomb"].value, sources["static"]),
        "damping": Sourced(DAMPING_RATIO * critical, sources["damping"]),
    }
    numbers = follows | numbers
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


# --------------------------------------------------------------------------------------------------
# Choices of a dressing: which drives, which friction, which control, for all joints or for one?


FAMILIES = ("strain-wave", "planetary", "ball-screw")
FRICTIONS = ("none", "coulomb", "stribeck", "lugre", "stick")
CASCADE, COMPUTED_TORQUE = "cascade", "computed-torque"
SCHEMES = (CASCADE, COMPUTED_TORQUE)
ALL = "all"


class Drive(Description, kw_only=True):
    """What a joint is driven by; a number that is not given comes from the data base of drive sizes."""

    NOUN = "drive"

    family: str = choice(FAMILIES, default="strain-wave", doc="of drives")
    friction: str = choice(FRICTIONS, default="lugre", doc="law of its friction")
    elastic: bool | None = flag(default=None, doc="whether the gear twists")
    effort: float | None = quantity(positive=True, default=None, doc="largest torque or force [N m or N]")
    ratio: float | None = quantity(positive=True, default=None, doc="of the gear [1 or rad/m]")
    rotor_inertia: float | None = quantity("kg m^2", positive=True, default=None, doc="on the motor's shaft")
    torque_constant: float | None = quantity("N m/A", positive=True, default=None, doc="of the motor")
    stiffness: float | None = quantity(positive=True, default=None, doc="of the gear [N m/rad or N/m]")
    damping: float | None = quantity(non_negative=True, default=None, doc="of the gear [N m s/rad or N s/m]")
    gap: float = quantity(non_negative=True, default=0.0, doc="whole play of the gear [rad or m]")
    loss: float | None = quantity(non_negative=True, default=None, doc="of the gear, by the torque it transmits")
    coulomb: float | None = quantity(non_negative=True, default=None, doc="dry friction [N m or N]")
    static: float | None = quantity(non_negative=True, default=None, doc="friction that breaks away [N m or N]")
    viscous: float | None = quantity(non_negative=True, default=None, doc="viscous friction [N m s/rad or N s/m]")
    counts: float | None = quantity(positive=True, default=None, doc="of the encoder in a turn of the motor")

    def numbers_given(self) -> dict[str, float]:
        """Numbers of the data base that are given here instead."""
        keys = ("ratio", "rotor_inertia", "torque_constant", "stiffness", "damping", "loss", "coulomb", "static")
        found = {key: getattr(self, key) for key in (*keys, "viscous", "counts")}
        return {key: value for key, value in found.items() if value is not None}

    def check(self, flaws: FlawList) -> None:
        if self.elastic is False:
            for key in ("stiffness", "damping", "gap"):
                if self.stated(key):
                    flaws.add(key, "has no effect on a rigid gear", "leave it out, or say elastic = true")
        if self.friction == "none" and (useless := self.stated("coulomb", "static", "viscous")):
            flaws.add(next(iter(useless)), 'has no effect with friction = "none"', "leave it out")


class Control(Description, kw_only=True):
    """How joints are controlled, on the motors' encoders, and the margins that the loops are to keep."""

    NOUN = "control"

    scheme: str = choice(
        SCHEMES, default=CASCADE, doc="P position loop over PI velocity loop, or the robot's own model"
    )
    position_rate: float = quantity("Hz", positive=True, default=1000.0, doc="of the position loop of a cascade")
    velocity_rate: float = quantity("Hz", positive=True, default=4000.0, doc="of the fastest loop and the encoder")
    current_lag: float = quantity("s", positive=True, default=0.5e-3, doc="time constant of the closed current loop")
    delay: float = quantity("s", non_negative=True, default=0.0, doc="from the fastest loop's sample to its effect")
    phase_margin: float = quantity("rad", positive=True, default=math.radians(45.0), doc="least, of every loop")
    gain_margin: float = quantity(positive=True, default=2.0, doc="least factor on the gains that is still stable")

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        computed = self.scheme == COMPUTED_TORQUE
        if computed and self.stated("position_rate"):
            flaws.add("position_rate", "has no effect on computed torque", "leave it out; velocity_rate is its rate")
        ratio = 1.0 if computed else self.velocity_rate / self.position_rate
        if ratio < 1 or abs(ratio - round(ratio)) > 1e-9:
            what = f"must be a whole multiple of position_rate, is {ratio:g} of it"
            flaws.add("velocity_rate", what, "such as 4000 Hz and 1000 Hz")
        if self.phase_margin >= math.radians(75.0):
            flaws.add("phase_margin", f"must be below 75 deg, is {math.degrees(self.phase_margin):.3g} deg")
        if self.gain_margin <= 1.0:
            flaws.add("gain_margin", f"must be above 1, is {self.gain_margin:g}")


Choice = TypeVar("Choice", Drive, Control)


def read_drives(given: str | Path | Drive | Mapping[str, Any], joints: Iterable[str]) -> dict[str, Drive]:
    """The drive of each joint, from a family's name, one drive, a TOML file, or tables by joint and under "all"."""
    joints = list(joints)
    if isinstance(given, Drive):
        return dict.fromkeys(joints, given)
    tables = _tables(given, FAMILIES, "family")
    flaws = FlawList()
    flaws.add_unknown(tables, [*joints, ALL], "there is no such joint to dress", "drives")
    common = tables.get(ALL, {})
    whole = {name: tables.get(name, {}) for name in joints}
    made = {name: _make(flaws, Drive, common, table, f"drives.{name}") for name, table in whole.items()}
    flaws.raise_if_any("drives")
    return {name: drive for name, drive in made.items() if drive is not None}


def read_control(given: str | Path | Control | Mapping[str, Any]) -> Control:
    """The control, from a scheme's name, a table, or a TOML file."""
    if isinstance(given, Control):
        return given
    flaws = FlawList()
    tables = _tables(given, SCHEMES, "scheme") if not isinstance(given, Mapping) else {ALL: given}
    for name in tables:
        if name != ALL:
            flaws.add(f"control.{name}", "is no table of control", f"give one table, [{ALL}]")
    made = _make(flaws, Control, {}, tables.get(ALL, {}), "control")
    flaws.raise_if_any("control")
    assert made is not None
    return made


def _tables(given: str | Path | Mapping[str, Any], words: tuple[str, ...], key: str) -> dict[str, Mapping[str, Any]]:
    """Tables by joint, and under "all"."""
    if isinstance(given, (str, Path)):
        if str(given) in words:
            return {ALL: {key: str(given)}}
        path = Path(given)
        if not path.is_file():
            what = f"'{given}' is neither one of {', '.join(words)} nor a file"
            refuse(key, what, nearest(str(given), words))
        given = _load(path)
    bad = [name for name, table in given.items() if not isinstance(table, Mapping | Drive)]
    if bad:
        what = f"{', '.join(bad)}: must be tables by joint, or [{ALL}]"
        refuse(key, what, f'such as [{ALL}] with {key} = "{words[0]}"')
    return {name: table.stated() if isinstance(table, Drive) else table for name, table in given.items()}


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelError([Flaw("", f"is not TOML: {error}")], str(path)) from error


def _make(
    flaws: FlawList, cls: type[Choice], common: Mapping[str, Any], own: Mapping[str, Any], path: str
) -> Choice | None:
    """A choice of tables, a number of its own before a common one; None where a key or a value is wrong."""
    flaws.add_unknown({**common, **own}, cls.KINDS, "is unknown", path)
    if not {**common, **own}.keys() <= set(cls.KINDS):
        return None
    try:
        return cls(**{key: _number(cls.KINDS[key], value) for key, value in {**common, **own}.items()})
    except UnitError as error:
        flaws.add(path, str(error))
        return None
    except ModelError as error:
        flaws.extend(error.flaws, under=path)
        return None


def _number(kind: FieldKind, value: Any) -> Any:
    """A quantity that is written with its unit, in SI; anything else as it is."""
    if not isinstance(kind, Quantity) or not isinstance(value, str):
        return value
    return read_quantity(value, kind.unit if isinstance(kind.unit, str) else "")


# --------------------------------------------------------------------------------------------------
# Drive train and cascade of one joint: which blocks move it, brake it, measure it and control it?
#
#     reference -> position loop -> velocity loop -> current -> motor -> gear -> joint
#                       ^---------------^------- encoder on the motor
#
# In joint units on both sides of the gear; an elastic one stands between the joint and its drive.


STRIBECK_SHARE, SMOOTHING_SHARE = 0.01, 0.002
"""Speeds of the Stribeck bump and of smoothed friction, in top speeds of the joint: rules of thumb."""
PRESLIDING = 100.0
"""Encoder counts that bristles bend before they slip, which gives their stiffness: a rule of thumb."""
TOP_SPEED = {"rad": 3.0, "m": 1.0}
"""Of a joint without a speed limit."""


@dataclass(frozen=True)
class Gains:
    """Of a cascade: position [1/s], proportional [N m s/rad or N s/m] and integral [N m/rad or N/m] of the velocity."""

    position: float
    proportional: float
    integral: float


@dataclass(frozen=True)
class DriveAxis:
    """A joint to be dressed."""

    joint: Joint
    drive: Drive
    sized: SizedDrive
    control: Control

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def unit(self) -> str:
        return "rad" if self.joint.rotates else "m"

    @property
    def top_speed(self) -> float:
        """The joint's speed limit, or a common one."""
        return self.joint.speed_limit or TOP_SPEED[self.unit]

    @property
    def resolution(self) -> float:
        """Of the encoder, in joint units: a count over the ratio."""
        return 2 * math.pi / (self.sized["counts"] * self.sized["ratio"])

    @property
    def torque_constant(self) -> float:
        """On the joint's side: n kT."""
        return self.sized["ratio"] * self.sized["torque_constant"]

    @property
    def gear(self) -> ElasticGear | None:
        """The elastic gear, None for a rigid one."""
        if not self.sized.elastic:
            return None
        return ElasticGear(f"{self.name}_drive", self.sized["stiffness"], self.sized["damping"], self.drive.gap)

    @property
    def driven(self) -> str:
        """What its motor turns: the drive of an elastic gear, else the joint."""
        return self.gear.drive if self.gear is not None else self.name

    def bare_joint(self) -> Joint:
        """The joint with its rotor; friction comes as a block."""
        return self.joint.replaced(
            armature=self.sized.armature, friction=None, damping=None, effort_limit=self.sized.effort
        )

    def blocks(self, start: float, gains: Gains) -> tuple[Block, ...]:
        """All blocks of the joint under a cascade, standing at a position."""
        return (
            *self._reference(start),
            *self._cascade(gains),
            *self._train(f"{self.name}.velocity_loop.torque_command"),
        )

    def commanded_blocks(self, start: float, torque: str) -> tuple[Block, ...]:
        """The same where a signal commands its torque; it is limited to the drive's."""
        bounds = {"lower": -self.sized.effort, "upper": self.sized.effort}
        unit = "N m" if self.joint.rotates else "N"
        limit = Block(f"{self.name}.limit", "saturation", None, {"value": torque}, bounds, unit=unit)
        return (*self._reference(start), limit, *self._train(f"{self.name}.limit.output"))

    def _train(self, torque: str) -> tuple[Block, ...]:
        """Motor, friction and gear under a commanded torque."""
        return (*self._motor(torque), *self._friction(), *self._loss())

    def _reference(self, start: float) -> tuple[Block, ...]:
        name, speed, fast = self.name, self.top_speed, 1 / self.control.velocity_rate
        limits = {"speed": 0.5 * speed, "top_acceleration": 2.0 * speed, "top_jerk": 20.0 * speed}
        measured = {"resolution": self.resolution, "period": fast}
        return (
            Block(
                f"{name}.reference",
                "s_curve_reference",
                parameters={"target": start, "start": start} | limits,
                unit=self.unit,
            ),
            Block(
                f"{name}.encoder",
                "sampled_encoder",
                None,
                {"value": f"{name}.position"},
                measured,
                period=fast,
            ),
        )

    def _cascade(self, gains: Gains) -> tuple[Block, ...]:
        name, slow, fast = self.name, 1 / self.control.position_rate, 1 / self.control.velocity_rate
        targets = {
            "target": f"{name}.reference.position",
            "position": f"{name}.encoder.measured",
            "feed_forward": f"{name}.reference.velocity",
        }
        rates = {
            "velocity_command": f"{name}.position_loop.velocity_command",
            "velocity": f"{name}.encoder.measured_rate",
        }
        pi = {"proportional": gains.proportional, "integral": gains.integral, "period": fast}
        return (
            Block(
                f"{name}.position_loop",
                "position_loop",
                None,
                targets,
                {"proportional": gains.position},
                period=slow,
            ),
            Block(
                f"{name}.velocity_loop",
                "sampled_velocity_loop",
                None,
                rates,
                pi | {"limit": self.sized.effort},
                period=fast,
                delay=self.control.delay,
            ),
        )

    def _motor(self, torque: str) -> tuple[Block, ...]:
        name, command = self.name, {"value": torque}
        numbers = {"torque_constant": self.torque_constant, "time_constant": self.control.current_lag}
        current = {"current_command": f"{name}.current.output"}
        return (
            Block(f"{name}.current", "amplifier", None, command, {"gain": 1 / self.torque_constant}, unit="A"),
            Block(f"{name}.motor", "current_lag", name, current, numbers),
        )

    def _friction(self) -> tuple[Block, ...]:
        law = {"coulomb": "coulomb_friction", "stribeck": "stribeck_friction", "stick": "stick_friction"}
        kind = self.drive.friction
        if kind == "none":
            return ()
        numbers = {key: self.sized[key] for key in ("coulomb", "static", "viscous")}
        smooth = {"smoothing_velocity": SMOOTHING_SHARE * self.top_speed}
        bump = {"stribeck_velocity": STRIBECK_SHARE * self.top_speed}
        if kind == "coulomb":
            numbers = {"coulomb": numbers["coulomb"], "viscous": numbers["viscous"]} | smooth
        elif kind == "stribeck":
            numbers |= smooth | bump
        elif kind == "lugre":
            # Stiffness and damping of LuGre's bristles: bent by some counts at the static level,
            # damped by the rotor.
            stiffness = self.sized["static"] / (PRESLIDING * self.resolution)
            bristles = {"stiffness": stiffness, "damping": math.sqrt(stiffness * self.sized.armature)}
            numbers |= bump | bristles
        return (Block(f"{self.name}.friction", law.get(kind, "lugre_friction"), self.name, parameters=numbers),)

    def _loss(self) -> tuple[Block, ...]:
        if not self.sized["loss"]:
            return ()
        load = f"{self.name}_drive.gear.force" if self.sized.elastic else f"{self.name}.motor.torque"
        numbers = {"load_loss": self.sized["loss"], "smoothing_velocity": SMOOTHING_SHARE * self.top_speed}
        return (Block(f"{self.name}.gear_loss", "gear_loss", self.name, {"load": load}, numbers),)
