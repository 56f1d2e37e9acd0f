"""Interpolation of tables: what is the value between their points, for numbers and for symbols?"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.lazy import ca
from robodyn.base.symbolic.elementary import clip, where
from robodyn.base.symbolic.kinds import is_symbolic, stack
from robodyn.base.symbolic.tables import gather, locate


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


def _held(x: Any, xs: np.ndarray, ys: np.ndarray) -> Any:
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


def _checked(xs: Any, ys: Any) -> tuple[np.ndarray, np.ndarray]:
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


def _numbers(x: ca.SX) -> np.ndarray:
    return np.array(ca.evalf(x))


def _constant(values: Any) -> ca.SX:
    return ca.SX(ca.DM(values))
