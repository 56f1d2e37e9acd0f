"""Coupled oscillator, plots: how do errors and stability of a coupling depend on the macro step?"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.presentation.reporting import (
    empty_figure,
    finish_axes,
    legend_above,
    run_lines,
    run_style,
    with_unit,
    write_figure,
)
from robodyn_studies.oscillator_errors import CouplingErrors
from robodyn_studies.oscillator_stability import StabilityMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

# Growth rates [1/s] beyond which colours do not change.
_STRONGEST = 10.0
_PANEL = 3.4


def plot_coupling_errors(errors: CouplingErrors, path: str | Path) -> None:
    """Draw errors by macro step into a picture file; see `draw_coupling_errors`."""
    write_figure(draw_coupling_errors(errors), path)


def draw_coupling_errors(errors: CouplingErrors) -> "Figure":
    """Error of the first mass at the end, and energy by that at the start, against the macro step."""
    figure = empty_figure(8.0, 5.5)
    axes = figure.subplots(2, 1, sharex=True)
    names = list(errors.errors)
    for k, name in enumerate(names):
        for ax, values in zip(axes, (errors.errors[name], errors.energies[name]), strict=True):
            ax.loglog(errors.steps, values, marker="o", markersize=3, gid=name, **run_style(k))
    finish_axes(axes[0], "error of the first mass [m]")
    finish_axes(axes[1], "energy by that at the start")
    axes[1].set_xlabel("macro step [s]")
    legend_above(figure, run_lines(names), title=f"{errors.scheme} scheme, order {errors.order}")
    return figure


def plot_stability(maps: StabilityMap | list[StabilityMap], path: str | Path) -> None:
    """Draw stability maps into a picture file; see `draw_stability`."""
    write_figure(draw_stability(maps), path)


def draw_stability(maps: StabilityMap | list[StabilityMap]) -> "Figure":
    """A row of panels a map, a panel a coupling: growth as colour, the limit of stability as a line."""
    shown = [maps] if isinstance(maps, StabilityMap) else list(maps)
    columns = max(len(found.growth) for found in shown)
    figure = empty_figure(0.8 + _PANEL * columns, 0.6 + 2.9 * len(shown))
    grid = figure.subplots(len(shown), columns, squeeze=False)
    for row, found in zip(grid, shown, strict=True):
        for unused in row[len(found.growth) :]:
            unused.remove()
        for ax, name in zip(row, found.growth, strict=False):
            picture = _draw_map(ax, found, name)
        row[0].set_ylabel(with_unit(found.against, found.unit))
    figure.colorbar(picture, ax=grid.ravel().tolist(), label="growth [1/s]", extend="both")
    return figure


def _draw_map(ax: "Axes", found: StabilityMap, name: str) -> "QuadMesh":
    from matplotlib.colors import SymLogNorm

    growth = found.growth[name]
    norm = SymLogNorm(1e-3, vmin=-_STRONGEST, vmax=_STRONGEST)
    picture = ax.pcolormesh(found.steps, found.values, growth, norm=norm, cmap="RdBu_r", shading="nearest", gid=name)
    if np.any(growth > 0) and np.any(growth < 0):
        ax.contour(found.steps, found.values, growth, levels=[0.0], colors="black", linewidths=1.0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(name, fontsize="medium")
    ax.set_xlabel("macro step [s]")
    return picture
