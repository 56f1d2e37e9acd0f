"""FMU as a subsystem of a co-simulation: how is it read, written, started, advanced, saved and restored?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.cosimulation import UnitEvent, UnitRefusal
from robodyn.computation.results import Outcome
from robodyn.exchange.fmi.access import group_signals
from robodyn.exchange.fmi.description import ValueRefused, read_value
from robodyn.exchange.fmi.open_unit import OpenUnit, Saved
from robodyn.exchange.fmi.unit_variables import Value

SAME = 1e-9
"""Part of a step by which steps differ that count as the same."""


class FmuUnit(OpenUnit):
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
        held = {n: v for n, v in values.items() if self._begun and self.has_events and self.kinds[n] == "held"}
        self.change({n: v for n, v in held.items() if n not in self._written or self._written[n] != v}, message=True)
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
            self._note_death(error)
            return self._steps.fail(self._steps.said(before) or str(error))

    def take_events(self) -> list[UnitEvent]:
        """What happened since the last call."""
        taken, self._steps.events = self._steps.events, []
        return taken

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
