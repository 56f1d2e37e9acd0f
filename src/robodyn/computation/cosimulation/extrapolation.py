"""Extrapolation of inputs: how do signals go on between two exchanges? Polynomials of last values, or last means."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robodyn.computation.cosimulation.connection import Channel
from robodyn.computation.cosimulation.unit import Coefficients

Span = tuple[float, float]
"""Begin and end of the time over which a value is the mean; the same for a value at an instant [s]."""


def mean_powers(span: Span, n: int) -> np.ndarray:
    """Means of 1, s, s^2, ... over a span, (n,)."""
    a, b = span
    return np.array([sum(a**i * b ** (k - i) for i in range(k + 1)) / (k + 1) for k in range(n)])


class Trend:
    """The last values of a vector, as many as a polynomial of an order goes through."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.spans: list[Span] = []
        self.values: list[np.ndarray] = []

    def add(self, span: Span, values: np.ndarray) -> None:
        """A second exchange at the same time replaces the first."""
        if self.spans and self.spans[-1] == span:
            self.spans.pop()
            self.values.pop()
        self.spans = [*self.spans, span][-self.order - 1 :]
        self.values = [*self.values, values][-self.order - 1 :]

    def fit(self, begin: float) -> np.ndarray:
        """Coefficients in powers of the time since `begin` of the polynomial with these values, or means, (order + 1,
        n); fewer as long as there are fewer values."""
        n = len(self.spans)
        rows = [mean_powers((a - begin, b - begin), n) for a, b in self.spans]
        return np.linalg.solve(np.array(rows), np.array(self.values))

    def forget(self) -> None:
        """What was before a jump says nothing about what comes after it."""
        self.spans, self.values = [], []

    def copy(self) -> Trend:
        other = Trend(self.order)
        other.spans, other.values = list(self.spans), list(self.values)
        return other


class Samples:
    """The last values of a channel's signals, as many as its polynomials go through."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.trend = Trend(channel.order)
        self.largest = 0.0

    def add(self, time: float, outputs: Mapping[str, float], step: float = 0.0) -> None:
        """Values at a communication point, or means over the macro step that ended there."""
        fresh = self._values(outputs)
        self.trend.add((time - step if self.channel.mean else time, time), fresh)
        self.largest = max(self.largest, float(np.max(np.abs(fresh), initial=0.0)))

    def _values(self, outputs: Mapping[str, float]) -> np.ndarray:
        return self.channel.gain * np.array([outputs[name] for name in self.channel.outputs])

    def inputs(self, begin: float) -> dict[str, Coefficients]:
        """What the target is written for the macro step from `begin` on."""
        columns = self.trend.fit(begin).T.tolist()
        return {name: tuple(column) for name, column in zip(self.channel.inputs, columns, strict=True)}

    def miss(self, begin: float, end: float, outputs: Mapping[str, float], least: float) -> float:
        """How far the polynomial is from the true values at the end of a step, in units of the largest so far.

        Args:
            least: what counts as the largest value as long as all are smaller.
        """
        fresh = self._values(outputs)
        coefficients = self.trend.fit(begin)
        span = (0.0 if self.channel.mean else end - begin, end - begin)
        expected = mean_powers(span, len(coefficients)) @ coefficients
        largest = max(self.largest, least, float(np.max(np.abs(fresh), initial=0.0)))
        return float(np.max(np.abs(fresh - expected), initial=0.0)) / largest

    def copy(self) -> Samples:
        other = Samples(self.channel)
        other.trend, other.largest = self.trend.copy(), self.largest
        return other
