"""Physically consistent bodies: which possible bodies have the base parameters that were found?

Symbols: S second moments of the mass about the frame's origin, J the pseudo-inertia of a body (Wensing et al. 2018).

    J = [S h; h^T m] = U U^T,   U upper triangular, its diagonal exp(y)   (Rucker and Wensing 2022)

is positive for every y: every y is a body that could exist. Of all of these, and of friction and rotors that are not
negative, those are taken that lose least against the measurement; what it does not tell stays near the given body:

    minimise |R (G theta(y) - beta)|^2 + prior^2 |y - y_0|^2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.analysis.identification.least_squares import Estimate
from robodyn.analysis.identification.parameters import Parameter
from robodyn.computation.results.signal import Floats

PRIOR = 1e-2
"""Weight of the given body: an e-fold change that the data do not tell costs a ten-thousandth of one deviation."""
THICKER = 1e-6
"""Least eigenvalue of a given pseudo-inertia, by their sum: thin rods have none to spare."""


@dataclass(frozen=True, eq=False)
class Consistent:
    """Values of all parameters that could be; lost: by how much the sum of squares by the noise is above its least."""

    theta: Floats
    lost: float


def make_consistent(parameters: Sequence[Parameter], G: Floats, found: Estimate) -> Consistent:
    """The nearest possible parameters."""
    from scipy.optimize import least_squares

    bodies = list(dict.fromkeys(p.body for p in parameters if p.body))
    given = np.array([parameter.given for parameter in parameters])
    scalars = [k for k, parameter in enumerate(parameters) if not parameter.body]
    start, chart = _charts(parameters, bodies, given, scalars)
    sizes = _sizes(found, G, given, scalars)
    lower = np.full(start.size, -np.inf)
    offset = start.size - len(scalars)
    for i, k in enumerate(scalars):
        lower[offset + i] = 0.0 if parameters[k].non_negative else -np.inf
    scale = np.concatenate([np.ones(offset), sizes])
    target = found.root @ found.beta
    A = found.root @ G

    def deviate(y: Floats) -> Floats:
        theta = np.array(chart(y * scale)[0]).ravel()
        return np.concatenate([A @ theta - target, PRIOR * (y - first)])

    def slope(y: Floats) -> Floats:
        return np.vstack([A @ np.array(chart(y * scale)[1]) * scale, PRIOR * np.eye(y.size)])

    first = np.maximum(start / scale, np.where(lower == 0.0, 1e-9, -np.inf))
    bounds = (np.where(lower == 0.0, 0.0, -np.inf), np.full(first.size, np.inf))
    done = least_squares(deviate, first, slope, bounds, x_scale="jac", max_nfev=500, xtol=1e-12, ftol=1e-12, gtol=1e-12)
    theta = np.array(chart(done.x * scale)[0]).ravel()
    return Consistent(theta, float(np.sum((A @ theta - target) ** 2)))


def _sizes(found: Estimate, G: Floats, given: Floats, scalars: Sequence[int]) -> Floats:
    """What a scalar parameter is counted in: its own given or found size."""
    deviations = found.spread.deviations
    sizes = []
    for k in scalars:
        rows = np.flatnonzero(G[:, k])
        own = max((abs(found.beta[r]) + deviations[r] for r in rows), default=1.0)
        sizes.append(max(abs(given[k]), own, 1e-12))
    return np.array(sizes)


def _charts(
    parameters: Sequence[Parameter], bodies: Sequence[str], given: Floats, scalars: Sequence[int]
) -> tuple[Floats, ca.Function]:
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


def coordinates_of(values: Floats) -> Floats:
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
