"""Kernels: how is a traced function called at machine speed?"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from robodyn.native import cache_entry
from robodyn.native.arrays import KNOWN, introduce, is_readable
from robodyn.native.cache_entry import Code
from robodyn.native.machine import Machine
from robodyn.native.row_loop import row_loop
from robodyn.native.rows import check_rows

_empty = np.empty

# Memory for one call under way: views of the inputs, outputs, and the address of all.
_Frame = tuple[tuple[memoryview, ...], tuple[np.ndarray, ...], ctypes.c_void_p]


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
    _machine: Machine = field(repr=False)
    _run: Callable[[ctypes.c_void_p], None] = field(repr=False)
    _run_arrays: Callable[[int, int], int] | None = field(repr=False)
    _frames: list[_Frame] = field(repr=False, default_factory=list)
    longer: int | None = None

    def __call__(self, *arrays: Any) -> Any:
        """New flat arrays, one per output (the array itself if there is one output)."""
        # Machine code looks at the arrays itself; what it refuses is copied first.
        run = self._run_arrays
        if run is not None:
            sizes = self.out_sizes
            results = (_empty(sizes[0]),) if len(sizes) == 1 else tuple([_empty(size) for size in sizes])
            if run(id(arrays), id(results)) == 0:
                return results[0] if len(sizes) == 1 else results
        return self._call_copied(arrays)

    def call_rows(self, *tables: np.ndarray) -> tuple[np.ndarray, ...]:
        """One call a row of the tables, (n, size) each; a table an output. Machine code writes straight into them."""
        if self.longer is not None:
            raise ValueError(f"{self.name} has a run's table behind an input: call it row by row")
        given = [np.ascontiguousarray(table, np.float64) for table in tables]
        if tuple(table.shape[1:] for table in given) != tuple((size,) for size in self.in_sizes):
            raise ValueError(f"{self.name} takes rows of {self.in_sizes} entries, not {[t.shape[1:] for t in given]}")
        found = [np.empty((len(given[0]), size)) for size in self.out_sizes]
        both = [*given, *found]
        row_loop(len(both))(self.address, len(given[0]), *(n for t in both for n in (t.ctypes.data, t.strides[0])))
        return tuple(found)

    def _call_copied(self, arrays: tuple[Any, ...]) -> Any:
        """The same for inputs of any kind, through memory of our own."""
        if self.longer is not None:
            return self._call_plain(arrays)
        try:
            # A frame belongs to one call, from pop to append, each of which is atomic.
            frame = self._frames.pop()
        except IndexError:
            frame = self._new_frame()
        inputs, outputs, pointer = frame
        self._fill(inputs, arrays)
        self._run(pointer)
        copies = tuple([output.copy() for output in outputs])
        self._frames.append(frame)
        return copies[0] if len(copies) == 1 else copies

    def _call_plain(self, arrays: tuple[Any, ...]) -> Any:
        """The same where one input is longer than the code knows."""
        flat = [np.array(array, dtype=np.float64).ravel(order="F") for array in arrays]
        sizes = [array.size for array in flat]
        if self.longer is not None and len(sizes) > self.longer:
            sizes[self.longer] = min(sizes[self.longer], self.in_sizes[self.longer])
        if tuple(sizes) != self.in_sizes:
            raise ValueError(f"{self.name} takes inputs of {self.in_sizes} entries, not {[a.size for a in flat]}")
        results = [np.empty(size) for size in self.out_sizes]
        pointers = [array.ctypes.data for array in (*flat, *results)]
        ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(self.address)(*pointers)
        return results[0] if len(results) == 1 else tuple(results)

    def _new_frame(self) -> _Frame:
        sizes = self.in_sizes + self.out_sizes
        memory = np.zeros(sum(sizes) + 1)
        views = np.split(memory[:-1], np.cumsum(sizes)[:-1])
        n_in = len(self.in_sizes)
        inputs = tuple(view.data for view in views[:n_in])
        return inputs, tuple(views[n_in:]), ctypes.c_void_p(memory.ctypes.data)

    def _fill(self, inputs: tuple[memoryview, ...], arrays: tuple[Any, ...]) -> None:
        """Copies inputs of any kind; an error names the input that does not fit."""
        if len(arrays) != len(inputs):
            raise ValueError(f"{self.name} takes {len(inputs)} inputs ({', '.join(self.in_names)}), not {len(arrays)}")
        for name, view, array in zip(self.in_names, inputs, arrays, strict=True):
            flat = np.asarray(array, dtype=np.float64).ravel(order="F")
            if flat.size != len(view):
                raise ValueError(f"{self.name}: input {name} has {len(view)} entries, not {flat.size}")
            view[:] = flat.data


class Origin(NamedTuple):
    """Where kernels come from: the key of their code in the cache, the names of the inputs of each, and the number of
    the input behind which the run's table stands."""

    key: str
    labels: Mapping[str, tuple[str, ...]]
    row_input: int


@dataclass(frozen=True)
class KernelModule:
    """Kernels compiled together, which share one prelude.

    Attributes:
        n_parameters: entries of the parameter input that are the user's.
        n_prelude: entries behind them that depend on parameters alone, filled in by `prepare`.
        deciding: entries of the parameter input, prelude included, that drives depend on.
        kinds, n_conditions, omitted, work, entries: of `robodyn.native.conditions.Conditions`.
        width: of the rows of the table that is given with each run, 0 without one; data: its numbers, see
            `robodyn.native.rows`. The same code serves any data of this width.
        origin: where it can be had again: as such it is pickled.
    """

    kernels: Mapping[str, Kernel]
    n_parameters: int = 0
    n_prelude: int = 0
    _prelude: Kernel | None = field(default=None, repr=False)
    width: int = 0
    data: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    deciding: tuple[int, ...] = ()
    kinds: tuple[int, ...] = ()
    n_conditions: int = 0
    omitted: int = 0
    work: int = 0
    entries: tuple[int, ...] = ()
    origin: Origin | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is None or not self.origin.key:
            raise TypeError("machine code that is not in the cache cannot be pickled")
        return load_module, (self.origin, self.data)

    @property
    def prelude_address(self) -> int:
        """Of void f(double* parameters, double* prelude), 0 where nothing depends on parameters alone."""
        return self._prelude.address if self._prelude else 0

    def prepare(self, parameters: Any) -> np.ndarray:
        """The array to pass as the parameter input: [parameters, prelude(parameters), data]."""
        flat = np.array(parameters, dtype=np.float64).ravel(order="F")
        if flat.size != self.n_parameters:
            raise ValueError(f"there are {self.n_parameters} parameters, not {flat.size}")
        check_rows(self.data, self.width)
        parts = [flat] if self._prelude is None else [flat, self._prelude(flat)]
        return np.concatenate([*parts, self.data]) if self.width else np.concatenate(parts)

    def prepare_rows(self, parameters: np.ndarray) -> np.ndarray:
        """The same of many runs, (n, n_parameters), without the data, which all share."""
        return parameters if self._prelude is None else np.hstack([parameters, *self._prelude.call_rows(parameters)])


@dataclass(frozen=True)
class LaneModule:
    """Machine addresses of functions of several lanes, valid as long as this object lives."""

    addresses: Mapping[str, int]
    lanes: int
    _machine: Machine = field(repr=False)


def load_module(origin: Origin, data: np.ndarray) -> KernelModule:
    """Kernels from the cache.

    Raises:
        LookupError: where they are no longer there.
    """
    code = cache_entry.load(origin.key)
    if code is None:
        raise LookupError(f"there is no code under {origin.key}")
    return link(code, origin, data)


def link(code: Code, origin: Origin, data: np.ndarray) -> KernelModule:
    """Kernels by name, ready to be called; the one without a name is the prelude."""
    entries = [f"k{k}{kind}" for k in range(len(code.sizes)) for kind in ("", ".frame", ".arrays")]
    machine = Machine(code.machine, [KNOWN, *entries])
    signature = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    direct = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    # The table of known objects belongs to this process: it is filled in after loading.
    if is_readable():
        introduce(machine.address_of(KNOWN))
    kernels = {}
    for k, (name, sizes) in enumerate(zip(origin.labels, code.sizes, strict=True)):
        run = signature(machine.address_of(f"k{k}.frame"))
        address = machine.address_of(f"k{k}")
        entry = direct(machine.address_of(f"k{k}.arrays")) if is_readable() else None
        names = origin.labels[name][: len(sizes[0])]
        longer = origin.row_input if code.reads_rows[k] else None
        kernels[name] = Kernel(name, address, *sizes, names, machine, run, entry, longer=longer)
    sizes_of_p = (code.n_parameters, code.n_prelude)
    return KernelModule(
        kernels,
        *sizes_of_p,
        kernels.pop("", None),
        code.width,
        data,
        code.deciding,
        kinds=code.kinds,
        n_conditions=code.n_conditions,
        omitted=code.omitted,
        work=code.work,
        entries=code.entries,
        origin=origin,
    )
