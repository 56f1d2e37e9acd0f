"""Bounded least squares from several starts: which parameters make a simulation agree with measured signals?

    minimise 1/2 sum_k r_k(p)^2,    r_k = (y(t_k; p) - measured_k) / noise

by a trust region (Branch, Coleman and Li 1999) with exact slopes through the simulation, sampled controllers, delays
and events included, in coordinates in which every body is a possible one. Intervals and correlations are those of the
linearised problem at the best fit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.fitting.identifiability import find_unidentifiable
from robodyn.analysis.fitting.residuals import Residuals
from robodyn.analysis.fitting.result import Fit, FitStart
from robodyn.analysis.fitting.scaling import Bounds, Scale, make_scales
from robodyn.analysis.fitting.search_space import SearchSpace, make_search_space
from robodyn.analysis.fitting.state import fingerprint, load_starts, save_starts
from robodyn.analysis.fitting.summary import summarise_fit
from robodyn.analysis.measurement.driven import drive_by_data
from robodyn.analysis.measurement.measured import match_measured, without
from robodyn.analysis.measurement.prediction import compare_signals
from robodyn.analysis.sensitivity.parameters import check_quaternions
from robodyn.analysis.sensitivity.variation import prepare_variation
from robodyn.assembly import assemble
from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.model import Scenario, Solver, describe
from robodyn.results import Run
from robodyn.results.signal import Floats
from robodyn.waiting import told_if_slow

TOLERANCE = 1e-9
"""Relative change of cost or parameters at which a search ends."""
MOST_EVALUATIONS = 200
NUDGE = 0.05
"""Second place at which effects are looked for: a parameter may have none at one special value."""
REWEIGHINGS = 5
STEADY_NOISE = 0.01


@dataclass(frozen=True)
class FitProgress:
    """How far a fit is: start number of how many, simulations of this start, and its lowest cost so far."""

    start: int
    starts: int
    evaluations: int
    cost: float


@told_if_slow("fitting")
def fit_parameters(
    scenario: Scenario,
    data: Run,
    free: Sequence[str],
    *,
    bounds: Mapping[str, Bounds] | None = None,
    starts: int = 1,
    noise: Mapping[str, float] | float | None = None,
    inputs: Sequence[str] = (),
    held_out: float = 0.0,
    seed: int = 0,
    solver: Solver | None = None,
    state: str | Path | None = None,
    progress: Callable[[FitProgress], None] | None = None,
) -> Fit:
    """Fit numbers of a scenario to measured signals.

    Args:
        data: a run whose signals are named like simulated ones, such as `read_measured` gives; NaN is a missing sample.
            The simulation lasts as long as the data.
        free: numbers to fit, also `initial.<state>`; the scenario's own values are the first start.
        bounds: name -> (lower, upper). Positive numbers stay positive without any.
        starts: how many searches; those after the first begin at quasi-random places within the bounds.
        noise: standard deviation of each signal's noise, for all or by name; None estimates it from the residuals.
        inputs: measured signals that take the place of computed ones, see `drive_by_data`; they are not fitted to.
        held_out: share of the data, at its end, that takes no part in the fit and is predicted.
        state: file that keeps finished starts; the same call goes on where it was interrupted.

    Raises:
        ModelError: unknown names, data that do not fit the scenario, parameters without effect or that cannot be
        reported
            apart, or a simulation that fails at every start.
    """
    if inputs:
        scenario, data = drive_by_data(scenario, data, inputs), without(data, inputs)
    everything, data = data, _first_part(data, held_out)
    scenario = _matching(scenario, data, free, noise, starts)
    variation = prepare_variation(scenario, free, data.names, solver)
    scales = make_scales(variation.numbers, dict(bounds or {}))
    space = make_search_space(scenario, scales)
    residuals = Residuals(variation, data, scales, _first_noise(data, noise))
    _check_effects(residuals, scales)
    settings = [describe(scenario), sorted(free), {s.number.name: (s.lower, s.upper) for s in scales}]
    about_data = [data.names, data.time.tolist(), data.values.tolist()]
    mark = fingerprint(settings, about_data, residuals.noise.tolist(), seed, dataclasses.asdict(variation.solver))
    path = None if state is None else Path(state)
    found = load_starts(path, mark)
    points = space.draw_starts(starts, seed)
    for k in range(len(found), starts):
        residuals.on_run = _reporter(progress, residuals, k, starts)
        found.append(_search(residuals, space, points[k]))
        save_starts(path, mark, found)
    z, best = _choose_best(found[:starts], scales)
    if noise is None and len(data.names) > 1:
        residuals, z = _reweigh(residuals, space, z)
    elif noise is None:
        residuals = dataclasses.replace(residuals, noise=_estimate_noise(residuals, z), _kept=None)
    flaws = find_unidentifiable(residuals.slopes(z), [scale.number.name for scale in scales])
    if flaws:
        raise ModelError(flaws, "fit: at the best fit found")
    fit = summarise_fit(residuals, space, z, tuple(found[:starts]), best, noise is not None)
    proof = replace(everything, values=np.where(np.isfinite(data.values), np.nan, everything.values))
    return replace(fit, measured=everything, held_out=compare_signals(fit.run, proof) if held_out else ())


def _first_part(data: Run, held_out: float) -> Run:
    """The data with its last samples missing."""
    if not 0 <= held_out < 1:
        raise ModelError([Flaw("held_out", f"must be at least 0 and below 1, is {held_out:g}")], "fit")
    edge = int(round((1 - held_out) * len(data.time)))
    late = np.arange(len(data.time))[:, None] >= edge
    return replace(data, values=np.where(late, np.nan, data.values)) if held_out else data


def _matching(
    scenario: Scenario, data: Run, free: Sequence[str], noise: Mapping[str, float] | float | None, starts: int
) -> Scenario:
    """The scenario for as long as the data last; what does not match is refused."""
    flaws = FlawList()
    if isinstance(free, str) or not free:
        flaws.add("free", "must name at least one number to fit")
    elif len(set(free)) < len(free):
        flaws.add("free", "names a number twice")
    if starts < 1:
        flaws.add("starts", f"must be at least 1, is {starts}")
    given = dict(noise) if isinstance(noise, Mapping) else {name: noise for name in data.names if noise is not None}
    for name, level in given.items():
        if name not in data.names:
            flaws.add(f"noise.{name}", "is no signal of the data", nearest(name, data.names))
        elif not level > 0:
            flaws.add(f"noise.{name}", f"must be positive, is {level:g}")
    for name in data.names if isinstance(noise, Mapping) else ():
        if name not in given:
            flaws.add(f"noise.{name}", "is missing", "give it for every signal or for none")
    check_quaternions(scenario, free, flaws)
    if "duration" in free:
        flaws.add("duration", "is that of the data", "leave it out of free")
    flaws.raise_if_any("fit")
    match_measured(data, {info.name: info.unit for info in assemble(scenario).signals})
    if data.time[-1] <= 0:
        raise ModelError([Flaw("time", "has nothing after the start")], "measured data")
    recording = dataclasses.replace(scenario.recording, times=None, rate=None, refine=None)
    return dataclasses.replace(scenario, duration=float(data.time[-1]), recording=recording)


def _first_noise(data: Run, noise: Mapping[str, float] | float | None) -> Floats:
    """What residuals are divided by: the noise given, else each signal's own spread, so that all count alike."""
    if noise is not None:
        return np.array([noise[name] if isinstance(noise, Mapping) else noise for name in data.names], float)
    spread = np.nanstd(data.values, axis=0)
    return np.where(spread > 0, spread, 1.0)


def _check_effects(residuals: Residuals, scales: Sequence[Scale]) -> None:
    """Refuse parameters without effect, or not distinguished, both at the given values and near them."""
    names = [scale.number.name for scale in scales]
    first = np.array([scale.scaled(scale.number.value) for scale in scales])
    if residuals.run(first) is None:
        raise ModelError([Flaw("", f"with the given values: {residuals.failure}")], "fit")
    flaws = find_unidentifiable(residuals.slopes(first), names)
    limits = np.array([scale.limits for scale in scales])
    way = np.where(first + NUDGE <= limits[:, 1], NUDGE, -NUDGE) * np.linspace(1.0, 0.5, len(scales))
    near = np.clip(first + way, limits[:, 0], limits[:, 1])
    special = flaws and residuals.run(near) is not None and not find_unidentifiable(residuals.slopes(near), names)
    if flaws and not special:
        raise ModelError(flaws, "fit")


def _reporter(
    progress: Callable[[FitProgress], None] | None, residuals: Residuals, start: int, starts: int
) -> Callable[[], None] | None:
    if progress is None:
        return None
    before = residuals.evaluations

    def report() -> None:
        progress(FitProgress(start + 1, starts, residuals.evaluations - before, residuals.lowest))

    return report


def _search(residuals: Residuals, space: SearchSpace, begin: Floats) -> FitStart:
    """One search from coordinates y; a start at which the simulation fails is kept as failed."""
    from scipy.optimize import least_squares

    before, residuals.lowest = residuals.evaluations, float("inf")
    lower, upper = space.limits
    begin = np.clip(begin, lower, upper)
    values = tuple(space.values(space.scaled(begin)).tolist())
    if residuals.run(space.scaled(begin)) is None:
        return FitStart(values, values, None, residuals.evaluations - before, residuals.failure)
    options: dict[str, Any] = {"ftol": TOLERANCE, "xtol": TOLERANCE, "gtol": TOLERANCE, "max_nfev": MOST_EVALUATIONS}

    # The first step is as long as the start is far from the origin: count from a place 1 before it in each coordinate.
    origin = begin - 1.0

    def deviate(way: Floats) -> Floats:
        return residuals(space.scaled(origin + way))

    def slope(way: Floats) -> Floats:
        return residuals.slopes(space.scaled(origin + way)) @ space.slopes(origin + way)

    limits = lower - origin, upper - origin
    first = np.clip(np.ones(len(begin)), *limits)
    done = least_squares(deviate, first, slope, limits, method="trf", **options)
    found = tuple(space.values(space.scaled(origin + done.x)).tolist())
    return FitStart(values, found, float(done.cost), residuals.evaluations - before, str(done.message))


def _choose_best(found: Sequence[FitStart], scales: Sequence[Scale]) -> tuple[Floats, int]:
    costs = [np.inf if start.cost is None else start.cost for start in found]
    best = int(np.argmin(costs))
    if not np.isfinite(costs[best]):
        raise ModelError([Flaw("", f"the simulation failed at every start: {found[0].message}")], "fit")
    return np.array([s.scaled(value) for s, value in zip(scales, found[best].values, strict=True)]), best


def _estimate_noise(residuals: Residuals, z: Floats) -> Floats:
    """Root mean square of each signal's residual, the degrees of freedom shared among the signals."""
    apart = residuals.apart(z)
    counts = np.sum(np.isfinite(apart), axis=0)
    freedom = np.maximum(counts - len(residuals.scales) * counts / counts.sum(), 1.0)
    noise = np.sqrt(np.nansum(apart**2, axis=0) / freedom)
    # Data without noise are met to the accuracy of the simulation, not better.
    return np.maximum(
        noise, residuals.variation.solver.rtol * np.maximum(np.nanstd(residuals.data.values, axis=0), 1e-300)
    )


def _reweigh(residuals: Residuals, space: SearchSpace, z: Floats) -> tuple[Residuals, Floats]:
    """Weigh each signal by its own residual and search again, until the weights stay."""
    for _ in range(REWEIGHINGS):
        noise = _estimate_noise(residuals, z)
        steady = np.all(np.abs(noise / residuals.noise - 1) < STEADY_NOISE)
        residuals = dataclasses.replace(residuals, noise=noise, _kept=None)
        if steady:
            break
        found = _search(residuals, space, space.coordinates(z))
        z = np.array([s.scaled(value) for s, value in zip(residuals.scales, found.values, strict=True)])
    return residuals, z
