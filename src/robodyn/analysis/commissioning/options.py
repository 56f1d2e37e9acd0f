"""Choices of a dressing: which drives, which friction, which control, for all joints or for one?"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.units import UnitError
from robodyn.description.files.units import read_quantity
from robodyn.description.model.description import Description
from robodyn.description.model.fields import choice, flag, quantity
from robodyn.description.model.kinds import Kind, Quantity

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
            raise ModelError([Flaw(key, what, nearest(str(given), words))])
        given = _load(path)
    bad = [name for name, table in given.items() if not isinstance(table, Mapping | Drive)]
    if bad:
        what = f"{', '.join(bad)}: must be tables by joint, or [{ALL}]"
        raise ModelError([Flaw(key, what, f'such as [{ALL}] with {key} = "{words[0]}"')])
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


def _number(kind: Kind, value: Any) -> Any:
    """A quantity that is written with its unit, in SI; anything else as it is."""
    if not isinstance(kind, Quantity) or not isinstance(value, str):
        return value
    return read_quantity(value, kind.unit if isinstance(kind.unit, str) else "")
