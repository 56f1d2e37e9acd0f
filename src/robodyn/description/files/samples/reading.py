"""Samples in SI: which file is read how, and what do its columns become by a mapping?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.records import dataclass
from robodyn.base.units import known_unit, parse_unit
from robodyn.base.untrusted import DAMAGE, Unreadable
from robodyn.description.files.samples.array_files import read_matlab, read_numpy, read_parquet
from robodyn.description.files.samples.clocks import read_time, time_column
from robodyn.description.files.samples.columns import MOST_FLAWS, Columns, Floats
from robodyn.description.files.samples.logs import read_bag, read_mcap
from robodyn.description.files.samples.mapping import DataMapping, SignalMapping, gear_power
from robodyn.description.files.samples.text_tables import read_text_table

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
    found = []
    for columns, signals in zip(groups, wanted, strict=True):
        if signals:
            found.append(_convert(path, columns, signals, mapping, flaws))
    flaws.raise_if_any(str(path))
    if not found:
        raise ModelError([Flaw("", "names no signal", "beside the times a column holds the first signal")], str(path))
    # The fastest clock first where nobody chose: nothing is lost then.
    return found if mapping.signals else sorted(found, key=lambda samples: -samples.time.size)


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
    found = [_convert_column(columns, time, signal, flaws) for signal in signals]
    values = np.column_stack([values for values, _ in found])
    names, units = tuple(signal.name for signal in signals), tuple(unit for _, unit in found)
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
