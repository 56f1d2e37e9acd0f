"""Capabilities of a subsystem: what may a unit of a co-simulation be able to do beyond the least?

Each is a protocol of its own: a unit has it or not, whatever class it is of, and where it does not, the default of the
function below stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from robodyn.computation.cosimulation.unit import InterfaceMotion, ReducedModel, Unit, UnitEvent
from robodyn.computation.results import Outcome, Run
from robodyn.description.model import Interface, Scenario

Kind = Literal["continuous", "held"]
DEFAULT_ORDER = 2
"""Highest order of the polynomials that a unit takes which does not say."""


@runtime_checkable
class Restorable(Protocol):
    """Can go back to a communication point (rollback), where `can_restore` says so."""

    can_restore: bool

    def save(self) -> Any:
        """All that changes."""

    def restore(self, state: Any) -> None:
        """Go back to where it was saved."""


@runtime_checkable
class ChoosesOutputs(Protocol):
    """Learns before the start which outputs will be read."""

    def choose(self, names: Sequence[str]) -> None:
        """Which outputs `read` gives."""


@runtime_checkable
class TellsEvents(Protocol):
    """Reports what happened in it."""

    def take_events(self) -> list[UnitEvent]:
        """What happened since the last call."""


@runtime_checkable
class HasEvents(Protocol):
    """Says whether macro steps are to be cut at its events."""

    has_events: bool


@runtime_checkable
class KeepsRecord(Protocol):
    """Has a record of its own; otherwise one is made of what was read."""

    def finish(self, outcome: Outcome) -> Run:
        """Its run."""


@runtime_checkable
class HasInterfaces(Protocol):
    """Can be connected at interfaces."""

    interfaces: Mapping[str, Interface]


@runtime_checkable
class GivesModels(Protocol):
    """Can be felt at an interface."""

    def reduced_model(self, interface: str, step: float = 0.0) -> ReducedModel:
        """This unit as it is felt there.

        Args:
            step: macro step within which its forces change as they do to first order [s], for implicit models.
        """


@runtime_checkable
class TakesModels(Protocol):
    """Can feel others at an interface."""

    def attach_model(
        self, interface: str, model: ReducedModel, motion: InterfaceMotion | None, trend: np.ndarray | None = None
    ) -> None:
        """Go on with the model of another unit attached there, and with that motion of the interface, None: its own.

        Args:
            trend: c1, c2, ... of the model's acceleration over the next macro step, (order, k), for orders above 0.
        """


@runtime_checkable
class KeepsMotion(Protocol):
    """Says whether the motion of its interfaces cannot be set: rigid models are then taken with `join = "none"`."""

    keeps_motion: bool


@runtime_checkable
class LimitsOrder(Protocol):
    """Says up to which order it takes polynomials as inputs."""

    highest_order: int


@runtime_checkable
class HoldsInputs(Protocol):
    """Names inputs that take values only, no polynomials (zero-order hold)."""

    held_inputs: Collection[str]


@runtime_checkable
class LimitsSteps(Protocol):
    """Says whether its macro steps may differ in length."""

    variable_step: bool


@runtime_checkable
class KnowsKinds(Protocol):
    """Says which outputs are "continuous" and which "held"."""

    kinds: Mapping[str, Kind]


@runtime_checkable
class Warns(Protocol):
    """Has sentences for whoever uses its numbers."""

    warnings: Sequence[str]


@runtime_checkable
class UsedOnce(Protocol):
    """Cannot be started twice."""

    used: bool


@runtime_checkable
class HasScenario(Protocol):
    """Is made of a scenario."""

    scenario: Scenario


@runtime_checkable
class Closable(Protocol):
    """Holds something that must be given back."""

    def close(self) -> None:
        """Give it back."""


def can_restore(unit: Unit) -> bool:
    return isinstance(unit, Restorable) and unit.can_restore


def has_events(unit: Unit) -> bool:
    return isinstance(unit, HasEvents) and unit.has_events


def can_vary_steps(unit: Unit) -> bool:
    return unit.variable_step if isinstance(unit, LimitsSteps) else True


def highest_order(unit: Unit, inputs: Sequence[str]) -> int:
    """Of the polynomials that some inputs take."""
    if isinstance(unit, HoldsInputs) and any(name in unit.held_inputs for name in inputs):
        return 0
    return unit.highest_order if isinstance(unit, LimitsOrder) else DEFAULT_ORDER


def kinds_of(unit: Unit) -> Mapping[str, Kind]:
    return unit.kinds if isinstance(unit, KnowsKinds) else {}


def warnings_of(unit: Unit) -> tuple[str, ...]:
    return tuple(unit.warnings) if isinstance(unit, Warns) else ()


def interfaces_of(unit: Unit) -> Mapping[str, Interface]:
    return unit.interfaces if isinstance(unit, HasInterfaces) else {}
