"""Inputs of a unit over a macro step: which polynomials do its tunable numbers follow until the next exchange?

    u(t) = c0 + c1 s + c2 s^2,    s = t - t_exchange

Of a number that does not move by itself there is c0 alone (zero-order hold).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.computation.cosimulation.polynomials import EXCHANGE, all_coefficients, coefficient_names
from robodyn.description.model import Number


class InputValues:
    """Values of all tunable numbers of a unit, in the order of its parameters."""

    def __init__(self, parameters: Sequence[Number]) -> None:
        self.values = np.array([number.value for number in parameters], float)
        self._place = {number.name: k for k, number in enumerate(parameters)}
        self._places: dict[tuple[str, ...], np.ndarray] = {}

    def set_course(self, names: tuple[str, ...], course: np.ndarray, time: float) -> None:
        """Numbers that move from a time on: course (order + 1, n); higher coefficients are zero."""
        places = self._find(all_coefficients(names)).reshape(-1, len(names))
        self.values[places[: len(course)]] = course
        self.values[places[len(course) :]] = 0.0
        self.values[self._place[EXCHANGE]] = time

    def value(self, name: str) -> float:
        """Of a number that stays as it is until the next exchange."""
        return float(self.values[self._place[name]])

    def set(self, names: tuple[str, ...], values: np.ndarray | float) -> None:
        """Numbers that stay as they are until the next exchange."""
        self.values[self._find(names)] = values

    def _find(self, names: tuple[str, ...]) -> np.ndarray:
        """Places of numbers among the tunable ones; looked up once."""
        if names not in self._places:
            self._places[names] = np.array([self._place[name] for name in names], int)
        return self._places[names]

    def at(self, names: tuple[str, ...], time: float) -> np.ndarray:
        """What was sent last for some inputs, as it acts at a time."""
        passed = time - self.values[self._place[EXCHANGE]] if EXCHANGE in self._place else 0.0
        return np.array([np.polyval(self.values[self._course(name)][::-1], passed) for name in names])

    def shift(self, names: tuple[str, ...], values: np.ndarray, time: float) -> None:
        """Shift what was sent last, so that it has other values at a time."""
        for name, change in zip(names, values - self.at(names, time), strict=True):
            self.values[self._place[name]] += change

    def _course(self, name: str) -> list[int]:
        """Places of an input's coefficients: of its value alone where it does not move by itself."""
        return [self._place[key] for key in coefficient_names(name) if key in self._place]
