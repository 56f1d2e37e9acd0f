"""Co-simulation run, as a result: a run of each unit, a record of the coupling, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from robodyn.base.lazy import Displayed, later
from robodyn.computation.results import Certificate, Outcome, Run, Statistics, save


@dataclass(frozen=True, eq=False)
class CosimulationRun(Displayed):
    """What happened.

    Attributes:
        runs: unit -> its run.
        coupling: at each communication point, the signals exchanged (`unit.signal`, right after the exchange), and for
            each connection `<first>-<second>.energy_error` [J] so far, `.gap` (largest distance or angle between the
            sides before the exchange), `.condition` of the worst reduced model.
        statistics: steps and rejected ones are macro steps.
    """

    name: str
    runs: Mapping[str, Run]
    coupling: Run
    outcome: Outcome
    statistics: Statistics
    warnings: tuple[str, ...] = ()

    summary = later("robodyn.presentation.reporting.displays:describe")

    def __getitem__(self, unit: str) -> Run:
        """The run of a unit."""
        if unit not in self.runs:
            raise KeyError(f"no unit {unit!r}; there are {', '.join(self.runs)}")
        return self.runs[unit]

    @property
    def certificate(self) -> Certificate:
        """What the coupling checked of itself; each unit's run has its own."""
        return self.coupling.certificate

    def energy_error(self, connection: str | None = None) -> float:
        """Energy created at a connection by the end [J]; at all of them together by default."""
        final = self.coupling.final
        wanted = [name for name in final if name.endswith(".energy_error")]
        return sum(final[name] for name in wanted if connection in (None, name.removesuffix(".energy_error")))

    def describe_steps(self) -> str:
        """How many macro steps there were, and how long they really were: events cut them, and the end the last one."""
        steps = self.coupling["macro_step"].values
        taken = steps[steps > 0]
        if not taken.size:
            return f"{self.statistics.steps} macro steps"
        shortest, longest = float(taken.min()), float(taken.max())
        alike = longest - shortest <= 1e-9 * longest
        lengths = f"{longest:.6g} s" if alike else f"{shortest:.6g} to {longest:.6g} s"
        return f"{self.statistics.steps} macro steps of {lengths}"


def save_cosimulation(run: CosimulationRun, folder: str | Path) -> dict[str, Path]:
    """Write the runs of all units and the record of the coupling into a folder; unit -> file."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parts = dict(run.runs) | {"coupling": run.coupling}
    return {name: save(part, folder / f"{run.name}-{name}.run") for name, part in parts.items()}
