"""Clock synchronisation: how late is one recording behind another, and how much faster does its clock run?

Symbols: t time of the first clock, u of the second.

    u = t + offset + skew (t - t_0),   t_0 the middle of what both cover

from a signal that both have recorded: the delay of largest correlation, refined in windows by least squares, and a
straight line through these delays. A recording too short for windows gives an offset alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robodyn.analysis.measurement.filtering import resample
from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats

WINDOWS = 8
LEAST = 64
"""Samples of a window."""
STEPS = 4
"""Of Gauss-Newton, from a delay that is right to a sample."""
ALIKE = 0.5
"""Correlation below which two signals are not the same."""


@dataclass(frozen=True)
class ClockOffset:
    """How the second clock is set against the first.

    Attributes:
        offset: [s] at `middle`; skew: seconds per second.
        deviation, skew_deviation: standard deviations of both, nan where there are too few windows.
        correlation: of the signals once they are aligned.
    """

    offset: float
    skew: float
    middle: float
    deviation: float
    skew_deviation: float
    correlation: float

    def corrected(self, second: Run) -> Run:
        """The second recording on the first one's clock: t = t_0 + (u - t_0 - offset) / (1 + skew)."""
        time = self.middle + (second.time - self.middle - self.offset) / (1 + self.skew)
        return replace(second, time=time)


def find_delay(first: Floats, second: Floats, rate: float, longest: float) -> tuple[float, float]:
    """By how much a second signal comes late [s] within +-longest, and the correlation there.

    The peak of the normalised cross-correlation, between samples by the parabola through its three highest points.
    """
    from scipy.signal import correlate

    x, y = (np.where(np.isfinite(s), s, np.nanmean(s)) - np.nanmean(s) for s in (first, second))
    size = np.linalg.norm(x) * np.linalg.norm(y)
    if not size > 0:
        return 0.0, 0.0
    found = correlate(y, x, mode="full", method="fft") / size
    lags = np.arange(-(x.size - 1), y.size)
    near = np.flatnonzero(np.abs(lags) <= max(longest * rate, 1.0))
    k = int(near[np.argmax(found[near])])
    shift = 0.0
    if 0 < k < found.size - 1:
        below, top, above = found[k - 1 : k + 2]
        bend = below - 2 * top + above
        shift = float(0.5 * (below - above) / bend) if bend < 0 else 0.0
    return float((lags[k] + shift) / rate), float(found[k])


def synchronise(first: Run, second: Run, signal: str, other: str = "", longest: float | None = None) -> ClockOffset:
    """Offset and skew of the second recording's clock from a signal both have.

    Args:
        signal: of the first; other: its name in the second, the same by default.
        longest: largest offset looked for [s], a quarter of the shorter recording by default.
    """
    rate = 1 / max(float(np.median(np.diff(run.time))) for run in (first, second))
    a, b = (resample(run, rate)[name] for run, name in ((first, signal), (second, other or signal)))
    length = min(np.ptp(a.time), np.ptp(b.time))
    most = length / 4 if longest is None else longest
    lag, correlation = find_delay(a.values, b.values, rate, most + abs(b.time[0] - a.time[0]))
    offset = lag + b.time[0] - a.time[0]
    if correlation < ALIKE:
        what = f"have a correlation of {correlation:.2g} at best"
        remedy = "name a signal that both recorded, or allow a larger offset"
        raise ModelError([Flaw(f"{signal}, {other or signal}", what, remedy)], "synchronisation")
    places, lags = _window_delays(a.time, a.values, b.time - offset, b.values, rate)
    middle = float((max(a.time[0], b.time[0] - offset) + min(a.time[-1], b.time[-1] - offset)) / 2)
    if len(lags) < 4:
        rest = float(np.mean(lags)) if len(lags) else 0.0
        return ClockOffset(float(offset + rest), 0.0, middle, float("nan"), float("nan"), correlation)
    (skew, rest), covariance = np.polyfit(places - middle, lags, 1, cov=True)
    deviations = np.sqrt(np.diag(covariance))
    return ClockOffset(
        float(offset + rest), float(skew), middle, float(deviations[1]), float(deviations[0]), correlation
    )


def _window_delays(t: Floats, x: Floats, u: Floats, y: Floats, rate: float) -> tuple[Floats, Floats]:
    """Delays in windows of what both cover, where the signals move and are alike."""
    from scipy.interpolate import CubicSpline

    start, end = max(t[0], u[0]), min(t[-1], u[-1])
    n = int((end - start) * rate)
    windows = max(min(WINDOWS, n // LEAST), 1)
    there, known = np.isfinite(y), np.isfinite(x)
    curve = CubicSpline(u[there], y[there])
    at = start + np.arange(n) / rate
    p = np.interp(at, t[known], x[known])
    found = []
    for part in np.array_split(np.arange(n), windows):
        lag = _refine_delay(at[part], p[part], curve, rate)
        if lag is not None and np.std(p[part]) > 0.05 * np.std(p):
            # Where a signal moves fast it tells its delay: that is the place which the window's delay is of.
            told = np.gradient(p[part]) ** 2
            found.append((float(at[part] @ told / told.sum()), lag))
    return np.array([place for place, _ in found]), np.array([lag for _, lag in found])


def _refine_delay(at: Floats, x: Floats, curve: Callable[[Floats], Floats], rate: float) -> float | None:
    """The delay d with x(t) = g y(t + d) + b best, by Gauss-Newton from 0; None where the signals are not alike.

    With y known as a curve: x = g y(t + d) + g y'(t + d) dd + b.
    """
    delay = 0.0
    for _ in range(STEPS):
        y, slope = curve(at + delay), (curve(at + delay + 0.1 / rate) - curve(at + delay - 0.1 / rate)) * rate / 0.2
        gain, shift, _ = np.linalg.lstsq(np.column_stack([y, slope, np.ones(at.size)]), x)[0]
        if not gain > 0 or abs(shift / gain) > at.size / rate / 4:
            return None
        delay += shift / gain
    alike = np.corrcoef(x, curve(at + delay))[0, 1]
    return float(delay) if alike > ALIKE else None
