"""Least squares with physically possible bodies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.analysis.coloured_noise import ResidualRows, Spread, find_spread
from robodyn.base import Array, frozen

from .motion_rows import RegressionRows
from .regressor import Parameter

# --------------------------------------------------------------------------------------------------
# Weighted least squares of filtered data, robust if wished, with intervals for noise of any colour.
#
# Symbols: X rows of the regressor over the noise of their joint in their recording, y forces over it, e = y - X beta,
# w weights.
#
#     beta = argmin sum w e^2
#
# Its covariance is that of `coloured_noise`: filtered noise is no new noise at each row, and joints which share a gear
# share its noise.


ROUNDS = 12
STEADY = 1e-3
HUBER = 1.345
"""Noise beyond which a row counts less: 95 % as efficient as least squares on normal noise (Huber 1981)."""
OUTLIER, FEW, RARE = 10.0, 3, 0.05
"""Robust deviations beyond which a row is an outlier; how many are none, and the share from which on they are noise."""
SHARED = 20.0
"""Rows by which the noise of a joint in all recordings counts in that of one: a short one alone tells little."""
UNKNOWN = 1e-8
"""Singular value of X, columns of one length, by the largest, below which the data say nothing."""


@frozen(eq=False)
class Estimate:
    """beta; noise of each joint; root: R with |R (beta - b)|^2 the loss of any other b.

    Attributes:
        known: directions of beta (n_base, n_known) that the data tell; all others are kept at `start`.
        parts: weighed rows and residuals of each recording, by these directions.
        residuals: for each recording (n, joints), nan where a row is not used.
    """

    beta: Array
    noise: Array
    root: Array
    known: Array
    parts: tuple[ResidualRows, ...]
    residuals: tuple[Array, ...]

    @cached_property
    def spread(self) -> Spread:
        """The standard deviations of beta."""
        return find_spread(self.parts, self.known)

    @property
    def outliers(self) -> int:
        """Residuals beyond all that noise or a lacking law make, 0 where there are no more than a few."""
        far = count = 0
        for e in map(np.abs, self.residuals):
            usual = 1.4826 * np.nanmedian(np.where(np.isfinite(e).any(axis=0), e, 0.0), axis=0)
            far += int(np.sum(e > OUTLIER * usual))
            count += int(np.isfinite(e).sum())
        return far if far > FEW and far < RARE * count else 0


def estimate(rows: Sequence[RegressionRows], start: Array, robust: bool = False) -> Estimate:
    """Fit beta to the rows of all recordings.

    Args:
        start: what stays of beta where the data say nothing.
    """
    weights = [r.used.astype(float) for r in rows]
    targets = [r.tau - r.Y @ start for r in rows]
    # Triangles of each recording and joint: all that least squares needs, (recordings, joints, n, n).
    roots = [_reduce(r.Y, target, w) for r, target, w in zip(rows, targets, weights, strict=True)]
    counts = np.array([w.sum(axis=0) for w in weights])
    nothing = np.zeros(len(start))
    noise = _noise_levels(_squares(roots, nothing), counts, 0)
    step, known = nothing, np.eye(len(start))
    for _ in range(ROUNDS):
        step, known = _solve(_weighed(roots, noise))
        before, noise = noise, _noise_levels(_squares(roots, step), counts, len(step))
        if robust:
            left = [np.where(r.used, np.abs(y - r.Y @ step), np.nan) for r, y in zip(rows, targets, strict=True)]
            noise = _median_levels(left, counts, before)
            limits = [HUBER * level / np.maximum(e, 1e-300) for e, level in zip(left, noise, strict=True)]
            weights = [np.where(r.used, np.minimum(1.0, limit), 0.0) for r, limit in zip(rows, limits, strict=True)]
            roots = [_reduce(r.Y, target, w) for r, target, w in zip(rows, targets, weights, strict=True)]
        if np.all(np.abs(noise / before - 1) < STEADY):
            break
    parts, residuals = list[ResidualRows](), list[Array]()
    for r, target, w, level in zip(rows, targets, weights, noise, strict=True):
        e, scale = target - r.Y @ step, np.sqrt(w) / level
        # The low-pass leaves two rows new in a period of its cutoff.
        new = min(2 * r.cutoff / r.rate, 1.0)
        parts.append(ResidualRows(scale[:, :, None] * (r.Y @ known), scale * e, r.used, new))
        residuals.append(np.where(r.used, e, np.nan))
    root = _triangle(_weighed(roots, noise)[:, :-1])
    return Estimate(start + step, _together(noise, counts), root, known, tuple(parts), tuple(residuals))


def _reduce(Y: Array, tau: Array, weights: Array) -> list[Array]:
    """For each joint the triangle R with |R [x; -1]| = |Y x - tau| by weights."""
    found = []
    for k in range(tau.shape[1]):
        own = weights[:, k] > 0
        root = np.sqrt(weights[own, k])[:, None]
        found.append(_triangle(root * np.column_stack([Y[own, k], tau[own, k]])))
    return found


def _weighed(roots: Sequence[Sequence[Array]], noise: Array) -> Array:
    """All triangles by their noise, one below the other."""
    pairs = [zip(own, levels, strict=True) for own, levels in zip(roots, noise, strict=True)]
    return np.vstack([root / level for own in pairs for root, level in own])


def _squares(roots: Sequence[Sequence[Array]], step: Array) -> Array:
    """Sum of squares that a step leaves of each recording's joints."""
    whole = np.append(step, -1.0)
    return np.array([[np.sum((root @ whole) ** 2) for root in own] for own in roots])


def _noise_levels(squares: Array, counts: Array, parameters: int) -> Array:
    """Deviation of each recording's joints, for as many parameters less as are their share."""
    freedom = np.maximum(counts * (1 - parameters / max(counts.sum(), 1)), 1e-3)
    whole = np.sqrt(np.maximum(squares.sum(axis=0) / freedom.sum(axis=0), 1e-24))
    return _with_few_rows(np.sqrt(np.maximum(squares / freedom, 1e-24)), whole, counts)


def _median_levels(left: Sequence[Array], counts: Array, before: Array) -> Array:
    """Robust deviations of each recording's joints; those before where there are none."""
    own = before.copy()
    for level, e in zip(own, left, strict=True):
        there = np.isfinite(e).any(axis=0)
        level[there] = np.maximum(1.4826 * np.nanmedian(e[:, there], axis=0), 1e-12)
    return _with_few_rows(own, _together(own, counts), counts)


def _with_few_rows(own: Array, whole: Array, counts: Array) -> Array:
    """Levels of recordings, drawn to those of all where rows are few: log s_k = (n log s_k + m log s) / (n + m)."""
    share = counts / (counts + SHARED)
    return np.where(counts > 0, own**share * whole ** (1 - share), 1.0)


def _together(noise: Array, counts: Array) -> Array:
    """Noise of each joint in all recordings."""
    total = counts.sum(axis=0)
    return np.where(total > 0, np.sqrt(np.sum(noise**2 * counts, axis=0) / np.maximum(total, 1)), 1.0)


def _triangle(matrix: Array) -> Array:
    """R of its QR decomposition."""
    found: Any = np.linalg.qr(matrix, mode="r")
    return np.asarray(found)


def _solve(root: Array) -> tuple[Array, Array]:
    """The step from the start and the directions that the data tell: others would change nothing that is measured."""
    X, y = root[:, :-1], root[:, -1]
    lengths = np.linalg.norm(X, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    U, values, V = np.linalg.svd(X / scale, full_matrices=False)
    seen = values > UNKNOWN * values[0]
    step = V[seen].T @ ((U.T @ y)[seen] / values[seen])
    return step / scale, (V[seen] / scale).T


# --------------------------------------------------------------------------------------------------
# Physically consistent bodies: which possible bodies have the base parameters that were found?
#
# Symbols: S second moments of the mass about the frame's origin, J the pseudo-inertia of a body (Wensing et al. 2018).
#
#     J = [S h; h^T m] = U U^T,   U upper triangular, its diagonal exp(y)   (Rucker and Wensing 2022)
#
# is positive for every y: every y is a body that could exist. Of all of these, and of friction and rotors that are not
# negative, those are taken that lose least against the measurement; what it does not tell stays near the given body:
#
#     minimise |R (G theta(y) - beta)|^2 + prior^2 |y - y_0|^2


PRIOR = 1e-2
"""Weight of the given body: an e-fold change that the data do not tell costs a ten-thousandth of one deviation."""
MOST_FOLDS = 15.0
"""E-folds by which a root of a pseudo-inertia may differ from the given body's."""
THICKER = 1e-6
"""Least eigenvalue of a given pseudo-inertia, by their sum: thin rods have none to spare."""


@frozen(eq=False)
class Consistent:
    """Values of all parameters that could be; lost: by how much the sum of squares by the noise is above its least."""

    theta: Array
    lost: float


def make_consistent(parameters: Sequence[Parameter], G: Array, found: Estimate, spread: Spread) -> Consistent:
    """The nearest possible parameters."""
    from scipy.optimize import least_squares

    bodies = list(dict.fromkeys(p.body for p in parameters if p.body))
    given = np.array([parameter.given for parameter in parameters])
    scalars = [k for k, parameter in enumerate(parameters) if not parameter.body]
    start, chart = _charts(parameters, bodies, given, scalars)
    sizes = _sizes(found.beta, spread.deviations, G, given, scalars)
    lower = np.full(start.size, -np.inf)
    offset = start.size - len(scalars)
    for i, k in enumerate(scalars):
        lower[offset + i] = 0.0 if parameters[k].non_negative else -np.inf
    scale = np.concatenate([np.ones(offset), sizes])
    target = found.root @ found.beta
    A = found.root @ G

    def deviate(y: Array) -> Array:
        theta = np.array(chart(y * scale)[0]).ravel()
        return np.concatenate([A @ theta - target, PRIOR * (y - first)])

    def slope(y: Array) -> Array:
        return np.vstack([A @ np.array(chart(y * scale)[1]) * scale, PRIOR * np.eye(y.size)])

    first = np.maximum(start / scale, np.where(lower == 0.0, 1e-9, -np.inf))
    # Logarithms of a body stay where their exponentials can be computed.
    logs = np.where((np.arange(first.size) % 10 < 4) & (np.arange(first.size) < offset), MOST_FOLDS, np.inf)
    bounds = (np.where(lower == 0.0, 0.0, first - logs), first + logs)
    done = least_squares(deviate, first, slope, bounds, x_scale="jac", max_nfev=500, xtol=1e-12, ftol=1e-12, gtol=1e-12)
    theta = np.array(chart(done.x * scale)[0]).ravel()
    return Consistent(theta, float(np.sum((A @ theta - target) ** 2)))


def _sizes(beta: Array, deviations: Array, G: Array, given: Array, scalars: Sequence[int]) -> Array:
    """What a scalar parameter is counted in: its own given or found size."""
    sizes = []
    for k in scalars:
        rows = np.flatnonzero(G[:, k])
        own = max((abs(beta[r]) + deviations[r] for r in rows), default=1.0)
        sizes.append(max(abs(given[k]), own, 1e-12))
    return np.array(sizes)


def _charts(
    parameters: Sequence[Parameter], bodies: Sequence[str], given: Array, scalars: Sequence[int]
) -> tuple[Array, ca.Function]:
    """Coordinates of the given values, and theta(y) with its slopes."""
    count = 10 * len(bodies) + len(scalars)
    y = ca.SX.sym("y", count)
    theta: list[ca.SX] = [ca.SX(0)] * len(parameters)
    start = np.zeros(count)
    for i, body in enumerate(bodies):
        places = [k for k, parameter in enumerate(parameters) if parameter.body == body]
        own = slice(10 * i, 10 * i + 10)
        start[own] = coordinates_of(given[places])
        for k, value in zip(places, ca.vertsplit(parameters_of(y[own])), strict=True):
            theta[k] = value
    for i, k in enumerate(scalars):
        theta[k], start[10 * len(bodies) + i] = y[10 * len(bodies) + i], given[k]
    column = ca.vertcat(*theta)
    return start, ca.Function("theta", [y], [column, ca.densify(ca.jacobian(column, y))])


def parameters_of(y: ca.SX) -> ca.SX:
    """(m, h, L) of coordinates y: four logarithms of the diagonal, then U_01, U_02, U_03, U_12, U_13, U_23."""
    U = ca.SX.zeros(4, 4)
    for k in range(4):
        U[k, k] = ca.exp(y[k])
    for k, (i, j) in enumerate(((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))):
        U[i, j] = y[4 + k]
    J = U @ U.T
    S, h, m = J[:3, :3], J[:3, 3], J[3, 3]
    L = ca.trace(S) * ca.SX.eye(3) - S
    return ca.vertcat(m, h, L[0, 0], L[1, 1], L[2, 2], L[0, 1], L[0, 2], L[1, 2])


def coordinates_of(values: Array) -> Array:
    """y of a possible body, or of one a little thicker."""
    from robodyn.description.model.body import tensor_of

    mass, h, L = values[0], values[1:4], tensor_of(values[4:].tolist())
    J = np.zeros((4, 4))
    J[:3, :3], J[:3, 3], J[3, :3], J[3, 3] = np.trace(L) / 2 * np.eye(3) - L, h, h, mass
    # Lengths are some tenths of a metre: moments about the centre of mass decide how thick a body is.
    c = h / mass
    about = J[:3, :3] - mass * np.outer(c, c)
    size = max(float(np.trace(about)), 1e-4 * mass)
    low = float(np.linalg.eigvalsh(about)[0])
    J[:3, :3] += max(THICKER * size - low, 0.0) * np.eye(3)
    flipped = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
    pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    return np.array([*np.log(np.diag(flipped)), *(flipped[i, j] for i, j in pairs)])
