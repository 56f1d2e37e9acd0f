"""Weighted least squares of filtered data, robust if wished, with intervals for noise of any colour.

Symbols: X rows of the regressor over the noise of their joint, y forces over it, e = y - X beta, w weights.

    beta = argmin sum w e^2,   cov beta = (X^T W X)^-1 S (X^T W X)^-1
    S = sum_l k(l) sum_t s_t s_{t-l}^T,   s_t the sum of w x e over the joints at an instant

S (Newey and West 1987) sees that filtered noise is no new noise at each row, and that joints which share a gear share
its noise. k falls to 0 at a lag beyond which what is left is white.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.identification.motion_rows import Rows
from robodyn.results.signal import Floats

ROUNDS = 12
STEADY = 1e-3
HUBER = 1.345
"""Noise beyond which a row counts less: 95 % as efficient as least squares on normal noise (Huber 1981)."""
WHITE = 0.05
"""Correlation of what is left from one row to another that is none."""
UNKNOWN = 1e-8
"""Singular value of X, columns of one length, by the largest, below which the data say nothing."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """beta with its covariance; noise of each joint; root: R with |R (beta - b)|^2 the loss of any other b.

    Attributes:
        known: directions of beta (n_base, n_known) that the data tell; all others are kept at `start`.
        residuals: for each recording (n, joints), nan where a row is not used.
    """

    beta: Floats
    covariance: Floats
    noise: Floats
    root: Floats
    known: Floats
    residuals: tuple[Floats, ...]


def estimate(rows: Sequence[Rows], start: Floats, robust: bool = False) -> Estimate:
    """Fit beta to the rows of all recordings.

    Args:
        start: what stays of beta where the data say nothing.
    """
    Y, tau, used = (np.concatenate([getattr(r, part) for r in rows]) for part in ("Y", "tau", "used"))
    noise = np.where(used.any(axis=0), _spread(tau, used), 1.0)
    weights = used.astype(float)
    beta, known = start, np.eye(len(start))
    for _ in range(ROUNDS):
        beta, known = _solve(Y, tau, weights / noise**2, start)
        e = tau - Y @ beta
        before, noise = noise, np.where(used.any(axis=0), _spread(e, used, len(start), robust), 1.0)
        if robust:
            weights = used * np.minimum(1.0, HUBER * noise / np.maximum(np.abs(e), 1e-300))
        if np.all(np.abs(noise / before - 1) < STEADY):
            break
    X = (np.sqrt(weights) / noise)[:, :, None] * Y
    root = np.linalg.qr(X.reshape(-1, len(start)), mode="r")
    covariance = _covariance(rows, e, weights / noise**2, known)
    residuals = np.where(used, e, np.nan)
    ends = np.cumsum([len(r.time) for r in rows])[:-1]
    return Estimate(beta, covariance, noise, root, known, tuple(np.split(residuals, ends)))


def _spread(values: Floats, used: np.ndarray, parameters: int = 0, robust: bool = False) -> Floats:
    """Root mean square of the used rows of each joint; by the median of their sizes if spikes are to count little."""
    found = []
    for column, chosen in zip(values.T, used.T, strict=True):
        own = column[chosen]
        if not own.size:
            found.append(1.0)
        elif robust:
            found.append(1.4826 * float(np.median(np.abs(own))))
        else:
            found.append(float(np.sqrt(np.sum(own**2) / max(own.size - parameters / values.shape[1], 1))))
    return np.maximum(found, 1e-12)


def _solve(Y: Floats, tau: Floats, weights: Floats, start: Floats) -> tuple[Floats, Floats]:
    """beta and the directions that the data tell: the others would change nothing that is measured."""
    root = np.sqrt(weights)
    X, y = (root[:, :, None] * Y).reshape(-1, len(start)), (root * (tau - Y @ start)).ravel()
    lengths = np.linalg.norm(X, axis=0)
    told = lengths > 0
    scale = np.where(told, lengths, 1.0)
    U, values, V = np.linalg.svd(X / scale, full_matrices=False)
    seen = values > UNKNOWN * values[0]
    step = V[seen].T @ ((U.T @ y)[seen] / values[seen])
    return start + step / scale, (V[seen] / scale).T


def _covariance(rows: Sequence[Rows], e: Floats, weights: Floats, known: Floats) -> Floats:
    """Within the directions that are known."""
    n = known.shape[1]
    bread, meat = np.zeros((n, n)), np.zeros((n, n))
    begin = 0
    for r in rows:
        part = slice(begin, begin + len(r.time))
        begin += len(r.time)
        Z = r.Y @ known
        bread += np.einsum("tjk,tjl,tj->kl", Z, Z, weights[part])
        scores = np.einsum("tjk,tj->tk", Z, weights[part] * e[part])
        meat += _long_run(scores, _memory(e[part] * np.sqrt(weights[part])))
    inverse = np.linalg.inv(bread)
    freedom = sum(int((r.used).sum()) for r in rows)
    return known @ (inverse @ meat @ inverse * freedom / max(freedom - n, 1)) @ known.T


def _memory(e: Floats) -> int:
    """Lag from which on what is left is white, with room for the kernel's slope."""
    n = len(e)
    power = np.zeros(2 * n)
    for column in e.T:
        power += np.abs(np.fft.fft(column, 2 * n)) ** 2
    correlation = np.fft.ifft(power).real[: n // 4]
    correlation = correlation / max(correlation[0], 1e-300)
    loud = np.flatnonzero(np.abs(correlation) > WHITE)
    first = np.flatnonzero(np.abs(correlation) <= WHITE)
    last = int(first[0]) if first.size else len(correlation)
    return min(4 * max(last, 1), max(n // 4, 1)) if loud.size else 1


def _long_run(scores: Floats, lags: int) -> Floats:
    """Sum of the scores' covariances over lags, by Bartlett's kernel 1 - l / (lags + 1)."""
    found = scores.T @ scores
    for lag in range(1, lags + 1):
        part = scores[lag:].T @ scores[:-lag]
        found += (1 - lag / (lags + 1)) * (part + part.T)
    return found
