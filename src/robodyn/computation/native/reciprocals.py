"""Strength reduction: which quotients become products?

    a / b, c / b -> a r, c r with r = 1 / b

A division takes as long as a dozen products. A quotient so written may differ in its last digit from the same quotient
elsewhere, so this is done only where it is asked for: in functions whose results nothing compares exactly.
"""

from collections import Counter

from robodyn.computation.native.program import Builder, Program, with_operands

SHARED = 2
"""Quotients of one denominator from which on they become products."""


def share_reciprocals(program: Program) -> Program:
    """The program with one reciprocal for all quotients of a denominator; numbers and parameters count always."""
    shared = Counter(node[2] for node in program.nodes if node[0] == "div")
    shared.update(node[1] for node in program.nodes if node[0] == "inv")
    builder = Builder()
    new: list[int] = []
    for node in program.nodes:
        # A reciprocal of a number or a parameter is made once a run, by the prelude.
        if node[0] == "div" and (shared[node[2]] >= SHARED or program.nodes[node[2]][0] in ("const", "input")):
            reciprocal = builder.add(("inv", new[node[2]]))
            new.append(builder.add(("mul", new[node[1]], reciprocal)))
        else:
            new.append(builder.add(with_operands(node, new)))
    return builder.finish(program.name, program.in_sizes, [[new[i] for i in output] for output in program.outputs])
