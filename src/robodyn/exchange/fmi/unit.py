"""FMU as a subsystem of a co-simulation: how is it opened, read, written, started, advanced, saved and restored?"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from robodyn.base import Array, refuse, refuse_unknown
from robodyn.computation.cosimulation import UnitEvent, UnitRefusal
from robodyn.computation.results import Outcome

from .archive import Archive
from .fmpy_adapter import EventSteps, Instance
from .unit_variables import (
    REALS,
    FmuSignal,
    UnitVariable,
    Value,
    ValueRefused,
    check_settings,
    find_bad_starts,
    find_ignored,
    find_sizes,
    list_signals,
    read_value,
    read_variables,
)

# --------------------------------------------------------------------------------------------------
# Reading and writing many variables of an FMU: one call for each type, arrays as a whole.


WIDE = ("Int64", "UInt64")
"""Types with whole numbers that are no floats."""


class Group(NamedTuple):
    """Variables of one type in one call.

    Attributes:
        picks: place among the names that are asked for, and among all elements of the group.
    """

    kind: str
    references: list[int]
    size: int
    picks: list[tuple[int, int]]


class Access:
    """Signals of a unit by name.

    Attributes:
        rounded: whole numbers that were read and are no floats, as signals are.
    """

    def __init__(self, signals: Mapping[str, FmuSignal], unit: str, instance: Instance) -> None:
        self.signals, self.unit, self.instance = signals, unit, instance
        self.rounded: dict[str, int] = {}
        self._groups: dict[tuple[str, ...], list[Group]] = {}

    def find(self, names: Sequence[str]) -> list[FmuSignal]:
        """The signals of these names; all unknown ones are reported."""
        if any(name not in self.signals for name in names):
            refuse_unknown(names, self.signals, "is not a variable of the unit", f"unit '{self.unit}'")
        return [self.signals[name] for name in names]

    def get(self, names: Sequence[str]) -> list[float]:
        """Values, as signals are: as floats."""
        key = tuple(names)
        if key not in self._groups:
            self._groups[key] = group_signals(self.find(names))
        floats = [0.0] * len(key)
        for group in self._groups[key]:
            values = self.instance.get(group.kind, group.references, group.size)
            for k, place in group.picks:
                floats[k] = float(values[place])
            if group.kind in WIDE:
                lost = ((k, values[place]) for k, place in group.picks if int(floats[k]) != values[place])
                self.rounded |= {key[k]: value for k, value in lost if key[k] not in self.rounded}
        return floats

    def set(self, values: Mapping[str, Value], opened: bool) -> None:
        """Values by name, already checked.

        Args:
            opened: whether the unit can be read: the elements of an array that are not given stay as they are, before
                that as the unit starts them.
        """
        whole: dict[str, list[Value]] = {}
        variables: dict[str, UnitVariable] = {}
        for name, value in values.items():
            variable, place = self.signals[name]
            if variable.name not in whole:
                variables[variable.name] = variable
                whole[variable.name] = self._present(variable, values, opened)
            whole[variable.name][place] = value
        for kind in dict.fromkeys(variable.kind for variable in variables.values()):
            chosen = [variable for variable in variables.values() if variable.kind == kind]
            flat = [value for variable in chosen for value in whole[variable.name]]
            self.instance.set(kind, [variable.reference for variable in chosen], flat)

    def _present(self, variable: UnitVariable, values: Mapping[str, Value], opened: bool) -> list[Value]:
        """All elements of a variable before some are set; zeros where all are."""
        missing = [name for name in variable.elements if name not in values] if variable.shape else []
        if not missing:
            return [0] * variable.size
        if opened:
            return list(self.instance.get(variable.kind, [variable.reference], variable.size))
        if not variable.start:
            what = f"has {variable.size} elements now and no start values for them"
            remedy = f"set all of them, also {', '.join(missing[:3])}"
            refuse(variable.name, what, remedy, f"unit '{self.unit}'")
        return list(variable.start)


def group_signals(signals: Sequence[FmuSignal]) -> list[Group]:
    """Calls that read all of them; an array is read once, whatever is wanted of it."""
    groups = []
    for kind in dict.fromkeys(signal.variable.kind for signal in signals):
        begin: dict[int, int] = {}
        size = 0
        for variable, _ in signals:
            if variable.kind == kind and variable.reference not in begin:
                begin[variable.reference] = size
                size += variable.size
        picks = [
            (k, begin[variable.reference] + place)
            for k, (variable, place) in enumerate(signals)
            if variable.kind == kind
        ]
        groups.append(Group(kind, list(begin), size, picks))
    return groups


SAME = 1e-9
"""Part of a step by which steps differ that count as the same."""
FATAL = 4
"""The status of a unit that broke down."""


class Saved:
    """The state of a unit at a communication point; its memory is given back when nobody holds it any more."""

    def __init__(self, instance: Instance, own: tuple[Any, ...]) -> None:
        self.state, self.own = instance.save(), own
        self._finalizer = weakref.finalize(self, instance.release, self.state)

    def forget(self) -> None:
        """The unit is gone, and its memory with it."""
        self._finalizer.detach()


class FmuUnit:
    """A co-simulation unit, version 2.0 or 3.0; one for model exchange only gets a solver.

    Args:
        parameters: values by name that differ from the unit's own: of parameters, start values and inputs. Numbers,
            true or false, and texts: a number with its unit of measure, an item of an enumeration.
        begin, stop: of the simulation, where they are known [s]; tolerance: relative, for units that take one.

    Attributes:
        variables: of all its signals, by name; an array has one for each element.
        inputs: names. outputs: unit of measure of each.
        kinds: "continuous" or "held" for each signal; held_inputs: those that can be no polynomials.
        highest_order: of the polynomials that inputs may be: 0 where the unit holds them.
        can_restore: whether it can go back to a communication point; variable_step: whether its steps may differ.
        has_events: whether it stops at its events.
    """

    def __init__(
        self,
        path: str | Path,
        name: str = "",
        *,
        parameters: Mapping[str, Any] | None = None,
        begin: float = 0.0,
        stop: float | None = None,
        tolerance: float | None = None,
    ) -> None:
        archive = self._archive = Archive(path)
        self.description, able = archive.description, archive.capabilities
        self.name = name or str(self.description.modelName)

        # Sizes of arrays depend on structural parameters, which are read before all others.
        parameters = parameters or {}
        sizes = find_sizes(read_variables(self.description, archive.root, {}), parameters, self.name)
        variables = read_variables(self.description, archive.root, sizes)
        flaws = (f"the unit's description: {flaw}" for flaw in archive.flaws)
        self._doubts = (*flaws, *find_bad_starts(variables), *find_ignored(self.description))
        signals = list_signals(variables, self.name)
        self.parameters = check_settings(signals, self.description.modelVariables, parameters, self.name)
        self.variables = {name: signal.variable for name, signal in signals.items()}
        self.inputs = tuple(n for n, variable in self.variables.items() if variable.causality == "input")
        self.outputs = {n: variable.unit for n, variable in self.variables.items() if variable.causality == "output"}
        self.kinds = {n: "held" if variable.held else "continuous" for n, variable in self.variables.items()}
        self.held_inputs = frozenset(n for n in self.inputs if self.variables[n].kind not in REALS)

        self.can_restore = bool(able.canGetAndSetFMUstate)
        self.can_differentiate = archive.can_differentiate
        self.variable_step = archive.exchange or bool(able.canHandleVariableCommunicationStepSize)
        self._instance = archive.instantiate(self.name)
        self.has_events = self._instance.event_mode
        polynomials = not archive.exchange and able.canInterpolateInputs and self._instance.set_slopes
        self.highest_order = 2 if polynomials else 0
        self._access = Access(signals, self.name, self._instance)
        self._steps = EventSteps(self._instance, self.name, self.read)
        self._limits, self._step, self._dead = (stop, tolerance), 0.0, False
        self._saved: weakref.WeakSet[Saved] = weakref.WeakSet()
        self._open(begin)

    def _open(self, time: float) -> None:
        """Everything that is set before the start."""
        self._steps.begin(time)
        self._begun, self._written = False, dict[str, Value]()
        structural, others = dict[str, Value](), dict[str, Value]()
        for name, value in self.parameters.items():
            early = self.variables[name].causality == "structuralParameter"
            (structural if early else others)[name] = value
        with self._refusals():
            if structural:
                self._instance.configure(lambda: self._access.set(structural, opened=False))
            self._access.set(others, opened=False)
            self._instance.open(time, *self._limits)

    @property
    def time(self) -> float:
        """That the unit has reached [s]."""
        return self._steps.time

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for whoever uses its numbers."""
        rounded = self._access.rounded.items()
        return (*self._doubts, *(f"'{n}' was {v}, which is rounded as a signal" for n, v in rounded))

    def read(self) -> dict[str, float]:
        """All outputs at the present time."""
        return self.look(tuple(self.outputs))

    def look(self, names: Sequence[str]) -> dict[str, float]:
        """Any variables at the present time."""
        return dict(zip(names, self._get(names), strict=True))

    def change(self, values: Mapping[str, Value], recorded: bool = False) -> None:
        """Set parameters between two steps; where there is event mode, they can be set in it only."""
        if values and self._begun and self.has_events:
            with self._refusals():
                self._steps.change(lambda: self._set(values), recorded)
        else:
            self._set(values)

    def _note_death(self, error: Exception) -> None:
        """After a fatal error nothing of the unit may be called any more, not even to free it."""
        from fmpy.fmi1 import FMICallException

        if isinstance(error, FMICallException) and error.status == FATAL:
            self._dead = True
            self._forget_saved()

    def _forget_saved(self) -> None:
        for saved in list(self._saved):
            saved.forget()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """A call that the unit refuses is reported with what the unit says to it."""
        from fmpy.fmi1 import FMICallException

        if self._dead:
            refuse(self.name, "the unit has failed and cannot be used any more", source="unit")
        before = len(self._instance.messages)
        try:
            yield
        except (FMICallException, ArithmeticError) as error:
            self._note_death(error)
            refuse(self.name, self._steps.logged(before) or str(error), source="unit")

    def close(self) -> None:
        """Give the unit's memory and files back."""
        if not self._archive.remove.alive:
            return
        self._forget_saved()
        if not self._dead:
            self._instance.close()
        self._archive.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    def _get(self, names: Sequence[str]) -> list[float]:
        with self._refusals():
            return self._access.get(names)

    def _set(self, values: Mapping[str, Value]) -> None:
        self._access.find(tuple(values))
        with self._refusals():
            self._access.set(values, opened=True)

    def start(self, time: float) -> None:
        """Leave the initialisation, with the inputs written so far."""
        if time != self.time:
            written = self._written
            with self._refusals():
                self._instance.reset()
            self._open(time)
            self._set(written)
        with self._refusals():
            self._instance.begin()
            self._begun = True
            if self.has_events:
                self._steps.settle()

    def write(self, inputs: Mapping[str, tuple[float, ...]]) -> None:
        """Inputs for the next step: c0 + c1 s + c2 s^2 as (c0, c1, c2), as far as the unit takes polynomials."""
        values = {name: self._check(name, terms[0]) for name, terms in inputs.items()}
        event_values = {n: v for n, v in values.items() if self._begun and self.has_events and self.kinds[n] == "held"}
        self.change(
            {n: v for n, v in event_values.items() if n not in self._written or self._written[n] != v}, recorded=True
        )
        self._written |= values
        if self._steps.ended:
            return
        self._set({n: v for n, v in values.items() if n not in event_values})
        set_slopes = self._instance.set_slopes
        if self.highest_order == 0 or set_slopes is None:
            return
        for name, terms in inputs.items():
            # The k-th derivative of c s^k is k! c: 1 and 2 here.
            slopes = [factor * term for factor, term in zip((1.0, 2.0), terms[1:], strict=False)]
            if slopes and name not in self.held_inputs:
                reference = self.variables[name].reference
                with self._refusals():
                    set_slopes([reference] * len(slopes), range(1, len(slopes) + 1), slopes)

    def _check(self, name: str, value: Any) -> Value:
        """The value of an input; one that it does not take ends the run."""
        (signal,) = self._access.find([name])
        try:
            return read_value(signal.variable, value)
        except ValueRefused as error:
            raise UnitRefusal(f"unit '{self.name}' does not take what '{name}' is given: {error}") from error

    def advance(self, time: float, step: float) -> Outcome | None:
        """Go from one communication point to the next; an outcome where the unit does not go on."""
        from fmpy.fmi1 import FMICallException

        self._steps.time = time
        self._step = self._step or step
        if not self.variable_step and abs(step - self._step) > SAME * self._step:
            reason = f"its steps must all be as long as the first, {self._step:g} s, and this one is {step:g} s"
            return self._steps.fail(reason)
        before = len(self._instance.messages)
        try:
            return self._steps.go(time + step)
        except (FMICallException, ArithmeticError) as error:
            self._note_death(error)
            return self._steps.fail(self._steps.logged(before) or str(error))

    def take_events(self) -> list[UnitEvent]:
        """The events since the last call."""
        events, self._steps.events = self._steps.events, []
        return events

    def derivatives(self, of: Sequence[str], by: Sequence[str]) -> Array:
        """Slopes of outputs at the present time, by inputs and whatever else the unit allows: d of[i] / d by[j]."""
        if not self.can_differentiate:
            refuse(self.name, "the unit gives no directional derivatives")
        rows, columns = self._access.find(of), self._access.find(by)
        slopes = np.zeros((len(rows), len(columns)))
        with self._refusals():
            for group in group_signals(rows):
                for j, (variable, place) in enumerate(columns):
                    seed = [float(k == place) for k in range(variable.size)]
                    column = self._instance.slopes(group.references, [variable.reference], seed, group.size)
                    for i, k in group.picks:
                        slopes[i, j] = column[k]
        return slopes

    def save(self) -> Any:
        """The present state, to come back to."""
        with self._refusals():
            saved = Saved(self._instance, (self._steps.save(), dict(self._written)))
        self._saved.add(saved)
        return saved

    def restore(self, state: Any) -> None:
        """Go back to a state saved before."""
        with self._refusals():
            self._instance.restore(state.state)
        steps, written = state.own
        self._steps.restore(steps)
        self._written = dict(written)
