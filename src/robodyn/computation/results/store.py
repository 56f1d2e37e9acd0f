"""Run files: how is a run kept in one file, read signal by signal, and how is a damaged or foreign file detected?

A run file is a zip archive (`archive.py`) of blocks of rows (`rows.py`), `run.json` and, written last, checksums. Rows
may be written while the run goes on; `begin.json` then says from the start what they mean, so that a file without an
end can be read too.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import UnionType
from typing import Any, BinaryIO, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from zipfile import BadZipFile

import numpy as np

from robodyn.base import Array, replacing
from robodyn.base.untrusted import DAMAGE, Unreadable, parse_json

from .archive import (
    CHECKSUMS,
    DEFLATED,
    STORED,
    ArchiveError,
    ArchiveKind,
    Member,
    ZipWriter,
    find_members,
    list_members,
)
from .outcome import Certificate, Check, Outcome, OutcomeKind
from .provenance import PlainDict
from .rows import (
    LARGEST_TOLERANCE,
    BlockError,
    Encoder,
    FileSource,
    MemorySource,
    RowBlock,
    RunFileError,
    StoredRows,
    block_size,
)
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
    """The object that a record of a declared type stands for; a TypeError names the field whose value is of another
    one."""
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
    # Arrays come as they are, or as rows that are still in a file.
    if hint is Array and isinstance(value, StoredRows):
        return value
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


def from_record(record: dict[str, Any], rows: StoredRows, probes: Probes | None = None) -> Run:
    """The run of a record and its rows; KeyError, TypeError or ValueError where the record is not one."""
    parts = {KEYS[key]: part for key, part in record.items() if key in KEYS}
    certificate = {"checks": parts.pop("certificate.checks", []), "unchecked": parts.pop("certificate.unchecked", [])}
    provenance = {key: value for key, value in parts["provenance"].items() if key != "digest"}
    arrays = {"time": rows, "values": rows, "probes": probes}
    return read_record(Run, {**parts, **arrays, "certificate": certificate, "provenance": provenance})


# --------------------------------------------------------------------------------------------------
# Writing: blocks as they come, then the record.


RUN_FILE = ArchiveKind("run", "a run file", version=3)
BEGIN, ROWS, PROBES, ERRORS = "begin.json", "rows/", "probes/", "errors/"
IN_MEMORY = 2**25
"""Bytes of a run file that is read as a whole when it is opened, own choice; of a larger one, what is asked for."""
MOST_TEXT = 2**28
"""Bytes of the record that are read, own choice."""
AS_STORED = "signals as stored"
ROUGH = 1e-3
"""Error of estimated errors, where signals may have one."""


class RunWriter:
    """A run file as it grows: its name points to it once it is complete.

    Args:
        tolerance: error of what is read, as part of each signal's largest magnitude; 0: the rows are kept bit by bit.
        begin: the run as far as it is known before its first row, for a file that grows while it goes on. The name of
            such a file ends in `.part` until it is complete.
    """

    def __init__(self, path: str | Path, n_signals: int, tolerance: float = 0.0, begin: Run | None = None) -> None:
        self.path, self.encoder, self.blocks = Path(path), Encoder(n_signals, tolerance), list[RowBlock]()
        with ExitStack() as stack:
            draft = stack.enter_context(replacing(path, visible=begin is not None))
            self.zip = ZipWriter(stack.enter_context(open(draft, "xb+")))
            self.source = FileSource(draft)
            if begin is not None:
                self.zip.add(BEGIN, RUN_FILE.write_head(to_record(begin) | {"knots": True}), deflated=True)
            self.first = len(self.zip.members)
            self.stack = stack.pop_all()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        """Leave nothing of a file that has not been finished."""
        self.stack.__exit__(*error)

    def add(self, time: Array, values: Array, knots: Booleans) -> None:
        """Write some rows, as many as a block has or fewer."""
        # What Ctrl-C has left half done is written over.
        del self.zip.members[len(self.blocks) + self.first :]
        self.zip.add(f"{ROWS}{len(self.blocks):06}", self.encoder.encode(time, values, knots))
        member = self.zip.members[-1]
        self.blocks.append(RowBlock(self.source.read, member.place, member.size))

    def drop(self) -> None:
        """Take back the last rows: on a full disk they make room for what they mean."""
        self.blocks.pop()
        self.zip.drop()

    def rows(self) -> StoredRows:
        """What has been written, to be read from the file."""
        return StoredRows(self.source, self.blocks, len(self.encoder.largest))

    def add_rows(self, run: Run) -> None:
        """Write all rows of a run."""
        knots = np.zeros(run.time.size, bool) if run.knots is None else run.knots
        for rows in split_rows(run.time.size, len(run)):
            self.add(run.time[rows], run.values[rows], knots[rows])

    def certify(self, run: Run) -> Run:
        """The run with what its certificate says of the error of the rows."""
        if not self.encoder.tolerance:
            return run
        check = Check(AS_STORED, self.encoder.error, self.encoder.tolerance, remedy="report the model")
        checks = *run.certificate.checks, check
        return run.judged(certificate=Certificate(checks, run.certificate.unchecked))

    def finish(self, run: Run) -> Path:
        """Write what the rows mean and where they end, and give the file its name.

        On a full disk the rows stay, and it can be tried again once there are fewer: see `drop`.
        """
        rows = len(self.blocks) + self.first
        del self.zip.members[rows:]
        try:
            self._write_texts(run)
        except OSError:
            del self.zip.members[rows:]
            raise
        self.stack.close()
        self.source.path = self.path
        return self.path

    def _write_texts(self, run: Run) -> None:
        tolerance = self.encoder.tolerance
        record = to_record(run) | {"knots": not run.rows_are_apart, "probed": run.probes is not None}
        digests = {name: block.digest for name, block in zip(self._names(), self.blocks, strict=True)}
        if run.probes is not None and run.probes.time.size:
            for prefix, values in ((PROBES, run.probes.values), (ERRORS, run.probes.errors)):
                encoder = Encoder(len(run), tolerance and max(tolerance, ROUGH if prefix == ERRORS else 0.0))
                for k, rows in enumerate(split_rows(len(values), len(run))):
                    no_knots = np.zeros(len(values[rows]), bool)
                    self.zip.add(f"{prefix}{k:06}", encoder.encode(run.probes.time[rows], values[rows], no_knots))
        text = RUN_FILE.write_head(record)
        digests[RUN_FILE.head] = hashlib.sha256(text).hexdigest()
        self.zip.add(RUN_FILE.head, text, deflated=True)
        self.zip.add(CHECKSUMS, json.dumps(digests).encode(), deflated=True)
        self.zip.finish()

    def _names(self) -> list[str]:
        return [member.name for member in self.zip.members if member.name.startswith(ROWS)]


def split_rows(n_rows: int, n_signals: int) -> list[slice]:
    """The rows of each block."""
    size = block_size(n_signals)
    return [slice(begin, min(begin + size, n_rows)) for begin in range(0, n_rows, size)]


def save(run: Run, path: str | Path, tolerance: float = 0.0) -> Path:
    """Write a run to one file, all or nothing, and return its path.

    Args:
        tolerance: error that signals may have there, as part of their largest magnitude: files are many times smaller
            then. By default nothing is lost.
    """
    check_tolerance(tolerance)
    with RunWriter(path, len(run), tolerance) as writer:
        writer.add_rows(run)
        return writer.finish(writer.certify(run))


def check_tolerance(tolerance: float) -> None:
    """Refuse what is no tolerance."""
    if not 0.0 <= tolerance <= LARGEST_TOLERANCE:
        raise ValueError(f"tolerance: must be from 0 (exact) to {LARGEST_TOLERANCE:g}, is {tolerance!r}")


# --------------------------------------------------------------------------------------------------
# Reading: the record at once, signals when they are asked for.


def load(path: str | Path) -> Run:
    """Open a run file, of which signals are read when they are asked for.

    A file of a run that was killed has no end: what is in it is a run that was interrupted.

    Raises:
        RunFileError: for what is wrong with the file; errors of the disk stay what they are.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise Unreadable("is not a file")
        if size <= IN_MEMORY:
            data = path.read_bytes()
            return _read_run(MemorySource(path, data), io.BytesIO(data))
        with open(path, "rb") as file:
            return _read_run(FileSource(path), file)
    except RunFileError:
        raise
    except (ArchiveError, BlockError) as error:
        raise RunFileError(f"{path}: {error}") from error
    except MemoryError as error:
        raise RunFileError(f"{path}: too large: not enough memory to read it") from error
    except DAMAGE as error:
        raise RunFileError(f"{path}: not {RUN_FILE.noun}, or damaged or truncated ({error})") from error


def _read_run(source: MemorySource | FileSource, file: BinaryIO) -> Run:
    try:
        members = list_members(file)
    except BadZipFile:
        return _recover_run(source, file)
    by_name = {member.name: member for member in members}
    if len(by_name) < len(members):
        raise ArchiveError("has two members with the same name")
    text = _read_text(source, by_name.get(RUN_FILE.head))
    head = RUN_FILE.read_head(text)
    sums = parse_json(_read_text(source, by_name[CHECKSUMS]) or b"")
    rows, found = _find_blocks(source, members, ROWS), {RUN_FILE.head: hashlib.sha256(text or b"").hexdigest()}
    found |= {name: block.digest for name, block in rows.items()}
    if found != sums:
        raise ArchiveError(f"damaged {RUN_FILE.noun}: the contents do not match their checksums")
    n_signals = len(head["signals"])
    probes = None
    if head["probed"]:
        both = [_find_blocks(source, members, prefix).values() for prefix in (PROBES, ERRORS)]
        values, errors = (StoredRows(source, list(blocks), n_signals) for blocks in both)
        probes = Probes(values.time(), values.signals(), errors.signals())
    return from_record(head, StoredRows(source, list(rows.values()), n_signals, head["knots"]), probes)


def _recover_run(source: MemorySource | FileSource, file: BinaryIO) -> Run:
    """The run of a file that has no end, as far as it has come."""
    members = list(find_members(file))
    if not members or members[0].name != BEGIN:
        raise ArchiveError(f"not {RUN_FILE.noun}, or damaged or truncated")
    head = RUN_FILE.read_head(_read_text(source, members[0]))
    blocks = list(_find_blocks(source, members, ROWS).values())
    rows = StoredRows(source, blocks, len(head["signals"]), head["knots"])
    until = blocks[-1].end if blocks else 0.0
    sentence = f"the program was ended from outside; the rows until {until:.6g} s are kept"
    return from_record(head | {"outcome": write_record(Outcome(OutcomeKind.INTERRUPTED, sentence, until))}, rows)


def _find_blocks(source: MemorySource | FileSource, members: Sequence[Member], prefix: str) -> dict[str, RowBlock]:
    """The blocks of one kind, in their order."""
    chosen = [member for member in members if member.name.startswith(prefix)]
    if any(member.method != STORED or member.size != member.full_size for member in chosen):
        raise ArchiveError("its rows are packed in another way")
    return {member.name: RowBlock(source.read, member.place, member.size) for member in chosen}


def _read_text(source: MemorySource | FileSource, member: Member | None) -> bytes | None:
    """The contents of a member, whose size is checked before it is unpacked."""
    if member is None:
        return None
    if member.full_size > MOST_TEXT:
        raise ArchiveError(f"{member.name} is too large")
    text = source.read(member.place, member.size)
    if member.method == DEFLATED:
        text = zlib.decompressobj(-zlib.MAX_WBITS).decompress(text, member.full_size or 1)
    if len(text) != member.full_size or zlib.crc32(text) != member.crc:
        raise ArchiveError(f"{member.name} is damaged or truncated")
    return text
