"""Archive of arrays: how are arrays kept in one file with a description, and how is a damaged or foreign one seen?

An archive is an uncompressed zip of a description in JSON, an `.npy` file of each array and, written last,
`checksums.json` with the SHA-256 of the others. The JSON is as Python writes it: NaN and Infinity may stand in it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from robodyn.base import replacing
from robodyn.base.untrusted import DAMAGE, parse_json, read_archive, read_array, read_bytes

T = TypeVar("T")
CHECKSUMS = "checksums.json"


class ArchiveError(ValueError):
    """A file that is no complete archive of the wanted kind; the message follows the file's name."""


class ArchiveKind(NamedTuple):
    """A kind of archives: its name, which its description has too, what such a file is called, and its version."""

    name: str
    noun: str
    version: int

    @property
    def head(self) -> str:
        """Name of the member that describes the arrays."""
        return f"{self.name}.json"

    @property
    def format(self) -> str:
        return f"robodyn-{self.name}"


def write_arrays(path: str | Path, kind: ArchiveKind, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Write arrays with what describes them to one file, all or nothing, and return its path."""
    head = {"format": kind.format, "version": kind.version, **about}
    # A line for each entry: fast to write, and still to be looked at.
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    members = {kind.head: f"{{\n{lines}\n}}".encode()}
    for name, values in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(values), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    members[CHECKSUMS] = json.dumps(_checksums(members)).encode()
    with replacing(path) as draft, zipfile.ZipFile(draft, "x") as archive:
        for name, data in members.items():
            # A fixed date: equal contents give equal files.
            archive.writestr(zipfile.ZipInfo(name), data)
    return Path(path)


def read_arrays(path: str | Path, kind: ArchiveKind, make: Callable[..., T]) -> T:
    """What is made of a description and its arrays, make(description, **arrays).

    Raises:
        ArchiveError: for what is wrong with the file; errors of the disk stay what they are.
    """
    try:
        data = read_bytes(Path(path))
        # Nothing in it is compressed: members are together no larger than the file.
        members = read_archive(data, len(data))
        head = _read_head(members, kind)
        if _checksums(members) != parse_json(members.pop(CHECKSUMS)):
            raise ArchiveError(f"damaged {kind.noun}: the contents do not match their checksums")
        del members[kind.head]
        return make(head, **{name.removesuffix(".npy"): read_array(array) for name, array in members.items()})
    except ArchiveError:
        raise
    except MemoryError as error:
        raise ArchiveError("too large: not enough memory to read it") from error
    except DAMAGE as error:
        raise ArchiveError(f"not {kind.noun}, or damaged or truncated ({error})") from error


def _read_head(members: dict[str, bytes], kind: ArchiveKind) -> dict[str, Any]:
    """The description, once its format is known to be readable: a newer one may differ in all else."""
    if kind.head not in members:
        raise ArchiveError(f"a zip archive, but not {kind.noun} (it holds no {kind.head})")
    head = parse_json(members[kind.head])
    if not isinstance(head, dict) or head.get("format") != kind.format:
        raise ArchiveError(f"not {kind.noun} (its {kind.head} is of another format)")
    if head.get("version") != kind.version:
        version = head.get("version")
        raise ArchiveError(f"of {kind.name} format {version}, this version of robodyn reads {kind.version}")
    return head


def _checksums(members: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in members.items() if name != CHECKSUMS}
