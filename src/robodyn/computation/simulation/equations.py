"""Equations as text: what are a system's equations, for people to read?

state' = expression, in the names of signals and parameters; what occurs more than once gets a name of its own
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from robodyn.computation.assembly import System
from robodyn.computation.assembly.system import INPUTS
from robodyn.computation.native import Program, read_program
from robodyn.computation.native.formulas import READABLE, Notation, WrittenTerm, compose, write_number
from robodyn.computation.native.program import operands

# Beyond this many operations nobody reads equations.
TOO_MANY = 3000


def equations_of(system: System, notation: Notation = READABLE) -> tuple[str, ...]:
    """One line a shared expression and a state's rate; a single sentence where there are too many to read."""
    program = read_program(system.function(system.expressions.rhs))
    if program.n_operations > TOO_MANY:
        return (f"{program.n_operations} operations in {len(system.states)} rates: too many to read",)
    return tuple(_lines(program, system, notation))


def _lines(program: Program, system: System, notation: Notation) -> Iterator[str]:
    names = _input_names(system)
    uses = Counter(operand for node in program.nodes for operand in operands(node))
    uses.update(program.outputs[0])
    terms: dict[int, WrittenTerm] = {}
    count = 0
    for number, node in enumerate(program.nodes):
        if node[0] == "const":
            terms[number] = write_number(node[1], notation.digits)
            continue
        if node[0] == "input":
            terms[number] = WrittenTerm(names[node[1], node[2]])
            continue
        table = f"table{node[1] % 1000}" if node[0] in ("locate", "gather") else str(node[1])
        term = compose(notation, node, [terms[operand] for operand in operands(node)], table)
        if uses[number] > 1 and node[0] != "neg":
            count += 1
            yield f"w{count} = {term.text}"
            term = WrittenTerm(f"w{count}", truth=term.truth)
        terms[number] = term
    for state, number in zip(system.states, program.outputs[0], strict=True):
        yield f"{state.name}' = {terms[number].text}"


def _input_names(system: System) -> dict[tuple[int, int], str]:
    """Names of the entries of t, x, d, m and p."""
    columns = {
        "t": ["time"],
        "x": system.state_names,
        "d": [delay.name for delay in system.delays],
        "m": [memory.name for memory in system.memory],
        "p": [*system.places],
    }
    return {(i, k): name for i, key in enumerate(INPUTS) for k, name in enumerate(columns[key])}
