"""How is a unit of the Functional Mock-up Interface a subsystem of a co-simulation?

It has the methods that the co-simulation's master calls: read, write, start, advance, save and restore.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.cosimulation import UnitEvent, UnitRefusal
from robodyn.errors import Flaw, ModelError
from robodyn.fmi.access import Access, group_signals
from robodyn.fmi.archive import Archive
from robodyn.fmi.events import EventSteps
from robodyn.fmi.fmpy_adapter import Instance
from robodyn.fmi.settings import check_settings, find_sizes
from robodyn.fmi.unit_variables import (
    REALS,
    Value,
    find_bad_starts,
    find_ignored,
    list_signals,
    read_variables,
)
from robodyn.fmi.values import ValueRefused, read_value
from robodyn.results import Outcome

SAME = 1e-9
"""Part of a step by which steps differ that count as the same."""


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
        self._archive = Archive(path)
        self.description, able = self._archive.description, self._archive.capabilities
        self.name = name or str(self.description.modelName)
        self._read_signals(parameters or {})
        self.can_restore = bool(able.canGetAndSetFMUstate)
        self.can_differentiate = self._archive.can_differentiate
        self.variable_step = self._archive.exchange or bool(able.canHandleVariableCommunicationStepSize)
        self._instance = self._archive.instantiate(self.name)
        self.has_events = self._instance.event_mode
        polynomials = getattr(able, "canInterpolateInputs", False) and self._instance.set_slopes
        self.highest_order = 2 if polynomials else 0
        self._steps = EventSteps(self._instance, self.name, self.read)
        self._limits, self._step = (stop, tolerance), 0.0
        self._saved: weakref.WeakSet[Saved] = weakref.WeakSet()
        self._open(begin)

    def _read_signals(self, parameters: Mapping[str, Any]) -> None:
        source = self.description, self._archive.root
        variables = read_variables(*source, find_sizes(read_variables(*source, {}), parameters, self.name))
        self._doubts = (*find_bad_starts(variables), *find_ignored(self.description))
        signals = list_signals(variables, self.name)
        self.parameters = check_settings(signals, self.description.modelVariables, parameters, self.name)
        self._access = Access(signals, self.name)
        self.variables = {name: signal.variable for name, signal in signals.items()}
        self.inputs = tuple(n for n, variable in self.variables.items() if variable.causality == "input")
        self.outputs = {n: variable.unit for n, variable in self.variables.items() if variable.causality == "output"}
        self.kinds = {n: "held" if variable.held else "continuous" for n, variable in self.variables.items()}
        self.held_inputs = frozenset(n for n in self.inputs if self.variables[n].kind not in REALS)

    def _open(self, time: float) -> None:
        """Everything that is set before the start."""
        self._steps.begin(time)
        self._begun, self._written = False, dict[str, Value]()
        structural = {n: v for n, v in self.parameters.items() if self._use(n) == "structuralParameter"}
        others = {n: v for n, v in self.parameters.items() if n not in structural}
        with self._refusals():
            if structural:
                self._instance.enter_configuration_mode()
                self._access.set(self._instance, structural, opened=False)
                self._instance.exit_configuration_mode()
            self._access.set(self._instance, others, opened=False)
            self._instance.open(time, *self._limits)

    def _use(self, name: str) -> str:
        return self.variables[name].causality

    @property
    def time(self) -> float:
        """That the unit has reached [s]."""
        return self._steps.time

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for whoever uses its numbers."""
        rounded = self._access.rounded.items()
        return (*self._doubts, *(f"'{n}' was {v}, which is rounded as a signal" for n, v in rounded))

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

    def read(self) -> dict[str, float]:
        """All outputs at the present time."""
        return self.look(tuple(self.outputs))

    def look(self, names: Sequence[str]) -> dict[str, float]:
        """Any variables at the present time."""
        return dict(zip(names, self._get(names), strict=True))

    def write(self, inputs: Mapping[str, tuple[float, ...]]) -> None:
        """Inputs for the next step: c0 + c1 s + c2 s^2 as (c0, c1, c2), as far as the unit takes polynomials."""
        values = {name: self._check(name, terms[0]) for name, terms in inputs.items()}
        held = {n: v for n, v in values.items() if self._begun and self.has_events and self.kinds[n] == "held"}
        self.change({n: v for n, v in held.items() if n not in self._written or self._written[n] != v}, told=True)
        self._written |= values
        if self._steps.ended:
            return
        self._set({n: v for n, v in values.items() if n not in held})
        if self.highest_order == 0 or self._instance.set_slopes is None:
            return
        for name, terms in inputs.items():
            # The k-th derivative of c s^k is k! c: 1 and 2 here.
            slopes = [factor * term for factor, term in zip((1.0, 2.0), terms[1:], strict=False)]
            if slopes and name not in self.held_inputs:
                reference = self.variables[name].reference
                with self._refusals():
                    self._instance.set_slopes([reference] * len(slopes), range(1, len(slopes) + 1), slopes)

    def _check(self, name: str, value: Any) -> Value:
        """The value of an input; one that it does not take ends the run."""
        (signal,) = self._access.find([name])
        try:
            return read_value(signal.variable, value)
        except ValueRefused as error:
            raise UnitRefusal(f"unit '{self.name}' does not take what '{name}' is given: {error}") from error

    def change(self, values: Mapping[str, Value], told: bool = False) -> None:
        """Set parameters between two steps; where there is event mode, they can be set in it only."""
        if values and self._begun and self.has_events:
            with self._refusals():
                self._steps.change(lambda: self._set(values), told)
        else:
            self._set(values)

    def advance(self, time: float, step: float) -> Outcome | None:
        """Go from one communication point to the next; an outcome where the unit does not go on."""
        from fmpy.fmi1 import FMICallException

        self._steps.time = time
        self._step = self._step or step
        if not self.variable_step and abs(step - self._step) > SAME * self._step:
            said = f"its steps must all be as long as the first, {self._step:g} s, and this one is {step:g} s"
            return self._steps.fail(said)
        before = len(self._instance.messages)
        try:
            return self._steps.go(time + step)
        except (FMICallException, ArithmeticError) as error:
            return self._steps.fail(self._steps.said(before) or str(error))

    def take_events(self) -> list[UnitEvent]:
        """What happened since the last call."""
        taken, self._steps.events = self._steps.events, []
        return taken

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """A call that the unit refuses is told with what the unit says to it."""
        from fmpy.fmi1 import FMICallException

        before = len(self._instance.messages)
        try:
            yield
        except (FMICallException, ArithmeticError) as error:
            raise ModelError([Flaw(self.name, self._steps.said(before) or str(error))], "unit") from error

    def derivatives(self, of: Sequence[str], by: Sequence[str]) -> np.ndarray:
        """Slopes of outputs at the present time, by inputs and whatever else the unit allows: d of[i] / d by[j]."""
        if not self.can_differentiate:
            raise ModelError([Flaw(self.name, "the unit gives no directional derivatives")])
        rows, columns = self._access.find(of), self._access.find(by)
        slopes = np.zeros((len(rows), len(columns)))
        with self._refusals():
            for group in group_signals(rows):
                for j, (variable, place) in enumerate(columns):
                    seed = [float(k == place) for k in range(variable.size)]
                    found = self._instance.slopes(group.references, [variable.reference], seed, group.size)
                    for i, k in group.picks:
                        slopes[i, j] = found[k]
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

    def close(self) -> None:
        """Give the unit's memory and files back."""
        if not self._archive.remove.alive:
            return
        for saved in list(self._saved):
            saved.forget()
        self._instance.close()
        self._archive.remove()

    def __enter__(self) -> FmuUnit:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    def _get(self, names: Sequence[str]) -> list[float]:
        with self._refusals():
            return self._access.get(self._instance, names)

    def _set(self, values: Mapping[str, Value]) -> None:
        self._access.find(tuple(values))
        with self._refusals():
            self._access.set(self._instance, values, opened=True)
