"""How do functions that change the same numbers one after another become one, to the last digit?

    m1 = f1(..., m, ...),   m2 = f2(..., m1, ...),   ...

Each is fused and rounded as it would be alone: the results are the same as those of one call after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from robodyn.native.program import Builder, Program, with_operands


@dataclass(frozen=True)
class Pipeline:
    """Functions with the same inputs, whose one output replaces input number `through` for the next.

    Attributes:
        functions: in their order.
    """

    functions: tuple[ca.Function, ...]
    through: int


def join_programs(programs: Sequence[Program], through: int) -> Program:
    """One program that computes some in turn, each reading as input `through` what the one before it gave."""
    builder = Builder()
    first = programs[0]
    column: list[int] | None = None
    for program in programs:
        here: dict[int, int] = {}
        for number, node in enumerate(program.nodes):
            if column is not None and node[0] == "input" and node[1] == through:
                here[number] = column[node[2]]
            else:
                here[number] = builder.add(with_operands(node, here))
        column = [here[i] for i in program.outputs[0]]
    return builder.finish(first.name, first.in_sizes, [column or []])
