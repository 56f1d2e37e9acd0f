"""Step-response figures: when does a signal peak, how does it oscillate, how far does it overshoot?"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from robodyn.base import Array, frozen, refuse
from robodyn.computation.results.signal import Signal, settled_after

# A peak lower than this share of the step is a ripple of its rise; one from which the signal falls by less than this
# share, before it rises again or ends, is a ripple of a rest.
LEAST_SHARE = 0.5
LEAST_FALL = 1e-3
# Distance of the points of a peak's parabola, as part of the rows' distance.
NEAR_PEAK = 0.25


@frozen
class Peak:
    """A greatest value between two lesser ones: time since the step [s], share of the step (1 is the final level)."""

    time: float
    share: float


@frozen
class StepResponse:
    """A signal seen as the answer to a step from one level to another.

    Attributes:
        at: time of the step [s]; start, final: levels before and long after, in the signal's unit.
        peaks: in the direction of the step, in order of time.
    """

    signal: Signal
    at: float
    start: float
    final: float
    peaks: tuple[Peak, ...]

    @property
    def first_peak(self) -> float:
        """Time from the step to the first peak [s]."""
        return self._peak(0).time

    @property
    def oscillation_time(self) -> float:
        """Time between the first two peaks [s]."""
        return self._peak(1).time - self._peak(0).time

    @property
    def overshoot(self) -> float:
        """How far the highest peak lies beyond the final level, by the height of the step: `(y_max - y_inf)/y_inf`."""
        self._peak(0)
        return max(peak.share for peak in self.peaks) - 1.0

    def rise_time(self, low: float = 0.1, high: float = 0.9) -> float:
        """Time [s] from the first reaching of one share of the step to that of another; nan if it does not."""
        return self.reached(high) - self.reached(low)

    def reached(self, share: float) -> float:
        """Time [s] from the step until a share of it is first reached, straight between samples; nan if it is not."""
        time, shares = self._after()
        above = np.flatnonzero(shares >= share)
        if not above.size:
            return float("nan")
        k = int(above[0])
        return float(time[0] if k == 0 else np.interp(share, shares[k - 1 : k + 1], time[k - 1 : k + 1]))

    def settling_time(self, within: float = 0.02) -> float:
        """Time [s] from the step after which the signal stays within a part of the step of its final level."""
        time, shares = self._after()
        return settled_after(time, shares - 1, within, self.signal.kind)

    def _after(self) -> tuple[Array, Array]:
        """Times since the step and shares of it."""
        rows = self.signal.time >= self.at
        return self.signal.time[rows] - self.at, (self.signal.values[rows] - self.start) / (self.final - self.start)

    @overload
    def share(self, elapsed: float) -> float: ...
    @overload
    def share(self, elapsed: ArrayLike) -> Array: ...

    def share(self, elapsed: ArrayLike) -> float | Array:
        """Share of the step done a time after it [s]: `(y(t) - y_0)/(y_inf - y_0)`."""
        values = self.signal(np.asarray(elapsed, float) + self.at)
        return (values - self.start) / (self.final - self.start)

    def _peak(self, k: int) -> Peak:
        if k < len(self.peaks):
            return self.peaks[k]
        peaks = "no peak" if not self.peaks else "one peak alone"
        what = f"has {peaks} after the step at {self.at:g} s"
        refuse(self.signal.name, what, "record it for longer, or evaluate shares at given times")


def measure_step(
    signal: Signal, at: float = 0.0, *, start: float | None = None, final: float | None = None
) -> StepResponse:
    """The response of a signal to a step.

    Peaks are those of the interpolated signal, of a parabola through three samples where it is straight between them.
    Lower ones than half the step do not count, nor ripples of less than a thousandth of it.

    Args:
        signal: of a run, or `Signal("name", "V", times, values)`.
        at: time of the step [s].
        start: level before; the signal's own value at the step by default. final: level long after; the signal's last
            value by default.
    """
    first, last = float(signal.time[0]), float(signal.time[-1])
    if not first <= at < last:
        what = f"is recorded from {first:g} to {last:g} s, the step is said to be at {at:g} s"
        refuse(signal.name, what, "give the time of the step")
    start = float(signal(at)) if start is None else float(start)
    final = signal.final if final is None else float(final)
    if start == final:
        what = f"starts and ends at {final:g} {signal.unit}"
        refuse(signal.name, what, "a step needs two different levels: give start and final")
    # The peaks of the share of the step done, ripples left out.
    height = final - start
    # At a jump the last row is the value; what lies before the step is left out.
    rows = np.flatnonzero(np.append(np.diff(signal.time) > 0, True) & (signal.time >= at))
    time, shares = signal.time[rows] - at, (signal.values[rows] - start) / height
    if signal.rate_values is not None:
        # Maxima of the cubic pieces with given ends and slopes: roots of their derivatives, falling
        # through zero.
        rates = signal.rate_values[rows] / height
        responses = []
        # A piece that begins by rising and ends by falling has exactly one greatest value inside.
        for k in np.flatnonzero((rates[:-1] > 0) & (rates[1:] <= 0)):
            h, rise = time[k + 1] - time[k], shares[k + 1] - shares[k]
            c1 = h * rates[k]
            c2 = 3 * rise - h * (2 * rates[k] + rates[k + 1])
            c3 = h * (rates[k] + rates[k + 1]) - 2 * rise
            # The root of c + b s + a s^2 in (0, 1], given c > 0 >= c + b + a, without cancellation.
            b = 2 * c2
            s = float(2 * c1 / (-b + np.sqrt(b * b - 4 * (3 * c3) * c1)))
            responses.append(Peak(float(time[k] + s * h), float(shares[k] + s * (c1 + s * (c2 + s * c3)))))
    else:
        responses = _parabolic_maxima(time, shares)
    if signal.knots is not None:
        responses = [_sharpen(signal, at, start, height, peak) for peak in responses]
    peaks = _drop_ripples([peak for peak in responses if peak.share >= LEAST_SHARE], time, shares)
    return StepResponse(signal, at, start, final, peaks)


def _sharpen(signal: Signal, at: float, start: float, height: float, peak: Peak) -> Peak:
    """The vertex of a parabola through the signal itself, near a peak found among its rows."""
    row = int(np.searchsorted(signal.time, at + peak.time))
    around = signal.time[max(row - 1, 0) : row + 1]
    apart = NEAR_PEAK * float(around[-1] - around[0])
    times = np.array([peak.time - apart, peak.time, peak.time + apart])
    inside = signal.time[0] <= at + times[0] and at + times[-1] <= signal.time[-1]
    sharper = _parabolic_maxima(times, (signal(at + times) - start) / height) if apart > 0 and inside else []
    return sharper[0] if sharper else peak


def _drop_ripples(found: list[Peak], time: Array, shares: Array) -> tuple[Peak, ...]:
    """The highest of maxima with no fall between them, the earliest of equal ones; none that nothing falls from."""
    peaks: list[Peak] = []
    for peak in found:
        if not peaks or _lowest(time, shares, peaks[-1].time, peak.time) < peaks[-1].share - LEAST_FALL:
            peaks.append(peak)
        elif peak.share > peaks[-1].share + LEAST_FALL:
            peaks[-1] = peak
    if peaks and _lowest(time, shares, peaks[-1].time, time[-1]) >= peaks[-1].share - LEAST_FALL:
        peaks.pop()
    return tuple(peaks)


def _lowest(time: Array, shares: Array, begin: float, end: float) -> float:
    """The least sample between two times."""
    return float(np.min(shares[(time >= begin) & (time <= end)], initial=np.inf))


def _parabolic_maxima(time: Array, values: Array) -> list[Peak]:
    """Vertices of the parabolas through each greatest sample and its two neighbours."""
    inner = values[1:-1]
    maxima = []
    for k in np.flatnonzero((inner > values[:-2]) & (inner >= values[2:])) + 1:
        left, right = time[k] - time[k - 1], time[k + 1] - time[k]
        before, after = (values[k] - values[k - 1]) / left, (values[k + 1] - values[k]) / right
        bend = (after - before) / (left + right)
        # Newton's form about the middle sample: y = y_k + (before + bend left) u + bend u^2.
        slope = before + bend * left
        maxima.append(Peak(float(time[k] - slope / (2 * bend)), float(values[k] - slope**2 / (4 * bend))))
    return maxima
