"""Co-simulation study, runs: which of arm, payload and wall do published values and pictures share?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from robodyn.computation.cosimulation import Connection, CosimSettings, CosimulationRun, ScenarioUnit, cosimulate
from robodyn.computation.results import OutcomeKind, Run
from robodyn.computation.simulation import simulate
from robodyn_studies.catalog.space_case import LATCHED, PORT, YAW, Manoeuvre, space_case, space_case_sides

DISTANCE, FORCE = "touch.gap", "touch.force.normal"
"""Of point A to the wall [m], and of the wall on it [N]."""
PLACE = tuple(f"A.position.{axis}" for axis in "xyz")
MILLI = 1e3
COMPARED = 0.02
"""Macro step at which couplings are compared [s]."""
LENGTH = 5.0
"""In units of which turns are compared with displacements, for condition numbers [m]."""
ACCURATE = 1e-3
"""Largest error of the distance of what is called accurate [m]."""
SETTLED = 33.0
"""From here on the payload is at rest in touch with the wall [s]."""
UNLIMITED = 1e30
"""A condition number that is never reached."""
LARGEST = 1e5
"""Exchanged signal at which a run has diverged: forces of the manoeuvre are below 1 kN."""


@dataclass(frozen=True)
class Way:
    """How arm and payload are coupled.

    Attributes:
        coupling: one of `catalog.space_case.COUPLINGS`; order: of what goes on between exchanges.
        scheme: of the co-simulation; first: the unit that goes first.
        join: of models in both directions.
        implicit: whether models hold what their forces become within the macro step.
    """

    coupling: str
    flexible: bool = True
    order: int = 0
    scheme: str = "parallel"
    first: str = "arm"
    join: str | None = None
    manoeuvre: Manoeuvre = YAW
    implicit: bool = False

    @property
    def latched(self) -> bool:
        """Whether arm and payload meet through the latch."""
        return self.coupling in LATCHED

    @property
    def connection(self) -> Connection:
        return Connection(f"arm.{PORT}", f"payload.{PORT}", self.order, join=self.join, implicit=self.implicit)

    def units(self) -> list[ScenarioUnit]:
        """Arm and payload at their start, in the order in which they go."""
        pair = [unit.renew() for unit in _units(self.coupling, self.flexible, self.manoeuvre)]
        return pair if self.first == "arm" else pair[::-1]


MODELS, RIGID_MODELS = Way("model-model"), Way("model-model", flexible=False)


@dataclass(frozen=True, eq=False)
class Case:
    """One co-simulation of arm and payload.

    Attributes:
        error: largest difference of the distance of point A to the wall from the monolithic run, as far as it got [m].
        displacement: largest distance of point A in space from where the monolithic run has it [m].
        condition: largest condition number of an interface's mobility, 1 where only signals were sent.
    """

    run: CosimulationRun
    error: float
    displacement: float
    condition: float

    @property
    def finished(self) -> bool:
        return self.run.outcome.carried_through

    @property
    def singular(self) -> bool:
        """Whether a reduced interface model ceased to exist."""
        return self.run.outcome.kind is OutcomeKind.ILL_CONDITIONED

    @property
    def accurate(self) -> bool:
        return self.finished and self.error <= ACCURATE

    @property
    def in_touch(self) -> bool:
        """Whether the payload rests at the wall in the end, and does not leave it."""
        payload = self.run["payload"]
        return self.finished and bool(np.all(payload[FORCE].values[payload.time >= SETTLED] > 0))


@cache
def whole(flexible: bool, manoeuvre: Manoeuvre = YAW, latched: bool = False) -> Run:
    """The monolithic reference."""
    return simulate(space_case(flexible, manoeuvre=manoeuvre, latched=latched))


@cache
def _units(coupling: str, flexible: bool, manoeuvre: Manoeuvre) -> tuple[ScenarioUnit, ScenarioUnit]:
    arm, payload = space_case_sides(coupling, flexible, manoeuvre=manoeuvre)
    return ScenarioUnit(arm, name="arm", length=LENGTH), ScenarioUnit(payload, name="payload", length=LENGTH)


@cache
def couple(way: Way, step: float, duration: float | None = None, watched: bool = True) -> Case:
    """Arm and payload, co-simulated.

    Args:
        step: macro step [s].
        watched: whether a run ends where the condition number of an interface is beyond the co-simulation's limit.
    """
    limit = CosimSettings.condition_limit if watched else UNLIMITED
    settings = CosimSettings(step, way.scheme, largest_value=LARGEST, condition_limit=limit)
    name = f"space-case-{way.coupling}"
    run = cosimulate(way.units(), [way.connection], settings=settings, duration=duration, name=name)
    reference = whole(way.flexible, way.manoeuvre, way.latched)
    payload = run["payload"]
    apart = np.array([payload[name].values - reference[name](payload.time) for name in (DISTANCE, *PLACE)])
    apart = np.where(np.isfinite(apart), apart, np.inf)
    error, displacement = float(np.max(np.abs(apart[0]))), float(np.max(np.linalg.norm(apart[1:], axis=0)))
    return Case(run, error, displacement, _condition(run.coupling, way.connection.name))


def _condition(coupling: Run, name: str) -> float:
    return float(np.max(coupling[f"{name}.condition"].values, initial=1.0))
