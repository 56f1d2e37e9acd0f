"""Tuning cases: under which circumstances must gains be good? Payloads, start values and draws, each a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robodyn.analysis.sensitivity.parameters import INITIAL
from robodyn.analysis.sensitivity.variation import assemble_tunable
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.variation import Distribution, Factors
from robodyn.base.errors import FlawList, ModelError
from robodyn.computation.assembly import System

RUNS = 8
"""Draws where their number is not given."""


@dataclass(frozen=True)
class Cases:
    """The system of a scenario with the numbers that differ from case to case as inputs of its native code."""

    system: System
    changes: tuple[Mapping[str, float], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.changes[0])

    def starts(self, case: int) -> dict[str, float]:
        """Start values of states that the case changes."""
        return {name.removeprefix(INITIAL): v for name, v in self.changes[case].items() if name.startswith(INITIAL)}

    def parameters(self, case: int) -> dict[str, float]:
        """The other numbers that it changes."""
        return {name: value for name, value in self.changes[case].items() if not name.startswith(INITIAL)}


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
