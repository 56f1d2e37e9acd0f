"""What was the value of one quantity at any time of a run?"""

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Kind = Literal["continuous", "held"]


@dataclass(frozen=True, eq=False)
class Signal:
    """A recorded quantity as a function of time: `signal(t)`.

    Several rows at the same time are the limits at a jump: the first is the left one, the last the right one.
    At the jump itself the right limit is the value, and no interpolation reaches across it.

    Args:
        time: sample times [s], (n,), never decreasing.
        values: samples, (n,).
        kind: "continuous" is interpolated, "held" keeps its last value.
        rate_values: samples of the time derivative [unit/s], (n,); they make the interpolation cubic.
        note: what whoever uses the numbers should know.
    """

    name: str
    unit: str
    time: Floats
    values: Floats
    kind: Kind = "continuous"
    rate_values: Floats | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for part in ("time", "values", "rate_values"):
            if getattr(self, part) is not None:
                object.__setattr__(self, part, frozen_array(getattr(self, part)))
        check_time(self.time)
        if self.kind not in ("continuous", "held"):
            raise ValueError(f"{self.name}: kind must be 'continuous' or 'held', is {self.kind!r}")
        if self.values.shape != self.time.shape:
            raise ValueError(f"{self.name}: {self.values.shape} values for {self.time.shape} times")
        if self.rate_values is not None and self.rate_values.shape != self.time.shape:
            raise ValueError(f"{self.name}: {self.rate_values.shape} rates for {self.time.shape} times")

    @overload
    def __call__(self, t: float) -> float: ...
    @overload
    def __call__(self, t: ArrayLike) -> Floats: ...

    def __call__(self, t: ArrayLike) -> float | Floats:
        """The value at time t [s]; an array of times gives an array of the same shape."""
        times = np.asarray(t, dtype=float)
        self._check_range(times)
        # The last row at or before t: the right limit at a jump, and never an interval of no length.
        row = np.searchsorted(self.time, times, side="right") - 1
        result = self._interpolate(times, row)
        return float(result) if times.ndim == 0 else result

    @property
    def min(self) -> float:
        """The smallest sample, both limits of a jump included, samples that are not numbers left out."""
        return float(np.nanmin(self.values))

    @property
    def max(self) -> float:
        """The largest sample, both limits of a jump included, samples that are not numbers left out."""
        return float(np.nanmax(self.values))

    @property
    def final(self) -> float:
        """The last sample."""
        return float(self.values[-1])

    def _check_range(self, times: Floats) -> None:
        if self.time.size == 0:
            raise ValueError(f"{self.name} has no samples")
        first, last = self.time[0], self.time[-1]
        inside = (times >= first) & (times <= last)
        if not np.all(inside):
            outside = np.atleast_1d(times)[~np.atleast_1d(inside)][0]
            raise ValueError(f"{self.name} is recorded from {first:.9g} s to {last:.9g} s, not at {outside:.9g} s")

    def _interpolate(self, times: Floats, row: NDArray[np.intp]) -> Floats:
        if self.kind == "held":
            return self.values[row]
        following = np.minimum(row + 1, self.time.size - 1)
        step = self.time[following] - self.time[row]
        offset = times - self.time[row]
        share = offset / np.where(step > 0, step, 1.0)
        left, right = self.values[row], self.values[following]
        if self.rate_values is None:
            between = (1 - share) * left + share * right
        else:
            rates = step * self.rate_values[row], step * self.rate_values[following]
            between = hermite(share, left, right, *rates)
        # On a sample the sample itself, even where its neighbour is not a number.
        return np.where(offset == 0, left, between)


def hermite(s: Floats, left: Floats, right: Floats, left_slope: Floats, right_slope: Floats) -> Floats:
    """Cubic through both ends of an interval with the given slopes there, at the share s of it.

    y(s) = left + s^2 (3 - 2 s) (right - left) + s (1 - s)^2 left_slope - s^2 (1 - s) right_slope

    Slopes are derivatives with respect to s: rate times interval length.
    """
    rise = s * s * (3 - 2 * s) * (right - left)
    bend = s * (1 - s) * ((1 - s) * left_slope - s * right_slope)
    return left + rise + bend


def frozen_array(values: ArrayLike) -> Floats:
    """A read-only view of the values as floats; the caller's own array stays writable."""
    view = np.asarray(values, dtype=float).view()
    view.flags.writeable = False
    return view


def check_time(time: Floats) -> None:
    """Refuse times that are not a rising sequence of finite numbers."""
    if time.ndim != 1:
        raise ValueError(f"time must have one dimension, has {time.ndim}")
    if not np.all(np.isfinite(time)):
        raise ValueError(f"time must be finite, row {int(np.argmin(np.isfinite(time)))} is not")
    falling = np.flatnonzero(np.diff(time) < 0)
    if falling.size:
        row = int(falling[0]) + 1
        raise ValueError(f"time must never decrease, row {row} has {time[row]!r} after {time[row - 1]!r}")
