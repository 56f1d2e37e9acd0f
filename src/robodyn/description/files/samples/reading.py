"""Samples in SI: which file is read how, and what do its columns become by a mapping?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import (
    Array,
    Flaw,
    FlawList,
    ModelError,
    UnitError,
    UnitOfMeasure,
    frozen,
    known_unit,
    nearest,
    parse_unit,
    refuse,
)
from robodyn.base.untrusted import DAMAGE, Unreadable
from robodyn.description.files.table import TomlTable, load_toml
from robodyn.description.files.units import split_quantity

from .array_files import read_bag, read_matlab, read_mcap, read_numpy, read_parquet
from .headings import read_heading
from .text_tables import MOST_FLAWS, FileColumns, TextFormat, read_text_table

# --------------------------------------------------------------------------------------------------
# Mapping of measured data: which column is which signal, in which unit, with which sign, offset, delay and gear?
#
#     signal(t) = sign factor gear^p (column(t + delay) - offset)
#
# where a column may also be a sum of columns with factors, as motors of coupled axes need;
# written once in a TOML file. `gear` is the ratio of a motor to its joint: motions are divided by it (p = -1), torques
# and forces multiplied (p = 1).


MOTIONS = ("rad", "rad/s", "rad/s^2", "m", "m/s", "m/s^2")
EFFORTS = ("N m", "N")


@frozen
class TimeMapping:
    """Where times come from.

    Attributes:
        column: its name, None for a column called time; rate: [Hz] of rows without times.
        unit: of the column, None for what its heading says.
        from_first: whether time is counted from the first row.
        even: whether rows were sampled evenly and the jitter of their times is that of whoever wrote them.
        begin, end: rows before and after these times [s], counted from the first row, are left out.
    """

    column: str | None = None
    unit: str | None = None
    rate: float | None = None
    from_first: bool = False
    even: bool = False
    begin: float | None = None
    end: float | None = None


@frozen
class SignalMapping:
    """One signal and the column it comes from; numbers in SI, `offset` and `limit` in the column's quantity.

    Attributes:
        columns: factors of columns whose sum takes the place of a single one.
        limit: size at which the column is saturated: such samples are missing ones.
        wrap: after how much an angle begins again, 0 where it goes on.
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
    columns: Mapping[str, float] = field(default_factory=dict)
    wrap: float = 0.0

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns it is made of."""
        return tuple(self.columns) or (self.column,)


@frozen
class DataMapping:
    """The meaning of a file's columns; without signals all of them are taken by their own names."""

    source: str = ""
    text: TextFormat = field(default_factory=TextFormat)
    time: TimeMapping = field(default_factory=TimeMapping)
    signals: tuple[SignalMapping, ...] = ()


def read_mapping(path: str | Path) -> DataMapping:
    """The mapping of a TOML file; every flaw is reported with its key."""
    flaws = FlawList()
    table = TomlTable(load_toml(Path(path)), "", flaws)
    text, time = _read_format(table.table("file")), _read_time(table.table("time"))
    signals = tuple(_read_signal(name, own) for name, own in table.tables("signals"))
    table.finish()
    flaws.raise_if_any(str(path))
    return DataMapping(str(path), text, time, signals)


def _read_format(table: TomlTable) -> TextFormat:
    text_format = TextFormat(
        skip=table.integer("skip", 0),
        separator=_choose(table, "separator", (",", ";", "\t", " ")),
        decimal=_choose(table, "decimal", (".", ",")),
        drop_bad_rows=_choose(table, "bad_rows", ("refuse", "drop")) == "drop",
    )
    table.finish()
    return text_format


def _choose(table: TomlTable, key: str, words: tuple[str, ...]) -> Any:
    value = table.text(key, None)
    if value is not None and value not in words:
        table.note(key, f"must be {' or '.join(map(repr, words))}, is {value!r}")
    return value


def _read_time(table: TomlTable) -> TimeMapping:
    column, rate = _column(table, None), table.number("rate", "Hz", None)
    if column is not None and rate is not None:
        table.note("rate", "only applies to rows without times", "remove it or the column")
    if rate is not None and not rate > 0:
        table.note("rate", f"must be positive, is {rate:g}")
    unit = table.text("unit", None)
    unit_there = known_unit(unit or "s")
    if unit_there is None or not unit_there.measures_like(parse_unit("s")):
        table.note("unit", f"must be a unit of time, is {unit!r}", "s, ms, us or ns")
    begin, end = table.number("begin", "s", None), table.number("end", "s", None)
    if begin is not None and end is not None and not begin < end:
        table.note("end", f"must be after begin, {begin:g} s, is {end:g} s")
    mapping = TimeMapping(column, unit, rate, table.flag("from_first"), table.flag("even"), begin, end)
    table.finish()
    return mapping


def _column(table: TomlTable, default: Any) -> Any:
    """The name of a column; a whole number is the place of one in a file without headings."""
    value = table.raw("column", default)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if value is None or isinstance(value, str) else table.text("column")


def _read_signal(name: str, table: TomlTable) -> SignalMapping:
    unit = table.text("unit", None)
    if unit is not None and known_unit(unit) is None:
        table.note("unit", f"is not a unit: {unit!r}")
        unit = None
    own = parse_unit(unit).name if unit else ""
    factor, factor_unit = _read_factor(table)
    sign, gear = table.number("sign", "1", 1.0), table.number("gear", "1", 1.0)
    if sign not in (1.0, -1.0, None):
        table.note("sign", f"must be 1 or -1, is {sign:g}", "`factor` takes other numbers")
    if gear is not None and not gear > 0:
        table.note("gear", f"must be positive, is {gear:g}", "`sign` reverses it")
    mapping = SignalMapping(
        name, _column(table, name), unit, sign, _number(table, "offset", unit, own, 0.0),
        table.number("delay", "s", 0.0), gear, factor, factor_unit, _number(table, "limit", unit, own, None),
        _choose(table, "saturation", ("refuse", "keep")) == "keep", table.flag("held"), table.text("rate", None),
        _read_columns(table), _number(table, "wrap", unit, own, 0.0),
    )  # fmt: skip
    if mapping.columns and "column" in table.data:
        table.note("columns", "is a sum that replaces `column`", "leave one of them out")
    table.finish()
    return mapping


def _read_columns(table: TomlTable) -> Mapping[str, float]:
    """Factors of a sum of columns: `columns = { m5 = 1.0, m6 = -0.5 }`."""
    given = table.raw("columns", {})
    numbers = isinstance(given, dict) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in given.values()
    )
    if not numbers:
        table.note("columns", f"must give each column a factor, is {given!r}", "{ m5 = 1.0, m6 = -0.5 }")
        return {}
    return {str(name): float(value) for name, value in given.items()}


def _number(table: TomlTable, key: str, unit: str | None, own: str, default: float | None) -> Any:
    """A number in the column's quantity: with a unit of its own, or in that of the column."""
    value = table.number(key, own, default)
    plain = isinstance(table.data.get(key), (int, float))
    return value * parse_unit(unit).factor if plain and unit and value is not None else value


def _read_factor(table: TomlTable) -> tuple[float, str]:
    """A factor with its unit, such as "0.12 N m/A"; a current then becomes a torque."""
    value = table.raw("factor", 1.0)
    if not isinstance(value, str):
        return table.quantity(table.at("factor"), value, "1") or 1.0, ""
    try:
        unit = split_quantity(value)[1]
        return table.quantity(table.at("factor"), value, "") or 1.0, parse_unit(unit).name
    except UnitError as error:
        table.note("factor", str(error))
        return 1.0, ""


NEAR_TURN, WITHIN_TURN = 0.15, 0.3
"""How near to a turn a step is one, and the largest other step, by a turn."""


def count_turns(values: Array, turn: float) -> int:
    """How often an angle begins again: steps of about a turn within a range of one, all others small."""
    y = values[np.isfinite(values)]
    steps = np.abs(np.diff(y))
    jumps = np.abs(steps - turn) < NEAR_TURN * turn
    if not jumps.any() or np.ptp(y) > 1.01 * turn or steps[~jumps].max(initial=0.0) > WITHIN_TURN * turn:
        return 0
    return int(jumps.sum())


def unwrap(values: Array, turn: float) -> Array:
    """An angle that goes on where it began again."""
    found, there = values.copy(), np.isfinite(values)
    found[there] = np.unwrap(values[there], period=turn)
    return found


def gear_power(unit: UnitOfMeasure) -> int | None:
    """Which power of a gear ratio brings a motor's quantity to its joint; None where that is not clear."""
    for names, power in ((MOTIONS, -1), (EFFORTS, 1)):
        if any(unit.measures_like(parse_unit(name)) for name in names):
            return power
    return None


# --------------------------------------------------------------------------------------------------
# Clocks of measured data: when was each row sampled? Times that are missing, fall back, jitter or lack a unit.


USUAL = ("time", "t", "timestamp", "time_s", "zeit")
"""Names of a column of times where nobody names one, in small letters."""
LATEST = 1e11
"""Seconds since 1970 that no measurement has: times beyond are in ms, us or ns."""


def read_time(columns: FileColumns, mapping: DataMapping, flaws: FlawList) -> tuple[FileColumns, Array]:
    """The rows with a usable time, and their times [s]."""
    given = mapping.time
    if given.rate is not None:
        n = len(next(iter(columns.values.values())))
        return columns, np.arange(n) / given.rate
    time, name = _find_times(columns, mapping, flaws)
    if time is None:
        return columns, np.zeros(0)
    columns, time = _rising(columns, time, name, mapping, flaws)
    if not time.size or flaws.found:
        return columns, time
    since = time - time[0]
    inside = (since >= (given.begin or 0.0)) & (since <= (np.inf if given.end is None else given.end))
    if not inside.all():
        if inside.sum() < 2:
            flaws.add("time.begin, time.end", f"leave {int(inside.sum())} rows", f"the rows last {since[-1]:g} s")
            return columns, time
        note = f"{int((~inside).sum())} rows before `begin` or after `end` are left out"
        columns, time = columns.rows(inside, note), time[inside]
    if given.even and time.size > 2:
        time = even_times(time)
    return columns, time - time[0] if given.from_first else time


def time_column(columns: FileColumns, mapping: DataMapping) -> str:
    """The name of the column that holds times, whether it is there or not."""
    usual = [name for name in columns.values if name.lower().rpartition(".")[2] in USUAL]
    usual += [name for name in columns.values if read_heading(name, columns.units.get(name, "")).kind == "time"]
    return mapping.time.column or next(iter(usual), "time")


def _find_times(columns: FileColumns, mapping: DataMapping, flaws: FlawList) -> tuple[Array | None, str]:
    name = time_column(columns, mapping)
    if columns.stamps is not None and mapping.time.column is None:
        return columns.stamps, "time"
    if name not in columns.values:
        remedy = nearest(name, columns.values) + '; a mapping names it: [time] column = "..." or rate = "1 kHz"'
        flaws.add("time", f"there is no column '{name}'", remedy)
        return None, name
    written = mapping.time.unit or columns.units.get(name, "") or read_heading(name).unit
    unit = known_unit(written or "s")
    if unit is None or not unit.measures_like(parse_unit("s")):
        flaws.add(f"column '{name}'", f"must be in a unit of time, is in '{written}'", "s, ms, us or ns")
        return None, name
    time = columns.values[name]
    size = float(np.nanmax(np.abs(time), initial=0.0))
    if not written and size > LATEST:
        flaws.add(f"column '{name}'", f"has {size:g}, which cannot be seconds", '[time] unit = "ns" in a mapping')
    return time * unit.factor, name


def _rising(
    columns: FileColumns, time: Array, name: str, mapping: DataMapping, flaws: FlawList
) -> tuple[FileColumns, Array]:
    """Rows whose time is not before an earlier one (equal ones are a jump); others are flaws, or left out if wished."""
    present = np.isfinite(time)
    latest = np.maximum.accumulate(np.where(present, time, -np.inf))
    good = present & np.concatenate([[True], time[1:] >= latest[:-1]])
    drop = mapping.text.drop_bad_rows
    if drop:
        # Two rows at one time are one row written twice; of an even clock, other numbers are the next sample.
        others = [y for column, y in columns.values.items() if column != name]
        again = repeats(np.column_stack(others)) if mapping.time.even and others else np.ones(time.size, bool)
        good &= np.concatenate([[True], time[1:] > latest[:-1]]) | ~again
    if good.all():
        return columns, time
    if drop:
        note = f"{int((~good).sum())} rows with missing, decreasing or repeated times are left out"
        return columns.rows(good, note), time[good]
    remedy = '[file] bad_rows = "drop" in a mapping leaves such rows out'
    for row in np.flatnonzero(~good)[:MOST_FLAWS]:
        place = f"{columns.place(row)}, column '{name}'"
        if not present[row]:
            flaws.add(place, "is missing", remedy)
        else:
            flaws.add(place, f"{time[row]:g} s comes after {latest[row - 1]:g} s", remedy)
    return columns, time


def repeats(values: Array) -> Array:
    """Rows (n, columns) with the same numbers as the row before; two that are missing are the same."""
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    return np.concatenate([[False], same.all(axis=1)])


LATE = 1.4
"""Step, by the usual one, behind which rows may be missing."""
WIDE, RECOUNTED, RECOUNTS = 25, 0.7, 20
"""Rows on both sides of a long step by which missing ones are counted, ticks that are worth a change, and how often."""
SPANS, FAR, BURSTS = (1, 10, 100), 1.6, 0.1
"""Rows over which steps are taken together, a ratio that no rounding makes, and scatter of steps within bursts."""
LONGEST_STALL, CATCH_UP = 1000, 3
"""Ticks of a stall whose burst is looked for, and rows of the burst by its ticks."""
REFINED, SAME_PERIOD = 3, 1e-6
"""How often missing rows are counted with a period that is known better, and a change of it that is none."""


def usual_step(time: Array) -> float:
    """The period of a clock, also of one rounded to not much less than it, or whose rows are written in bursts.

    The median of ten steps is no multiple of the rounding. Steps within bursts are as good as none, or scatter.
    """
    steps = np.diff(time)
    one, few, many = (float(np.median(time[n:] - time[:-n])) / n for n in (min(s, steps.size) for s in SPANS))
    if one > 0 and 1 / FAR < few / one < FAR:
        return few
    short = steps[steps < 2 * one]
    regular = short.size > 0 and float(np.median(np.abs(short - one))) < BURSTS * one
    return one if regular or few < one else many


def even_times(time: Array) -> Array:
    """Times of an even clock: the straight line through them by their tick numbers, missing rows counted.

    t_k = t_0 + n_k T,   n_k - n_(k-1) - 1 rows are missing where those behind a long step stay late

    Rows are written late and never early, so that those that are least late tell. Behind a stall of the host its rows
    come in a burst, each a little less late; they take no part in what follows. Where rows behind a long step are then
    earlier or later by a tick than those before it, the clock has caught up later, or more were missing.
    """
    from scipy.ndimage import maximum_filter1d

    steps, rows = np.diff(time), np.arange(time.size)
    period = usual_step(time)
    for _ in range(REFINED):
        usual = period
        long = np.flatnonzero(steps > LATE * usual)
        excess = time / usual - rows
        missing, kept = np.zeros(long.size), np.ones(time.size, bool)
        for i, k in enumerate(long.tolist()):
            # A stall of n ticks is caught up with n rows or, while others arrive, some times as many.
            n = int(min(steps[k] / usual + 0.5, LONGEST_STALL))
            behind = excess[k + 1 : k + 2 + CATCH_UP * n]
            least = behind.min()
            missing[i] = max(round(least - excess[k]), 0)
            kept[k + 1 : k + 1 + int(np.argmax(behind < least + 0.5))] = False
        at = np.searchsorted(np.flatnonzero(kept), long, side="right")
        for _ in range(RECOUNTS):
            ticks = rows + np.concatenate([[0.0], np.cumsum(np.bincount(long, missing, steps.size))])
            late = np.pad((time / usual - ticks)[kept], WIDE, mode="edge")
            least = np.partition(np.lib.stride_tricks.sliding_window_view(late, WIDE), 1, axis=1)[:, 1]
            more = np.maximum(least[at + WIDE] - least[at], -missing)
            more[np.abs(more) < RECOUNTED] = 0.0
            # Others nearby see the same rows late: the step that sees it best, the first of equals, is counted again.
            seen = np.zeros(time.size)
            seen[long] = np.abs(more) * (1 - 1e-9 * np.arange(long.size))
            more = np.round(more) * (seen[long] == maximum_filter1d(seen, 2 * WIDE + 1)[long])
            if not more.any():
                break
            missing += more
        period, start = np.polyfit(ticks[kept], time[kept], 1)
        # A period that is known better counts missing rows better.
        if abs(period / usual - 1) < SAME_PERIOD:
            break
    return start + period * ticks


BINARY = {".parquet": read_parquet, ".npz": read_numpy, ".npy": read_numpy, ".mat": read_matlab}
LOGS = {".mcap": read_mcap, ".bag": read_bag, ".db3": read_bag, "": read_bag}
EXTRAS = {"pyarrow": "export", "h5py": "logs", "mcap": "logs", "rosbags": "logs"}


@frozen
class Samples:
    """Times [s] and values (n, signals) in SI, nan where one is missing; what they are, and what was done to them."""

    time: Array
    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    signals: tuple[SignalMapping, ...] = ()
    notes: tuple[str, ...] = ()
    topic: str = ""


def read_samples(path: str | Path, mapping: DataMapping | None = None) -> Samples:
    """Signals of a file on one clock.

    Without a mapping each column is a signal by its own name, in the unit of its heading, over the column `time`;
    values are converted to SI, and without a unit they are in SI. Signals of several clocks are interpolated at the
    times of the first one.
    """
    clocks = read_clocks(path, mapping)
    base, others = clocks[0], clocks[1:]
    values = [base.values, *(_at_times(other, base.time) for other in others)]
    return Samples(
        base.time, np.column_stack(values), sum((c.names for c in clocks), ()), sum((c.units for c in clocks), ()),
        sum((c.signals for c in clocks), ()), tuple(dict.fromkeys(note for c in clocks for note in c.notes)),
    )  # fmt: skip


def _at_times(other: Samples, time: Array) -> Array:
    if np.array_equal(other.time, time):
        return other.values
    return np.column_stack([np.interp(time, other.time, column, np.nan, np.nan) for column in other.values.T])


def read_clocks(path: str | Path, mapping: DataMapping | None = None) -> list[Samples]:
    """Signals of a file, those of each clock by themselves."""
    path, mapping = Path(path), mapping or DataMapping()
    groups = read_columns(path, mapping)
    flaws = FlawList()
    wanted = _find_columns(groups, mapping, flaws)
    flaws.raise_if_any(str(path) if not mapping.source else f"{path} by {mapping.source}")
    clocks = []
    for columns, signals in zip(groups, wanted, strict=True):
        if signals:
            columns, time = read_time(columns, mapping, flaws)
            flaws.raise_if_any(str(path))
            converted = [_convert_column(columns, time, signal, flaws) for signal in signals]
            values = np.column_stack([values for values, _ in converted])
            names, units = tuple(signal.name for signal in signals), tuple(unit for _, unit in converted)
            clocks.append(Samples(time, values, names, units, tuple(signals), columns.notes, columns.topic))
    flaws.raise_if_any(str(path))
    if not clocks:
        refuse("", "names no signal", "at least one column besides the times must hold a signal", str(path))
    # The fastest clock first where nobody chose: nothing is lost then.
    return clocks if mapping.signals else sorted(clocks, key=lambda samples: -samples.time.size)


def read_columns(path: Path, mapping: DataMapping) -> list[FileColumns]:
    suffix = path.suffix.lower()
    try:
        if suffix in LOGS and (suffix or path.is_dir()):
            return LOGS[suffix](path)
        return [BINARY[suffix](path) if suffix in BINARY else read_text_table(path, mapping.text)]
    except ImportError as error:
        what = f"{suffix or 'ROS'} files need {error.name}"
        remedy = f"pip install 'robodyn[{EXTRAS.get(error.name or '', 'logs')}]', or write it as CSV"
        refuse("", what, remedy, source=str(path))
    except ModelError:
        raise
    except OSError as error:
        refuse("", f"cannot be read: {error.strerror or error}", source=str(path))
    except (*DAMAGE, Unreadable, MemoryError) as error:
        refuse("", f"cannot be read: {str(error)[:200]}", source=str(path))
    except Exception as error:
        # Libraries of formats raise classes of their own on damaged files.
        what = f"cannot be read: {type(error).__name__}: {str(error)[:200]}"
        raise ModelError([Flaw("", what)], str(path)) from error


def _find_columns(groups: list[FileColumns], mapping: DataMapping, flaws: FlawList) -> list[list[SignalMapping]]:
    """Signals of each group of columns."""
    names_there = [name for columns in groups for name in columns.values]
    if not mapping.signals:
        return [_own_names(columns, mapping) for columns in groups]
    names = [signal.name for signal in mapping.signals]
    for signal in mapping.signals:
        for column in signal.sources:
            if column not in names_there:
                flaws.add(
                    f"signals.{signal.name}.column", f"there is no column '{column}'", nearest(column, names_there)
                )
        if signal.rate is not None and signal.rate not in names:
            flaws.add(f"signals.{signal.name}.rate", f"there is no signal '{signal.rate}'", nearest(signal.rate, names))
    found = [[s for s in mapping.signals if all(c in columns.values for c in s.sources)] for columns in groups]
    for signal in (s for s in mapping.signals if not any(s in signals for signals in found)):
        if all(column in names_there for column in signal.sources):
            flaws.add(f"signals.{signal.name}.columns", "have clocks of their own", "sum columns of one topic")
    _check_sense(mapping, flaws)
    return found


def _check_sense(mapping: DataMapping, flaws: FlawList) -> None:
    """Signals that one column cannot be at the same time: a position and its velocity, or two positions."""
    mapped: dict[str, SignalMapping] = {}
    for signal in (s for s in mapping.signals if not s.columns):
        first = mapped.setdefault(signal.column, signal)
        kinds = [one.name.rpartition(".")[2] for one in (first, signal)]
        if first is not signal and ("position" in kinds or "velocity" in kinds):
            what = f"is made of column '{signal.column}', and so is {first.name}"
            flaws.add(f"signals.{signal.name}.column", what, "map one of them to another column, or remove it")


def _own_names(columns: FileColumns, mapping: DataMapping) -> list[SignalMapping]:
    """Every column but the times as a signal of its own name."""
    time = time_column(columns, mapping)
    return [SignalMapping(name, name) for name in columns.values if name != time]


def _convert_column(columns: FileColumns, time: Array, signal: SignalMapping, flaws: FlawList) -> tuple[Array, str]:
    """Values in SI by the mapping, and their unit."""
    own = [columns.units.get(column, "") for column in signal.sources]
    written = own[0] if signal.unit is None else signal.unit
    if signal.unit is None and len(set(own)) > 1:
        what = f"sums columns in {', '.join(unit or 'no unit' for unit in own)}"
        flaws.add(f"signals.{signal.name}.columns", what, "give the unit of the sum")
    unit = known_unit(written)
    weights = signal.columns or {signal.column: 1.0}
    values = sum(weight * columns.values[column] for column, weight in weights.items())
    values = np.asarray(values) * (unit.factor if unit else 1.0)
    for row in np.flatnonzero(np.isinf(values))[:MOST_FLAWS]:
        flaws.add(f"{columns.place(int(row))}, column '{signal.column}'", "is not finite", "nan is a missing sample")
    if signal.limit is not None:
        values = np.where(np.abs(values) < signal.limit, values, np.nan)
    if signal.wrap:
        values = unwrap(values, signal.wrap)
    values = signal.sign * signal.factor * (values - signal.offset)
    if signal.factor_unit and unit is not None:
        unit = unit * parse_unit(signal.factor_unit)
    if signal.gear != 1.0:
        power = gear_power(unit) if unit is not None else None
        if power is None:
            what = f"has no effect on a quantity in '{unit.name if unit else written}'"
            flaws.add(f"signals.{signal.name}.gear", what, "give the unit of a motion, a force or a torque")
        values = values * signal.gear ** (power or 0)
    if signal.delay:
        values = np.interp(time + signal.delay, time, values, np.nan, np.nan)
    return values, unit.name if unit is not None else written
