"""Result of a fit: numbers with intervals, what the data could not tell, and how it reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from robodyn.analysis.coloured_noise import Spread, describe_doubt, find_spread
from robodyn.analysis.identification.identify import IntervalEstimate
from robodyn.analysis.measurement.measured import SignalError, compare_signals
from robodyn.base import Array, Displayed, Flaw, frozen, refuse, to_plain, write_file
from robodyn.computation.results import Run

from .residuals import STEPWISE, RecordingResiduals, Residuals
from .search_space import OF_RECORDING, Scale, SearchSpace

# --------------------------------------------------------------------------------------------------
# Identifiability: can these data determine these parameters? Those without effect, those not distinguished.
#
# Symbols: J the slopes of the weighted residuals by the scaled parameters z, c its columns' lengths.
#
# The singular values of J diag(1/c) decide: a tiny one is a combination of parameters, its singular vector, along which
# the data do not change.


NO_EFFECT = 1e-7
"""Effect on a signal, in parts of its spread (or noise), of doubling a parameter, that is none."""
NOT_TOLD_APART = 1e-6
"""Smallest singular value, by the largest, of parameters that can be distinguished; far above rounding."""
STRONG = 0.99
"""Correlation of two estimates beyond which they are hard to tell apart."""
NAMED = 0.05
"""Share of the largest in a combination below which a parameter is no part of it."""


UNSEEN = "has no effect on the data"


def find_idle(J: Array) -> list[int]:
    """Columns of parameters without effect."""
    idle = np.linalg.norm(J, axis=0) <= NO_EFFECT * np.sqrt(max(J.shape[0], 1))
    return [int(k) for k in np.flatnonzero(idle)]


def find_unidentifiable(J: Array, names: Sequence[str]) -> list[Flaw]:
    """A flaw for each parameter without effect and each combination along which nothing changes."""
    idle, lengths = find_idle(J), np.linalg.norm(J, axis=0)
    flaws = [Flaw(names[k], UNSEEN, "leave it out of free") for k in idle]
    used = np.setdiff1d(np.arange(J.shape[1]), idle)
    if used.size < 2:
        return flaws
    _, values, rows = np.linalg.svd(J[:, used] / lengths[used], full_matrices=False)
    for k in np.flatnonzero(values < NOT_TOLD_APART * values[0]):
        flaws.append(_describe_combination(rows[k] / lengths[used], [names[i] for i in used.tolist()]))
    if J.shape[0] < J.shape[1]:
        flaws.append(Flaw("", f"{J.shape[0]} samples cannot determine {J.shape[1]} parameters", "measure more"))
    return flaws


def _describe_combination(way: Array, names: Sequence[str]) -> Flaw:
    """A direction in scaled parameters as changes in percent, the largest of them 1 %."""
    way = way / way[np.argmax(np.abs(way))]
    parts = [(name, share) for name, share in zip(names, way, strict=True) if abs(share) > NAMED]
    changes = ", ".join(f"{name} {share:+.3g} %" for name, share in parts)
    what = f"cannot be told apart: the data do not change with {changes} together"
    return Flaw(", ".join(name for name, _ in parts), what, "keep one of them fixed, or measure something else too")


def describe_correlations(correlation: Array, names: Sequence[str]) -> list[str]:
    """A sentence for each pair of parameters whose estimates are nearly one."""
    return [
        f"{names[i]} and {names[j]} are hard to tell apart: their correlation is {correlation[i, j]:+.4f}"
        for i, j in combinations(range(len(names)), 2)
        if abs(correlation[i, j]) > STRONG
    ]


# --------------------------------------------------------------------------------------------------
# Fit, as a result: values with their intervals, how well signals are met, what every start led to; text and file.


@frozen
class FittedParameter(IntervalEstimate):
    """One parameter, and whether it lies at a bound.

    Attributes:
        spread: largest relative difference of the estimate among the starts that found the best fit.
    """

    at_bound: bool
    spread: float


@frozen
class FittedSignal:
    """How well one signal is met: root mean square of the residual, noise taken, share of the variance explained."""

    name: str
    unit: str
    samples: int
    rms: float
    noise: float
    r_squared: float


@frozen
class FitStart:
    """The outcome of one start: cost is half the sum of squared weighted residuals; None where it failed."""

    begin: tuple[float, ...]
    values: tuple[float, ...]
    cost: float | None
    evaluations: int
    message: str


@frozen(eq=False)
class FittedRecording:
    """One recording: as measured, as simulated with the estimates at the measured times, and how well it is met.

    Attributes:
        residuals: measured minus simulated, (n_samples, n_signals), NaN where a sample takes no part.
        held_out: errors of the simulation at samples that took no part in the fit.
    """

    label: str
    measured: Run
    run: Run
    residuals: Array
    held_out: tuple[SignalError, ...] = ()


@frozen
class HeldOutError:
    """The error of a signal of one recording."""

    JSON = """
    *error
    recording
    """
    error: SignalError
    recording: str


@frozen(eq=False)
class Fit(Displayed):
    """The best fit of all starts.

    Attributes:
        cost: half the sum of squared residuals by the noise; best: the start it came from; agreeing: how many found it.
        correlation: of the estimates, (n, n); jacobian: "exact", or why it was taken by differences.
        doubt: why the intervals are not 95 % intervals, empty where nothing speaks against them.
    """

    JSON = """
    parameters
    correlation
    signals
    held_out
    starts
    cost
    best_start = best
    agreeing_starts = agreeing
    jacobian
    doubt: why the intervals are not 95 % intervals, or empty
    warnings
    """
    parameters: tuple[FittedParameter, ...]
    correlation: Array
    signals: tuple[FittedSignal, ...]
    starts: tuple[FitStart, ...]
    cost: float
    best: int
    agreeing: int
    jacobian: str
    doubt: str
    warnings: tuple[str, ...]
    recordings: tuple[FittedRecording, ...]

    def __repr__(self) -> str:
        values = ", ".join(f"{p.name} = {p.value:.6g} ± {p.deviation:.2g}" for p in self.parameters)
        return f"<Fit: {values}; {self.agreeing} of {len(self.starts)} starts agree>"

    @property
    def values(self) -> dict[str, float]:
        """Estimates by name."""
        return {parameter.name: parameter.value for parameter in self.parameters}

    @property
    def common_values(self) -> dict[str, float]:
        """Estimates that are not of single recordings, as `Scenario.with_numbers` takes them."""
        return {name: value for name, value in self.values.items() if OF_RECORDING not in name}

    @property
    def held_out(self) -> tuple[HeldOutError, ...]:
        """Errors at samples that took no part in the fit, of all recordings."""
        return tuple(HeldOutError(error, r.label) for r in self.recordings for error in r.held_out)


ENDINGS = (".toml", ".json")


def write_fit(fit: Fit, path: str | Path) -> Path:
    """Everything that was found, in a JSON file."""
    path = Path(path)
    if path.suffix != ".json":
        refuse(str(path), "must end in .json", "`robodyn fit --out` writes a scenario as TOML")
    write_file(path, json.dumps(to_plain(fit), indent=2) + "\n")
    return path


def describe_numbers(fit: Fit) -> str:
    """The fitted numbers and their intervals as comments of a TOML file."""
    lines = [f"# fitted to {', '.join(recording.label for recording in fit.recordings)}"]
    for p in fit.parameters:
        level = "by noise alone" if fit.doubt else "95 %"
        interval = "at its bound" if p.at_bound else f"{level}: {p.lower:.6g} .. {p.upper:.6g}"
        lines.append(f"# {p.name} = {p.value:.9g} {p.unit}".rstrip() + f", {interval}")
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------------------------------
# Confidence intervals and correlations at the best point of a fit, and how well signals and starts agree.


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
    z: Array,
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
    names = residuals.scales.names
    # The starts that found the best fit, to rounding or to a cost that the simulation's own error
    # makes.
    most = (starts[best].cost or 0.0) * (1 + SAME_COST) + (r.size * residuals.parts[0].variation.solver.rtol ** 2)
    agreeing = [start for start in starts if start.cost is not None and start.cost <= most]
    bound = space.at_bounds(z)
    parameters = tuple(
        _parameter(scale, float(z[k]), deviation, half, [s.values[k] for s in agreeing], bound[k])
        for k, (scale, deviation, half) in enumerate(
            zip(residuals.scales, spread.deviations.tolist(), spread.half_widths.tolist(), strict=True)
        )
    )
    signals = _signals(residuals, z)
    # How slopes were found, and what they take otherwise than it is.
    slopes = []
    for variation in (part.variation for part in residuals.parts):
        how = "; ".join(["exact", *variation.notes])
        slopes.append(how if variation.exact else f"central differences: {variation.reason}")
    slopes = list(dict.fromkeys(slopes))
    if residuals.stepwise:
        steps = ", ".join(names[k] for k in residuals.stepwise)
        slopes.append(f"{steps} acts in steps, at samples: differences of {100 * STEPWISE:.0f} %")
    # Signals that the fit does not meet: intervals then say nothing about the truth.
    remedy = "the intervals mean nothing; look at units and start values, or try more starts"
    misfit = [
        f"{s.name} is not met (R^2 = {s.r_squared:.3g}): {remedy}" for s in signals if not s.r_squared >= LEAST_SHARE
    ]
    # Bodies that the data would make impossible ones.
    limits = [
        f"the inertia of {free.body} lies at the limit of what is physically possible (one principal moment is the sum "
        "of the other two): intervals are those of changes along it; let more of its entries be free, or look at what "
        "else takes part in the motion"
        for free in limited
    ]
    return Fit(
        parameters=parameters,
        correlation=spread.correlation,
        signals=signals,
        starts=starts,
        cost=0.5 * float(r @ r),
        best=best,
        agreeing=len(agreeing),
        jacobian="; ".join(slopes),
        doubt=doubt,
        warnings=(
            *filter(None, [doubt]),
            *misfit,
            *limits,
            *_describe_unfinished(residuals, space, z, parameters),
            *_warnings(parameters, spread.correlation, names, starts, len(agreeing)),
        ),
        recordings=tuple(_recording(*one, data) for one, data in zip(residuals.each(z), whole, strict=True)),
    )


def _recording(part: RecordingResiduals, z: Array, whole: Run) -> FittedRecording:
    run = part.run(z)
    assert run is not None
    fitted = np.isfinite(part.data.values)
    proof = replace(whole, values=np.where(fitted, np.nan, whole.values))
    held_out = compare_signals(run, proof) if (np.isfinite(whole.values) & ~fitted).any() else ()
    return FittedRecording(part.label, whole, run, part.apart(z), held_out)


def _find_spread(
    residuals: Residuals, space: SearchSpace, z: Array, r: Array, J: Array, noise_given: bool
) -> tuple[Spread, str]:
    """The spread of the scaled parameters, along the directions in which they can move, and why they are not 95 %
    intervals."""
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
    steps = ", ".join(residuals.scales.names[k] for k in residuals.stepwise)
    stairs = f"{steps} acts in steps: intervals, by differences of {100 * STEPWISE:.0f} %, are not 95 % intervals"
    doubt = "" if exact else describe_doubt(spread, parts, shapes)
    return spread, doubt or (stairs if steps else "")


def _motion(residuals: Residuals, part: RecordingResiduals, z: Array) -> Array:
    """Simulated signals and their rates (n, all signals, 2)."""
    run = part.run(z)
    assert run is not None
    found = np.zeros((len(part.data.time), len(residuals.names), 2))
    for name in part.data.names if len(part.data.time) > 1 else ():
        y = run[name].values
        found[:, residuals.names.index(name)] = np.column_stack([y, np.gradient(y)])
    return found


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


def _signals(residuals: Residuals, z: Array) -> tuple[FittedSignal, ...]:
    units = {info.name: info.unit for part in residuals.parts for info in part.variation.compiled.system.signals}
    columns: dict[str, list[tuple[Array, Array]]] = {name: [] for name in residuals.names}
    for part, own in residuals.each(z):
        for name, errors in zip(part.data.names, part.apart(own).T, strict=True):
            columns[name].append((errors, part.data[name].values))
    signals = []
    for name, pairs in columns.items():
        # A recording's own mean is no merit of the fit.
        spread = [values - np.nanmean(values) for _, values in pairs]
        variance = float(np.nanmean(np.concatenate(spread) ** 2))
        square = float(np.nanmean(np.concatenate([errors for errors, _ in pairs]) ** 2))
        share = 1 - square / variance if variance > 0 else float("nan")
        count = int(sum(np.isfinite(values).sum() for _, values in pairs))
        signals.append(FittedSignal(name, units[name], count, square**0.5, residuals.noise[name], share))
    return tuple(signals)


def _describe_unfinished(
    residuals: Residuals, space: SearchSpace, z: Array, parameters: Sequence[FittedParameter]
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
    correlation: Array,
    names: Sequence[str],
    starts: Sequence[FitStart],
    agreeing: int,
) -> list[str]:
    warnings = [f"{p.name} lies at its bound: its interval means nothing" for p in parameters if p.at_bound]
    for p in parameters:
        if not p.at_bound and p.value and (p.upper - p.lower) / 2 > WIDE * abs(p.value):
            warnings.append(f"{p.name} is hardly known from these data: its interval is wider than the value")
    warnings += describe_correlations(correlation, names)
    failed = sum(start.cost is None for start in starts)
    if failed:
        warnings.append(f"{failed} of {len(starts)} starts failed: {next(s.message for s in starts if s.cost is None)}")
    if len(starts) - failed > 2 and agreeing < 2:
        warnings.append("no two starts led to the same fit: try more of them or narrower bounds")
    return warnings
