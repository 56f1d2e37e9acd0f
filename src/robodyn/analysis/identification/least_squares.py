"""Weighted least squares of filtered data, robust if wished, with intervals for noise of any colour.

Symbols: X rows of the regressor over the noise of their joint, y forces over it, e = y - X beta, w weights.

    beta = argmin sum w e^2

Its covariance is that of `coloured_noise`: filtered noise is no new noise at each row, and joints which share a gear
share its noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.analysis.coloured_noise import Part, Spread, find_spread
from robodyn.analysis.identification.motion_rows import Rows
from robodyn.computation.results.signal import Floats

ROUNDS = 12
STEADY = 1e-3
HUBER = 1.345
"""Noise beyond which a row counts less: 95 % as efficient as least squares on normal noise (Huber 1981)."""
UNKNOWN = 1e-8
"""Singular value of X, columns of one length, by the largest, below which the data say nothing."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """beta; noise of each joint; root: R with |R (beta - b)|^2 the loss of any other b.

    Attributes:
        known: directions of beta (n_base, n_known) that the data tell; all others are kept at `start`.
        parts: weighed rows and residuals of each recording, by these directions.
        residuals: for each recording (n, joints), nan where a row is not used.
    """

    beta: Floats
    noise: Floats
    root: Floats
    known: Floats
    parts: tuple[Part, ...]
    residuals: tuple[Floats, ...]

    @cached_property
    def spread(self) -> Spread:
        """Of beta."""
        return find_spread(self.parts, self.known)


def estimate(rows: Sequence[Rows], start: Floats, robust: bool = False) -> Estimate:
    """Fit beta to the rows of all recordings.

    Args:
        start: what stays of beta where the data say nothing.
    """
    Y, tau, used = (np.concatenate([getattr(r, part) for r in rows]) for part in ("Y", "tau", "used"))
    weights = used.astype(float)
    roots = _reduce(Y, tau - Y @ start, weights)
    counts = weights.sum(axis=0)
    noise = np.sqrt(np.array([np.sum(root[:, -1] ** 2) for root in roots]) / np.maximum(counts, 1))
    noise = np.where(noise > 0, noise, 1.0)
    step, known = np.zeros(len(start)), np.eye(len(start))
    for _ in range(ROUNDS):
        step, known = _solve(np.vstack([root / level for root, level in zip(roots, noise, strict=True)]))
        before, noise = noise, _spread(roots, step, counts, noise)
        if robust:
            e = tau - Y @ (start + step)
            sizes = np.abs(np.where(used, e, np.nan))
            noise = np.where(counts > 0, 1.4826 * np.nanmedian(sizes, axis=0), before)
            weights = used * np.minimum(1.0, HUBER * noise / np.maximum(np.abs(e), 1e-300))
            roots = _reduce(Y, tau - Y @ start, weights)
        if np.all(np.abs(noise / before - 1) < STEADY):
            break
    e = tau - Y @ (start + step)
    root = _triangle(np.vstack([r[:, :-1] / level for r, level in zip(roots, noise, strict=True)]))
    ends = np.cumsum([len(r.time) for r in rows])[:-1]
    weighed = np.split(np.sqrt(weights) / noise, ends), np.split(e, ends)
    # The low-pass leaves two rows new in a period of its cutoff.
    parts = [
        Part(w[:, :, None] * (r.Y @ known), w * own, r.used, min(2 * r.cutoff / r.rate, 1.0))
        for r, w, own in zip(rows, *weighed, strict=True)
    ]
    left = tuple(np.split(np.where(used, e, np.nan), ends))
    return Estimate(start + step, noise, root, known, tuple(parts), left)


def _reduce(Y: Floats, tau: Floats, weights: Floats) -> list[Floats]:
    """For each joint the triangle R with |R [x; -1]| = |Y x - tau| by weights: all that least squares needs."""
    found = []
    for k in range(tau.shape[1]):
        own = weights[:, k] > 0
        root = np.sqrt(weights[own, k])[:, None]
        found.append(_triangle(root * np.column_stack([Y[own, k], tau[own, k]])))
    return found


def _triangle(matrix: Floats) -> Floats:
    """R of its QR decomposition."""
    found: Any = np.linalg.qr(matrix, mode="r")
    return np.asarray(found)


def _spread(roots: Sequence[Floats], step: Floats, counts: Floats, before: Floats) -> Floats:
    """Root mean square of what is left of each joint's rows, for as many parameters less as are its share."""
    left = np.array([np.sum((root @ np.append(step, -1.0)) ** 2) for root in roots])
    freedom = counts - len(step) * counts / max(counts.sum(), 1)
    return np.where(counts > 0, np.sqrt(np.maximum(left / np.maximum(freedom, 1), 1e-24)), before)


def _solve(root: Floats) -> tuple[Floats, Floats]:
    """The step from the start and the directions that the data tell: others would change nothing that is measured."""
    X, y = root[:, :-1], root[:, -1]
    lengths = np.linalg.norm(X, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    U, values, V = np.linalg.svd(X / scale, full_matrices=False)
    seen = values > UNKNOWN * values[0]
    step = V[seen].T @ ((U.T @ y)[seen] / values[seen])
    return step / scale, (V[seen] / scale).T
