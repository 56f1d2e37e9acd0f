"""Mappings written: the TOML file that says which column is which signal, with remarks to edit it by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from robodyn.base import known_unit

from .headings import read_heading
from .reading import (
    DataMapping,
    SignalMapping,
    read_columns,
    time_column,
)

HINTS = '# sign = -1\n# offset = 0.0\n# delay = "1 ms"\n# gear = 100\n# factor = "0.1 N m/A"'
"""Keys that a column may need, as long as nobody has compared it with a model."""


def mapping_text(mapping: DataMapping, head: Sequence[str], remarks: Mapping[str, Sequence[str]]) -> str:
    """A mapping as TOML.

    Args:
        head: sentences at the top; remarks: sentences on a signal, by its name, or on "time" and "file".
    """
    lines = [f"# {sentence}" for sentence in head]
    if mapping.text.drop_bad_rows or mapping.text.skip or "file" in remarks:
        lines += ["[file]", *_remarks(remarks, "file")]
        lines += [f"skip = {mapping.text.skip}"] if mapping.text.skip else []
        lines += ['bad_rows = "drop"'] if mapping.text.drop_bad_rows else []
        lines.append("")
    lines += ["[time]", *_remarks(remarks, "time")]
    time = mapping.time
    texts = {"column": time.column, "unit": time.unit}
    lines += [f"{key} = {_text(value)}" for key, value in texts.items() if value is not None]
    numbers = {"rate": time.rate, "begin": time.begin, "end": time.end}
    lines += [f"{key} = {value:.9g}" for key, value in numbers.items() if value is not None]
    lines += [f"{key} = true" for key in ("from_first", "even") if getattr(time, key)]
    for signal in mapping.signals:
        lines += ["", *_remarks(remarks, signal.name), *_signal(signal)]
    return "\n".join(lines) + "\n"


def _remarks(remarks: Mapping[str, Sequence[str]], about: str) -> list[str]:
    return [f"# {line}" for sentence in remarks.get(about, ()) for line in sentence.split("\n")]


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _signal(signal: SignalMapping) -> list[str]:
    lines = [f"[signals.{_text(signal.name)}]"]
    if signal.columns:
        parts = (f"{_text(name)} = {factor:.9g}" for name, factor in signal.columns.items())
        lines.append(f"columns = {{ {', '.join(parts)} }}")
    else:
        lines.append(f"column = {_text(signal.column)}")
    lines += [f"unit = {_text(signal.unit)}"] if signal.unit else []
    lines += ["sign = -1"] if signal.sign < 0 else []
    # Plain numbers are in the column's own unit, as they are read again.
    unit = known_unit(signal.unit) if signal.unit else None
    size = unit.factor if unit else 1.0
    lines += [f"offset = {signal.offset / size:.9g}"] if signal.offset else []
    lines += [f"wrap = {signal.wrap / size:.9g}"] if signal.wrap else []
    lines += [f"gear = {signal.gear:.6g}"] if signal.gear != 1.0 else []
    if signal.factor != 1.0 or signal.factor_unit:
        lines.append(f'factor = "{signal.factor:.6g} {signal.factor_unit}"' if signal.factor_unit
                     else f"factor = {signal.factor:.9g}")  # fmt: skip
    lines += [f'delay = "{1e3 * signal.delay:.6g} ms"'] if signal.delay else []
    lines += [f"limit = {signal.limit / size:.6g}"] if signal.limit is not None else []
    lines += ['saturation = "keep"'] if signal.keep_saturated else []
    lines += ["held = true"] if signal.held else []
    lines += [f"rate = {_text(signal.rate)}"] if signal.rate else []
    return lines


def with_offsets(mapping: DataMapping, offsets: Mapping[str, float], delays: Mapping[str, float]) -> DataMapping:
    """A mapping by which signals are less by constants [SI], and earlier [s], than before."""
    signals = []
    for signal in mapping.signals:
        # signal = sign factor gear (column - offset) of a force or torque; that of a current has no gear.
        size = signal.sign * signal.factor * signal.gear
        offset = signal.offset + offsets.get(signal.name, 0.0) / size
        signals.append(replace(signal, offset=offset, delay=signal.delay + delays.get(signal.name, 0.0)))
    return replace(mapping, signals=tuple(signals))


def own_mapping(names: Sequence[str], mapping: DataMapping | None) -> DataMapping:
    """A mapping of columns that are called as their signals."""
    given = mapping or DataMapping()
    return given if given.signals else replace(given, signals=tuple(SignalMapping(name, name) for name in names))


def template_text(file: Path, mapping: DataMapping | None) -> str:
    """A mapping of all columns of a file by their own names and units, to be filled in."""
    given = mapping or DataMapping()
    groups = read_columns(file, given)
    time = time_column(groups[0], given)
    there = time in groups[0].values
    stamped = any(columns.stamps is not None for columns in groups)
    remarks: dict[str, list[str]] = {}
    if not there and not stamped:
        remarks["time"] = ['column = "..." or, for rows without times:', 'rate = "1 kHz"']
    signals = []
    for columns in groups:
        for name in (name for name in columns.values if name != time):
            unit = columns.units.get(name, "") or read_heading(name).unit
            signals.append(SignalMapping(name, name, unit or None))
            remarks[name] = ([] if unit else ['unit = "deg"']) + HINTS.replace("# ", "").split("\n")
    clock = replace(given.time, column=time if there else None, from_first=True)
    head = [f"Columns of {file.name}. Name each signal like that of the model; delete what is not needed."]
    return mapping_text(replace(given, time=clock, signals=tuple(signals)), head, remarks)
