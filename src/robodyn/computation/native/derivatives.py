"""Automatic differentiation: what are the exact derivatives of a traced function?"""

from typing import NamedTuple

import casadi as ca
import numpy as np


class Pattern(NamedTuple):
    """Places of the nonzeros of a matrix, compressed by columns as in scipy.sparse.csc_array."""

    shape: tuple[int, int]
    indptr: np.ndarray
    indices: np.ndarray


def jacobian(function: ca.Function, of: str | int, wrt: str | int, sparse: bool = False) -> ca.Function:
    """Function of the same inputs that gives the derivative of one output by one input.

        J[i, j] = d of[i] / d wrt[j]

    Matrices count column by column. A kernel of it gives J column by column: all entries, or if sparse those
    that `pattern` lists.
    """
    inputs, outputs = _traced(function)
    output = outputs[_place(of, function.name_out(), "output", function)]
    by = inputs[_place(wrt, function.name_in(), "input", function)]
    # CasADi colours the columns; common sub-expressions are then shared (cse).
    J = ca.jacobian(ca.vec(output), ca.vec(by))
    J = ca.cse(ca.sparsify(J) if sparse else ca.densify(J))
    return ca.Function(f"{function.name()}_jacobian", inputs, [J], function.name_in(), ["jacobian"])


def directional(function: ca.Function, wrt: str | int) -> ca.Function:
    """Function of the same inputs and a `seed`, a direction of one of them: all outputs' slopes along it.

    slope_i = (d output_i / d wrt) seed
    """
    inputs, outputs = _traced(function)
    by = inputs[_place(wrt, function.name_in(), "input", function)]
    seed = ca.SX.sym("seed", by.sparsity())
    slopes = [ca.cse(ca.densify(ca.jtimes(ca.vec(output), ca.vec(by), ca.vec(seed)))) for output in outputs]
    in_names = [*function.name_in(), "seed"]
    out_names = [f"{name}_slope" for name in function.name_out()]
    return ca.Function(f"{function.name()}_directional", [*inputs, seed], slopes, in_names, out_names)


def pattern(function: ca.Function, output: str | int = 0) -> Pattern:
    """Places of the entries that a kernel of this function gives for one of its outputs."""
    sparsity = function.sparsity_out(_place(output, function.name_out(), "output", function))
    return Pattern(sparsity.shape, np.array(sparsity.colind()), np.array(sparsity.row()))


def _traced(function: ca.Function) -> tuple[list[ca.SX], list[ca.SX]]:
    if not function.is_a("SXFunction"):
        function = function.expand()
    inputs = function.sx_in()
    return inputs, [ca.densify(output) for output in function.call(inputs)]


def _place(which: str | int, names: list[str], kind: str, function: ca.Function) -> int:
    if isinstance(which, str) and which in names:
        return names.index(which)
    if isinstance(which, int) and 0 <= which < len(names):
        return which
    known = ", ".join(names) or "none"
    raise ValueError(f"function {function.name()} has no {kind} {which!r}; it has {known}")
