"""Sweep plan: which runs make a sweep, and what is kept of each?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from robodyn.analysis.sensitivity.parameters import INITIAL
from robodyn.analysis.sensitivity.variation import assemble_tunable
from robodyn.base import Array, FlawList, fits, frozen, nearest, refuse
from robodyn.computation.assembly import System
from robodyn.computation.simulation.batch import calls_python
from robodyn.computation.simulation.many import Measure, find_measures
from robodyn.description.model import Scenario

from .runs import Nonlinear
from .variation import (
    RANDOM,
    SOBOL,
    Distribution,
    Draw,
    Factors,
    GridAxis,
    check_once,
    check_sampling,
    combine_axes,
    find_numbers,
    make_axes,
    make_draws,
    names_meant,
    sample_draws,
)

RUNS, RUNS_OF_SOBOL, SEED, POINTS = 1000, 1024, 1, 300
MOST_RUNS = 10_000_000


@frozen
class SweepPlan:
    """All that decides the results of a sweep.

    Every combination of the axes is run; with draws, as many times as there are runs, at each with the same draws.

    Attributes:
        scenario: with those numbers of its mechanism as inputs of the native code that are varied; system: its trace.
        structural: varied numbers for whose values native code is made anew.
        units: of the varied numbers, and of the signals that are kept.
        keep: signals whose curves are kept; along: the signal they are kept against, empty for time; places: its
            values (or times [s]) at which they are kept; held: those that keep their value between rows.
        rate: rows a second that measures are taken from [Hz]; None: rows of every step of the solver.
        sampling: how draws are made, one of SAMPLINGS.
        in_python: whether runs call laws that are plain Python, which may keep something between calls.
    """

    scenario: Scenario
    system: System = field(repr=False, compare=False)
    axes: tuple[GridAxis, ...]
    draws: tuple[Draw, ...]
    runs: int
    seed: int
    measures: tuple[Measure, ...]
    structural: tuple[str, ...]
    units: Mapping[str, str]
    keep: tuple[str, ...] = ()
    along: str = ""
    places: tuple[float, ...] = ()
    held: tuple[str, ...] = ()
    rate: float | None = None
    sampling: str = RANDOM
    in_python: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The varied numbers, in the order of the columns of `inputs`."""
        groups: list[GridAxis | Draw] = [*self.axes, *self.draws]
        return tuple(name for group in groups for name in group.names)

    @property
    def signals(self) -> tuple[str, ...]:
        """Signals that a run has to record."""
        names = [measure.signal for measure in self.measures] + [*self.keep, *([self.along] if self.along else [])]
        return tuple(dict.fromkeys(names))

    @cached_property
    def points(self) -> Array:
        """Index of each run's place on each axis, (n_runs, n_axes)."""
        return np.repeat(combine_axes(self.axes), self.runs, axis=0)

    @cached_property
    def inputs(self) -> Array:
        """Values of the varied numbers, (n_runs, n_names)."""
        columns = [np.array(axis.values)[self.points[:, k]] for k, axis in enumerate(self.axes)]
        repeats = len(self.points) // self.runs
        drawn = sample_draws(self.draws, self.runs, self.seed, self.sampling)
        columns += [np.tile(values, (repeats, 1)) for values in drawn]
        return np.concatenate(columns, axis=1)

    def without_inputs(self) -> SweepPlan:
        """This plan, its values to be computed where they are needed: small, however many runs it has."""
        return replace(self)

    @property
    def n_runs(self) -> int:
        """Points of the grid times random draws at each."""
        return int(np.prod([len(axis.places) for axis in self.axes], dtype=int)) * self.runs

    @cached_property
    def longest(self) -> float:
        """Simulated time of the longest run [s]."""
        if "duration" not in self.names:
            return self.scenario.duration
        return float(np.max(self.inputs[:, self.names.index("duration")]))

    @property
    def n_codes(self) -> int:
        """How many times native code is made."""
        columns = [self.names.index(name) for name in self.structural]
        return len(np.unique(self.inputs[:, columns], axis=0)) if columns else 1

    def changes(self, run: int) -> dict[str, float]:
        """The numbers of one run that are varied."""
        return dict(zip(self.names, self.inputs[run].tolist(), strict=True))

    def group(self, runs: Sequence[int]) -> list[list[int]]:
        """Runs that share native code, group after group."""
        columns = [self.names.index(name) for name in self.structural]
        groups: dict[tuple[float, ...], list[int]] = {}
        for run in runs:
            groups.setdefault(tuple(self.inputs[run, columns].tolist()), []).append(run)
        return list(groups.values())


def plan_sweep(
    what: Scenario | System,
    *,
    vary: Mapping[str, Sequence[float] | Factors] | None = None,
    random: Mapping[str, Distribution] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    measures: Sequence[str] = (),
    keep: Sequence[str] = (),
    along: str = "",
    points: int | None = None,
    rate: float | None = None,
    sampling: str = RANDOM,
) -> SweepPlan:
    """Plan runs of a scenario in which some of its numbers differ.

    Args:
        what: the scenario, or its system, which is traced again only where varied numbers of the mechanism are no
            inputs yet.
        vary: name, names with commas between them, or pattern -> values all of them take; `Factors` multiply.
        random: the same keys -> distribution; each number a pattern matches is drawn by itself, a list's together.
        runs: draws (at each point of the grid), 1000 by default, 1024 of a Sobol sequence.
        sampling: "random": each number has a stream of its own; "latin-hypercube" and "sobol" fill the space of all
            numbers more evenly, so that fewer runs give the same accuracy of means and indices.
        measures: `kind:signal`, such as "peak:deviation.horizontal"; by default peak and rms of every signal whose name
            begins with deviation or error, or else where the joints end.
        keep: signals (patterns) whose curves are kept, at `points` places (300 by default) along time or the signal
            `along`, over the range that this has in the scenario itself.

    Raises:
        ModelError: with every problem found.
    """
    # Numbers that are varied become inputs of one system; everything wrong is collected.
    flaws = FlawList()
    system = assemble_varied(what, [*(vary or {}), *(random or {})], keep)
    scenario = system.scenario
    numbers = find_numbers(system)
    axes, draws = make_axes(flaws, vary or {}, numbers), make_draws(flaws, random or {}, numbers)
    groups: list[GridAxis | Draw] = [*axes, *draws]
    names = [name for group in groups for name in group.names]
    check_once(flaws, names)
    if not (vary or random):
        flaws.add("", "nothing is varied", "name a number and its values")
    # Settings without an effect are refused.
    others = {"runs": runs, "seed": seed, "sampling": None if sampling == RANDOM else sampling}
    _check_settings(flaws, others if not random else {}, "nothing is drawn at random")
    count = (runs or (RUNS_OF_SOBOL if sampling == SOBOL else RUNS)) if random else 1
    _check_settings(flaws, {"along": along or None, "points": points} if not keep else {}, "no curves are recorded")
    flaws.add_unless_positive(runs=runs, points=points, rate=rate)
    measured = find_measures(flaws, measures, system)
    curves = _match_signals(flaws, "keep", keep, system)
    _match_signals(flaws, "along", [along] if along else [], system)
    in_all = float(np.prod([float(len(axis.places)) for axis in axes])) * count
    if in_all > MOST_RUNS:
        flaws.add("", f"{in_all:.3g} runs are too many", f"at most {MOST_RUNS:,}")
    check_sampling(flaws, sampling, count, len(draws))
    flaws.raise_if_any(f"sweep of '{scenario.name}'")
    # First the plan, then what follows from its own values: numbers for which code is made anew, places of curves.
    signals = {info.name: info for info in system.signals}
    plan = SweepPlan(
        scenario=scenario,
        system=system,
        axes=tuple(axes),
        draws=tuple(draws),
        runs=count,
        seed=SEED if seed is None else seed,
        measures=tuple(measured),
        structural=(),
        units={name: numbers[name].unit for name in names}
        | {name: signals[name].unit for name in (*curves, along) if name},
        keep=tuple(curves),
        along=along,
        held=tuple(name for name in curves if signals[name].kind == "held"),
        rate=rate,
        sampling=sampling,
        in_python=calls_python(system),
    )
    # Varied numbers that are no inputs of the native code. With constraints, start values and the duration decide how
    # they are kept, and an equilibrium is looked for near the start values: both belong to what is assembled.
    constrained = bool(plan.scenario.machine.all_constraints)
    structural = []
    for k, name in enumerate(plan.names):
        start = name.startswith(INITIAL) and plan.scenario.initialisation == "given"
        free = name in system.places or ((start or name == "duration") and not constrained)
        if not free or not np.all(np.isfinite(plan.inputs[:, k])):
            structural.append(name)
    plan = replace(plan, structural=tuple(structural))
    return replace(plan, places=_choose_places(plan, points or POINTS) if curves else ())


def assemble_varied(what: Scenario | System, keys: Iterable[str], signals: Sequence[str] = ()) -> System:
    """The system of a sweep: numbers of the mechanism that keys name are inputs, unless constraints are in the way."""
    scenario = what.scenario if isinstance(what, System) else what
    names = [] if scenario.machine.all_constraints else names_meant(keys, scenario)
    return assemble_tunable(what, names, signals)


def _check_settings(flaws: FlawList, settings: Mapping[str, object], reason: str) -> None:
    for name, value in settings.items():
        if value is not None:
            flaws.add(name, f"has no effect: {reason}", "leave it out")


def _match_signals(flaws: FlawList, path: str, patterns: Sequence[str], system: System) -> list[str]:
    chosen: dict[str, None] = {}
    for pattern in patterns:
        names = [name for name in system.signal_names if name == pattern or fits(name, [pattern])]
        if not names:
            flaws.add(f"{path} {pattern}", "there is no such signal", nearest(pattern, system.signal_names))
        chosen |= dict.fromkeys(names)
    return list(chosen)


def _choose_places(plan: SweepPlan, count: int) -> tuple[float, ...]:
    """Where curves are kept: equal steps of time, or of the range the signal `along` has in the scenario itself."""
    if not plan.along:
        return tuple(np.linspace(0.0, plan.longest, count).tolist())
    result = Nonlinear(plan)({"duration": plan.scenario.duration})
    if not result.outcome.carried_through:
        refuse("along", f"the scenario itself: {result.outcome.sentence}", source="sweep")
    way = result.signals[plan.along]
    first, last = float(way[0]), float(np.max(way))
    if not last > first:
        refuse("along", f"'{plan.along}' does not rise", "choose another signal, or time", "sweep")
    return tuple(np.linspace(first, last, count).tolist())
