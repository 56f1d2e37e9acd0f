"""How do signals go on between two exchanges? As polynomials through their last values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robodyn.cosimulation.connection import Channel
from robodyn.cosimulation.unit import Coefficients


def fit_polynomial(times: list[float], values: list[np.ndarray], begin: float) -> np.ndarray:
    """Coefficients in powers of the time since `begin` of the polynomial through all values, (n_times, n)."""
    if len(times) == 1:
        return values[0][None, :]
    return np.linalg.solve(np.vander(np.array(times) - begin, increasing=True), np.array(values))


class Trend:
    """The last values of a vector, as many as a polynomial of an order goes through."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.times: list[float] = []
        self.values: list[np.ndarray] = []

    def add(self, time: float, values: np.ndarray) -> None:
        """A second exchange at the same time replaces the first."""
        if self.times and self.times[-1] == time:
            self.times.pop()
            self.values.pop()
        self.times = [*self.times, time][-self.order - 1 :]
        self.values = [*self.values, values][-self.order - 1 :]

    def fit(self, begin: float) -> np.ndarray:
        """Coefficients in powers of the time since `begin`, (order + 1, n); fewer as long as there are fewer values."""
        return fit_polynomial(self.times, self.values, begin)

    def copy(self) -> Trend:
        other = Trend(self.order)
        other.times, other.values = list(self.times), list(self.values)
        return other


class Samples:
    """The last values of a channel's signals, as many as its polynomials go through."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.trend = Trend(channel.order)
        self.largest = 0.0

    def add(self, time: float, outputs: Mapping[str, float], step: float = 0.0) -> None:
        """Values at a communication point, after a macro step; a mean over the step is the value in its middle."""
        fresh = self._values(outputs)
        self.trend.add(time - step / 2 if self.channel.mean else time, fresh)
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
        passed = (begin + end) / 2 - begin if self.channel.mean else end - begin
        coefficients = self.trend.fit(begin)
        expected = passed ** np.arange(len(coefficients)) @ coefficients
        largest = max(self.largest, least, float(np.max(np.abs(fresh), initial=0.0)))
        return float(np.max(np.abs(fresh - expected), initial=0.0)) / largest

    def copy(self) -> Samples:
        other = Samples(self.channel)
        other.trend, other.largest = self.trend.copy(), self.largest
        return other
