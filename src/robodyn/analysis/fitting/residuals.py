"""Residuals and their Jacobian: how far is a simulation from the data, and how does that change with parameters?

    r_k = (y(t_k; p) - measured_k) / noise,    J = dr/dz = (dy/dp)(dp/dz) / noise

for every sample that is not missing, signal after signal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from robodyn.analysis.fitting.scaling import Scale
from robodyn.analysis.sensitivity.tangent import sensitivity_name
from robodyn.analysis.sensitivity.variation import Variation
from robodyn.errors import ModelError
from robodyn.model import Recording
from robodyn.results import OutcomeKind, Run
from robodyn.results.signal import Floats

DIFFERENCE, ACROSS_JUMPS = 1e-4, 1e-2
"""Change of a scaled parameter for central differences, and where blocks jump: many small jumps are one slope."""
MOST_STEPS = 50
"""A simulation that takes this many times the steps of the first one counts as failed: its parameters are far off."""
FEWEST_STEPS = 20_000


@dataclass
class Residuals:
    """Residuals and their slopes as functions of the scaled parameters; the last run is kept.

    Attributes:
        noise: of each signal of the data, in its unit.
        failure: why the last simulation gave none; lowest: least cost met, for progress.
        on_run: called after every simulation.
    """

    variation: Variation
    data: Run
    scales: Sequence[Scale]
    noise: Floats
    evaluations: int = 0
    failure: str = ""
    lowest: float = float("inf")
    on_run: Callable[[], None] | None = None
    _kept: tuple[bytes, Run] | None = field(default=None, repr=False)

    def run(self, z: Floats) -> Run | None:
        """The simulation at z, None where it could not be carried through."""
        key = np.asarray(z, float).tobytes()
        if self._kept and self._kept[0] == key:
            return self._kept[1]
        run = self._simulate({s.number.name: s.value(float(zk)) for s, zk in zip(self.scales, z, strict=True)})
        self.evaluations += 1
        if run is not None:
            self._limit_steps(run)
            self._kept = (key, run)
            self.lowest = min(self.lowest, 0.5 * float(np.sum(self._weighed(self._apart(run)) ** 2)))
        if self.on_run:
            self.on_run()
        return run

    def _limit_steps(self, run: Run) -> None:
        """Bound the work of later runs by that of the first one."""
        if self._kept is None and self.variation.solver.adaptive:
            steps = MOST_STEPS * (run.statistics.steps + run.statistics.rejected) + FEWEST_STEPS
            most = min(steps, self.variation.solver.max_steps or steps)
            solver = dataclasses.replace(self.variation.solver, max_steps=most)
            self.variation = dataclasses.replace(self.variation, solver=solver)

    def _simulate(self, values: dict[str, float]) -> Run | None:
        recording = Recording(times=tuple(self.data.time.tolist()))
        try:
            run = self.variation.run(values, recording)
        except ModelError as error:
            self.failure = "; ".join(str(flaw) for flaw in error.flaws)
            return None
        if run.outcome.kind is OutcomeKind.INTERRUPTED:
            raise KeyboardInterrupt
        if not run.outcome.carried_through or run.time.size != self.data.time.size:
            self.failure = run.outcome.sentence
            return None
        return run

    def __call__(self, z: Floats) -> Floats:
        """r(z); not finite where the simulation failed, so that the search turns back."""
        run = self.run(z)
        return np.full(self._present.sum(), np.inf) if run is None else self._weighed(self._apart(run))

    def slopes(self, z: Floats) -> Floats:
        """J(z), exact where there are exact sensitivities, else by central differences."""
        if not self.variation.exact:
            return self._differences(z)
        run = self.run(z)
        if run is None:
            return np.full((self._present.sum(), len(self.scales)), np.nan)
        columns = []
        for scale, zk in zip(self.scales, z, strict=True):
            names = [sensitivity_name(name, scale.number.name) for name in self.data.names]
            columns.append(
                self._weighed(np.column_stack([run[name].values for name in names])) * scale.slope(float(zk))
            )
        return np.column_stack(columns)

    def _differences(self, z: Floats) -> Floats:
        columns, size = [], ACROSS_JUMPS if self.variation.leaps else DIFFERENCE
        for step in size * np.eye(len(self.scales)):
            columns.append((self(z + step) - self(z - step)) / (2 * size))
        return np.column_stack(columns)

    def apart(self, z: Floats) -> Floats:
        """Measured minus simulated, (n_samples, n_signals)."""
        run = self.run(z)
        return np.full(self.data.values.shape, np.nan) if run is None else -self._apart(run)

    def _apart(self, run: Run) -> Floats:
        return np.column_stack([run[name].values for name in self.data.names]) - self.data.values

    def _weighed(self, table: Floats) -> Floats:
        return (table / self.noise).T[self._present]

    @property
    def _present(self) -> Floats:
        """Which samples there are, signal after signal."""
        return np.isfinite(self.data.values).T
