"""Comparison of runs: where and by how much do two differ?"""

from collections.abc import Iterator

import numpy as np

from robodyn.base import Array, Displayed, frozen

from .errors import SAME_INSTANT, distance_to
from .run import Run
from .signal import Signal


@frozen
class Difference:
    """How far one signal of two runs lies apart.

    Args:
        max_abs: largest |first - second| [unit]; not a number if either run is not one somewhere.
        at_time: where it is largest [s].
        rms: root of the time mean of the squared difference [unit].
        scale: largest magnitude of the signal in either run [unit].
    """

    name: str
    unit: str
    max_abs: float
    at_time: float
    rms: float
    scale: float

    @property
    def relative(self) -> float:
        """max_abs / scale, and 0 for two signals that are zero throughout."""
        return self.max_abs / self.scale if self.scale != 0 else self.max_abs


@frozen
class Comparison(Displayed):
    """The differences of all common signals over the common time span, and the names only one run has."""

    differences: tuple[Difference, ...]
    only_in_first: tuple[str, ...]
    only_in_second: tuple[str, ...]
    span: tuple[float, float]

    def __repr__(self) -> str:
        worst = max(self.differences, key=lambda difference: difference.relative, default=None)
        most = f", at most {worst.relative:.2g} of a signal ({worst.name})" if worst else ""
        return f"<Comparison of {len(self)} signals{most}>"

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __getitem__(self, name: str) -> Difference:
        for difference in self.differences:
            if difference.name == name:
                return difference
        raise KeyError(f"{name!r} was not compared; compared were {', '.join(d.name for d in self)}")


def compare(first: Run, second: Run) -> Comparison:
    """Compare all signals of the same name between the times both runs cover.

    Compared at all sample times of both but jumps, where the value is ambiguous, and at the middles between.
    """
    start, end = _common_span(first, second)
    instants = _instants(first, second, start, end)
    # A run of one instant has no middles; the instant itself is compared then.
    middles = (instants[:-1] + instants[1:]) / 2 if instants.size > 1 else instants
    widths = np.diff(instants) if instants.size > 1 else np.ones(1)
    jumps = np.union1d(_jumps(first), _jumps(second))
    clear = instants[distance_to(instants, jumps) > SAME_INSTANT * (end - start)]
    common = [name for name in first.names if name in second]
    return Comparison(
        tuple(_difference(first[name], second[name], clear, middles, widths) for name in common),
        tuple(name for name in first.names if name not in second),
        tuple(name for name in second.names if name not in first),
        (start, end),
    )


def identical(first: Run, second: Run) -> bool:
    """Whether two runs recorded the same, bit for bit; costs and provenance may differ."""
    arrays = zip(_arrays(first), _arrays(second), strict=True)
    same_arrays = all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in arrays)
    parts = ("infos", "events", "outcome", "warnings")
    return same_arrays and all(getattr(first, part) == getattr(second, part) for part in parts)


def _arrays(run: Run) -> tuple[Array, ...]:
    return run.time, run.values, np.ones(run.time.shape, bool) if run.knots is None else run.knots


def _difference(first: Signal, second: Signal, clear: Array, middles: Array, widths: Array) -> Difference:
    if first.unit != second.unit:
        raise ValueError(f"{first.name}: units {first.unit!r} and {second.unit!r} cannot be compared")
    # A held value changes at its sample times, which two runs may round differently: middles are safe.
    held = "held" in (first.kind, second.kind)
    times = middles if held else np.concatenate([middles, clear])
    left, right = first(times), second(times)
    apart = np.abs(left - right)
    # argmax finds the first value that is not a number, if there is one.
    worst = int(np.argmax(apart))
    mean_square = np.average(apart[: middles.size] ** 2, weights=widths)
    scale = float(max(np.abs(left).max(), np.abs(right).max()))
    at_worst = float(apart[worst]), float(times[worst])
    return Difference(first.name, first.unit, *at_worst, float(np.sqrt(mean_square)), scale)


def _common_span(first: Run, second: Run) -> tuple[float, float]:
    if first.time.size == 0 or second.time.size == 0:
        raise ValueError("a run without samples cannot be compared")
    start, end = max(first.time[0], second.time[0]), min(first.time[-1], second.time[-1])
    if start > end:
        raise ValueError(f"the runs do not overlap in time: one starts at {start:.9g} s, the other ends at {end:.9g} s")
    return float(start), float(end)


def _instants(first: Run, second: Run, start: float, end: float) -> Array:
    """The different sample times of both runs inside the span; of several that are one instant, the first."""
    times = np.union1d(first.time, second.time)
    times = times[(times >= start) & (times <= end)]
    apart = np.diff(times, prepend=-np.inf) > SAME_INSTANT * (end - start)
    return times[apart | (times == start)]


def _jumps(run: Run) -> Array:
    """The times with several rows."""
    return run.time[1:][np.diff(run.time) == 0]
