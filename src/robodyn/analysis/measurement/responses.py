"""Filtering and measured frequency responses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from robodyn.analysis.linear.linear_model import LinearModel, Variable
from robodyn.analysis.linear.responses import FrequencyResponse, respond
from robodyn.base import Array, FlawList, frozen, refuse
from robodyn.computation.results import Run, SignalInfo
from robodyn.computation.results.signal import held_rows
from robodyn.description.files.samples.reading import even_times, usual_step
from robodyn.description.laws.recorded import AT_TICK

from .data_sheet import GAP, assess_clock

# --------------------------------------------------------------------------------------------------
# Filtering of measured signals: resampling, anti-alias low-pass and differentiation, without phase unless one asks.
#
# A Butterworth filter forwards and backwards in time has no phase; its gain is squared, and its cutoff is here where
# the *squared* gain is 1/2. In one direction ("causal") it delays slow signals by `delay`.


ANTI_ALIAS = 0.4
"""Cutoff of a signal that is sampled anew, by the new rate: an octave above half of it is down by 40 dB and more."""


@frozen
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
        """The time by which slow signals of a rate [Hz] come late [s]: the sum of Re(-1/pole) of the bilinear
        transform."""
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

    def __call__(self, values: Array, rate: float) -> Array:
        """Filtered columns (n,) or (n, k) of an even clock [Hz]; parts between missing samples by themselves."""
        from scipy.signal import butter, sosfilt, sosfilt_zi, sosfiltfilt

        if self.cutoff >= rate / 2:
            what = f"{self.cutoff:g} Hz is not below half the rate of {rate:g} Hz"
            refuse("cutoff", what, "choose a lower one, or none", "low-pass")
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


def finite_parts(values: Array) -> Iterator[slice]:
    """Stretches of rows in which no sample is missing."""
    there = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], there.astype(int), [0]])))
    yield from (slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True))


def differentiate(values: Array, rate: float) -> Array:
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
        refuse("rate", f"must be positive, is {rate:g}", source="resampling")
    first = np.concatenate([[True], np.diff(data.time) > 0])
    time, values = data.time[first], data.values[first]
    if time.size < 2:
        refuse("time", f"has {time.size} different times", "at least 2 are needed", "resampling")
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


UNEVEN = 0.03
"""Part of a step by which one of an uneven clock is off."""
SMOOTHER = 0.9
"""Ratio of roughness below which even times are believed and those written are not."""


def are_even(time: Array, values: Array) -> bool:
    """Whether columns that move smoothly were sampled at even times, and only their times were written unevenly.

    At the right times samples are near the cubic through their neighbours; judged where steps are off.
    """
    usual = usual_step(time)
    if not usual > 0:
        return False
    off = np.abs(np.diff(time) / usual - 1) > UNEVEN
    rows = np.flatnonzero(np.convolve(off, np.ones(4), "same") > 0) + 1
    rows = rows[(rows > 2) & (rows < time.size - 3)]
    if rows.size < 5:
        return False
    ticks, ratios = even_times(time), []
    for column in values.T:
        with np.errstate(divide="ignore", invalid="ignore"):
            rough = [np.nanmedian(np.abs(column[rows] - _from_neighbours(t, column, rows))) for t in (time, ticks)]
        ratios += [rough[1] / rough[0]] if min(rough) > 0 else []
    return bool(ratios and np.median(ratios) < SMOOTHER)


def _from_neighbours(t: Array, y: Array, rows: Array) -> Array:
    """The cubic through the four neighbours of samples, at these."""
    near, total = (-2, -1, 1, 2), np.zeros(rows.size)
    for i in near:
        weights = [(t[rows] - t[rows + j]) / (t[rows + i] - t[rows + j]) for j in near if j != i]
        total += np.prod(weights, axis=0) * y[rows + i]
    return total


FREQUENT = 0.5
"""Share of rows that repeat the one before, from which on they are what the machine did: it stood still."""


def stale_rows(values: Array) -> Array:
    """Rows that repeat every number of the row before: a logger that was ahead of the machine wrote them twice.

    Up to three in a row: longer stretches are rest.
    """
    if len(values) < 2:
        return np.zeros(len(values), bool)
    same = np.concatenate([[False], np.all((np.diff(values, axis=0) == 0) | ~np.isfinite(values[1:]), axis=1)])
    same &= np.isfinite(values).any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(int), [0]])))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if end - start > 3:
            same[start:end] = False
    return same if same.mean() < FREQUENT else np.zeros(len(values), bool)


def _interpolate(at: Array, time: Array, values: Array, infos: tuple[SignalInfo, ...], gap: float) -> Array:
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


def _cubic(t: Array, y: Array, at: Array) -> Array:
    """The cubic spline through samples."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(t, y)(np.clip(at, t[0], t[-1]))


# --------------------------------------------------------------------------------------------------
# Measured frequency response: how does one signal follow another, with coherence and confidence (Welch's method)?
#
# Symbols: S_yu cross spectrum, n independent averages, g^2 coherence.
#
#     H = S_yu / S_uu,   g^2 = |S_yu|^2 / (S_uu S_yy),   deviation = sqrt((1 - g^2) / (2 n g^2))
#
# that of the magnitude by itself and of the angle.
#
# In a loop noise of the output comes back to the input and H is wrong; with a reference r that noise knows nothing of,
# H = S_yr / S_ur is right. Bendat and Piersol (2010), chapters 6 and 9.


SEGMENTS = 16
"""How many windows a recording is cut into, unless a resolution is given; with half overlap about twice as many."""
OVERLAP_COST = 1 / (1 + 2 * (1 / 6) ** 2)
"""Independent averages, by windows, of Hann windows that overlap by half (Welch 1967)."""
NORMAL = 1.959964
CLEAR = 0.1
"""Deviation up to which the linearised intervals hold."""


@frozen(eq=False)
class MeasuredResponse(FrequencyResponse):
    """A response from data.

    Attributes:
        coherence: (n,), 0 to 1: share of the output that follows the input linearly, the less of both with a reference.
        deviation: standard deviation of the magnitude by itself, and of the phase [rad], (n,).
        averages: independent windows.
    """

    JSON = """
    frequency: [Hz]
    magnitude_db = decibel
    phase_deg = phase
    coherence
    deviation: of the magnitude, relative
    """
    coherence: Array
    deviation: Array
    averages: float

    @property
    def reliable(self) -> Array:
        """Where the data determine the response; elsewhere noise makes the magnitude too large."""
        return self.deviation < CLEAR

    @property
    def interval(self) -> tuple[Array, Array]:
        """95 % interval of the magnitude."""
        width = NORMAL * self.deviation
        return self.magnitude * np.exp(-width), self.magnitude * np.exp(width)


def estimate_response(
    data: Run,
    input: str,
    output: str,
    *,
    reference: str | None = None,
    resolution: float | None = None,
    period: float | None = None,
) -> MeasuredResponse:
    """The response of a signal to another one, of a run or a measurement.

    Args:
        reference: a signal that excites both and that noise of the loop does not reach.
        resolution: [Hz] between frequencies; by default sixteen windows fit into the recording.
        period: [s] of a periodic excitation: windows are whole periods then, and nothing leaks.
    """
    names = [input, output, *([reference] if reference else [])]
    _check(data, names, resolution, period)
    rate = assess_clock(data.time).rate
    even = resample(data, rate, filtered=False)
    columns = np.column_stack([even[name].values for name in names])
    columns = columns[np.isfinite(columns).all(axis=1)]
    # Rows of a window.
    rows = len(columns)
    length = round(period * rate) if period else round(rate / resolution) if resolution else rows // SEGMENTS
    if not 8 <= length <= rows // 2:
        what = f"windows of {length} rows do not fit twice into {rows} rows"
        refuse("data", what, "measure longer, or take a coarser resolution", "frequency response")
    # Cross spectra of all columns (n_f, k, k) above 0 Hz, their frequencies, and how many averages
    # they are worth.
    periodic = period is not None
    step = length if periodic else length // 2
    taper = np.ones(length) if periodic else np.hanning(length + 1)[:-1]
    starts = range(0, len(columns) - length + 1, step)
    total = np.zeros((length // 2, columns.shape[1], columns.shape[1]), complex)
    for start in starts:
        part = columns[start : start + length]
        waves = np.fft.rfft(taper[:, None] * (part - part.mean(axis=0)), axis=0)[1 : length // 2 + 1]
        total += waves[:, :, None] * waves[:, None, :].conj()
    averages = len(starts) * (1.0 if periodic else OVERLAP_COST)
    frequency = np.asarray(np.fft.rfftfreq(length, 1 / rate)[1 : length // 2 + 1], float)
    spectra = total / len(starts)
    driver = 2 if reference else 0
    S = spectra[:, driver, driver].real
    compared = (0, 1) if reference else (1,)
    powers = [np.maximum(spectra[:, k, k].real * S, 1e-300) for k in compared]
    coherence = np.min([np.abs(spectra[:, k, driver]) ** 2 / p for k, p in zip(compared, powers, strict=True)], axis=0)
    values = spectra[:, 1, driver] / spectra[:, 0, driver]
    g = np.clip(coherence, 1e-12, 1 - 1e-12)
    # With a reference both sides are uncertain.
    deviation = np.sqrt((1 - g) / (2 * averages * g) * (2 if reference else 1))
    first, second = (Variable(name, even[name].unit) for name in (input, output))
    return MeasuredResponse(first, second, frequency, values, coherence, deviation, averages)


def _check(data: Run, names: list[str], resolution: float | None, period: float | None) -> None:
    flaws = FlawList()
    flaws.add_unknown(names, data.names, "is not in the data")
    for name in set(names) & set(data.names):
        if np.nanstd(data[name].values) == 0:
            flaws.add(name, "is constant: nothing can be told from it")
    flaws.add_unless_positive(resolution=resolution, period=period)
    if resolution is not None and period is not None:
        flaws.add("resolution", "has no effect: windows are whole periods", "leave one of them out")
    flaws.raise_if_any("frequency response")


def respond_between(model: LinearModel, by: str, input: str, output: str, frequency: Array) -> FrequencyResponse:
    """The model's exact response of one output to another while an input moves both, as a measurement sees them."""
    first, second = (respond(model, by, name, frequency) for name in (input, output))
    if not np.all(first.values):
        what = f"does not move {input}"
        remedy = "name a number that does, such as the offset of a chirp; numbers of sampled blocks move nothing"
        refuse(by, what, remedy, "frequency response")
    return FrequencyResponse(first.output, second.output, second.frequency, second.values / first.values)
