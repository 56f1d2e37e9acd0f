"""Numerics: where are equations met, and where does something change? One damped Newton method, one bisection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
"""Numbers of any kind, vectors, matrices and stacks of them; docstrings say their shapes."""


class NewtonResult(NamedTuple):
    """Where Newton's method ended, the residual there, the steps taken, and whether that is a solution."""

    z: np.ndarray
    residual: np.ndarray
    steps: int
    solved: bool


def solve_newton(
    evaluate: Callable[[np.ndarray], tuple[np.ndarray, Any]],
    find_step: Callable[[np.ndarray, np.ndarray, Any], np.ndarray | None],
    z: np.ndarray,
    *,
    most_steps: int,
    still: float,
    settled: float | None = None,
    shorten: Callable[[np.ndarray, np.ndarray], float] = lambda z, step: 1.0,
    least: float = 1e-4,
    uphill: bool = False,
) -> NewtonResult:
    """Newton's method for r(z) = 0, damped: a step that does not reduce |r| is halved until it does.

    Args:
        evaluate: z -> r(z), and what the step is found from beside it, such as dr/dz.
        find_step: z, r and that -> the whole step; None where there is none.
        still: largest entry of r at a solution; settled: largest of the step there, which is then taken; None: any.
        shorten: z and the whole step -> the part of it to begin with.
        least: part of a step below which it is not halved any more; uphill: whether it is taken nevertheless, so that
            the next one may begin elsewhere.
    """
    residual, more = evaluate(z)
    for k in range(most_steps):
        is_still = np.max(np.abs(residual), initial=0.0) <= still
        if is_still and settled is None:
            return NewtonResult(z, residual, k, True)
        step = find_step(z, residual, more) if np.all(np.isfinite(residual)) else None
        if step is None:
            return NewtonResult(z, residual, k, False)
        if is_still and settled is not None and np.max(np.abs(step), initial=0.0) <= settled:
            return NewtonResult(z + step, residual, k + 1, True)
        factor, size = shorten(z, step), np.linalg.norm(residual)
        while factor > least:
            fresh = evaluate(z + factor * step)
            if np.linalg.norm(fresh[0]) < size:
                break
            factor /= 2
        else:
            if not uphill:
                return NewtonResult(z, residual, k, False)
            fresh = evaluate(z + factor * step)
        z, (residual, more) = z + factor * step, fresh
    solved = settled is None and bool(np.max(np.abs(residual), initial=0.0) <= still)
    return NewtonResult(z, residual, most_steps, solved)


def limit_step(longest: float) -> Callable[[np.ndarray, np.ndarray], float]:
    """Steps of which no entry is longer than that: see `solve_newton`."""
    return lambda z, step: min(1.0, longest / max(float(np.max(np.abs(step))), 1e-300))


def _mean(a: Any, b: Any) -> Any:
    return 0.5 * (a + b)


def bisect(
    is_beyond: Callable[[Any], Any],
    before: Any,
    beyond: Any,
    halvings: int = 2000,
    *,
    within: float = 0.0,
    halve: Callable[[Any, Any], Any] = _mean,
) -> tuple[Any, Any]:
    """The last place before a change and the first beyond it, so many halvings later, or next to each other.

    Args:
        is_beyond: whether a place is; of arrays, of each.
        within: distance of two places that is small enough. halve: the place between two others.
    """
    for _ in range(halvings):
        middle = halve(before, beyond)
        if np.ndim(middle):
            there = is_beyond(middle)
            before, beyond = np.where(there, before, middle), np.where(there, middle, beyond)
        elif middle in (before, beyond) or abs(beyond - before) <= within:
            break
        elif is_beyond(middle):
            beyond = middle
        else:
            before = middle
    return before, beyond
