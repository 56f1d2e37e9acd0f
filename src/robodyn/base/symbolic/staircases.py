"""Step functions: which functions of an expression jump, and what is their mean slope?

The slope of a staircase is zero wherever it has one, and says nothing of where the staircase leads: derivatives take

    floor(a) as a - 1/2,   ceil(a) as a + 1/2

its means over a step. `sign`, comparisons and what is chosen by them have no such mean: they can only be named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca

from .tables import carry_out, retrace

STAIRCASES = {ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil"}
SWITCHES = {
    ca.OP_SIGN: "sign",
    ca.OP_COPYSIGN: "copysign",
    ca.OP_FMOD: "fmod",
    ca.OP_REMAINDER: "remainder",
    **dict.fromkeys((ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE), "where"),
}
"""Operations that may jump, and the function of `robodyn.symbolic` that a law calls for them."""
MEANS = {ca.OP_FLOOR: -0.5, ca.OP_CEIL: 0.5}


def find_jumps(expressions: Sequence[ca.SX], moving: ca.SX) -> set[str]:
    """Names of the functions in the expressions that may jump when the moving symbols change."""
    operations = STAIRCASES | SWITCHES
    return {operations[op] for op, moves in _operations(_function(expressions, moving)) if moves and op in operations}


def smooth_staircases(expressions: Sequence[ca.SX], moving: ca.SX) -> list[ca.SX]:
    """The expressions with the mean of every staircase that the moving symbols climb, for derivatives."""
    if not find_jumps(expressions, moving) & set(STAIRCASES.values()):
        return list(expressions)
    function = _function(expressions, moving)
    climbed = [moves for _, moves in _operations(function)]

    def repeat(k: int, op: int, operands: list[ca.SX]) -> ca.SX:
        return operands[0] + MEANS[op] if op in MEANS and climbed[k] else carry_out(op, operands)

    return retrace(function, function.sx_in(), repeat)


def _function(expressions: Sequence[ca.SX], moving: ca.SX) -> ca.Function:
    """A function whose first input are the moving symbols, the others all else that the expressions depend on."""
    columns = [ca.densify(expression) for expression in expressions]
    inputs = {symbol.element_hash() for symbol in ca.symvar(moving)}
    others = [symbol for symbol in ca.symvar(ca.veccat(ca.SX(0, 1), *columns)) if symbol.element_hash() not in inputs]
    return ca.Function("expressions", [moving, ca.vertcat(ca.SX(0, 1), *others)], columns)


def _operations(function: ca.Function) -> Iterator[tuple[int, bool]]:
    """Each operation in order, and whether it depends on the first input."""
    moves: dict[int, bool] = {}
    for k in range(function.n_instructions()):
        op, read = function.instruction_id(k), function.instruction_input(k)
        if op == ca.OP_OUTPUT:
            yield op, False
            continue
        depends = read[0] == 0 if op == ca.OP_INPUT else op != ca.OP_CONST and any(moves[i] for i in read)
        for cell in function.instruction_output(k):
            moves[cell] = depends
        yield op, depends
