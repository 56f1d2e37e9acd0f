"""Sampled plant (zero-order hold): how does a linear model go on from sample to sample, its inputs held, and late?

    x_{k+1} = F x_k + sum_j G_j u_{k-j},   y_k = C x_k

exactly, for inputs that take effect a delay after their sample, which need not be a whole number of periods.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robodyn.base.errors import FlawList

if TYPE_CHECKING:
    from robodyn.analysis.linear.linear_model import LinearModel

ALIKE = 1e-9
"""Part of a period by which a delay may miss a whole number of them."""


@dataclass(frozen=True)
class Variable:
    """A state, input or output of a linear model; value: where it is at the operating point."""

    name: str
    unit: str = ""
    value: float = 0.0


@dataclass(frozen=True, eq=False)
class SampledPlant:
    """A linear model at its samples.

    Attributes:
        F: (n, n); G: one (n, n_inputs) for the newest input and for each one before it; C: (n_outputs, n).
        period, delay: [s].
    """

    F: np.ndarray
    G: tuple[np.ndarray, ...]
    C: np.ndarray
    period: float
    delay: float
    states: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]

    @cached_property
    def augmented(self) -> tuple[np.ndarray, np.ndarray]:
        """A and B of the states followed by the inputs on their way, the latest first: z_{k+1} = A z_k + B u_k."""
        n, m, past = len(self.F), len(self.inputs), len(self.G) - 1
        A, B = np.zeros((n + past * m, n + past * m)), np.zeros((n + past * m, m))
        A[:n], B[:n] = np.hstack([self.F, *self.G[1:]]), self.G[0]
        if past:
            B[n : n + m] = np.eye(m)
            A[n + m :, n:-m] = np.eye((past - 1) * m)
        return A, B


def sample_plant(model: LinearModel, period: float, delay: float = 0.0) -> SampledPlant:
    """A linear model without delays of its own, seen by a controller that samples it.

    Args:
        delay: from a sample to the effect of what is commanded at it [s].
    """
    flaws = FlawList()
    if model.delays:
        flaws.add("model", f"has the delay '{model.delays[0].name}'", "with_pade approximates it")
    if model.D.any():
        flaws.add("model.D", "outputs follow inputs at once", "leave such outputs out, or give a delay")
    for key, value in (("period", period), ("delay", delay)):
        if not (math.isfinite(value) and (value > 0 or (key == "delay" and value == 0))):
            flaws.add(key, f"must be {'positive' if key == 'period' else '0 or more'}, is {value:g} s")
    flaws.raise_if_any("sampled plant")
    own = (model.states, model.inputs, model.outputs)
    return hold_plant(model.A, model.B, model.C, period, delay, *own)


def hold_plant(
    A: np.ndarray,
    B: np.ndarray,
    C: np.ndarray,
    period: float,
    delay: float,
    states: tuple[Variable, ...],
    inputs: tuple[Variable, ...],
    outputs: tuple[Variable, ...],
) -> SampledPlant:
    """x' = A x + B u, y = C x from sample to sample, u held and late."""
    whole = math.floor(delay / period + ALIKE)
    late = max(delay - whole * period, 0.0)
    late = 0.0 if late < ALIKE * period else late
    # Until `late`, the input of one sample before still acts.
    F_rest, G_rest = _hold(A, B, period - late)
    _, G_late = _hold(A, B, late)
    n, m = B.shape
    acting = [G_rest, *((F_rest @ G_late,) if late else ())]
    F, _ = _hold(A, B, period)
    return SampledPlant(F, (*[np.zeros((n, m))] * whole, *acting), C, period, delay, states, inputs, outputs)


def _hold(A: np.ndarray, B: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """exp(A t), and the integral of exp(A s) B over that time."""
    n, m = B.shape
    rates = np.zeros((n + m, n + m))
    rates[:n, :n], rates[:n, n:] = A, B
    # Loaded where it is used: it takes as long as a fifth of all that a run needs.
    from scipy.linalg import expm

    found = expm(rates * time)
    return found[:n, :n], found[:n, n:]
