"""Pade approximation: which small linear system behaves like a pure delay?

The Pade approximation of order n of the delay,

    e^(-s tau) = (coth z - 1) / (coth z + 1),  z = s tau / 2,
    coth z = 1/z + 1/(3/z + 1/(5/z + ... + 1/((2 n - 1)/z))),

is the continued fraction cut after n terms: a ladder of n integrators. Built as that ladder it has no large
coefficients, is stable and all-pass for every order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.errors import Flaw, ModelError


class StateSpace(NamedTuple):
    """x' = A x + B u, y = C x + D u."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray


def approximate_delay(time: float, order: int) -> StateSpace:
    """State space of the Pade approximation (order over order) of a delay.

    State k integrates the flow at rung k of the ladder: currents i at the odd rungs, voltages v at the even ones,

        x_k' = (2 k - 1) (2 / tau) (i or v, less what flows off before rung k),
        u = v + i,  y = v - i.

    Args:
        time: the delay [s], positive.
        order: 0 is no delay at all, y = u.
    """
    _check(time, order)
    rung = np.arange(order)
    # Sums over the last rung's kind are known; the other kind's follow from u = v + i.
    known = (rung % 2 == (order - 1) % 2).astype(float)
    flow = np.outer(1 - 2 * known, known)
    flow -= (rung[None, :] < rung[:, None]) & ((rung[:, None] - rung[None, :]) % 2 == 1)
    gains = (2 * rung + 1) * 2 / time
    sign = float((-1) ** order)
    return StateSpace(gains[:, None] * flow, (gains * known)[:, None], -2 * sign * known[None, :], np.array([[sign]]))


def _check(time: float, order: int) -> None:
    if not time > 0:
        raise ModelError([Flaw("time", f"a delay must be positive, is {time:g} s")])
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
        raise ModelError([Flaw("order", f"must be a whole number of at least 0, is {order!r}")])
