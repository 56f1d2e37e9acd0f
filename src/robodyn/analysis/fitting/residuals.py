"""Residuals and their Jacobian: how far are simulations from the data, and how does that change with parameters?

    r_k = (y(t_k; p) - measured_k) / noise,    J = dr/dz = (dy/dp)(dp/dz) / noise

for every sample that is not missing, signal after signal, recording after recording.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.analysis.coloured_noise import Part
from robodyn.analysis.fitting.search_space import Scale
from robodyn.analysis.sensitivity.system import sensitivity_name
from robodyn.analysis.sensitivity.variation import Variation
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats

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
    noise: Floats
    evaluations: int = 0
    failure: str = ""
    _kept: tuple[bytes, Run] | None = field(default=None, repr=False)

    def run(self, z: Floats) -> Run | None:
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
        self._limit_steps(run)
        self._kept = (key, run)
        return run

    def _limit_steps(self, run: Run) -> None:
        """Bound the work of later runs by that of the first one."""
        if self._kept is None and self.variation.solver.adaptive:
            steps = MOST_STEPS * (run.statistics.steps + run.statistics.rejected) + FEWEST_STEPS
            most = min(steps, self.variation.solver.max_steps or steps)
            solver = dataclasses.replace(self.variation.solver, max_steps=most)
            self.variation = dataclasses.replace(self.variation, solver=solver)

    def weighed(self, z: Floats) -> Floats:
        """r(z); not finite where the simulation failed, so that the search turns back."""
        run = self.run(z)
        return np.full(self.present.sum(), np.inf) if run is None else self._weigh(self._apart(run))

    def slopes(self, z: Floats) -> Floats:
        """J(z), exact where there are exact sensitivities, else by central differences."""
        if not self.variation.exact:
            return self._differences(z)
        run = self.run(z)
        if run is None:
            return np.full((self.present.sum(), len(self.scales)), np.nan)
        columns = []
        for name, scale, zk in zip(self.names, self.scales, z, strict=True):
            table = np.column_stack([run[sensitivity_name(signal, name)].values for signal in self.data.names])
            columns.append(self._weigh(table) * scale.slope(float(zk)))
        return np.column_stack(columns)

    def _differences(self, z: Floats) -> Floats:
        columns, size = [], ACROSS_JUMPS if self.variation.leaps else DIFFERENCE
        middle = self._kept
        for step in size * np.eye(len(self.scales)):
            columns.append((self.weighed(z + step) - self.weighed(z - step)) / (2 * size))
        self._kept = middle or self._kept
        return np.column_stack(columns)

    def apart(self, z: Floats) -> Floats:
        """Measured minus simulated, (n_samples, n_signals)."""
        run = self.run(z)
        return np.full(self.data.values.shape, np.nan) if run is None else -self._apart(run)

    def _apart(self, run: Run) -> Floats:
        return np.column_stack([run[name].values for name in self.data.names]) - self.data.values

    def _weigh(self, table: Floats) -> Floats:
        return (table / self.noise).T[self.present]

    @property
    def present(self) -> Floats:
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
    scales: tuple[Scale, ...]
    lowest: float = float("inf")
    on_run: Callable[[], None] | None = None
    pool: Executor | None = None
    is_stopped: Callable[[], bool] = bool
    stepwise: tuple[int, ...] = ()

    def __call__(self, z: Floats) -> Floats:
        if self.is_stopped():
            raise KeyboardInterrupt
        r = np.concatenate(list(self._map(RecordingResiduals.weighed, z)))
        self.lowest = min(self.lowest, 0.5 * float(r @ r)) if np.isfinite(r).all() else self.lowest
        if self.on_run:
            self.on_run()
        return r

    def slopes(self, z: Floats) -> Floats:
        found = list(self._map(RecordingResiduals.slopes, z))
        rows = [np.zeros((len(J), len(z))) for J in found]
        for row, J, places in zip(rows, found, self.places, strict=True):
            row[:, places] = J
        whole = np.vstack(rows)
        for k in self.stepwise:
            whole[:, k] = self.difference(z, k)
        return whole

    def difference(self, z: Floats, k: int) -> Floats:
        """Change of the residuals with one parameter over a wide step, by that step; the runs kept are those before."""
        kept = [part._kept for part in self.parts]
        step = STEPWISE * np.eye(len(z))[k]
        ends = [np.concatenate(list(self._map(RecordingResiduals.weighed, at))) for at in (z + step, z - step)]
        for part, run in zip(self.parts, kept, strict=True):
            part._kept = run
        return np.nan_to_num((ends[0] - ends[1]) / (2 * STEPWISE), posinf=0.0, neginf=0.0)

    def split(self, r: Floats, J: Floats) -> list[Part]:
        """Residuals and slopes of each recording by rows and signals, those of all recordings."""
        names, found, begin = self.names, list[Part](), 0
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
            found.append(Part(X, e, used))
        return found

    def carried_through(self, z: Floats) -> bool:
        """Whether all simulations are, at z."""
        return all(run is not None for run in self._map(RecordingResiduals.run, z))

    def _map(self, work: Callable[[RecordingResiduals, Floats], Any], z: Floats) -> Iterator[Any]:
        own = [np.asarray(z, float)[places] for places in self.places]
        return self.pool.map(work, self.parts, own) if self.pool else map(work, self.parts, own)

    def each(self, z: Floats) -> Iterator[tuple[RecordingResiduals, Floats]]:
        """Recordings with their own parts of z."""
        return zip(self.parts, [z[places] for places in self.places], strict=True)

    def copy(self, is_stopped: Callable[[], bool]) -> Residuals:
        """The same for another search, with runs and counts of its own."""
        parts = tuple(dataclasses.replace(part, evaluations=0, failure="", _kept=None) for part in self.parts)
        return Residuals(parts, self.places, self.scales, is_stopped=is_stopped, stepwise=self.stepwise)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all signals."""
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
        """The same, signals weighed by another noise."""
        weights = [np.array([noise[name] for name in part.data.names]) for part in self.parts]
        pairs = zip(self.parts, weights, strict=True)
        return dataclasses.replace(self, parts=tuple(dataclasses.replace(part, noise=w) for part, w in pairs))
