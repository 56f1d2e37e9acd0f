"""Run files: how is a run kept in one file, and how is a damaged or foreign file detected?

A run file is an archive (`archive.py`) of `run.json`, `time.npy` and `values.npy`. Where a run has them, `knots.npy`
and `probes.npy` (times, values, errors side by side) stand beside them: a run that was read gives the same values as
the one that was saved, also between its rows.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from robodyn.computation.results.archive import ArchiveError, ArchiveKind, read_arrays, write_arrays
from robodyn.computation.results.errors import errors_from
from robodyn.computation.results.outcome import Outcome, OutcomeKind, PassedLimit, certificate_from
from robodyn.computation.results.provenance import Provenance, Statistics
from robodyn.computation.results.run import EventRecord, Run, SignalInfo
from robodyn.computation.results.signal import Booleans, Floats, Probes

# --------------------------------------------------------------------------------------------------
# Type checks of JSON: does what a file gave have the types that its description declares?


T = TypeVar("T")
NUMBERS: dict[Any, tuple[type, ...]] = {float: (int, float), int: (int,)}


def checked(thing: T) -> T:
    """The same description; a TypeError names a field, also of a part, whose value is of another type than declared."""
    kind: Any = type(thing)
    for name, hint in _hints(kind):
        if not _fits(value := getattr(thing, name), hint):
            raise TypeError(f"{kind.__name__}.{name} is {str(value)[:50]!r}")
    return thing


@cache
def _hints(kind: Any) -> list[tuple[str, Any]]:
    hints = get_type_hints(kind)
    return [(field.name, hints[field.name]) for field in fields(kind)]


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in inner)
    if origin is Literal:
        return any(value == choice for choice in inner)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(_fits(entry, inner[1]) for entry in value.values())
    if origin in (list, tuple):
        return isinstance(value, origin) and all(_fits(entry, inner[0]) for entry in value)
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and not isinstance(value, bool)
    if hint is Any or not isinstance(hint, type):
        return True
    return isinstance(value, hint) and (not is_dataclass(value) or checked(value) is value)


# --------------------------------------------------------------------------------------------------
# Serialisation of a run: which plain values describe it beside its numbers, and how is it made from them again?


def to_record(run: Run) -> dict[str, Any]:
    """Everything of a run but its arrays, as JSON-able values; floats keep every bit."""
    return {
        "signals": [dict(vars(info)) for info in run.infos],
        "events": [dict(vars(event)) for event in run.events],
        "outcome": {
            "kind": run.outcome.kind.name,
            "sentence": run.outcome.sentence,
            "time": run.outcome.time,
        },
        "statistics": dict(vars(run.statistics)),
        "provenance": {**vars(run.provenance), "digest": run.provenance.digest},
        "warnings": list(run.warnings),
        "end": run.end,
        "found": run.found,
        "certificate": [dict(vars(check)) for check in run.certificate],
        "unchecked": list(run.certificate.unchecked),
        "passed_limits": [dict(vars(passed)) for passed in run.passed_limits],
        "errors": run.errors.to_plain() if run.errors else None,
    }


def from_record(
    record: dict[str, Any], time: Floats, values: Floats, knots: Booleans | None = None, probes: Floats | None = None
) -> Run:
    """The run of a record and its arrays; KeyError, TypeError or ValueError where the record is not one."""
    provenance = {key: value for key, value in record["provenance"].items() if key != "digest"}
    outcome = record["outcome"]
    run = Run(
        time,
        values,
        infos=tuple(SignalInfo(**info) for info in record["signals"]),
        outcome=Outcome(OutcomeKind[outcome["kind"]], outcome["sentence"], outcome["time"]),
        provenance=Provenance(**provenance),
        statistics=Statistics(**record["statistics"]),
        events=tuple(EventRecord(**event) for event in record["events"]),
        warnings=tuple(record["warnings"]),
        end=dict(record.get("end", {})),
        knots=knots,
        probes=None if probes is None else Probes(probes[:, 0], *np.split(probes[:, 1:], 2, axis=1)),
        found={name: (given, found) for name, (given, found) in record.get("found", {}).items()},
        certificate=certificate_from(record),
        errors=errors_from(record.get("errors")),
        passed_limits=tuple(PassedLimit(**passed) for passed in record.get("passed_limits", [])),
    )
    return checked(run)


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
