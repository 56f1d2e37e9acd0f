"""Paths in 3-D: where did a point of the robot move in space, and past which obstacles?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array, choose_unit, frozen, nearest, show_quantity
from robodyn.computation.results import Run, Signal
from robodyn.description.paths.deviation import DEVIATION, LEVEL

from .figures import LINE_WIDTH, empty_figure, into_file, legend_above
from .runs import (
    Span,
    Window,
    as_runs,
    event_markers,
    mark_course,
    mark_entries,
    run_labels,
    run_lines,
    run_style,
    shown_span,
    trace,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d import Axes3D


# 3-D axes: which part of space is shown, from where, and in which unit of length?

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
# Times x from which on y is the long edge.
_LONG = 1.5


@frozen
class Space:
    """A box of space to show, of one scale.

    Args:
        low, high: opposite corners [unit], (3,).
        factor: units in a metre.
        view: elevation and direction [deg].
    """

    low: Array
    high: Array
    unit: str
    factor: float
    view: tuple[float, float]

    def apply(self, ax: Axes3D) -> None:
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


def fit_space(points: Array) -> Space:
    """The space around points [m], (3, n); those that are not numbers do not count."""
    points = points[:, np.all(np.isfinite(points), axis=0)]
    if points.size == 0:
        raise ValueError("the path has no finite point")
    low, high = points.min(axis=1), points.max(axis=1)
    edges = high - low
    largest = edges.max() if edges.max() > 0 else 1.0
    shown = choose_unit("m", largest)
    half = np.maximum(edges, _THINNEST * largest) / 2 + _MARGIN * largest
    middle = (low + high) / 2
    low, high = (middle - half) / shown.size, (middle + half) / shown.size
    # Looked at so that what is longer of x and y goes across the picture.
    thin = int(np.argmin(edges))
    elevation, direction = _PLANE_VIEWS[thin] if edges[thin] < _THINNEST / 2 * largest else _VIEW
    across = -90 - direction if edges[1] > _LONG * edges[0] and thin != 0 else direction
    return Space(low, high, shown.name, 1 / shown.size, (elevation, across))


def fill_figure(figure: Figure, ax: Axes3D) -> None:
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


def _fit(ax: Axes3D, drawn: Bbox, low: Array, high: Array) -> None:
    """Scale and move axes so that what they draw fills the room between two corners [pixel]."""
    growth = float(np.min((high - low) / np.array(drawn.size)))
    position, whole = ax.bbox.frozen(), np.array(ax.figure.bbox.size)
    corner = (low + high) / 2 + growth * (position.min - (np.array(drawn.min) + drawn.max) / 2)
    size = growth * np.array(position.size)
    ax.set_position((*(corner / whole), *(size / whole)))


def _drawn_part(ax: Axes3D) -> Bbox:
    """The part of the axes' square that the box of space and its labels take [pixel]."""
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    renderer = ax.figure.canvas.get_renderer()
    labels = [axis.get_tightbbox(renderer) for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
    corners = np.array(list(product(ax.get_xlim(), ax.get_ylim(), ax.get_zlim()))).T
    x, y, _ = proj_transform(*corners, ax.get_proj())
    box = Bbox.null()
    box.update_from_data_xy(ax.transData.transform(np.column_stack([x, y])), ignore=True)
    return Bbox.union([box, *(label for label in labels if label is not None)])


# Obstacles in 3-D plots: what do they look like?

_COLOUR = "0.55"
# Corners of a box, counted by the signs of x, y, z as binary digits, going round each face.
_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


@frozen
class ObstacleBox:
    """A box along the axes.

    Args:
        center: [m], (3,).
        size: full lengths of the edges [m], (3,).
    """

    name: str
    center: tuple[float, ...]
    size: tuple[float, ...]

    colour = _COLOUR

    @property
    def corners(self) -> Array:
        """All corners [m], (8, 3)."""
        signs = np.array(list(product((-0.5, 0.5), repeat=3)))
        return np.array(self.center) + signs * np.array(self.size)


def obstacles_of(runs: Sequence[Run]) -> list[ObstacleBox]:
    """The obstacles the scenarios of the runs describe, each once."""
    obstacles = [entry for run in runs for entry in run.provenance.description.get("obstacles") or ()]
    boxes = [ObstacleBox(entry["name"], tuple(entry["center"]), tuple(entry["size"])) for entry in obstacles]
    return list(dict.fromkeys(boxes))


def draw_box(ax: Axes3D, box: ObstacleBox, factor: float = 1.0) -> None:
    """Draw a box one can see through.

    Args:
        factor: from metres to the unit of the axes.
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    corners = factor * box.corners
    faces = [corners[list(face)] for face in _FACES]
    ax.add_collection3d(
        Poly3DCollection(faces, facecolor=_COLOUR, edgecolor="0.35", linewidth=0.6, alpha=0.25, gid=box.name)
    )


# Tool path in 3-D: where did a point of the robot move in space, and past which obstacles?

_WIDTH, _HEIGHT = 8.0, 6.0
# Part of the path's size as which its largest deviation is drawn.
_DRAWN = 0.1
_COORDINATES = (".position.x", ".position.y", ".position.z")


def draw_path(
    runs: Run | Sequence[Run],
    point: str,
    *,
    labels: Sequence[str] | None = None,
    window: Window | None = None,
    exaggerate: float | None = None,
) -> Figure:
    """A figure in three dimensions, of one scale: the path of a point, its shadow on the floor, obstacles as boxes.

    Where runs measure the deviation from a path, that path is drawn in grey, and the point beside it: its deviation
    across the path is drawn too large by a factor that the title states.

    Args:
        point: name of a point whose position is recorded, such as 'tool'.
        labels: what to call each run; its scenario and how it differs if not given.
        window: from and to [s]; None in either place is the recorded end.
        exaggerate: that factor; by default the largest deviation becomes a tenth of the path's size.
    """
    runs = as_runs(runs)
    labels = run_labels(runs, labels)
    span = shown_span(runs, window)
    ways = [_way(run, point, span) for run in runs]
    deviations = [_read_deviation(run, point, span) for run in runs]
    if exaggerate is not None and not (np.isfinite(exaggerate) and exaggerate > 0):
        raise ValueError(f"the exaggeration factor must be positive, not {exaggerate:g}")
    if all(one is None for one in deviations):
        if exaggerate is not None:
            raise ValueError(f"no run records the deviation of '{point}' from a path: there is nothing to exaggerate")
        factor = 1.0
    else:
        factor = _choose_factor([one for one in deviations if one is not None]) if exaggerate is None else exaggerate
    drawn = [way if one is None else one.path + factor * one.across for way, one in zip(ways, deviations, strict=True)]
    boxes = obstacles_of(runs)
    space = fit_space(np.hstack([*drawn, *(box.corners.T for box in boxes)]))
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.add_subplot(projection="3d")
    markers = event_markers(runs, span)
    for number, (run, way, one) in enumerate(zip(runs, drawn, deviations, strict=True)):
        look = run_style(number) | ({"linewidth": LINE_WIDTH} if len(runs) == 1 else {})
        if one is not None:
            ax.plot(*(space.factor * one.path), color="0.6", linewidth=0.8, gid="nominal")
        # The way and its shadow on the floor.
        x, y, z = space.factor * way
        shadow = np.full(x.size, float(space.low[2]))
        ax.plot(x, y, shadow, color=look["color"], linewidth=0.8, alpha=0.3, gid="shadow")
        ax.plot(x, y, z, gid=point, **look)
        times = trace(run[point + _COORDINATES[0]], span)[0] if one is None else one.time
        signals = [Signal(point + end, "m", times, row) for end, row in zip(_COORDINATES, way, strict=True)]
        mark_course(ax, run, signals, span, look["color"], markers, space.factor)
    for box in boxes:
        draw_box(ax, box, space.factor)
    space.apply(ax)
    _name(figure, point, runs, labels, boxes, span, [_describe_deviation(one, factor) for one in deviations])
    fill_figure(figure, ax)
    return figure


plot_path = into_file(draw_path)


def _way(run: Run, point: str, span: Span) -> Array:
    """Coordinates of the points to draw [m], (3, n)."""
    missing = [point + end for end in _COORDINATES if point + end not in run]
    if missing:
        points = [name.removesuffix(_COORDINATES[0]) for name in run.names if name.endswith(_COORDINATES[0])]
        remedy = nearest(point, points) if point not in points else f"{', '.join(missing)} not recorded"
        raise KeyError(f"{run.provenance.scenario}: no position of a point '{point}' is recorded ({remedy})")
    return np.array([trace(run[point + end], span)[1] for end in _COORDINATES])


@frozen
class PathSignals:
    """The path that a point should follow: signals of its place on it and its distance, and its tables by length."""

    point: str
    way: str
    distance: str
    law: Mapping[str, Any]


def find_followed_path(run: Run) -> PathSignals | None:
    """The path from which a run measures a deviation, where its signals are recorded."""
    for block in (run.provenance.description.get("machine") or {}).get("blocks") or ():
        law, inputs = block.get("law"), block.get("inputs") or {}
        if block["name"] == DEVIATION and isinstance(law, dict) and law.get("type") == "PathDeviation":
            point = str(inputs["x"]).removesuffix(_COORDINATES[0])
            signals = PathSignals(point, str(inputs["s"]), f"{DEVIATION}.distance", law)
            return signals if {signals.way, signals.distance} <= set(run.names) else None
    return None


@frozen
class _Deviation:
    """Where a point should be, and how far it is off across its path, at times [s]: (3, n) [m], distance (n,) [m]."""

    time: Array
    path: Array
    across: Array
    distance: Array


def _read_deviation(run: Run, point: str, span: Span) -> _Deviation | None:
    """The measured deviation of a point from its path; None where a run does not measure it."""
    followed = find_followed_path(run)
    measured = [f"{DEVIATION}.{part}" for part in ("horizontal", "vertical", "distance")]
    if followed is None or followed.point != point or not {*measured} <= set(run.names):
        return None
    time = trace(run[measured[0]], span)[0]
    s, (horizontal, vertical, distance) = run[followed.way](time), (run[name](time) for name in measured)
    knots = np.asarray(followed.law["knots"], float)
    path, u = (
        np.array([np.interp(s, knots, row) for row in np.transpose(followed.law[key])]) for key in ("place", "tangent")
    )
    # The directions in which it is measured: h level and to the left of the path's direction u, u x h upward.
    level = np.hypot(u[0], u[1])
    size = np.where(level > LEVEL, level, 1.0)
    h = np.where(level > LEVEL, [-u[1] / size, u[0] / size, 0 * s], np.array([[0.0], [1.0], [0.0]]))
    return _Deviation(time, path, horizontal * h + vertical * np.cross(u, h, axis=0), distance)


def _choose_factor(deviations: Sequence[_Deviation]) -> float:
    """1, 2 or 5 times a power of ten, so that the largest deviation is drawn as long as a tenth of the path."""
    largest = max(float(np.nanmax(np.linalg.norm(one.across, axis=0))) for one in deviations)
    size = max(float(np.nanmax(np.ptp(one.path, axis=1))) for one in deviations)
    if not 0 < largest < _DRAWN * size:
        return 1.0
    power = 10.0 ** np.floor(np.log10(_DRAWN * size / largest))
    return float(max(step * power for step in (1, 2, 5) if step * power * largest <= _DRAWN * size))


def _describe_deviation(one: _Deviation | None, factor: float) -> str:
    if one is None:
        return ""
    k = int(np.nanargmax(one.distance))
    largest = (
        f"deviates by at most {show_quantity(float(one.distance[k]), 'm', 3)} at {show_quantity(one.time[k], 's', 3)}"
    )
    return largest if factor == 1 else f"{largest}; deviation drawn at {factor:g} times its size"


def _name(
    figure: Figure,
    point: str,
    runs: Sequence[Run],
    labels: Sequence[str],
    boxes: Sequence[ObstacleBox],
    span: Span,
    deviations: Sequence[str],
) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    title, lines = f"path of {point}", []
    if len(runs) == 1:
        title = f"{labels[0]}: {title}" + (f"\n{deviations[0]}" if deviations[0] else "")
    else:
        texts = zip(labels, deviations, strict=True)
        lines = run_lines([f"{label}: {said}" if said else label for label, said in texts])
    lines += [Line2D([], [], color="0.6", linewidth=0.8, label="planned path")] if any(deviations) else []
    patches = [Patch(facecolor=box.colour, alpha=0.5, label=box.name) for box in boxes]
    legend_above(figure, [*lines, *mark_entries(runs, span), *patches], title)
