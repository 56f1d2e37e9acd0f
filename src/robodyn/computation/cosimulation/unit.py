"""Units of a co-simulation: what must a subsystem be able to do, what may it do further, and how is it called?

To be read, written and advanced is all that `Unit` asks for. Each further ability is a protocol of its own: a unit
has it or not, whatever class it is of, and where it does not, the default of a function below stands. A user's unit may
raise anything: what it raises is reported with its name and ends the run (`call_unit`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, runtime_checkable

import numpy as np

from robodyn.computation.results import Outcome, OutcomeKind, Run
from robodyn.description.model import Interface, Scenario

Coefficients = tuple[float, ...]
"""c0, c1, ... of an input over the next macro step: `c0 + c1 s + c2 s^2`, s the time since its beginning [s]."""


class UnitRefusal(ValueError):
    """What a unit raises that cannot take what it is given; its sentence ends the run."""


@dataclass(frozen=True)
class UnitEvent:
    """What happened in a unit.

    Attributes:
        time: when [s]. before, after: the outputs on both sides, None where it moved none by itself, or at an exchange.
        terminal: whether it ended the run.
    """

    name: str
    time: float
    before: Mapping[str, float] | None = None
    after: Mapping[str, float] | None = None
    terminal: bool = False


@runtime_checkable
class Unit(Protocol):
    """A subsystem, coupled by named scalar inputs and outputs; what it may do further, the protocols below say."""

    @property
    def name(self) -> str:
        """Of its own in a co-simulation."""

    @property
    def inputs(self) -> Sequence[str]:
        """Their names."""

    @property
    def outputs(self) -> Mapping[str, str]:
        """Name -> physical unit, "" where unknown."""

    def start(self, time: float) -> None:
        """Begin at a time [s], after the first inputs were written."""

    def read(self) -> Mapping[str, float]:
        """The outputs at the present time, also before the start."""

    def write(self, inputs: Mapping[str, Coefficients]) -> None:
        """Inputs for the next macro step; those that nothing feeds are not given."""

    def advance(self, time: float, step: float) -> Outcome | None:
        """Go from `time` to `time + step` [s]; an outcome where that could not be done."""


@dataclass(frozen=True, eq=False)
class InterfaceMotion:
    """Motion of an interface of k rows in world axes.

    Attributes:
        position: (1,) or (3,) [m or rad]; velocity: (k,); rotation: world from body (3, 3), where it is coupled.
    """

    position: np.ndarray
    velocity: np.ndarray
    rotation: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """What a subsystem is at its interface: `M_eff w' + z = lambda_i + lambda~`.

    Symbols: w velocity of the interface, lambda_i force of the other side on this subsystem.

    Attributes:
        inertia: M_eff (k, k); effective_force: lambda~ (k,); inertial_force: z (k,). Not finite where M_eff does not
            exist.
        mobility: M_eff^-1 (k, k); acceleration: w' without lambda_i, (k,). They exist always.
        condition: of the mobility, its rows about axes in units of a length; infinite where it is singular.
    """

    inertia: np.ndarray
    effective_force: np.ndarray
    inertial_force: np.ndarray
    mobility: np.ndarray
    acceleration: np.ndarray
    motion: InterfaceMotion
    condition: float

    @property
    def force(self) -> np.ndarray:
        """lambda~ - z."""
        return self.effective_force - self.inertial_force


def model_from_mobility(
    mobility: np.ndarray, acceleration: np.ndarray, motion: InterfaceMotion, length: float = 1.0
) -> ReducedModel:
    """A reduced model from derivatives of the interface's acceleration.

        M_eff = (dw'/dlambda)^-1,    lambda~ - z = M_eff w'(lambda = 0)

    Args:
        mobility: dw'/dlambda (k, k); acceleration: w' at lambda = 0, (k,).
        length: in units of which rotations are compared with displacements, for the condition number [m].
    """
    condition = condition_of(mobility, length)
    inertia = np.linalg.inv(mobility) if np.isfinite(condition) else np.full_like(mobility, np.nan)
    force = inertia @ acceleration
    return ReducedModel(inertia, force, np.zeros_like(force), mobility, acceleration, motion, condition)


def condition_of(mobility: np.ndarray, length: float) -> float:
    """Largest by smallest eigenvalue of a symmetric matrix, rows 4 to 6 multiplied by a length.

    It is infinite where the smallest one is not above the rounding of the largest: then it has no digit, perhaps not
    even its sign.
    """
    scale = np.array([1.0] * 3 + [length] * 3)[: len(mobility)]
    if not np.isfinite(mobility).all():
        return float("inf")
    values = np.linalg.eigvalsh(scale[:, None] * mobility * scale).tolist()
    rounding = len(values) * float(np.finfo(float).eps) * values[-1]
    return values[-1] / values[0] if values[0] > rounding else float("inf")


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
class ClosableUnit(Protocol):
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


Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class UnitFailure(RuntimeError):
    """What a unit raised, reported with its name."""

    def __init__(self, unit: str, error: Exception) -> None:
        super().__init__(f"unit '{unit}' raised {type(error).__name__}", str(error))

    def outcome(self, time: float) -> Outcome:
        if isinstance(self.__cause__, UnitRefusal):
            return Outcome(OutcomeKind.FAILED, f"at {time:.6g} s: {self.args[1]}", time)
        return Outcome(OutcomeKind.FAILED, f"{self.args[0]} at {time:.6g} s: {self.args[1]}", time)


def call_unit(name: str, method: Callable[Given, Answer], *given: Given.args, **further: Given.kwargs) -> Answer:
    """Call a method of the unit of a name; a user's unit may raise anything."""
    try:
        return method(*given, **further)
    except Exception as error:
        raise UnitFailure(name, error) from error


def name_unit(name: str, outcome: Any, time: float) -> Outcome:
    """The outcome of a unit, with its name."""
    if not isinstance(outcome, Outcome):
        sentence = f"unit '{name}' returned {outcome!r} from advance at {time:.6g} s: an Outcome is wanted, or None"
        return Outcome(OutcomeKind.FAILED, sentence, time)
    return Outcome(outcome.kind, f"unit '{name}': {outcome.sentence}", outcome.time)


CLOSE = 1e-9
"""Part of a macro step by which an event is away from its end that is at its end, as in coupling.c."""


def all_arrive(outcome: Outcome, begin: float, end: float) -> bool:
    """Whether a run is ended by an event at the end of the macro step, to which the other units can go too."""
    return outcome.kind is OutcomeKind.STOPPED and abs(outcome.time - end) <= CLOSE * (end - begin)
