"""Limits of tuning: what must a tuned machine keep, of its margins and of its motion?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from robodyn.analysis.checkpoint import Memo
from robodyn.analysis.fitting.search_space import Scales
from robodyn.analysis.linear.linearisation import Place
from robodyn.analysis.linear.loop_table import closed_signals
from robodyn.analysis.linear.margins import Margins, find_margins
from robodyn.analysis.linear.sampling import SampledModel, sampled_lineariser
from robodyn.analysis.sensitivity.variation import Variation
from robodyn.base import Array, FlawList, UnitError, find_unmatched, fits, frozen, nearest, refuse
from robodyn.computation.assembly import System
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.many import Measure, find_measures, split_starts
from robodyn.description.files.units import read_quantity

from .performance import Cases

# --------------------------------------------------------------------------------------------------
# Tuning limits: what must hold while gains are chosen? Margins of loops, and measures of the motion.
#
# margin>=6 dB               gain margin of every sampled loop, down and up
# phase:x.*>=45 deg          phase margin of the loops that a pattern names
# delay>=now                 delay margin, not less than the least of these loops is with the given gains
# peak:torque<=12 N m         a measure of a signal, of the worst case


LIMIT = re.compile(r"\s*(.+?)\s*(>=|<=)\s*(.+?)\s*")
MARGINS = {"margin": "dB", "phase": "deg", "delay": "s"}
"""The margins of a loop that may be limited, with their units."""
SIZES = {"margin": 6.0, "phase": 30.0}
"""Sizes by which distances to limits of margins are measured; other limits measure their own."""
NOW = "now"
FAR = 60.0
"""Gain margins [dB] beyond which they all count as this much, so that they are numbers."""


@frozen
class TuningLimit:
    """One side of a number that a tuning keeps.

    Attributes:
        what: margin, phase or delay of the loops that a pattern names, or a measure of the motion.
        least: whether it is a lower limit; bound: in `unit`; None for what it is with the given gains.
    """

    text: str
    what: str | Measure
    pattern: str
    least: bool
    bound: float | None
    unit: str

    def with_bound(self, now: float) -> TuningLimit:
        """This limit, at what it limits now where no bound is given."""
        return self if self.bound is not None else replace(self, bound=now)

    def slack(self, value: Array) -> Array:
        """How far values are within the limit, by its size; negative where it is not kept."""
        bound = self.bound or 0.0
        return (1.0 if self.least else -1.0) * (value - bound) / self.size

    def worst(self, values: Array) -> float:
        """The value that comes nearest to the limit or misses it most."""
        return float(values.min() if self.least else values.max())

    @property
    def size(self) -> float:
        """The size by which distances to the limit are measured."""
        return SIZES.get(str(self.what)) or abs(self.bound or 0.0) or 1.0


def read_limits(flaws: FlawList, texts: Sequence[str], system: System) -> list[TuningLimit]:
    """The limits that texts ask for; a pattern of signals stands for several."""
    limits: list[TuningLimit] = []
    for text in texts:
        match = LIMIT.fullmatch(text)
        if match is None:
            flaws.add(f"limit {text}", "must be written as what>=value or what<=value", 'such as "margin>=6 dB"')
            continue
        what, sign, value = match.groups()
        kind, _, pattern = what.partition(":")
        if kind in MARGINS:
            limits += _read_margin(flaws, text, kind, pattern or "*", sign, value)
        else:
            limits += [
                TuningLimit(text, measure, "", sign == ">=", bound, measure.unit)
                for measure in find_measures(flaws, [what], system)
                for bound in _read_bound(flaws, text, value, measure.unit)
            ]
    return limits


def _read_margin(flaws: FlawList, text: str, kind: str, pattern: str, sign: str, value: str) -> list[TuningLimit]:
    if sign != ">=":
        flaws.add(f"limit {text}", f"a {kind} has a lower limit", f"{kind}>={value}")
        return []
    plain = value.removesuffix("dB").strip() if kind == "margin" else value
    bounds = _read_bound(flaws, text, plain, {"margin": "1", "phase": "rad", "delay": "s"}[kind], kind == "margin")
    factor = 180 / np.pi if kind == "phase" else 1.0
    in_si = [None if bound is None else factor * bound for bound in bounds]
    most = {"margin": FAR, "phase": 180.0, "delay": np.inf}[kind]
    if any(bound is not None and not 0 <= bound <= most for bound in in_si):
        flaws.add(f"limit {text}", f"must be from 0 to at most {most:g} {MARGINS[kind]}")
    return [TuningLimit(text, kind, pattern, True, bound, MARGINS[kind]) for bound in in_si]


def _read_bound(flaws: FlawList, text: str, value: str, unit: str, bare: bool = False) -> list[float | None]:
    if value == NOW:
        return [None]
    try:
        return [read_quantity(value, unit, bare=bare)]
    except UnitError as error:
        flaws.add(f"limit {text}", str(error))
        return []


def measure_margin(kind: str, margins: Margins, period: float) -> float:
    """A margin as a finite number that goes on falling where a loop is unstable.

    There, phase and delay have no value: they count as negative in proportion to the gain that is too much, 30 deg or
    a base period for each 6 dB.

    Args:
        period: base period [s].
    """
    # Gain margin [dB], to the nearer of the two limits; -FAR where no gain is stable.
    gain = -FAR
    if not np.isnan(margins.gain_to):
        up = FAR if np.isinf(margins.gain_to) else 20 * np.log10(margins.gain_to)
        down = FAR if margins.gain_from <= 0 else -20 * np.log10(margins.gain_from)
        gain = float(np.clip(min(up, down), -FAR, FAR))
    if kind == "margin":
        return gain
    if not margins.stable:
        return min(gain, -1e-3) * (5.0 if kind == "phase" else period / 6)
    return min(margins.phase, 180.0) if kind == "phase" else min(margins.delay, 1e3)


# --------------------------------------------------------------------------------------------------
# Margins of all cases: how much is left to each limit, and how does that change with the gains?
#
# Loops are cut in the sampled linear model of each case at each place. Slopes are differences of margins, which are
# found to twelve digits.


STEP = 1e-5
"""Change of a scaled gain for differences."""


@frozen
class MarginLimits:
    """Margins of loops as functions of the scaled gains z.

    Attributes:
        rows: limit and held signal of each margin; the values are repeated for every case and place.
        places: at which each case is linearised.
    """

    scales: Scales
    cases: Cases
    rows: Sequence[tuple[TuningLimit, str]]
    places: Sequence[Sequence[Place]]
    linearise: Callable[[Place, Mapping[str, float]], SampledModel]
    memo: Memo

    def values(self, z: Array) -> Array:
        """Margins in the units of their limits, (n_cases n_places, n_rows)."""
        return self.memo.recall_at(
            "margins",
            z,
            lambda: np.array([self._margins(z, k, place) for k, places in enumerate(self.places) for place in places]),
        )

    def slopes(self, z: Array) -> Array:
        """(n_cases n_places, n_rows, n_z)."""
        here = self.values(z)
        return np.stack([(self.values(z + step) - here) / STEP for step in STEP * np.eye(len(z))], axis=-1)

    def _margins(self, z: Array, case: int, place: Place) -> list[float]:
        parameters, _ = split_starts(self.cases.changes[case])
        model = self.linearise(place, self.scales.named(z) | parameters)
        late = {signal for limit, signal in self.rows if limit.what == "delay"}
        margins = {signal: find_margins(model, signal, signal in late) for _, signal in self.rows}
        return [measure_margin(str(limit.what), margins[signal], model.period) for limit, signal in self.rows]


def make_margin_limits(
    variation: Variation,
    limits: Sequence[TuningLimit],
    scales: Scales,
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
    for limit in limits:
        if find_unmatched([limit.pattern], loops):
            flaws.add(f"limit {limit.text}", f"no loop matches '{limit.pattern}'", nearest(limit.pattern, loops))
    flaws.raise_if_any("tuning")
    rows = [(limit, name) for limit in limits for name in loops if fits(name, [limit.pattern])]
    margins = MarginLimits(scales, cases, rows, places, linearise, memo)
    now = margins.values(scales.given).min(axis=0)
    least = {limit: min(v for (one, _), v in zip(rows, now, strict=True) if one is limit) for limit, _ in rows}
    return replace(margins, rows=[(limit.with_bound(float(least[limit])), name) for limit, name in rows])


def _find_places(variation: Variation, cases: Cases, case: int, at: Sequence[str | float]) -> list[Place]:
    """Where a case is linearised: at its start, its equilibrium, or a time of its motion with the given gains."""
    times = [place for place in at if not isinstance(place, str)]
    run = simulate(variation.scenario.with_numbers(cases.changes[case]), variation.solver) if times else None
    if run is not None and (not run.outcome.carried_through or max(times) > run.time[-1]):
        refuse("at", f"there is no motion at {max(times):g} s: {run.outcome.sentence}", source="tuning")
    _, starts = split_starts(cases.changes[case])
    places: list[Place] = []
    for place in at:
        if run is not None and not isinstance(place, str):
            places.append((run, place))
        else:
            places.append(starts if starts and place == "start" else str(place))
    return places
