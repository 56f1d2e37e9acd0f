"""Compilation: how do traced functions become kernels? Read, improve, separate the prelude, write, compile; or loaded
where that has been done before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import accumulate

import casadi as ca
import numpy as np

from robodyn.base import Array, frozen, report_progress

from .conditions import DRIFTS, Conditions, find_conditions
from .derivatives import Sweep
from .elementary import inline_elementary, inline_some, make_portable
from .emit import CHUNK_SIZE, QUICK_CHUNK_SIZE, emit_lanes, emit_module, reads_rows
from .fusion import fuse, share_reciprocals
from .kernel import (
    Code,
    KernelModule,
    LaneModule,
    Origin,
    Sizes,
    link,
    load_code,
    make_key,
    save_code,
)
from .machine import QUICK, MachineCode, compile_objects, optimisation, vector_length
from .prelude import (
    SUFFIX,
    deciding_parameters,
    find_time_signals,
    separate_prelude,
    separate_time,
)
from .program import Program, restrict
from .reading import read_program

DRIVES, TIME_INPUT = "drives", 0
SELDOM = (DRIFTS,)
"""What is called where bounds alone do not decide: compiled fast."""


@frozen
class Options:
    """How functions are compiled, for one robot a call or for several.

    Attributes:
        inexact: names of functions made faster at the price of their last digits: by reciprocals, and elementary
            functions by arithmetic.
        loose: name of a function and entry of its first output from which on elementary functions are by arithmetic.
        plain: whether every operation is rounded by itself, and no function is the C library's: the same bits on
            every platform.
        driven: names of functions of t, x, d, m and p whose time signals become a kernel `drives`, and whose conditions
            the kernels `conditions`, `enclosures` and `drifts`: see `prelude.py`, `conditions.py`.
        limited: states that the function `limits` gives the limits of.
        rare: names of functions that are seldom called: what they alone need is compiled fast.
        timed: names of functions that get a row of numbers for each instant instead of the time, which a kernel of
            the same name with `.rows` behind it computes: see `prelude.py`; fixed: the parameters that such rows
            may depend on. Those that are inexact have ten digits.
    """

    inexact: tuple[str, ...] = ()
    loose: tuple[tuple[str, int], ...] = ()
    plain: bool = False
    driven: tuple[str, ...] = ()
    limited: tuple[int, ...] = ()
    rare: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    fixed: tuple[int, ...] = ()


BY_DEFAULT = Options()


@report_progress("compiling native code")
def compile_kernels(
    functions: Mapping[str, ca.Function | Sweep],
    parameter_input: int | None = None,
    *,
    cache: bool = True,
    quick: bool = False,
    on_compile: Callable[[str], None] | None = None,
    data: Array | None = None,
    options: Options = BY_DEFAULT,
) -> KernelModule:
    """Machine code of several functions.

    Args:
        functions: traced ones, and sweeps, whose kernels give a whole matrix column by column.
        parameter_input: number of the input that holds the parameters, the same in all functions; what
            depends on it alone is computed by `KernelModule.prepare`, whose result is passed in its place.
        cache: whether to look for earlier machine code on disk and to save it there.
        quick: whether to compile fast, for code that is called a few times only.
        on_compile: called with a sentence before a compilation that no cache could spare.
        data: numbers of the run's table, where the functions read one.
    """
    traced, swept = _trace_all(functions)
    level = optimisation(quick)
    key = make_key(traced, [options, swept, parameter_input, level]) if cache else ""
    code = load_code(key) if cache else None
    if code is None:
        # Everything that the code depends on is in the key: what is found under it need not be read or written again.
        code = _make_code(traced, swept, parameter_input, level, options, on_compile)
        if cache:
            save_code(key, code)
    labels = {name: tuple(function.name_in()) for name, function in traced.items()}
    labels |= dict.fromkeys(code.others, next(iter(labels.values()), ()))
    labels |= {"": ("parameters",)} if code.n_prelude else {}
    return link(code, Origin(key, labels, parameter_input or 0), np.zeros(0) if data is None else data)


def compile_lanes(
    functions: Mapping[str, ca.Function | Sweep],
    parameter_input: int,
    lanes: int,
    options: Options = BY_DEFAULT,
) -> LaneModule:
    """Machine code of several functions that computes several robots a call, to the same bits: see
    `lanes.py`. Arguments as of `compile_kernels`; what is rarely called, and sweeps, are left out. Of timed functions
    all inputs and outputs stand side by side."""
    traced, swept = _trace_all(functions)
    level = optimisation(quick=False)
    names = [name for name in traced if name not in (*swept, *options.rare)]
    key = make_key(traced, [options, swept, parameter_input, level, lanes])
    code = load_code(key)
    if code is None:
        programs = _make_programs(traced, parameter_input, options)[0]
        numbered = {k: programs[name] for k, name in enumerate(names)}
        side_by_side = [k for k, name in enumerate(names) if name in options.timed]
        text = emit_lanes(numbered, lanes, parameter_input, side_by_side=side_by_side)
        code = Code(machine=compile_objects(text, level))
        save_code(key, code)
    symbols = {name: f"k{k}" for k, name in enumerate(names)}
    machine = MachineCode(code.machine, symbols.values())
    return LaneModule({name: machine.address_of(symbol) for name, symbol in symbols.items()}, lanes, machine)


def _trace_all(functions: Mapping[str, ca.Function | Sweep]) -> tuple[dict[str, ca.Function], tuple[str, ...]]:
    """The traced functions, and the names of those that are swept."""
    traced = {name: f.function if isinstance(f, Sweep) else f for name, f in functions.items()}
    return traced, tuple(name for name, f in functions.items() if isinstance(f, Sweep))


def _make_code(
    functions: Mapping[str, ca.Function],
    swept: Collection[str],
    parameter_input: int | None,
    level: int,
    options: Options,
    on_compile: Callable[[str], None] | None,
) -> Code:
    """Read, improve, separate the prelude, write, compile."""
    programs, sizes_of_p, width, conditions = _make_programs(functions, parameter_input, options)
    if on_compile is not None:
        n_operations = sum(program.n_operations for program in programs.values())
        on_compile(f"compiling {len(programs)} functions of {n_operations} operations")
    text = emit_module(
        programs.values(),
        CHUNK_SIZE if level > QUICK else QUICK_CHUNK_SIZE,
        swept=[k for k, name in enumerate(programs) if name in swept],
        row_input=parameter_input or 0,
        rare=[k for k, name in enumerate(programs) if name in (*options.rare, *SELDOM)],
        longest=vector_length() if level > QUICK else 1,
    )
    sizes = tuple(_sizes(program, name in swept) for name, program in programs.items())
    rows = tuple(reads_rows(program) for program in programs.values())
    decide = deciding_parameters(programs[DRIVES], parameter_input) if DRIVES in programs else ()
    others = tuple(name for name in programs if name and name not in functions)
    objects = compile_objects(text, level)
    facts = *sizes_of_p, width, decide, *conditions[1:]
    return Code(*facts, machine=objects, sizes=sizes, reads_rows=rows, others=others)


def _make_programs(
    functions: Mapping[str, ca.Function], parameter_input: int | None, options: Options
) -> tuple[dict[str, Program], tuple[int, int], int, Conditions]:
    """The programs of the functions, of their time signals and conditions and of the prelude, which has no name; the
    numbers of parameters and of what the prelude gives, the width of the run's table, and the conditions."""
    apart = {*options.inexact, *options.timed}
    families = gather_families(functions, apart, parameter_input)
    wholes = {name: family.read() for name, family in families.items()}
    rows: dict[str, Program] = {}
    for name in options.timed:
        assert parameter_input is not None
        wholes[name], rows[name + SUFFIX] = separate_time(wholes[name], TIME_INPUT, parameter_input, options.fixed)
    conditions = Conditions({})
    if options.driven and parameter_input is not None:
        # Of the functions as they were traced: bounds of what has been made arithmetic would be wide.
        traced: dict[str, Program] = {}
        for name, family in families.items():
            traced |= family.split(wholes[name], None, options.driven)
        conditions = find_conditions({name: traced[name] for name in options.driven}, options.limited)
    others = conditions.programs | rows
    wholes |= others
    if options.plain:
        wholes = {name: make_portable(whole) for name, whole in wholes.items()}
    else:
        wholes = {
            name: improve_program(
                whole,
                name in options.inexact,
                families[name].find_entries(options.loose) if name in families else (),
                name in options.timed,
            )
            for name, whole in wholes.items()
        }
    width, n_parameters, prelude = _common_width(wholes, parameter_input), 0, None
    # What parameters alone decide is computed once a run, not once a call.
    if parameter_input is not None:
        wholes, prelude, n_parameters = separate_prelude(wholes, parameter_input)
    split = [family.split(wholes[name], parameter_input) for name, family in families.items()]
    programs = {name: program for part in split for name, program in part.items()}
    programs |= {name: wholes[name] for name in options.timed}
    programs = {name: programs[name] for name in functions} | {name: wholes[name] for name in others}
    if prelude and options.driven and parameter_input is not None:
        driven = [programs[name] for name in options.driven]
        programs[DRIVES] = find_time_signals(driven, TIME_INPUT, parameter_input)
    n_prelude = prelude.out_sizes[0] if prelude else 0
    if prelude and n_prelude:
        programs[""] = prelude
    return programs, (n_parameters, n_prelude), width, conditions


def _common_width(programs: Mapping[str, Program], parameter_input: int | None) -> int:
    """Width of the rows of the run's table, which all functions share; 0 where none reads it."""
    widths = {node[1] for program in programs.values() for node in program.nodes if node[0] == "seek"}
    if len(widths) > 1:
        raise ValueError(f"the run's table must have one width in all functions, not {sorted(widths)}")
    if widths and parameter_input is None:
        raise ValueError("the run's table stands after the parameters: name that input")
    return widths.pop() if widths else 0


def improve_program(
    program: Program, inexact: bool, loose: Iterable[tuple[int, int]] = (), rough: bool = False
) -> Program:
    """The program made faster, with other last digits.

    Args:
        inexact: whether those of all entries may be wrong; rough: all but the first ten.
        loose: outputs, and the entry of each from which on they may.
    """
    if inexact:
        return fuse(share_reciprocals(inline_elementary(program, rough)))
    for output, first in loose:
        program = inline_some(program, output, first)
    return fuse(program)


def _sizes(program: Program, swept: bool) -> Sizes:
    """The sizes of inputs and outputs; a sweep takes no seed and gives all columns."""
    if not swept:
        return program.in_sizes, program.out_sizes
    return program.in_sizes[:-1], (program.out_sizes[0] * program.in_sizes[-1],)


# --------------------------------------------------------------------------------------------------
# Families of functions: which traced functions can be read and improved as one?
#
# Functions of the same symbols share most of their graph. Read together, each shared operation is looked at once.


Inputs = list[ca.SX]


@frozen
class Family:
    """Functions of the same symbols as one.

    Attributes:
        function: with the outputs of all one after another; an input is the longest that one of them has.
        members: the functions, in order.
    """

    function: ca.Function
    members: Mapping[str, ca.Function]

    def read(self) -> Program:
        """The program of all; an error names the member."""
        try:
            return read_program(self.function)
        except ValueError:
            for member in self.members.values():
                read_program(member)
            raise

    def find_entries(self, first: Iterable[tuple[str, int]]) -> list[tuple[int, int]]:
        """Number of the first output of some functions, of those that are members, and what is said of each."""
        begins = accumulate([0, *(member.n_out() for member in self.members.values())])
        places = dict(zip(self.members, begins, strict=False))
        return [(places[name], entry) for name, entry in first if name in places]

    def split(
        self, whole: Program, parameter_input: int | None, wanted: Collection[str] | None = None
    ) -> dict[str, Program]:
        """The members' programs, or those of some, from that of all, whose parameters may have become more."""
        programs, begin = {}, 0
        for name, member in self.members.items():
            end = begin + member.n_out()
            if wanted is None or name in wanted:
                sizes = [member.nnz_in(i) if i != parameter_input else n for i, n in enumerate(whole.in_sizes)]
                programs[name] = restrict(whole, member.name(), sizes, whole.outputs[begin:end])
            begin = end
        return programs


def gather_families(
    functions: Mapping[str, ca.Function], apart: Collection[str] = (), alike: int | None = None
) -> dict[str, Family]:
    """Each function in one family, by the name of the first.

    Args:
        apart: functions with a family of their own; alike: number of the input that has the same size in all of one.
    """
    groups: dict[str, tuple[Inputs, dict[str, ca.Function]]] = {}
    for name, function in functions.items():
        symbols = function.sx_in() if function.is_a("SXFunction") and name not in apart else []
        for first, (shared, members) in groups.items():
            joined = _join(shared, symbols, alike)
            if joined:
                groups[first] = joined, members | {name: function}
                break
        else:
            groups[name] = symbols, {name: function}
    return {first: _make_family(*group) for first, group in groups.items()}


def _make_family(inputs: Inputs, members: dict[str, ca.Function]) -> Family:
    if len(members) == 1:
        return Family(next(iter(members.values())), members)
    # Called with its own symbols, a function gives its own expressions: what several share stays one.
    outputs = [output for member in members.values() for output in member.call(member.sx_in())]
    return Family(ca.Function("together", inputs, outputs), members)


def _join(shared: Inputs, own: Inputs, alike: int | None) -> Inputs | None:
    """The longer of each pair of inputs, where the shorter is the beginning of it; None where they differ."""
    if len(shared) != len(own) or not own:
        return None
    joined = []
    for i, pair in enumerate(zip(shared, own, strict=True)):
        short, long = sorted(pair, key=lambda column: column.numel())
        dense = short.is_dense() and long.is_dense() and short.is_column() and long.is_column()
        fits = long.numel() == short.numel() or i != alike
        # Nothing, of whatever shape, is the beginning of anything.
        begins = short.is_empty() or (dense and ca.is_equal(long[: short.numel()], short, 0))
        if not fits or not begins:
            return None
        joined.append(long)
    return joined
