"""Untrusted files: how is one read? Every size that it declares is checked before anything is allocated.

What is wrong with a file is an `Unreadable`, whose message follows the file's name; errors of the disk stay OSErrors.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import tokenize
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

MEGABYTE = 1 << 20
MOST_OF_A_MESH = 200 * MEGABYTE
"""Bytes, this project's own choice."""
MOST_NESTED = 64
"""Tables within tables, or lists within lists, this project's own choice."""
MOST_DOTS = 256
"""Parts of one key: the time to parse it grows with their square."""
MOST_BITS = 1024
"""Of a whole number; more fit into no floating-point number."""
# What the standard library raises on damaged archives and headers, depending on which byte is wrong.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, IndexError, NotImplementedError, OverflowError,
    RuntimeError, SyntaxError, AttributeError, TypeError, ValueError,
)  # fmt: skip


class Unreadable(ValueError):
    """A file that cannot be used; the message follows the file's name."""


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """The contents of a file, of at most so many bytes; devices and pipes, which may have no end, are none."""
    size = path.stat().st_size
    if not path.is_file():
        raise Unreadable("is not a file")
    if most is not None and size > most:
        raise Unreadable(f"has {_megabytes(size)} MB, at most {_megabytes(most)} are read")
    with path.open("rb") as file:
        return file.read(size + 1)


def read_text(path: Path, most: int, encoding: str = "utf-8") -> str:
    """The text of a file of at most so many bytes."""
    try:
        return read_bytes(path, most).decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 text: {error.reason} at byte {error.start}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if any(piece.count(".") > MOST_DOTS for piece in re.split(r"[=,\[\]{}#\n]", text)):
        raise Unreadable(f"has a key of more than {MOST_DOTS} parts")
    return _parse(tomllib.loads, text, "TOML")


def parse_json(text: str | bytes) -> Any:
    """The values of a JSON text."""
    return _parse(json.loads, text, "JSON")


def _parse(parser: Callable[[Any], Any], text: str | bytes, language: str) -> Any:
    """Parse a text of which nothing is nested too deep."""
    try:
        return _checked(parser(text))
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable(f"is nested more than {MOST_NESTED} levels deep") from None
    except ValueError as error:
        raise Unreadable(f"is not {language}: {error}") from error


def _checked(data: Any) -> Any:
    """The data; nesting and whole numbers have bounds, so that whoever walks through them needs none."""
    level: list[tuple[str, Any]] = [("", data)]
    for _ in range(MOST_NESTED + 1):
        inner: list[tuple[str, Any]] = []
        for path, value in level:
            if isinstance(value, dict):
                inner += [(f"{path}.{key}"[:200], entry) for key, entry in value.items()]
            elif isinstance(value, list):
                inner += [(path, entry) for entry in value]
            elif isinstance(value, int) and value.bit_length() > MOST_BITS:
                raise Unreadable(f"{path.lstrip('.')}: has a whole number that is too large")
        level = inner
        if not level:
            return data
    raise Unreadable(f"is nested more than {MOST_NESTED} levels deep")


def read_archive(data: bytes, most: int) -> dict[str, bytes]:
    """Members of a zip archive; together they have at most so many bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            check_sizes(infos, most)
            return {info.filename: archive.read(info) for info in infos}
    except Unreadable:
        raise
    except DAMAGE as error:
        raise Unreadable(f"is not a zip archive, or is damaged or truncated ({error})") from error


def check_sizes(infos: Iterable[zipfile.ZipInfo], most: int) -> None:
    """Refuse an archive whose members are large together, or which names one twice."""
    infos = list(infos)
    names = [info.filename for info in infos]
    if len(set(names)) < len(names):
        raise Unreadable("has two members with the same name")
    total = sum(info.file_size for info in infos)
    if total > most:
        raise Unreadable(f"unpacks to {_megabytes(total)} MB, at most {_megabytes(most)} are read")


def read_array(data: bytes) -> np.ndarray:
    """The array of an .npy member; its header must declare what there is, no more."""
    import numpy as np
    from numpy.lib import format as npy

    stream = io.BytesIO(data)
    try:
        version = npy.read_magic(stream)
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, fortran, dtype = read(stream)
        rest = len(data) - stream.tell()
        if dtype.kind not in "biuf" or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != rest:
            raise ValueError(f"its header declares {dtype} of shape {shape}, there are {rest} bytes")
        order: Any = "F" if fortran else "C"
        return np.ndarray(shape, dtype, data, stream.tell(), order=order).copy(order)
    except (*DAMAGE, MemoryError, tokenize.TokenError) as error:
        raise Unreadable(f"does not hold an array of numbers ({str(error)[:200]})") from error


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:,.0f}" if size >= 10 * MEGABYTE else f"{size / MEGABYTE:.2g}"
