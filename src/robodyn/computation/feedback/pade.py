"""Pade approximation: which small linear system behaves like a pure delay?

The Pade approximation of order n of the delay,

    e^(-s tau) = (coth z - 1) / (coth z + 1),  z = s tau / 2,
    coth z = 1/z + 1/(3/z + 1/(5/z + ... + 1/((2 n - 1)/z))),

is the continued fraction cut after n terms: a ladder of n integrators. Built as that ladder it has no large
coefficients, is stable and all-pass for every order.

A model whose signals w are delayed, with what comes out of them d,

    x' = A x + B u + E d,   w = F x + G u + H d,   y = C x + D u + K d,

has A, B, C, D alone once finite lines z' = a z + b w, d = c z + e w stand for its delays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from robodyn.base.errors import Flaw, ModelError

Parts: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


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


def close_lines(rates: Parts, delayed: Parts, outputs: Parts, line: StateSpace) -> StateSpace:
    """A model with lines in the place of its delays, its states followed by theirs.

        d = (I - e H)^-1 (c z + e F x + e G u)

    Args:
        rates, delayed, outputs: (A, B, E), (F, G, H), (C, D, K); line: of all delays together.

    Raises:
        LinAlgError: where lines that feed one another make an algebraic loop.
    """
    (A, B, E), (F, G, H), (C, D, K) = rates, delayed, outputs
    through = np.eye(len(H)) - line.D @ H
    of_z, of_x, of_u = (np.linalg.solve(through, part) for part in (line.C, line.D @ F, line.D @ G))
    w_of_x, w_of_u, w_of_z = F + H @ of_x, G + H @ of_u, H @ of_z
    return StateSpace(
        np.block([[A + E @ of_x, E @ of_z], [line.B @ w_of_x, line.A + line.B @ w_of_z]]),
        np.vstack([B + E @ of_u, line.B @ w_of_u]),
        np.hstack([C + K @ of_x, K @ of_z]),
        D + K @ of_u,
    )


def join_lines(times: Sequence[float], order: int) -> StateSpace:
    """Pade approximations of several delays as one system, one after the other."""
    # Loaded where it is used: a plain run needs none of it.
    from scipy.linalg import block_diag

    lines = [approximate_delay(time, order) for time in times]
    return StateSpace(*(block_diag(*parts) for parts in zip(*lines, strict=True)))


def _check(time: float, order: int) -> None:
    if not time > 0:
        raise ModelError([Flaw("time", f"a delay must be positive, is {time:g} s")])
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
        raise ModelError([Flaw("order", f"must be a whole number of at least 0, is {order!r}")])
