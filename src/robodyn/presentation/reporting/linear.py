"""Linear models drawn: loops, poles and zeros, mode shapes, responses over frequency and in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.loop_table import LoopFigures, LoopTable
from robodyn.analysis.linear.margins import HALF_POWER
from robodyn.analysis.linear.modes import Mode, ModeSet
from robodyn.analysis.linear.poles import find_zeros
from robodyn.analysis.linear.responses import FrequencyResponse, TimeResponse, choose_frequencies, respond
from robodyn.analysis.linear.stability import PolePath
from robodyn.analysis.measurement.responses import MeasuredResponse
from robodyn.analysis.step_response import StepResponse
from robodyn.base import Array, show_number, show_quantity

from .displays import Display, DisplayFigure, DisplayLines, Part, Table, shows
from .figures import COLOURS, empty_figure, finish_axes, into_file, label_bottom, legend_above, panel_figure
from .runs import run_lines, run_style
from .space import Space, fit_space

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D


# Mode-shape plots: how does a machine vibrate, drawn on the machine?

MOST_MODES = 9
# Inches.
_PANEL, _HEAD = 3.6, 0.6
# Points between a panel's box and the names of its axes; part of a panel that the box takes, below the title; part of
# the machine's size by which a point has to move to be seen moving.
_LABEL_PAD, _ZOOM, _SEEN = -12, 1.0, 0.01
_MEAN, _THERE, _BACK = "0.6", COLOURS[0], COLOURS[1]


def draw_modes(mode_set: ModeSet, *, modes: Sequence[Mode] | None = None) -> Figure:
    """A figure with a panel a mode: the mean pose in grey, the shape in its two opposite phases.

    Args:
        modes: which ones, from those found; without them the slowest that oscillate and move the mechanism.
    """
    from matplotlib.lines import Line2D

    modes = [mode for mode in mode_set.moving if mode.displaced is not None][:MOST_MODES] if modes is None else modes
    if mode_set.skeleton is None or mode_set.mean is None or any(mode.displaced is None for mode in modes):
        raise ValueError("the mode shapes cannot be drawn in 3-D: this system has no mechanism")
    if not modes:
        raise ValueError("no mode oscillates and moves the mechanism")
    if len(modes) > MOST_MODES:
        raise ValueError(f"at most {MOST_MODES} modes can be drawn in one figure, not {len(modes)}")
    columns = min(3, len(modes))
    rows = -(-len(modes) // columns)
    shown = [
        mode_set.mean,
        *(end for mode in modes if mode.displaced for end in (mode.displaced.there, mode.displaced.back)),
    ]
    space = fit_space(np.vstack(shown).T)
    # A machine that is long in one direction only needs less height.
    _, middle, longest = np.sort(space.high - space.low)
    figure = empty_figure(_PANEL * columns, _HEAD + float(_PANEL * (0.6 + 0.4 * middle / longest)) * rows)
    for k, mode in enumerate(modes):
        ax = figure.add_subplot(rows, columns, k + 1, projection="3d")
        _draw_mode(ax, mode_set, mode, space)
    named = (("mean pose", _MEAN, 3.0), ("one phase", _THERE, 1.4), ("the opposite phase", _BACK, 1.4))
    lines = [Line2D([], [], color=colour, linewidth=width, label=label) for label, colour, width in named]
    legend_above(figure, lines, "Mode shapes, amplitudes exaggerated")
    return figure


plot_modes = into_file(draw_modes)


def _draw_mode(ax: Axes3D, mode_set: ModeSet, mode: Mode, space: Space) -> None:
    assert mode.displaced is not None
    assert mode_set.mean is not None
    assert mode_set.skeleton is not None
    poses = (("mean", mode_set.mean, _MEAN, 3.0), ("there", mode.displaced.there, _THERE, 1.4))
    for name, points, colour, width in (*poses, ("back", mode.displaced.back, _BACK, 1.4)):
        # One line of all edges, lifted between them.
        gaps = np.full((len(mode_set.skeleton.edges), 1, 3), np.nan)
        lines = np.concatenate([space.factor * points[mode_set.skeleton.edges], gaps], axis=1).reshape(-1, 3)
        ax.plot(*lines.T, color=colour, linewidth=width, marker="o", markersize=width + 1, gid=name)
    space.apply(ax)
    ax.set_box_aspect(space.high - space.low, zoom=_ZOOM)
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", strict=True):
        axis.set_ticklabels([])
        axis.set_label_text(name)
        axis.labelpad = _LABEL_PAD
        axis._axinfo["grid"]["color"] = "0.88"
    amplitude = np.abs(mode.displaced.there - mode_set.mean).max() * space.factor
    unseen = amplitude < _SEEN * float(np.max(space.high - space.low))
    ax.set_title(describe_mode(mode) + (", rotating in place" if unseen else ""), fontsize="small", y=1.02)


def describe_mode(mode: Mode) -> str:
    """Frequency, damping ratio and the parts whose states take most part, as a panel's title."""
    parts = dict.fromkeys(name.partition(".")[0] for name in mode.dominant(2))
    return f"{mode.frequency:.4g} Hz, damping ratio {show_number(100 * mode.damping, 3)} %\n{', '.join(parts)}"


def model_labels(count: int, labels: Sequence[str] | None) -> tuple[str, ...]:
    """Names of models: as given, or by their numbers."""
    if not 1 <= count <= len(COLOURS):
        raise ValueError(f"from 1 to {len(COLOURS)} models can be drawn in one figure, not {count}")
    if labels is None:
        return tuple(f"model {k + 1}" for k in range(count))
    if len(labels) != count:
        raise ValueError(f"{len(labels)} labels for {count} models")
    return tuple(labels)


# Pole-zero map and root locus: where are poles and zeros, and how do poles move along a path?

# Inches.
_WIDTH, _HEIGHT = 7.0, 5.6
_POLE: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 8, "markeredgewidth": 1.4}
_ZERO: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 8, "fillstyle": "none"}
_PATH_COLOURS = "viridis"


Models = LinearModel | ModeSet | Sequence[LinearModel | ModeSet]


def draw_poles(models: Models, *, labels: Sequence[str] | None = None, within: float | None = None) -> Figure:
    """A figure of the complex plane: crosses are poles, a colour for each model, stable ones left of the axis.

    Args:
        labels: what to call each model, such as its operating point.
        within: magnitude up to which poles are shown [rad/s]; without it all.
    """
    return _draw_roots(models, labels, within, zeros=False)


def draw_pole_zeros(
    models: LinearModel | Sequence[LinearModel], *, labels: Sequence[str] | None = None, within: float | None = None
) -> Figure:
    """A figure of the complex plane as `draw_poles` gives it, with invariant zeros as circles."""
    return _draw_roots(models, labels, within, zeros=True)


plot_poles, plot_pole_zeros = into_file(draw_poles), into_file(draw_pole_zeros)


def _draw_roots(models: Models, labels: Sequence[str] | None, within: float | None, zeros: bool) -> Figure:
    from matplotlib.lines import Line2D

    shown = [models] if isinstance(models, LinearModel | ModeSet) else list(models)
    labels = model_labels(len(shown), labels)
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.add_subplot()
    for k, (model, label) in enumerate(zip(shown, labels, strict=True)):
        if isinstance(model, LinearModel):
            poles = model.poles()
        else:
            upper = np.array([mode.pole for mode in model])
            poles = np.concatenate([upper, upper[upper.imag > 0].conj()])
        kinds = [("poles", poles, _POLE)]
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


def draw_pole_path(
    pole_path: PolePath, *, label: str | None = None, factor: float = 1.0, within: float | None = None
) -> Figure:
    """A figure of the complex plane with a line for each pole, coloured by the value along the path.

    Args:
        label: what the value is; factor: shown value over value, such as `180 / pi` for degrees.
        within: magnitude up to which poles are shown [rad/s]; without it all.
    """
    figure = empty_figure(_WIDTH + 1.0, _HEIGHT)
    ax = figure.add_subplot()
    shade = np.repeat(factor * pole_path.values[:, None], pole_path.poles.shape[1], axis=1)
    for k, branch in enumerate(pole_path.poles.T):
        near = branch if within is None else np.where(np.abs(branch) <= within, branch, complex(np.nan, np.nan))
        ax.plot(near.real, near.imag, color="0.75", linewidth=0.8, zorder=1, gid=f"branch {k + 1}")
    poles, values = pole_path.poles.ravel(), shade.ravel()
    keep = np.isfinite(poles.real) & (np.abs(poles) <= (np.inf if within is None else within))
    dots = ax.scatter(poles.real[keep], poles.imag[keep], c=values[keep], cmap=_PATH_COLOURS, s=14, zorder=2)
    dots.set_gid("poles")
    figure.colorbar(dots, ax=ax, label=label or ", ".join(pole_path.along))
    _finish_plane(ax)
    return figure


plot_pole_path = into_file(draw_pole_path)


def _finish_plane(ax: Axes) -> None:
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_xlabel("Re s [rad/s]")
    finish_axes(ax, "Im s [rad/s]")
    ax.margins(x=0.08, y=0.08)


# Bode plot: how do outputs of linear models follow a sinusoidal input, over frequency?


def draw_frequency(
    models: LinearModel | Sequence[LinearModel],
    *,
    input: str | None = None,
    output: str | None = None,
    frequency: ArrayLike | None = None,
    labels: Sequence[str] | None = None,
) -> Figure:
    """A figure of magnitude and phase over frequency, a line a model, delays exact.

    Args:
        input, output: names of the channel; the only one where there is one.
        frequency: [Hz]; by default a grid around the poles of all models.
        labels: what to call each model.
    """
    models = (models,) if isinstance(models, LinearModel) else tuple(models)
    labels = model_labels(len(models), labels)
    grid = choose_frequencies(models) if frequency is None else frequency
    responses = [respond(model, input, output, grid) for model in models]
    figure, axes = panel_figure(2)
    for number, response in enumerate(responses):
        look = run_style(number)
        axes[0].loglog(response.frequency, response.magnitude, gid=labels[number], **look)
        axes[1].semilogx(response.frequency, response.phase, gid=labels[number], **look)
    _finish(figure, axes, responses[0])
    if len(models) > 1:
        legend_above(figure, run_lines(labels), _title(responses[0]))
    else:
        figure.suptitle(_title(responses[0]), fontsize="medium")
    return figure


plot_frequency = into_file(draw_frequency)


def draw_measured(response: MeasuredResponse, exact: FrequencyResponse | None = None) -> Figure:
    """A figure of magnitude with its 95 % interval and phase where the data tell them, coherence; a model beside."""
    figure, axes = panel_figure(3)
    f, look, reliable = response.frequency, run_style(0), response.reliable
    lower, upper = response.interval
    axes[0].loglog(f[reliable], response.magnitude[reliable], gid="measured", **look)
    axes[0].fill_between(f[reliable], lower[reliable], upper[reliable], color=look["color"], alpha=0.2, linewidth=0)
    axes[1].semilogx(f[reliable], np.degrees(np.unwrap(np.angle(response.values[reliable]))), gid="measured", **look)
    axes[2].semilogx(f, response.coherence, gid="coherence", **look)
    if exact is not None:
        axes[0].loglog(exact.frequency, exact.magnitude, gid="model", **run_style(1))
        axes[1].semilogx(exact.frequency, exact.phase, gid="model", **run_style(1))
    _finish(figure, axes, response)
    finish_axes(axes[2], "coherence")
    label_bottom(axes, "frequency [Hz]")
    figure.set_figheight(8.0)
    legend_above(figure, run_lines(["measured", "model"] if exact else ["measured"]), _title(response))
    return figure


plot_measured = into_file(draw_measured)


def _finish(figure: Figure, axes: Sequence[Axes], response: FrequencyResponse) -> None:
    finish_axes(axes[0], "magnitude", response.unit)
    finish_axes(axes[1], "phase [deg]")
    label_bottom(axes, "frequency [Hz]")
    figure.set_figheight(6.0)


def _title(response: FrequencyResponse) -> str:
    return f"{response.output.name} over {response.input.name}"


# Step-response plot: how do outputs of linear models follow an input in time?

# Inches, of the first panel with its legend and of any other; the tolerance's colour.
_STEP_HEIGHT, _PANEL_HEIGHT = 4.4, 2.6
_BAND = "0.9"

# Shares of a step between which it rises.
_RISE = (0.1, 0.9)
_MARKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("highest peak", {"marker": "^"}),
    ("10 % and 90 %", {"marker": "o", "fillstyle": "none"}),
    ("settled", {"marker": "s"}),
)


def draw_responses(
    responses: TimeResponse | Sequence[TimeResponse],
    *,
    labels: Sequence[str] | None = None,
    steps: Sequence[StepResponse | None] = (),
    within: float = 0.02,
) -> Figure:
    """A figure with a panel for each output, a line for each response; inputs are not drawn.

    Args:
        labels: what to call each response; the input by default.
        steps: what was measured of each, None where it is no step: overshoot, rise and settling are marked then.
        within: part of the step within which a response has settled.
    """
    from matplotlib.lines import Line2D

    shown = [responses] if isinstance(responses, TimeResponse) else list(responses)
    labels = model_labels(len(shown), labels or [f"step of {response.input.name}" for response in shown])
    outputs = list(dict.fromkeys(response.output for response in shown))
    names = list(dict.fromkeys(labels))
    figure, axes = panel_figure(len(outputs))
    for response, label in zip(shown, labels, strict=True):
        ax = axes[outputs.index(response.output)]
        ax.plot(response.time, response.values, gid=label, **run_style(names.index(label)))
    told = dict(zip(names, names, strict=True))
    for response, label, step in zip(shown, labels, steps, strict=False):
        if step is not None:
            ax, colour = axes[outputs.index(response.output)], run_style(names.index(label))["color"]
            told[label] = f"{label}: {_mark_step(ax, step, within, colour)}"
    for ax, output in zip(axes, outputs, strict=True):
        finish_axes(ax, output.name, output.unit)
    label_bottom(axes, "time", "s")
    legend_above(figure, run_lines(list(told.values())))
    if any(step is not None for step in steps):
        figure.set_figheight(_STEP_HEIGHT + _PANEL_HEIGHT * (len(axes) - 1))
        marks = [Line2D([], [], color="0.3", linestyle="none", label=what, **look) for what, look in _MARKS]
        marks.append(Line2D([], [], color=_BAND, linewidth=8, label=f"± {100 * within:.3g} % of the step"))
        figure.legend(handles=marks, loc="outside lower center", ncols=len(marks), frameon=False, fontsize="small")
    return figure


plot_responses = into_file(draw_responses)


def _mark_step(ax: Axes, step: StepResponse, within: float, colour: str) -> str:
    """Marks of the highest peak, of both ends of the rise and of settling, and what is read there in words."""
    height = step.final - step.start
    ax.axhspan(step.final - within * height, step.final + within * height, color=_BAND, linewidth=0, zorder=0)
    ax.axhline(step.final, color="0.6", linewidth=0.8, zorder=1)
    peak = max(step.peaks, key=lambda one: one.share, default=None)
    overshoots = peak is not None and peak.share > 1
    rise, settled = step.rise_time(*_RISE), step.settling_time(within)
    places = [
        [peak.time] if peak is not None and overshoots else [],
        [step.reached(share) for share in _RISE],
        [settled],
    ]
    for (name, look), times in zip(_MARKS, places, strict=True):
        at = np.array([time for time in times if np.isfinite(time)])
        values = step.start + height * step.share(at)
        ax.plot(step.at + at, values, linestyle="none", color=colour, markersize=6, gid=name, **look)
    figures = [f"overshoot {100 * step.overshoot:.3g} %" if overshoots else "no overshoot"]
    for what, time in (("rise", rise), ("settled in", settled)):
        figures += [f"{what} {show_quantity(time, 's', 3)}"] if np.isfinite(time) else []
    return ", ".join(figures)


# Bode and Nyquist plots of loops: how strong is a sampled loop over frequency, how near does it come to -1?

# Inches of a figure and of a line of its legend; how far from the middle the plane of gains is shown; the gain [dB] up
# to which loops are.
_SIZE, _LEGEND_LINE, _SHOWN, _STRONG = 6.0, 0.12, 3.0, 40.0
# How far a crossing of the curve may be from a margin [dB], [deg] and still be the one at which it is read.
_MARGIN_READ = (0.5, 3.0)


def draw_loops(table: LoopTable) -> Figure:
    """A Bode plot: gain [dB] and phase once round each loop, and its closed loop [dB], a line a loop.

    Dots are where the margins are read: the gain margin where the phase is -180 deg, the phase margin where the gain is
    0 dB. The legend gives their sizes.
    """
    figure, axes = panel_figure(3)
    rows = _choose(table.rows)
    names = []
    for number, row in enumerate(rows):
        look = run_style(number)
        axes[0].semilogx(row.gain.frequency, row.gain.decibel, gid=row.name, **look)
        axes[1].semilogx(row.gain.frequency, _lag(row.gain.phase), gid=row.name, **look)
        axes[2].semilogx(row.closed.frequency, row.closed.decibel, gid=row.name, **look)
        _mark_margins(axes, row, look["color"])
        names.append(f"{row.name}: {_describe_margins(row)}")
    axes[0].axhline(0.0, color="0.6", linewidth=0.8)
    axes[1].axhline(-180.0, color="0.6", linewidth=0.8)
    axes[2].axhline(20 * np.log10(HALF_POWER), color="0.6", linewidth=0.8)
    for ax, label in zip(axes, ("loop gain [dB]", "phase [deg]", "closed loop [dB]"), strict=True):
        finish_axes(ax, label)
    _show_crossings(axes, rows)
    label_bottom(axes, "frequency [Hz]")
    figure.set_figheight(figure.get_figheight() + _LEGEND_LINE * len(rows))
    legend_above(figure, run_lines(names), "Control loops with gain and phase margin (dots)")
    return figure


plot_loops = into_file(draw_loops)


def _describe_margins(row: LoopFigures) -> str:
    if not row.margins.stable:
        return "unstable"
    gain, phase = 20 * np.log10(row.margins.gain_to), row.margins.phase
    margins = [f"{size:.3g} {unit}" for size, unit in ((gain, "dB"), (phase, "deg")) if np.isfinite(size)]
    return ", ".join(margins) or "no limit"


def _show_crossings(axes: Sequence[Axes], rows: Sequence[LoopFigures]) -> None:
    """Leave out the low frequencies at which every loop is far stronger than 1: nothing is read there."""
    starts = []
    for row in rows:
        weak = np.flatnonzero(row.gain.decibel < _STRONG)
        starts.append(row.gain.frequency[weak[0] if weak.size else 0])
    start, end = float(min(starts)), max(float(row.gain.frequency[-1]) for row in rows)
    axes[0].set_xlim(start, end)
    axes[0].set_ylim(top=min(axes[0].get_ylim()[1], _STRONG))
    phases = [_lag(row.gain.phase)[row.gain.frequency >= start] for row in rows]
    low, high = min(phase.min() for phase in phases), max(phase.max() for phase in phases)
    axes[1].set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))


def _mark_margins(axes: Sequence[Axes], row: LoopFigures, colour: str) -> None:
    """Dots and the margins as lines, at those crossings of 0 dB and of -180 deg where the curve has them."""
    frequency, size, phase = row.gain.frequency, row.gain.decibel, _lag(row.gain.phase)
    crossed = np.flatnonzero((size[:-1] > 0) != (size[1:] > 0))
    if crossed.size and np.isfinite(row.margins.phase):
        bounds = 360 * np.floor((phase[crossed] + 360) / 360) - 180
        distances = np.abs(np.abs(phase[crossed] - bounds) - row.margins.phase)
        nearest = int(np.argmin(distances))
        k = int(crossed[nearest])
        if distances[nearest] < _MARGIN_READ[1]:
            _mark(axes[1], frequency[k], phase[k], bounds[nearest], colour)
    # At half its sampling rate, the last frequency, a loop may just reach -180 deg.
    turned = np.append(np.flatnonzero(np.diff(np.floor((phase + 180) / 360))), len(phase) - 1)
    margin = 20 * np.log10(row.margins.gain_to)
    k = int(turned[np.argmin(np.abs(size[turned] + margin))])
    if abs(size[k] + margin) < _MARGIN_READ[0]:
        _mark(axes[0], frequency[k], size[k], 0.0, colour)


def _mark(ax: Axes, x: float, y: float, bound: float, colour: str) -> None:
    ax.plot([x], [y], "o", color=colour, markersize=5, clip_on=False)
    ax.plot([x, x], [y, bound], color=colour, linewidth=2.5, alpha=0.4)


def draw_nyquist(table: LoopTable) -> Figure:
    """A figure of the gain once round each loop in the complex plane, the unit circle and -1."""
    figure = empty_figure(_SIZE, _SIZE + 0.6)
    ax = figure.add_subplot()
    rows = _choose(table.rows)
    for number, row in enumerate(rows):
        ax.plot(row.gain.values.real, row.gain.values.imag, gid=row.name, **run_style(number))
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 181))
    ax.plot(circle.real, circle.imag, color="0.6", linewidth=0.8)
    ax.plot([-1.0], [0.0], marker="+", color="black", markersize=10)
    ax.set(xlim=(-_SHOWN, _SHOWN), ylim=(-_SHOWN, _SHOWN), aspect="equal", xlabel="real part of the loop gain")
    finish_axes(ax, "imaginary part")
    legend_above(figure, run_lines([row.name for row in rows]))
    return figure


plot_nyquist = into_file(draw_nyquist)


def _lag(phase: Array) -> Array:
    """The phase [deg] in whole revolutions so that it starts as a lag of less than one."""
    return phase - 360 * np.ceil(phase[0] / 360)


def _choose(rows: Sequence[LoopFigures]) -> Sequence[LoopFigures]:
    if not 1 <= len(rows) <= len(COLOURS):
        raise ValueError(f"from 1 to {len(COLOURS)} loops can be drawn in one figure, not {len(rows)}: choose some")
    return rows


# Displays of linear models, modes and loops.

MOST_POINTS = 400
"""Of a curve that a reader draws by itself."""


@shows
def show_linear(model: LinearModel) -> Display:
    """States, inputs and outputs of a linear model, and its poles."""
    groups: dict[str, Sequence[Any]] = {
        "states": model.states,
        "inputs": model.inputs,
        "outputs": model.outputs,
        "delays": model.delays,
    }
    rows = [(what, len(group), ", ".join(one.name for one in group[:8])) for what, group in groups.items() if group]
    table, poles = Table(("", "", "names"), rows), DisplayFigure("Poles", lambda: draw_poles(model))
    return Display("Linear model", (table, poles), notes=model.notes)


@shows
def show_modes(modes: ModeSet) -> Display:
    """Frequency, damping and leading states of every mode; drawn are the shapes, or the poles where nothing swings."""
    rows: list[tuple[Any, ...]] = []
    for mode in modes:
        if mode.free and not mode.of_method:
            # Several poles at zero share their states: the shape says what moves.
            moves = ", ".join(name for name, size in mode.shape.items() if abs(size) > 0.1)
            rows.append((0.0, np.nan, np.inf, f"free motion: {moves}"))
            continue
        shares = ", ".join(f"{name} {100 * mode.participation[name]:.0f} %" for name in mode.dominant())
        if mode.of_method:
            # Errors of constraints decay in it, nothing of the machine moves by itself.
            shares = f"constraint method: {shares}"
        # What rounding leaves of zero is zero.
        damped = abs(mode.damping) > 1e-12
        constant = mode.time_constant if damped else np.inf
        rows.append((mode.frequency, mode.damping if damped else 0.0, constant, shares))
    heads = ("frequency [Hz]", "damping", "time constant [s]", "states")
    table = Table(heads, rows, (".6g", ".4f", ".6g", ""), most=20)
    swings = any(mode.displaced for mode in modes.moving)
    picture = DisplayFigure("Shapes" if swings else "Poles", lambda: draw_modes(modes) if swings else draw_poles(modes))
    return Display(f"{len(modes)} modes", (table, picture), notes=modes.notes)


@shows
def show_loops(table: LoopTable) -> Display:
    """Bandwidth and margins of every loop; drawn are as many as there are colours, with the least phase to lose."""
    rows: list[tuple[Any, ...]] = []
    lines = {}
    for row in table.rows:
        m, verdict = row.margins, "" if row.margins.stable else "unstable"
        rows.append((row.name, row.crossover, row.bandwidth, m.gain_from, m.gain_to, m.phase, 1e3 * m.delay, verdict))
        every = max(1, len(row.gain.frequency) // MOST_POINTS)
        lines[row.name] = row.gain.frequency[::every].tolist(), row.gain.decibel[::every].tolist()
    heads = ("loop", "crossover [Hz]", "bandwidth [Hz]", "gain from", "to", "phase [deg]", "delay [ms]", "")
    parts: list[Part] = [Table(heads, rows, ".3g")]
    drawn = replace(table, rows=tuple(sorted(table.rows, key=lambda row: row.margins.phase)[: len(COLOURS)]))
    if drawn.rows:
        some = f" of the {len(COLOURS)} with the smallest phase margins" if len(COLOURS) < len(rows) else ""
        parts.append(DisplayFigure(f"Loop gains{some}", lambda: draw_loops(drawn)))
        parts.append(DisplayFigure(f"Loop gains in the complex plane{some}", lambda: draw_nyquist(drawn), "nyquist"))
    else:
        parts.append("There is no feedback loop through a sampled block with gains.")
    curves = DisplayLines("frequency [Hz]", "loop gain [dB]", lines, log=True)
    return Display(f"{len(rows)} control loops", parts, table.notes, table.warnings, curves)
