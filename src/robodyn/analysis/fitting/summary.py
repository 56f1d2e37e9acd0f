"""Confidence intervals and correlations at the best point of a fit, and how well signals and starts agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robodyn.analysis.coloured_noise import Spread, describe_doubt, find_spread
from robodyn.analysis.fitting.identifiability import describe_correlations
from robodyn.analysis.fitting.possible_bodies import FreeInertia
from robodyn.analysis.fitting.residuals import STEPWISE, RecordingResiduals, Residuals
from robodyn.analysis.fitting.result import Fit, FitStart, FittedParameter, FittedRecording, FittedSignal
from robodyn.analysis.fitting.scaling import Scale
from robodyn.analysis.fitting.search_space import SearchSpace
from robodyn.analysis.measurement.measured import compare_signals
from robodyn.analysis.sensitivity.variation import Variation
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats

GREATER, NEW = 1.5, 0.5
"""Size of residuals by the noise that is given, and share of new ones, up to which they are that noise."""
EXACT = 100.0
"""Residuals by the solver's tolerance that are those of the simulation itself."""
SAME_COST = 1e-3
"""Relative difference of cost up to which two starts have found the same fit."""
LEAST_SHARE = 0.5
"""Share of a signal's variance that a fit explains at least, unless something is wrong with it."""
UNFINISHED = 0.01
"""Cosine of the angle between residuals and slopes beyond which the residuals can be made smaller."""
WIDE = 1.0
"""Half width of an interval, by the value, beyond which a parameter is hardly known."""


def summarise_fit(
    residuals: Residuals,
    space: SearchSpace,
    z: Floats,
    starts: tuple[FitStart, ...],
    best: int,
    noise_given: bool,
    whole: Sequence[Run],
) -> Fit:
    """The result at the scaled parameters z.

    Args:
        noise_given: whether the noise is known, so that intervals do not follow the residuals.
        whole: the recordings with the samples that were held out.
    """
    r, J = residuals(z), residuals.slopes(z)
    spread, doubt = _find_spread(residuals, space, z, r, J, noise_given)
    limited = space.at_limit(z)
    names = [scale.number.name for scale in residuals.scales]
    agreeing = _agreeing(starts, best, r.size * residuals.parts[0].variation.solver.rtol ** 2)
    bound = space.at_bounds(z)
    parameters = tuple(
        _parameter(scale, float(z[k]), deviation, half, [s.values[k] for s in agreeing], bound[k])
        for k, (scale, deviation, half) in enumerate(
            zip(residuals.scales, spread.deviations.tolist(), spread.half_widths.tolist(), strict=True)
        )
    )
    signals = _signals(residuals, z)
    return Fit(
        parameters=parameters,
        correlation=spread.correlation,
        signals=signals,
        starts=starts,
        cost=0.5 * float(r @ r),
        best=best,
        agreeing=len(agreeing),
        jacobian="; ".join(_describe_all_slopes(residuals)),
        doubt=doubt,
        warnings=(
            *filter(None, [doubt]),
            *_describe_misfit(signals),
            *_describe_limits(limited),
            *_describe_unfinished(residuals, space, z, parameters),
            *_warnings(parameters, spread.correlation, names, starts, len(agreeing)),
        ),
        recordings=tuple(_recording(*one, data) for one, data in zip(residuals.each(z), whole, strict=True)),
    )


def _recording(part: RecordingResiduals, z: Floats, whole: Run) -> FittedRecording:
    run = part.run(z)
    assert run is not None
    fitted = np.isfinite(part.data.values)
    proof = replace(whole, values=np.where(fitted, np.nan, whole.values))
    held_out = compare_signals(run, proof) if (np.isfinite(whole.values) & ~fitted).any() else ()
    return FittedRecording(part.label, whole, run, part.apart(z), held_out)


def _describe_all_slopes(residuals: Residuals) -> list[str]:
    found = list(dict.fromkeys(_describe_slopes(part.variation) for part in residuals.parts))
    steps = ", ".join(residuals.scales[k].number.name for k in residuals.stepwise)
    return [*found, f"{steps} acts in steps, at samples: differences of {100 * STEPWISE:.0f} %"] if steps else found


def _describe_slopes(variation: Variation) -> str:
    """How slopes were found, and what they take otherwise than it is."""
    if not variation.exact:
        return f"central differences: {variation.reason}"
    return "; ".join(["exact", *variation.notes])


def _find_spread(
    residuals: Residuals, space: SearchSpace, z: Floats, r: Floats, J: Floats, noise_given: bool
) -> tuple[Spread, str]:
    """Of the scaled parameters, along the directions in which they can move, and why intervals are no 95 % ones."""
    along = space.tangent(z)
    parts = residuals.split(r, J @ along)
    spread = find_spread(parts, along)
    # Noise that is given is white: intervals are by it unless what is left is more, or no new one at each sample.
    if noise_given and r @ r < GREATER**2 * r.size and spread.independent > NEW * r.size:
        half = along @ np.linalg.inv(np.linalg.qr(J @ along, mode="r"))
        spread = Spread(half @ half.T, np.full(len(z), np.inf), float(r.size))
    shapes = [
        np.concatenate([part.X, _motion(residuals, *own)], axis=2)
        for part, own in zip(parts, residuals.each(z), strict=True)
    ]
    exact = all(
        level < EXACT * part.variation.solver.rtol * np.nanstd(part.data[name].values)
        for part in residuals.parts
        for name, level in zip(part.data.names, part.noise, strict=True)
    )
    steps = ", ".join(residuals.scales[k].number.name for k in residuals.stepwise)
    stairs = f"{steps} acts in steps: intervals, by differences of {100 * STEPWISE:.0f} %, are no 95 % ones"
    doubt = "" if exact else describe_doubt(spread, parts, shapes)
    return spread, doubt or (stairs if steps else "")


def _motion(residuals: Residuals, part: RecordingResiduals, z: Floats) -> Floats:
    """Simulated signals and their rates (n, all signals, 2)."""
    run = part.run(z)
    assert run is not None
    found = np.zeros((len(part.data.time), len(residuals.names), 2))
    for name in part.data.names if len(part.data.time) > 1 else ():
        y = run[name].values
        found[:, residuals.names.index(name)] = np.column_stack([y, np.gradient(y)])
    return found


def _agreeing(starts: Sequence[FitStart], best: int, least: float) -> list[FitStart]:
    """The starts that found the best fit, to rounding or to a cost that the simulation's own error makes."""
    most = (starts[best].cost or 0.0) * (1 + SAME_COST) + least
    return [start for start in starts if start.cost is not None and start.cost <= most]


def _parameter(
    scale: Scale, z: float, deviation: float, half: float, found: Sequence[float], bound: bool
) -> FittedParameter:
    value, number = scale.value(z), scale.number
    lower, upper = (float(scale.value(z + sign * half)) for sign in (-1, 1))
    # What a body at the limit of what is possible leaves no way to move has no deviation.
    bound = bool(bound or deviation == 0.0)
    spread = (max(found) - min(found)) / abs(value) if value else 0.0
    own = float(deviation * scale.slope(z))
    return FittedParameter(number.name, number.unit, value, own, lower, upper, number.value, bound, spread)


def _signals(residuals: Residuals, z: Floats) -> tuple[FittedSignal, ...]:
    units = {info.name: info.unit for part in residuals.parts for info in part.variation.compiled.system.signals}
    columns: dict[str, list[tuple[Floats, Floats]]] = {name: [] for name in residuals.names}
    for part, own in residuals.each(z):
        for name, errors in zip(part.data.names, part.apart(own).T, strict=True):
            columns[name].append((errors, part.data[name].values))
    found = []
    for name, pairs in columns.items():
        # A recording's own mean is no merit of the fit.
        spread = [values - np.nanmean(values) for _, values in pairs]
        variance = float(np.nanmean(np.concatenate(spread) ** 2))
        square = float(np.nanmean(np.concatenate([errors for errors, _ in pairs]) ** 2))
        share = 1 - square / variance if variance > 0 else float("nan")
        count = int(sum(np.isfinite(values).sum() for _, values in pairs))
        found.append(FittedSignal(name, units[name], count, square**0.5, residuals.noise[name], share))
    return tuple(found)


def _describe_misfit(signals: Sequence[FittedSignal]) -> list[str]:
    """Signals that the fit does not meet: intervals then say nothing about the truth."""
    remedy = "the intervals mean nothing; look at units and start values, or try more starts"
    return [
        f"{s.name} is not met (R^2 = {s.r_squared:.3g}): {remedy}" for s in signals if not s.r_squared >= LEAST_SHARE
    ]


def _describe_limits(limited: Sequence[FreeInertia]) -> list[str]:
    """Bodies that the data would make impossible ones."""
    return [
        f"the inertia of {free.body} lies at the limit of what is physically possible (one principal moment is the sum "
        "of the other two): intervals are those of changes along it; let more of its entries be free, or look at what "
        "else takes part in the motion"
        for free in limited
    ]


def _describe_unfinished(
    residuals: Residuals, space: SearchSpace, z: Floats, parameters: Sequence[FittedParameter]
) -> list[str]:
    """Parameters along which the residuals still fall: at a best fit they are at right angles to all slopes."""
    r, free = residuals(z), [k for k, p in enumerate(parameters) if not p.at_bound]
    N = space.tangent(z)
    slopes = residuals.slopes(z) @ N @ N.T
    size = np.linalg.norm(r) * np.maximum(np.linalg.norm(slopes, axis=0), 1e-300)
    names = [parameters[k].name for k in free if abs(slopes[:, k] @ r) > UNFINISHED * size[k]]
    if not names or not residuals.failure:
        return []
    return [f"the search ended before the best fit in {', '.join(names)}: simulations fail there: {residuals.failure}"]


def _warnings(
    parameters: Sequence[FittedParameter],
    correlation: Floats,
    names: Sequence[str],
    starts: Sequence[FitStart],
    agreeing: int,
) -> list[str]:
    found = [f"{p.name} lies at its bound: its interval means nothing" for p in parameters if p.at_bound]
    for p in parameters:
        if not p.at_bound and p.value and (p.upper - p.lower) / 2 > WIDE * abs(p.value):
            found.append(f"{p.name} is hardly known from these data: its interval is wider than the value")
    found += describe_correlations(correlation, names)
    failed = sum(start.cost is None for start in starts)
    if failed:
        found.append(f"{failed} of {len(starts)} starts failed: {next(s.message for s in starts if s.cost is None)}")
    if len(starts) - failed > 2 and agreeing < 2:
        found.append("no two starts led to the same fit: try more of them or narrower bounds")
    return found
