"""Model comparison: how well does one linear model, for example one of lower order, stand for another?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.responses import choose_frequencies
from robodyn.base.errors import Flaw, ModelError

# Poles that are further apart than this part of their magnitudes' sum do not stand for each other.
FURTHEST = 0.25


@dataclass(frozen=True)
class PolePair:
    """A pole of the full model [rad/s] and the one that stands for it, None where there is none."""

    full: complex
    reduced: complex | None

    @property
    def shift(self) -> float:
        """|s_reduced - s_full| / |s_full|; not a number without a partner."""
        if self.reduced is None or self.full == 0:
            return np.nan
        return abs(self.reduced - self.full) / abs(self.full)


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """Two linear models side by side.

    Attributes:
        inputs, outputs: the channels both have.
        frequency: [Hz], (n,).
        error: |y_reduced - y_full| over the largest |y_full| of the same channel, (n, n_outputs, n_inputs).
        poles: of the full model, slowest first, upper half plane only.
    """

    orders: tuple[int, int]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    frequency: np.ndarray
    error: np.ndarray
    poles: tuple[PolePair, ...]

    @property
    def largest_error(self) -> float:
        """Over all channels and frequencies."""
        return float(self.error.max())

    def valid_to(self, tolerance: float) -> float:
        """Frequency [Hz] up to which no channel's error passes a tolerance; 0 where the first one does."""
        passed = np.flatnonzero(self.error.max(axis=(1, 2)) > tolerance)
        if not passed.size:
            return float(self.frequency[-1])
        return float(self.frequency[passed[0] - 1]) if passed[0] else 0.0


def compare_models(full: LinearModel, reduced: LinearModel, frequency: ArrayLike | None = None) -> ModelComparison:
    """Frequency responses of all common channels and poles of two models, delays exact in both.

    Args:
        frequency: [Hz]; by default a grid around the poles of both.
    """
    inputs = tuple(v.name for v in full.inputs if v.name in {u.name for u in reduced.inputs})
    outputs = tuple(v.name for v in full.outputs if v.name in {u.name for u in reduced.outputs})
    if not inputs or not outputs:
        what = "the models have no input or no output in common"
        raise ModelError([Flaw("", what, "linearise both with the same inputs and outputs")], "comparison of models")
    grid = choose_frequencies([full, reduced]) if frequency is None else np.atleast_1d(np.asarray(frequency, float))
    wanted, found = (m.choose(inputs, outputs).frequency_response(2 * np.pi * grid) for m in (full, reduced))
    size = np.abs(wanted).max(axis=0)
    error = np.abs(found - wanted) / np.where(size > 0, size, 1.0)
    return ModelComparison(
        (full.order, reduced.order), inputs, outputs, grid, error, match_poles(full.poles(), reduced.poles())
    )


def match_poles(full: ArrayLike, reduced: ArrayLike) -> tuple[PolePair, ...]:
    """Pairs of poles with the least sum of relative distances, of each conjugate pair the upper one.

    Poles of the full model without a near one in the reduced model stay alone.
    """
    upper, others = (np.asarray(poles, complex) for poles in (full, reduced))
    upper, others = upper[upper.imag >= 0], others[others.imag >= 0]
    distance = np.abs(upper[:, None] - others[None, :]) / np.maximum(np.abs(upper[:, None]) + np.abs(others), 1e-300)
    rows, columns = linear_sum_assignment(distance)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    partners = {row: complex(others[column]) for row, column in pairs if distance[row, column] <= FURTHEST}
    return tuple(PolePair(complex(pole), partners.get(k)) for k, pole in enumerate(upper))
