"""Array arguments: how does machine code read numpy arrays itself, so that a call from Python copies nothing?

An entry takes two tuples of arrays, inputs and outputs, looks at the fields that Python and numpy keep in them and
calls the kernel on their data. It refuses (returns 1) everything but plain vectors of float64 of the right length (the
input with a run's table behind it may be longer); the caller then copies. Passing two addresses is much faster than
letting ctypes convert each argument.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

# Places of the fields in an array object, which numpy's binary interface fixes, and in a tuple (64-bit CPython).
TYPE, DATA, N_DIMENSIONS, DIMENSIONS, DESCRIPTION, FLAGS = 8, 16, 24, 32, 56, 64
TUPLE_SIZE, TUPLE_ITEMS = 16, tuple.__basicsize__
# C-contiguous and aligned.
PLAIN = 0x0001 | 0x0100
KNOWN = "known"
"""A table in each module: addresses of the type of arrays and of the description of float64 in this process."""


def emit_known() -> str:
    """LLVM text of the table of known objects, filled in by `introduce`."""
    return f"@{KNOWN} = global [2 x ptr] zeroinitializer\n"


def introduce(address: int) -> None:
    """Write the known objects of this process into a module's table."""
    table = (ctypes.c_void_p * 2).from_address(address)
    table[0], table[1] = id(np.ndarray), id(np.dtype(np.float64))


def emit_array_entry(symbol: str, in_sizes: Sequence[int], out_sizes: Sequence[int], longer: int | None = None) -> str:
    """LLVM text of `i32 symbol.arrays(ptr inputs, ptr outputs)`; the outputs are the caller's own and not checked.

    Args:
        longer: number of the input that has a table behind it.
    """
    n_in, n_out = len(in_sizes), len(out_sizes)
    lines = [
        f"define i32 @{symbol}.arrays(ptr %inputs, ptr %outputs) noinline nounwind {{",
        f"  %type = load ptr, ptr @{KNOWN}",
        f"  %float64 = load ptr, ptr getelementptr (ptr, ptr @{KNOWN}, i64 1)",
        *_load("%inputs", "count", TUPLE_SIZE, "i64"),
        f"  %right_count = icmp eq i64 %count, {n_in}",
        "  br i1 %right_count, label %check0, label %refuse",
    ]
    for k, size in enumerate(in_sizes):
        lines += _check(k, size, "uge" if k == longer else "eq")
    lines += [f"check{n_in}:"]
    for k in range(n_out):
        lines += _load("%outputs", f"o{k}", TUPLE_ITEMS + 8 * k, "ptr")
        lines += _load(f"%o{k}", f"out{k}", DATA, "ptr")
    for k in range(n_in):
        lines += _load(f"%a{k}", f"in{k}", DATA, "ptr")
    data = ", ".join([f"ptr %in{k}" for k in range(n_in)] + [f"ptr %out{k}" for k in range(n_out)])
    lines += [f"  call void @{symbol}({data})", "  ret i32 0", "refuse:", "  ret i32 1", "}\n"]
    return "\n".join(lines)


def _load(base: str, name: str, offset: int, kind: str) -> list[str]:
    return [f"  %at_{name} = getelementptr i8, ptr {base}, i64 {offset}", f"  %{name} = load {kind}, ptr %at_{name}"]


def _check(k: int, size: int, relation: str) -> list[str]:
    """Go on to the next input if this one is an array, of float64, one-dimensional, plain and of the right length."""
    return [
        f"check{k}:",
        *_load("%inputs", f"a{k}", TUPLE_ITEMS + 8 * k, "ptr"),
        *_load(f"%a{k}", f"type{k}", TYPE, "ptr"),
        f"  %is_array{k} = icmp eq ptr %type{k}, %type",
        f"  br i1 %is_array{k}, label %fields{k}, label %refuse",
        f"fields{k}:",
        *_load(f"%a{k}", f"description{k}", DESCRIPTION, "ptr"),
        *_load(f"%a{k}", f"rank{k}", N_DIMENSIONS, "i32"),
        *_load(f"%a{k}", f"flags{k}", FLAGS, "i32"),
        f"  %plain{k} = and i32 %flags{k}, {PLAIN}",
        f"  %is_float{k} = icmp eq ptr %description{k}, %float64",
        f"  %is_vector{k} = icmp eq i32 %rank{k}, 1",
        f"  %is_plain{k} = icmp eq i32 %plain{k}, {PLAIN}",
        f"  %both{k} = and i1 %is_float{k}, %is_vector{k}",
        f"  %all{k} = and i1 %both{k}, %is_plain{k}",
        f"  br i1 %all{k}, label %length{k}, label %refuse",
        f"length{k}:",
        *_load(f"%a{k}", f"dimensions{k}", DIMENSIONS, "ptr"),
        f"  %count{k} = load i64, ptr %dimensions{k}",
        f"  %fits{k} = icmp {relation} i64 %count{k}, {size}",
        f"  br i1 %fits{k}, label %check{k + 1}, label %refuse",
    ]


@functools.cache
def is_readable() -> bool:
    """Whether the fields lie where this module expects them, tried on an array and a tuple."""
    probe = np.arange(7.0)
    pair = (probe, probe)
    if np.ndarray.__basicsize__ < FLAGS + 4 or object.__basicsize__ != DATA:
        return False
    expected: list[tuple[int, Any, int]] = [
        (id(probe) + TYPE, ctypes.c_void_p, id(np.ndarray)),
        (id(probe) + DATA, ctypes.c_void_p, probe.ctypes.data),
        (id(probe) + N_DIMENSIONS, ctypes.c_int, 1),
        (id(probe) + DESCRIPTION, ctypes.c_void_p, id(probe.dtype)),
        (id(probe) + FLAGS, ctypes.c_int, probe.flags.num),
        (id(pair) + TUPLE_SIZE, ctypes.c_int64, 2),
        (id(pair) + TUPLE_ITEMS + 8, ctypes.c_void_p, id(probe)),
    ]
    if any(kind.from_address(place).value != value for place, kind, value in expected):
        return False
    dimensions = ctypes.c_void_p.from_address(id(probe) + DIMENSIONS).value
    return dimensions is not None and ctypes.c_int64.from_address(dimensions).value == 7
