"""Graph reader: how does a CasADi function become a `Program`?"""

from itertools import repeat
from typing import Any

import casadi as ca

from robodyn.base.symbolic import tables

from .program import BINARY, UNARY, Builder, Program, find_dependents


class UnsupportedOperation(ValueError):
    """A function holds an operation that has no meaning outside CasADi."""


def _operation_codes() -> dict[int, tuple[str, bool]]:
    codes = {getattr(ca, "OP_" + name.upper()): (name, False) for name in UNARY}
    codes.update({getattr(ca, "OP_" + name.upper()): (name, True) for name in BINARY})
    codes[ca.OP_CONSTPOW] = ("pow", True)
    return codes


_OPERATIONS = _operation_codes()
_PLAIN = {*_OPERATIONS, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_ASSIGN}
_NAMES = {getattr(ca, name): name for name in dir(ca) if name.startswith("OP_")}


def read_program(function: ca.Function) -> Program:
    """The program of an SX function (an MX function is expanded first).

    Inputs and outputs are their nonzeros, column by column.
    """
    function = _scalar_function(function)
    builder = Builder()
    outputs = [[-1] * function.nnz_out(i) for i in range(function.n_out())]
    _walk(function, builder, outputs)
    in_sizes = [function.nnz_in(i) for i in range(function.n_in())]
    program = builder.finish(function.name(), in_sizes, outputs)
    _check(program, function)
    return program


def is_plain(function: ca.Function) -> bool:
    """Whether an SX function has known operations alone, and no tables, by a look at its codes: it can be read."""
    return {*map(function.instruction_id, range(function.n_instructions()))} <= _PLAIN


def _scalar_function(function: ca.Function) -> ca.Function:
    if not function.is_a("SXFunction"):
        function = function.expand()
    if function.has_free():
        free = ", ".join(map(str, function.get_free()))
        raise ValueError(f"function {function.name()} depends on symbols that are not its inputs: {free}")
    return function


def _walk(function: ca.Function, builder: Builder, outputs: list[list[int]]) -> None:
    """Adds every instruction; `work` holds the node that is in each cell of CasADi's work vector."""
    places = range(function.n_instructions())
    # Three calls into CasADi an instruction are half of the time: `map` makes them at the least price, past the methods
    # in Python that only pass them on.
    calls = vars(vars(ca)["_casadi"])
    readers = (calls[f"Function_instruction_{what}"] for what in ("id", "input", "output"))
    rows: Any = zip(places, *(map(ask, repeat(function), places) for ask in readers), strict=True)
    add, known_operations = builder.add, _OPERATIONS
    work: dict[int, int] = {}
    for k, op, i, (cell, *entry) in rows:
        # CasADi's work vector reuses its cells; here every value gets a node of its own (static single assignment).
        known = known_operations.get(op)
        if known is not None:
            work[cell] = add((known[0], work[i[0]], work[i[1]]) if known[1] else (known[0], work[i[0]]))
        elif op == ca.OP_OUTPUT:
            outputs[cell][entry[0]] = work[i[0]]
        elif op == ca.OP_INPUT:
            work[cell] = add(("input", i[0], i[1]))
        elif op == ca.OP_CONST:
            work[cell] = add(("const", function.instruction_constant(k)))
        else:
            node = _special(op, [work[j] for j in i], builder)
            work[cell] = add(node) if type(node) is tuple else node


def _special(op: int, arguments: list[int], builder: Builder) -> Any:
    """The node of a table, the number of an assigned node, or a node that says what is not supported."""
    if op == ca.OP_ASSIGN:
        return arguments[0]
    if op == tables.node_operation():
        return _table_node(arguments, builder)
    return ("unsupported", _NAMES.get(op, f"operation {op}"), *arguments)


def _table_node(arguments: list[int], builder: Builder) -> tuple[Any, ...]:
    name, operand = builder.nodes[arguments[0]], arguments[1]
    unsupported = ("unsupported", _NAMES[tables.node_operation()], *arguments)
    try:
        number = tables.number_of(name[1]) if name[0] == "const" else None
    except KeyError:
        number = None
    if number is None:
        return unsupported
    # An index into a table must come from a search in one of the same length: it cannot run out of bounds.
    table = tables.lookup(number)
    if table.kind in (tables.SEEK, tables.ROW):
        label = int(table.values[0])
        index = builder.nodes[operand]
        fits = table.kind == tables.SEEK or (index[0] == tables.SEEK and label < index[1])
        return (table.kind, label, operand) if fits else unsupported
    if table.kind == tables.GATHER:
        index = builder.nodes[operand]
        if index[0] != tables.LOCATE or len(tables.lookup(index[1]).values) > len(table.values):
            return unsupported
    return (table.kind, number, operand)


def _check(program: Program, function: ca.Function) -> None:
    for number, node in enumerate(program.nodes):
        if node[0] == "unsupported":
            fed = _fed(program, number, function)
            raise UnsupportedOperation(f"{node[1]} in function {function.name()} cannot be compiled; it feeds {fed}")
        if node[0] == "const" and _is_table_name(node[1]):
            fed = _fed(program, number, function)
            raise ValueError(
                f"in function {function.name()} CasADi has put a number into a table; it feeds {fed}. "
                "Give the table that number when tracing instead"
            )


def _is_table_name(value: float) -> bool:
    if not 1e307 < value < 1e308:
        return False
    try:
        tables.number_of(value)
    except KeyError:
        return False
    return True


def _fed(program: Program, source: int, function: ca.Function) -> str:
    """Names of the outputs that depend on a node."""
    reached, names = find_dependents(program, source), []
    for i, output in enumerate(program.outputs):
        entries = [k for k, number in enumerate(output) if reached[number]]
        if entries:
            places = ", ".join([*map(str, entries[:8]), *(["..."] if entries[8:] else [])])
            names.append(f"{function.name_out(i)}[{places}]")
    return "output " + ", ".join(names)
