"""How do signals go on between two exchanges? As polynomials through their last values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robodyn.cosimulation.connection import Channel
from robodyn.cosimulation.unit import Coefficients


class Samples:
    """The last values of a channel's signals, as many as its polynomials go through."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.times: list[float] = []
        self.values: list[np.ndarray] = []
        self.largest = 0.0

    def add(self, time: float, outputs: Mapping[str, float], step: float = 0.0) -> None:
        """Values at a communication point, after a macro step; a second exchange at the same time replaces the first.

        A mean over the step is the value in its middle.
        """
        if self.channel.mean:
            time -= step / 2
        if self.times and self.times[-1] == time:
            self.times.pop()
            self.values.pop()
        fresh = self._values(outputs)
        self.times = [*self.times, time][-self.channel.order - 1 :]
        self.values = [*self.values, fresh][-self.channel.order - 1 :]
        self.largest = max(self.largest, float(np.max(np.abs(fresh), initial=0.0)))

    def _values(self, outputs: Mapping[str, float]) -> np.ndarray:
        return self.channel.gain * np.array([outputs[name] for name in self.channel.outputs])

    def fit(self, begin: float) -> np.ndarray:
        """Coefficients in powers of the time since `begin`, (order + 1, n); fewer as long as there are fewer values."""
        if len(self.times) == 1:
            return self.values[0][None, :]
        powers = np.vander(np.array(self.times) - begin, increasing=True)
        return np.linalg.solve(powers, np.array(self.values))

    def inputs(self, begin: float) -> dict[str, Coefficients]:
        """What the target is written for the macro step from `begin` on."""
        columns = self.fit(begin).T.tolist()
        return {name: tuple(column) for name, column in zip(self.channel.inputs, columns, strict=True)}

    def miss(self, begin: float, end: float, outputs: Mapping[str, float], least: float) -> float:
        """How far the polynomial is from the true values at the end of a step, in units of the largest so far.

        Args:
            least: what counts as the largest value as long as all are smaller.
        """
        fresh = self._values(outputs)
        passed = (begin + end) / 2 - begin if self.channel.mean else end - begin
        expected = passed ** np.arange(len(self.times)) @ self.fit(begin)
        largest = max(self.largest, least, float(np.max(np.abs(fresh), initial=0.0)))
        return float(np.max(np.abs(fresh - expected), initial=0.0)) / largest

    def copy(self) -> Samples:
        other = Samples(self.channel)
        other.times, other.values, other.largest = list(self.times), list(self.values), self.largest
        return other
