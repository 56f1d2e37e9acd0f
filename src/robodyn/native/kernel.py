"""Kernels: how is a traced function called at machine speed?"""

import ctypes
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from robodyn.native import kept
from robodyn.native.arrays import KNOWN, introduce, is_readable
from robodyn.native.bends import BENT, find_bends
from robodyn.native.drives import deciding_parameters, find_drives
from robodyn.native.elementary import inline_elementary, inline_some
from robodyn.native.emit import emit_lanes, emit_module, reads_rows
from robodyn.native.families import gather_families
from robodyn.native.fusion import fuse
from robodyn.native.kept import Code, Sizes
from robodyn.native.machine import QUICK, Machine, compile_objects, optimisation, vector_length
from robodyn.native.portable import make_portable
from robodyn.native.prelude import separate_prelude
from robodyn.native.program import Program
from robodyn.native.reciprocals import share_reciprocals
from robodyn.native.row_loop import row_loop
from robodyn.native.rows import check_rows
from robodyn.native.sweeps import Sweep
from robodyn.waiting import told_if_slow

_empty = np.empty
DRIVES, BENDS, TIME_INPUT, STATE_INPUT = "drives", "bends", 0, 1

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


@dataclass(frozen=True)
class KernelModule:
    """Kernels compiled together, which share one prelude.

    Attributes:
        n_parameters: entries of the parameter input that are the user's.
        n_prelude: entries behind them that depend on parameters alone, filled in by `prepare`.
        deciding: entries of the parameter input, prelude included, that drives depend on.
        width: of the rows of the table that is given with each run, 0 without one; data: its numbers, see
            `robodyn.native.rows`. The same code serves any data of this width.
    """

    kernels: Mapping[str, Kernel]
    n_parameters: int = 0
    n_prelude: int = 0
    _prelude: Kernel | None = field(default=None, repr=False)
    width: int = 0
    data: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    deciding: tuple[int, ...] = ()

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


@told_if_slow("compiling native code")
def compile_kernels(
    functions: Mapping[str, ca.Function | Sweep],
    parameter_input: int | None = None,
    *,
    cache: bool = True,
    quick: bool = False,
    inexact: Collection[str] = (),
    loose: Mapping[str, int] | None = None,
    plain: bool = False,
    driven: Collection[str] = (),
    rare: Collection[str] = (),
    on_compile: Callable[[str], None] | None = None,
    data: np.ndarray | None = None,
) -> KernelModule:
    """Machine code of several functions.

    Args:
        functions: traced ones, and sweeps, whose kernels give a whole matrix column by column.
        parameter_input: number of the input that holds the parameters, the same in all functions; what
            depends on it alone is computed by `KernelModule.prepare`, whose result is passed in its place.
        cache: whether to look for earlier machine code on disk and to save it there.
        quick: whether to compile fast, for code that is called a few times only.
        inexact: names of functions made faster at the price of their last digits: by reciprocals, and elementary
            functions by arithmetic.
        loose: name of a function -> entry of its first output from which on elementary functions are by arithmetic.
        plain: whether every operation is rounded by itself, and no function is the C library's: the same bits on
            every platform.
        driven: names of functions, of time and states first, whose drives become a kernel `drives`, and the bends of
            some a kernel `bends`: see `robodyn.native.drives`, `robodyn.native.bends`.
        rare: names of functions that are seldom called: what they alone need is compiled fast.
        on_compile: called with a sentence before a compilation that no cache could spare.
        data: numbers of the run's table, where the functions read one.
    """
    traced, settings = _settle(functions, parameter_input, optimisation(quick), inexact, loose, plain, driven, rare)
    key = kept.make_key(traced, [settings]) if cache else ""
    code = kept.load(key) if cache else None
    if code is None:
        # Everything that the code depends on is in the key: what is found under it need not be read or written again.
        code = _make_code(traced, settings, on_compile)
        if cache:
            kept.save(key, code)
    labels = {name: tuple(function.name_in()) for name, function in traced.items()}
    labels |= dict.fromkeys((DRIVES, BENDS), labels[settings.driven[0]]) if driven else {}
    kernels = _link(code, labels | ({"": ("parameters",)} if code.n_prelude else {}), parameter_input or 0)
    prelude = kernels.pop("", None)
    given = np.zeros(0) if data is None else data
    return KernelModule(kernels, code.n_parameters, code.n_prelude, prelude, code.width, given, code.deciding)


def compile_lanes(
    functions: Mapping[str, ca.Function | Sweep],
    parameter_input: int,
    lanes: int,
    *,
    inexact: Collection[str] = (),
    loose: Mapping[str, int] | None = None,
    plain: bool = False,
    driven: Collection[str] = (),
    rare: Collection[str] = (),
) -> LaneModule:
    """Machine code of several functions that computes several robots a call, to the same bits: see
    `robodyn.native.lanes`. Arguments as of `compile_kernels`; what is rarely called, and sweeps, are left out."""
    traced, settings = _settle(
        functions, parameter_input, optimisation(quick=False), inexact, loose, plain, driven, rare
    )
    kept_names = [name for name in traced if name not in {*settings.swept, *settings.rare}]
    key = kept.make_key(traced, [settings, lanes])
    code = kept.load(key)
    if code is None:
        programs, n_parameters, n_prelude, width = _make_programs(traced, settings)
        text = emit_lanes({k: programs[name] for k, name in enumerate(kept_names)}, lanes, parameter_input)
        code = Code(compile_objects(text, settings.level), (), (), n_parameters, n_prelude, width)
        kept.save(key, code)
    machine = Machine(*code.machine)
    return LaneModule({name: machine.address_of(f"k{k}") for k, name in enumerate(kept_names)}, lanes, machine)


@dataclass(frozen=True)
class _Settings:
    """How to compile: names of swept and of inexact functions, and the options of `compile_kernels`."""

    swept: tuple[str, ...]
    inexact: tuple[str, ...]
    loose: tuple[tuple[str, int], ...]
    plain: bool
    driven: tuple[str, ...]
    rare: tuple[str, ...]
    parameter_input: int | None
    level: int


def _settle(
    functions: Mapping[str, ca.Function | Sweep],
    parameter_input: int | None,
    level: int,
    inexact: Collection[str],
    loose: Mapping[str, int] | None,
    plain: bool,
    driven: Collection[str],
    rare: Collection[str],
) -> tuple[dict[str, ca.Function], _Settings]:
    """The traced functions, and the options that concern them."""
    traced = {name: f.function if isinstance(f, Sweep) else f for name, f in functions.items()}
    swept = tuple(name for name, function in functions.items() if isinstance(function, Sweep))
    chosen, seldom = (tuple(name for name in traced if name in names) for names in (inexact, rare))
    entries = tuple((name, first) for name, first in (loose or {}).items() if name in traced)
    return traced, _Settings(swept, chosen, entries, plain, tuple(driven), seldom, parameter_input, level)


def _make_code(
    functions: Mapping[str, ca.Function], settings: _Settings, on_compile: Callable[[str], None] | None
) -> Code:
    """Read, improve, separate the prelude, write, compile."""
    programs, n_parameters, n_prelude, width = _make_programs(functions, settings)
    if on_compile is not None:
        n_operations = sum(program.n_operations for program in programs.values())
        on_compile(f"compiling {len(programs)} functions of {n_operations} operations")
    places = [k for k, name in enumerate(programs) if name in settings.swept]
    seldom = [k for k, name in enumerate(programs) if name in settings.rare]
    text = emit_module(
        programs.values(),
        swept=places,
        row_input=settings.parameter_input or 0,
        rare=seldom,
        longest=vector_length() if settings.level > QUICK else 1,
    )
    sizes = tuple(_sizes(program, name in settings.swept) for name, program in programs.items())
    rows = tuple(reads_rows(program) for program in programs.values())
    decide = deciding_parameters(programs[DRIVES], settings.parameter_input) if DRIVES in programs else ()
    return Code(compile_objects(text, settings.level), sizes, rows, n_parameters, n_prelude, width, decide)


def _make_programs(
    functions: Mapping[str, ca.Function], settings: _Settings
) -> tuple[dict[str, Program], int, int, int]:
    """The programs of the functions, of their drives and bends and of the prelude, which has no name; the numbers of
    parameters and of what the prelude gives, and the width of the run's table."""
    families = gather_families(functions, settings.inexact, settings.parameter_input)
    wholes = {name: family.read() for name, family in families.items()}
    if settings.plain:
        wholes = {name: make_portable(whole) for name, whole in wholes.items()}
    else:
        wholes = {
            name: improve_program(whole, name in settings.inexact, families[name].find_entries(settings.loose))
            for name, whole in wholes.items()
        }
    width, n_parameters, prelude = _common_width(wholes, settings.parameter_input), 0, None
    # What parameters alone decide is computed once a run, not once a call.
    if settings.parameter_input is not None:
        wholes, prelude, n_parameters = separate_prelude(wholes, settings.parameter_input)
    split = [family.split(wholes[name], settings.parameter_input) for name, family in families.items()]
    programs = {name: program for part in split for name, program in part.items()}
    programs = {name: programs[name] for name in functions}
    if prelude and settings.driven and settings.parameter_input is not None:
        driven = [programs[name] for name in settings.driven]
        programs[DRIVES] = find_drives(driven, TIME_INPUT, settings.parameter_input)
        programs[BENDS] = find_bends([programs[name] for name in settings.driven if name in BENT], STATE_INPUT)
    n_prelude = prelude.out_sizes[0] if prelude else 0
    if prelude and n_prelude:
        programs[""] = prelude
    return programs, n_parameters, n_prelude, width


def _common_width(programs: Mapping[str, Program], parameter_input: int | None) -> int:
    """Width of the rows of the run's table, which all functions share; 0 where none reads it."""
    widths = {node[1] for program in programs.values() for node in program.nodes if node[0] == "seek"}
    if len(widths) > 1:
        raise ValueError(f"the run's table must have one width in all functions, not {sorted(widths)}")
    if widths and parameter_input is None:
        raise ValueError("the run's table stands behind the parameters: say which input they are")
    return widths.pop() if widths else 0


def improve_program(program: Program, inexact: bool, loose: Iterable[tuple[int, int]] = ()) -> Program:
    """The same program, faster, with other last digits.

    Args:
        inexact: whether those of all entries may be wrong.
        loose: outputs, and the entry of each from which on they may.
    """
    if inexact:
        return fuse(share_reciprocals(inline_elementary(program)))
    for output, first in loose:
        program = inline_some(program, output, first)
    return fuse(program)


def _link(code: Code, labels: Mapping[str, tuple[str, ...]], row_input: int) -> dict[str, Kernel]:
    """Kernels by name, ready to be called.

    Args:
        labels: names of the inputs of each; row_input: number of the input behind which the run's table stands.
    """
    machine = Machine(*code.machine)
    signature = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    direct = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    # The table of known objects belongs to this process: it is filled in after loading.
    if is_readable():
        introduce(machine.address_of_data(KNOWN))
    kernels = {}
    for k, (name, sizes) in enumerate(zip(labels, code.sizes, strict=True)):
        run = signature(machine.address_of(f"k{k}.frame"))
        address = machine.address_of(f"k{k}")
        entry = direct(machine.address_of(f"k{k}.arrays")) if is_readable() else None
        names = labels[name][: len(sizes[0])]
        longer = row_input if code.reads_rows[k] else None
        kernels[name] = Kernel(name, address, *sizes, names, machine, run, entry, longer=longer)
    return kernels


def _sizes(program: Program, swept: bool) -> Sizes:
    """Of inputs and outputs; a sweep takes no seed and gives all columns."""
    if not swept:
        return program.in_sizes, program.out_sizes
    return program.in_sizes[:-1], (program.out_sizes[0] * program.in_sizes[-1],)
