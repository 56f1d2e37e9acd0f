"""Archive of arrays: how are arrays kept in one file with a description, and how is a damaged or foreign one seen?

An archive is a zip of a description in JSON, an `.npy` file of each array and, written last, `checksums.json` with the
SHA-256 of the others. The JSON is as Python writes it: NaN and Infinity may stand in it.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

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

    def write_head(self, about: Mapping[str, Any]) -> bytes:
        """The description."""
        head = {"format": self.format, "version": self.version, **about}
        # A line for each entry: fast to write, and still to be looked at.
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
        return f"{{\n{lines}\n}}".encode()

    def read_head(self, text: bytes | None) -> dict[str, Any]:
        """The description, once its format is known to be readable: a newer one may differ in all else."""
        if text is None:
            raise ArchiveError(f"a zip archive, but not {self.noun} (it holds no {self.head})")
        head = parse_json(text)
        if not isinstance(head, dict) or head.get("format") != self.format:
            raise ArchiveError(f"not {self.noun} (its {self.head} is of another format)")
        if head.get("version") != self.version:
            version = head.get("version")
            raise ArchiveError(f"of {self.name} format {version}, this version of robodyn reads {self.version}")
        return head


def write_arrays(path: str | Path, kind: ArchiveKind, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Write arrays with what describes them to one file, all or nothing, and return its path."""
    members = {kind.head: kind.write_head(about)}
    for name, values in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(values), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    members[CHECKSUMS] = json.dumps(_checksums(members)).encode()
    with replacing(path) as draft, open(draft, "xb") as file:
        archive = ZipWriter(file)
        for name, data in members.items():
            archive.add(name, data)
        archive.finish()
    return Path(path)


def read_arrays(path: str | Path, kind: ArchiveKind, make: Callable[..., T]) -> T:
    """Read a description and its arrays, and make something of them, make(description, **arrays).

    Raises:
        ArchiveError: for what is wrong with the file; errors of the disk stay what they are.
    """
    try:
        data = read_bytes(Path(path))
        # Nothing in it is compressed: members are together no larger than the file.
        members = read_archive(data, len(data))
        head = kind.read_head(members.get(kind.head))
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


def _checksums(members: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in members.items() if name != CHECKSUMS}


# --------------------------------------------------------------------------------------------------
# Zip archive that grows: what stands in it can be read although its end was never written.
# The layout is that of PKWARE's APPNOTE.TXT 6.3.9: local headers, then a directory of them, then its end.

LOCAL = struct.Struct("<4s5H3I2H")
"""Signature, version, flags, method, time, date, checksum, both sizes, lengths of name and of other fields."""
DIRECTORY = struct.Struct("<4s6H3I5H2I")
LARGE, ELSEWHERE = 0xFFFFFFFF, 0xFFFFFFFF
"""Places from here on need the fields of Zip64; what stands in their place."""
STORED, DEFLATED = 0, 8
FIRST_DAY = 33
"""1980-01-01: equal contents give equal files."""


class Member(NamedTuple):
    """A part of a zip archive: the place of its header and of its data, its method, checksum and both sizes."""

    name: str
    header: int
    place: int
    method: int
    crc: int
    size: int
    full_size: int


class ZipWriter:
    """A zip archive whose members are written one after the other, each as a whole."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.members = file, list[Member]()

    def add(self, name: str, data: bytes, deflated: bool = False) -> None:
        """Write a member; on a full disk the archive stays as it was, but for bytes behind its end."""
        packed = data
        if deflated:
            packer = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
            packed = packer.compress(data) + packer.flush()
        label, header = name.encode(), self._end()
        place, method = header + LOCAL.size + len(label), DEFLATED if deflated else STORED
        member = Member(name, header, place, method, zlib.crc32(data), len(packed), len(data))
        self.file.seek(header)
        self.file.write(LOCAL.pack(b"PK\3\4", 20, 0, method, 0, FIRST_DAY, *member[4:], len(label), 0) + label)
        self.file.write(packed)
        self.file.flush()
        self.members.append(member)

    def drop(self) -> None:
        """Take back the last member, which makes room."""
        self.members.pop()
        self.file.truncate(self._end())

    def finish(self) -> None:
        """Write the directory."""
        begin = self._end()
        self.file.seek(begin)
        self.file.truncate()
        for member in self.members:
            label, extra, place = member.name.encode(), b"", member.header
            if place >= LARGE:
                extra, place = struct.pack("<2HQ", 1, 8, place), ELSEWHERE
            lengths = (len(label), len(extra), 0, 0, 0, 0o600 << 16, place)
            entry = (b"PK\1\2", 0x032D, 45, 0, member.method, 0, FIRST_DAY, *member[4:], *lengths)
            self.file.write(DIRECTORY.pack(*entry) + label + extra)
        size, count = self.file.tell() - begin, len(self.members)
        if begin >= LARGE or count >= 0xFFFF:
            end = (b"PK\6\6", 44, 0x032D, 45, 0, 0, count, count, size, begin)
            self.file.write(struct.pack("<4sQ2H2I4Q", *end))
            self.file.write(struct.pack("<4sIQI", b"PK\6\7", 0, begin + size, 1))
        begin, count = ELSEWHERE if begin >= LARGE else begin, min(count, 0xFFFF)
        self.file.write(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, size, begin, 0))
        self.file.flush()

    def _end(self) -> int:
        return self.members[-1].place + self.members[-1].size if self.members else 0


def list_members(file: BinaryIO) -> list[Member]:
    """The members of a zip archive, by its directory."""
    members = []
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            file.seek(info.header_offset)
            *_, name, extra = LOCAL.unpack(file.read(LOCAL.size))
            place = info.header_offset + LOCAL.size + name + extra
            sizes = info.CRC, info.compress_size, info.file_size
            members.append(Member(info.filename, info.header_offset, place, info.compress_type, *sizes))
    return members


def find_members(file: BinaryIO) -> Iterator[Member]:
    """The members of a zip archive that has no directory, in their order, as far as they are complete."""
    end, header = file.seek(0, 2), 0
    while header + LOCAL.size <= end:
        file.seek(header)
        signature, _, _, method, _, _, crc, size, full_size, name, extra = LOCAL.unpack(file.read(LOCAL.size))
        label = file.read(name)
        place = header + LOCAL.size + name + extra
        if signature != b"PK\3\4" or place + size > end:
            return
        yield Member(label.decode("utf-8", "replace"), header, place, method, crc, size, full_size)
        header = place + size
