"""LLVM code generation of long programs: how do they call the pieces of code that they share?

void piece(double* in0, ..., double* workspace)
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from .instructions import Writer
from .program import Builder, Node, Program, operands

# --------------------------------------------------------------------------------------------------
# Scheduling: in which order, in which pieces and through which memory is a program computed?
#
# Register allocation takes time quadratic in the length of straight-line code, so long programs are cut into chunks,
# each a machine function of its own; values that a later chunk reads pass through a workspace.
#
# Common sub-expressions of several programs: which code do they share?
#
# The right side of a model, its guards and its outputs compute the same accelerations. Long programs are therefore laid
# out together: every value is one node, and a piece of code holds nodes that the same programs need. A program calls
# the pieces that it needs, in turn; what it reads of earlier pieces stands in a workspace, at the same place in all
# programs.


_PARTNER = {"sin": "cos", "cos": "sin"}


class Layout(NamedTuple):
    """Chunks of node numbers; slots[node] is the place in the workspace of a value that crosses chunks."""

    chunks: list[list[int]]
    slots: dict[int, int]
    n_slots: int


def lay_out(program: Program, chunk_size: int) -> Layout:
    """Cuts a program into chunks of at most `chunk_size` operations; one chunk needs no workspace."""
    order = order_operations(program.nodes)
    chunks = [order[k : k + chunk_size] for k in range(0, len(order), chunk_size)] or [[]]
    if len(chunks) == 1:
        return Layout(chunks, {}, 0)
    return Layout(chunks, *assign_slots(program, chunks))


def order_operations(nodes: tuple[Node, ...], abreast: bool = False) -> list[int]:
    """Operations in order, sine and cosine of one angle side by side so that one call computes both.

    Args:
        abreast: whether those come first that the fewest others must precede: chains then go on side by side.
    """
    angles = {node: number for number, node in enumerate(nodes) if node[0] in _PARTNER}
    placed = bytearray(len(nodes))
    order = []
    for number, node in enumerate(nodes):
        if node[0] == "const" or node[0] == "input" or placed[number]:
            continue
        order.append(number)
        # sincos: one call of the library gives both.
        partner = angles.get((_PARTNER[node[0]], node[1])) if node[0] in _PARTNER else None
        if partner is not None:
            order.append(partner)
            placed[partner] = 1
    # Most actions compute hardly anything of all that they pass on.
    if abreast and len(order) > 1:
        depths: list[int] = []
        for node in nodes:
            depths.append(1 + max((depths[i] for i in operands(node)), default=0))
        order.sort(key=depths.__getitem__)
    return order


def assign_slots(program: Program, chunks: list[list[int]]) -> tuple[dict[int, int], int]:
    """Places for values that cross chunks; a place is free again after its value's last reader."""
    last = _last_readers(program, chunks)
    expiring: list[list[int]] = [[] for _ in range(len(chunks) + 1)]
    slots: dict[int, int] = {}
    free: list[int] = []
    n_slots = 0
    for c, chunk in enumerate(chunks):
        for number in chunk:
            # Linear-scan allocation: a value that a later chunk reads keeps a place until then.
            if last[number] > c:
                if not free:
                    free.append(n_slots)
                    n_slots += 1
                slots[number] = free.pop()
                expiring[last[number]].append(slots[number])
        free.extend(expiring[c])
    return slots, n_slots


def _last_readers(program: Program, chunks: list[list[int]]) -> list[int]:
    """The last chunk that reads each node; outputs are written after the last chunk."""
    last = [-1] * len(program.nodes)
    for c, chunk in enumerate(chunks):
        for number in chunk:
            for i in operands(program.nodes[number]):
                last[i] = c
    for output in program.outputs:
        for i in output:
            last[i] = len(chunks)
    return last


class Piece(NamedTuple):
    """Nodes that all of some programs, and no others, need."""

    nodes: list[int]
    users: frozenset[int]


class SharedLayout(NamedTuple):
    """Programs laid out together.

    Attributes:
        whole: all nodes, and the outputs of all programs one after another; outputs: those of each.
        pieces: in an order in which they can be computed; slots[node]: as of `Layout`.
    """

    whole: Program
    outputs: list[tuple[tuple[int, ...], ...]]
    pieces: list[Piece]
    slots: dict[int, int]
    n_slots: int


def lay_out_together(programs: Sequence[Program], piece_size: int) -> SharedLayout:
    """Cuts programs into pieces of at most `piece_size` operations, which they share where they can."""
    builder = Builder()
    users: list[int] = []
    outputs = []
    for k, program in enumerate(programs):
        new = builder.copy(program)
        users.extend([0] * (len(builder.nodes) - len(users)))
        for number in new:
            users[number] |= 1 << k
        outputs.append(tuple(tuple(new[i] for i in output) for output in program.outputs))
    in_sizes = max((program.in_sizes for program in programs), key=len)
    whole = Program("together", in_sizes, tuple(builder.nodes), tuple(output for each in outputs for output in each))
    pieces = _cut(whole, users, piece_size)
    slots = assign_slots(whole, [piece.nodes for piece in pieces])
    return SharedLayout(whole, outputs, pieces, *slots)


def _cut(whole: Program, users: list[int], piece_size: int) -> list[Piece]:
    """What a node reads is needed by all that need the node: pieces of more programs come first."""
    groups: dict[int, list[int]] = {}
    for number in order_operations(whole.nodes):
        groups.setdefault(users[number], []).append(number)
    pieces = []
    for mask in sorted(groups, key=int.bit_count, reverse=True):
        group, needed_by = groups[mask], frozenset(k for k in range(mask.bit_length()) if mask >> k & 1)
        pieces += [Piece(group[k : k + piece_size], needed_by) for k in range(0, len(group), piece_size)]
    return pieces


PIECE_SIZE = 500
"""Operations of a piece, in which compiling takes half as long at the same speed, and outputs that one function writes;
a program of one chunk is faster uncut."""
STORED_AT_ONCE = 12000
"""Outputs that one function writes which are inputs."""
MakeWriter = Callable[[Program, dict[int, int], int], Writer]
RARELY, PIECES = "rarely", "pieces"


class ModuleText(NamedTuple):
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
) -> ModuleText:
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
    bodies = []
    for c, piece in enumerate(layout.pieces):
        writer = write()
        writer.compute(piece.nodes)
        bodies.append(emit_function(f"piece{c}", _arguments(layout), writer.lines, "internal"))
    often = [body for c, body in enumerate(bodies) if c not in seldom]
    for place, (k, program) in enumerate(programs.items()):
        stores = list(_emit_stores(symbols[k], program, layout.outputs[place], layout.slots, write))
        often += [*stores, _emit_calls(symbols[k], program, layout, (place, len(stores)), seldom, write().real)]
    if not seldom:
        return ModuleText("".join(often), "")
    table = f"@{PIECES} = constant [{len(seldom)} x ptr] [{', '.join(f'ptr @piece{c}' for c in seldom)}]\n"
    return ModuleText(
        "".join([f"@{RARELY} = global ptr null\n", *often]), "".join([table, *(bodies[c] for c in seldom)])
    )


def _arguments(layout: SharedLayout, n_inputs: int | None = None) -> str:
    """All inputs and the workspace; a program of fewer inputs calls no piece that reads more."""
    n_all = len(layout.whole.in_sizes)
    inputs = [f"ptr %i{i}" if n_inputs is None or i < n_inputs else "ptr null" for i in range(n_all)]
    return ", ".join([*inputs, "ptr %w"])


def _emit_stores(
    symbol: str,
    program: Program,
    outputs: Sequence[Sequence[int]],
    slots: Mapping[int, int],
    write: Callable[[], Writer],
) -> Iterator[str]:
    # All inputs are read before the first output is written, which may be one of them. What stands in the workspace is
    # written after that and in short functions: thousands of numbers at once would run out of registers.
    entries = entries_of(outputs)
    read = [entry for entry in entries if entry[2] not in slots]
    held = [entry for entry in entries if entry[2] in slots]
    parts = [read[k : k + STORED_AT_ONCE] for k in range(0, len(read), STORED_AT_ONCE)]
    parts += [held[k : k + PIECE_SIZE] for k in range(0, len(held), PIECE_SIZE)]
    for c, part in enumerate(parts):
        writer = write()
        writer.store_outputs(part, alike_input(program), apart_inputs(program))
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


def apart_inputs(program: Program) -> list[int]:
    """The inputs that no output may lie on, for want of the same length."""
    return [i for i, size in enumerate(program.in_sizes) if size not in program.out_sizes]


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
