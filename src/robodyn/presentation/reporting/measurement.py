"""Measurements drawn: how well do a fit and an identification meet the data?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.identification.identify import Identification, ResidualTest, check_residuals, interval_heading
from robodyn.base import Array, choose_unit, show_quantities, show_quantity

from .displays import Display, DisplayFigure, Part, Table, shows
from .figures import COLOURS, LINE_WIDTH, finish_axes, into_file, label_bottom, legend_above, panel_figure
from .runs import draw_signals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.calibration import Calibration, PosePlan
    from robodyn.analysis.fitting.law_comparison import LawComparison
    from robodyn.analysis.fitting.result import Fit
    from robodyn.analysis.identification.excitation import Excitation
    from robodyn.analysis.identification.identify import IntervalEstimate, Suggestion
    from robodyn.analysis.identification.mapping_proposal import MappingProposal
    from robodyn.analysis.measurement.data_sheet import ClockQuality, DataSheet, DataSheets, SignalQuality
    from robodyn.analysis.tuning.tune import Tuning
    from robodyn.analysis.validation import Validation


# Fit plot: how well does a fit meet the data? Measured and simulated signals, and their residuals.


def draw_fit(fit: Fit) -> Figure:
    """A figure over time: for each signal a panel of samples and simulation, and one of measured minus simulated.

    Several recordings stand one behind the other.
    The band of the residuals is two standard deviations of the noise to each side.
    """
    figure, axes = panel_figure(2 * len(fit.signals))
    begin = 0.0
    for recording in fit.recordings:
        time = recording.measured.time + begin
        for k, signal in enumerate(fit.signals):
            if signal.name in recording.measured:
                pair = axes[2 * k : 2 * k + 2]
                measured, simulated = recording.measured[signal.name].values, recording.run[signal.name].values
                _draw_beside(pair, time, measured, time, simulated)
                column = recording.measured.names.index(signal.name)
                _draw_residuals(pair[1], time, recording.residuals[:, column], signal.noise)
        begin = float(time[-1])
        for ax in axes if recording is not fit.recordings[-1] else ():
            ax.axvline(begin, color="0.3", linewidth=0.8, linestyle=":")
    for k, signal in enumerate(fit.signals):
        _finish_pair(axes[2 * k : 2 * k + 2], signal.name, signal.unit)
    label_bottom(axes, "time", "s")
    legend_above(figure, _entries())
    return figure


plot_fit = into_file(draw_fit)


def _draw_beside(
    axes: Sequence[Axes], time: Array, measured: Array, times: Array, computed: Array, gid: str = "simulated"
) -> None:
    """Samples as dots, what was computed as a line over them, in the upper one of two panels."""
    axes[0].plot(time, measured, gid="measured", **_dots())
    axes[0].plot(times, computed, color=COLOURS[1], linewidth=LINE_WIDTH, gid=gid)


def _finish_pair(axes: Sequence[Axes], name: str, unit: str) -> None:
    finish_axes(axes[0], name, unit)
    finish_axes(axes[1], "residual", unit)


def draw_identification(identification: Identification) -> Figure:
    """A figure over rows: for each joint measured and predicted force, and what is left; held-out rows are shaded."""
    units = {p.joint: p.unit for p in identification.predictions}
    joints = [joint for joint in identification.joints if joint in units]
    figure, axes = panel_figure(2 * len(joints))
    rows = np.arange(len(identification.time)) / identification.rate
    for k, joint in enumerate(joints):
        column = identification.joints.index(joint)
        measured, predicted = identification.measured[:, column], identification.predicted[:, column]
        pair = axes[2 * k : 2 * k + 2]
        _draw_beside(pair, rows, measured, rows, np.where(np.isfinite(measured), predicted, np.nan), "predicted")
        _draw_residuals(pair[1], rows, measured - predicted, identification.noise[joint])
        _finish_pair(pair, joint, units[joint])
        for ax in pair:
            held_out: dict[str, Any] = {"where": identification.fitted == 0, "transform": ax.get_xaxis_transform()}
            ax.fill_between(rows, 0, 1, color="0.95", **held_out)
    label_bottom(axes, "time of the rows", "s")
    legend_above(figure, _entries("predicted"))
    return figure


plot_identification = into_file(draw_identification)


def _draw_residuals(ax: Axes, time: Array, residuals: Array, noise: float) -> None:
    ax.axhspan(-2 * noise, 2 * noise, color="0.92")
    ax.axhline(0.0, color="0.3", linewidth=0.8)
    ax.plot(time, residuals, gid="residual", **_dots())


def _dots() -> dict[str, Any]:
    return {"color": COLOURS[0], "marker": ".", "markersize": 3.0, "linestyle": "none"}


def _entries(computed: str = "simulated") -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], label="measured", **_dots()),
        Line2D([], [], color=COLOURS[1], linewidth=LINE_WIDTH, label=computed),
    ]


def draw_residual_tests(tests: tuple[ResidualTest, ...]) -> Figure:
    """A panel a joint: correlation with itself as bars, with the force as a line, and the 95 % band."""
    figure, axes = panel_figure(max(len(tests), 1))
    for ax, test in zip(axes, tests, strict=False):
        both = np.concatenate([-test.lag[::-1], [0.0], test.lag])
        ax.axhspan(-test.band, test.band, color="0.92")
        ax.vlines(test.lag, 0, test.own, color=COLOURS[0], gid="own")
        ax.plot(both, test.with_force, color=COLOURS[1], linewidth=1.0, gid="with_force")
        finish_axes(ax, test.joint)
    label_bottom(axes, "lag [s]")
    return figure


# Displays.


def _estimate(p: IntervalEstimate, identifiable: bool, otherwise: str) -> tuple[Any, ...]:
    """A row of estimates in the unit that suits them: value, interval or what is said instead of it, value given."""
    unit = choose_unit(p.unit, max(abs(p.value), abs(p.given)))
    interval = f"{unit.scale(p.lower, 5)} .. {unit.scale(p.upper, 5)}" if identifiable else otherwise
    return p.name, p.value / unit.size, interval, p.given / unit.size, unit.name


@shows
def show_fit(fit: Fit) -> Display:
    """Values with intervals and correlations, how well signals are met, and what held-out samples prove."""
    estimates = [_estimate(p, not p.at_bound, "at its bound") for p in fit.parameters]
    heads = ("parameter", "value", interval_heading(fit.doubt), "given", "unit")
    parts: list[Part] = [Table(heads, estimates, ".6g")]
    if (n := len(fit.parameters)) > 1:
        rows = []
        for i, p in enumerate(fit.parameters):
            rows.append((p.name, *(float(fit.correlation[i, j]) if j <= i else "" for j in range(n))))
        parts += ["", Table(("correlation", *[""] * n), rows, "+.3f")]
    agreement = [(s.name, s.rms, s.noise, s.r_squared, s.samples, s.unit) for s in fit.signals]
    digits = ("", ".5g", ".5g", ".8f", "", "")
    parts += [
        "",
        Table(("signal", "rms", "noise", "R²", "samples", "unit"), agreement, digits, by_row=("rms", "noise")),
    ]
    proofs = []
    for recording in fit.recordings:
        label = f"{recording.label}: " if len(fit.recordings) > 1 else ""
        for e in recording.held_out:
            proofs.append((f"{label}{e.name}", e.rms, e.percent, e.rows, e.unit))
    if proofs:
        heads = ("held-out samples of", "rms", "%", "samples", "unit")
        parts += ["", Table(heads, proofs, ("", ".5g", ".2f", "", ""), by_row=("rms",))]
    count, runs = len(fit.starts), f"{sum(start.evaluations for start in fit.starts)} simulations"
    agreed = "one start" if count == 1 else f"{fit.agreeing} of {count} starts found this fit"
    parts += ["", f"{agreed}, {runs}", f"slopes: {fit.jacobian}"]
    parts += [f"warning: {warning}" for warning in fit.warnings]
    parts.append(DisplayFigure("Measured and simulated signals", lambda: draw_fit(fit)))
    heading = f"Fit of {n} parameters: {fit.agreeing} of {count} starts agree"
    return Display(heading, parts, values=fit.common_values)


STRONG, MOST_PAIRS = 0.9, 30
"""Correlation of two estimates that a page shows, and how many of them."""


@shows
def show_identification(identification: Identification) -> Display:
    """Base parameters with intervals and predictions of each joint; on pages what is left of the forces, too."""
    base = [_estimate(p, p.identifiable, "not identifiable from these data") for p in identification.base]
    joints = []
    for joint in identification.joints:
        rows = {p.held_out: p for p in identification.predictions if p.joint == joint}
        if False in rows:
            own, other = rows[False], rows.get(True)
            held_out = (other.rms, other.percent) if other else (None, None)
            joints.append((joint, own.rms, own.percent, *held_out, own.unit))
    heads = ("base parameter", "value", interval_heading(identification.doubt), "given", "unit")
    errors, digits = ("fitted rms", "%", "held-out rms", "%"), ("", ".5g", ".2f", ".5g", ".2f", "")
    parts: list[Part] = [
        Table(heads, base, ".6g", most=200),
        "",
        Table(("joint", *errors, "unit"), joints, digits, by_row=(errors[0], errors[2])),
        "",
        f"zero-phase low-pass at {identification.cutoff:.4g} Hz, rows at {identification.rate:.4g} Hz",
        f"{len(identification.base)} base parameters; "
        f"physically possible bodies raise the sum of squares by {identification.lost:.3g}",
        *(f"warning: {warning}" for warning in identification.warnings),
        DisplayFigure("Measured and predicted forces", lambda: draw_identification(identification)),
    ]
    tests = check_residuals(identification)
    shares = [(t.joint, f"{100 * t.white:.0f} %", f"{100 * t.independent:.0f} %") for t in tests]
    more: list[Part] = [
        "Shaded rows took no part in the fit; the band around the residual is two standard deviations of the noise.",
        Table(("joint", "white", "independent"), shares, title="Residual"),
        "Autocorrelation of the residual, and its correlation with the predicted force, at rows that stay "
        "independent after filtering. 95 % of white noise lies within the band.",
        DisplayFigure("Correlations of the residuals", lambda: draw_residual_tests(tests)),
    ]
    pairs = [
        (i, j)
        for i, j in combinations(range(len(identification.base)), 2)
        if abs(identification.correlation[i, j]) > STRONG
    ]
    pairs.sort(key=lambda pair: -abs(identification.correlation[pair]))
    apart = [
        (identification.base[i].name, identification.base[j].name, float(identification.correlation[i, j]))
        for i, j in pairs[:MOST_PAIRS]
    ]
    if apart:
        more.append(Table(("", "and", "correlation"), apart, "+.3f", "Parameters the data cannot separate"))
    numbers = list(identification.numbers.items())
    more.append(Table(("number", "value"), numbers, ".6g", "New numbers: every body is physically possible", most=1000))
    return Display("Identification by inverse dynamics", parts, values=identification.numbers, more=more)


@shows
def show_law_comparison(comparison: LawComparison) -> Display:
    """Laws in order of the criterion, what they gain in prediction, and the best one of each axis."""
    rows: list[tuple[Any, ...]] = []
    for c in comparison.rows:
        judged = np.isfinite(c.bic)
        numbers = (c.bic, c.aic, c.fitted, c.held_out) if judged else (None,) * 4
        gain = None if c.gain is None else 100 * c.gain
        rows.append((c.law, c.parameters, *numbers, gain, c.tried if judged else f"not evaluated: {c.tried}"))
    heads = ("law", "parameters", "BIC", "AIC", "fitted", "held out", "gain [%]", "remarks")
    close = f"; equally good: {', '.join(comparison.as_good)}" if comparison.as_good else ""
    table = Table(heads, rows, ("", "", ".1f", ".1f", ".3f", ".3f", ".1f", ""))
    parts: list[Part] = [table, f"best: {comparison.rows[0].law}{close}"]
    if len(comparison.axes) > 1:
        parts += ["", Table(("axis", "best by itself"), list(comparison.axes.items()))]
    return Display("Comparison of laws", parts)


def draw_validation(validation: Validation) -> Figure:
    """A figure over the time ahead: for each signal the error of the model with its band, and of the baselines."""
    figure, axes = panel_figure(len(validation.growth))
    for ax, (name, rows) in zip(axes, validation.growth.items(), strict=True):
        columns = ([getattr(row, key) for row in rows] for key in ("ahead", "line", "rms", "lower", "upper", "nominal"))
        ahead, line, rms, lower, upper, nominal = (np.array(column, float) for column in columns)
        ax.fill_between(ahead, lower, upper, color=COLOURS[1], alpha=0.2, linewidth=0)
        ax.plot(ahead, rms, color=COLOURS[1], linewidth=LINE_WIDTH, label="model, 95 % band")
        if rows[0].nominal is not None:
            ax.plot(ahead, nominal, color=COLOURS[2], linewidth=LINE_WIDTH, label="nominal")
        ax.plot(ahead, line, color="0.4", linewidth=LINE_WIDTH, linestyle="--", label="line")
        # Errors of simulated data may be none at all.
        ax.set_yscale("log" if np.all(line > 0) and np.any(rms > 0) else "linear")
        finish_axes(ax, f"error of {name}", rows[0].unit)
    label_bottom(axes, "time ahead", "s")
    legend_above(figure, axes[0].get_legend_handles_labels()[0])
    return figure


def draw_free_run(validation: Validation) -> Figure:
    """A figure over time: each measured signal beside the free run's, and the difference."""
    assert validation.run is not None
    assert validation.measured is not None
    names = [error.name for error in validation.signals][:MOST_DRAWN]
    figure, axes = panel_figure(2 * len(names))
    time = validation.measured.time
    reached = time <= validation.run.time[-1]
    for k, name in enumerate(names):
        pair = axes[2 * k : 2 * k + 2]
        measured, run = validation.measured[name].values, validation.run[name]
        _draw_beside(pair, time, measured, run.time, run.values)
        apart = measured[reached] - run(time[reached])
        _draw_residuals(pair[1], time[reached], apart, validation.signals[k].rms)
        _finish_pair(pair, name, run.unit)
    label_bottom(axes, "time", "s")
    legend_above(figure, _entries())
    return figure


MOST_DRAWN = 6
"""Signals of a free run in one picture."""


@shows
def show_validation(validation: Validation) -> Display:
    """Errors of predictions beside those of the baselines, and of efforts; nothing has to be read beside it."""
    parts: list[Part] = []
    if validation.inputs:
        parts += [f"inputs as measured: {', '.join(validation.inputs)}", ""]
    if validation.predictions:
        with_nominal = any(p.nominal is not None for p in validation.predictions)
        rows: list[tuple[Any, ...]] = []
        for p in validation.predictions:
            than = [f"{p.than_line} line", *([f"{p.than_nominal} nominal"] if with_nominal else [])]
            other = (p.nominal,) if with_nominal else ()
            rows.append((p.signal, p.kind, p.rms, p.lower, p.upper, p.percent, p.line, *other, ", ".join(than), p.unit))
        sizes = ("rms", "from", "to")
        others = ("line", *(("nominal",) if with_nominal else ()))
        heads = ("signal", "predicted", *sizes, "%", *others, "the model is", "unit")
        digits = ("", "", ".3g", ".3g", ".3g", ".3g", *[".3g"] * len(others), "", "")
        parts.append(Table(heads, rows, digits, by_row=(*sizes, *others)))
        parts.append(
            "from .. to: 95 % band of the rms; %: of the signal's own deviation; line: last value held or extrapolated"
        )
        parts += ["nominal: the numbers before"] if with_nominal else []
    if validation.signals:
        errors = [(s.name, s.bias, s.largest, s.at_time, s.unit) for s in validation.signals]
        heads = ("free run", "bias", "largest", "at [s]", "unit")
        table = Table(heads, errors, ("", ".3g", ".4g", ".4g", ""), by_row=("bias", "largest"))
        parts += [*([""] if parts else []), table]
    if validation.efforts:
        efforts = [(e.joint, e.rms, e.percent, e.rows, e.unit) for e in validation.efforts]
        heads = ("effort by inverse dynamics", "rms", "%", "rows", "unit")
        parts += [*([""] if parts else []), Table(heads, efforts, ("", ".4g", ".2f", "", ""), by_row=("rms",))]
    parts += [f"note: {note}" for note in validation.notes]
    if validation.growth:
        parts.append(DisplayFigure("How errors grow", lambda: draw_validation(validation)))
    if validation.run is not None and validation.signals:
        parts.append(DisplayFigure("Measured and simulated", lambda: draw_free_run(validation), "plot_run"))
    return Display("Validation", parts)


SHOWN = 5
"""Gaps and spikes that are named."""


@shows
def show_data(sheets: DataSheets) -> Display:
    """Clock and signals of a recording, one sheet after the other."""
    parts: list[Part] = []
    for sheet in sheets.clocks:
        parts += [*([""] if parts else []), *_sheet_parts(sheet)]
    if (o := sheets.offset) is not None:
        skew = f"{o.skew * 1e6:+.3g} ppm (deviation {o.skew_deviation * 1e6:.2g}), correlation {o.correlation:.4f}"
        offset = f"{o.offset:+.6g} s (deviation {show_quantity(o.deviation, 's', 2)})"
        parts += ["", f"second clock: {offset}, {skew}"]
    if sheets.proposal is not None:
        parts = [*_proposal_parts(sheets.proposal), "", *parts]
    return Display("Data sheet", parts)


def _proposal_parts(proposal: MappingProposal) -> Iterator[Part]:
    """What is not as it seems, how well efforts follow from the motion, and what is left open."""
    if proposal.foreign:
        yield f"warning: {proposal.foreign}"
    heads = ("where", "found", "that is", "in the mapping")
    if proposal.findings:
        yield Table(heads, [(f.where, f.kind, f.what, f.remedy) for f in proposal.findings], title="Findings")
    else:
        yield "columns, units and signs agree with their names"
    rows = [(m.place, m.column, m.effort, m.correlation, None if m.left is None else 100 * m.left)
            for m in proposal.matches if m.column]  # fmt: skip
    if rows:
        yield ""
        efforts = ("axis", "column", "effort", "correlation with the model", "% left")
        yield Table(efforts, rows, ("", "", "", ".3f", ".1f"), title="Efforts by the model")
    yield from (f"note: the log does not determine {one}" for one in proposal.open)


def _sheet_parts(sheet: DataSheet) -> Iterator[Part]:
    clock = sheet.clock
    yield f"{sheet.source}: {clock.rows} rows from {_moment(clock.start)} s to {_moment(clock.end)} s"
    jitter, largest = (show_quantity(one, "s", 2) for one in (clock.jitter, clock.worst_jitter))
    yield f"rate {clock.rate:.6g} Hz, jitter {jitter} (largest {largest})"
    yield from _clock_warnings(clock)
    yield from (f"note: {note}" for note in sheet.notes)
    yield ""
    rows: list[tuple[Any, ...]] = []
    warnings: list[str] = []
    for name, s in sheet.signals.items():
        numbers = (s.minimum, s.maximum, s.deviation, s.noise, s.quantum)
        rows.append((name, *numbers, s.missing, sheet.units[name]))
        warnings += _signal_warnings(name, s, sheet.units[name])
    sizes = ("least", "greatest", "deviation", "noise", "step")
    yield Table(("signal", *sizes, "missing", "unit"), rows, ("", *[".5g"] * 3, ".3g", ".3g", "", ""), by_row=sizes)
    if warnings:
        yield ""
    yield from (f"warning: {sentence}" for sentence in warnings)


def _moment(time: float) -> str:
    """A time; one since 1970 to the millisecond, where six digits would be days."""
    return f"{time:.3f}" if abs(time) >= 1e6 else f"{time:.6g}"


def _clock_warnings(clock: ClockQuality) -> Iterator[str]:
    if clock.gaps:
        lost = sum(gap.missing for gap in clock.gaps)
        named = "; ".join(f"{g.length:.4g} s after row {g.row + 1} at {_moment(g.time)} s" for g in clock.gaps[:SHOWN])
        yield f"warning: {len(clock.gaps)} gaps, about {lost} rows missing: {named}"
    if clock.repeated:
        yield f"warning: {clock.repeated} rows have the time of the row before"


def _signal_warnings(name: str, s: SignalQuality, unit: str) -> Iterator[str]:
    if s.deviation == 0:
        yield f"{name} is constant"
    if s.saturated:
        worst = max(s.saturated, key=lambda stretch: stretch.count)
        total = sum(stretch.count for stretch in s.saturated)
        at = show_quantity(worst.value, unit, 5)
        where = f"the longest stretch is rows {worst.start + 1} to {worst.end + 1} at {at}"
        yield f"{name} stays at its limit in {total} rows (saturation, or rest): {where}"
    if s.spikes:
        rows = ", ".join(str(row + 1) for row in s.spikes[:SHOWN])
        yield f"{name} has {len(s.spikes)} spikes, at rows {rows}{' ...' if len(s.spikes) > SHOWN else ''}"


@shows
def show_excitation(excitation: Excitation) -> Display:
    """The motion of each joint, what it tells, and what it hardly tells."""
    from robodyn.analysis.identification.excitation import AxisSpline

    spline = excitation.family.kind == "spline"
    parts: list[Part] = [f"{'joint':<16} points" if spline else f"{'joint':<16} {'offset':>9}  sines; cosines"]
    for axis in excitation.axes:
        if isinstance(axis, AxisSpline):
            parts.append(f"{axis.joint:<16} {_listed(axis.points)}")
        else:
            parts.append(f"{axis.joint:<16} {axis.offset:>9.4f}  {_listed(axis.sines)};  {_listed(axis.cosines)}")
    before, after = excitation.information
    parts += ["", f"log det of the information: {before:.2f} for a random motion -> {after:.2f}"]
    parts.append("used of limits: " + ", ".join(f"{name} {100 * use:.0f} %" for name, use in excitation.use.items()))
    parts += [f"within {text}: {value:.4g} at the nearest" for text, value in excitation.workspace.items()]
    if excitation.measured:
        parts += [f"poorly identified even by this motion: {name}" for name in excitation.poorly_identified]
    by = "the measured motions" if excitation.measured else "this motion"
    parts += [
        f"poorly identified by {by}: {s.number}: {_would_tell(s, excitation.measured)}" for s in excitation.suggestions
    ]
    return Display("Exciting motion", parts)


def _listed(values: Sequence[float]) -> str:
    return "  ".join(f"{value:+.4f}" for value in values)


def _would_tell(s: Suggestion, measured: bool) -> str:
    if s.joints:
        share = "" if s.then is None else f" to {100 * s.then:.0f} %"
        return f"{' and '.join(s.joints)} moving alone would identify it{share}"
    longer = "" if measured or s.deviation is None else f"; {math.ceil(s.deviation**2)} periods or less noise would"
    return f"no period of one or two joints moving alone would identify it{longer}"


STEADY = 0.02
"""Rest of a slope at which a tuning is at its optimum, for all that a person can see."""


@shows
def show_tuning(tuning: Tuning) -> Display:
    """Gains before and after, what is left to each limit, and what each limit costs."""
    change = f" ({100 * (tuning.after / tuning.before - 1):+.1f} %)" if tuning.before else ""
    of = f", {tuning.over} of {len(tuning.cases)} cases" if len(tuning.cases) > 1 else ""
    (before, after), unit = show_quantities([tuning.before, tuning.after], tuning.unit, 5)
    sentence = f"{tuning.objective}{of}: {before} -> {after} {unit}".rstrip() + change
    both = ("before", "after")
    gains = []
    for gain in tuning.gains:
        bound = "at its bound" if gain.at_bound else ""
        gains.append((gain.name, gain.before, gain.after, gain.unit, gain.per_percent, bound))
    of_measure = f" [{tuning.unit}]" if tuning.unit else ""
    heads = ("gain", *both, "unit", f"per % more{of_measure}", "")
    parts: list[Part] = [sentence, "", Table(heads, gains, ("", ".5g", ".5g", "", "+.3g", ""), by_row=both)]
    limits = []
    for limit in tuning.limits:
        price = limit.price if limit.active else None
        name = f"{limit.text} {limit.loop}".strip()
        limits.append((name, limit.bound, limit.before, limit.after, limit.unit, price))
    if limits:
        heads = ("limit", "bound", *both, "unit", f"price{of_measure}")
        parts += ["", Table(heads, limits, ("", ".4g", ".4g", ".4g", "", ".3g"), by_row=("bound", *both))]
    if len(tuning.cases) > 1:
        cases = []
        for case in tuning.cases:
            name = ", ".join(f"{key}={value:.4g}" for key, value in case.changes.items())
            cases.append((name, case.before, case.after, tuning.unit))
        parts += ["", Table(("case", *both, "unit"), cases, ".5g", by_row=both)]
    rest = "no small change of the gains within the limits makes it better"
    if tuning.rest >= STEADY:
        rest = f"the search stopped where 1 % of the gains still changes it by {tuning.rest:.2g} %"
    parts += ["", f"{tuning.evaluations} evaluations of all cases; slopes: {tuning.slopes}; {rest}"]
    parts += [f"note: {note}" for note in tuning.notes]
    signal = tuning.objective.partition(":")[2]

    def draw() -> Figure:
        return draw_signals(tuning.runs, [signal], labels=["before", "after"])

    return Display("Tuning", [*parts, DisplayFigure(f"{signal} before and after", draw)], values=tuning.values)


# Calibration: how far were poses off, and how far are they with the robot as it was found?


def draw_calibration(calibration: Calibration) -> Figure:
    """Errors of all poses, as in the file and calibrated, in the order of the file; held-out ones are filled."""
    figure, (ax,) = panel_figure(1)
    rows = np.arange(1, len(calibration.each) + 1)
    held_out = calibration.held_out
    for k, label in enumerate(("as in the file", "calibrated")):
        errors = 1e3 * calibration.each[:, k]
        for own, face in ((~held_out, "none"), (held_out, COLOURS[k])):
            note = f"{label}, held out" if face != "none" else label
            style: dict[str, Any] = {
                "linestyle": "none",
                "marker": "o",
                "markersize": 4,
                "color": COLOURS[k],
                "markerfacecolor": face,
            }
            ax.plot(rows[own], errors[own], label=note if np.any(own) else "_", **style)
    ax.set_yscale("log")
    finish_axes(ax, "error of the tool", "mm")
    label_bottom([ax], "pose")
    legend_above(figure, ax.get_legend_handles_labels()[0])
    return figure


@shows
def show_calibration(calibration: Calibration) -> Display:
    """How far poses are off before and after, the numbers with intervals, and what the poses do not tell."""
    errors = [(e.what, e.rms, e.largest, e.poses) for e in calibration.errors]
    numbers = [(n.name, n.value, n.lower, n.upper, n.unit) for n in calibration.numbers]
    shown = choose_unit("m", calibration.noise)
    scatter = f"{calibration.noise / shown.size:.3g} {shown.name}"
    parts: list[Part] = [
        Table(("error of", "rms [m]", "largest [m]", "poses"), errors),
        "",
        Table(("number", "change", "from", "to", "unit"), numbers, most=100, by_row=("change", "from", "to")),
        "",
        f"measured places scatter by {scatter} along each axis; from .. to: 95 % intervals",
    ]
    elsewhere = [one.name for one in calibration.untold if one.postures]
    if elsewhere:
        parts.append(f"other postures or loads would identify: {', '.join(elsewhere)}")
    parts += [f"warning: {warning}" for warning in calibration.warnings]
    parts.append(DisplayFigure("Errors of the poses", lambda: draw_calibration(calibration)))
    same = [(one.name, ", ".join(one.like) or "nothing: it has no effect") for one in calibration.untold]
    more: list[Part] = [
        Table(("unchanged from the file", "has the effect of"), same, title="Errors that cannot be separated")
    ]
    return Display(f"Calibration of {calibration.point}: {len(numbers)} numbers", parts, more=more)


@shows
def show_pose_plan(plan: PosePlan) -> Display:
    """Chosen poses, and what they promise."""
    heads = ("worst-told", "chosen", "at random", "deviation per deviation of places")
    units = ["pose", *(f"{joint} [{unit}]" for joint, unit in zip(plan.joints, plan.units, strict=True))]
    poses = [(k, *(float(value) for value in row)) for k, row in enumerate(plan.q, 1)]
    heading = f"{len(plan.q)} poses to measure {plan.point} in"
    return Display(heading, [Table(heads, plan.deviations), "", Table(tuple(units), poses, most_printed=10)])
