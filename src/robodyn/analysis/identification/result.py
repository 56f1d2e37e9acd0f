"""Identification, as a result: base parameters with intervals, possible bodies, and predictions of each joint.

Symbols of the residual tests: e residual of a joint, u its predicted force, n rows independent of the filter's memory.

    r_ee(l), r_eu(l) within +-1.96 / sqrt(n) at 95 % of the lags, if nothing of the motion is left in e (Ljung 1999)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from robodyn.computation.results.signal import Floats


@dataclass(frozen=True)
class IntervalEstimate:
    """A number: estimate, standard deviation, 95 % interval, and its value by the scenario."""

    name: str
    unit: str
    value: float
    deviation: Annotated[float, "standard deviation"]
    lower: Annotated[float, "of the 95 % interval"]
    upper: Annotated[float, "of the 95 % interval"]
    given: Annotated[float, "before"]


@dataclass(frozen=True)
class BaseEstimate(IntervalEstimate):
    """One base parameter, and whether the data tell it."""

    told: Annotated[bool, "whether the data say it"]


@dataclass(frozen=True)
class JointPrediction:
    """Predicted against measured force of a joint: root mean square of the difference, also by that of the force.

    Attributes:
        percent: of the force's own root mean square about its mean; held_out: whether the rows took no part in the fit.
    """

    joint: str
    unit: str
    rows: int
    rms: float
    percent: float
    held_out: bool


@dataclass(frozen=True, eq=False)
class Identification:
    """What measured motions and efforts say of a machine.

    Attributes:
        numbers: new values of the scenario's numbers, every body a possible one; parameters: the same as theta.
        correlation: of the base estimates.
        cutoff: of the low-pass [Hz]; rate: of the rows [Hz]; whiteness: correlation of what is left from row to row.
        lost: how much the sum of squares by the noise grew by making bodies possible; gap: how clear the rank is.
        doubt: why the intervals are no 95 % ones, empty where nothing speaks against them.
        time, measured, predicted, fitted: forces of all joints (n, joints) at the rows, nan where one is not used, and
            which rows took part in the fit.
    """

    JSON = """
    base_parameters = base
    correlation
    numbers
    parameters
    predictions
    noise
    cutoff: [Hz]
    rate: [Hz]
    lost
    rank_gap = gap
    without_effect = silent
    doubt: why the intervals are no 95 % ones, or empty
    warnings
    """
    joints: tuple[str, ...]
    base: tuple[BaseEstimate, ...]
    correlation: Floats
    numbers: dict[str, float]
    parameters: dict[str, float]
    predictions: tuple[JointPrediction, ...]
    noise: dict[str, float]
    cutoff: float
    rate: float
    lost: float
    gap: float
    silent: tuple[str, ...]
    doubt: str
    warnings: tuple[str, ...]
    time: Floats
    measured: Floats
    predicted: Floats
    fitted: Floats


def interval_heading(doubt: str) -> str:
    """Of a column of intervals."""
    return "interval by noise alone" if doubt else "95 % interval"


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
