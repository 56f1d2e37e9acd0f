"""Bends of a model: at whose zeros do its rates bend, because something that depends on states reaches a limit?

    min(a, b), max(a, b), a < b ? a : c    bend where a = b

A step that reaches across such a place is less accurate than its error estimate says: steps end there. Bends of what
depends on time alone are known before a run, see `robodyn.native.drives`.
"""

from robodyn.native.program import Builder, Node, Program, operands, with_operands


def find_bends(program: Program, state_input: int) -> Program:
    """The program that gives the differences of what is compared, from the same inputs."""
    builder, there, moves = Builder(), dict[int, int](), list[bool]()
    found = dict[int, None]()
    for number, node in enumerate(program.nodes):
        there[number] = builder.add(with_operands(node, there))
        moves.append(node[:2] == ("input", state_input) or any(moves[i] for i in operands(node)))
        compared = _compared(program, node)
        if any(moves[i] for i in compared):
            found[builder.add(("sub", *(there[i] for i in compared)))] = None
    return builder.finish("bends", program.in_sizes, [found])


def _compared(program: Program, node: Node) -> tuple[int, ...]:
    """The two nodes of which one is a limit to the other, if they are so here."""
    if node[0] in ("fmin", "fmax"):
        return node[1], node[2]
    if node[0] != "select":
        return ()
    condition, *values = program.nodes[node[1]], *node[2:]
    limited = condition[0] in ("lt", "le") and not {*condition[1:]}.isdisjoint(values)
    return (condition[1], condition[2]) if limited else ()
