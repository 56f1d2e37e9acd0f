"""Clock of an unknown log: which column are the times, in which unit, and are rows missing, twice or uneven?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from robodyn.analysis.measurement.data_sheet import assess_clock
from robodyn.analysis.measurement.measured import stands_still
from robodyn.analysis.measurement.responses import are_even, stale_rows
from robodyn.base import Array, ModelError, frozen, known_unit, refuse
from robodyn.description.files.samples.headings import read_heading
from robodyn.description.files.samples.reading import (
    DataMapping,
    TimeMapping,
    count_turns,
    even_times,
    read_columns,
    repeats,
    time_column,
    unwrap,
)
from robodyn.description.files.samples.text_tables import FileColumns

EARLY = 0.02
"""Share of the rows in which a start-up may be."""
HICCUP = 0.25
"""Part of a step by which one of a start-up is off."""
SHAKY = 0.01
"""Deviation of the steps, by a step, that is worth a word."""
WIDE = 0.08
"""Gaps up to this long [s] are interpolated for a comparison with a model."""
ENOUGH = 100.0
"""Rate of a comparison [Hz]: efforts and motions of machines are compared far below half of it."""
AGAIN = 100
"""Rows before the latest time that rise by themselves and are a recording of their own."""
EPOCH = 1e8
"""Seconds beyond which times are counted from 1970."""
LIKELY = (2e-4, 0.11)
"""Steps of logs [s], by which a unit of times is guessed."""
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@frozen
class Finding:
    """Something in a log that is not as it seems: where, what kind, a sentence, what the mapping does about it.

    Attributes:
        signal: that it is about, "" for the clock.
    """

    JSON = """
    where
    kind
    what
    remedy
    """
    where: str
    kind: str
    what: str
    remedy: str
    signal: str = ""


@frozen(eq=False)
class LogTable:
    """Columns of a log on one clock, as they stand there; time in seconds from the first row.

    Attributes:
        turns: after how much a column began again, in its own numbers; it goes on here.
    """

    source: str
    names: tuple[str, ...]
    units: dict[str, str]
    time: Array
    values: Array
    mapping: DataMapping
    findings: tuple[Finding, ...]
    turns: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def moves(self) -> Array:
        """Columns that are not constant; a position that only scatters is."""
        span = np.array([np.ptp(y[np.isfinite(y)]) if np.isfinite(y).any() else 0.0 for y in self.values.T])
        moves = span > 1e-9 * np.nanmax(np.abs(np.nan_to_num(self.values)), axis=0, initial=0.0)
        for k, name in enumerate(self.names):
            if read_heading(name, self.units.get(name, "")).kind == "position" and stands_still(self.values[:, k]):
                moves[k] = False
        return moves

    def even(self) -> tuple[Array, float]:
        """Columns at even times, means of rows where these are fast, nan within gaps; and the rate."""
        step = float(np.median(np.diff(self.time)))
        at = self.time[0] + np.arange(int(np.ptp(self.time) / step + 1e-9) + 1) * step
        found = np.empty((at.size, len(self.names)))
        for k, column in enumerate(self.values.T):
            there = np.isfinite(column)
            t = self.time[there]
            if t.size < 2:
                found[:, k] = np.nan
                continue
            row = np.clip(np.searchsorted(t, at, side="right") - 1, 0, t.size - 2)
            far = (t[row + 1] - t[row] > max(WIDE, 2.5 * step)) | (at < t[0] - step) | (at > t[-1] + step)
            found[:, k] = np.where(far, np.nan, np.interp(at, t, column[there]))
        count = max(int(1 / (step * ENOUGH)), 1)
        n = len(found) // count * count
        return found[:n].reshape(-1, count, len(self.names)).mean(axis=1), 1 / (step * count)


def read_log(path: Path, given: DataMapping | None = None) -> LogTable:
    """All columns of a log on its fastest clock, rows that are no rows left out."""
    mapping, findings = given or DataMapping(), list[Finding]()
    try:
        groups = read_columns(path, mapping)
    except ModelError as error:
        if mapping.text.drop_bad_rows or not any("line" in flaw.path for flaw in error.flaws):
            raise
        mapping = replace(mapping, text=replace(mapping.text, drop_bad_rows=True))
        groups = read_columns(path, mapping)
        what = f"{'; '.join(str(flaw) for flaw in error.flaws[:2])}{' ...' if len(error.flaws) > 2 else ''}"
        findings.append(Finding("file", "lines", f"cannot be read: {what}", 'bad_rows = "drop" leaves them out'))
    clocks = [_read_clock(columns, mapping) for columns in groups]
    base = int(np.argmax([time.size for _, time, _, _ in clocks]))
    table, time, clock, told = clocks[base]
    mapping = replace(mapping, time=clock)
    findings += told
    if any(f.where == "clock" and 'bad_rows = "drop"' in f.remedy for f in findings):
        mapping = replace(mapping, text=replace(mapping.text, drop_bad_rows=True))
    names, columns = list(table), list(table.values())
    for k, (other, t, _, _) in enumerate(clocks):
        if k != base and t.size > 1:
            names += list(other)
            columns += [np.interp(time, t[good], y[good], np.nan, np.nan) for y in other.values()
                        for good in [np.isfinite(y)] if good.sum() > 1]  # fmt: skip
            names = names[: len(columns)]
    units = {name: unit for group in groups for name, unit in group.units.items() if unit}
    values = np.column_stack(columns) if columns else np.zeros((time.size, 0))
    if time.size < 30 or not columns:
        refuse("rows", f"{time.size} rows of {len(columns)} columns", "a log has more", str(path))
    time = time - time[0]
    findings += _find_holes(names, values)
    turns = dict[str, float]()
    for k, name in enumerate(names):
        period = _find_turn(name, units.get(name, ""), values[:, k])
        if period is not None:
            turns[name], count = period, count_turns(values[:, k], period)
            values[:, k] = unwrap(values[:, k], period)
            what = f"begins again after {period:.6g}, {count} times"
            findings.append(Finding(f"column '{name}'", "turn", what, f"wrap = {period:.6g}"))
    log = LogTable(path.name, tuple(names), units, time, values, mapping, (), turns)
    time, mapping, told = _judge_times(log)
    values, late = log.values, np.concatenate([[False], np.diff(log.time) == 0])
    if late.any():
        what, remedy = f"{int(late.sum())} rows have the time of the row before and other numbers", "even = true"
        if not mapping.time.even:
            remedy = 'bad_rows = "drop" leaves them out'
            time, values = time[~late], values[~late]
            mapping = replace(mapping, text=replace(mapping.text, drop_bad_rows=True))
        told.append(Finding("clock", "repeated times", what, remedy))
    return replace(log, time=time, values=values, mapping=mapping, findings=(*findings, *told))


def _read_clock(
    columns: FileColumns, mapping: DataMapping
) -> tuple[dict[str, Array], Array, TimeMapping, list[Finding]]:
    """Columns without the times, times [s], how the mapping says so, and what is wrong with them."""
    given, findings = mapping.time, list[Finding]()
    name = time_column(columns, mapping)
    count = len(next(iter(columns.values.values())))
    if given.rate is not None:
        return dict(columns.values), np.arange(count) / given.rate, given, findings
    if columns.stamps is not None and given.column is None:
        raw, clock, others = columns.stamps, replace(given, from_first=True), dict(columns.values)
    else:
        if name not in columns.values:
            name = next((k for k, y in columns.values.items() if _counts_up(y)), "")
        if not name:
            what = "no column rises evenly: 1 kHz is assumed"
            findings.append(Finding("clock", "time", what, 'rate = "1 kHz": correct it, all speeds depend on it'))
            return dict(columns.values), np.arange(count) / 1e3, replace(given, rate=1e3), findings
        others = {k: y for k, y in columns.values.items() if k != name}
        raw = columns.values[name]
        unit, told = _find_unit(name, raw, columns, given)
        findings += told
        known = known_unit(unit)
        raw = raw * (known.factor if known is not None else 1.0)
        clock = replace(given, column=name, unit=unit, from_first=True)
    there = np.isfinite(raw)
    latest = np.maximum.accumulate(np.where(there, raw, -np.inf))
    before = np.concatenate([[-np.inf], latest[:-1]])
    lost, back = ~there, there & (raw < before)
    # Rows with other numbers at the time of the one before may be samples that were written late.
    twice = there & (raw == before) & repeats(np.column_stack([*others.values()] or [raw]))
    for wrong, kind, what in (
        (lost, "time", "rows have no time"),
        (back, "time", "rows go back in time"),
        (twice, "repeated rows", "rows have the time of the row before"),
    ):
        if wrong.any():
            remedy = 'bad_rows = "drop" leaves them out'
            first = columns.place(int(np.flatnonzero(wrong)[0]))
            own = raw[wrong]
            if wrong is back and own.size > AGAIN and np.all(np.diff(own) > 0):
                what = "rows are a second recording, whose times begin again, and would be lost"
                kind, remedy = "two recordings", f"{remedy}; or split the file: identify takes several"
            findings.append(Finding("clock", kind, f"{int(wrong.sum())} {what}, the first is {first}", remedy))
    kept = ~(lost | back | twice)
    if raw[kept].size and raw[kept][0] > EPOCH:
        what = f"times are counted from 1970: the first is {raw[kept][0]:.3f} s"
        findings.append(Finding("clock", "time", what, "from_first = true"))
    return {k: y[kept] for k, y in others.items()}, raw[kept], clock, findings


def _counts_up(y: Array) -> bool:
    steps = np.diff(y)
    return bool(y.size > 10 and np.isfinite(y).all() and np.mean(steps > 0) > 0.9 and
                np.median(np.abs(steps - np.median(steps))) < 0.2 * np.median(steps))  # fmt: skip


def _find_unit(name: str, raw: Array, columns: FileColumns, given: TimeMapping) -> tuple[str, list[Finding]]:
    """The unit of times: as written, or by the length of a step."""
    steps = np.diff(raw[np.isfinite(raw)])
    step = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 1.0
    written = given.unit or columns.units.get(name, "") or read_heading(name).unit
    if written and known_unit(written) is not None:
        return written, []
    if LIKELY[0] <= step <= 0.6:
        return "s", []
    unit = next((u for u, size in TIMES.items() if LIKELY[0] <= step * size <= LIKELY[1]), "s")
    what = f"column '{name}' has no unit and steps of {step:.6g}: taken for {unit}"
    return unit, [Finding("clock", "time", what, f'unit = "{unit}"')] if unit != "s" else []


def _find_turn(name: str, unit: str, values: Array) -> float | None:
    """After how much the angle of a column begins again, if it does."""
    heading, span = read_heading(name, unit), float(np.ptp(values[np.isfinite(values)])) if values.size else 0.0
    known = known_unit(heading.unit) if heading.unit else None
    if heading.kind not in ("position", "") or not span > 0:
        return None
    turns = [2 * np.pi / known.factor] if known is not None else [2 * np.pi, 360.0, 1.0, 2.0 ** np.ceil(np.log2(span))]
    return next((float(turn) for turn in turns if count_turns(values, turn)), None)


def _find_holes(names: Sequence[str], values: Array) -> list[Finding]:
    """Samples that are not there."""
    found = []
    for name, y in zip(names, values.T, strict=True):
        missing = int(np.sum(~np.isfinite(y)))
        if missing:
            what = f"lacks {missing} of {y.size} samples"
            found.append(Finding(f"column '{name}'", "missing samples", what, "short holes are interpolated"))
    return found


def _judge_times(log: LogTable) -> tuple[Array, DataMapping, list[Finding]]:
    """Times to go by: start-up left out, jitter taken out where samples are even, gaps counted."""
    time, findings, clock = log.time, list[Finding](), log.mapping.time
    begin = _find_start(time, log.values)
    if begin > 0:
        what = f"the first {begin} rows ({time[begin]:.4g} s) are uneven or empty"
        findings.append(Finding("clock", "start-up", what, f'begin = "{1e3 * time[begin]:.6g} ms"'))
        clock = replace(clock, begin=float(time[begin] - 1e-9))
    quality = assess_clock(time[begin:])
    steps = np.diff(time[begin:])
    usual = float(np.median(steps))
    stale = stale_rows(log.values)
    if stale.any():
        what = f"{int(stale.sum())} rows repeat all numbers of the row before at a later time"
        findings.append(Finding("clock", "repeated rows", what, "they are not new samples, and are ignored"))
    uneven = np.abs(steps / usual - 1) > 5 * SHAKY
    if quality.jitter > SHAKY * usual or uneven.mean() > 1e-3:
        smooth = [
            k
            for k, name in enumerate(log.names)
            if log.moves[k] and read_heading(name).kind in ("position", "velocity", "")
        ]
        even = are_even(log.time[begin:], log.values[begin:, smooth])
        what = (
            f"steps scatter by {1e6 * quality.jitter:.4g} us, {int(uneven.sum())} of {steps.size} are off by more than "
            f"{5 * SHAKY:.0%}: samples are {'even, only their times are not' if even else 'as uneven as their times'}"
        )
        findings.append(Finding("clock", "jitter", what, "even = true" if even else "times are used as they are"))
        if even:
            clock = replace(clock, even=True)
            time = np.concatenate([time[:begin], even_times(time[begin:])])
    # Stalls of a clock whose samples are even are no gaps.
    if gaps := assess_clock(time[begin:]).gaps:
        lost = sum(gap.missing for gap in gaps)
        longest = max(gaps, key=lambda gap: gap.length)
        what = (
            f"{len(gaps)} gaps, about {lost} rows missing, the longest {longest.length:.4g} s "
            f"at {time[begin] + longest.time - time[begin]:.4g} s"
        )
        findings.append(Finding("clock", "gaps", what, "short ones are interpolated, rows near long ones left out"))
    mapping = replace(log.mapping, time=clock)
    kept = np.arange(time.size) >= begin
    if not kept.all():
        # Rows stay where they are for whoever reads the numbers; comparisons begin later.
        log.values[~kept] = np.nan
    return time, mapping, findings


def _find_start(time: Array, values: Array) -> int:
    """The first row of an even log: before it steps are off, or all columns hold their first numbers."""
    steps = np.diff(time)
    usual = float(np.median(steps))
    reach = max(int(EARLY * time.size), 10)
    off = np.flatnonzero(np.abs(steps[:reach] / usual - 1) > HICCUP)
    rest = np.mean(np.abs(steps[reach:] / usual - 1) > HICCUP) if steps.size > reach else 1.0
    # A start-up is worse than the rest of the log.
    worse = off.size > 0 and (off.size > 3 * rest * reach + 1 or off[0] == 0)
    begin = int(off[-1]) + 1 if worse and off[-1] < reach - 1 else 0
    empty = np.flatnonzero(np.any(np.nan_to_num(values[: max(reach, begin + 1)]) != 0, axis=1))
    zeros = int(empty[0]) if empty.size else 0
    return max(begin, zeros)
