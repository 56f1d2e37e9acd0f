"""Arithmetic of symbols: what does `a + b` of two CasADi expressions cost?

Tracing is hundreds of thousands of sums and products. For each of them CasADi tries which of its types both operands
are of, which takes 13 microseconds; its operation for expressions alone takes 2 and gives the same expression. With an
array beside an expression, which NumPy hands over, it is 30 and 10.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

OPERATIONS = {"add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV}
UFUNCS = {"add": ca.OP_ADD, "subtract": ca.OP_SUB, "multiply": ca.OP_MUL, "true_divide": ca.OP_DIV}
"""NumPy's names of the same."""


@functools.cache
def speed_up_operators() -> None:
    """Let + - * / of expressions and numbers take the short way; what else they meet goes the long one, as before."""
    # CasADi's other operations ask for the shape several times each: one call instead of three.
    quick: dict[str, Any] = {"shape": property(ca.SX.size)}
    for name, code in OPERATIONS.items():
        quick[f"__{name}__"] = _forward(code, getattr(ca.SX, f"__{name}__"))
        quick[f"__r{name}__"] = _reflected(code, getattr(ca.SX, f"__r{name}__"))
    quick["__array_ufunc__"] = _array_operation(ca.SX.__array_ufunc__)
    for name, operation in quick.items():
        setattr(ca.SX, name, operation)


def _forward(code: int, general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    binary, short = ca.SX.binary, (ca.SX, float, int)

    def operate(left: Any, right: Any) -> Any:
        quick = isinstance(right, short) or (isinstance(right, np.ndarray) and _is_plain(right))
        return binary(code, left, right) if quick else general(left, right)

    return operate


def _reflected(code: int, general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    binary = ca.SX.binary

    def operate(right: Any, left: Any) -> Any:
        return binary(code, left, right) if isinstance(left, float | int) else general(right, left)

    return operate


def _array_operation(general: Callable[..., Any]) -> Callable[..., Any]:
    """The operation that NumPy calls for an array, or a number of its own, beside an expression."""
    functions: dict[Any, Any] = {
        getattr(np, name): functools.partial(ca.SX.binary, code) for name, code in UFUNCS.items()
    }
    functions[np.matmul] = ca.mtimes

    def operate(self: Any, ufunc: Any, method: str, *operands: Any, **named: Any) -> Any:
        function = functions.get(ufunc)
        if function is None or method != "__call__" or named or not all(map(_is_plain, operands)):
            return general(self, ufunc, method, *operands, **named)
        return function(*operands)

    return operate


def _is_plain(operand: Any) -> bool:
    """Whether it is an expression, a number, or an array of floats that CasADi takes as a column or a matrix."""
    if isinstance(operand, np.ndarray):
        return operand.dtype == np.float64 and 0 < operand.ndim < 3
    return isinstance(operand, ca.SX | float)
