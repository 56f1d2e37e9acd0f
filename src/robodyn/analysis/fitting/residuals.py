"""Residuals and their Jacobian: how far are simulations from the data, and how does that change with parameters?

    r_k = (y(t_k; p) - measured_k) / noise,    J = dr/dz = (dy/dp)(dp/dz) / noise

for every sample that is not missing, signal after signal, recording after recording.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robodyn.analysis.coloured_noise import ResidualRows
from robodyn.analysis.measurement.data_sheet import describe_saturation
from robodyn.analysis.measurement.measured import drive_by_data, last_as_long, match_measured, without
from robodyn.analysis.sensitivity.parameters import INITIAL, check_quaternions
from robodyn.analysis.sensitivity.variation import Variation, assemble_tunable, prepare_variation
from robodyn.base import Array, FlawList, ModelError, frozen, refuse
from robodyn.computation.assembly import System
from robodyn.computation.results import Run
from robodyn.description.model import Solver

from .search_space import OF_RECORDING, Bounds, Scale, Scales, make_scales

DIFFERENCE, ACROSS_JUMPS = 1e-4, 1e-2
"""Change of a scaled parameter for central differences, and where blocks jump: many small jumps are one slope."""
STEPWISE = 0.05
"""Change of a scaled parameter that acts at samples alone, such as what holds until a sampled force exceeds it."""
MOST_STEPS = 50
"""A simulation that takes this many times the steps of the first one counts as failed: its parameters are far off."""
FEWEST_STEPS = 20_000


@dataclass
class RecordingResiduals:
    """Residuals of one recording and their slopes, by the scaled parameters that it depends on; the last run is kept.

    Attributes:
        names: of these parameters in the scenario; given: numbers that only this recording has.
        noise: of each signal of the data, in its unit.
        failure: why the last simulation gave none.
    """

    label: str
    variation: Variation
    data: Run
    names: Sequence[str]
    scales: Sequence[Scale]
    given: dict[str, float]
    noise: Array
    evaluations: int = 0
    failure: str = ""
    _kept: tuple[bytes, Run] | None = field(default=None, repr=False)

    def run(self, z: Array) -> Run | None:
        """The simulation at z, None where it could not be carried through."""
        key = np.asarray(z, float).tobytes()
        if self._kept and self._kept[0] == key:
            return self._kept[1]
        values = {name: s.value(float(zk)) for name, s, zk in zip(self.names, self.scales, z, strict=True)}
        run = self.variation.attempt(self.given | values, self.data.time)
        self.evaluations += 1
        if isinstance(run, str):
            self.failure = run
            return None
        # Bound the work of later runs by that of the first one.
        if self._kept is None and self.variation.solver.adaptive:
            steps = MOST_STEPS * (run.statistics.steps + run.statistics.rejected) + FEWEST_STEPS
            most = min(steps, self.variation.solver.max_steps or steps)
            solver = dataclasses.replace(self.variation.solver, max_steps=most)
            self.variation = dataclasses.replace(self.variation, solver=solver)
        self._kept = (key, run)
        return run

    def weighed(self, z: Array) -> Array:
        """r(z); not finite where the simulation failed, so that the search turns back."""
        run = self.run(z)
        return np.full(self.present.sum(), np.inf) if run is None else self._weigh(self._apart(run))

    def slopes(self, z: Array) -> Array:
        """J(z), exact where there are exact sensitivities, else by central differences."""
        if not self.variation.exact:
            return self._differences(z)
        run = self.run(z)
        if run is None:
            return np.full((self.present.sum(), len(self.scales)), np.nan)
        columns = []
        for name, scale, zk in zip(self.names, self.scales, z, strict=True):
            columns.append(self._weigh(self.variation.slopes(run, name)) * scale.slope(float(zk)))
        return np.column_stack(columns)

    def _differences(self, z: Array) -> Array:
        columns, size = [], ACROSS_JUMPS if self.variation.leaps else DIFFERENCE
        middle = self._kept
        for step in size * np.eye(len(self.scales)):
            columns.append((self.weighed(z + step) - self.weighed(z - step)) / (2 * size))
        self._kept = middle or self._kept
        return np.column_stack(columns)

    def apart(self, z: Array) -> Array:
        """Measured minus simulated, (n_samples, n_signals)."""
        run = self.run(z)
        return np.full(self.data.values.shape, np.nan) if run is None else -self._apart(run)

    def _apart(self, run: Run) -> Array:
        return self.variation.values(run) - self.data.values

    def _weigh(self, table: Array) -> Array:
        return (table / self.noise).T[self.present]

    @property
    def present(self) -> Array:
        """Which samples there are, signal after signal."""
        return np.isfinite(self.data.values).T


@dataclass
class Residuals:
    """Residuals of all recordings as functions of all scaled parameters.

    Attributes:
        places: of each recording's parameters among all.
        lowest: least cost met, for progress; on_run: called after the simulations of a point.
        pool: where recordings are simulated side by side, None for one after the other.
        is_stopped: whether another thread has ended the fit.
        stepwise: parameters without effect but in steps; their slopes are differences over `STEPWISE`.
    """

    parts: tuple[RecordingResiduals, ...]
    places: tuple[list[int], ...]
    scales: Scales
    lowest: float = float("inf")
    on_run: Callable[[], None] | None = None
    pool: Executor | None = None
    is_stopped: Callable[[], bool] = bool
    stepwise: tuple[int, ...] = ()

    def __call__(self, z: Array) -> Array:
        if self.is_stopped():
            raise KeyboardInterrupt
        r = np.concatenate(list(self._map(RecordingResiduals.weighed, z)))
        self.lowest = min(self.lowest, 0.5 * float(r @ r)) if np.isfinite(r).all() else self.lowest
        if self.on_run:
            self.on_run()
        return r

    def slopes(self, z: Array) -> Array:
        found = list(self._map(RecordingResiduals.slopes, z))
        rows = [np.zeros((len(J), len(z))) for J in found]
        for row, J, places in zip(rows, found, self.places, strict=True):
            row[:, places] = J
        whole = np.vstack(rows)
        for k in self.stepwise:
            whole[:, k] = self.difference(z, k)
        return whole

    def difference(self, z: Array, k: int) -> Array:
        """Change of the residuals with one parameter over a wide step, by that step; the runs kept are those before."""
        kept = [part._kept for part in self.parts]
        step = STEPWISE * np.eye(len(z))[k]
        ends = [np.concatenate(list(self._map(RecordingResiduals.weighed, at))) for at in (z + step, z - step)]
        for part, run in zip(self.parts, kept, strict=True):
            part._kept = run
        return np.nan_to_num((ends[0] - ends[1]) / (2 * STEPWISE), posinf=0.0, neginf=0.0)

    def split(self, r: Array, J: Array) -> list[ResidualRows]:
        """Residuals and slopes of each recording by rows and signals, those of all recordings."""
        names, parts, begin = self.names, list[ResidualRows](), 0
        for part in self.parts:
            rows, columns = len(part.data.time), [names.index(name) for name in part.data.names]
            used = np.zeros((rows, len(names)), bool)
            used[:, columns] = part.present.T
            X, e = np.zeros((rows, len(names), J.shape[1])), np.zeros((rows, len(names)))
            # Residuals come signal after signal.
            places = [np.flatnonzero(own) for own in part.present]
            for column, own in zip(columns, places, strict=True):
                X[own, column], e[own, column] = J[begin : begin + own.size], r[begin : begin + own.size]
                begin += own.size
            parts.append(ResidualRows(X, e, used))
        return parts

    def carried_through(self, z: Array) -> bool:
        """Whether all simulations are, at z."""
        return all(run is not None for run in self._map(RecordingResiduals.run, z))

    def _map(self, work: Callable[[RecordingResiduals, Array], Any], z: Array) -> Iterator[Any]:
        own = [np.asarray(z, float)[places] for places in self.places]
        return self.pool.map(work, self.parts, own) if self.pool else map(work, self.parts, own)

    def each(self, z: Array) -> Iterator[tuple[RecordingResiduals, Array]]:
        """Recordings with their own parts of z."""
        return zip(self.parts, [z[places] for places in self.places], strict=True)

    def copy(self, is_stopped: Callable[[], bool]) -> Residuals:
        """These residuals for another search, with runs and counts of its own."""
        parts = tuple(dataclasses.replace(part, evaluations=0, failure="", _kept=None) for part in self.parts)
        return Residuals(parts, self.places, self.scales, is_stopped=is_stopped, stepwise=self.stepwise)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all signals."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.data.names))

    @property
    def evaluations(self) -> int:
        return sum(part.evaluations for part in self.parts)

    @property
    def failure(self) -> str:
        return next((part.failure for part in self.parts if part.failure), "")

    @property
    def noise(self) -> dict[str, float]:
        return {name: float(s) for part in self.parts for name, s in zip(part.data.names, part.noise, strict=True)}

    def with_noise(self, noise: dict[str, float]) -> Residuals:
        """These residuals, signals weighed by another noise."""
        weights = [np.array([noise[name] for name in part.data.names]) for part in self.parts]
        pairs = zip(self.parts, weights, strict=True)
        return dataclasses.replace(self, parts=tuple(dataclasses.replace(part, noise=w) for part, w in pairs))


# --------------------------------------------------------------------------------------------------
# Experiments of a fit: which recordings, with which numbers of their own, are simulated by which scenario?


Noise = Mapping[str, float] | float | None


@frozen
class Experiment:
    """A recording and the numbers of the scenario that it was made with, such as `initial.elbow.position`.

    Attributes:
        label: what it is called in results; the name of its file unless given.
    """

    data: Run
    numbers: Mapping[str, float] = field(default_factory=dict)
    label: str = ""


def list_experiments(data: Run | Experiment | Sequence[Run | Experiment]) -> list[Experiment]:
    """Every recording with a label of its own."""
    several = [data] if isinstance(data, Run | Experiment) else list(data)
    if not several:
        refuse("data", "there are none", "give at least one recording", "fit")
    experiments = [one if isinstance(one, Experiment) else Experiment(one) for one in several]
    labels = [one.label or str(one.data.provenance.description.get("file", "")) for one in experiments]
    counts = Counter(labels)
    unique = [name if name and counts[name] == 1 else f"{name or 'recording'} {k + 1}" for k, name in enumerate(labels)]
    return [replace(one, label=label) for one, label in zip(experiments, unique, strict=True)]


def split_experiments(
    experiments: Sequence[Experiment], inputs: Sequence[str], held_out: float
) -> tuple[list[Run], list[Run]]:
    """Recordings that are fitted to, without their last samples, and the whole ones; inputs are left out of both."""
    if not 0 <= held_out < 1:
        refuse("held_out", f"must be at least 0 and below 1, is {held_out:g}", source="fit")
    whole = [without(one.data, inputs) if inputs else one.data for one in experiments]
    if not held_out:
        return whole, whole
    fitted = []
    for data in whole:
        late = np.arange(len(data.time))[:, None] >= int(round((1 - held_out) * len(data.time)))
        fitted.append(replace(data, values=np.where(late, np.nan, data.values)))
    return fitted, whole


def check_request(
    system: System,
    experiments: Sequence[Experiment],
    free: Sequence[str],
    each: Sequence[str],
    starts: int,
) -> None:
    """Refuse names that cannot be free, and measured efforts at their limit."""
    flaws, scenario = FlawList(), system.scenario
    if isinstance(free, str) or isinstance(each, str) or not [*free, *each]:
        flaws.add("free", "must name at least one number to fit")
    elif len({*free, *each}) < len(free) + len(each):
        flaws.add("free", "names a number twice")
    if starts < 1:
        flaws.add("starts", f"must be at least 1, is {starts}")
    for name in each:
        if ".inertia." in name:
            flaws.add(name, "cannot differ from recording to recording", "leave it out of each")
    for one in experiments:
        for name in set(one.numbers) & {*free, *each}:
            flaws.add(f"{one.label}: {name}", "is both given and free", "remove one of the two")
    check_quaternions(scenario, [*free, *each], flaws)
    if "duration" in [*free, *each]:
        flaws.add("duration", "comes from the data", "leave it out of free")
    flaws.raise_if_any("fit")
    for one in experiments:
        _refuse_saturated(one, system.signal_units)


def _refuse_saturated(one: Experiment, units: Mapping[str, str]) -> None:
    """Refuse measured currents, voltages and forces that stay at their limit, with rows and remedy."""
    flaws = FlawList()
    saturated = one.data.provenance.description.get("saturation_kept", [])
    for info in one.data.infos:
        unit = info.unit or units.get(info.name, "")
        if info.name not in saturated and info.kind == "continuous" and unit in EFFORTS:
            describe_saturation(info.name, one.data, flaws)
    flaws.raise_if_any(one.label)


EFFORTS = ("A", "V", "N", "N m")
"""Units of signals that drives limit."""


def check_noise(names: Sequence[str], noise: Noise) -> None:
    """Refuse noise of unknown signals, of some of them only, or that is not positive."""
    flaws = FlawList()
    levels = dict(noise) if isinstance(noise, Mapping) else {name: noise for name in names if noise is not None}
    flaws.add_unknown(levels, names, "is not a signal of the data", "noise")
    flaws.add_unless_positive(**{f"noise.{name}": level for name, level in levels.items()})
    for name in names if isinstance(noise, Mapping) else ():
        if name not in levels:
            flaws.add(f"noise.{name}", "is missing", "give it for every signal or for none")
    flaws.raise_if_any("fit")


def make_residuals(
    system: System,
    experiments: Sequence[Experiment],
    fitted: Sequence[Run],
    free: Sequence[str],
    each: Sequence[str],
    bounds: Mapping[str, Bounds],
    noise: Noise,
    inputs: Sequence[str],
    solver: Solver | None,
    exact: bool,
) -> Residuals:
    """Residuals of all recordings; numbers of `each` are there once for every one of them."""
    # Parameters: those that all recordings share, then those that each has its own of.
    variations = _prepare(system, experiments, fitted, [*free, *each], inputs, solver, exact)
    several = len(experiments) > 1
    numbers = list(variations[0].numbers[: len(free)])
    places = []
    for one, variation in zip(experiments, variations, strict=True):
        places.append([*range(len(free)), *range(len(numbers), len(numbers) + len(each))])
        for number in variation.numbers[len(free) :]:
            numbers.append(replace(number, name=f"{one.label}{OF_RECORDING}{number.name}") if several else number)
    # Bounds of a number that each recording has its own of are those of every one of them.
    ranges = {}
    for number in numbers:
        short = number.name.rpartition(OF_RECORDING)[2]
        if short in bounds and short in each:
            ranges[number.name] = bounds[short]
    ranges |= {name: pair for name, pair in bounds.items() if name not in each}
    scales = make_scales(numbers, ranges)
    level = _first_noise(fitted, noise)
    parts = [
        RecordingResiduals(
            one.label, variation, data, [*free, *each], [scales[k] for k in own], _changed(one, variation),
            np.array([level[name] for name in data.names]),
        )
        for one, variation, data, own in zip(experiments, variations, fitted, places, strict=True)
    ]  # fmt: skip
    return Residuals(tuple(parts), tuple(places), scales)


def _first_noise(runs: Sequence[Run], noise: Noise) -> dict[str, float]:
    """Divisors of the residuals: the noise given, else each signal's own spread, so that all count alike."""
    names = dict.fromkeys(name for run in runs for name in run.names)
    check_noise(list(names), noise)
    if noise is not None:
        return {name: float(noise[name] if isinstance(noise, Mapping) else noise) for name in names}
    spread = {name: max(float(np.nanstd(run[name].values)) for run in runs if name in run) for name in names}
    return {name: value if value > 0 else 1.0 for name, value in spread.items()}


def _prepare(
    system: System,
    experiments: Sequence[Experiment],
    fitted: Sequence[Run],
    names: Sequence[str],
    inputs: Sequence[str],
    solver: Solver | None,
    exact: bool,
) -> list[Variation]:
    """Native code for each recording: one for all that differ by numbers of the code, states and durations alone."""
    variations: dict[tuple[str, ...], Variation] = {}
    recordings = []
    for one, data in zip(experiments, fitted, strict=True):
        driven = assemble_tunable(drive_by_data(system.scenario, one.data, inputs), names) if inputs else system
        try:
            match_measured(data, driven.signal_units)
            own = driven.lasting(last_as_long(driven.scenario, data))
        except ModelError as error:
            raise ModelError(error.flaws, one.label) from error
        variation = variations.get(data.names)
        if variation is None or inputs or set(_changed(one, variation)) != set(one.numbers):
            what = own.scenario.with_numbers(one.numbers) if one.numbers else own
            variation = prepare_variation(what, names, data.names, solver, exact=exact)
            if not inputs and not one.numbers:
                variations[data.names] = variation
        recordings.append(variation.lasting(own.scenario.duration))
    return recordings


def _changed(one: Experiment, variation: Variation) -> dict[str, float]:
    """Those of a recording's own numbers that are inputs of the code."""
    parameters = {number.name for number in variation.compiled.system.parameters}
    return {name: value for name, value in one.numbers.items() if name in parameters or name.startswith(INITIAL)}


def spread_noise(residuals: Residuals, z: Array) -> dict[str, float]:
    """Root mean square of each signal's residual, the degrees of freedom shared among the signals."""
    apart: dict[str, list[Array]] = {name: [] for name in residuals.names}
    for part, own in residuals.each(z):
        for name, column in zip(part.data.names, part.apart(own).T, strict=True):
            apart[name].append(column[np.isfinite(column)])
    found = {name: np.concatenate(columns) for name, columns in apart.items()}
    total = sum(e.size for e in found.values())
    # Data without noise are met to the accuracy of the simulation, not better.
    rtol = residuals.parts[0].variation.solver.rtol
    least = {n: rtol * max(np.nanstd(p.data[n].values) for p in residuals.parts if n in p.data) for n in found}
    freedom = {name: max(e.size - len(z) * e.size / total, 1.0) for name, e in found.items()}
    return {n: float(max(np.sqrt(np.sum(e**2) / freedom[n]), least[n], 1e-300)) for n, e in found.items()}
