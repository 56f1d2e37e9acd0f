"""Scheduling: in which order, in which pieces and through which memory is a program computed?

Register allocation takes time quadratic in the length of straight-line code, so long programs are cut
into chunks, each a machine function of its own; values that a later chunk reads pass through a workspace.

Common sub-expressions of several programs: which code do they share?

The right side of a model, its guards and its outputs compute the same accelerations. Long programs are therefore laid
out together: every value is one node, and a piece of code holds nodes that the same programs need. A program calls the
pieces that it needs, in turn; what it reads of earlier pieces stands in a workspace, at the same place in all programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from robodyn.computation.native.program import Builder, Node, Program, operands, with_operands

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


def order_operations(nodes: tuple[Node, ...]) -> list[int]:
    """Operations in order, sine and cosine of one angle side by side so that one call computes both."""
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
        pieces: in an order in which they can be computed; slots[node]: as of `robodyn.computation.native.layout`.
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
        new: list[int] = []
        for node in program.nodes:
            new.append(builder.add(with_operands(node, new)))
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
