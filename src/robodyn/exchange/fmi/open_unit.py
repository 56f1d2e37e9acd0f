"""FMU instance: how is a unit opened, read and set, whatever it is used for?"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from robodyn.base.errors import Flaw, ModelError
from robodyn.exchange.fmi.access import Access
from robodyn.exchange.fmi.archive import Archive
from robodyn.exchange.fmi.events import EventSteps
from robodyn.exchange.fmi.fmpy_adapter import Instance
from robodyn.exchange.fmi.settings import check_settings, find_sizes
from robodyn.exchange.fmi.unit_variables import (
    REALS,
    Value,
    find_bad_starts,
    find_ignored,
    list_signals,
    read_variables,
)

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


class OpenUnit:
    """A unit with its signals by name; its arguments and attributes are those of `FmuUnit`."""

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
        polynomials = not self._archive.exchange and able.canInterpolateInputs and self._instance.set_slopes
        self.highest_order = 2 if polynomials else 0
        self._steps = EventSteps(self._instance, self.name, self.read)
        self._limits, self._step, self._dead = (stop, tolerance), 0.0, False
        self._saved: weakref.WeakSet[Saved] = weakref.WeakSet()
        self._open(begin)

    def _read_signals(self, parameters: Mapping[str, Any]) -> None:
        source = self.description, self._archive.root
        variables = read_variables(*source, find_sizes(read_variables(*source, {}), parameters, self.name))
        flaws = (f"the unit's description: {flaw}" for flaw in self._archive.flaws)
        self._doubts = (*flaws, *find_bad_starts(variables), *find_ignored(self.description))
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

    def read(self) -> dict[str, float]:
        """All outputs at the present time."""
        return self.look(tuple(self.outputs))

    def look(self, names: Sequence[str]) -> dict[str, float]:
        """Any variables at the present time."""
        return dict(zip(names, self._get(names), strict=True))

    def change(self, values: Mapping[str, Value], message: bool = False) -> None:
        """Set parameters between two steps; where there is event mode, they can be set in it only."""
        if values and self._begun and self.has_events:
            with self._refusals():
                self._steps.change(lambda: self._set(values), message)
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
            raise ModelError([Flaw(self.name, "the unit broke down, and can be asked nothing any more")], "unit")
        before = len(self._instance.messages)
        try:
            yield
        except (FMICallException, ArithmeticError) as error:
            self._note_death(error)
            raise ModelError([Flaw(self.name, self._steps.said(before) or str(error))], "unit") from error

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
            return self._access.get(self._instance, names)

    def _set(self, values: Mapping[str, Value]) -> None:
        self._access.find(tuple(values))
        with self._refusals():
            self._access.set(self._instance, values, opened=True)
