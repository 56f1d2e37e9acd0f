"""Arithmetic of symbols: what does `a + b` of two CasADi expressions cost?

Tracing is hundreds of thousands of sums and products. For each of them CasADi tries which of its types both operands
are of, which takes 13 microseconds; its operation for expressions alone takes 2 and gives the same expression.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import casadi as ca

OPERATIONS = {"add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV}


@functools.cache
def speed_up_operators() -> None:
    """Let + - * / of expressions and numbers take the short way; what else they meet goes the long one, as before."""
    # CasADi's other operations ask for the shape several times each: one call instead of three.
    quick: dict[str, Any] = {"shape": property(ca.SX.size)}
    for name, code in OPERATIONS.items():
        quick[f"__{name}__"] = _forward(code, getattr(ca.SX, f"__{name}__"))
        quick[f"__r{name}__"] = _reflected(code, getattr(ca.SX, f"__r{name}__"))
    for name, operation in quick.items():
        setattr(ca.SX, name, operation)


def _forward(code: int, general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    binary, short = ca.SX.binary, (ca.SX, float, int)

    def operate(left: Any, right: Any) -> Any:
        return binary(code, left, right) if isinstance(right, short) else general(left, right)

    return operate


def _reflected(code: int, general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    binary = ca.SX.binary

    def operate(right: Any, left: Any) -> Any:
        return binary(code, left, right) if isinstance(left, float | int) else general(right, left)

    return operate
