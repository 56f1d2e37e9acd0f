"""Pole-zero map and root locus: where are poles and zeros, and how do poles move along a path?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.modes import ModeSet
from robodyn.analysis.linear.stability import PolePath
from robodyn.analysis.linear.zeros import find_zeros

from .figures import COLOURS, empty_figure, finish_axes, into_file, legend_above
from .modes import model_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches.
_WIDTH, _HEIGHT = 7.0, 5.6
_POLE: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 8, "markeredgewidth": 1.4}
_ZERO: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 8, "fillstyle": "none"}
_PATH_COLOURS = "viridis"


Models = LinearModel | ModeSet | Sequence[LinearModel | ModeSet]


def draw_poles(models: Models, *, labels: Sequence[str] | None = None, within: float | None = None) -> "Figure":
    """A figure of the complex plane: crosses are poles, a colour for each model, stable ones left of the axis.

    Args:
        labels: what to call each model, such as its operating point.
        within: magnitude up to which poles are shown [rad/s]; without it all.
    """
    return _draw_roots(models, labels, within, zeros=False)


def draw_pole_zeros(
    models: LinearModel | Sequence[LinearModel], *, labels: Sequence[str] | None = None, within: float | None = None
) -> "Figure":
    """The same with invariant zeros as circles."""
    return _draw_roots(models, labels, within, zeros=True)


plot_poles, plot_pole_zeros = into_file(draw_poles), into_file(draw_pole_zeros)


def _draw_roots(models: Models, labels: Sequence[str] | None, within: float | None, zeros: bool) -> "Figure":
    from matplotlib.lines import Line2D

    shown = [models] if isinstance(models, LinearModel | ModeSet) else list(models)
    labels = model_labels(len(shown), labels)
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.add_subplot()
    for k, (model, label) in enumerate(zip(shown, labels, strict=True)):
        kinds = [("poles", _poles(model), _POLE)]
        kinds += [("zeros", find_zeros(model), _ZERO)] if zeros and isinstance(model, LinearModel) else []
        for kind, roots, look in kinds:
            near = roots if within is None else roots[np.abs(roots) <= within]
            # Those of later models lie above and are smaller: poles that agree are all seen.
            size = look["markersize"] - k / 2
            ax.plot(near.real, near.imag, color=COLOURS[k], gid=f"{label} {kind}", **look | {"markersize": size})
    _finish_plane(ax)
    marks = (("pole", _POLE), ("zero", _ZERO)) if zeros else ()
    entries = [Line2D([], [], color="0.3", label=name, **look) for name, look in marks]
    if len(shown) > 1:
        entries += [Line2D([], [], color=colour, label=label) for colour, label in zip(COLOURS, labels, strict=False)]
    if entries:
        legend_above(figure, entries)
    return figure


def _poles(what: LinearModel | ModeSet) -> np.ndarray:
    """All poles [rad/s], conjugates included."""
    if isinstance(what, LinearModel):
        return what.poles()
    upper = np.array([mode.pole for mode in what])
    return np.concatenate([upper, upper[upper.imag > 0].conj()])


def draw_pole_path(
    found: PolePath, *, label: str | None = None, factor: float = 1.0, within: float | None = None
) -> "Figure":
    """A figure of the complex plane with a line for each pole, coloured by the value along the path.

    Args:
        label: what the value is; factor: shown value over value, such as `180 / pi` for degrees.
        within: magnitude up to which poles are shown [rad/s]; without it all.
    """
    figure = empty_figure(_WIDTH + 1.0, _HEIGHT)
    ax = figure.add_subplot()
    shade = np.repeat(factor * found.values[:, None], found.poles.shape[1], axis=1)
    for k, branch in enumerate(found.poles.T):
        near = branch if within is None else np.where(np.abs(branch) <= within, branch, complex(np.nan, np.nan))
        ax.plot(near.real, near.imag, color="0.75", linewidth=0.8, zorder=1, gid=f"branch {k + 1}")
    poles, values = found.poles.ravel(), shade.ravel()
    keep = np.isfinite(poles.real) & (np.abs(poles) <= (np.inf if within is None else within))
    dots = ax.scatter(poles.real[keep], poles.imag[keep], c=values[keep], cmap=_PATH_COLOURS, s=14, zorder=2)
    dots.set_gid("poles")
    figure.colorbar(dots, ax=ax, label=label or ", ".join(found.along))
    _finish_plane(ax)
    return figure


plot_pole_path = into_file(draw_pole_path)


def _finish_plane(ax: "Axes") -> None:
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_xlabel("Re s [rad/s]")
    finish_axes(ax, "Im s [rad/s]")
    ax.margins(x=0.08, y=0.08)
