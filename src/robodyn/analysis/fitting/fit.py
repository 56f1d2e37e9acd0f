"""Bounded least squares from several starts: which parameters make a simulation agree with measured signals?

    minimise 1/2 sum_k r_k(p)^2,    r_k = (y(t_k; p) - measured_k) / noise

by a trust region (Branch, Coleman and Li 1999) with exact slopes through the simulation, sampled controllers, delays
and events included, in coordinates in which every body is a possible one. Intervals and correlations are those of the
linearised problem at the best fit.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.analysis.checkpoint import Checkpoint
from robodyn.analysis.measurement.measured import at_ticks, describe_rates
from robodyn.analysis.sensitivity.variation import assemble_tunable
from robodyn.base import Array, Flaw, ModelError, frozen, refuse, report_progress
from robodyn.computation.results import Run
from robodyn.description.model import Scenario, Solver, describe

from .residuals import (
    Experiment,
    Noise,
    Residuals,
    check_request,
    list_experiments,
    make_residuals,
    split_experiments,
    spread_noise,
)
from .result import Fit, FitStart, find_idle, find_unidentifiable, summarise_fit
from .search_space import Bounds, SearchSpace, make_search_space

TOLERANCE = 1e-9
"""Relative change of cost or parameters at which a search ends."""
MOST_EVALUATIONS = 200
NUDGE = 0.05
"""Second place at which effects are looked for: a parameter may have none at one special value."""
REWEIGHINGS = 5
STEADY_NOISE = 0.01


@frozen
class FitProgress:
    """How far a fit is: start number of how many, simulations of this start, and its lowest cost so far."""

    start: int
    starts: int
    evaluations: int
    cost: float


@report_progress("fitting")
def fit_parameters(
    scenario: Scenario,
    data: Run | Experiment | Sequence[Run | Experiment],
    free: Sequence[str],
    *,
    each: Sequence[str] = (),
    bounds: Mapping[str, Bounds] | None = None,
    starts: int = 1,
    noise: Noise = None,
    inputs: Sequence[str] = (),
    held_out: float = 0.0,
    seed: int = 0,
    solver: Solver | None = None,
    state: str | Path | None = None,
    progress: Callable[[FitProgress], None] | None = None,
    workers: int = 1,
    exact: bool = True,
) -> Fit:
    """Fit numbers of a scenario to measured signals of one or several recordings.

    Args:
        data: runs whose signals are named like simulated ones, such as `read_measured` gives; NaN is a missing sample.
            A simulation lasts as long as its recording. An `Experiment` has numbers of its own beside the recording.
        free: numbers to fit, also `initial.<state>`; the scenario's own values are the first start.
        each: numbers to fit that every recording has its own value of.
        bounds: name -> (lower, upper). Positive numbers stay positive without any.
        starts: how many searches; those after the first begin at quasi-random places within the bounds.
        noise: standard deviation of each signal's noise, for all or by name; None estimates it from the residuals.
        inputs: measured signals that take the place of computed ones, see `drive_by_data`; they are not fitted to.
        held_out: share of each recording, at its end, that takes no part in the fit and is predicted.
        state: file that keeps finished starts; the same call goes on where it was interrupted.
        workers: threads; starts, or else recordings, are simulated side by side, to the same result.
        exact: whether slopes are exact where they can be; else they are central differences.

    Raises:
        ModelError: unknown names, data that do not fit the scenario, saturated efforts, parameters without effect or
            that cannot be told apart, or a simulation that fails at every start.
    """
    experiments = list_experiments(data)
    system = assemble_tunable(scenario, [*free, *each])
    experiments = [dataclasses.replace(one, data=at_ticks(system, one.data)) for one in experiments]
    check_request(system, experiments, free, each, starts)
    fitted, whole = split_experiments(experiments, inputs, held_out)
    residuals = make_residuals(
        system, experiments, fitted, free, each, dict(bounds or {}), noise, inputs, solver, exact
    )
    # Residuals can be simulated now: are the parameters identifiable at all?
    with _threads(workers, residuals) as residuals.pool:
        space = make_search_space(scenario, residuals.scales)
        _check_effects(residuals)
        # Searches from all starts, each kept as soon as it is done.
        checkpoint = Checkpoint("fit", state, *_deciding(scenario, residuals, free, each, seed))
        starts_done = [FitStart(tuple(begin), tuple(values), *rest) for begin, values, *rest in checkpoint.kept or []]
        points = space.draw_starts(starts, seed)
        for start in _search_all(
            residuals, space, points[len(starts_done) :], len(starts_done), starts, progress, workers
        ):
            starts_done.append(start)
            checkpoint.save([dataclasses.astuple(start) for start in starts_done])
        # From the best of them: stepwise parameters by wide differences, signals weighed by their own noise.
        costs = [np.inf if start.cost is None else start.cost for start in starts_done[:starts]]
        best = int(np.argmin(costs))
        if not np.isfinite(costs[best]):
            refuse("", f"the simulation failed at every start: {starts_done[0].message}", source="fit")
        z = residuals.scales.scaled(starts_done[best].values)
        residuals.stepwise = tuple(sorted({*residuals.stepwise, *_find_stepwise(residuals, z)}))
        residuals, z = _weigh(residuals, space, z, noise)
        _check_end(residuals, z)
        fit = summarise_fit(residuals, space, z, tuple(starts_done[:starts]), best, noise is not None, whole)
        notes = [note for one in fitted for note in describe_rates(scenario, one)]
    return dataclasses.replace(fit, warnings=(*fit.warnings, *dict.fromkeys(notes)))


@contextmanager
def _threads(workers: int, residuals: Residuals) -> Iterator[Executor | None]:
    """Threads for recordings, none where one thread is all that can work."""
    if workers < 1:
        refuse("workers", f"must be at least 1, is {workers}", source="fit")
    if min(workers, len(residuals.parts)) == 1:
        yield None
        return
    with ThreadPoolExecutor(workers) as pool:
        yield pool


def _deciding(
    scenario: Scenario, residuals: Residuals, free: Sequence[str], each: Sequence[str], seed: int
) -> tuple[Any, ...]:
    """All that decides what the starts of this fit lead to."""
    bounds = {s.number.name: (s.lower, s.upper) for s in residuals.scales}
    settings = [describe(scenario), sorted(free), sorted(each), bounds]
    parts = [[part.data.names, part.data.time, part.data.values, part.given, part.noise] for part in residuals.parts]
    return settings, parts, seed, dataclasses.asdict(residuals.parts[0].variation.solver)


def _search_all(
    residuals: Residuals,
    space: SearchSpace,
    points: Array,
    done: int,
    starts: int,
    progress: Callable[[FitProgress], None] | None,
    workers: int,
) -> Iterator[FitStart]:
    """Search from each start, in their order: side by side where there are several and threads for them."""

    stopped = threading.Event()

    def search(k: int) -> FitStart:
        own = residuals if len(points) == 1 else residuals.copy(stopped.is_set)
        own.on_run = _reporter(progress, own, done + k, starts)
        return _search(own, space, points[k])

    if min(workers, len(points)) <= 1:
        yield from map(search, range(len(points)))
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(search, range(len(points)))
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)


def _check_effects(residuals: Residuals) -> None:
    """Refuse parameters without effect, or not distinguished, both at the given values and near them."""
    scales = residuals.scales
    names, first = scales.names, scales.given
    if not residuals.carried_through(first):
        refuse("", f"with the given values: {residuals.failure}", source="fit")
    residuals.stepwise = _find_stepwise(residuals, first)
    flaws = find_unidentifiable(residuals.slopes(first), names)
    lower, upper = scales.limits
    way = np.where(first + NUDGE <= upper, NUDGE, -NUDGE) * np.linspace(1.0, 0.5, len(scales))
    near = np.clip(first + way, lower, upper)
    special = flaws and residuals.carried_through(near) and not find_unidentifiable(residuals.slopes(near), names)
    if flaws and not special:
        raise ModelError(flaws, "fit")


def _check_end(residuals: Residuals, z: Array) -> None:
    """Refuse a search that came to where parameters have lost their effect, with the values there."""
    flaws = find_unidentifiable(residuals.slopes(z), residuals.scales.names)
    if not flaws:
        return
    values_at_end = ", ".join(f"{name} = {value:.4g}" for name, value in residuals.scales.named(z).items())
    remedy = "near the given values the data do determine it: start closer to them, or give bounds or more starts"
    flaws = [Flaw(flaw.path, flaw.what, remedy) for flaw in flaws]
    raise ModelError(flaws, f"fit: where the search ended, at {values_at_end}")


def _find_stepwise(residuals: Residuals, z: Array) -> tuple[int, ...]:
    """Parameters whose small changes do nothing and whose finite ones do: they act where a sample exceeds something."""
    idle = find_idle(residuals.slopes(z))
    return tuple(k for k in idle if not find_idle(residuals.difference(z, k)[:, None]))


def _reporter(
    progress: Callable[[FitProgress], None] | None, residuals: Residuals, start: int, starts: int
) -> Callable[[], None] | None:
    if progress is None:
        return None
    before = residuals.evaluations

    def report() -> None:
        progress(FitProgress(start + 1, starts, residuals.evaluations - before, residuals.lowest))

    return report


def _search(residuals: Residuals, space: SearchSpace, begin: Array) -> FitStart:
    """One search from coordinates y; a start at which the simulation fails is kept as failed."""
    from scipy.optimize import least_squares

    before, residuals.lowest = residuals.evaluations, float("inf")
    lower, upper = space.limits
    begin = np.clip(begin, lower, upper)
    values = tuple(space.scales.values(space.scaled(begin)).tolist())
    if not residuals.carried_through(space.scaled(begin)):
        return FitStart(values, values, None, residuals.evaluations - before, residuals.failure)
    options: dict[str, Any] = {"ftol": TOLERANCE, "xtol": TOLERANCE, "gtol": TOLERANCE, "max_nfev": MOST_EVALUATIONS}

    # The first step is as long as the start is far from the origin: count from a place 1 before it in each coordinate.
    origin = begin - 1.0

    def deviate(way: Array) -> Array:
        return residuals(space.scaled(origin + way))

    def slope(way: Array) -> Array:
        return residuals.slopes(space.scaled(origin + way)) @ space.slopes(origin + way)

    limits = lower - origin, upper - origin
    first = np.clip(np.ones(len(begin)), *limits)
    fit = least_squares(deviate, first, slope, limits, method="trf", **options)
    z = space.scaled(origin + fit.x)
    steps = _find_stepwise(residuals, z)
    if set(steps) - set(residuals.stepwise):
        # On a stair of the cost, where small changes do nothing, wide ones show the way on.
        residuals.stepwise = tuple(sorted({*residuals.stepwise, *steps}))
        further = _search(residuals, space, space.coordinates(z))
        return dataclasses.replace(further, begin=values, evaluations=residuals.evaluations - before)
    optimum = tuple(space.scales.values(z).tolist())
    return FitStart(values, optimum, float(fit.cost), residuals.evaluations - before, str(fit.message))


def _weigh(residuals: Residuals, space: SearchSpace, z: Array, noise: Noise) -> tuple[Residuals, Array]:
    """Weigh each signal by its own residual and search again, until the weights stay."""
    if noise is not None:
        return residuals, z
    if len(residuals.names) == 1:
        return residuals.with_noise(spread_noise(residuals, z)), z
    for _ in range(REWEIGHINGS):
        level = spread_noise(residuals, z)
        steady = all(abs(level[name] / old - 1) < STEADY_NOISE for name, old in residuals.noise.items())
        residuals = residuals.with_noise(level)
        if steady:
            break
        found = _search(residuals, space, space.coordinates(z))
        z = residuals.scales.scaled(found.values)
    return residuals, z
