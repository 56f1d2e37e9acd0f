"""3-D axes: which part of space is shown, from where, and in which unit of length?"""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

# Largest edge of the space shown [m] up to which a unit is used: (edge, unit, units in a metre).
_UNITS = ((5e-5, "\N{MICRO SIGN}m", 1e6), (5e-2, "mm", 1e3), (5e4, "m", 1.0), (np.inf, "km", 1e-3))
# Of the largest edge: what an edge has at least, so that paths in a plane have room for their axes, and the margin.
_THINNEST, _MARGIN = 0.25, 0.05
_MOST_TICKS = 6
# Points between tick numbers and labels.
_LABEL_PAD = 9
# Of a figure: the room its edges keep free; and the bounds of its height [inch].
_EDGE = 0.02
_LOWEST, _HIGHEST = 3.5, 7.5
_FITTING_PASSES = 4
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
        ax.set_xlim(self.low[0], self.high[0])
        ax.set_ylim(self.low[1], self.high[1])
        ax.set_zlim(self.low[2], self.high[2])
        for axis, name, low, high in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", self.low, self.high, strict=True):
            axis.set_major_locator(MaxNLocator(max(2, round(_MOST_TICKS * (high - low) / edges.max()))))
            axis.set_label_text(f"{name} [{self.unit}]")
            axis.labelpad = _LABEL_PAD
        ax.tick_params(labelsize="small")
        ax.set_box_aspect(edges)
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


def fill_figure(figure: "Figure", ax: "Axes3D") -> None:
    """Make the drawn space as large as the room under the legend lets it be, and the figure as high as it needs.

    Labels keep their size, so the fit is found in a few passes.
    """
    ax.patch.set_visible(False)
    for number in range(_FITTING_PASSES):
        figure.draw_without_rendering()
        drawn = _drawn_part(ax)
        edge = _EDGE * figure.bbox.width
        head = max((legend.get_window_extent().height for legend in figure.legends), default=0.0)
        if number == 0:
            needed = head + 2 * edge + (figure.bbox.width - 2 * edge) * drawn.height / drawn.width
            figure.set_figheight(min(max(needed / figure.dpi, _LOWEST), _HIGHEST))
        else:
            _fit(ax, drawn, np.array([edge, edge]), figure.bbox.max - np.array([edge, edge + head]))


def _fit(ax: "Axes3D", drawn: "Bbox", low: np.ndarray, high: np.ndarray) -> None:
    """Scale and move axes so that what they draw fills the room between two corners [pixel]."""
    growth = float(np.min((high - low) / np.array(drawn.size)))
    position, whole = ax.bbox.frozen(), np.array(ax.figure.bbox.size)
    corner = (low + high) / 2 + growth * (position.min - (np.array(drawn.min) + drawn.max) / 2)
    size = growth * np.array(position.size)
    ax.set_position((*(corner / whole), *(size / whole)))


def _drawn_part(ax: "Axes3D") -> "Bbox":
    """What the box of space and its labels take of the axes' square [pixel]."""
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d.proj3d import proj_transform  # type: ignore[import-untyped]

    renderer = ax.figure.canvas.get_renderer()
    labels = [axis.get_tightbbox(renderer) for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
    corners = np.array(list(product(ax.get_xlim(), ax.get_ylim(), ax.get_zlim()))).T
    x, y, _ = proj_transform(*corners, ax.get_proj())
    box = Bbox.null()
    box.update_from_data_xy(ax.transData.transform(np.column_stack([x, y])), ignore=True)
    return Bbox.union([box, *(label for label in labels if label is not None)])


def _view(edges: np.ndarray) -> tuple[float, float]:
    """From where to look at a path with these edges."""
    thin = int(np.argmin(edges))
    return _PLANE_VIEWS[thin] if edges[thin] < _THINNEST / 2 else _VIEW
