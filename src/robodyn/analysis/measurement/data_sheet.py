"""Recordings judged: is the clock even, are signals noisy, saturated or repeated?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robodyn.base import Array, FlawList, frozen
from robodyn.computation.results import Run
from robodyn.description.files.samples.reading import even_times, usual_step

if TYPE_CHECKING:
    from robodyn.analysis.identification.mapping_proposal import MappingProposal

    from .measured import ClockOffset

# --------------------------------------------------------------------------------------------------
# Quality of measured signals: noise level, quantisation, saturation, spikes and stuck values of a column.
#
# The noise is that of differences of high order, in which smooth motion vanishes and white noise does not:
#
#     sigma = 1.4826 median |Delta^m y| / sqrt(binomial(2m, m))


ORDER = 4
"""Of the differences m."""
SPIKE = 10.0
"""Distance from both neighbours, by the noise or the step of the values, beyond which a sample is a spike."""
LEAST_HELD = 5
"""Samples in a row at the greatest value that are a saturation; a peak of a smooth signal has fewer."""
PEAK = 0.4
"""Rows at two steps below a peak by those at the top: of a parabola 0.73 or more, of what is cut off hardly any."""
STILL = 6.0
"""Range of a signal at rest, by its noise."""
MOST_LEVELS = 1 << 16
"""Different values beyond which a signal is not looked at for steps."""


@frozen
class Stretch:
    """Rows `start` to `end`, both included, that share a value."""

    start: int
    end: int
    value: float

    @property
    def count(self) -> int:
        return self.end - self.start + 1


@frozen
class SignalQuality:
    """What a column of numbers is worth.

    Attributes:
        noise: standard deviation of white noise; quantum: step of its values, 0 where there is none.
        saturated: stretches at the least or greatest value; spikes: rows; stuck: longest stretch of one value.
    """

    missing: int
    minimum: float
    maximum: float
    mean: float
    deviation: float
    noise: float
    quantum: float
    saturated: tuple[Stretch, ...]
    spikes: tuple[int, ...]
    stuck: Stretch | None


def assess_signal(values: Array) -> SignalQuality:
    """Noise, steps, saturation and spikes of samples; nan is a missing one."""
    present = np.isfinite(values)
    if not present.any():
        none = math.nan
        return SignalQuality(values.size, none, none, none, none, none, 0.0, (), (), None)
    rows, y = np.flatnonzero(present), values[present]
    stretches = find_stretches(rows, y)
    noise, spikes = estimate_noise(y)
    longest = max(stretches, key=lambda stretch: stretch.count, default=None)
    return SignalQuality(
        int(values.size - y.size), float(y.min()), float(y.max()), float(y.mean()), float(y.std()), noise,
        find_quantum(y), find_saturation(rows, y), tuple(rows[spikes].tolist()),
        longest if longest and longest.count > 1 else None,
    )  # fmt: skip


def estimate_noise(y: Array, order: int = ORDER) -> tuple[float, Array]:
    """Standard deviation of white noise by differences of an order, and samples that lie far from their neighbours."""
    none = np.zeros(0, int)
    if y.size < 2 * order + 1:
        return math.nan, none
    differences = np.diff(y, order)
    size = math.sqrt(math.comb(2 * order, order))
    noise = 1.4826 * float(np.median(np.abs(differences))) / size
    # A spike is one sample beyond both of its neighbours, on the same side: steps and gaps are none.
    before, after = y[1:-1] - y[:-2], y[1:-1] - y[2:]
    height = np.where(before * after > 0, np.minimum(np.abs(before), np.abs(after)), 0.0)
    # The turning points of a smooth signal are beyond their neighbours by its curvature.
    usual = max(noise, find_quantum(y), float(np.median(np.abs(np.diff(y, 2)))))
    return noise, np.flatnonzero(height > SPIKE * usual) + 1 if usual > 0 else none


def find_quantum(y: Array) -> float:
    """The step of which all values are multiples from the least one, 0 where there is none."""
    levels = np.unique(y)
    if not 2 < levels.size <= MOST_LEVELS:
        return 0.0
    gaps = np.diff(levels)
    step = float(gaps.min())
    span = float(levels[-1] - levels[0])
    if step <= 1e-9 * span:
        return 0.0
    # The smallest gap is known to rounding: the mean of all gaps by their counts is the step.
    counts = np.round(gaps / step)
    step = float(gaps.sum() / counts.sum())
    off = np.abs((levels - levels[0]) / step - np.round((levels - levels[0]) / step))
    return step if off.max() < 0.05 else 0.0


def find_stretches(rows: Array, y: Array) -> list[Stretch]:
    """Stretches of equal samples one after the other."""
    ends = np.flatnonzero(np.concatenate([(np.diff(y) != 0) | (np.diff(rows) != 1), [True]]))
    starts = np.concatenate([[0], ends[:-1] + 1])
    long = ends > starts
    return [Stretch(int(rows[a]), int(rows[b]), float(y[a])) for a, b in zip(starts[long], ends[long], strict=True)]


def find_saturation(rows: Array, y: Array) -> tuple[Stretch, ...]:
    """Long stretches at the least or greatest value of a signal that moves else, rounded peaks aside."""
    if y.min() == y.max():
        return ()
    quantum, found = find_quantum(y), []
    for stretch in find_stretches(rows, y):
        if stretch.value not in (y.min(), y.max()) or stretch.count < LEAST_HELD:
            continue
        # A peak that is rounded to steps stays at the two below too, before and after.
        near = np.abs(y - stretch.value) < 2.5 * quantum
        first, last = (int(np.searchsorted(rows, row)) for row in (stretch.start, stretch.end))
        before, after = near[:first][::-1], near[last + 1 :]
        sides = [int(np.argmin(side)) if not side.all() else side.size for side in (before, after)]
        if sum(sides) < PEAK * stretch.count:
            found.append(stretch)
    return tuple(found)


def saturated_stretches(name: str, data: Run) -> list[Stretch]:
    """Where a measured effort stays at its limit; rest before a step is none."""
    present = np.isfinite(data[name].values)
    rows, y = np.flatnonzero(present), data[name].values[present]
    others = [data[other].values for other in data.names if other != name]
    return [stretch for stretch in find_saturation(rows, y) if not _is_rest(stretch, others)] if y.size else []


def describe_saturation(name: str, data: Run, flaws: FlawList) -> None:
    """A flaw, with rows and remedy, where a measured effort stays at its limit."""
    stretches = saturated_stretches(name, data)
    if stretches:
        worst = max(stretches, key=lambda stretch: stretch.count)
        what = f"is saturated at {worst.value:.5g}: rows {worst.start + 1} to {worst.end + 1}"
        remedy = 'limit = ... in a mapping leaves such rows out, saturation = "keep" takes them as they are'
        flaws.add(name, f"{what} and {sum(s.count for s in stretches) - worst.count} more", remedy)


def _is_rest(stretch: Stretch, others: Sequence[Array]) -> bool:
    """Whether nothing else that was measured moves in these rows beyond its noise and its steps.

    Before the first motion and after the last one half of the rows will do: signals that come late rest longer.
    """
    start, end, half = stretch.start, stretch.end + 1, (stretch.count + 1) // 2
    for y in others:
        rows = slice(start, start + half if start == 0 else end)
        if end == len(y):
            rows = slice(end - half, end)
        piece, own = (part[np.isfinite(part)] for part in (y[rows], y))
        still = STILL * np.nan_to_num(estimate_noise(own)[0]) + 2 * find_quantum(own)
        if piece.size and np.ptp(piece) > still:
            return False
    return bool(others)


# --------------------------------------------------------------------------------------------------
# Data sheet of measurements: rates, gaps, jitter, and of each signal range, noise, quantisation and saturation.


GAP = 1.5
"""Median steps beyond which rows are missing."""


@frozen
class Gap:
    """Missing rows: after which row, when, how long [s], how many."""

    row: int
    time: float
    length: float
    missing: int


@frozen
class ClockQuality:
    """Times of rows.

    Attributes:
        rate: [Hz], by the median step; jitter: standard deviation of the steps, gaps left out, and the largest [s].
        repeated: rows at the time of the one before.
    """

    rows: int
    start: float
    end: float
    rate: float
    jitter: float
    worst_jitter: float
    gaps: tuple[Gap, ...]
    repeated: int


@frozen
class DataSheet:
    """What is in a file of measurements."""

    source: str
    clock: ClockQuality
    units: dict[str, str]
    signals: dict[str, SignalQuality]
    notes: tuple[str, ...]


@frozen
class DataSheets:
    """A sheet for each clock of a file, how another recording's clock is set against the first, and what the columns
    mean to a model."""

    JSON = """
    clocks: rate, jitter, gaps, and a sheet for each signal
    offset?
    proposal?
    """
    clocks: tuple[DataSheet, ...]
    offset: ClockOffset | None = None
    proposal: MappingProposal | None = None


def make_data_sheet(data: Run) -> DataSheet:
    """The sheet of measured or simulated signals."""
    signals = {name: assess_signal(data[name].values) for name in data.names}
    units = {info.name: info.unit for info in data.infos}
    source = str(data.provenance.description.get("file", data.provenance.scenario))
    return DataSheet(source, assess_clock(data.time), units, signals, data.warnings)


def assess_clock(time: Array) -> ClockQuality:
    """Rate, jitter and gaps of times [s]; a stall whose rows come in a burst behind it is no gap."""
    steps = np.diff(time)
    rising = steps[steps > 0]
    repeated = int(np.sum(steps == 0))
    if not rising.size:
        return ClockQuality(time.size, float(time[0]), float(time[-1]), 0.0, 0.0, 0.0, (), repeated)
    usual = usual_step(time) or float(np.median(rising))
    usually = (rising < GAP * usual) & (rising > usual / GAP)
    near = rising[usually] if usually.any() else rising
    ticks = even_times(time) / usual
    gaps = tuple(
        Gap(int(k), float(time[k]), float(steps[k]), missing)
        for k in np.flatnonzero(steps >= GAP * usual)
        if (missing := round(ticks[k + 1] - ticks[k]) - 1) > 0
    )
    # Rates of an even clock are known better than one step is.
    off = near - usual
    return ClockQuality(
        time.size, float(time[0]), float(time[-1]), 1 / float(np.mean(near)), float(off.std()),
        float(np.abs(off).max()), gaps, repeated,
    )  # fmt: skip
