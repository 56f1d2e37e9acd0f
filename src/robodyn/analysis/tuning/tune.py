"""Controller tuning: which gains make a motion best, within limits on margins and on the motion itself?

The objective is a measure of the simulated motion, its slopes are the exact sensitivities through events and samples;
margins come from the sampled linear model. Several cases count at once: payloads, operating points, random draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from robodyn.analysis.checkpoint import Checkpoint, Memo
from robodyn.analysis.fitting.scaling import Bounds, Scale, make_scales
from robodyn.analysis.linear.gains import find_gains
from robodyn.analysis.sensitivity.variation import prepare_variation
from robodyn.analysis.sweeps.variation import Distribution, Factors, find_numbers, match_numbers
from robodyn.analysis.tuning.cases import Cases, make_cases
from robodyn.analysis.tuning.limits import Limit, read_limits
from robodyn.analysis.tuning.margin_limits import MarginLimits, make_margin_limits
from robodyn.analysis.tuning.performance import WINDOWS, Performance, count_windows
from robodyn.analysis.tuning.result import Tuning
from robodyn.analysis.tuning.search import KEPT, Problem, find_allowed, minimise_largest, spread_starts
from robodyn.analysis.tuning.summary import summarise_tuning
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.base.waiting import told_if_slow
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation.measures import Measure, find_measures
from robodyn.description.model import Number, Scenario, Solver, describe

GAINS = "gains"
"""Stands for all gains of sampled blocks."""
REACH = 10.0
"""Gains without bounds are looked for up to this part and this multiple of the given value."""
POINTS = 2001
OVER = ("worst", "mean")
PLACES = ("start", "equilibrium")


@dataclass(frozen=True)
class TuneProgress:
    """How far a tuning is: evaluations of all cases, the given gains' objective, and the best that keeps all limits."""

    evaluations: int
    first: float
    best: float
    unit: str


@told_if_slow("tuning")
def tune_gains(
    what: Scenario | System,
    free: Sequence[str],
    minimise: str,
    *,
    limits: Sequence[str] = (),
    bounds: Mapping[str, Bounds] | None = None,
    vary: Mapping[str, Sequence[float] | Factors] | None = None,
    random: Mapping[str, Distribution] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    over: str = "worst",
    starts: int = 1,
    at: Sequence[str | float] = ("start",),
    friction: str = "none",
    points: int = POINTS,
    solver: Solver | None = None,
    state: str | Path | None = None,
    progress: Callable[[TuneProgress], None] | None = None,
) -> Tuning:
    """Choose numbers of a scenario, such as gains, so that a measure of its motion is smallest.

    Args:
        what: the scenario, or its system.
        free: numbers, also by patterns, or "gains" for all gains of sampled blocks.
        minimise: `kind:signal`, such as "rms:deviation.vertical".
        limits: texts such as "margin>=6 dB", "phase>=45 deg", "peak:axis1.torque<=10 N m"; see `tuning.limits`.
        bounds: name -> (lower, upper); a tenth to ten times of the given value by default.
        vary, random, runs, seed: cases, as `plan_sweep` takes them; every one is simulated and linearised.
        over: "worst" minimises the worst case, "mean" the mean of all.
        starts: how many searches; those after the first begin at quasi-random places within the bounds.
        at: where loops are cut: "start", "equilibrium" or times of the motion [s]; friction: as `linearise_sampled`.
        points: times at which signals are read, equally spaced.
        state: file that keeps what was computed; the same call goes on where it was interrupted.

    Raises:
        ModelError: names or measures that are not there, margins that no gains keep, with the nearest that some do.
    """
    system = what if isinstance(what, System) else assemble(what)
    varied = (vary, random, runs, seed)
    names, measure, kept, cases = _check(system, free, minimise, limits, varied, over, at, (starts, points))
    on_measures = [(limit, limit.what) for limit in kept if isinstance(limit.what, Measure)]
    measures = [measure, *(what for _, what in on_measures)]
    windows = [count_windows(measure), *(count_windows(what, limit.least) for limit, what in on_measures)]
    signals = tuple(dict.fromkeys(m.signal for m in measures))
    variation = prepare_variation(cases.system, names, signals, solver)
    scales = _make_scales(variation.numbers, bounds or {})
    begin = np.array([scale.scaled(scale.number.value) for scale in scales])
    on_margins = [limit for limit in kept if isinstance(limit.what, str)]
    settings = [
        describe(cases.system.scenario),
        names,
        minimise,
        list(limits),
        [(s.lower, s.upper) for s in scales],
        over,
    ]
    changes = [dict(c) for c in cases.changes]
    memo = Memo(Checkpoint("tuning", state, settings, changes, list(at), friction, points, str(variation.solver)))
    margins = make_margin_limits(variation, on_margins, scales, cases, at, friction, memo) if on_margins else None
    times = np.linspace(0.0, system.scenario.duration, points)
    performance = Performance(variation, scales, measures, windows, cases, times, memo)
    problem = Problem(performance, margins, [limit for limit, _ in on_measures], 1.0, over == "mean")
    first, slack = find_allowed(problem, scales, begin, seed or 0)
    if slack < -KEPT:
        raise _no_margins(margins, scales, first)
    _set_first(problem, begin)
    others = [find_allowed(problem, scales, z, seed or 0)[0] for z in spread_starts(scales, starts - 1, seed or 0)]
    best = _search(problem, scales, [first, *others], progress)
    return summarise_tuning(problem, scales, begin, best, measure, over)


def _check(
    system: System,
    free: Sequence[str],
    minimise: str,
    limits: Sequence[str],
    varied: tuple[
        Mapping[str, Sequence[float] | Factors] | None, Mapping[str, Distribution] | None, int | None, int | None
    ],
    over: str,
    at: Sequence[str | float],
    counts: tuple[int, int],
) -> tuple[list[str], Measure, list[Limit], Cases]:
    """Names of gains, the measure, the limits and the cases; all that is wrong is reported at once."""
    flaws, scenario, (starts, points) = FlawList(), system.scenario, counts
    names = _find_free(flaws, system, free)
    found = find_measures(flaws, [minimise], system)
    if len(found) > 1:
        flaws.add(f"minimise {minimise}", f"names {len(found)} signals", "name one")
    kept = read_limits(flaws, limits, system)
    for one in (*found, *(limit.what for limit in kept)):
        if isinstance(one, Measure) and one.kind == "time_of_peak":
            flaws.add(one.name, "has no slopes by the gains: it leaps from row to row", "name another measure")
    cases = make_cases(flaws, system, *varied)
    for name in set(names) & set(cases.names):
        flaws.add(name, "is both free and varied", "leave it out of one")
    if over not in OVER:
        flaws.add("over", f"must be {' or '.join(OVER)}, is '{over}'")
    for place in at:
        if isinstance(place, str) and place not in PLACES:
            flaws.add("at", f"must be {', '.join(PLACES)} or a time [s], is '{place}'")
    if starts < 1:
        flaws.add("starts", f"must be at least 1, is {starts}")
    if points < WINDOWS:
        flaws.add("points", f"must be at least {WINDOWS}, is {points}")
    if any(isinstance(limit.what, str) for limit in kept) and not system.discrete.tasks:
        flaws.add("limits", "no block is sampled, so that no loop can be cut", "leave limits on margins out")
    flaws.raise_if_any(f"tuning of '{scenario.name}'")
    return names, found[0], kept, cases


def _find_free(flaws: FlawList, system: System, free: Sequence[str]) -> list[str]:
    known = find_numbers(system)
    gains = [f"{b.name}.{gain}" for b in system.scenario.machine.blocks if b.sampled for gain in find_gains(b)]
    found: dict[str, None] = {}
    for key in (free,) if isinstance(free, str) else free:
        if key == GAINS:
            found |= dict.fromkeys(gains)
            if not gains:
                flaws.add("free", "no sampled block has gains", "name numbers")
        else:
            found |= dict.fromkeys(number.name for number in match_numbers(flaws, key, known))
    if not free:
        flaws.add("free", "names no number", "name gains, or 'gains' for all of them")
    return list(found)


def _make_scales(numbers: Sequence[Number], bounds: Mapping[str, Bounds]) -> tuple[Scale, ...]:
    """Bounds by patterns; without any, a decade to both sides."""
    flaws, given = FlawList(), dict(bounds)
    used: set[str] = set()
    for number in numbers:
        match = next((key for key in bounds if fnmatchcase(number.name, key)), None)
        if match is not None:
            used.add(match)
            given[number.name] = bounds[match]
        elif number.value == 0:
            flaws.add(number.name, "is 0, around which there is no range to look in", "give its bounds")
        else:
            ends = (number.value / REACH, number.value * REACH)
            given[number.name] = (min(ends), max(ends))
    flaws.raise_if_any("tuning")
    names = {number.name for number in numbers}
    return make_scales(numbers, {key: pair for key, pair in given.items() if key in names or key not in used})


def _set_first(problem: Problem, begin: Floats) -> None:
    """The given gains' objective, by which all are divided, and what limits of 'now' are now."""
    values = problem.performance.values(begin)
    if values is None:
        raise ModelError([Flaw("", f"with the given gains: {problem.performance.failure}")], "tuning")
    first = float(problem.goals(begin).max())
    if not abs(first) > 0:
        raise ModelError([Flaw("minimise", "is 0 with the given gains: there is nothing to improve")], "tuning")
    problem.first = abs(first)
    spans = problem.performance.spans[1:]
    worst = [
        float(values[:, s].min() if limit.least else values[:, s].max())
        for limit, s in zip(problem.limits, spans, strict=True)
    ]
    problem.limits = [limit.with_bound(value) for limit, value in zip(problem.limits, worst, strict=True)]


def _search(
    problem: Problem,
    scales: Sequence[Scale],
    starts: Sequence[Floats],
    progress: Callable[[TuneProgress], None] | None,
) -> Floats:
    """The best of all gains met that keep the limits; none at all is a ModelError."""
    met: list[tuple[float, float, Floats]] = []

    def goals(z: Floats) -> Floats:
        rows = problem.goals(z)
        met.append((float(problem.slack(z).min(initial=np.inf)), float(rows.max()), z.copy()))
        best = min((goal for slack, goal, _ in met if slack >= -KEPT), default=np.nan)
        if progress:
            measure = problem.performance.measures[0]
            done = problem.performance.evaluations
            progress(TuneProgress(done, problem.first, best * problem.first, measure.unit))
        return rows

    for start in starts:
        goals(minimise_largest(goals, problem.goal_slopes, start, scales, problem.slack, problem.slack_slopes))
    allowed = [entry for entry in met if entry[0] >= -KEPT]
    if not allowed:
        _, _, z = max(met, key=lambda entry: entry[0])
        flaw = Flaw("limits", _describe_missed(problem, scales, z), "relax one, or free more gains")
        raise ModelError([flaw], "tuning")
    return min(allowed, key=lambda entry: entry[1])[2]


def _describe_missed(problem: Problem, scales: Sequence[Scale], z: Floats) -> str:
    values = problem.performance.values(z)
    parts = []
    for limit, span in zip(problem.limits, problem.performance.spans[1:], strict=True):
        if values is not None:
            worst = float(values[:, span].min() if limit.least else values[:, span].max())
            parts.append(f"{limit.text}: {worst:.4g} {limit.unit}")
    return f"no gains were found that keep them all; nearest: {'; '.join(parts)} with {describe_gains(scales, z)}"


def _no_margins(margins: MarginLimits | None, scales: Sequence[Scale], z: Floats) -> ModelError:
    """Which limit is missed most by the gains that come nearest to keeping all of them."""
    rows: list[tuple[Limit, str]] = list(margins.rows) if margins else []
    worst = margins.values(z).min(axis=0) if margins else np.zeros(0)
    flaws = [
        Flaw(
            f"limit {limit.text}",
            f"no gains within their bounds were found that keep it: {name} has {value:.4g} {limit.unit} with those "
            f"that come nearest, {describe_gains(scales, z)}",
            f"ask for at most {value:.3g} {limit.unit}, widen the bounds or free other gains",
        )
        for (limit, name), value in zip(rows, worst, strict=True)
        if limit.slack(np.array([value]))[0] < -KEPT
    ]
    return ModelError(flaws, "tuning")


def describe_gains(scales: Sequence[Scale], z: Floats) -> str:
    """`name = value` of all."""
    return ", ".join(f"{s.number.name} = {s.value(float(zk)):.4g}" for s, zk in zip(scales, z, strict=True))
