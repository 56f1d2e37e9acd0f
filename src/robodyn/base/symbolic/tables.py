"""Look-up tables: how can an expression graph hold one at constant cost in the graph?

CasADi has no look-up node for scalar graphs, so a binary operation of it that has no other use here
(`printme`) carries look-ups. Its first operand is a constant that names an array, its second the
argument:

    locate(knots, x)      = max(0, number of knots <= x  - 1)
    gather(values, index) = values[index]

Two more read a table whose numbers are not in the graph but given with each run, behind the parameters:

    seek(width, x)     = number of the row at x of a table of rows of `width` numbers, the first of them where it begins
    row(column, index) = a number of that row

The derivative of each is zero, which is exact wherever it exists. Only `robodyn.computation.native` and the
back-ends of its `Program` know the meaning: where CasADi itself evaluates the node (by substituting a
number, by calling a `Function`), it gives the name. Names are therefore near 1e308, so that such a
mistake overflows instead of passing for a result. `call` and `substitute` look numbers up; `spell_out` makes
a function that CasADi can call.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence

import numpy as np

from robodyn.base import Array
from robodyn.base.lazy import ca
from robodyn.base.records import frozen

LOCATE = "locate"
GATHER = "gather"
SEEK = "seek"
ROW = "row"

_NAME_BITS = 52
_NAME_SHIFT = 970


def node_operation() -> int:
    """CasADi's operation that stands for a table in a graph: it prints, for which there is no other use here."""
    return int(ca.OP_PRINTME)


@frozen
class LookupTable:
    """A constant array in the registry, for LOCATE or GATHER; one number for SEEK (width) or ROW (column)."""

    kind: str
    values: tuple[float, ...]


_registry: dict[int, LookupTable] = {}


def register(kind: str, values: Array) -> int:
    """Number of a table, the same in every process for the same kind and content: below 2**52."""
    content = np.ascontiguousarray(values, dtype=np.float64)
    digest = hashlib.sha256(kind.encode() + b":" + content.tobytes()).digest()
    number = int.from_bytes(digest[:8], "little") % 2**_NAME_BITS
    table = LookupTable(kind, tuple(content.tolist()))
    if _registry.setdefault(number, table) != table:
        raise RuntimeError(f"two different tables have the number {number}")
    return number


def name_of(number: int) -> float:
    """The double that stands for table `number` in a graph: (2**52 + number) 2**970, exact, near 1e308."""
    return math.ldexp(2**_NAME_BITS + number, _NAME_SHIFT)


def number_of(name: float) -> int:
    """The table number that a node's first operand stands for; KeyError if there is no such table."""
    number = int(math.ldexp(name, -_NAME_SHIFT)) - 2**_NAME_BITS
    if name_of(number) != name or number not in _registry:
        raise KeyError(name)
    return number


def lookup(number: int) -> LookupTable:
    """The table registered under `number`."""
    return _registry[number]


def locate(knots: Array, x: ca.SX) -> ca.SX:
    """Index of the last knot at or below x, 0 before the first one."""
    return _node(register(LOCATE, knots), x)


def gather(values: Array, index: ca.SX) -> ca.SX:
    """values[index], where index comes from `locate` with at most as many knots."""
    return _node(register(GATHER, values), index)


def seek(width: int, x: ca.SX) -> ca.SX:
    """Number of the row at x in the table given with each run, the first or last one beyond its ends."""
    return _node(register(SEEK, np.array([width])), x)


def row(column: int, index: ca.SX) -> ca.SX:
    """A number of a row of that table, where index comes from `seek`."""
    return _node(register(ROW, np.array([column])), index)


def _node(number: int, operand: ca.SX) -> ca.SX:
    return ca.SX.binary(node_operation(), ca.SX(name_of(number)), ca.densify(operand))


def spell_out(function: ca.Function) -> ca.Function:
    """The function with its look-ups as sums of comparisons, for CasADi itself to evaluate a few times."""
    if not _looks_up(function):
        return function
    inputs = function.sx_in()
    return ca.Function(function.name(), inputs, retrace(function, inputs, _replacing(_as_steps)), {"allow_free": True})


def call(function: ca.Function, inputs: Sequence[ca.SX]) -> list[ca.SX]:
    """Outputs of a function; what becomes the look-up of a number becomes its result."""
    return retrace(function, inputs, _replacing(_of_number)) if _looks_up(function) else list(function.call(inputs))


def substitute(expressions: Sequence[ca.SX], symbols: ca.SX, values: ca.SX) -> list[ca.SX]:
    """Expressions with values in the place of symbols; what becomes the look-up of a number becomes its result."""
    return call(ca.Function("of_symbols", [symbols], expressions, {"allow_free": True}), [values])


def _looks_up(function: ca.Function) -> bool:
    return bool(_registry) and node_operation() in map(function.instruction_id, range(function.n_instructions()))


Repeat = Callable[[int, int, "list[ca.SX]"], "ca.SX"]
"""Carries out an instruction of a function again: its number, its operation, the operands as they are now."""


def retrace(function: ca.Function, inputs: Sequence[ca.SX], repeat: Repeat) -> list[ca.SX]:
    """Outputs of a function of these inputs, instruction by instruction."""
    inputs, free = [ca.densify(column) for column in inputs], iter(function.free_sx())
    entries: list[dict[int, ca.SX]] = [{} for _ in range(function.n_out())]
    # `work` holds the expression that is in each cell of CasADi's work vector.
    work: dict[int, ca.SX] = {}
    for k in range(function.n_instructions()):
        op, read, write = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            entries[write[0]][write[1]] = work[read[0]]
        elif op == ca.OP_INPUT:
            work[write[0]] = inputs[read[0]].nz[read[1]]
        elif op == ca.OP_CONST:
            work[write[0]] = ca.SX(function.instruction_constant(k))
        elif op == ca.OP_PARAMETER:
            work[write[0]] = next(free)
        else:
            work[write[0]] = repeat(k, op, [work[cell] for cell in read])
    return [
        ca.SX(function.sparsity_out(k), ca.vertcat(ca.SX(0, 1), *(column[i] for i in sorted(column))))
        for k, column in enumerate(entries)
    ]


def carry_out(op: int, operands: list[ca.SX]) -> ca.SX:
    """An operation on expressions."""
    return ca.SX.binary(op, *operands) if len(operands) == 2 else ca.SX.unary(op, *operands)


def _replacing(replace: Callable[[LookupTable, ca.SX], ca.SX | None]) -> Repeat:
    """All operations as they are, but for look-ups in constant tables: these may be replaced, None where one stays."""

    def repeat(_: int, op: int, operands: list[ca.SX]) -> ca.SX:
        if op == node_operation() and (table := lookup(number_of(float(operands[0])))).kind in (LOCATE, GATHER):
            result = replace(table, operands[1])
            if result is not None:
                return result
        return carry_out(op, operands)

    return repeat


def _of_number(table: LookupTable, operand: ca.SX) -> ca.SX | None:
    if not operand.is_constant():
        return None
    number = float(operand)
    if table.kind == GATHER:
        return ca.SX(table.values[int(number)])
    return ca.SX(max(0, sum(knot <= number for knot in table.values) - 1))


def _as_steps(table: LookupTable, operand: ca.SX) -> ca.SX:
    steps = _index_steps if table.kind == LOCATE else _value_steps
    return steps(np.array(table.values), operand)


def _index_steps(knots: Array, x: ca.SX) -> ca.SX:
    return sum((x >= knot for knot in knots[1:].tolist()), ca.SX(0))


def _value_steps(values: Array, index: ca.SX) -> ca.SX:
    rises = enumerate(np.diff(values).tolist(), start=1)
    return sum((rise * (index >= k) for k, rise in rises), ca.SX(float(values[0])))
