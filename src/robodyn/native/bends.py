"""Bends of a model: at whose zeros do its rates, or signals whose past is read, bend at a limit that states reach?

    min(a, b), max(a, b), a < b ? a : c    bend where a = b

A step that reaches across such a place is less accurate than its error estimate says: steps end there. Bends of what
depends on time alone are known before a run, see `robodyn.native.drives`.
"""

from collections.abc import Iterable

from robodyn.native.program import Builder, Node, Program, operands, with_operands

BENT = ("rhs", "delayed")
"""Functions whose bends matter: rates, and what delays keep of each step as a polynomial."""


def find_bends(programs: Iterable[Program], state_input: int) -> Program:
    """The program that gives the differences of what is compared in others, which share their inputs."""
    builder, found = Builder(), dict[int, None]()
    in_sizes: tuple[int, ...] = ()
    for program in programs:
        in_sizes = program.in_sizes
        there, moves = dict[int, int](), list[bool]()
        for number, node in enumerate(program.nodes):
            there[number] = builder.add(with_operands(node, there))
            moves.append(node[:2] == ("input", state_input) or any(moves[i] for i in operands(node)))
            compared = _compared(program, node)
            if any(moves[i] for i in compared):
                found[builder.add(("sub", *(there[i] for i in compared)))] = None
    return builder.finish("bends", in_sizes, [found])


def _compared(program: Program, node: Node) -> tuple[int, ...]:
    """The two nodes of which one is a limit to the other, if they are so here."""
    if node[0] in ("fmin", "fmax"):
        return node[1], node[2]
    if node[0] != "select":
        return ()
    condition, *values = program.nodes[node[1]], *node[2:]
    limited = condition[0] in ("lt", "le") and not {*condition[1:]}.isdisjoint(values)
    return (condition[1], condition[2]) if limited else ()
