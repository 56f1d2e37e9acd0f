"""Signal: what was the value of one quantity at any time of a run?"""

import math
from collections.abc import Callable
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.base import Array, Displayed, frozen, view

Booleans = NDArray[np.bool_]
Kind = Literal["continuous", "held"]
ROUNDING = 1e-15
"""Part of a time that sums and products of times lose, so that 3 * 0.1 s is the tick at 0.3 s."""


@frozen(eq=False)
class Signal(Displayed):
    """A recorded quantity as a function of time: `signal(t)`.

    Several rows at the same time are the limits at a jump: the first is the left one, the last the right one.
    At the jump itself the right limit is the value, and no interpolation reaches across it. Between knots a signal is
    smooth: its value is that of the polynomial through the rows about t, at most six of them.

    Args:
        time: sample times [s], (n,), never decreasing.
        values: samples, (n,).
        kind: "continuous" is interpolated, "held" keeps its last value.
        rate_values: samples of the time derivative [unit/s], (n,); they make the interpolation cubic where too few rows
            lie between two knots for a better polynomial.
        knots: rows across which nothing is interpolated, (n,); all of them by default.
        note: what whoever uses the numbers should know.
    """

    name: str
    unit: str
    time: Array
    values: Array
    kind: Kind = "continuous"
    rate_values: Array | None = None
    knots: Booleans | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for part in ("time", "values", "rate_values"):
            if getattr(self, part) is not None:
                object.__setattr__(self, part, frozen_array(getattr(self, part)))
        check_time(self.time)
        if self.kind not in ("continuous", "held"):
            raise ValueError(f"{self.name}: kind must be 'continuous' or 'held', is {self.kind!r}")
        for part, what in (("values", "values"), ("rate_values", "rates"), ("knots", "knots")):
            values = getattr(self, part)
            if values is not None and values.shape != self.time.shape:
                raise ValueError(f"{self.name}: {values.shape} {what} for {self.time.shape} times")

    def __repr__(self) -> str:
        span = f" from {self.min:.4g} to {self.max:.4g}" if self.time.size else ""
        return f"<Signal {self.name} [{self.unit}]: {self.time.size} samples{span}>"

    plot = view("draw_signal")

    @overload
    def __call__(self, t: float) -> float: ...
    @overload
    def __call__(self, t: ArrayLike) -> Array: ...

    def __call__(self, t: ArrayLike) -> float | Array:
        """The value at time t [s]; an array of times gives an array of the same shape."""
        times = np.asarray(t, dtype=float)
        self._check_range(times)
        flat = times.ravel()
        # The last row at or before t: the right limit at a jump, and never an interval of no length.
        if self.kind == "held":
            result = self.values[held_rows(self.time, flat, ROUNDING * np.abs(flat))]
        else:
            result = self._interpolate(flat, np.searchsorted(self.time, flat, side="right") - 1)
        return float(result[0]) if times.ndim == 0 else result.reshape(times.shape)

    @property
    def min(self) -> float:
        """The smallest sample, both limits of a jump included, samples that are not numbers left out."""
        return float(np.nanmin(self.values))

    @property
    def max(self) -> float:
        """The largest sample with its sign, both limits of a jump included, samples that are not numbers left out."""
        return float(np.nanmax(self.values))

    @property
    def peak(self) -> float:
        """The largest magnitude of all samples, both limits of a jump included."""
        return float(np.nanmax(np.abs(self.values)))

    @property
    def final(self) -> float:
        """The last sample."""
        return float(self.values[-1])

    @property
    def mean(self) -> float:
        """The mean over time, integral y dt / T, whatever the distances of the rows."""
        return self._average(lambda a, b: 0.5 * (a + b))

    @property
    def rms(self) -> float:
        """The root mean square over time, sqrt(integral y^2 dt / T), whatever the distances of the rows."""
        return math.sqrt(self._average(lambda a, b: (a * a + a * b + b * b) / 3))

    def settling_time(self, band: float, target: float | None = None) -> float:
        """Time [s] from the first row until the signal stays within a band [unit] of a target; nan if it never does.

        Args:
            target: the last sample by default, within whose band every signal is at its end.
        """
        self._check_samples()
        away = self.values - (self.final if target is None else target)
        return settled_after(self.time, away, band, self.kind) - float(self.time[0])

    def _average(self, of_line: Callable[[Array, Array], Array]) -> float:
        """Mean over time of what a straight line from a to b gives; intervals without a number are left out."""
        self._check_samples()
        # What is held keeps the value at its left end.
        first = self.values[:-1]
        parts, lengths = of_line(first, first if self.kind == "held" else self.values[1:]), np.diff(self.time)
        there = np.isfinite(parts) & (lengths > 0)
        if not there.any():
            return float(of_line(self.values[-1:], self.values[-1:])[0])
        return float(np.average(parts[there], weights=lengths[there]))

    def _check_samples(self) -> None:
        if self.time.size == 0:
            raise ValueError(f"{self.name} has no samples")

    def _check_range(self, times: Array) -> None:
        self._check_samples()
        first, last = self.time[0], self.time[-1]
        inside = (times >= first) & (times <= last)
        if not np.all(inside):
            outside = np.atleast_1d(times)[~np.atleast_1d(inside)][0]
            raise ValueError(f"{self.name} is recorded from {first:.9g} s to {last:.9g} s, not at {outside:.9g} s")

    def _interpolate(self, times: Array, row: NDArray[np.intp]) -> Array:
        rates = None if self.rate_values is None else self.rate_values[:, None]
        return interpolate(self.time, self.values[:, None], rates, self.knots, row, times)[:, 0]


def settled_after(time: Array, away: Array, band: float, kind: Kind = "continuous") -> float:
    """Time [s] after which a distance from a target stays within a band, between rows too; nan if it does not."""
    outside = np.flatnonzero(~(np.abs(away) <= band))
    if not outside.size:
        return float(time[0])
    k = int(outside[-1])
    if k + 1 == len(time):
        return math.nan
    if kind == "held" or not np.isfinite(away[k]):
        return float(time[k + 1])
    share = (math.copysign(band, away[k]) - away[k]) / (away[k + 1] - away[k])
    return float(time[k] + share * (time[k + 1] - time[k]))


def held_rows(time: Array, at: Array, slack: Array) -> NDArray[np.intp]:
    """The last row at or before each time, also one that is later by no more than the slack [s]."""
    return np.maximum(np.searchsorted(time, at + slack, side="right") - 1, 0)


def frozen_array(values: ArrayLike) -> Array:
    """A read-only view of the values as floats; the caller's own array stays writable."""
    view = np.asarray(values, dtype=float).view()
    view.flags.writeable = False
    return view


def check_time(time: Array) -> None:
    """Refuse times that are not a rising sequence of finite numbers."""
    if time.ndim != 1:
        raise ValueError(f"time must have one dimension, has {time.ndim}")
    if not np.isfinite(time).all():
        raise ValueError(f"time must be finite, row {int(np.argmin(np.isfinite(time)))} is not")
    falls = time[1:] < time[:-1]
    if falls.any():
        row = int(np.argmax(falls)) + 1
        raise ValueError(f"time must not decrease, row {row} has {time[row]!r} after {time[row - 1]!r}")


@frozen(eq=False)
class Probes:
    """Signals of the solution at a few times between rows.

    Args:
        time: [s], (k,). values: of the signals, (k, n_signals).
        errors: what the estimated error of the step makes of the signals, (k, n_signals); 0 for fixed steps.
    """

    time: Array
    values: Array
    errors: Array


# --------------------------------------------------------------------------------------------------
# Interpolation between rows of a record: polynomials through the rows about a time, never across a knot.


Rows = NDArray[np.intp]

MOST_ROWS = 6
"""Rows that a polynomial goes through."""
LEAST_ROWS = 5
"""Rows from which on their polynomial is better than the cubic of two rows and their rates."""


def find_windows(time: Array, knots: NDArray[np.bool_] | None, row: Rows) -> tuple[Rows, Rows]:
    """First row, and number of rows, of the polynomial for the interval that begins at each row.

    These are the rows about the interval, as many on each side where the knots allow.
    """
    if knots is None:
        return row, np.full(row.shape, 2)
    ends = knots.copy()
    ends[[0, -1]] = True
    # Rows at the same time are the two sides of a jump, whatever else is known of them.
    same = (time[1:] == time[:-1]).nonzero()[0]
    ends[same] = ends[same + 1] = True
    places = ends.nonzero()[0]
    piece = places.searchsorted(row, side="right") - 1
    left, right = places[piece], places[piece + 1]
    count = np.minimum(right - left + 1, MOST_ROWS)
    return np.minimum(np.maximum(row + 1 - MOST_ROWS // 2, left), right + 1 - count), count


def interpolate(
    time: Array, columns: Array, rates: Array | None, knots: NDArray[np.bool_] | None, row: Rows, t: Array
) -> Array:
    """Values of columns (n, k) at the times t, each in the interval that begins at its row.

    Args:
        rates: time derivatives of the columns, where they are known.
    """
    result = columns[row]
    # On a sample the sample itself, even where its neighbour is not a number.
    inside = np.flatnonzero(t != time[row])
    first, count = find_windows(time, knots, row[inside])
    result[inside] = polynomials(time, columns, first, count, t[inside])
    few = inside[count < LEAST_ROWS]
    if rates is not None and few.size:
        result[few] = cubics(time, columns, rates, row[few], t[few])
    return result


def polynomials(time: Array, columns: Array, first: Rows, count: Rows, t: Array) -> Array:
    """Values at the times t of polynomials through `count` rows each from `first` on (Neville's scheme).

    p_ij(t) = p_i(j-1)(t) + (t - t_i) / (t_j - t_i) (p_(i+1)j(t) - p_i(j-1)(t))
    """
    result = np.empty((t.size, columns.shape[1]))
    for n in sorted(set(count.tolist())):
        chosen = (count == n).nonzero()[0]
        rows = first[chosen, None] + np.arange(n)
        nodes, p = time[rows][..., None], columns[rows]
        ahead = t[chosen, None, None] - nodes
        for span in range(1, n):
            share = ahead[:, : n - span] / (nodes[:, span:] - nodes[:, : n - span])
            # In this form what is constant stays so to the last digit.
            share = share * (p[:, 1:] - p[:, :-1])
            share += p[:, :-1]
            p = share
        result[chosen] = p[:, 0]
    return result


def cubics(time: Array, columns: Array, rates: Array, row: Rows, t: Array) -> Array:
    """Values at the times t of cubics through both ends of the intervals that begin at `row`, with the rates there.

        y(s) = left + s^2 (3 - 2 s) (right - left) + s (1 - s) ((1 - s) left_slope - s right_slope)

    Slopes are derivatives with respect to the share s of the interval: rate times interval length.
    """
    length, left, right = (time[row + 1] - time[row])[:, None], columns[row], columns[row + 1]
    s = (t - time[row])[:, None] / length
    rise = s * s * (3 - 2 * s) * (right - left)
    return left + rise + s * (1 - s) * length * ((1 - s) * rates[row] - s * rates[row + 1])
