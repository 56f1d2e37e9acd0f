"""Residual tests: is what an identification leaves white, and does it know nothing of the forces?

Symbols: e residual of a joint, u its predicted force, n rows that are independent of the filter's memory.

    r_ee(l), r_eu(l) within +-1.96 / sqrt(n) at 95 % of the lags, if nothing of the motion is left in e (Ljung 1999)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.analysis.identification.result import Identification
from robodyn.results.signal import Floats

LAGS = 25
NORMAL = 1.959964


@dataclass(frozen=True, eq=False)
class ResidualTest:
    """Correlations of one joint's residual at lags [s].

    Attributes:
        own: with itself at lags from one row on; with_force: with its predicted force, lags of both signs.
        band: half width of the 95 % band; white, independent: shares of lags within it.
    """

    joint: str
    lag: Floats
    own: Floats
    with_force: Floats
    band: float
    white: float
    independent: float


def check_residuals(found: Identification) -> tuple[ResidualTest, ...]:
    """Tests of every joint's residual at rows that the low-pass leaves independent: two a period of its cutoff."""
    every = max(int(found.rate / (2 * found.cutoff)), 1)
    tests = []
    for k, joint in enumerate(found.joints):
        e = (found.measured - found.predicted)[::every, k]
        u = found.predicted[::every, k]
        there = np.isfinite(e)
        if there.sum() < 4 * LAGS:
            continue
        e, u = (np.where(there, x - np.mean(x[there]), 0.0) for x in (e, u))
        band = NORMAL / np.sqrt(there.sum())
        size, force = np.sqrt(e @ e), np.sqrt(u @ u)
        own = np.array([e[lag:] @ e[:-lag] for lag in range(1, LAGS + 1)]) / size**2
        crossed = np.array([_at_lag(e, u, lag) for lag in range(-LAGS, LAGS + 1)]) / max(size * force, 1e-300)
        lags = np.arange(1, LAGS + 1) * every / found.rate
        shares = float(np.mean(np.abs(own) < band)), float(np.mean(np.abs(crossed) < band))
        tests.append(ResidualTest(joint, lags, own, crossed, float(band), *shares))
    return tuple(tests)


def _at_lag(e: Floats, u: Floats, lag: int) -> float:
    """sum e(t + lag) u(t)."""
    return float(e[lag:] @ u[: len(u) - lag] if lag >= 0 else e[:lag] @ u[-lag:])
