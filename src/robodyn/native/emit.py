"""LLVM code generation: what is the LLVM text of a program?

Every program becomes `void f(double* in0, ..., double* out0, ...)`. Outputs are written after everything
has been read, so an output may share memory with an input. There are no fast-math flags: results follow
IEEE 754 and the C library. Text is written directly, which is many times faster than building it object
by object.
"""

from collections.abc import Collection, Iterable, Sequence

from robodyn.native.arrays import emit_array_entry, emit_known
from robodyn.native.instructions import CALLS, Writer, declare, literal
from robodyn.native.layout import Layout, lay_out
from robodyn.native.program import Program
from robodyn.native.rows import SEEK
from robodyn.native.sweeps import emit_sweep
from robodyn.symbolic import tables

CHUNK_SIZE = 6000
# Compiling takes half as long in pieces of this size, at the same speed; a program of one chunk is faster uncut.
PIECE_SIZE = 500

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
    programs: Iterable[Program], chunk_size: int = CHUNK_SIZE, swept: Collection[int] = (), row_input: int = 0
) -> str:
    """LLVM text of a module; program 3 becomes function `k3`, and `k3.frame` that finds all arrays in one.

    Args:
        swept: numbers of programs whose last input is a seed: called for each unit vector, they give a matrix.
        row_input: number of the input behind which the run's table stands, if there is one.
    """
    bodies: list[str] = []
    used_tables: set[int] = set()
    used_calls: set[str] = set()
    used_rows = False
    for k, program in enumerate(programs):
        emit = _emit_swept if k in swept else _emit
        bodies.append(emit(f"k{k}", program, chunk_size, row_input))
        used_rows = used_rows or reads_rows(program)
        used_tables.update(node[1] for node in program.nodes if node[0] in (tables.LOCATE, tables.GATHER))
        used_calls.update(node[0] for node in program.nodes if node[0] in CALLS)
    parts = [emit_known(), *(_emit_table(number) for number in sorted(used_tables))]
    parts += [declare(name) for name in sorted(used_calls)]
    if used_tables:
        parts.append(_SEARCH)
    if used_rows:
        parts.append(SEEK)
    return "\n".join([*parts, *bodies])


def reads_rows(program: Program) -> bool:
    """Whether a program reads the table that is given with a run."""
    return any(node[0] == tables.SEEK for node in program.nodes)


def _emit_table(number: int) -> str:
    values = tables.lookup(number).values
    entries = ", ".join("double " + literal(value) for value in values)
    return f"@t{number} = private unnamed_addr constant [{len(values)} x double] [{entries}]"


def _emit(symbol: str, program: Program, chunk_size: int, row_input: int) -> str:
    sizes = program.in_sizes, program.out_sizes
    body = _emit_program(symbol, program, chunk_size, row_input)
    return body + _emit_entries(symbol, sizes, row_input if reads_rows(program) else None)


def _emit_entries(symbol: str, sizes: tuple[Sequence[int], Sequence[int]], longer: int | None) -> str:
    return _emit_frame(symbol, *sizes) + emit_array_entry(symbol, *sizes, longer)


def _emit_swept(symbol: str, program: Program, chunk_size: int, row_input: int) -> str:
    # The last input is the seed: the loop writes one column of the matrix a call.
    *in_sizes, n_columns = program.in_sizes
    (n_rows,) = program.out_sizes
    body = _emit_program(f"{symbol}.column", program, chunk_size, row_input)
    body += emit_sweep(symbol, f"{symbol}.column", len(in_sizes), n_rows, n_columns)
    sizes = tuple(in_sizes), (n_rows * n_columns,)
    return body + _emit_entries(symbol, sizes, row_input if reads_rows(program) else None)


def _emit_program(symbol: str, program: Program, chunk_size: int, row_input: int) -> str:
    layout = lay_out(program, chunk_size if program.n_operations <= chunk_size else min(chunk_size, PIECE_SIZE))
    n_in, n_out = len(program.in_sizes), len(program.outputs)
    names = [f"%i{i}" for i in range(n_in)] + [f"%o{i}" for i in range(n_out)]
    pointers = ", ".join("ptr " + name for name in names)
    # Short programs are one function; long ones are cut, since register allocation takes quadratic time.
    if len(layout.chunks) == 1:
        writer = Writer(program, {}, row_input)
        writer.compute(layout.chunks[0])
        writer.store_outputs(_entries(program))
        return _function(symbol, pointers, writer.lines)
    return _emit_chunks(symbol, program, layout, pointers, (chunk_size, row_input))


def _emit_chunks(symbol: str, program: Program, layout: Layout, pointers: str, settings: tuple[int, int]) -> str:
    """One function per chunk, then some that only store outputs, and the function that calls them in turn."""
    chunk_size, row_input = settings
    writers = []
    for chunk in layout.chunks:
        writers.append(Writer(program, layout.slots, row_input))
        writers[-1].compute(chunk)
    entries = _entries(program)
    for k in range(0, len(entries), 2 * chunk_size):
        writers.append(Writer(program, layout.slots, row_input))
        writers[-1].store_outputs(entries[k : k + 2 * chunk_size])
    arguments = ", ".join(filter(None, [pointers, "ptr %w"]))
    parts = [_function(f"{symbol}.{c}", arguments, writer.lines, "internal") for c, writer in enumerate(writers)]
    # The chunks run in turn and share a workspace on the stack.
    calls = [f"  %w = alloca [{layout.n_slots} x double], align 64"]
    calls += [f"  call void @{symbol}.{c}({arguments})" for c in range(len(writers))]
    return "".join([*parts, _function(symbol, pointers, calls)])


def _entries(program: Program) -> list[tuple[int, int, int]]:
    return [(i, k, number) for i, output in enumerate(program.outputs) for k, number in enumerate(output)]


def _function(symbol: str, arguments: str, lines: Sequence[str], linkage: str = "") -> str:
    head = f"define {linkage} void @{symbol}({arguments}) noinline nounwind {{\n"
    return head + "\n".join(lines) + "\n  ret void\n}\n"


def _emit_frame(symbol: str, in_sizes: Sequence[int], out_sizes: Sequence[int]) -> str:
    """A function that calls the program on one array, which holds inputs and outputs one after another."""
    lines, names, offset = [], [], 0
    for k, size in enumerate([*in_sizes, *out_sizes]):
        lines.append(f"  %a{k} = getelementptr double, ptr %f, i64 {offset}")
        names.append(f"ptr %a{k}")
        offset += size
    lines.append(f"  call void @{symbol}({', '.join(names)})")
    return _function(f"{symbol}.frame", "ptr %f", lines)
