"""Error bars: how far may the numbers of a run be off? What an independent, tighter solution says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from robodyn.base import Array, frozen

if TYPE_CHECKING:
    from .run import Run

SAME_INSTANT = 1e-9
"""Part of a run's span within which two times are one instant."""
SAME_EVENT = 1e-3
"""Time [s] by which an event of one solution comes so much before the next of the other that it has no partner."""
LOST, EARLY, GROWN = 0.01, 0.05, 1e3
"""Part of its size at which a state is no longer known; part of the span after which an error is called early; growth
from there that only an unstable motion has. All three are this project's own choice."""


@frozen
class ErrorBar:
    """How far one signal may be off.

    Args:
        error: largest difference between both solutions, times a safety factor [unit]; time: where [s].
    """

    error: float
    unit: str
    time: float


@frozen
class Errors:
    """The differences of a run from a second solution.

    Args:
        bars: by name of the signal; against: the second solution in words.
        events: whether they agree, in a sentence; agree: whether they do, one to one.
        shift: largest difference of the times of events [s].
        lost: time from which on the motion cannot be predicted, None where it can; growth: rate [1/s] at which errors
            grow until then.
    """

    JSON = """
    against
    events
    agree
    shift: of the times of events [s]
    lost: time from which on the motion cannot be predicted [s]
    growth: of errors until then [1/s]
    """
    bars: Mapping[str, ErrorBar]
    against: str
    events: str
    agree: bool
    shift: float
    lost: float | None = None
    growth: float | None = None

    def __getitem__(self, name: str) -> ErrorBar:
        return self.bars[name]

    def lines(self) -> list[str]:
        """Sentences to say beside the error of each signal."""
        said = [f"errors are differences from {self.against}", f"events: {self.events}"]
        if self.lost is not None and self.growth is not None:
            what = f"errors grow tenfold every {np.log(10) / self.growth:.3g} s: the motion is unstable or chaotic"
            said.append(f"{what}, and from {self.lost:.4g} s on no number can be trusted")
        return said


def compare_solutions(first: Run, second: Run, against: str, factor: float = 1.0) -> Errors:
    """Errors of a run, as far as another solution of the same problem reaches: their differences times a factor.

    Compared where the first has rows, but not where an event of either is nearer than both differ about it: there a
    jump is early or late, which is said of the event and not of the signal.
    """
    begin, end = float(first.time[0]), float(min(first.time[-1], second.time[-1]))
    agree, shift, sentence = compare_events(first, second)
    last = np.append(np.diff(first.time) > 0, True)
    rows = np.flatnonzero(last & (first.time <= end))
    marks = np.sort([event.time for run in (first, second) for event in run.events])
    rows = rows[distance_to(first.time[rows], marks) > (2 * shift if agree else 0.0) + SAME_INSTANT * (end - begin)]
    times = first.time[rows] if rows.size else first.time[:0]
    sizes: dict[str, float] = {}
    for k, info in enumerate(first.infos):
        sizes[info.unit] = max(sizes.get(info.unit, 0.0), float(np.nanmax(np.abs(first.values[:, k]), initial=0.0)))
    bars, worst = {}, np.zeros(times.size)
    for k, info in enumerate(first.infos):
        if info.name not in second or not times.size:
            continue
        values, others = first.values[rows, k], second[info.name](times)
        # A phase of a sequence does not have all signals: what is no number in both is the same.
        apart = np.where(np.isnan(values) & np.isnan(others), 0.0, np.abs(values - others))
        at = int(np.argmax(apart))
        bars[info.name] = ErrorBar(factor * float(apart[at]), info.unit, float(times[at]))
        if info.rate is not None and sizes[info.unit] > 0:
            worst = np.maximum(worst, apart / sizes[info.unit])
    return Errors(bars, against, sentence, agree, shift, *_find_loss(times, worst))


def compare_events(first: Run, second: Run) -> tuple[bool, float, str]:
    """Whether two runs have the same events, how far their times lie apart, and both in a sentence.

    Events of each name are compared in their order; those of different names may change places within an instant.
    """
    one, two = _times_by_name(first), _times_by_name(second)
    counts = len(first.events), len(second.events)
    if counts == (0, 0):
        return True, 0.0, "none in either run"
    pairs = {name: (one.get(name, []), two.get(name, [])) for name in {**one, **two}}
    lonely = sorted((_first_lonely(*pair), name) for name, pair in pairs.items() if len(pair[0]) != len(pair[1]))
    if lonely:
        time, name = lonely[0]
        return False, 0.0, f"{counts[0]} against {counts[1]}; '{name}' at {time:.6g} s is in one of them only"
    shift = max(abs(a - b) for name in one for a, b in zip(one[name], two[name], strict=True))
    return True, shift, f"{counts[0]} agree one to one, times within {shift:.2g} s"


def _times_by_name(run: Run) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for event in run.events:
        times.setdefault(event.name, []).append(event.time)
    return times


def _first_lonely(one: list[float], two: list[float]) -> float:
    """Time of the first event of the longer list without a partner in the other."""
    longer, shorter = sorted((one, two), key=len, reverse=True)
    return next((a for a, b in zip(longer, shorter, strict=False) if a < b - SAME_EVENT), longer[len(shorter)])


def distance_to(times: Array, marks: Array) -> Array:
    """From each time to the nearest mark."""
    if not marks.size:
        return np.full(times.shape, np.inf)
    after = np.searchsorted(marks, times)
    above = np.abs(marks[np.minimum(after, marks.size - 1)] - times)
    return np.minimum(above, np.abs(times - marks[np.maximum(after - 1, 0)]))


def _find_loss(times: Array, worst: Array) -> tuple[float | None, float | None]:
    """When a state is no longer known to a hundredth of its size, if errors grew there from little; and how fast."""
    so_far = np.maximum.accumulate(np.nan_to_num(worst, nan=np.inf)) if worst.size else worst
    beyond = np.flatnonzero(so_far > LOST)
    if not beyond.size:
        return None, None
    lost, early = int(beyond[0]), int(np.searchsorted(times, times[0] + EARLY * (times[-1] - times[0])))
    if lost <= early or so_far[lost] < GROWN * so_far[early]:
        return None, None
    grown = so_far[lost] / max(so_far[early], np.finfo(float).eps)
    return float(times[lost]), float(np.log(grown) / (times[lost] - times[early]))
