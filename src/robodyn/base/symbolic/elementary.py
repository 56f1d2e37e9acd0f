"""Elementary functions: which work alike on floats, numpy arrays and CasADi symbols?

Numbers go to numpy and never meet CasADi; symbols go to the operation of the same meaning in CasADi.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.base.lazy import ca
from robodyn.base.symbolic.kinds import is_symbolic, stack

Operation = Callable[..., Any]


def _unary(name: str, numeric: Operation, symbolic: str, doc: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        if is_symbolic(x):
            return getattr(ca, symbolic)(_symbols(x))
        return numeric(x)

    return _named(function, name, doc)


def _binary(name: str, numeric: Operation, symbolic: str, doc: str) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any) -> Any:
        if is_symbolic(x) or is_symbolic(y):
            return getattr(ca, symbolic)(_symbols(x), _symbols(y))
        return numeric(x, y)

    return _named(function, name, doc)


def _named(function: Operation, name: str, doc: str) -> Operation:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _symbols(value: Any) -> Any:
    """A value as CasADi takes it: sequences that hold symbols become columns."""
    return stack(value) if isinstance(value, list | tuple | np.ndarray) else value


sin = _unary("sin", np.sin, "sin", "Sine of an angle [rad].")
cos = _unary("cos", np.cos, "cos", "Cosine of an angle [rad].")
tan = _unary("tan", np.tan, "tan", "Tangent of an angle [rad].")
asin = _unary("asin", np.arcsin, "asin", "Angle in [-pi/2, pi/2] whose sine is x.")
acos = _unary("acos", np.arccos, "acos", "Angle in [0, pi] whose cosine is x.")
atan = _unary("atan", np.arctan, "atan", "Angle in [-pi/2, pi/2] whose tangent is x.")
atan2 = _binary("atan2", np.arctan2, "atan2", "Angle in [-pi, pi] of the point at height x and distance y.")
sinh = _unary("sinh", np.sinh, "sinh", "Hyperbolic sine.")
cosh = _unary("cosh", np.cosh, "cosh", "Hyperbolic cosine.")
tanh = _unary("tanh", np.tanh, "tanh", "Hyperbolic tangent.")
asinh = _unary("asinh", np.arcsinh, "asinh", "Inverse hyperbolic sine.")
acosh = _unary("acosh", np.arccosh, "acosh", "Inverse hyperbolic cosine.")
atanh = _unary("atanh", np.arctanh, "atanh", "Inverse hyperbolic tangent.")
exp = _unary("exp", np.exp, "exp", "Exponential.")
log = _unary("log", np.log, "log", "Natural logarithm.")
log1p = _unary("log1p", np.log1p, "log1p", "log(1 + x), accurate near 0.")
expm1 = _unary("expm1", np.expm1, "expm1", "exp(x) - 1, accurate near 0.")
sqrt = _unary("sqrt", np.sqrt, "sqrt", "Square root.")
absolute = _unary("absolute", np.abs, "fabs", "Magnitude.")
sign = _unary("sign", np.sign, "sign", "-1, 0 or 1.")
floor = _unary("floor", np.floor, "floor", "Largest whole number not above x.")
ceil = _unary("ceil", np.ceil, "ceil", "Smallest whole number not below x.")
fmod = _binary("fmod", np.fmod, "fmod", "Remainder of x / y with the sign of x.")
power = _binary("power", np.float_power, "power", "x to the power y.")
hypot = _binary("hypot", np.hypot, "hypot", "sqrt(x^2 + y^2) without overflow.")
copysign = _binary("copysign", np.copysign, "copysign", "Magnitude of x with the sign of y.")
minimum = _binary("minimum", np.fmin, "fmin", "The smaller of x and y; the other one where one is NaN.")
maximum = _binary("maximum", np.fmax, "fmax", "The larger of x and y; the other one where one is NaN.")
logical_and = _binary("logical_and", np.logical_and, "logic_and", "Whether both are true (nonzero).")
logical_or = _binary("logical_or", np.logical_or, "logic_or", "Whether at least one is true (nonzero).")
logical_not = _unary("logical_not", np.logical_not, "logic_not", "Whether x is false (zero).")


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition is true, else b; the branch not taken has no effect, even if it is NaN."""
    if is_symbolic(condition):
        return ca.if_else(_symbols(condition), _symbols(a), _symbols(b))
    if not (is_symbolic(a) or is_symbolic(b)):
        return np.where(condition, a, b)[()]
    if np.ndim(condition) == 0:
        return _symbols(a) if condition else _symbols(b)
    return ca.if_else(ca.SX(ca.DM(np.asarray(condition, dtype=np.float64))), _symbols(a), _symbols(b))


def _is_number(value: Any, number: float) -> bool:
    return not is_symbolic(value) and bool(np.all(np.asarray(value) == number))


def clip(x: Any, low: Any, high: Any) -> Any:
    """x held between low and high (low <= high); NaN stays NaN."""
    if is_symbolic(x) or is_symbolic(low) or is_symbolic(high):
        # A bound known to be infinite costs nothing.
        above = x if _is_number(high, np.inf) else where(_symbols(x) > _symbols(high), _symbols(high), _symbols(x))
        return above if _is_number(low, -np.inf) else where(_symbols(x) < _symbols(low), _symbols(low), above)
    return np.clip(x, low, high)
