"""Run files: how is a run kept in one file, and how is a damaged or foreign file detected?

A run file is an archive (`archive.py`) of `run.json`, `time.npy` and `values.npy`. Where a run has them, `knots.npy`
and `probes.npy` (times, values, errors side by side) stand beside them: a run that was read gives the same values as
the one that was saved, also between its rows.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from robodyn.base import Array

from .archive import ArchiveError, ArchiveKind, read_arrays, write_arrays
from .provenance import PlainDict
from .run import Run
from .signal import Booleans, Probes

# --------------------------------------------------------------------------------------------------
# Records: results as plain values, floats to the last bit, and results made of such values as their types declare.


T = TypeVar("T")
NUMBERS: dict[Any, tuple[type, ...]] = {float: (int, float), int: (int,)}


def write_record(value: Any) -> Any:
    """A result as JSON-able values, each part field by field."""
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value):
        return {name: write_record(part) for name, part in vars(value).items()}
    if isinstance(value, tuple):
        return [write_record(entry) for entry in value]
    if isinstance(value, Mapping) and not isinstance(value, PlainDict):
        return {name: write_record(entry) for name, entry in value.items()}
    return value


def read_record(kind: type[T], record: Any, at: str = "") -> T:
    """What a record of a declared type stands for; a TypeError names the field whose value is of another one."""
    value = _read(kind, record, at or kind.__name__)
    if value is MISFIT:
        raise TypeError(f"{at} is {str(record)[:50]!r}")
    return value


def _read(hint: Any, value: Any, at: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return next((value_read for choice in inner if (value_read := _read(choice, value, at)) is not MISFIT), MISFIT)
    if origin is Literal:
        return value if value in inner else MISFIT
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        return {key: read_record(inner[1], entry, at) for key, entry in value.items()}
    if origin in (list, tuple) and isinstance(value, (list, tuple)):
        kinds = inner if origin is tuple and ... not in inner else inner[:1] * len(value)
        return origin(read_record(*pair, at) for pair in zip(kinds, value, strict=True))
    if hint in NUMBERS:
        return value if isinstance(value, NUMBERS[hint]) and not isinstance(value, bool) else MISFIT
    # Arrays come as they are.
    if hint is Any or not isinstance(hint, type):
        return MISFIT if origin in (dict, Mapping, list, tuple) else value
    if issubclass(hint, Enum):
        return hint[value]
    if is_dataclass(hint) and isinstance(value, Mapping):
        hints, kind = _hints(hint), hint.__name__
        return hint(**{name: read_record(hints[name], part, f"{kind}.{name}") for name, part in value.items()})
    return value if isinstance(value, hint) else MISFIT


MISFIT: Any = object()
"""Stands for what is not of the declared type."""
_hints = cache(get_type_hints)

# --------------------------------------------------------------------------------------------------
# Record of a run: everything but its arrays, by key.


KEYS = {
    "signals": "infos",
    "events": "events",
    "outcome": "outcome",
    "statistics": "statistics",
    "provenance": "provenance",
    "warnings": "warnings",
    "end": "end",
    "found": "found",
    "certificate": "certificate.checks",
    "unchecked": "certificate.unchecked",
    "passed_limits": "passed_limits",
    "errors": "errors",
}
"""Key -> the part of a run that stands under it."""


def to_record(run: Run) -> dict[str, Any]:
    """Everything of a run but its arrays, as JSON-able values; floats keep every bit."""
    record = {key: write_record(attrgetter(part)(run)) for key, part in KEYS.items()}
    return record | {"provenance": record["provenance"] | {"digest": run.provenance.digest}}


def from_record(
    record: dict[str, Any], time: Array, values: Array, knots: Booleans | None = None, probes: Array | None = None
) -> Run:
    """The run of a record and its arrays; KeyError, TypeError or ValueError where the record is not one."""
    parts = {KEYS[key]: part for key, part in record.items() if key in KEYS}
    certificate = {"checks": parts.pop("certificate.checks", []), "unchecked": parts.pop("certificate.unchecked", [])}
    provenance = {key: value for key, value in parts["provenance"].items() if key != "digest"}
    probed = None if probes is None else Probes(probes[:, 0], *np.split(probes[:, 1:], 2, axis=1))
    arrays = {"time": time, "values": values, "knots": knots, "probes": probed}
    return read_record(Run, {**parts, **arrays, "certificate": certificate, "provenance": provenance})


RUN_FILE = ArchiveKind("run", "a run file", version=2)


class RunFileError(ValueError):
    """A file that is not a complete run file this version can read."""


def save(run: Run, path: str | Path) -> Path:
    """Write a run to one file, all or nothing, and return its path."""
    arrays: dict[str, Any] = {"time": run.time, "values": run.values}
    if run.knots is not None:
        arrays["knots"] = run.knots
    if run.probes is not None:
        arrays["probes"] = np.hstack([run.probes.time[:, None], run.probes.values, run.probes.errors])
    return write_arrays(path, RUN_FILE, to_record(run), arrays)


def load(path: str | Path) -> Run:
    """Read a run file; RunFileError says what is wrong with one that cannot be used."""
    try:
        return read_arrays(path, RUN_FILE, from_record)
    except ArchiveError as error:
        raise RunFileError(f"{path}: {error}") from error
