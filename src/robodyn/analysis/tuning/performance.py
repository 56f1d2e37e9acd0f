"""Performance in tuning: what is each measure in every case, and how does it change with the gains?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from robodyn.analysis.checkpoint import Memo
from robodyn.analysis.fitting.residuals import ACROSS_JUMPS, DIFFERENCE
from robodyn.analysis.fitting.search_space import Scales
from robodyn.analysis.sensitivity.ranking import NUDGE
from robodyn.analysis.sensitivity.system import sensitivity_name
from robodyn.analysis.sensitivity.variation import Variation, assemble_tunable
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.variation import Distribution, Factors
from robodyn.base import Array, FlawList, ModelError, frozen
from robodyn.computation.assembly import System
from robodyn.computation.results import Run
from robodyn.computation.simulation.many import Measure

# --------------------------------------------------------------------------------------------------
# Tuning cases: under which circumstances must gains be good? Payloads, start values and draws, each a run.


RUNS = 8
"""Draws where their number is not given."""


@frozen
class Cases:
    """The system of a scenario with the numbers that differ from case to case as inputs of its native code."""

    system: System
    changes: tuple[Mapping[str, float], ...]


def make_cases(
    flaws: FlawList,
    system: System,
    vary: Mapping[str, Sequence[float] | Factors] | None,
    random: Mapping[str, Distribution] | None,
    runs: int | None,
    seed: int | None,
) -> Cases:
    """Every combination of what is varied, with every draw; one case where nothing is."""
    settings: dict[str, Any] = {"runs": runs or (RUNS if random else None), "seed": seed}
    if not (vary or random):
        for name, value in (("runs", runs), ("seed", seed)):
            if value is not None:
                flaws.add(name, "has no effect: nothing is drawn at random", "leave it out")
        return Cases(system, ({},))
    try:
        plan = plan_sweep(system, vary=vary, random=random, **settings)
    except ModelError as error:
        flaws.extend(error.flaws)
        return Cases(system, ({},))
    for name in plan.structural:
        flaws.add(name, "is a constant of the native code, or how it starts", "vary another number")
    if "duration" in plan.names:
        flaws.add("duration", "is the same in all cases", "leave it out")
    changes = tuple(plan.changes(k) for k in range(plan.n_runs))
    return Cases(assemble_tunable(plan.system, plan.names), changes)


# --------------------------------------------------------------------------------------------------
# Performance of a tuned motion: its measures in every case and their exact slopes by the gains.
#
# Symbols: z the scaled gains, Q a measure, y the signal it is taken of.
#
#     dQ/dz = d/de Q(y + e dy/dp) dp/dz
#
# The largest of a signal that must be small is taken of windows of time, each a row of its own: which of them is the
# largest changes from gains to gains, and a search must see those that are next.


WINDOWS = 16


def count_windows(measure: Measure, least: bool = False) -> int:
    """The number of windows a measure is taken of: several where the worst of them, for a goal or a limit, is the
    whole's.

    Args:
        least: whether the measure has a lower limit.
    """
    return WINDOWS if measure.kind in (("min",) if least else ("peak", "max")) else 1


@dataclass
class Performance:
    """Measures of all cases as functions of z; what was computed is kept.

    Attributes:
        windows: how many each measure is taken of; times: at which the signals are read [s].
        failure: why the last motion could not be carried through.
    """

    variation: Variation
    scales: Scales
    measures: Sequence[Measure]
    windows: Sequence[int]
    cases: Cases
    times: Array
    memo: Memo
    failure: str = ""
    evaluations: int = 0

    @property
    def spans(self) -> list[slice]:
        """Which rows of a case belong to each measure."""
        return [slice(a, b) for a, b in pairwise(np.cumsum([0, *self.windows]).tolist())]

    def values(self, z: Array) -> Array | None:
        """Every measure's windows, (n_cases, n_rows); None where a motion fails."""
        values = self.memo.recall_at("values", z, lambda: self._measure(z))
        return values if values.size else None

    def slopes(self, z: Array) -> Array:
        """The slopes of the values by z, (n_cases, n_rows, n_z); zero where a motion fails."""
        return self.memo.recall_at("slopes", z, lambda: self._differences(z))

    def runs(self, z: Array) -> list[Run] | None:
        """The motion of every case with the gains z; None where one fails."""
        gains = self.scales.named(z)
        attempts = [self.variation.attempt(gains | dict(changes), self.times) for changes in self.cases.changes]
        self.evaluations += 1
        self.failure = next((run for run in attempts if isinstance(run, str)), self.failure)
        runs = [run for run in attempts if isinstance(run, Run)]
        return runs if len(runs) == len(attempts) else None

    def _measure(self, z: Array) -> Array:
        """The values, none where a motion fails; exact slopes come with them."""
        runs = self.runs(z)
        if runs is None:
            self.memo.recall_at("slopes", z, lambda: self._no_slopes(z))
            return np.zeros(0)
        if self.variation.exact:
            self.memo.recall_at("slopes", z, lambda: np.array([self._exact(run, z) for run in runs]))
        return np.array([self._read(run) for run in runs])

    def _no_slopes(self, z: Array) -> Array:
        return np.zeros((len(self.cases.changes), self.spans[-1].stop, len(z)))

    def _read(self, run: Run, tangents: Mapping[str, Array] | None = None) -> list[float]:
        """Every measure's windows of one run, its signals moved if wished."""
        rows = []
        for measure, count in zip(self.measures, self.windows, strict=True):
            y = run[measure.signal].values + (tangents[measure.signal] if tangents else 0.0)
            ends = np.linspace(0, len(y), count + 1).astype(int)
            rows += [measure.take(run.time[a:b], y[a:b]) for a, b in pairwise(ends)]
        return rows

    def _exact(self, run: Run, z: Array) -> Array:
        columns = []
        for scale, zk in zip(self.scales, z, strict=True):
            step = NUDGE * (abs(scale.value(float(zk))) or 1.0)
            signals = {m.signal: run[sensitivity_name(m.signal, scale.number.name)].values for m in self.measures}
            more, less = (
                np.array(self._read(run, {name: sign * step * slope for name, slope in signals.items()}))
                for sign in (1, -1)
            )
            columns.append((more - less) / (2 * step) * scale.slope(float(zk)))
        return np.column_stack(columns)

    def _differences(self, z: Array) -> Array:
        size, columns = ACROSS_JUMPS if self.variation.leaps else DIFFERENCE, []
        for step in size * np.eye(len(z)):
            ends = [self.values(z + step), self.values(z - step)]
            if ends[0] is None or ends[1] is None:
                return self._no_slopes(z)
            columns.append((ends[0] - ends[1]) / (2 * size))
        return np.stack(columns, axis=-1)
