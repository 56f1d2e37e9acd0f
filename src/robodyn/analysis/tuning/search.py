"""Sequential quadratic programming: which gains are best within all limits? SLSQP (Kraft 1988) in scaled gains z.

    minimise t,   Q_i(z) / Q_0 <= t  for every case and window,   g_j(z) >= 0

with g_j the distance to limit j by its size. Before any motion is simulated, the limits on margins are asked whether
any gains keep them: maximise s with g_j(z) >= s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.fitting.scaling import Scale, spread_points
from robodyn.analysis.tuning.limits import Limit
from robodyn.analysis.tuning.margin_limits import MarginLimits
from robodyn.analysis.tuning.performance import Performance
from robodyn.computation.results.signal import Floats

FAILED = 1e3
"""What a measure counts, by its first value, where a motion fails: the search turns back."""
KEPT = 1e-4
"""Part of its size by which a limit may be missed."""
STARTS, MOST_STEPS, SETTLED, MOST_SCALE = 8, 60, 1e-4, 300.0

Rows = Callable[[Floats], Floats]


@dataclass
class Problem:
    """Objective and limits as functions of z.

    Attributes:
        limits: on measures, one for each of the performance's measures but the first.
        first: the objective with the given gains, which all its rows are divided by.
        mean: whether the objective is the mean of the cases; else it is the worst of them.
    """

    performance: Performance
    margins: MarginLimits | None
    limits: Sequence[Limit]
    first: float
    mean: bool

    def goals(self, z: Floats) -> Floats:
        """Rows of which the largest is minimised."""
        values = self.performance.values(z)
        if values is None:
            return np.full(1 if self.mean else len(self._flat(self.performance.slopes(z))), FAILED)
        rows = values[:, self.performance.spans[0]] / self.first
        return np.array([rows.max(axis=1).mean()]) if self.mean else rows.ravel()

    def goal_slopes(self, z: Floats) -> Floats:
        values, slopes = self.performance.values(z), self.performance.slopes(z)
        if values is None or not self.mean:
            return self._flat(slopes)[: 1 if self.mean else None] / self.first
        worst = np.argmax(values[:, self.performance.spans[0]], axis=1)
        return slopes[np.arange(len(slopes)), worst].mean(axis=0)[None] / self.first

    def _flat(self, slopes: Floats) -> Floats:
        return slopes[:, self.performance.spans[0]].reshape(-1, slopes.shape[-1])

    def margin_slack(self, z: Floats) -> Floats:
        """Distance of each margin to its limit, row after row."""
        if self.margins is None:
            return np.zeros(0)
        values = self.margins.values(z)
        return np.concatenate([limit.slack(values[:, k]) for k, (limit, _) in enumerate(self.margins.rows)])

    def margin_slopes(self, z: Floats) -> Floats:
        if self.margins is None:
            return np.zeros((0, len(z)))
        slopes = self.margins.slopes(z)
        return np.concatenate([slopes[:, k] / limit.size for k, (limit, _) in enumerate(self.margins.rows)])

    def slack(self, z: Floats) -> Floats:
        """Distance to all limits: first the margins', then those of measures, case by case."""
        values = self.performance.values(z)
        rows = [self.margin_slack(z)]
        for limit, span in zip(self.limits, self.performance.spans[1:], strict=True):
            count = len(self.performance.cases.changes) * (span.stop - span.start)
            rows.append(np.full(count, -FAILED) if values is None else limit.slack(values[:, span]).ravel())
        return np.concatenate(rows)

    def slack_slopes(self, z: Floats) -> Floats:
        slopes = self.performance.slopes(z)
        rows = [self.margin_slopes(z)]
        for limit, span in zip(self.limits, self.performance.spans[1:], strict=True):
            sign = 1.0 if limit.least else -1.0
            rows.append(sign * slopes[:, span].reshape(-1, len(z)) / limit.size)
        return np.concatenate(rows)


def find_allowed(problem: Problem, scales: Sequence[Scale], begin: Floats, seed: int) -> tuple[Floats, float]:
    """Gains nearest to the given ones that keep the margins; where none do, those that come nearest to it.

    Returns:
        z and the least slack of its margins.
    """
    best, least = begin, float(problem.margin_slack(begin).min(initial=np.inf))
    for point in (begin, *spread_starts(scales, STARTS, seed)) if least < -KEPT else ():
        found = minimise_largest(lambda z: -problem.margin_slack(z), lambda z: -problem.margin_slopes(z), point, scales)
        slack = float(problem.margin_slack(found).min())
        if slack > least:
            best, least = found, slack
        if least >= 0:
            return _come_near(problem, scales, begin, best), least
    return best, least


def spread_starts(scales: Sequence[Scale], count: int, seed: int) -> Floats:
    """Places all over the bounds, (count, n)."""
    regions = np.array([scale.region for scale in scales])
    return regions[:, 0] + spread_points(count, len(scales), seed) * (regions[:, 1] - regions[:, 0])


def _come_near(problem: Problem, scales: Sequence[Scale], wanted: Floats, allowed: Floats) -> Floats:
    """The allowed z that is nearest to a wanted one."""
    near = _solve(
        lambda z: 0.5 * float(np.sum((z - wanted) ** 2)),
        lambda z: z - wanted,
        problem.margin_slack,
        problem.margin_slopes,
        allowed,
        [scale.limits for scale in scales],
    )
    return near if problem.margin_slack(near).min() >= -KEPT else allowed


def minimise_largest(
    rows: Rows,
    slopes: Rows,
    begin: Floats,
    scales: Sequence[Scale],
    slack: Rows | None = None,
    slack_slopes: Rows | None = None,
) -> Floats:
    """The z with the smallest largest row, within bounds and with no negative slack.

    Rows are scaled so that the first step, along their steepest slope, is about one: a factor e of a gain.
    """
    steepest = float(np.linalg.norm(slopes(begin)[int(np.argmax(rows(begin)))]))
    scale = float(np.clip(1 / max(steepest, 1e-300), 1.0, MOST_SCALE))

    def within(x: Floats) -> Floats:
        kept = [slack(x[:-1])] if slack else []
        return np.concatenate([x[-1] - scale * rows(x[:-1]), *kept])

    def within_slopes(x: Floats) -> Floats:
        below = -scale * slopes(x[:-1])
        parts = [np.column_stack([below, np.ones(len(below))])]
        if slack_slopes is not None:
            kept = slack_slopes(x[:-1])
            parts.append(np.column_stack([kept, np.zeros(len(kept))]))
        return np.concatenate(parts)

    upwards = np.append(np.zeros(len(begin)), 1.0)
    bounds = [*(scale.limits for scale in scales), (-np.inf, np.inf)]
    first = np.append(begin, scale * rows(begin).max())
    settled = SETTLED * scale
    return _solve(lambda x: float(x[-1]), lambda x: upwards, within, within_slopes, first, bounds, settled)[:-1]


def _solve(
    goal: Callable[[Floats], float],
    slope: Rows,
    slack: Rows,
    slack_slopes: Rows,
    begin: Floats,
    bounds: Sequence[tuple[float, float]],
    settled: float = SETTLED,
) -> Floats:
    from scipy.optimize import minimize

    lower, upper = np.array(bounds).T
    found = minimize(
        goal,
        np.clip(begin, lower, upper),
        jac=slope,
        bounds=bounds,
        constraints={"type": "ineq", "fun": slack, "jac": slack_slopes},
        method="SLSQP",
        options={"maxiter": MOST_STEPS, "ftol": settled},
    )
    return np.clip(found.x, lower, upper)
