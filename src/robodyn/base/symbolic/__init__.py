"""Symbolic functions: the few that laws need, working alike on floats, numpy arrays and CasADi symbols."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from robodyn.base import Array
from robodyn.base.lazy import ca

from .tables import gather, locate

__all__ = [
    "absolute", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clip", "copysign", "cos",
    "cosh", "exp", "expm1", "floor", "fmod", "hold_table", "hypot", "is_symbolic", "length", "log", "log1p",
    "logical_and", "logical_not", "logical_or", "maximum", "minimum", "power", "sign", "sin", "sinh",
    "solve_linear", "sqrt", "stack", "symbol", "table", "tan", "tanh", "where",
]  # fmt: skip

# --------------------------------------------------------------------------------------------------
# Numbers or symbols: which of them is a value made of, and how are several put into one column?


def is_expression(value: Any) -> bool:
    """Whether a value is a CasADi SX; where CasADi is not loaded, there is none."""
    return "casadi" in sys.modules and isinstance(value, ca.SX)


def is_symbolic(value: Any) -> bool:
    """Whether a value is a CasADi SX or a sequence or object array that holds one."""
    if isinstance(value, float):
        return False
    if is_expression(value):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(is_symbolic(item) for item in value.flat)
    return isinstance(value, list | tuple) and any(is_symbolic(item) for item in value)


def symbol(name: str, n: int = 1) -> ca.SX:
    """A column of n new symbols."""
    return ca.SX.sym(name, n)


def length(values: Any) -> int:
    """Entries of a sequence, or of an array or column along its first axis."""
    return len(values) if isinstance(values, Sequence) else int(values.shape[0])


def changed_entries(before: ca.SX, after: ca.SX) -> list[int]:
    """Places at which two columns differ, as far as two levels of their expressions show."""
    pairs = zip(*(ca.vertsplit(ca.densify(column)) for column in (before, after)), strict=True)
    # The same node is the same without a look at what it is made of, which takes ten times longer.
    return [k for k, (a, b) in enumerate(pairs) if a.element_hash() != b.element_hash() and not ca.is_equal(a, b, 2)]


def to_column(entries: Iterable[Any]) -> ca.SX:
    """Expressions one below the other; of none, a column without entries."""
    return ca.vertcat(ca.SX(0, 1), *entries)


def pick_entries(column: ca.SX, places: Iterable[int]) -> ca.SX:
    """Some entries of a column; of none a column too, which a slice of a single entry would not be."""
    return to_column(column[k] for k in places)


def nonzeros(values: Any) -> dict[int, Any]:
    """The entries of a row, column or sequence that are not exactly zero, by their places."""
    if isinstance(values, ca.SX):
        sparse = ca.sparsify(ca.vec(values))
        return dict(zip(sparse.row(), sparse.nonzeros(), strict=True))
    return {k: value for k, value in enumerate(values) if not is_zero(value)}


def stack(values: Any) -> Any:
    """All values one below the other: a dense SX column if any is a symbol, else a flat numpy array.

    Nested sequences are taken in order; matrices column by column.
    """
    if is_symbolic(values):
        parts: list[ca.SX] = []
        # Numbers among symbols cost CasADi five times as much as symbols: a run of zeros is one sparse column.
        for are_zeros, run in groupby(_items(values), lambda item: isinstance(item, float) and item == 0.0):
            entries = list(run)
            parts += [ca.SX(len(entries), 1)] if are_zeros else map(_column, entries)
        return ca.densify(ca.vertcat(*parts))
    columns = [np.asarray(item, dtype=np.float64).ravel(order="F") for item in _items(values)]
    return np.concatenate(columns) if columns else np.zeros(0)


def _items(values: Any) -> Iterable[Any]:
    """The matrices, arrays and scalars in nested sequences."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        yield from values.ravel(order="F")
    elif isinstance(values, list | tuple):
        for value in values:
            if isinstance(value, float):
                yield value
            else:
                yield from _items(value)
    else:
        yield values


def _column(item: Any) -> ca.SX:
    if isinstance(item, ca.SX):
        return item if item.is_column() else ca.vec(item)
    return ca.SX(item if isinstance(item, float) else np.asarray(item, dtype=np.float64).ravel(order="F"))


# --------------------------------------------------------------------------------------------------
# Elementary functions: which work alike on floats, numpy arrays and CasADi symbols?
#
# Numbers go to numpy and never meet CasADi; symbols go to the operation of the same meaning in CasADi.


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


# --------------------------------------------------------------------------------------------------
# Interpolation of tables: what is the value between their points, for numbers and for symbols?


def table(x: Any, xs: Any, ys: Any) -> Any:
    """Piecewise linear through the points, constant beyond the ends.

        y(x) = ys[k] + (ys[k+1] - ys[k]) / (xs[k+1] - xs[k]) (x - xs[k]),  xs[k] <= x < xs[k+1]

    At a knot the derivative is the slope to its right (at the last one, the slope to its left).

    Args:
        xs: strictly increasing abscissae, numbers or symbols, at least 2.
        ys: as many ordinates, numbers or symbols.
    """
    if is_symbolic(xs) or is_symbolic(ys):
        return _sum_of_ramps(x, stack(xs), stack(ys))
    xs, ys = _checked(xs, ys)
    if not is_symbolic(x):
        return np.interp(x, xs, ys)
    if x.is_constant():
        return _constant(np.interp(_numbers(x), xs, ys))

    index = locate(xs[:-1], x)
    slope = gather(np.diff(ys) / np.diff(xs), index)
    return gather(ys[:-1], index) + slope * (clip(x, xs[0], xs[-1]) - gather(xs[:-1], index))


def hold_table(x: Any, xs: Any, ys: Any) -> Any:
    """Piecewise constant and right-continuous: ys[k] for xs[k] <= x < xs[k+1], ys[0] before xs[0].

    Args:
        xs: strictly increasing abscissae, numbers or symbols, at least 2.
        ys: as many ordinates, numbers or symbols.
    """
    if is_symbolic(xs) or is_symbolic(ys):
        return _sum_of_steps(x, stack(xs), stack(ys))
    xs, ys = _checked(xs, ys)
    if not is_symbolic(x):
        return _held(x, xs, ys)
    if x.is_constant():
        return _constant(_held(_numbers(x), xs, ys))

    return gather(ys, locate(xs, x))


def _held(x: Any, xs: Array, ys: Array) -> Any:
    # A NaN is below every knot, as it is for the compiled search; numpy sorts it above all.
    x = np.where(np.isnan(x), -np.inf, x)
    return ys[np.maximum(np.searchsorted(xs, x, side="right") - 1, 0)]


def _sum_of_ramps(x: Any, xs: Any, ys: Any) -> Any:
    """y = ys[0] + sum_k slope_k clip(x - xs[k], 0, xs[k+1] - xs[k]), for tables that hold symbols."""
    n = _checked_sizes(xs, ys)
    y = ys[0]
    for k in range(n - 1):
        width = xs[k + 1] - xs[k]
        y = y + (ys[k + 1] - ys[k]) / width * clip(x - xs[k], 0.0, width)
    return y


def _sum_of_steps(x: Any, xs: Any, ys: Any) -> Any:
    y = ys[0]
    for k in range(1, _checked_sizes(xs, ys)):
        y = where(x >= xs[k], ys[k], y)
    return y


def _checked(xs: Any, ys: Any) -> tuple[Array, Array]:
    xs, ys = (np.array(values, dtype=np.float64).ravel() for values in (xs, ys))
    _checked_sizes(xs, ys)
    for label, values in (("xs", xs), ("ys", ys)):
        if not np.isfinite(values).all():
            k = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"a table needs finite {label}, but {label}[{k}] is {values[k]}")
    falls = np.flatnonzero(np.diff(xs) <= 0)
    if falls.size:
        k = int(falls[0])
        pair = f"xs[{k}] = {xs[k]} and xs[{k + 1}] = {xs[k + 1]}"
        raise ValueError(f"a table needs strictly increasing xs, but {pair}")
    return xs, ys


def _checked_sizes(xs: Any, ys: Any) -> int:
    n = xs.shape[0]
    if n < 2:
        raise ValueError(f"a table needs at least 2 points, not {n}")
    if ys.shape[0] != n:
        raise ValueError(f"a table needs as many ys as xs, but there are {ys.shape[0]} ys and {n} xs")
    return n


def _numbers(x: ca.SX) -> Array:
    return np.array(ca.evalf(x))


def _constant(values: Any) -> ca.SX:
    return ca.SX(ca.DM(values))


# --------------------------------------------------------------------------------------------------
# Linear equations by QR: how does a law solve a small set of them, for numbers and for symbols alike?
#
#     A x = b,   A = Q R by Householder reflections
#
# A graph cannot choose its pivots while it runs. Reflections need none: they do not amplify rounding errors whatever
# the order of the rows. Entries known to be zero cost nothing.


def solve_linear(A: Sequence[Sequence[Any]], b: Sequence[Any]) -> tuple[Any, ...]:
    """Solution x of A x = b for a square A, dense or with zeros, of numbers or symbols.

    Args:
        A: rows, (n, n); b: (n,).

    Raises:
        ValueError: when A is not square or b has not as many entries.
        numpy.linalg.LinAlgError: when A holds numbers and is singular; symbols then give infinities where they run.
    """
    rows, right = [list(row) for row in A], list(b)
    n = len(rows)
    if any(len(row) != n for row in rows) or len(right) != n:
        raise ValueError(f"needs a square matrix and as many right sides, has {n} rows and {len(right)} right sides")
    if not is_symbolic(rows) and not is_symbolic(right):
        return tuple(np.linalg.solve(np.array(rows, float), np.array(right, float)).tolist())
    return factor_linear(rows)(right)


def factor_linear(A: Sequence[Sequence[Any]]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """The solution of A x = b as a function of b, for a square A of symbols that is taken apart once.

    Args:
        A: rows, (n, n).
    """
    rows = [list(row) for row in A]
    mirrors = [_reflect(rows, k) for k in range(len(rows) - 1)]

    def solve(b: Sequence[Any]) -> tuple[Any, ...]:
        right = list(b)
        for mirror in mirrors:
            _mirror(right, mirror)
        n = len(rows)
        x: list[Any] = [0.0] * n
        for k in reversed(range(n)):
            terms = [rows[k][j] * x[j] for j in range(k + 1, n) if not is_zero(rows[k][j])]
            x[k] = (right[k] - sum(terms)) / rows[k][k]
        return tuple(x)

    return solve


Mirror = tuple[Any, dict[int, Any]]
"""A reflection `column -= v s (v^T column)`: s = 2 / (v^T v), and the entries of v."""


def _reflect(rows: list[list[Any]], k: int) -> Mirror:
    """Make column k zero below its diagonal, by v = a_k + sign(a_kk) |a_k| e_k."""
    n = len(rows)
    below = [i for i in range(k + 1, n) if not is_zero(rows[i][k])]
    if not below:
        return 0.0, {}
    length = sqrt(sum(rows[i][k] * rows[i][k] for i in (k, *below)))
    diagonal = -copysign(length, rows[k][k])
    v = {k: rows[k][k] - diagonal} | {i: rows[i][k] for i in below}
    # v^T v = 2 |a_k| (|a_k| + |a_kk|) = -2 diagonal v_k
    mirror = -1.0 / (diagonal * v[k]), v
    for j in range(k + 1, n):
        column = [row[j] for row in rows]
        _mirror(column, mirror)
        for i in v:
            rows[i][j] = column[i]
    rows[k][k] = diagonal
    for i in below:
        rows[i][k] = 0.0
    return mirror


def _mirror(column: list[Any], mirror: Mirror) -> None:
    scale, v = mirror
    touched = [i for i in v if not is_zero(column[i])]
    if touched:
        share = scale * sum(v[i] * column[i] for i in touched)
        for i, entry in v.items():
            column[i] = column[i] - share * entry


def is_zero(value: Any) -> bool:
    """Whether a number or expression is exactly zero, so that work with it can be skipped."""
    return bool(value.is_zero()) if is_expression(value) else value == 0.0
