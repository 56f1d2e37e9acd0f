"""Non-smooth operations: on which inputs do kinks or jumps depend? Only there can a slope jump."""

from __future__ import annotations

from robodyn.computation.native.program import Program, operands

ROUGH = frozenset(
    [
        *("fabs", "sign", "floor", "ceil", "not", "fmod", "remainder", "copysign", "fmin", "fmax"),
        *("sqrt", "pow", "hypot", "atan2"),
        *("lt", "le", "eq", "ne", "and", "or", "if_else_zero", "select", "locate", "gather", "seek", "row"),
    ]
)
"""Operations whose slope may jump; sqrt(x^2) is one way to write |x|."""


def find_rough_entries(program: Program, number: int) -> list[int]:
    """Entries of an input, by its number, that some operation with kinks or jumps depends on."""
    # One bit for each entry of the input.
    reached: list[int] = []
    rough = 0
    for node in program.nodes:
        if node[0] == "input":
            reached.append(1 << node[2] if node[1] == number else 0)
            continue
        # Dependence is passed on from node to node, all entries at once.
        found = 0
        for operand in operands(node):
            found |= reached[operand]
        reached.append(found)
        if node[0] in ROUGH:
            rough |= found
    return [k for k in range(program.in_sizes[number]) if rough >> k & 1]
