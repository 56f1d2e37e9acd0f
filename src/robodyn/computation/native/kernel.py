"""Kernels: how is a traced function called at machine speed?

An entry in machine code takes two tuples of arrays, inputs and outputs, looks at the fields that Python and numpy keep
in them and calls the kernel on their data, so that a call from Python copies nothing. It refuses (returns 1) everything
but plain vectors of float64 of the right length (the input with a run's table behind it may be longer); the caller then
copies. Passing two addresses is much faster than letting ctypes convert each argument.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.base import Array, frozen
from robodyn.computation.native import cache

from .machine import MachineCode, circumstances, compile_objects
from .pieces import ModuleText
from .rows import check_rows

if TYPE_CHECKING:
    import casadi as ca

# Places of the fields in an array object, which numpy's binary interface fixes, and in a tuple (64-bit CPython).
TYPE, DATA, N_DIMENSIONS, DIMENSIONS, DESCRIPTION, FLAGS = 8, 16, 24, 32, 56, 64
TUPLE_SIZE, TUPLE_ITEMS = 16, tuple.__basicsize__
# C-contiguous and aligned.
PLAIN = 0x0001 | 0x0100
KNOWN = "known"
"""A table in each module: addresses of the type of arrays and of the description of float64 in this process."""


def emit_known() -> str:
    """LLVM text of the table of known objects, filled in by `introduce`, and of what looks at one array."""
    return f"@{KNOWN} = global [2 x ptr] zeroinitializer\n{_FITS}"


def introduce(address: int) -> None:
    """Write the known objects of this process into a module's table."""
    table = (ctypes.c_void_p * 2).from_address(address)
    table[0], table[1] = id(Array), id(np.dtype(np.float64))


class Signature(NamedTuple):
    """What functions share that are called from Python alike: sizes of inputs, the number of outputs, and the number of
    the input that has a table behind it, if there is one."""

    in_sizes: tuple[int, ...]
    n_out: int
    longer: int | None = None


def emit_array_entries(kernels: Mapping[str, Signature]) -> str:
    """LLVM text of `i32 symbol.arrays(ptr inputs, ptr outputs)` for each symbol: a call of what looks at the arrays of
    its signature, of which there is one for all that have it."""
    numbers = {signature: k for k, signature in enumerate(dict.fromkeys(kernels.values()))}
    entries = [
        f"define i32 @{symbol}.arrays(ptr %inputs, ptr %outputs) noinline nounwind {{\n"
        f"  %refused = tail call i32 @enter{numbers[signature]}(ptr %inputs, ptr %outputs, ptr @{symbol})\n"
        "  ret i32 %refused\n}\n"
        for symbol, signature in kernels.items()
    ]
    return "\n".join([*(_emit_enter(f"enter{k}", signature) for signature, k in numbers.items()), *entries])


def _emit_enter(name: str, signature: Signature) -> str:
    """LLVM text of `i32 name(ptr inputs, ptr outputs, ptr kernel)`; the outputs are the caller's own, not checked."""
    n_in, n_out = len(signature.in_sizes), signature.n_out
    lines = [
        f"define internal i32 @{name}(ptr %inputs, ptr %outputs, ptr %kernel) noinline nounwind {{",
        *_load("%inputs", "count", TUPLE_SIZE, "i64"),
        f"  %right_count = icmp eq i64 %count, {n_in}",
        "  br i1 %right_count, label %check0, label %refuse",
    ]
    for k, size in enumerate(signature.in_sizes):
        lines += [
            f"check{k}:",
            *_load("%inputs", f"a{k}", TUPLE_ITEMS + 8 * k, "ptr"),
            f"  %fits{k} = call i1 @fits(ptr %a{k}, i64 {size}, i64 {-1 if k == signature.longer else size})",
            f"  br i1 %fits{k}, label %check{k + 1}, label %refuse",
        ]
    lines += [f"check{n_in}:"]
    for k in range(n_out):
        lines += _load("%outputs", f"o{k}", TUPLE_ITEMS + 8 * k, "ptr")
        lines += _load(f"%o{k}", f"out{k}", DATA, "ptr")
    for k in range(n_in):
        lines += _load(f"%a{k}", f"in{k}", DATA, "ptr")
    data = ", ".join([f"ptr %in{k}" for k in range(n_in)] + [f"ptr %out{k}" for k in range(n_out)])
    lines += [f"  call void %kernel({data})", "  ret i32 0", "refuse:", "  ret i32 1", "}\n"]
    return "\n".join(lines)


def _load(base: str, name: str, offset: int, kind: str) -> list[str]:
    return [f"  %at_{name} = getelementptr i8, ptr {base}, i64 {offset}", f"  %{name} = load {kind}, ptr %at_{name}"]


# Whether something is an array, of float64, one-dimensional, plain and not shorter or longer than allowed. One function
# for all inputs of all entries: written out in each, this was most of a small module's code.
_FITS = "\n".join(
    [
        "define internal i1 @fits(ptr %array, i64 %least, i64 %most) noinline nounwind {",
        f"  %ndarray = load ptr, ptr @{KNOWN}",
        f"  %float64 = load ptr, ptr getelementptr (ptr, ptr @{KNOWN}, i64 1)",
        *_load("%array", "type", TYPE, "ptr"),
        "  %is_array = icmp eq ptr %type, %ndarray",
        "  br i1 %is_array, label %fields, label %refuse",
        "fields:",
        *_load("%array", "description", DESCRIPTION, "ptr"),
        *_load("%array", "rank", N_DIMENSIONS, "i32"),
        *_load("%array", "flags", FLAGS, "i32"),
        f"  %plain = and i32 %flags, {PLAIN}",
        "  %is_float = icmp eq ptr %description, %float64",
        "  %is_vector = icmp eq i32 %rank, 1",
        f"  %is_plain = icmp eq i32 %plain, {PLAIN}",
        "  %both = and i1 %is_float, %is_vector",
        "  %all = and i1 %both, %is_plain",
        "  br i1 %all, label %length, label %refuse",
        "length:",
        *_load("%array", "dimensions", DIMENSIONS, "ptr"),
        "  %count = load i64, ptr %dimensions",
        "  %enough = icmp uge i64 %count, %least",
        "  %no_more = icmp ule i64 %count, %most",
        "  %fits = and i1 %enough, %no_more",
        "  ret i1 %fits",
        "refuse:",
        "  ret i1 0",
        "}\n",
    ]
)


@functools.cache
def is_readable() -> bool:
    """Whether the fields lie where this module expects them, tried on an array and a tuple."""
    probe = np.arange(7.0)
    pair = (probe, probe)
    if Array.__basicsize__ < FLAGS + 4 or object.__basicsize__ != DATA:
        return False
    expected: list[tuple[int, Any, int]] = [
        (id(probe) + TYPE, ctypes.c_void_p, id(Array)),
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


_empty = np.empty
_loops: list[MachineCode] = []


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A function in machine code, void f(double* in0, ..., double* out0, ...).

    Inputs and outputs are flat: the nonzeros of the traced function, column by column. An output may be
    one of the inputs. Calls may run in several threads at once.

    Attributes:
        longer: number of the input that has a run's table behind it: an array as `KernelModule.prepare` gives.
    """

    name: str
    address: int
    in_sizes: tuple[int, ...]
    out_sizes: tuple[int, ...]
    in_names: tuple[str, ...]
    _machine: MachineCode = field(repr=False)
    _run: Callable[[int, int], int] | None = field(repr=False)
    longer: int | None = None

    def __call__(self, *arrays: Any) -> Any:
        """New flat arrays, one per output (the array itself if there is one output)."""
        run, sizes = self._run, self.out_sizes
        results = (_empty(sizes[0]),) if len(sizes) == 1 else tuple([_empty(size) for size in sizes])
        # Machine code looks at the arrays itself; what it refuses is made plain first.
        if run is None or run(id(arrays), id(results)):
            plain = self._make_plain(arrays)
            if run is not None:
                run(id(plain), id(results))
            else:
                pointers = [array.ctypes.data for array in (*plain, *results)]
                ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(self.address)(*pointers)
        return results[0] if len(sizes) == 1 else results

    def _make_plain(self, arrays: tuple[Any, ...]) -> tuple[Array, ...]:
        """Inputs of any kind as plain vectors; an error names the one that does not fit."""
        n, names = len(self.in_sizes), ", ".join(self.in_names)
        if len(arrays) != n:
            raise ValueError(f"{self.name} takes {n} inputs ({names}), not {len(arrays)}")
        plain = tuple([np.array(array, dtype=np.float64).ravel(order="F") for array in arrays])
        for k, (size, array) in enumerate(zip(self.in_sizes, plain, strict=True)):
            if array.size < size or (array.size > size and k != self.longer):
                raise ValueError(f"{self.name}: input {self.in_names[k]} has {size} entries, not {array.size}")
        return plain

    def call_rows(self, *tables: Array) -> tuple[Array, ...]:
        """One call a row of the tables, (n, size) each; a table an output. Machine code writes straight into them."""
        if self.longer is not None:
            raise ValueError(f"{self.name} has a run's table after an input: call it row by row")
        inputs = [np.ascontiguousarray(table, np.float64) for table in tables]
        if tuple(table.shape[1:] for table in inputs) != tuple((size,) for size in self.in_sizes):
            raise ValueError(f"{self.name} takes rows of {self.in_sizes} entries, not {[t.shape[1:] for t in inputs]}")
        outputs = [np.empty((len(inputs[0]), size)) for size in self.out_sizes]
        both = [*inputs, *outputs]
        row_loop(len(both))(self.address, len(inputs[0]), *(n for t in both for n in (t.ctypes.data, t.strides[0])))
        return tuple(outputs)


@functools.cache
def row_loop(count: int) -> Callable[..., None]:
    """A loop that calls a kernel for every row of tables without coming back to Python between two rows:

    void (f, n_rows, table 0, bytes from row to row of it, table 1, ...) for kernels of so many arguments
    """
    tables = range(count)
    parameters = ", ".join(f"ptr %a{k}, i64 %s{k}" for k in tables)
    lines = [
        f"define void @rows(ptr %f, i64 %n, {parameters}) {{",
        "entry:",
        "  br label %head",
        "head:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %body ]",
        *(f"  %p{k} = phi ptr [ %a{k}, %entry ], [ %q{k}, %body ]" for k in tables),
        "  %more = icmp ult i64 %i, %n",
        "  br i1 %more, label %body, label %done",
        "body:",
        f"  call void %f({', '.join(f'ptr %p{k}' for k in tables)})",
        *(f"  %q{k} = getelementptr i8, ptr %p{k}, i64 %s{k}" for k in tables),
        "  %next = add i64 %i, 1",
        "  br label %head",
        "done:",
        "  ret void",
        "}",
    ]
    _loops.append(MachineCode(compile_objects(ModuleText("\n".join(lines), "")), ["rows"]))
    arguments = [ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * count]
    return ctypes.CFUNCTYPE(None, *arguments)(_loops[-1].address_of("rows"))


# --------------------------------------------------------------------------------------------------
# Cache entries: what of compiled kernels is kept on disk, and under which key?
#
# The key is made of the traced functions as they are given, before a program is read from them or LLVM text written:
# where code is kept, all of that is spared.


Sizes = tuple[tuple[int, ...], tuple[int, ...]]


@frozen
class ModuleFacts:
    """What those who call kernels must know of them.

    Attributes:
        n_parameters: entries of the parameter input that are the user's.
        n_prelude: entries behind them that depend on parameters alone, filled in by `KernelModule.prepare`.
        width: of the rows of the table that is given with each run, 0 without one: see `rows.py`.
        deciding: entries of the parameter input, prelude included, that drives depend on.
        kinds, n_conditions, omitted, work, entries: of `conditions.Conditions`.
    """

    n_parameters: int = 0
    n_prelude: int = 0
    width: int = 0
    deciding: tuple[int, ...] = ()
    kinds: tuple[int, ...] = ()
    n_conditions: int = 0
    omitted: int = 0
    work: int = 0
    entries: tuple[int, ...] = ()


@frozen
class Code(ModuleFacts):
    """Object files of kernels k0, k1, ...

    Attributes:
        sizes: of inputs and outputs of each; reads_rows: whether each reads the table of a run.
        others: names of kernels that are none of the functions; behind them stands the prelude, if there is one.
    """

    machine: tuple[bytes, ...] = ()
    sizes: tuple[Sizes, ...] = ()
    reads_rows: tuple[bool, ...] = ()
    others: tuple[str, ...] = ()


PACKAGE = Path(__file__).parents[2]
SOURCES = (PACKAGE / "computation" / "native", PACKAGE / "base" / "symbolic")
"""Folders whose sources write the code."""


def make_key(functions: Mapping[str, ca.Function], settings: Iterable[object]) -> str:
    """Name of the code of functions, whatever it depends on; tables are named in the functions by their content."""
    traced = [text for name, function in functions.items() for text in (name, function.serialize())]
    return cache.key_of([*traced, *map(repr, settings), *circumstances(), *_makers()])


@functools.cache
def _makers() -> tuple[str, ...]:
    """What makes the code: the sources of this package, and Python and numpy, whose arrays it reads."""
    sources = [path.read_text(encoding="utf-8") for folder in SOURCES for path in sorted(folder.glob("*.py"))]
    # Where there are none to compare, what this process makes is not taken for what another one made.
    return (cache.key_of(sources or [os.urandom(16).hex()]), sys.version, np.__version__)


def load_code(key: str) -> Code | None:
    """The code kept under a key."""
    content = cache.load(key)
    if content is None:
        return None
    # A line of facts, then the object files.
    head, _, files = content.partition(b"\n")
    facts = json.loads(head)
    ends = [0, *accumulate(facts.pop("lengths"))]
    machine = tuple(files[begin:end] for begin, end in pairwise(ends))
    sizes = tuple((tuple(inputs), tuple(outputs)) for inputs, outputs in facts.pop("sizes"))
    facts = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    return Code(machine=machine, sizes=sizes, **facts)


def save_code(key: str, code: Code) -> None:
    """Keep code, where the disk allows it."""
    facts = {name: value for name, value in code.__dict__.items() if name != "machine"}
    facts["lengths"] = [len(part) for part in code.machine]
    cache.save(key, json.dumps(facts).encode() + b"\n" + b"".join(code.machine))


# --------------------------------------------------------------------------------------------------
# Modules: kernels that are compiled together.


class Origin(NamedTuple):
    """Where kernels come from: the key of their code in the cache, the names of the inputs of each, and the number of
    the input behind which the run's table stands."""

    key: str
    labels: Mapping[str, tuple[str, ...]]
    row_input: int


@frozen
class KernelModule(ModuleFacts):
    """Kernels compiled together, which share one prelude.

    Attributes:
        data: numbers of the run's table; the same code serves any data of its width.
        origin: where it can be had again: as such it is pickled.
    """

    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    _prelude: Kernel | None = field(default=None, repr=False)
    data: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    origin: Origin | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is None or not self.origin.key:
            raise TypeError("machine code that is not in the cache cannot be pickled")
        return load_module, (self.origin, self.data)

    @property
    def prelude_address(self) -> int:
        """The address of void f(double* parameters, double* prelude), 0 where nothing depends on parameters alone."""
        return self._prelude.address if self._prelude else 0

    def prepare(self, parameters: Any) -> Array:
        """The array to pass as the parameter input: [parameters, prelude(parameters), data]."""
        flat = np.array(parameters, dtype=np.float64).ravel(order="F")
        if flat.size != self.n_parameters:
            raise ValueError(f"there are {self.n_parameters} parameters, not {flat.size}")
        check_rows(self.data, self.width)
        parts = [flat] if self._prelude is None else [flat, self._prelude(flat)]
        return np.concatenate([*parts, self.data]) if self.width else np.concatenate(parts)

    def prepare_rows(self, parameters: Array) -> Array:
        """The prepared parameters of many runs, (n, n_parameters), without the data, which all share."""
        return parameters if self._prelude is None else np.hstack([parameters, *self._prelude.call_rows(parameters)])


@frozen
class LaneModule:
    """Machine addresses of functions of several lanes, valid as long as this object lives."""

    addresses: Mapping[str, int]
    lanes: int
    _machine: MachineCode = field(repr=False)


def load_module(origin: Origin, data: Array) -> KernelModule:
    """Kernels from the cache.

    Raises:
        LookupError: where they are no longer there.
    """
    code = load_code(origin.key)
    if code is None:
        raise LookupError(f"there is no code under {origin.key}")
    return link(code, origin, data)


def link(code: Code, origin: Origin, data: Array) -> KernelModule:
    """Kernels by name, ready to be called; the one without a name is the prelude."""
    entries = [f"k{k}{kind}" for k in range(len(code.sizes)) for kind in ("", ".arrays")]
    machine = MachineCode(code.machine, [KNOWN, *entries])
    signature = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    # The table of known objects belongs to this process: it is filled in after loading.
    if is_readable():
        introduce(machine.address_of(KNOWN))
    kernels = {}
    for k, (name, sizes) in enumerate(zip(origin.labels, code.sizes, strict=True)):
        run = signature(machine.address_of(f"k{k}.arrays")) if is_readable() else None
        names = origin.labels[name][: len(sizes[0])]
        longer = origin.row_input if code.reads_rows[k] else None
        kernels[name] = Kernel(name, machine.address_of(f"k{k}"), *sizes, names, machine, run, longer)
    facts = {fact.name: getattr(code, fact.name) for fact in fields(ModuleFacts)}
    return KernelModule(**facts, kernels=kernels, _prelude=kernels.pop("", None), data=data, origin=origin)
