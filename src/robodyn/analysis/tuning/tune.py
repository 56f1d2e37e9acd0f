"""Tuning: which gains make a measure least while all limits are kept?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from robodyn.analysis.checkpoint import Checkpoint, Memo
from robodyn.analysis.fitting.search_space import Bounds, Scales, make_scales, spread_points
from robodyn.analysis.linear.margins import find_gains
from robodyn.analysis.sensitivity.variation import prepare_variation
from robodyn.analysis.sweeps.variation import Distribution, Factors, find_numbers, match_numbers
from robodyn.base import Array, Flaw, FlawList, ModelError, frozen, refuse, report_progress
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation.many import Measure, find_measures
from robodyn.description.model import Number, Scenario, Solver, describe

from .limits import MarginLimits, TuningLimit, make_margin_limits, read_limits
from .performance import WINDOWS, Performance, count_windows, make_cases

# --------------------------------------------------------------------------------------------------
# Tuning, as a result: gains before and after, what is left to each limit, and what each limit costs.


@frozen
class TunedGain:
    """One gain: before, after, its bounds, and how the objective changes with one percent more of it, all else kept."""

    name: str
    unit: str
    before: float
    after: float
    lower: float
    upper: float
    at_bound: bool
    per_percent: float


@frozen
class KeptLimit:
    """One limit: its bound, and what it limits before and after, in the worst case and place.

    Attributes:
        loop: held signal at which the loop is cut, or an empty text.
        active: whether it is what keeps the objective from being better; price: by how much the objective would grow,
            in its unit, with a unit more of the bound (less of an upper one).
    """

    text: str
    loop: str
    unit: str
    bound: float
    before: float
    after: float
    active: bool
    price: float


@frozen
class TunedCase:
    """The objective in one case, whose numbers differ by `changes`."""

    changes: dict[str, float]
    before: float
    after: float


@frozen(eq=False)
class Tuning:
    """The best gains found.

    Attributes:
        objective: `kind:signal`; before, after: of all cases, the worst or the mean of them.
        slopes: "exact", or why they were taken by differences; notes: sentences on how blocks that jump were taken.
        rest: what active limits do not explain of the objective's slope, relative, by the logarithms of the gains:
            0 at an optimum.
        evaluations: how many times all cases were simulated.
        runs: of the worst case before and after.
    """

    JSON = """
    objective
    unit
    over
    before
    after
    gains
    limits
    cases
    slopes
    notes
    rest
    evaluations
    """
    objective: str
    unit: str
    over: str
    before: float
    after: float
    gains: tuple[TunedGain, ...]
    limits: tuple[KeptLimit, ...]
    cases: tuple[TunedCase, ...]
    slopes: str
    notes: tuple[str, ...]
    rest: float
    evaluations: int
    runs: tuple[Run, Run]

    @property
    def values(self) -> dict[str, float]:
        """Gains by name, as `Scenario.with_numbers` takes them."""
        return {gain.name: gain.after for gain in self.gains}


# --------------------------------------------------------------------------------------------------
# Sequential quadratic programming: which gains are best within all limits? SLSQP (Kraft 1988) in scaled gains z.
#
#     minimise t,   Q_i(z) / Q_0 <= t  for every case and window,   g_j(z) >= 0
#
# with g_j the distance to limit j by its size. Before any motion is simulated, the limits on margins are asked whether
# any gains keep them: maximise s with g_j(z) >= s.


FAILED = 1e3
"""The value of a measure, by its first one, where a motion fails: the search turns back."""
KEPT = 1e-4
"""Part of its size by which a limit may be missed."""
STARTS, MOST_STEPS, SETTLED, MOST_SCALE = 8, 60, 1e-4, 300.0

RowFunction = Callable[[Array], Array]


@frozen
class TuningProblem:
    """Objective and limits as functions of z.

    Attributes:
        limits: on measures, one for each of the performance's measures but the first.
        first: the objective with the given gains, which all its rows are divided by.
        mean: whether the objective is the mean of the cases; else it is the worst of them.
    """

    performance: Performance
    margins: MarginLimits | None
    limits: Sequence[TuningLimit]
    first: float
    mean: bool

    def goals(self, z: Array) -> Array:
        """Rows of which the largest is minimised."""
        values = self.performance.values(z)
        if values is None:
            return np.full(1 if self.mean else len(self._flat(self.performance.slopes(z))), FAILED)
        rows = values[:, self.performance.spans[0]] / self.first
        return np.array([rows.max(axis=1).mean()]) if self.mean else rows.ravel()

    def goal_slopes(self, z: Array) -> Array:
        values, slopes = self.performance.values(z), self.performance.slopes(z)
        if values is None or not self.mean:
            return self._flat(slopes)[: 1 if self.mean else None] / self.first
        worst = np.argmax(values[:, self.performance.spans[0]], axis=1)
        return slopes[np.arange(len(slopes)), worst].mean(axis=0)[None] / self.first

    def _flat(self, slopes: Array) -> Array:
        return slopes[:, self.performance.spans[0]].reshape(-1, slopes.shape[-1])

    def margin_values(self, z: Array) -> list[LimitedRows]:
        """Every limit on margins, its loop and the margins in all cases and places."""
        if self.margins is None:
            return []
        columns = self.margins.values(z).T
        return [(limit, loop, column) for (limit, loop), column in zip(self.margins.rows, columns, strict=True)]

    def limited_values(self, z: Array) -> list[LimitedRows]:
        """Every limit and what it limits, in all cases and places or windows: margins, then measures."""
        values = self.performance.values(z)
        rows = self.margin_values(z)
        for limit, span in zip(self.limits, self.performance.spans[1:], strict=True):
            count = len(self.performance.cases.changes) * (span.stop - span.start)
            rows.append((limit, "", np.full(count, np.nan) if values is None else values[:, span].ravel()))
        return rows

    def margin_slack(self, z: Array) -> Array:
        """Distance of each margin to its limit, row after row."""
        return _slack(self.margin_values(z))

    def slack(self, z: Array) -> Array:
        """Distance to all limits: first the margins', then those of measures, case by case."""
        return _slack(self.limited_values(z))

    def margin_slopes(self, z: Array) -> Array:
        if self.margins is None:
            return np.zeros((0, len(z)))
        slopes = self.margins.slopes(z)
        return np.concatenate([slopes[:, k] / limit.size for k, (limit, _) in enumerate(self.margins.rows)])

    def slack_slopes(self, z: Array) -> Array:
        slopes = self.performance.slopes(z)
        rows = [self.margin_slopes(z)]
        for limit, span in zip(self.limits, self.performance.spans[1:], strict=True):
            sign = 1.0 if limit.least else -1.0
            rows.append(sign * slopes[:, span].reshape(-1, len(z)) / limit.size)
        return np.concatenate(rows)


LimitedRows = tuple[TuningLimit, str, Array]
"""A limit, the loop that it is on or an empty text, and the values it limits; nan where a motion fails."""


def _slack(rows: Sequence[LimitedRows]) -> Array:
    parts = [np.nan_to_num(limit.slack(values), nan=-FAILED) for limit, _, values in rows]
    return np.concatenate([np.zeros(0), *parts])


def find_allowed(problem: TuningProblem, scales: Scales, begin: Array, seed: int) -> tuple[Array, float]:
    """Gains nearest to the given ones that keep the margins; where none do, those that come nearest to it.

    Returns:
        z and the least slack of its margins.
    """
    best, least = begin, float(problem.margin_slack(begin).min(initial=np.inf))
    for point in (begin, *spread_starts(scales, STARTS, seed)) if least < -KEPT else ():
        allowed = minimise_largest(
            lambda z: -problem.margin_slack(z), lambda z: -problem.margin_slopes(z), point, scales
        )
        slack = float(problem.margin_slack(allowed).min())
        if slack > least:
            best, least = allowed, slack
        if least >= 0:
            # The allowed z that is nearest to a wanted one.
            near = _solve(
                lambda z: 0.5 * float(np.sum((z - begin) ** 2)),
                lambda z: z - begin,
                problem.margin_slack,
                problem.margin_slopes,
                best,
                scales.limits.T,
            )
            return (near if problem.margin_slack(near).min() >= -KEPT else best), least
    return best, least


def spread_starts(scales: Scales, count: int, seed: int) -> Array:
    """Places all over the bounds, (count, n)."""
    lower, upper = scales.regions
    return lower + spread_points(count, len(scales), seed) * (upper - lower)


def minimise_largest(
    rows: RowFunction,
    slopes: RowFunction,
    begin: Array,
    scales: Scales,
    slack: RowFunction | None = None,
    slack_slopes: RowFunction | None = None,
) -> Array:
    """The z with the smallest largest row, within bounds and with no negative slack.

    Rows are scaled so that the first step, along their steepest slope, is about one: a factor e of a gain.
    """
    steepest = float(np.linalg.norm(slopes(begin)[int(np.argmax(rows(begin)))]))
    scale = float(np.clip(1 / max(steepest, 1e-300), 1.0, MOST_SCALE))

    def within(x: Array) -> Array:
        kept = [slack(x[:-1])] if slack else []
        return np.concatenate([x[-1] - scale * rows(x[:-1]), *kept])

    def within_slopes(x: Array) -> Array:
        below = -scale * slopes(x[:-1])
        parts = [np.column_stack([below, np.ones(len(below))])]
        if slack_slopes is not None:
            kept = slack_slopes(x[:-1])
            parts.append(np.column_stack([kept, np.zeros(len(kept))]))
        return np.concatenate(parts)

    upwards = np.append(np.zeros(len(begin)), 1.0)
    bounds = np.vstack([scales.limits.T, [-np.inf, np.inf]])
    first = np.append(begin, scale * rows(begin).max())
    settled = SETTLED * scale
    return _solve(lambda x: float(x[-1]), lambda x: upwards, within, within_slopes, first, bounds, settled)[:-1]


def _solve(
    goal: Callable[[Array], float],
    slope: RowFunction,
    slack: RowFunction,
    slack_slopes: RowFunction,
    begin: Array,
    bounds: Array,
    settled: float = SETTLED,
) -> Array:
    from scipy.optimize import minimize

    lower, upper = bounds.T
    solution = minimize(
        goal,
        np.clip(begin, lower, upper),
        jac=slope,
        bounds=bounds,
        constraints={"type": "ineq", "fun": slack, "jac": slack_slopes},
        method="SLSQP",
        options={"maxiter": MOST_STEPS, "ftol": settled},
    )
    return np.clip(solution.x, lower, upper)


# --------------------------------------------------------------------------------------------------
# Optimality conditions (Karush, Kuhn and Tucker): which limits are active at the best gains, and what do they cost?
#
#     sum_i mu_i dQ_i/dz = sum_j lambda_j dg_j/dz + bounds,   mu, lambda >= 0,   sum mu = 1
#
# The multipliers are the non-negative least-squares solution; lambda_j is the price of limit j.


NEAR = 0.01
"""Rows this near to their limit, by its size, count as being at it."""
HEAVY = 1e3
AT_BOUND = 1e-6
"""Distance of a scaled gain from its bound that is rounding of the search."""


def summarise_tuning(
    problem: TuningProblem, scales: Scales, begin: Array, best: Array, measure: Measure, over: str
) -> Tuning:
    """All tables of a tuning whose best gains are known."""
    performance = problem.performance
    prices, rest = find_prices(problem, scales, best)
    runs = [performance.runs(z) for z in (begin, best)]
    if runs[0] is None or runs[1] is None:
        refuse("", performance.failure, source="tuning")
    # The objective of each case; nothing is known of motions that fail.
    values = [performance.values(z) for z in (begin, best)]
    goal = performance.spans[0]
    cases = [np.zeros(1) if rows is None else rows[:, goal].max(axis=1) for rows in values]
    worst = int(np.argmax(cases[1]))

    # Prices of a limit's rows add up to its own.
    limits, place = [], 0
    for (limit, loop, before), (_, _, after) in zip(
        problem.limited_values(begin), problem.limited_values(best), strict=True
    ):
        price = float(prices[place : place + after.size].sum())
        place += after.size
        numbers = (limit.bound or 0.0, limit.worst(before), limit.worst(after))
        cost = price * problem.first / limit.size
        limits.append(KeptLimit(limit.text, loop, limit.unit, *numbers, price > 0, cost))
    slopes = problem.goal_slopes(best)[int(np.argmax(problem.goals(best)))] * problem.first
    gains = []
    for scale, first, last, slope in zip(scales, begin, best, slopes, strict=True):
        value = scale.value(float(last))
        number, percent = scale.number, abs(value) / 100 / scale.slope(float(last))
        at_bound = any(abs(limit - last) < AT_BOUND for limit in scale.limits)
        gains.append(
            TunedGain(
                number.name, number.unit, scale.value(float(first)), value, scale.lower, scale.upper, at_bound,
                float(slope * percent),
            )
        )  # fmt: skip
    return Tuning(
        objective=measure.name,
        unit=measure.unit,
        over=over,
        before=float(problem.goals(begin).max()) * problem.first,
        after=float(problem.goals(best).max()) * problem.first,
        gains=tuple(gains),
        limits=tuple(limits),
        cases=tuple(
            TunedCase(dict(changes), float(a), float(b))
            for changes, a, b in zip(performance.cases.changes, *cases, strict=True)
        ),
        slopes=performance.variation.reason or "exact",
        notes=performance.variation.notes,
        rest=rest,
        evaluations=performance.evaluations,
        runs=(runs[0][worst], runs[1][worst]),
    )


def find_prices(problem: TuningProblem, scales: Scales, z: Array) -> tuple[Array, float]:
    """Multipliers of all rows of slack [objective by size], 0 where not active; and what they leave of the slope."""
    from scipy.optimize import nnls

    goals, slack = problem.goals(z), problem.slack(z)
    used, near = goals >= goals.max() - NEAR, slack <= NEAR
    lower, upper = scales.limits
    # At a lower bound the slope may be positive, at an upper one negative.
    walls = [
        sign * np.eye(len(z))[k]
        for end, sign in ((lower, 1.0), (upper, -1.0))
        for k in np.flatnonzero(np.abs(end - z) < AT_BOUND)
    ]
    slopes = problem.goal_slopes(z)[used]
    columns = np.array([*slopes, *(-problem.slack_slopes(z)[near]), *(-np.array(wall) for wall in walls)]).T
    one = np.array([HEAVY * (k < len(slopes)) for k in range(columns.shape[1])])
    found, _ = nnls(np.vstack([columns, one]), np.append(np.zeros(len(z)), HEAVY))
    prices = np.zeros(slack.size)
    prices[near] = found[len(slopes) : len(slopes) + int(near.sum())]
    return prices, float(np.linalg.norm(columns @ found))


# --------------------------------------------------------------------------------------------------
# Controller tuning: which gains make a motion best, within limits on margins and on the motion itself?
#
# The objective is a measure of the simulated motion, its slopes are the exact sensitivities through events and samples;
# margins come from the sampled linear model. Several cases count at once: payloads, operating points, random draws.


GAINS = "gains"
"""Stands for all gains of sampled blocks."""
REACH = 10.0
"""Gains without bounds are looked for up to this part and this multiple of the given value."""
POINTS = 2001
OVER = ("worst", "mean")
PLACES = ("start", "equilibrium")


@frozen
class TuneProgress:
    """How far a tuning is: evaluations of all cases, the given gains' objective, and the best that keeps all limits."""

    evaluations: int
    first: float
    best: float
    unit: str


@report_progress("tuning")
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
    # Names of gains, the measure, the limits and the cases; all that is wrong is reported at once.
    system = what if isinstance(what, System) else assemble(what)
    flaws = FlawList()
    names = _find_free(flaws, system, free)
    goals = find_measures(flaws, [minimise], system)
    if len(goals) > 1:
        flaws.add(f"minimise {minimise}", f"names {len(goals)} signals", "name one")
    tuning_limits = read_limits(flaws, limits, system)
    for one in (*goals, *(limit.what for limit in tuning_limits)):
        if isinstance(one, Measure) and one.kind == "time_of_peak":
            flaws.add(one.name, "has no derivative by the gains: it jumps from row to row", "name another measure")
    cases = make_cases(flaws, system, vary, random, runs, seed)
    for name in set(names) & cases.changes[0].keys():
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
    if any(isinstance(limit.what, str) for limit in tuning_limits) and not system.discrete.tasks:
        flaws.add("limits", "no block is sampled, so that no loop can be cut", "remove the limits on margins")
    flaws.raise_if_any(f"tuning of '{system.scenario.name}'")
    measure = goals[0]

    # The problem, in scaled gains; what was computed is kept in a file.
    on_measures = [(limit, limit.what) for limit in tuning_limits if isinstance(limit.what, Measure)]
    measures = [measure, *(what for _, what in on_measures)]
    windows = [count_windows(measure), *(count_windows(what, limit.least) for limit, what in on_measures)]
    signals = tuple(dict.fromkeys(m.signal for m in measures))
    variation = prepare_variation(cases.system, names, signals, solver)
    scales = _make_scales(variation.numbers, bounds or {})
    begin = scales.given
    on_margins = [limit for limit in tuning_limits if isinstance(limit.what, str)]
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
    problem = TuningProblem(performance, margins, [limit for limit, _ in on_measures], 1.0, over == "mean")
    first, slack = find_allowed(problem, scales, begin, seed or 0)
    if slack < -KEPT:
        raise _no_margins(problem, scales, first)
    # By the given gains: the objective in parts of theirs, limits of 'now' at what they have.
    if performance.values(begin) is None:
        refuse("", f"with the given gains: {performance.failure}", source="tuning")
    objective_before = float(problem.goals(begin).max())
    if not abs(objective_before) > 0:
        refuse("minimise", "is 0 with the given gains: there is nothing to improve", source="tuning")
    now = problem.limited_values(begin)[len(problem.margin_values(begin)) :]
    bounded = [limit.with_bound(limit.worst(values)) for limit, _, values in now]
    problem = replace(problem, first=abs(objective_before), limits=bounded)
    others = [find_allowed(problem, scales, z, seed or 0)[0] for z in spread_starts(scales, starts - 1, seed or 0)]
    best = _search(problem, scales, [first, *others], progress)
    return summarise_tuning(problem, scales, begin, best, measure, over)


def _find_free(flaws: FlawList, system: System, free: Sequence[str]) -> list[str]:
    numbers = find_numbers(system)
    gains = [f"{b.name}.{gain}" for b in system.scenario.machine.blocks if b.sampled for gain in find_gains(b)]
    found: dict[str, None] = {}
    for key in (free,) if isinstance(free, str) else free:
        if key == GAINS:
            found |= dict.fromkeys(gains)
            if not gains:
                flaws.add("free", "no sampled block has gains", "name numbers")
        else:
            found |= dict.fromkeys(number.name for number in match_numbers(flaws, key, numbers))
    if not free:
        flaws.add("free", "names no number", "name gains, or 'gains' for all of them")
    return list(found)


def _make_scales(numbers: Sequence[Number], bounds: Mapping[str, Bounds]) -> Scales:
    """Bounds by patterns; without any, a decade to both sides."""
    flaws, ranges = FlawList(), dict(bounds)
    used: set[str] = set()
    for number in numbers:
        match = next((key for key in bounds if fnmatchcase(number.name, key)), None)
        if match is not None:
            used.add(match)
            ranges[number.name] = bounds[match]
        elif number.value == 0:
            flaws.add(number.name, "is 0, so it gives no range to search", "give its bounds")
        else:
            ends = (number.value / REACH, number.value * REACH)
            ranges[number.name] = (min(ends), max(ends))
    flaws.raise_if_any("tuning")
    names = {number.name for number in numbers}
    return make_scales(numbers, {key: pair for key, pair in ranges.items() if key in names or key not in used})


def _search(
    problem: TuningProblem,
    scales: Scales,
    starts: Sequence[Array],
    progress: Callable[[TuneProgress], None] | None,
) -> Array:
    """The best of all gains met that keep the limits; none at all is a ModelError."""
    visited: list[tuple[float, float, Array]] = []

    def goals(z: Array) -> Array:
        rows = problem.goals(z)
        visited.append((float(problem.slack(z).min(initial=np.inf)), float(rows.max()), z.copy()))
        best = min((goal for slack, goal, _ in visited if slack >= -KEPT), default=np.nan)
        if progress:
            measure = problem.performance.measures[0]
            evaluations = problem.performance.evaluations
            progress(TuneProgress(evaluations, problem.first, best * problem.first, measure.unit))
        return rows

    for start in starts:
        goals(minimise_largest(goals, problem.goal_slopes, start, scales, problem.slack, problem.slack_slopes))
    allowed = [entry for entry in visited if entry[0] >= -KEPT]
    if not allowed:
        _, _, z = max(visited, key=lambda entry: entry[0])
        parts = []
        for limit, loop, values in problem.limited_values(z):
            if not loop and np.isfinite(values).all():
                parts.append(f"{limit.text}: {limit.worst(values):.4g} {limit.unit}")
        missed = f"no gains were found that keep them all; nearest: {'; '.join(parts)} with {describe_gains(scales, z)}"
        flaw = Flaw("limits", missed, "relax one, or free more gains")
        raise ModelError([flaw], "tuning")
    return min(allowed, key=lambda entry: entry[1])[2]


def _no_margins(problem: TuningProblem, scales: Scales, z: Array) -> ModelError:
    """Which limit is missed most by the gains that come nearest to keeping all of them."""
    flaws = []
    for limit, loop, values in problem.margin_values(z):
        worst = limit.worst(values)
        if limit.slack(np.array([worst]))[0] < -KEPT:
            what = f"no gains within their bounds were found that keep it: {loop} has {worst:.4g} {limit.unit} with "
            what += f"those that come nearest, {describe_gains(scales, z)}"
            remedy = f"ask for at most {worst:.3g} {limit.unit}, widen the bounds or free other gains"
            flaws.append(Flaw(f"limit {limit.text}", what, remedy))
    return ModelError(flaws, "tuning")


def describe_gains(scales: Scales, z: Array) -> str:
    """`name = value` of all."""
    return ", ".join(f"{name} = {value:.4g}" for name, value in scales.named(z).items())
