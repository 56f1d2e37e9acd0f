"""Which runs of arm, payload and wall do the figures and pictures of the co-simulation study share?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from robodyn.catalog.space_case import PORT, space_case, space_case_sides
from robodyn.cosimulation import Connection, CosimulationRun, Master, ScenarioUnit, cosimulate
from robodyn.results import Run
from robodyn.simulation import simulate

DISTANCE = "touch.gap"
"""Of point A to the wall [m]."""
MILLI = 1e3
STEPS = (0.02, 0.05, 0.1, 0.2, 0.3)
"""Macro steps of reduced interface models in both directions [s]."""
SIGNAL_STEPS = (0.004, 0.005, 0.01)
SIGNAL_SPAN = 10.0
"""Signals are compared over the first part of the manoeuvre only [s]: what is unstable is so from the start."""
COMPARED = 0.02
"""Macro step at which all couplings are compared [s]."""
LENGTH = 5.0
"""In units of which turns are compared with displacements, for condition numbers [m]."""
ACCURATE, STABLE = 1e-3, 0.2
"""Largest error of the distance of what is called accurate, and of what is called stable [m]: own choices."""
UNLIMITED = 1e30
"""A condition number that is never reached."""
LARGEST = 1e6
"""Exchanged signal at which a run has diverged: forces of the manoeuvre are below 1 kN."""


@dataclass(frozen=True, eq=False)
class Case:
    """One co-simulation of arm and payload.

    Attributes:
        error: largest difference of the distance of point A from the monolithic run, as far as it got [m].
        condition: largest condition number of an interface's mobility, 1 where only signals were sent.
    """

    run: CosimulationRun
    error: float
    condition: float

    @property
    def finished(self) -> bool:
        return self.run.outcome.ok

    @property
    def stable(self) -> bool:
        return self.finished and self.error < STABLE


@cache
def whole(flexible: bool) -> Run:
    """The monolithic reference."""
    return simulate(space_case(flexible))


@cache
def _units(coupling: str, flexible: bool) -> tuple[ScenarioUnit, ScenarioUnit]:
    arm, payload = space_case_sides(coupling, flexible)
    return ScenarioUnit(arm, name="arm", length=LENGTH), ScenarioUnit(payload, name="payload", length=LENGTH)


@cache
def couple(
    coupling: str, flexible: bool, step: float, order: int = 0, duration: float | None = None, watched: bool = True
) -> Case:
    """Arm and payload, co-simulated.

    Args:
        coupling: one of `catalog.space_case.COUPLINGS`; step: macro step [s].
        watched: whether a run ends where the condition number of an interface is beyond the master's limit.
    """
    units = [unit.renew() for unit in _units(coupling, flexible)]
    connection = Connection(f"arm.{PORT}", f"payload.{PORT}", order)
    limit = Master.condition_limit if watched else UNLIMITED
    master, name = Master(step, largest_value=LARGEST, condition_limit=limit), f"space-case-{coupling}"
    run = cosimulate(units, [connection], master=master, duration=duration, name=name)
    return Case(run, _error(run["payload"], whole(flexible)), _condition(run.coupling, connection.name))


def _error(run: Run, reference: Run) -> float:
    apart = np.abs(run[DISTANCE].values - reference[DISTANCE](run.time))
    return float(np.max(apart)) if np.all(np.isfinite(apart)) else float("inf")


def _condition(coupling: Run, name: str) -> float:
    return float(np.max(coupling[f"{name}.condition"].values, initial=1.0))


def longest(cases: dict[float, Case], accurate: bool = False) -> float:
    """Longest macro step up to which all shorter ones are stable, or accurate, too [s]; 0 where none is."""
    found = 0.0
    for step in sorted(cases):
        case = cases[step]
        if not (case.stable and (case.error <= ACCURATE or not accurate)):
            break
        found = step
    return found


def models(flexible: bool = True) -> dict[float, Case]:
    """Reduced interface models in both directions, by macro step."""
    return {step: couple("model-model", flexible, step) for step in STEPS}


def signals(order: int) -> dict[float, Case]:
    """Forces one way and motions the other, flexible arm, by macro step."""
    return {step: couple("signals", True, step, order, SIGNAL_SPAN) for step in SIGNAL_STEPS}
