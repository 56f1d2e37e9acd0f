"""Margins of all cases: how much is left to each limit, and how does that change with the gains?

Loops are cut in the sampled linear model of each case at each place. Slopes are differences of margins, which are found
to twelve digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from robodyn.analysis.checkpoint import Memo
from robodyn.analysis.fitting.scaling import Scale
from robodyn.analysis.linear.loop_table import closed_signals
from robodyn.analysis.linear.margins import find_margins
from robodyn.analysis.linear.operating_point import Place
from robodyn.analysis.linear.sampled_model import SampledModel
from robodyn.analysis.linear.sampling import sampled_lineariser
from robodyn.analysis.sensitivity.variation import Variation
from robodyn.analysis.tuning.cases import Cases
from robodyn.analysis.tuning.limits import Limit, measure_margin
from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation import simulate

STEP = 1e-5
"""Change of a scaled gain for differences."""


@dataclass
class MarginLimits:
    """Margins of loops as functions of the scaled gains z.

    Attributes:
        rows: limit and held signal of each margin; the values are repeated for every case and place.
        places: at which each case is linearised.
    """

    scales: Sequence[Scale]
    cases: Cases
    rows: Sequence[tuple[Limit, str]]
    places: Sequence[Sequence[Place]]
    linearise: Callable[[Place, Mapping[str, float]], SampledModel]
    memo: Memo

    def values(self, z: Floats) -> Floats:
        """Margins in the units of their limits, (n_cases n_places, n_rows)."""
        kept = self.memo.get("margins", z)
        if kept is None:
            kept = np.array([self._margins(z, k, place) for k, places in enumerate(self.places) for place in places])
            self.memo.put("margins", z, kept)
        return kept

    def slopes(self, z: Floats) -> Floats:
        """(n_cases n_places, n_rows, n_z)."""
        here = self.values(z)
        return np.stack([(self.values(z + step) - here) / STEP for step in STEP * np.eye(len(z))], axis=-1)

    def _margins(self, z: Floats, case: int, place: Place) -> list[float]:
        gains = {scale.number.name: scale.value(float(zk)) for scale, zk in zip(self.scales, z, strict=True)}
        model = self.linearise(place, gains | self.cases.parameters(case))
        late = {signal for limit, signal in self.rows if limit.what == "delay"}
        found = {signal: find_margins(model, signal, signal in late) for _, signal in self.rows}
        return [measure_margin(str(limit.what), found[signal], model.period) for limit, signal in self.rows]


def make_margin_limits(
    variation: Variation,
    limits: Sequence[Limit],
    scales: Sequence[Scale],
    cases: Cases,
    at: Sequence[str | float],
    friction: str,
    memo: Memo,
) -> MarginLimits:
    """Cut the loops that limits are on; one that matches none is a ModelError."""
    linearise = sampled_lineariser(variation.system, (), friction)
    places = [_find_places(variation, cases, k, at) for k in range(len(cases.changes))]
    loops = closed_signals(linearise(places[0][0], None), variation.scenario)
    flaws = FlawList()
    rows = []
    for limit in limits:
        matching = [name for name in loops if fnmatchcase(name, limit.pattern)]
        if not matching:
            flaws.add(f"limit {limit.text}", f"no loop matches '{limit.pattern}'", nearest(limit.pattern, loops))
        rows += [(limit, name) for name in matching]
    flaws.raise_if_any("tuning")
    margins = MarginLimits(scales, cases, rows, places, linearise, memo)
    now = margins.values(np.array([scale.scaled(scale.number.value) for scale in scales])).min(axis=0)
    least = {limit: min(v for (one, _), v in zip(rows, now, strict=True) if one is limit) for limit, _ in rows}
    margins.rows = [(limit.with_bound(float(least[limit])), name) for limit, name in rows]
    return margins


def _find_places(variation: Variation, cases: Cases, case: int, at: Sequence[str | float]) -> list[Place]:
    """Where a case is linearised: at its start, its equilibrium, or a time of its motion with the given gains."""
    times = [place for place in at if not isinstance(place, str)]
    run = simulate(variation.scenario.with_numbers(cases.changes[case]), variation.solver) if times else None
    if run is not None and (not run.outcome.carried_through or max(times) > run.time[-1]):
        raise ModelError([Flaw("at", f"there is no motion at {max(times):g} s: {run.outcome.sentence}")], "tuning")
    starts = cases.starts(case)
    found: list[Place] = []
    for place in at:
        if run is not None and not isinstance(place, str):
            found.append((run, place))
        else:
            found.append(starts if starts and place == "start" else str(place))
    return found
