"""Samples in SI: which file is read how, and what do its columns become by a mapping?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.records import dataclass
from robodyn.base.units import known_unit, parse_unit
from robodyn.base.untrusted import DAMAGE, Unreadable
from robodyn.description.files.samples.array_files import read_bag, read_matlab, read_mcap, read_numpy, read_parquet
from robodyn.description.files.samples.columns import MOST_FLAWS, Columns, Floats
from robodyn.description.files.samples.mapping import DataMapping, SignalMapping, gear_power
from robodyn.description.files.samples.text_tables import read_text_table

# --------------------------------------------------------------------------------------------------
# Clocks of measured data: when was each row sampled? Times that are missing, fall back, jitter or lack a unit.


USUAL = ("time", "t", "timestamp", "time_s", "zeit")
"""Names of a column of times where nobody names one, in small letters."""
LATEST = 1e11
"""Seconds since 1970 that no measurement has: times beyond are in ms, us or ns."""


def read_time(columns: Columns, mapping: DataMapping, flaws: FlawList) -> tuple[Columns, Floats]:
    """The rows with a usable time, and their times [s]."""
    given = mapping.time
    if given.rate is not None:
        n = len(next(iter(columns.values.values())))
        return columns, np.arange(n) / given.rate
    time, name = _find_times(columns, mapping, flaws)
    if time is None:
        return columns, np.zeros(0)
    columns, time = _rising(columns, time, name, mapping.text.drop_bad_rows, flaws)
    if given.even and time.size > 2 and not flaws.found:
        time = even_times(time)
    return columns, time - time[0] if given.from_first and time.size else time


def time_column(columns: Columns, mapping: DataMapping) -> str:
    """The name of the column that holds times, whether it is there or not."""
    usual = (name for name in columns.values if name.lower().rpartition(".")[2] in USUAL)
    return mapping.time.column or next(usual, "time")


def _find_times(columns: Columns, mapping: DataMapping, flaws: FlawList) -> tuple[Floats | None, str]:
    name = time_column(columns, mapping)
    if columns.stamps is not None and mapping.time.column is None:
        return columns.stamps, "time"
    if name not in columns.values:
        remedy = nearest(name, columns.values) + '; a mapping names it: [time] column = "..." or rate = "1 kHz"'
        flaws.add("time", f"there is no column '{name}'", remedy)
        return None, name
    written = mapping.time.unit or columns.units.get(name, "")
    unit = known_unit(written or "s")
    if unit is None or not unit.measures_like(parse_unit("s")):
        flaws.add(f"column '{name}'", f"must be in a unit of time, is in '{written}'", "s, ms, us or ns")
        return None, name
    time = columns.values[name]
    size = float(np.nanmax(np.abs(time), initial=0.0))
    if not written and size > LATEST:
        flaws.add(f"column '{name}'", f"has {size:g}, which cannot be seconds", '[time] unit = "ns" in a mapping')
    return time * unit.factor, name


def _rising(columns: Columns, time: Floats, name: str, drop: bool, flaws: FlawList) -> tuple[Columns, Floats]:
    """Rows whose time is not before an earlier one (equal ones are a jump); others are flaws, or left out if wished."""
    present = np.isfinite(time)
    latest = np.maximum.accumulate(np.where(present, time, -np.inf))
    good = present & np.concatenate([[True], time[1:] >= latest[:-1]])
    if good.all():
        return columns, time
    if drop:
        note = f"{int((~good).sum())} rows whose time is missing or falls back are left out"
        return columns.rows(good, note), time[good]
    remedy = '[file] bad_rows = "drop" in a mapping leaves such rows out'
    for row in np.flatnonzero(~good)[:MOST_FLAWS]:
        place = f"{columns.place(row)}, column '{name}'"
        if not present[row]:
            flaws.add(place, "is missing", remedy)
        else:
            flaws.add(place, f"{time[row]:g} s comes after {latest[row - 1]:g} s", remedy)
    return columns, time


def even_times(time: Floats) -> Floats:
    """Times of an even clock: the straight line through them by their tick numbers, missing rows counted.

    t_k = t_0 + n_k T,   n_k the whole number of steps from row to row
    """
    steps = np.diff(time)
    ticks = np.concatenate([[0.0], np.cumsum(np.maximum(np.round(steps / np.median(steps)), 1.0))])
    period, start = np.polyfit(ticks, time, 1)
    return start + period * ticks


BINARY = {".parquet": read_parquet, ".npz": read_numpy, ".npy": read_numpy, ".mat": read_matlab}
LOGS = {".mcap": read_mcap, ".bag": read_bag, ".db3": read_bag, "": read_bag}
EXTRAS = {"pyarrow": "export", "h5py": "logs", "mcap": "logs", "rosbags": "logs"}


@dataclass(frozen=True)
class Samples:
    """Times [s] and values (n, signals) in SI, nan where one is missing; what they are, and what was done to them."""

    time: Floats
    values: Floats
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


def _at_times(other: Samples, time: Floats) -> Floats:
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
            clocks.append(_convert(path, columns, signals, mapping, flaws))
    flaws.raise_if_any(str(path))
    if not clocks:
        raise ModelError([Flaw("", "names no signal", "beside the times a column holds the first signal")], str(path))
    # The fastest clock first where nobody chose: nothing is lost then.
    return clocks if mapping.signals else sorted(clocks, key=lambda samples: -samples.time.size)


def read_columns(path: Path, mapping: DataMapping) -> list[Columns]:
    suffix = path.suffix.lower()
    try:
        if suffix in LOGS and (suffix or path.is_dir()):
            return LOGS[suffix](path)
        return [BINARY[suffix](path) if suffix in BINARY else read_text_table(path, mapping.text)]
    except ImportError as error:
        what = f"{suffix or 'ROS'} files need {error.name}"
        remedy = f"pip install 'robodyn[{EXTRAS.get(error.name or '', 'logs')}]', or write it as CSV"
        raise ModelError([Flaw("", what, remedy)], str(path)) from error
    except ModelError:
        raise
    except OSError as error:
        raise ModelError([Flaw("", f"cannot be read: {error.strerror or error}")], str(path)) from error
    except (*DAMAGE, Unreadable, MemoryError) as error:
        raise ModelError([Flaw("", f"cannot be read: {str(error)[:200]}")], str(path)) from error
    except Exception as error:
        # Libraries of formats raise classes of their own on damaged files.
        what = f"cannot be read: {type(error).__name__}: {str(error)[:200]}"
        raise ModelError([Flaw("", what)], str(path)) from error


def _find_columns(groups: list[Columns], mapping: DataMapping, flaws: FlawList) -> list[list[SignalMapping]]:
    """Signals of each group of columns."""
    known = [name for columns in groups for name in columns.values]
    if not mapping.signals:
        return [_own_names(columns, mapping) for columns in groups]
    names = [signal.name for signal in mapping.signals]
    for signal in mapping.signals:
        if signal.column not in known:
            what = f"there is no column '{signal.column}'"
            flaws.add(f"signals.{signal.name}.column", what, nearest(signal.column, known))
        if signal.rate is not None and signal.rate not in names:
            flaws.add(f"signals.{signal.name}.rate", f"there is no signal '{signal.rate}'", nearest(signal.rate, names))
    return [[signal for signal in mapping.signals if signal.column in columns.values] for columns in groups]


def _own_names(columns: Columns, mapping: DataMapping) -> list[SignalMapping]:
    """Every column but the times as a signal of its own name."""
    time = time_column(columns, mapping)
    return [SignalMapping(name, name) for name in columns.values if name != time]


def _convert(
    path: Path, columns: Columns, signals: list[SignalMapping], mapping: DataMapping, flaws: FlawList
) -> Samples:
    columns, time = read_time(columns, mapping, flaws)
    flaws.raise_if_any(str(path))
    converted = [_convert_column(columns, time, signal, flaws) for signal in signals]
    values = np.column_stack([values for values, _ in converted])
    names, units = tuple(signal.name for signal in signals), tuple(unit for _, unit in converted)
    return Samples(time, values, names, units, tuple(signals), columns.notes, columns.topic)


def _convert_column(columns: Columns, time: Floats, signal: SignalMapping, flaws: FlawList) -> tuple[Floats, str]:
    """Values in SI by the mapping, and their unit."""
    written = columns.units.get(signal.column, "") if signal.unit is None else signal.unit
    unit = known_unit(written)
    values = columns.values[signal.column] * (unit.factor if unit else 1.0)
    for row in np.flatnonzero(np.isinf(values))[:MOST_FLAWS]:
        flaws.add(f"{columns.place(int(row))}, column '{signal.column}'", "is not finite", "nan is a missing sample")
    if signal.limit is not None:
        values = np.where(np.abs(values) < signal.limit, values, np.nan)
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
