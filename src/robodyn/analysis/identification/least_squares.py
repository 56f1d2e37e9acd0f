"""Weighted least squares of filtered data, robust if wished, with intervals for noise of any colour.

Symbols: X rows of the regressor over the noise of their joint, y forces over it, e = y - X beta, w weights.

    beta = argmin sum w e^2,   cov beta = (X^T W X)^-1 S (X^T W X)^-1
    S = sum_l k(l) sum_t s_t s_{t-l}^T,   s_t the sum of w x e over the joints at an instant

S (Newey and West 1987) sees that filtered noise is no new noise at each row, and that joints which share a gear share
its noise. k is 1 up to the lag at which what is left is white, and 0 from twice that lag on (Politis and Romano 1995).
That holds for noise that changes with the motion too, and scatters by a fifth. Deviations are no less than those for
noise of one spectrum all the time, S = sum_l k(l) sum_t x_t R(l) x_{t-l}^T, R its correlations, which scatter less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    covariance = _covariance(rows, e, weights / noise**2, known)
    ends = np.cumsum([len(r.time) for r in rows])[:-1]
    return Estimate(start + step, covariance, noise, root, known, tuple(np.split(np.where(used, e, np.nan), ends)))


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


def _covariance(rows: Sequence[Rows], e: Floats, weights: Floats, known: Floats) -> Floats:
    """Within the directions that are known."""
    n = known.shape[1]
    bread, meat, steady = np.zeros((3, n, n))
    begin, independent = 0, 0.0
    for r in rows:
        part = slice(begin, begin + len(r.time))
        begin += len(r.time)
        Z = r.Y @ known
        bread += np.einsum("tjk,tjl,tj->kl", Z, Z, weights[part], optimize=True)
        scores = np.einsum("tjk,tj->tk", Z, weights[part] * e[part])
        root = np.sqrt(weights[part])
        memory = _memory(e[part] * root)
        meat += _long_run(scores, memory)
        steady += _stationary(Z * root[:, :, None], e[part] * root, r.used, memory)
        independent += float(r.used.sum()) * min(2 * r.cutoff / r.rate, 1.0)
    inverse = np.linalg.inv(bread)
    # Of the filtered rows two a period of the cutoff are new; parameters have taken their share of these.
    share = independent / max(independent - n, 1.0)
    robust, plain = (known @ (inverse @ part @ inverse * share) @ known.T for part in (meat, steady))
    raised = np.sqrt(np.maximum(np.diag(plain) / np.maximum(np.diag(robust), 1e-300), 1.0))
    return robust * np.outer(raised, raised)


def _stationary(X: Floats, e: Floats, used: np.ndarray, memory: int) -> Floats:
    """Sum of x_t R(l) x_{t-l}^T over lags, R the mean products of the joints' noise."""
    there = used.astype(float)
    found = np.zeros((X.shape[2],) * 2)
    for lag in range(2 * memory):
        first, second = slice(lag, None), slice(0, len(e) - lag)
        R = e[first].T @ e[second] / np.maximum(there[first].T @ there[second], 1.0)
        mixed = np.einsum("jk,tka->tja", R, X[second])
        part = X[first].reshape(-1, X.shape[2]).T @ mixed.reshape(-1, X.shape[2])
        found += min(1.0, 2 - lag / memory) * (part + part.T) / (2.0 if lag == 0 else 1.0)
    return found


def _memory(e: Floats) -> int:
    """Lag from which on what is left is white."""
    n = len(e)
    power = np.zeros(2 * n)
    for column in e.T:
        power += np.abs(np.fft.fft(column, 2 * n)) ** 2
    correlation = np.fft.ifft(power).real[: n // 4]
    correlation = correlation / max(correlation[0], 1e-300)
    first = np.flatnonzero(np.abs(correlation) <= WHITE)
    last = int(first[0]) if first.size else len(correlation)
    return min(max(last, 1), max(n // 8, 1))


def _long_run(scores: Floats, memory: int) -> Floats:
    """Sum of the scores' covariances over lags by the kernel min(1, 2 - l / memory), nowhere negative."""
    found = scores.T @ scores
    for lag in range(1, 2 * memory):
        part = scores[lag:].T @ scores[:-lag]
        found += min(1.0, 2 - lag / memory) * (part + part.T)
    sizes = np.sqrt(np.maximum(np.diag(found), 1e-300))
    values, vectors = np.linalg.eigh(found / np.outer(sizes, sizes))
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    return half @ half.T * np.outer(sizes, sizes)
