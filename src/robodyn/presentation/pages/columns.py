"""Data of a page: how do the numbers of a run travel inside it? How many rows, and in which bytes."""

import base64
from typing import Any

import numpy as np

from robodyn.computation.results import Run

MOST_ROWS = 20_000
# Single precision may blur a signal by this share of its range: less than a pixel of a plot enlarged 1000 times.
_BLUR = 1e-6

Floats = np.ndarray


def thin_rows(time: Floats, values: Floats, most: int = MOST_ROWS) -> tuple[Floats, Floats]:
    """At most `most` rows that keep the first and last one and every signal's minimum and maximum in between.

    The rows between the ends are cut into groups. Each leaves two rows, at the times of its first and its last
    one, which hold the group's smallest and largest value of each signal in the order they came: exact where a
    signal rises or falls throughout the group, else an extreme moved by less than a group's length.
    """
    n = time.size
    if n <= most:
        return time, values
    edges = np.linspace(1, n - 1, most // 2).astype(int)
    first, last = edges[:-1], edges[1:] - 1
    inner = np.column_stack([first, last]).ravel()
    columns = [_extremes(column[: n - 1], first) for column in values.T]
    body = np.column_stack(columns) if columns else np.empty((inner.size, 0))
    return time[np.concatenate([[0], inner, [n - 1]])], np.vstack([values[:1], body, values[-1:]])


def _extremes(column: Floats, first: Floats) -> Floats:
    """Smallest and largest value of each group of rows, in the order they came, (2 * n_groups,)."""
    low, high = np.fmin.reduceat(column, first), np.fmax.reduceat(column, first)
    lengths = np.diff(np.append(first, column.size))
    rows = np.arange(first[0], column.size)

    def place(extreme: Floats) -> Floats:
        found = column[first[0] :] == np.repeat(extreme, lengths)
        return np.minimum.reduceat(np.where(found, rows, column.size), first - first[0])

    rising = place(low) <= place(high)
    return np.column_stack([np.where(rising, low, high), np.where(rising, high, low)]).ravel()


def encode_columns(run: Run) -> dict[str, Any]:
    """Times and signals of a run as JSON-able values: base64 of little-endian floats, a bare number if constant.

    `rows` is how many rows the run has, `kept` how many are here; fewer than `rows` where they were thinned. Then lines
    between them are straight, else as the `knots` (one byte a row) allow.
    """
    time, values = thin_rows(run.time, run.values)
    signals = [
        {"name": info.name, "unit": info.unit, "held": info.kind == "held", "rate": info.rate, **_encode(column)}
        for info, column in zip(run.infos, values.T, strict=True)
    ]
    knots = None if run.knots is None or time.size < run.time.size else _text(run.knots, "u1")
    return {"rows": run.time.size, "kept": time.size, "time": encode_time(time), "knots": knots, "signals": signals}


def encode_time(time: Floats) -> str:
    """Times as base64 of little-endian floats."""
    return _text(time, "<f8")


def _encode(column: Floats) -> dict[str, Any]:
    finite = column[np.isfinite(column)]
    spread = np.ptp(finite) if finite.size else 0.0
    if finite.size and finite.size == column.size and spread == 0:
        return {"type": "constant", "data": float(column[0])}
    kind = choose_kind(column)
    return {"type": kind, "data": _text(column, f"<{kind}")}


def choose_kind(column: Floats) -> str:
    """Single precision, "f4", where it is as good to the eye, else "f8"."""
    finite = column[np.isfinite(column)]
    with np.errstate(over="ignore"):
        error = np.abs(finite.astype("<f4") - finite).max(initial=0.0)
    return "f4" if error <= _BLUR * (np.ptp(finite) if finite.size else 0.0) else "f8"


def _text(values: Floats, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")
