"""Scheduling: in which order, in which pieces and through which memory is a program computed?

Register allocation takes time quadratic in the length of straight-line code, so long programs are cut
into chunks, each a machine function of its own; values that a later chunk reads pass through a workspace.
"""

from typing import NamedTuple

from robodyn.computation.native.program import Node, Program, operands

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
