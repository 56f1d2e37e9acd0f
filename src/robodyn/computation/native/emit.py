"""LLVM code generation: what is the LLVM text of a program?

Every program becomes `void f(double* in0, ..., double* out0, ...)`. Outputs are written after everything
has been read, so an output may be one of the inputs. There are no fast-math flags: results follow
IEEE 754 and the C library. Text is written directly, which is many times faster than building it object
by object.
"""

import functools
from collections.abc import Collection, Iterable, Mapping

from robodyn.base.symbolic import tables

from .bundles import BundleWriter
from .derivatives import emit_sweep
from .instructions import CALLS, Writer, declare, literal
from .kernel import Signature, emit_array_entries, emit_known
from .lanes import (
    CommonWriter,
    LaneWriter,
    SideWriter,
    declare_vectors,
    emit_dispatch,
    find_common,
)
from .pieces import (
    PIECE_SIZE,
    WIDE_REGISTERS,
    ModuleText,
    alike_input,
    apart_inputs,
    emit_function,
    emit_together,
    entries_of,
    order_operations,
    pointers_of,
)
from .program import Program
from .rows import SEEK

CHUNK_SIZE = 6000
# Without optimisation, half the time where most is shared and functions are short: what they call costs them little.
QUICK_CHUNK_SIZE = 1000
# Parts of a program that do not depend on each other are computed in turns up to this size: processors look ahead by
# some hundred instructions only. Longer ones would run out of registers.
ABREAST_SIZE = 1000

# Index of the last knot at or below x, by halving: it is one of the `length` knots from `first` on.
_SEARCH = """
define internal i64 @locate(ptr %knots, i64 %n, double %x) noinline nounwind memory(argmem: read) {
entry:
  br label %test
test:
  %first = phi i64 [0, %entry], [%next, %step]
  %length = phi i64 [%n, %entry], [%rest, %step]
  %more = icmp ugt i64 %length, 1
  br i1 %more, label %step, label %done
step:
  %half = lshr i64 %length, 1
  %middle = add i64 %first, %half
  %place = getelementptr double, ptr %knots, i64 %middle
  %knot = load double, ptr %place
  %below = fcmp ole double %knot, %x
  %next = select i1 %below, i64 %middle, i64 %first
  %rest = sub i64 %length, %half
  br label %test
done:
  ret i64 %first
}
"""


def emit_module(
    programs: Iterable[Program],
    chunk_size: int = CHUNK_SIZE,
    swept: Collection[int] = (),
    row_input: int = 0,
    rare: Collection[int] = (),
    longest: int = 1,
) -> ModuleText:
    """LLVM text of programs; program 3 becomes function `k3`, and `k3.arrays` that is called from Python.

    Args:
        swept: numbers of programs whose last input is a seed: called for each unit vector, they give a matrix.
        row_input: number of the input behind which the run's table stands, if there is one.
        rare: numbers of programs that are seldom called.
        longest: most operations that one instruction computes: see `robodyn.computation.native.bundles`.
    """
    numbered = dict(enumerate(programs))
    symbols = {k: f"k{k}.column" if k in swept else f"k{k}" for k in numbered}
    make_writer = functools.partial(BundleWriter, longest) if longest > 1 else Writer
    # Short programs are one function; long ones are cut, since register allocation takes quadratic time.
    long = {k: program for k, program in numbered.items() if program.n_operations > chunk_size}
    bodies = [
        _emit_whole(symbols[k], program, make_writer(program, {}, row_input))
        for k, program in numbered.items()
        if k not in long
    ]
    shared = (
        emit_together(long, symbols, (min(chunk_size, PIECE_SIZE), row_input), rare) if long else ModuleText("", "")
    )
    bodies.append(_emit_entries(numbered, swept, row_input))
    head = _emit_head(numbered.values()) + "".join(map(declare_vectors, range(2, longest + 1)))
    rarely = head + shared.rarely if shared.rarely else ""
    return ModuleText("\n".join([emit_known(), head, shared.often, *bodies]), rarely)


def emit_lanes(
    programs: Mapping[int, Program],
    lanes: int,
    row_input: int,
    chunk_size: int = CHUNK_SIZE,
    side_by_side: Collection[int] = (),
) -> ModuleText:
    """LLVM text of programs that compute several robots at once; program 3 becomes function `k3`: see
    `robodyn.computation.native.lanes`.

    Args:
        row_input: number of the input that holds the parameters.
        side_by_side: numbers of programs all of whose inputs and outputs stand side by side.
    """
    make_writer, symbols = functools.partial(LaneWriter, lanes), {k: f"k{k}" for k in programs}
    apart = {k: program for k, program in programs.items() if k not in side_by_side}
    long = {k: program for k, program in apart.items() if program.n_operations > chunk_size}
    short = {k: program for k, program in apart.items() if k not in long}
    bodies = [_emit_short(symbols[k], one, lanes, row_input) for k, one in short.items()]
    for k in side_by_side:
        writer = SideWriter(lanes, programs[k], {}, row_input)
        bodies.append(_emit_whole(symbols[k], programs[k], writer, WIDE_REGISTERS))
    settings = min(chunk_size, PIECE_SIZE), row_input
    shared = emit_together(long, symbols, settings, (), make_writer).often if long else ""
    return ModuleText("\n".join([_emit_head(programs.values()), declare_vectors(lanes), shared, *bodies]), "")


def _emit_short(symbol: str, program: Program, lanes: int, row_input: int) -> str:
    """A function of lanes in one piece; one that reads rows, also for lanes at the same place."""
    inputs, common = find_common(program, row_input)
    apart = LaneWriter(lanes, program, {}, row_input)
    if not inputs:
        return _emit_whole(symbol, program, apart)
    together = CommonWriter(lanes, program, row_input, common)
    bodies = [_emit_whole(f"{symbol}.together", program, together), _emit_whole(f"{symbol}.apart", program, apart)]
    return "".join([*bodies, emit_dispatch(symbol, program, lanes, inputs)])


def _emit_head(programs: Collection[Program]) -> str:
    """Tables, and functions that operations call."""
    nodes = [node for program in programs for node in program.nodes]
    used = {node[0] for node in nodes}
    looks_up = tables.LOCATE in used or tables.GATHER in used
    used_tables = {node[1] for node in nodes if node[0] in (tables.LOCATE, tables.GATHER)} if looks_up else set()
    parts = [_emit_table(number) for number in sorted(used_tables)]
    parts += [declare(name) for name in sorted(used & CALLS.keys())]
    parts += [_SEARCH] if used_tables else []
    parts += [SEEK] if tables.SEEK in used else []
    parts += ["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"]
    return "\n".join([*parts, ""])


def reads_rows(program: Program) -> bool:
    """Whether a program reads the table that is given with a run."""
    return any(node[0] == tables.SEEK for node in program.nodes)


def _emit_table(number: int) -> str:
    values = tables.lookup(number).values
    entries = ", ".join("double " + literal(value) for value in values)
    return f"@t{number} = private unnamed_addr constant [{len(values)} x double] [{entries}]"


def _emit_entries(programs: Mapping[int, Program], swept: Collection[int], row_input: int) -> str:
    """The ways in which programs are called from outside."""
    sweeps, signatures = [], {}
    for k, program in programs.items():
        in_sizes, n_out = program.in_sizes, len(program.outputs)
        if k in swept:
            # The last input is the seed: the loop writes one column of the matrix a call.
            *inner, n_columns = in_sizes
            (n_rows,) = program.out_sizes
            sweeps.append(emit_sweep(f"k{k}", f"k{k}.column", len(inner), n_rows, n_columns))
            in_sizes = tuple(inner)
        signatures[f"k{k}"] = Signature(in_sizes, n_out, row_input if reads_rows(program) else None)
    return "".join([*sweeps, emit_array_entries(signatures)])


def _emit_whole(symbol: str, program: Program, writer: Writer, attributes: str = "") -> str:
    writer.compute(order_operations(program.nodes, abreast=program.n_operations <= ABREAST_SIZE))
    writer.store_outputs(entries_of(program.outputs), alike_input(program), apart_inputs(program))
    return emit_function(symbol, pointers_of(program), writer.lines, attributes=attributes)
