"""Mode-shape plots: how does a machine vibrate, drawn on the machine?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.linear.modes import Mode, ModeSet

from .figures import COLOURS, empty_figure, into_file, legend_above
from .space import Space, fit_space

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

MOST_MODES = 9
# Inches.
_PANEL, _HEAD = 3.6, 0.6
# Points between a panel's box and the names of its axes.
_LABEL_PAD = -12
_MEAN, _THERE, _BACK = "0.6", COLOURS[0], COLOURS[1]


def draw_modes(found: ModeSet, *, modes: Sequence[Mode] | None = None) -> "Figure":
    """A figure with a panel a mode: the mean pose in grey, the shape in its two opposite phases.

    Args:
        modes: which ones, from those found; without them the slowest that oscillate and move the mechanism.
    """
    modes = [mode for mode in found.moving if mode.displaced is not None][:MOST_MODES] if modes is None else modes
    if found.skeleton is None or found.mean is None or any(mode.displaced is None for mode in modes):
        raise ValueError("the shapes are not known in space: find the modes of a system with a mechanism")
    if not modes:
        raise ValueError("no mode oscillates and moves the mechanism")
    if len(modes) > MOST_MODES:
        raise ValueError(f"at most {MOST_MODES} modes can be drawn in one figure, not {len(modes)}")
    columns = min(3, len(modes))
    rows = -(-len(modes) // columns)
    shown = [
        found.mean,
        *(end for mode in modes if mode.displaced for end in (mode.displaced.there, mode.displaced.back)),
    ]
    space = fit_space(np.vstack(shown).T)
    figure = empty_figure(_PANEL * columns, _HEAD + _panel_height(space) * rows)
    for k, mode in enumerate(modes):
        ax = figure.add_subplot(rows, columns, k + 1, projection="3d")
        _draw_mode(ax, found, mode, space)
    legend_above(figure, _legend())
    return figure


plot_modes = into_file(draw_modes)


def _panel_height(space: Space) -> float:
    """Of a panel [inch]: a machine that is long in one direction only needs less."""
    edges = np.sort(space.high - space.low)
    return float(_PANEL * (0.6 + 0.4 * edges[1] / edges[2]))


def _draw_mode(ax: "Axes3D", found: ModeSet, mode: Mode, space: Space) -> None:
    assert mode.displaced is not None
    assert found.mean is not None
    poses = (("mean", found.mean, _MEAN, 3.0), ("there", mode.displaced.there, _THERE, 1.4))
    for name, points, colour, width in (*poses, ("back", mode.displaced.back, _BACK, 1.4)):
        _draw_pose(ax, found, space.factor * points, colour, width, name)
    space.apply(ax)
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", strict=True):
        axis.set_ticklabels([])
        axis.set_label_text(name)
        axis.labelpad = _LABEL_PAD
    ax.set_title(describe_mode(mode), fontsize="small", y=0.98)


def _draw_pose(ax: "Axes3D", found: ModeSet, points: np.ndarray, colour: str, width: float, name: str) -> None:
    assert found.skeleton is not None
    # One line of all edges, lifted between them.
    gaps = np.full((len(found.skeleton.edges), 1, 3), np.nan)
    lines = np.concatenate([points[found.skeleton.edges], gaps], axis=1).reshape(-1, 3)
    ax.plot(*lines.T, color=colour, linewidth=width, marker="o", markersize=width + 1, gid=name)


def describe_mode(mode: Mode) -> str:
    """Frequency, damping and the leading states, as a panel's title."""
    return f"{mode.frequency:.4g} Hz, damping {mode.damping:.3g}\n{', '.join(mode.dominant(2))}"


def _legend() -> list["Line2D"]:
    from matplotlib.lines import Line2D

    entries = (("mean pose", _MEAN, 3.0), ("one phase", _THERE, 1.4), ("the opposite phase", _BACK, 1.4))
    return [Line2D([], [], color=colour, linewidth=width, label=label) for label, colour, width in entries]


def model_labels(count: int, labels: Sequence[str] | None) -> tuple[str, ...]:
    """What each model is called: as given, or by its number."""
    if not 1 <= count <= len(COLOURS):
        raise ValueError(f"from 1 to {len(COLOURS)} models can be drawn in one figure, not {count}")
    if labels is None:
        return tuple(f"model {k + 1}" for k in range(count))
    if len(labels) != count:
        raise ValueError(f"{len(labels)} labels for {count} models")
    return tuple(labels)
