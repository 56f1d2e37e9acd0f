"""Measured frequency response: how does one signal follow another, with coherence and confidence (Welch's method)?

Symbols: S_yu cross spectrum, n independent averages, g^2 coherence.

    H = S_yu / S_uu,   g^2 = |S_yu|^2 / (S_uu S_yy),   deviation = sqrt((1 - g^2) / (2 n g^2))

that of the magnitude by itself and of the angle.

In a loop noise of the output comes back to the input and H is wrong; with a reference r that noise knows nothing of,
H = S_yr / S_ur is right. Bendat and Piersol (2010), chapters 6 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.analysis.linear.frequency import FrequencyResponse, respond
from robodyn.analysis.linear.linear_model import LinearModel, Variable
from robodyn.analysis.measurement.data_sheet import assess_clock
from robodyn.analysis.measurement.filtering import resample
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats

SEGMENTS = 16
"""How many windows a recording is cut into, unless a resolution is given; with half overlap about twice as many."""
OVERLAP_COST = 1 / (1 + 2 * (1 / 6) ** 2)
"""Independent averages, by windows, of Hann windows that overlap by half (Welch 1967)."""
NORMAL = 1.959964
CLEAR = 0.1
"""Deviation up to which the linearised intervals hold."""


@dataclass(frozen=True, eq=False)
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
    coherence: Floats
    deviation: Floats
    averages: float

    @property
    def told(self) -> np.ndarray:
        """Where the data tell the response; elsewhere noise makes the magnitude too large."""
        return self.deviation < CLEAR

    @property
    def interval(self) -> tuple[Floats, Floats]:
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
    length = _window(len(columns), rate, resolution, period)
    spectra, frequency, averages = _spectra(columns, rate, length, periodic=period is not None)
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


def _window(rows: int, rate: float, resolution: float | None, period: float | None) -> int:
    """Rows of a window."""
    length = round(period * rate) if period else round(rate / resolution) if resolution else rows // SEGMENTS
    if not 8 <= length <= rows // 2:
        what = f"windows of {length} rows do not fit twice into {rows} rows"
        raise ModelError([Flaw("data", what, "measure longer, or take a coarser resolution")], "frequency response")
    return int(length)


def _spectra(columns: Floats, rate: float, length: int, periodic: bool) -> tuple[np.ndarray, Floats, float]:
    """Cross spectra of all columns (n_f, k, k) above 0 Hz, their frequencies, and how many averages they are worth."""
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
    return total / len(starts), frequency, averages


def respond_between(model: LinearModel, by: str, input: str, output: str, frequency: Floats) -> FrequencyResponse:
    """The model's exact response of one output to another while an input moves both, as a measurement sees them."""
    first, second = (respond(model, by, name, frequency) for name in (input, output))
    if not np.all(first.values):
        what = f"does not move {input}"
        remedy = "name a number that does, such as the offset of a chirp; numbers of sampled blocks move nothing"
        raise ModelError([Flaw(by, what, remedy)], "frequency response")
    return FrequencyResponse(first.output, second.output, second.frequency, second.values / first.values)
