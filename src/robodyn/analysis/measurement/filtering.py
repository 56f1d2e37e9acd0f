"""Filtering of measured signals: resampling, anti-alias low-pass and differentiation, without phase unless one asks.

A Butterworth filter forwards and backwards in time has no phase; its gain is squared, and its cutoff is here where the
*squared* gain is 1/2. In one direction ("causal") it delays slow signals by `delay`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from robodyn.analysis.measurement.data_sheet import GAP
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.results import Run, SignalInfo
from robodyn.computation.results.signal import Floats, held_rows
from robodyn.description.laws.recorded import AT_TICK

ANTI_ALIAS = 0.4
"""Cutoff of a signal that is sampled anew, by the new rate: an octave above half of it is down by 40 dB and more."""


@dataclass(frozen=True)
class LowPass:
    """A Butterworth low-pass: half the power passes at the cutoff [Hz]; phase is "zero" or "causal"."""

    cutoff: float
    order: int = 4
    phase: str = "zero"

    def __post_init__(self) -> None:
        flaws = FlawList()
        if not self.cutoff > 0:
            flaws.add("cutoff", f"must be positive, is {self.cutoff:g}")
        if self.order < 1:
            flaws.add("order", f"must be at least 1, is {self.order}")
        if self.phase not in ("zero", "causal"):
            flaws.add("phase", f"must be 'zero' or 'causal', is {self.phase!r}")
        flaws.raise_if_any("low-pass")

    def delay(self, rate: float) -> float:
        """By how much slow signals of a rate [Hz] come late [s]: the sum of Re(-1/pole) of the bilinear transform."""
        if self.phase == "zero":
            return 0.0
        angles = np.pi * (2 * np.arange(self.order) + 1) / (2 * self.order)
        return float(np.sum(np.sin(angles)) / (2 * rate * np.tan(np.pi * self.cutoff / rate)))

    def _corner(self, rate: float) -> float:
        """Half-power frequency of one pass: |H|^4 = 1/2 at the cutoff where the filter runs twice, warping included."""
        if self.phase == "causal":
            return self.cutoff
        once = np.tan(np.pi * self.cutoff / rate) * (2**0.5 - 1) ** (-1 / (2 * self.order))
        return float(rate / np.pi * np.arctan(once))

    def __call__(self, values: Floats, rate: float) -> Floats:
        """Filtered columns (n,) or (n, k) of an even clock [Hz]; parts between missing samples by themselves."""
        from scipy.signal import butter, sosfilt, sosfilt_zi, sosfiltfilt

        if self.cutoff >= rate / 2:
            what = f"{self.cutoff:g} Hz is not below half the rate of {rate:g} Hz"
            raise ModelError([Flaw("cutoff", what, "choose a lower one, or none")], "low-pass")
        sos = butter(self.order, self._corner(rate), fs=rate, output="sos")
        found = np.full(values.shape, np.nan)
        for part in finite_parts(values):
            piece = values[part]
            if self.phase == "causal":
                first = sosfilt_zi(sos)
                start = first[..., None] * piece[0] if piece.ndim > 1 else first * piece[0]
                found[part] = sosfilt(sos, piece, axis=0, zi=start)[0]
            elif len(piece) > 1:
                # Long enough for the filter to settle before the first sample.
                pad = min(len(piece) - 1, int(3 * rate / self.cutoff) + 3 * self.order)
                found[part] = sosfiltfilt(sos, piece, axis=0, padtype="odd", padlen=pad)
        return found


def finite_parts(values: Floats) -> Iterator[slice]:
    """Stretches of rows in which no sample is missing."""
    there = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], there.astype(int), [0]])))
    yield from (slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True))


def differentiate(values: Floats, rate: float) -> Floats:
    """Time derivative by central differences of fourth order, which have no phase; nan at two samples of each end."""
    found = np.full(values.shape, np.nan)
    found[2:-2] = (8 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) * (rate / 12)
    return found


def resample(data: Run, rate: float, *, filtered: bool = True, widest_gap: float | None = None) -> Run:
    """Signals at even times, low-passed before where the new rate is lower; rows of gaps are missing.

    Args:
        rate: of the new rows [Hz].
        filtered: whether what would be folded is filtered out first, by a zero-phase low-pass.
        widest_gap: [s] up to which signals are interpolated, 1.5 usual steps by default.
    """
    if not rate > 0:
        raise ModelError([Flaw("rate", f"must be positive, is {rate:g}")], "resampling")
    first = np.concatenate([[True], np.diff(data.time) > 0])
    time, values = data.time[first], data.values[first]
    if time.size < 2:
        raise ModelError([Flaw("time", f"has {time.size} different times", "at least 2 are needed")], "resampling")
    usual = float(np.median(np.diff(time)))
    gap = GAP * max(usual, 0.0) if widest_gap is None else widest_gap
    if filtered and rate < 0.99 / usual:
        # On an even clock of the data's own rate the filter is what it says.
        own = np.arange(int(np.floor((time[-1] - time[0]) / usual + 1e-9)) + 1) * usual + time[0]
        values, time = LowPass(ANTI_ALIAS * rate)(_interpolate(own, time, values, data.infos, gap), 1 / usual), own
        gap = GAP * usual
    at = time[0] + np.arange(int(np.floor((time[-1] - time[0]) * rate + 1e-9)) + 1) / rate
    infos = tuple(replace(info, rate=None) for info in data.infos)
    return replace(data, time=at, values=_interpolate(at, time, values, data.infos, gap), infos=infos, knots=None)


def _interpolate(at: Floats, time: Floats, values: Floats, infos: tuple[SignalInfo, ...], gap: float) -> Floats:
    """A cubic spline through the present samples, held where the signal is; nan within gaps."""
    found = np.full((at.size, values.shape[1]), np.nan)
    for k, info in enumerate(infos):
        there = np.isfinite(values[:, k])
        t, y = time[there], values[there, k]
        if t.size < 2:
            continue
        row = np.clip(np.searchsorted(t, at, side="right") - 1, 0, t.size - 2)
        inside = (at >= t[0] - 1e-9 * gap) & (at <= t[-1] + 1e-9 * gap)
        apart = np.minimum(np.abs(at - t[row]), np.abs(at - t[row + 1]))
        near = (t[row + 1] - t[row] <= gap) | (apart <= 1e-6 * gap)
        # Clocks of logs are rounded: a held sample that is late by so little is there.
        slack = AT_TICK * (t[row + 1] - t[row])
        curve = y[held_rows(t, at, slack)] if info.kind == "held" else _cubic(t, y, at)
        found[:, k] = np.where(inside & near, curve, np.nan)
    return found


def _cubic(t: Floats, y: Floats, at: Floats) -> Floats:
    """The cubic spline through samples."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(t, y)(np.clip(at, t[0], t[-1]))
