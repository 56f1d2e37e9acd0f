"""LLVM code generation of long programs: how do they call the pieces of code that they share?

void piece(double* in0, ..., double* workspace)
"""

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from robodyn.computation.native.instructions import Writer
from robodyn.computation.native.layout import SharedLayout, lay_out_together
from robodyn.computation.native.program import Program

STORED_AT_ONCE = 12000
"""Outputs that one function writes."""
MakeWriter = Callable[[Program, dict[int, int], int], Writer]
RARELY, PIECES = "rarely", "pieces"


class Text(NamedTuple):
    """LLVM text of two modules: `rarely` holds what rare programs alone need, and a table `PIECES` of its functions, to
    which the pointer `RARELY` of the other is set once both are loaded."""

    often: str
    rarely: str


def emit_together(
    programs: Mapping[int, Program],
    symbols: Mapping[int, str],
    settings: tuple[int, int],
    rare: Collection[int],
    make_writer: MakeWriter = Writer,
) -> Text:
    """One function for each piece, some that only store outputs, and those that call them in turn.

    Args:
        symbols: names of the programs' functions; settings: size of pieces, and the number of the input behind which
            the run's table stands; rare: programs that are seldom called; make_writer: of one robot's code or of lanes.
    """
    piece_size, row_input = settings
    layout = lay_out_together(list(programs.values()), piece_size)
    # A piece that any program in frequent use calls is compiled with these; only the rest goes to the other module.
    seldom = [c for c, piece in enumerate(layout.pieces) if {list(programs)[user] for user in piece.users} <= set(rare)]
    write = functools.partial(make_writer, layout.whole, layout.slots, row_input)
    bodies = [_emit_piece(c, layout, write()) for c in range(len(layout.pieces))]
    often = [body for c, body in enumerate(bodies) if c not in seldom]
    for place, (k, program) in enumerate(programs.items()):
        stores = list(_emit_stores(symbols[k], program, layout.outputs[place], write))
        often += [*stores, _emit_calls(symbols[k], program, layout, (place, len(stores)), seldom, write().real)]
    if not seldom:
        return Text("".join(often), "")
    table = f"@{PIECES} = constant [{len(seldom)} x ptr] [{', '.join(f'ptr @piece{c}' for c in seldom)}]\n"
    return Text("".join([f"@{RARELY} = global ptr null\n", *often]), "".join([table, *(bodies[c] for c in seldom)]))


def _emit_piece(c: int, layout: SharedLayout, writer: Writer) -> str:
    writer.compute(layout.pieces[c].nodes)
    return emit_function(f"piece{c}", _arguments(layout), writer.lines, "internal")


def _arguments(layout: SharedLayout, n_inputs: int | None = None) -> str:
    """All inputs and the workspace; a program of fewer inputs calls no piece that reads more."""
    n_all = len(layout.whole.in_sizes)
    given = [f"ptr %i{i}" if n_inputs is None or i < n_inputs else "ptr null" for i in range(n_all)]
    return ", ".join([*given, "ptr %w"])


def _emit_stores(
    symbol: str, program: Program, outputs: Sequence[Sequence[int]], write: Callable[[], Writer]
) -> Iterator[str]:
    entries = entries_of(outputs)
    for c, k in enumerate(range(0, len(entries), STORED_AT_ONCE)):
        writer = write()
        writer.store_outputs(entries[k : k + STORED_AT_ONCE], alike_input(program))
        yield emit_function(f"{symbol}.{c}", f"{pointers_of(program)}, ptr %w", writer.lines, "internal")


def _emit_calls(
    symbol: str, program: Program, layout: SharedLayout, which: tuple[int, int], seldom: Sequence[int], real: str
) -> str:
    """The pieces run in turn and share a workspace on the stack.

    Args:
        which: place of the program among those laid out together, and how many functions store its outputs.
        seldom: pieces in the other module; real: type of a number.
    """
    place, n_stores = which
    passed = _arguments(layout, len(program.in_sizes))
    needed = [c for c, piece in enumerate(layout.pieces) if place in piece.users]
    lines = [f"  %w = alloca [{max(layout.n_slots, 1)} x {real}], align 64"]
    lines += [f"  %rarely = load ptr, ptr @{RARELY}"] if set(needed) & set(seldom) else []
    for c in needed:
        # What is in the other module is called by its place in the table there, linked when both are loaded.
        if c in seldom:
            lines.append(f"  %p{c} = getelementptr ptr, ptr %rarely, i64 {seldom.index(c)}")
            lines.append(f"  %f{c} = load ptr, ptr %p{c}")
        lines.append(f"  call void {f'%f{c}' if c in seldom else f'@piece{c}'}({passed})")
    lines += [f"  call void @{symbol}.{c}({pointers_of(program)}, ptr %w)" for c in range(n_stores)]
    return emit_function(symbol, pointers_of(program), lines)


def pointers_of(program: Program) -> str:
    """Arguments of a program's function."""
    names = [*(f"%i{i}" for i in range(len(program.in_sizes))), *(f"%o{i}" for i in range(len(program.outputs)))]
    return ", ".join(f"ptr {name}" for name in names)


def alike_input(program: Program) -> int | None:
    """The input that a program's only output may lie on, as the new memory does on the old; None without one."""
    if len(program.outputs) != 1:
        return None
    (output,) = program.outputs
    same = Counter(node[1] for k, i in enumerate(output) if (node := program.nodes[i])[0] == "input" and node[2] == k)
    fits = [i for i, _ in same.most_common() if program.in_sizes[i] == len(output)]
    return fits[0] if fits else None


def entries_of(outputs: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """(i, k, node) of entry k of output i."""
    return [(i, k, number) for i, output in enumerate(outputs) for k, number in enumerate(output)]


WIDE_REGISTERS = '"min-legal-vector-width"="512" "prefer-vector-width"="512"'
"""Attribute of functions that are hardly more than arithmetic of vectors: some processors have registers of eight
numbers that LLVM leaves alone unless told to."""


def emit_function(symbol: str, arguments: str, lines: Sequence[str], linkage: str = "", attributes: str = "") -> str:
    """LLVM text of a function."""
    head = f"define {linkage} void @{symbol}({arguments}) noinline nounwind {attributes} {{\n"
    return head + "\n".join(lines) + "\n  ret void\n}\n"
