"""Lossy compression of recorded rows: in how few bytes are signals kept, to be read one by one, with what error?

Rows are kept in blocks. A block is a head, a table with an entry for each column (times, knots, then the signals), and
the columns themselves, deflated one by one. Times and knots are exact. A signal is rounded to multiples of a power of
two and predicted from its neighbours (`engine/columns.c`): a row costs nothing where reading between others would do.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, Unreadable

from .signal import Booleans, check_time

Read = Callable[[int, int], bytes]
"""Bytes of a file, from a place on, so many."""

MAGIC = b"rows 3\r\n"
HEAD = struct.Struct("<8sqqdd")
"""What a block is, its rows and columns, the first and the last time."""
ENTRY = np.dtype([("quantum", "<f8"), ("width", "<i8"), ("offset", "<i8"), ("length", "<i8")])
"""A column: its quantum (0: the bits of the numbers themselves), bytes of a number, where it begins behind the table,
and its length."""
OTHER_COLUMNS = 2
"""Times and knots, which come first."""
BLOCK_NUMBERS, LARGEST_BLOCK, SMALLEST_BLOCK = 2**20, 2**15, 2**8
"""Numbers in a block; the most and the fewest rows, own choices."""
MAGNIFIED = 4.0
"""How much larger than at the rows the error of a polynomial through six of them can be: 3.1 where they are evenly
spaced, less where they are Chebyshev points."""
LEAST_TOLERANCE, LARGEST_TOLERANCE = 1e-12, 0.01
"""More digits leave nothing to be gained; with fewer, signals are no longer what was simulated. Own choices."""
LEAST_SIZE = 1e-280
"""Signals that are smaller, such as 0, are exact: no quantum may be too small to divide by."""
PIECE = np.array([0.14644660940672624, 0.5, 0.85355339059327376])
"""Where the engine's rows lie in a piece of a step: see record.c."""


class BlockError(ValueError):
    """A block that is damaged."""


class RunFileError(Unreadable):
    """A file that is not a complete run file this version can read; the message begins with its name."""


def block_size(n_signals: int) -> int:
    """Rows of a block."""
    return max(SMALLEST_BLOCK, min(LARGEST_BLOCK, BLOCK_NUMBERS // max(n_signals, 1)))


class Encoder:
    """Makes blocks of rows, off by a tolerance of the largest magnitude that each signal has had so far.

    Attributes:
        largest: that magnitude, exactly; error: of what is read, as part of it, at most.
    """

    def __init__(self, n_signals: int, tolerance: float) -> None:
        self.tolerance = tolerance
        self.largest = np.zeros(n_signals)
        self.error = 0.0

    def encode(self, time: Array, values: Array, knots: Booleans) -> bytes:
        """A block of at least one row, and of no more than LARGEST_BLOCK."""
        values = np.ascontiguousarray(values, float)
        quanta = self._choose_quanta(values)
        columns = [(0.0, *_encode_times(time, knots)), (0.0, 1, knots.astype(np.uint8).tobytes())]
        columns += _encode_signals(time, values, quanta)
        table, parts, places = np.zeros(len(columns), ENTRY), [], dict[bytes, int]()
        end = 0
        for k, (quantum, width, planes) in enumerate(columns):
            packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
            packed = packer.compress(planes) + packer.flush()
            # Columns that are the same bit by bit are kept once.
            place = places.setdefault(packed, end)
            if place == end:
                parts.append(packed)
                end += len(packed)
            table[k] = quantum, width, place, len(packed)
        head = HEAD.pack(MAGIC, len(time), len(columns), time[0], time[-1])
        return b"".join([head, table.tobytes(), *parts])

    def _choose_quanta(self, values: Array) -> Array:
        """Powers of two; 0 where a signal is to be exact, is not a number somewhere, or is next to nothing."""
        sizes = np.abs(values).max(axis=0, initial=0.0)
        broken = ~np.isfinite(sizes)
        sizes[broken] = np.abs(np.where(np.isfinite(values[:, broken]), values[:, broken], 0.0)).max(axis=0)
        self.largest = np.maximum(self.largest, sizes)
        if self.tolerance < LEAST_TOLERANCE:
            return np.zeros(len(sizes))
        # Half a quantum at the rows, magnified between them, is within the tolerance.
        _, exponents = np.frexp(2.0 * self.tolerance / MAGNIFIED * self.largest)
        quanta = np.ldexp(1.0, exponents - 1)
        quanta[broken | (self.largest < LEAST_SIZE)] = 0.0
        rounded = quanta > 0.0
        errors = MAGNIFIED * 0.5 * quanta[rounded] / self.largest[rounded]
        self.error = max(self.error, float(errors.max(initial=0.0)))
        return quanta


def _encode_signals(time: Array, values: Array, quanta: Array) -> Iterator[tuple[float, int, Any]]:
    from robodyn.computation.engine.binding import address_of, functions

    n, n_signals = values.shape
    if not n_signals:
        return
    work, widths = np.empty(2 * n), np.zeros(n_signals, np.int64)
    planes = np.empty(8 * n * n_signals, np.uint8)
    arrays = [_weights(np.ascontiguousarray(time)), values, quanta, work, planes, widths]
    functions().encode_columns(n, n_signals, *map(address_of, arrays))
    begin = 0
    for quantum, width in zip(quanta.tolist(), widths.tolist(), strict=True):
        yield quantum, width, planes[begin : begin + n * width]
        begin += n * width


def _weights(time: Array) -> Array:
    """By which the rows at some times are predicted."""
    from robodyn.computation.engine.binding import address_of, functions

    weights = np.zeros(4 * time.size)
    functions().column_weights(time.size, address_of(time), address_of(weights))
    return weights


def _encode_times(time: Array, knots: Booleans) -> tuple[int, bytes]:
    """Bits of the times less those expected: of points of a step by its ends, of others by the two before them."""
    bits = np.ascontiguousarray(time, "<f8").view(np.int64)
    inner, expected = _expect_points(time, knots)
    rest = np.empty_like(bits)
    rest[inner] = bits[inner] - expected(time).view(np.int64)
    rest[~inner] = np.diff(bits[~inner], n=2, prepend=[0, 0])
    folded = ((rest << 1) ^ (rest >> 63)).view(np.uint64)
    width = (int(folded.max()).bit_length() + 7) // 8
    return width, np.ascontiguousarray(folded.view(np.uint8).reshape(-1, 8)[:, :width].T).tobytes()


def _decode_times(planes: bytes, width: int, knots: Booleans) -> Array:
    folded = np.zeros((knots.size, 8), np.uint8)
    folded[:, :width] = np.frombuffer(planes, np.uint8).reshape(width, -1).T
    numbers = folded.view(np.uint64)[:, 0]
    rest = (numbers >> np.uint64(1)).view(np.int64) ^ -(numbers & np.uint64(1)).view(np.int64)
    time = np.zeros(knots.size)
    inner, expected = _expect_points(time, knots)
    time[~inner] = np.cumsum(np.cumsum(rest[~inner])).view(float)
    time[inner] = (expected(time).view(np.int64) + rest[inner]).view(float)
    return time


def _expect_points(time: Array, knots: Booleans) -> tuple[Booleans, Callable[[Array], Array]]:
    """Rows between knots that are four rows apart, and how their times follow from those of the knots."""
    ends = np.flatnonzero(knots)
    begins = ends[:-1][np.diff(ends) == len(PIECE) + 1]
    inner = np.zeros(knots.size, bool)
    inner[(begins[:, None] + np.arange(1, len(PIECE) + 1)).ravel()] = True

    def expect(time: Array) -> Array:
        first = time[begins, None]
        return (first + PIECE * (time[begins + len(PIECE) + 1, None] - first)).ravel()

    return inner, expect


class RowBlock:
    """A block in a file, of which the head and the table have been read.

    Attributes:
        digest: of head and table.
    """

    def __init__(self, read: Read, place: int, size: int) -> None:
        head = read(place, HEAD.size) if size >= HEAD.size else b""
        if not head.startswith(MAGIC):
            raise BlockError("a block of rows has another beginning")
        _, self.n_rows, n_columns, self.begin, self.end = HEAD.unpack(head)
        data = HEAD.size + n_columns * ENTRY.itemsize
        if not (0 < self.n_rows <= LARGEST_BLOCK and n_columns >= OTHER_COLUMNS and data <= size):
            raise BlockError("a block of rows declares impossible sizes")
        table = read(place + HEAD.size, data - HEAD.size)
        self.table = np.frombuffer(table, ENTRY)
        self.digest = hashlib.sha256(head + table).hexdigest()
        self.data, self.read = place + data, read
        width, begin, length = (self.table[name] for name in ("width", "offset", "length"))
        sound = (width >= 0) & (width <= 8) & (begin >= 0) & (length > 0) & (length <= size) & (begin <= size - length)
        if not sound.all():
            raise BlockError("a block of rows declares impossible sizes")

    def planes(self, k: int) -> bytes:
        """The bytes of a column."""
        _, width, offset, length = self.table[k].tolist()
        size, unpacker = self.n_rows * width, zlib.decompressobj()
        try:
            # No more than is declared is unpacked: one byte more shows that there is more.
            planes = unpacker.decompress(self.read(self.data + offset, length), size + 1)
        except zlib.error as error:
            raise BlockError(f"a column is damaged ({error})") from error
        if len(planes) != size or not unpacker.eof:
            raise BlockError("a column is damaged: it has another length than declared")
        return planes

    def knots(self) -> Booleans:
        """Rows across which nothing is interpolated."""
        return np.frombuffer(self.planes(1), np.uint8) > 0

    def time(self) -> Array:
        """Times [s]."""
        return _decode_times(self.planes(0), int(self.table["width"][0]), self.knots())

    def signals(self, columns: Sequence[int]) -> Array:
        """Values of some signals, a column each."""
        from robodyn.computation.engine.binding import address_of, functions

        values = np.zeros((len(columns), self.n_rows))
        decode, weights = functions().decode_column, _weights_of(self)
        for row, k in zip(values, columns, strict=True):
            quantum, width, *_ = self.table[OTHER_COLUMNS + k].tolist()
            planes = np.frombuffer(self.planes(OTHER_COLUMNS + k) or b"\0", np.uint8)
            decode(self.n_rows, address_of(weights), quantum, width, address_of(planes), address_of(row))
        return values.T


@lru_cache(maxsize=64)
def _weights_of(block: RowBlock) -> Array:
    """Those of the blocks that were read last: signals are mostly read one after the other."""
    return _weights(block.time())


class FileSource:
    """Parts of a file, which is not kept open and may be renamed, but not replaced."""

    def __init__(self, path: Path) -> None:
        self.path, self.identity = path, path.stat().st_ino

    def read(self, place: int, length: int) -> bytes:
        with open(self.path, "rb") as file:
            if os.fstat(file.fileno()).st_ino != self.identity:
                raise BlockError("has been replaced by another file since it was opened: open it again")
            file.seek(place)
            return file.read(length)


class MemorySource:
    """Parts of a file that has been read."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data = path, data

    def read(self, place: int, length: int) -> bytes:
        return self.data[place : place + length]


class StoredRows:
    """The rows of a run in a file, of which only those signals are read that are asked for.

    Attributes:
        source: of the blocks; n_signals: in each; has_knots: whether knots are known.

    Raises:
        RunFileError: where what is read turns out to be damaged.
    """

    def __init__(
        self, source: FileSource | MemorySource, blocks: Sequence[RowBlock], n_signals: int, has_knots: bool = True
    ) -> None:
        self.source, self.blocks, self.n_signals, self.has_knots = source, list(blocks), n_signals, has_knots
        for block in blocks:
            if len(block.table) != n_signals + OTHER_COLUMNS:
                raise BlockError(f"a block has {len(block.table) - OTHER_COLUMNS} signals, the run {n_signals}")

    def __len__(self) -> int:
        return sum(block.n_rows for block in self.blocks)

    def time(self) -> Array:
        """Times of all rows [s]."""
        time: Array = self._join([np.zeros(0)], RowBlock.time)
        try:
            check_time(time)
        except ValueError as error:
            raise RunFileError(f"{self.source.path}: {error}") from error
        return time

    def knots(self) -> Booleans | None:
        """Rows across which nothing is interpolated."""
        return self._join([np.zeros(0, bool)], RowBlock.knots) if self.has_knots else None

    def signals(self, columns: Sequence[int] | None = None) -> Array:
        """Values of some signals, by default of all of them, a column each."""
        chosen = range(self.n_signals) if columns is None else columns
        values: Array = self._join([np.zeros((0, len(chosen)))], lambda block: block.signals(chosen))
        return values

    def part(self, k: int) -> tuple[Array, Array, Booleans]:
        """Times, values of all signals and knots of a block, or of the last ones."""
        rows = StoredRows(self.source, [self.blocks[k]], self.n_signals)
        return rows.time(), rows.signals(), np.asarray(rows.knots())

    def _join(self, parts: list[Any], read: Callable[[RowBlock], Array]) -> Any:
        try:
            return np.concatenate([*parts, *(read(block) for block in self.blocks)])
        except (BlockError, OSError) as error:
            raise RunFileError(f"{self.source.path}: {error}") from error
