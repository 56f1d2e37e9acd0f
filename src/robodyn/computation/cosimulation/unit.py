"""Units of a co-simulation: what must a subsystem be able to do, what may it do further, and how is it called?

To be read, written and advanced is all that `Unit` asks for; what it may be able to do further is said by `Abilities`.
A user's unit may raise anything: what it raises is reported with its name and ends the run (`call_unit`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

import numpy as np

from robodyn.base import Array, frozen
from robodyn.base.signals import Kind
from robodyn.computation.results import Outcome, OutcomeKind, Run
from robodyn.description.model import EMPTY, Interface, Scenario

Coefficients = tuple[float, ...]
"""c0, c1, ... of an input over the next macro step: `c0 + c1 s + c2 s^2`, s the time since its beginning [s]."""


class UnitRefusal(ValueError):
    """The error of a unit that cannot take what it is given; its sentence ends the run."""


@frozen
class UnitEvent:
    """An event in a unit.

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
    """A subsystem, coupled by named scalar inputs and outputs; what it may do further, `Abilities` says."""

    @property
    def name(self) -> str:
        """The unit's own name in a co-simulation."""

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


@frozen(eq=False)
class InterfaceMotion:
    """Motion of an interface of k rows in world axes.

    Attributes:
        position: (1,) or (3,) [m or rad]; velocity: (k,); rotation: world from body (3, 3), where it is coupled.
    """

    position: Array
    velocity: Array
    rotation: Array | None = None


@frozen(eq=False)
class ReducedModel:
    """A subsystem as it is felt at its interface: `M_eff w' + z = lambda_i + lambda~`.

    Symbols: w velocity of the interface, lambda_i force of the other side on this subsystem.

    Attributes:
        inertia: M_eff (k, k); effective_force: lambda~ (k,); inertial_force: z (k,). Not finite where M_eff does not
            exist.
        mobility: M_eff^-1 (k, k); acceleration: w' without lambda_i, (k,). They exist always.
        condition: of the mobility, its rows about axes in units of a length; infinite where it is singular.
    """

    inertia: Array
    effective_force: Array
    inertial_force: Array
    mobility: Array
    acceleration: Array
    motion: InterfaceMotion
    condition: float

    @property
    def force(self) -> Array:
        """lambda~ - z."""
        return self.effective_force - self.inertial_force


def model_from_mobility(
    mobility: Array, acceleration: Array, motion: InterfaceMotion, length: float = 1.0
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


def condition_of(mobility: Array, length: float) -> float:
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


@frozen(eq=False)
class Abilities:
    """The abilities that a unit may have further, each with what stands for units that say nothing of it.

    Attributes:
        interfaces: by which it can be connected; kinds: which outputs are "continuous" and which "held".
        warnings: sentences for whoever uses its numbers.
        highest_order: of the polynomials that it takes as inputs; held_inputs: those that take values only (zero-order
            hold).
        variable_step: whether its macro steps may differ in length; has_events: whether they are to be cut at its
            events.
        can_restore: whether it can go back to a communication point (rollback): `save()` gives all that changes,
            `restore(state)` goes back to where that was saved.
        keeps_motion: whether the motion of its interfaces cannot be set: rigid models are then taken with
            `join = "none"`.
        used: whether it has been started, and cannot be a second time; scenario: that it is made of.
        choose: learns before the start which outputs `read` is to give; take_events: what happened since the last
            call; close: gives back what it holds.
        finish: its run, by the outcome; None: one is made of what was read.
        reduced_model: what it is at an interface, and with an argument `step` what its forces become within a macro
            step [s], to first order (implicit models).
        attach_model: goes on with the model of another unit at an interface, and with that motion of the interface,
            None: its own; with an argument `trend` (order, k) with c1, c2, ... of the model's acceleration over the
            next macro step, for orders above 0.
    """

    interfaces: Mapping[str, Interface] = EMPTY
    kinds: Mapping[str, Kind] = EMPTY
    warnings: Sequence[str] = ()
    highest_order: int = 2
    held_inputs: Collection[str] = ()
    variable_step: bool = True
    has_events: bool = False
    can_restore: bool = False
    keeps_motion: bool = False
    used: bool = False
    scenario: Scenario | None = None
    choose: Callable[[Sequence[str]], None] = lambda names: None
    take_events: Callable[[], list[UnitEvent]] = list
    close: Callable[[], None] = lambda: None
    finish: Callable[[Outcome], Run] | None = None
    reduced_model: Callable[..., ReducedModel] | None = None
    attach_model: Callable[..., None] | None = None

    def order_of(self, inputs: Sequence[str]) -> int:
        """Highest order of the polynomials that some inputs take."""
        return 0 if any(name in self.held_inputs for name in inputs) else self.highest_order


def abilities_of(unit: object) -> Abilities:
    """A unit has an ability if it has a member of that name, whatever it inherits from."""
    names = [field.name for field in fields(Abilities)]
    return Abilities(**{name: getattr(unit, name) for name in names if hasattr(unit, name)})


Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class UnitFailure(RuntimeError):
    """An error that a unit raised, reported with its name."""

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
        sentence = f"unit '{name}' returned {outcome!r} from advance at {time:.6g} s: it must return an Outcome or None"
        return Outcome(OutcomeKind.FAILED, sentence, time)
    return Outcome(outcome.kind, f"unit '{name}': {outcome.sentence}", outcome.time)


CLOSE = 1e-9
"""Part of a macro step by which an event is away from its end that is at its end, as in coupling.c."""


def all_arrive(outcome: Outcome, begin: float, end: float) -> bool:
    """Whether a run is ended by an event at the end of the macro step, to which the other units can go too."""
    return outcome.kind is OutcomeKind.STOPPED and abs(outcome.time - end) <= CLOSE * (end - begin)
