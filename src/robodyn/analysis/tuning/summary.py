"""Optimality conditions (Karush, Kuhn and Tucker): which limits are active at the best gains, and what do they cost?

    sum_i mu_i dQ_i/dz = sum_j lambda_j dg_j/dz + bounds,   mu, lambda >= 0,   sum mu = 1

The multipliers are the non-negative least-squares solution; lambda_j is the price of limit j.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.analysis.fitting.scaling import Scale
from robodyn.analysis.tuning.result import KeptLimit, TunedCase, TunedGain, Tuning
from robodyn.analysis.tuning.search import Problem
from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation.measures import Measure

NEAR = 0.01
"""Rows this near to their limit, by its size, count as being at it."""
HEAVY = 1e3
AT_BOUND = 1e-6
"""Distance of a scaled gain from its bound that is rounding of the search."""


def summarise_tuning(
    problem: Problem, scales: Sequence[Scale], begin: Floats, best: Floats, measure: Measure, over: str
) -> Tuning:
    """All tables of a tuning whose best gains are known."""
    performance = problem.performance
    before, after = problem.goals(begin), problem.goals(best)
    prices, rest = find_prices(problem, scales, best)
    worst = int(np.argmax(_by_case(problem, best)))
    runs = [performance.runs(z) for z in (begin, best)]
    if runs[0] is None or runs[1] is None:
        raise ModelError([Flaw("", performance.failure)], "tuning")
    cases = [
        TunedCase(dict(changes), float(a), float(b))
        for changes, a, b in zip(
            performance.cases.changes, _by_case(problem, begin), _by_case(problem, best), strict=True
        )
    ]
    return Tuning(
        measure.name,
        measure.unit,
        over,
        float(before.max()) * problem.first,
        float(after.max()) * problem.first,
        _gains(problem, scales, begin, best),
        (*_margin_limits(problem, begin, best, prices), *_measure_limits(problem, begin, best, prices)),
        tuple(cases),
        performance.variation.reason or "exact",
        performance.variation.notes,
        rest,
        performance.evaluations,
        (runs[0][worst], runs[1][worst]),
    )


def _by_case(problem: Problem, z: Floats) -> Floats:
    values = problem.performance.values(z)
    return np.zeros(1) if values is None else values[:, problem.performance.spans[0]].max(axis=1)


def find_prices(problem: Problem, scales: Sequence[Scale], z: Floats) -> tuple[Floats, float]:
    """Multipliers of all rows of slack [objective by size], 0 where not active; and what they leave of the slope."""
    from scipy.optimize import nnls

    goals, slack = problem.goals(z), problem.slack(z)
    used, near = goals >= goals.max() - NEAR, slack <= NEAR
    lower, upper = np.array([scale.limits for scale in scales]).T
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


def _gains(problem: Problem, scales: Sequence[Scale], begin: Floats, best: Floats) -> tuple[TunedGain, ...]:
    slopes = problem.goal_slopes(best)[int(np.argmax(problem.goals(best)))] * problem.first
    found = []
    for scale, first, last, slope in zip(scales, begin, best, slopes, strict=True):
        value = scale.value(float(last))
        number, percent = scale.number, abs(value) / 100 / scale.slope(float(last))
        at_bound = any(abs(limit - last) < AT_BOUND for limit in scale.limits)
        found.append(
            TunedGain(
                number.name, number.unit, scale.value(float(first)), value, scale.lower, scale.upper, at_bound,
                float(slope * percent),
            )
        )  # fmt: skip
    return tuple(found)


def _margin_limits(problem: Problem, begin: Floats, best: Floats, prices: Floats) -> list[KeptLimit]:
    if problem.margins is None:
        return []
    before, after = (problem.margins.values(z) for z in (begin, best))
    found = []
    for k, (limit, loop) in enumerate(problem.margins.rows):
        price = float(prices[k * len(after) : (k + 1) * len(after)].sum())
        numbers = (limit.bound or 0.0, float(before[:, k].min()), float(after[:, k].min()))
        found.append(KeptLimit(limit.text, loop, limit.unit, *numbers, price > 0, price * problem.first / limit.size))
    return found


def _measure_limits(problem: Problem, begin: Floats, best: Floats, prices: Floats) -> list[KeptLimit]:
    values = [problem.performance.values(z) for z in (begin, best)]
    place = 0 if problem.margins is None else problem.margins.values(best).size
    found = []
    for limit, span in zip(problem.limits, problem.performance.spans[1:], strict=True):
        before, after = (
            float("nan") if v is None else float(v[:, span].min() if limit.least else v[:, span].max()) for v in values
        )
        count = len(problem.performance.cases.changes) * (span.stop - span.start)
        price = float(prices[place : place + count].sum())
        place += count
        costs = price * problem.first / limit.size
        found.append(KeptLimit(limit.text, "", limit.unit, limit.bound or 0.0, before, after, price > 0, costs))
    return found
