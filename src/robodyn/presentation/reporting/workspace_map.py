"""Workspace map: where can a mechanism with closed loops bring its point, and how well does it move there?"""

from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import empty_figure, finish_axes, into_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robodyn.analysis.mechanics.parallel_workspace import WorkspaceMap

# Inches.
_WIDTH, _HEIGHT = 7.4, 5.6
_LEVELS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)


def draw_workspace(found: "WorkspaceMap") -> "Figure":
    """A figure of the plane in which a map's grid lies: filled where it can be reached, darker the better conditioned.

    The colour is the condition number of the Jacobian from motors to point, 1 where it moves alike in all directions.

    Raises:
        ValueError: where the grid is not a plane, with one axis of a single value.
    """
    from matplotlib.colors import BoundaryNorm

    first, second = _plane(found)
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.add_subplot()
    values = np.ma.masked_invalid(found.condition.squeeze())
    look: dict[str, Any] = {"cmap": "viridis_r", "norm": BoundaryNorm(_LEVELS, 256, extend="max"), "shading": "nearest"}
    filled = ax.pcolormesh(found.values[first], found.values[second], values.T, rasterized=True, **look)
    filled.set_gid("condition")
    figure.colorbar(filled, ax=ax, label="condition number of the Jacobian", extend="max", format="%g")
    ax.contour(
        found.values[first], found.values[second], found.reachable.squeeze().T.astype(float), [0.5], colors="black"
    )
    ax.set_xlabel(f"{found.point} {found.axes[first]} [m]")
    finish_axes(ax, f"{found.point} {found.axes[second]} [m]")
    ax.set_aspect("equal")
    return figure


plot_workspace = into_file(draw_workspace)


def _plane(found: "WorkspaceMap") -> tuple[int, int]:
    """The two axes that have more than one value."""
    wide = [k for k, column in enumerate(found.values) if len(column) > 1]
    if len(wide) != 2 or any(len(found.values[k]) != 1 for k in range(len(found.values)) if k not in wide):
        raise ValueError(f"only a plane can be drawn, this grid has {len(wide)} axes: give one value for each other")
    return wide[0], wide[1]
