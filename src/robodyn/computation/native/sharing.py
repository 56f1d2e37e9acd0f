"""Common sub-expressions of several programs: which code do they share?

The right side of a model, its guards and its outputs compute the same accelerations. Long programs are therefore laid
out together: every value is one node, and a piece of code holds nodes that the same programs need. A program calls the
pieces that it needs, in turn; what it reads of earlier pieces stands in a workspace, at the same place in all programs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from robodyn.computation.native.layout import assign_slots, order_operations
from robodyn.computation.native.program import Builder, Program, with_operands


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
