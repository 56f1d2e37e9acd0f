"""Which part of space is shown, from where, and in which unit of length?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

# Largest edge of the space shown [m] up to which a unit is used: (edge, unit, units in a metre).
_UNITS = ((5e-5, "\N{MICRO SIGN}m", 1e6), (5e-2, "mm", 1e3), (5e4, "m", 1.0), (np.inf, "km", 1e-3))
# Of the largest edge: what an edge has at least, so that paths in a plane have room for their axes, and the margin.
_THINNEST, _MARGIN = 0.25, 0.05
_MOST_TICKS = 6
# Points between tick numbers and labels; size of the box in its axes, which leave much of themselves empty.
_LABEL_PAD, _ZOOM = 9, 1.12
# Elevation and direction of the view [deg], and the ones that look at a plane nearly from the front.
_VIEW = (25.0, -60.0)
_PLANE_VIEWS = ((20.0, -25.0), (20.0, -70.0), (55.0, -65.0))


@dataclass(frozen=True)
class Space:
    """A box of space to show, of one scale.

    Args:
        low, high: opposite corners [unit], (3,).
        factor: units in a metre.
        view: elevation and direction [deg].
    """

    low: np.ndarray
    high: np.ndarray
    unit: str
    factor: float
    view: tuple[float, float]

    def apply(self, ax: "Axes3D") -> None:
        """Give the axes their limits, scale, ticks, labels and view."""
        from matplotlib.ticker import MaxNLocator

        edges = self.high - self.low
        for axis, name, low, high in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", self.low, self.high, strict=True):
            getattr(ax, f"set_{name}lim")(low, high)
            axis.set_major_locator(MaxNLocator(max(2, round(_MOST_TICKS * (high - low) / edges.max()))))
            axis.set_label_text(f"{name} [{self.unit}]")
            axis.labelpad = _LABEL_PAD
        ax.tick_params(labelsize="small")
        ax.set_box_aspect(edges, zoom=_ZOOM)
        ax.view_init(*self.view)


def fit_space(points: np.ndarray) -> Space:
    """The space around points [m], (3, n); those that are not numbers do not count."""
    points = points[:, np.all(np.isfinite(points), axis=0)]
    if points.size == 0:
        raise ValueError("the path has no point that is a number")
    low, high = points.min(axis=1), points.max(axis=1)
    edges = high - low
    largest = edges.max() if edges.max() > 0 else 1.0
    unit, factor = next((unit, factor) for edge, unit, factor in _UNITS if largest <= edge)
    half = np.maximum(edges, _THINNEST * largest) / 2 + _MARGIN * largest
    middle = (low + high) / 2
    return Space(factor * (middle - half), factor * (middle + half), unit, factor, _view(edges / largest))


def _view(edges: np.ndarray) -> tuple[float, float]:
    """From where to look at a path with these edges."""
    thin = int(np.argmin(edges))
    return _PLANE_VIEWS[thin] if edges[thin] < _THINNEST / 2 else _VIEW
