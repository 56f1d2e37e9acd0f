"""Tool path in 3-D: where did a point of the robot move in space, and past which obstacles?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.errors import nearest
from robodyn.computation.results import Run

from .boxes import Box, draw_box, obstacles_of
from .curve_markers import event_markers, mark_course, mark_entries
from .figures import LINE_WIDTH, empty_figure, into_file, legend_above
from .runs import Span, Window, as_runs, run_labels, run_lines, run_style, shown_span
from .space import fill_figure, fit_space
from .traces import trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

_WIDTH, _HEIGHT = 8.0, 6.0
_COORDINATES = (".position.x", ".position.y", ".position.z")


def draw_path(
    runs: Run | Sequence[Run],
    point: str,
    *,
    labels: Sequence[str] | None = None,
    window: Window | None = None,
) -> "Figure":
    """A figure in three dimensions, of one scale: the path of a point, its shadow on the floor, obstacles as boxes.

    Args:
        point: name of a point whose position is recorded, such as 'tool'.
        labels: what to call each run; its scenario and how it differs if not given.
        window: from and to [s]; None in either place is the recorded end.
    """
    runs = as_runs(runs)
    labels = run_labels(runs, labels)
    span = shown_span(runs, window)
    ways = [_way(run, point, span) for run in runs]
    boxes = obstacles_of(runs)
    space = fit_space(np.hstack([*ways, *(box.corners.T for box in boxes)]))
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.add_subplot(projection="3d")
    markers = event_markers(runs, span)
    for number, (run, way) in enumerate(zip(runs, ways, strict=True)):
        look = run_style(number) | ({"linewidth": LINE_WIDTH} if len(runs) == 1 else {})
        _draw_way(ax, point, space.factor * way, float(space.low[2]), look)
        signals = [run[point + end] for end in _COORDINATES]
        mark_course(ax, run, signals, span, look["color"], markers, space.factor)
    for box in boxes:
        draw_box(ax, box, space.factor)
    space.apply(ax)
    _name(figure, point, runs, labels, boxes, span)
    fill_figure(figure, ax)
    return figure


plot_path = into_file(draw_path)


def _way(run: Run, point: str, span: Span) -> np.ndarray:
    """Coordinates of the points to draw [m], (3, n)."""
    missing = [point + end for end in _COORDINATES if point + end not in run]
    if missing:
        known = [name.removesuffix(_COORDINATES[0]) for name in run.names if name.endswith(_COORDINATES[0])]
        remedy = nearest(point, known) if point not in known else f"{', '.join(missing)} not recorded"
        raise KeyError(f"{run.provenance.scenario}: no position of a point '{point}' is recorded ({remedy})")
    return np.array([trace(run[point + end], span)[1] for end in _COORDINATES])


def _draw_way(ax: "Axes3D", point: str, way: np.ndarray, floor: float, look: dict[str, Any]) -> None:
    """The way and its shadow; both [unit of the axes]."""
    shadow = np.full(way.shape[1], floor)
    ax.plot(way[0], way[1], shadow, color=look["color"], linewidth=0.8, alpha=0.3, gid="shadow")
    ax.plot(*way, gid=point, **look)


def _name(
    figure: "Figure", point: str, runs: Sequence[Run], labels: Sequence[str], boxes: Sequence[Box], span: Span
) -> None:
    from matplotlib.patches import Patch

    title = f"{labels[0]}: path of {point}" if len(runs) == 1 else f"path of {point}"
    lines = [] if len(runs) == 1 else run_lines(labels)
    patches = [Patch(facecolor=box.colour, alpha=0.5, label=box.name) for box in boxes]
    legend_above(figure, [*lines, *mark_entries(runs, span), *patches], title)
