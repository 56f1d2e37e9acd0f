"""Automatic differentiation: how is a large matrix of derivatives computed by small code? Column by column, in a loop.

Non-smooth operations: on which inputs do kinks or jumps depend? Only there can a slope jump.

A Jacobian written out has operations for all its columns: for long chains too many to compile. A sweep compiles only
the slopes along one direction, and a loop calls it for each unit vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from robodyn.base import frozen

from .program import Program, operands

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
        entries = 0
        for operand in operands(node):
            entries |= reached[operand]
        reached.append(entries)
        if node[0] in ROUGH:
            rough |= entries
    return [k for k in range(program.in_sizes[number]) if rough >> k & 1]


WRITTEN_OUT = 250_000
"""Operations up to which a Jacobian is written out: its columns share work, so that calls are faster then, up to six
times."""
FEW_CALLS = 10_000
"""The same where it is called some dozen times, as Newton's method does: compiling it takes longest."""


@frozen
class Sweep:
    """A matrix J, column by column.

    Attributes:
        function: of the inputs and last a `seed` (n_columns,), gives J seed.
    """

    function: ca.Function


def build_jacobian(
    name: str, inputs: Sequence[ca.SX], rows: ca.SX, columns: ca.SX, written_out: int | None = None
) -> ca.Function | Sweep:
    """The derivative of a column of expressions by a column of symbols, dense, column by column.

        J[i, j] = d rows[i] / d columns[j]

    Args:
        inputs: of the function, which hold the symbols.
        written_out: operations of all columns up to which they are not swept; WRITTEN_OUT where it is not given.
    """
    longest = WRITTEN_OUT if written_out is None else written_out
    work = ca.Function("rows", list(inputs), [rows]).n_instructions()
    # Columns of states that nothing reads, such as books of impulses and work, are zero and cost nothing.
    read = sum(ca.which_depends(rows, columns, 1, False)) if columns.numel() else 0
    if work * read <= longest:
        J = ca.vec(ca.densify(ca.cse(ca.jacobian(rows, columns))))
        return ca.Function(name, list(inputs), [J])
    # Too long to write out: J seed for one direction, and a loop over the unit vectors.
    seed = ca.SX.sym("seed", columns.numel())
    slope = ca.densify(ca.jtimes(rows, columns, seed))
    names = [f"i{k}" for k in range(len(inputs))]
    return Sweep(ca.Function(name, [*inputs, seed], [slope], [*names, "seed"], ["slope"]))


def emit_sweep(symbol: str, column: str, n_inputs: int, n_rows: int, n_columns: int) -> str:
    """LLVM text of a function that calls `column` with each unit vector; the last output is the whole matrix.

    seed = 0;    for k: seed[k] = 1, column(seed) -> J[:, k], seed[k] = 0
    """
    inputs = ", ".join(f"ptr %i{k}" for k in range(n_inputs))
    comma = ", " if inputs else ""
    return f"""define void @{symbol}({inputs}{comma}ptr %o0) noinline nounwind {{
entry:
  %seed = alloca [{max(n_columns, 1)} x double], align 64
  br label %clear
clear:
  %c = phi i64 [0, %entry], [%c1, %wipe]
  %left = icmp ult i64 %c, {n_columns}
  br i1 %left, label %wipe, label %test
wipe:
  %place = getelementptr double, ptr %seed, i64 %c
  store double 0.0, ptr %place
  %c1 = add i64 %c, 1
  br label %clear
test:
  %k = phi i64 [0, %clear], [%k1, %step]
  %more = icmp ult i64 %k, {n_columns}
  br i1 %more, label %step, label %done
step:
  %unit = getelementptr double, ptr %seed, i64 %k
  store double 1.0, ptr %unit
  %first = mul i64 %k, {n_rows}
  %out = getelementptr double, ptr %o0, i64 %first
  call void @{column}({inputs}{comma}ptr %seed, ptr %out)
  store double 0.0, ptr %unit
  %k1 = add i64 %k, 1
  br label %test
done:
  ret void
}}
"""
