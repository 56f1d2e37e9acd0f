"""Mapping of measured data: which column is which signal, in which unit, with which sign, offset, delay and gear?

    signal(t) = sign factor gear^p (column(t + delay) - offset)

written once in a TOML file. `gear` is the ratio of a motor to its joint: motions are divided by it (p = -1), torques
and forces multiplied (p = 1).
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Any

from robodyn.base.errors import FlawList
from robodyn.base.records import dataclass
from robodyn.base.units import Unit, UnitError, known_unit, parse_unit
from robodyn.description.files.samples.text_tables import TextFormat
from robodyn.description.files.table import Table, load_toml
from robodyn.description.files.units import split_quantity

MOTIONS = ("rad", "rad/s", "rad/s^2", "m", "m/s", "m/s^2")
EFFORTS = ("N m", "N")


@dataclass(frozen=True)
class TimeMapping:
    """Where times come from.

    Attributes:
        column: its name, None for a column called time; rate: [Hz] of rows without times.
        unit: of the column, None for what its heading says.
        from_first: whether time is counted from the first row.
        even: whether rows were sampled evenly and the jitter of their times is that of whoever wrote them.
    """

    column: str | None = None
    unit: str | None = None
    rate: float | None = None
    from_first: bool = False
    even: bool = False


@dataclass(frozen=True)
class SignalMapping:
    """One signal and the column it comes from; numbers in SI, `offset` and `limit` in the column's quantity.

    Attributes:
        limit: size at which the column is saturated: such samples are missing ones.
        keep_saturated: whether long stretches at the greatest value are taken for what was there.
    """

    name: str
    column: str
    unit: str | None = None
    sign: float = 1.0
    offset: float = 0.0
    delay: float = 0.0
    gear: float = 1.0
    factor: float = 1.0
    factor_unit: str = ""
    limit: float | None = None
    keep_saturated: bool = False
    held: bool = False
    rate: str | None = None


@dataclass(frozen=True)
class DataMapping:
    """What the columns of a file mean; without signals all of them are taken by their own names."""

    source: str = ""
    text: TextFormat = field(default_factory=TextFormat)
    time: TimeMapping = field(default_factory=TimeMapping)
    signals: tuple[SignalMapping, ...] = ()


def read_mapping(path: str | Path) -> DataMapping:
    """The mapping of a TOML file; every flaw is reported with its key."""
    flaws = FlawList()
    table = Table(load_toml(Path(path)), "", flaws)
    text, time = _read_format(table.table("file")), _read_time(table.table("time"))
    signals = tuple(_read_signal(name, own) for name, own in table.tables("signals"))
    table.finish()
    flaws.raise_if_any(str(path))
    return DataMapping(str(path), text, time, signals)


def _read_format(table: Table) -> TextFormat:
    text_format = TextFormat(
        skip=table.integer("skip", 0),
        separator=_choose(table, "separator", (",", ";", "\t", " ")),
        decimal=_choose(table, "decimal", (".", ",")),
        drop_bad_rows=_choose(table, "bad_rows", ("refuse", "drop")) == "drop",
    )
    table.finish()
    return text_format


def _choose(table: Table, key: str, words: tuple[str, ...]) -> Any:
    value = table.text(key, None)
    if value is not None and value not in words:
        table.flaws.add(table.at(key), f"must be {' or '.join(map(repr, words))}, is {value!r}")
    return value


def _read_time(table: Table) -> TimeMapping:
    column, rate = _column(table, None), table.number("rate", "Hz", None)
    if column is not None and rate is not None:
        table.flaws.add(table.at("rate"), "is for rows without times", "leave it or the column out")
    if rate is not None and not rate > 0:
        table.flaws.add(table.at("rate"), f"must be positive, is {rate:g}")
    unit = table.text("unit", None)
    known = known_unit(unit or "s")
    if known is None or not known.measures_like(parse_unit("s")):
        table.flaws.add(table.at("unit"), f"must be a unit of time, is {unit!r}", "s, ms, us or ns")
    mapping = TimeMapping(column, unit, rate, table.flag("from_first"), table.flag("even"))
    table.finish()
    return mapping


def _column(table: Table, default: Any) -> Any:
    """The name of a column; a whole number is the place of one in a file without headings."""
    value = table.raw("column", default)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if value is None or isinstance(value, str) else table.text("column")


def _read_signal(name: str, table: Table) -> SignalMapping:
    unit = table.text("unit", None)
    if unit is not None and known_unit(unit) is None:
        table.flaws.add(table.at("unit"), f"is no unit: {unit!r}")
        unit = None
    own = parse_unit(unit).name if unit else ""
    factor, factor_unit = _read_factor(table)
    sign, gear = table.number("sign", "1", 1.0), table.number("gear", "1", 1.0)
    if sign not in (1.0, -1.0, None):
        table.flaws.add(table.at("sign"), f"must be 1 or -1, is {sign:g}", "`factor` takes other numbers")
    if gear is not None and not gear > 0:
        table.flaws.add(table.at("gear"), f"must be positive, is {gear:g}", "`sign` turns it round")
    mapping = SignalMapping(
        name, _column(table, name), unit, sign, _number(table, "offset", unit, own, 0.0),
        table.number("delay", "s", 0.0), gear, factor, factor_unit, _number(table, "limit", unit, own, None),
        _choose(table, "saturation", ("refuse", "keep")) == "keep", table.flag("held"), table.text("rate", None),
    )  # fmt: skip
    table.finish()
    return mapping


def _number(table: Table, key: str, unit: str | None, own: str, default: float | None) -> Any:
    """A number in the column's quantity: with a unit of its own, or in that of the column."""
    value = table.number(key, own, default)
    plain = isinstance(table.data.get(key), (int, float))
    return value * parse_unit(unit).factor if plain and unit and value is not None else value


def _read_factor(table: Table) -> tuple[float, str]:
    """A factor with its unit, such as "0.12 N m/A"; a current then becomes a torque."""
    value = table.raw("factor", 1.0)
    if not isinstance(value, str):
        return table.quantity(table.at("factor"), value, "1") or 1.0, ""
    try:
        unit = split_quantity(value)[1]
        return table.quantity(table.at("factor"), value, "") or 1.0, parse_unit(unit).name
    except UnitError as error:
        table.flaws.add(table.at("factor"), str(error))
        return 1.0, ""


def gear_power(unit: Unit) -> int | None:
    """Which power of a gear ratio brings a motor's quantity to its joint; None where that is not clear."""
    for names, power in ((MOTIONS, -1), (EFFORTS, 1)):
        if any(unit.measures_like(parse_unit(name)) for name in names):
            return power
    return None
