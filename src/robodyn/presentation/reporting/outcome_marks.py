"""Marks of outcomes: which points of a picture are no results, or results that should not be believed?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robodyn.computation.results.table import RunTable

_SIZE, _FOOT = 7.0, 0.02


def _groups(table: "RunTable") -> Iterator[tuple[str, str, np.ndarray]]:
    """Name, marker and runs of those that failed, were unstable or are suspect, where there are any."""
    failed = ~(table.done | table.unstable | table.suspect)
    for name, marker, runs in (
        ("failed", "x", failed),
        ("unstable", "^", table.unstable),
        ("suspect", "o", table.suspect),
    ):
        if runs.any():
            yield name, marker, runs


def count_outcomes(table: "RunTable") -> list[str]:
    """\"3 failed\", \"2 suspect\", as far as there are such runs."""
    return [f"{int(runs.sum())} {name}" for name, _, runs in _groups(table)]


def mark_outcomes(ax: "Axes", table: "RunTable", x: np.ndarray, y: np.ndarray) -> None:
    """A cross for each run that failed, a triangle for an unstable one, at the foot of the picture where it has no
    value, a ring for each suspect."""
    for name, marker, runs in _groups(table):
        nowhere = runs & ~np.isfinite(y)
        look: dict[str, Any] = {"linestyle": "none", "marker": marker, "markersize": _SIZE, "color": COLOURS[1]}
        look |= {"fillstyle": "none", "gid": name, "clip_on": False}
        ax.plot(x[runs & ~nowhere], y[runs & ~nowhere], label=f"{int(runs.sum())} {name}", **look)
        if nowhere.any():
            foot = np.full(int(nowhere.sum()), _FOOT)
            ax.plot(x[nowhere], foot, transform=ax.get_xaxis_transform(), **look)
    if count_outcomes(table):
        ax.legend(loc="best", frameon=False)
