"""Polylines: which points, joined by straight lines, stand for a signal in a picture?"""

import numpy as np
from numpy.typing import NDArray

from robodyn.computation.results import Signal

from .runs import Span

Floats = NDArray[np.float64]

# Pieces a recorded interval is drawn with, where the rows shown are few enough to show corners.
_REFINEMENT = 8
_COARSE = 4000


def trace(signal: Signal, span: Span | None = None) -> tuple[Floats, Floats]:
    """Times and values to draw: what `signal(t)` gives between rows, steps where values are held, jumps as they are.

    The times depend on the recorded times and the span alone: two signals of one run can be drawn against each other.

    Args:
        span: first and last time shown [s]; all if not given.
    """
    if signal.time.size < 2:
        return signal.time, signal.values
    rows = slice(None) if span is None else _rows(signal, span)
    time, values = _refine(signal, rows)
    return (time, values) if span is None else _clip(time, values, span)


def _rows(signal: Signal, span: Span) -> slice:
    """The rows inside the span and one more on each side."""
    first = max(int(np.searchsorted(signal.time, span[0], side="left")) - 1, 0)
    return slice(first, int(np.searchsorted(signal.time, span[1], side="right")) + 1)


def _refine(signal: Signal, rows: slice) -> tuple[Floats, Floats]:
    """Each interval from its right limit at the start to its left limit at the end, in equal pieces.

    The last sample follows, which a held signal reaches by a step.
    """
    recorded, samples = signal.time[rows], signal.values[rows]
    pieces = _REFINEMENT if recorded.size < _COARSE else 1
    starts, ends = recorded[:-1, None], recorded[1:, None]
    shares = np.arange(1, pieces) / pieces
    inside = np.minimum(starts + shares * (ends - starts), ends)
    time = np.hstack([starts, inside, ends])
    left, right = samples[:-1, None], samples[1:, None]
    # A run that failed may end in numbers that are none; they leave gaps in the picture.
    with np.errstate(invalid="ignore", over="ignore"):
        held = signal.kind == "held"
        values = np.broadcast_to(left, time.shape) if held else np.hstack([left, signal(inside), right])
    return np.append(time, ends[-1]), np.append(values, right[-1])


def _clip(time: Floats, values: Floats, span: Span) -> tuple[Floats, Floats]:
    """The part inside the span; where the span cuts a line, it ends on the cut."""
    inside = (time >= span[0]) & (time <= span[1])
    cuts = np.array([cut for cut in span if time[0] < cut < time[-1] and not np.any(time == cut)])
    all_times = np.concatenate([time[inside], cuts])
    all_values = np.concatenate([values[inside], np.interp(cuts, time, values)])
    order = np.argsort(all_times, kind="stable")
    return all_times[order], all_values[order]
