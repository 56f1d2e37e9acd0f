"""Run files: how is a run kept in one file, and how is a damaged or foreign file detected?

A run file is an uncompressed zip of `run.json`, `time.npy`, `values.npy` and, written last, `checksums.json`
with the SHA-256 of the others. Where a run has them, `knots.npy` and `probes.npy` (times, values, errors side by side)
stand before it: a run that was read gives the same values as the one that was saved, also between its rows.
`run.json` is JSON as Python writes it: NaN and Infinity may stand in it.
"""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.atomic import replacing
from robodyn.base.untrusted import DAMAGE, parse_json, read_archive, read_array, read_bytes

from .record import from_record, to_record
from .run import Run
from .signal import Booleans, Floats

FORMAT = "robodyn-run"
VERSION = 2


class RunFileError(ValueError):
    """A file that is not a complete run file this version can read."""


def save(run: Run, path: str | Path) -> Path:
    """Write a run to one file, all or nothing, and return its path."""
    head = {"format": FORMAT, "version": VERSION, **to_record(run)}
    members = {
        "run.json": _lines(head).encode(),
        "time.npy": _array_bytes(run.time),
        "values.npy": _array_bytes(run.values),
    }
    if run.knots is not None:
        members["knots.npy"] = _array_bytes(run.knots)
    if run.probes is not None:
        probes = [run.probes.time[:, None], run.probes.values, run.probes.errors]
        members["probes.npy"] = _array_bytes(np.hstack(probes))
    members["checksums.json"] = json.dumps(_checksums(members)).encode()
    with replacing(path) as draft, zipfile.ZipFile(draft, "x") as archive:
        for name, data in members.items():
            # A fixed date: equal runs give equal files.
            archive.writestr(zipfile.ZipInfo(name), data)
    return Path(path)


def _lines(head: dict[str, Any]) -> str:
    """JSON with a line for each entry: fast to write, and still to be looked at."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()) + "\n}"


def load(path: str | Path) -> Run:
    """Read a run file; RunFileError says what is wrong with one that cannot be used."""
    path = Path(path)
    try:
        # Errors of the disk stay what they are; whatever else goes wrong is the file's own fault.
        data = read_bytes(path)
        return _read(data, path)
    except RunFileError:
        raise
    except MemoryError as error:
        raise RunFileError(f"{path}: there is not enough memory to read it") from error
    except DAMAGE as error:
        raise RunFileError(f"{path}: not a run file, or damaged or cut off ({error})") from error


def _read(data: bytes, path: Path) -> Run:
    # Nothing in it is compressed: members are together no larger than the file.
    members = read_archive(data, len(data))
    head = _read_head(members, path)
    checksums = parse_json(members.pop("checksums.json"))
    if _checksums(members) != checksums:
        raise RunFileError(f"{path}: the contents do not match their checksums, the file is damaged")
    del members["run.json"]
    return from_record(head, **{name.removesuffix(".npy"): read_array(array) for name, array in members.items()})


def _read_head(members: dict[str, bytes], path: Path) -> dict[str, Any]:
    """The description, once its format is known to be readable: a newer one may differ in all else."""
    if "run.json" not in members:
        raise RunFileError(f"{path}: a zip archive, but not a run file (it holds no run.json)")
    head = parse_json(members["run.json"])
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise RunFileError(f"{path}: not a run file (its run.json is of another format)")
    if head.get("version") != VERSION:
        raise RunFileError(f"{path}: run format {head.get('version')}, this version of robodyn reads {VERSION}")
    return head


def _array_bytes(values: Floats | Booleans) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()


def _checksums(members: dict[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
