"""Clocks of measured data: when was each row sampled? Times that are missing, fall back, jitter or lack a unit."""

from __future__ import annotations

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.units import known_unit, parse_unit
from robodyn.description.files.samples.columns import MOST_FLAWS, Columns, Floats
from robodyn.description.files.samples.mapping import DataMapping

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
