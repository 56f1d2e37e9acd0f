"""How is a unit of the Functional Mock-up Interface a subsystem of a co-simulation?

It has the methods that the co-simulation's master calls: read, write, start, advance, save and restore.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.fmi.slaves import Slave, open_slave
from robodyn.results import Outcome, OutcomeKind

REALS = ("Real", "Float64")
SAME = 1e-9
"""Part of a step by which steps and times differ that count as the same."""


class Saved:
    """The state of a unit at a communication point; its memory is given back when nobody holds it any more."""

    def __init__(self, slave: Slave) -> None:
        self.state = slave.save()
        self._finalizer = weakref.finalize(self, slave.release, self.state)

    def forget(self) -> None:
        """The unit is gone, and its memory with it."""
        self._finalizer.detach()


class FmuUnit:
    """A co-simulation unit, version 2.0 or 3.0.

    Args:
        parameters: values by name that differ from the unit's own.
        stop: end of the simulation, where it is known [s]; tolerance: relative, for units that take one.

    Attributes:
        inputs: names of its real inputs. outputs: unit of measure of each real output.
        highest_order: of the polynomials that inputs may be: 0 where the unit holds them.
        can_restore: whether it can go back to a communication point; variable_step: whether its steps may differ.
    """

    def __init__(
        self,
        path: str | Path,
        name: str = "",
        *,
        parameters: Mapping[str, float] | None = None,
        stop: float | None = None,
        tolerance: float | None = None,
    ) -> None:
        import fmpy

        self.description = _read_description(path)
        unit = self.description.coSimulation
        self.name = name or str(self.description.modelName)
        self.variables = {v.name: v for v in self.description.modelVariables if v.type in REALS and not v.dimensions}
        self.inputs = tuple(name for name, v in self.variables.items() if v.causality == "input")
        self.outputs = {name: v.unit or "" for name, v in self.variables.items() if v.causality == "output"}
        self.can_restore = bool(unit.canGetAndSetFMUstate)
        self.variable_step = bool(unit.canHandleVariableCommunicationStepSize)
        self._parameters = dict(parameters or {})
        self._check_parameters()
        self._settings = (stop, tolerance)
        folder = fmpy.extract(str(path))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.can_differentiate = _gives_derivatives(Path(folder) / "modelDescription.xml")
        self._slave = open_slave(self.description, folder, self.name)
        self.highest_order = 2 if unit.canInterpolateInputs and self._slave.set_slopes else 0
        self._step: float | None = None
        self._saved: weakref.WeakSet[Saved] = weakref.WeakSet()
        self._open(0.0)

    def start(self, time: float) -> None:
        """Leave the initialisation, with the inputs written so far."""
        if time != self._time:
            inputs = self._get(self.inputs)
            with self._refusals():
                self._slave.reset()
            self._open(time)
            self._set(self.inputs, inputs)
        with self._refusals():
            self._slave.begin()

    def read(self) -> dict[str, float]:
        """All outputs at the present time."""
        return dict(zip(self.outputs, self._get(tuple(self.outputs)), strict=True))

    def write(self, inputs: Mapping[str, tuple[float, ...]]) -> None:
        """Inputs for the next step: c0 + c1 s + c2 s^2 as (c0, c1, c2), as far as the unit takes polynomials."""
        self._set(tuple(inputs), [terms[0] for terms in inputs.values()])
        if self.highest_order == 0 or self._slave.set_slopes is None:
            return
        for name, terms in inputs.items():
            # The k-th derivative of c s^k is k! c: 1 and 2 here.
            slopes = [factor * term for factor, term in zip((1.0, 2.0), terms[1:], strict=False)]
            if slopes:
                reference = self.variables[name].valueReference
                with self._refusals():
                    self._slave.set_slopes([reference] * len(slopes), range(1, len(slopes) + 1), slopes)

    def advance(self, time: float, step: float) -> Outcome | None:
        """Go from one communication point to the next; an outcome where the unit does not go on."""
        from fmpy.fmi1 import FMICallException

        self._step = self._step or step
        if not self.variable_step and abs(step - self._step) > SAME * self._step:
            said = f"its steps must all be as long as the first, {self._step:g} s, and this one is {step:g} s"
            return self._fail(time, said)
        before = len(self._slave.messages)
        try:
            ended, reached = self._slave.step(time, step)
        except FMICallException as error:
            return self._fail(time, self._said(before) or str(error))
        if ended:
            said = self._said(before) or f"in the step from {time:g} s"
            return Outcome(OutcomeKind.STOPPED, f"unit '{self.name}' ended the run: {said}", reached)
        if reached < time + step * (1 - SAME):
            return self._fail(time, f"it returned early, at {reached:g} s, which it was not allowed to do")
        return None

    def _fail(self, time: float, said: str) -> Outcome:
        return Outcome(OutcomeKind.FAILED, f"unit '{self.name}' cannot go on from {time:g} s: {said}", time)

    def _said(self, before: int) -> str:
        """What the unit has told since there were so many messages."""
        return "; ".join(self._slave.messages[before:])

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """A call that the unit refuses is told with what the unit says to it."""
        from fmpy.fmi1 import FMICallException

        before = len(self._slave.messages)
        try:
            yield
        except FMICallException as error:
            raise ModelError([Flaw(self.name, self._said(before) or str(error))], "unit") from error

    def derivatives(self, of: Sequence[str], by: Sequence[str]) -> np.ndarray:
        """Slopes of outputs at the present time, by inputs and whatever else the unit allows: d of[i] / d by[j]."""
        if not self.can_differentiate:
            raise ModelError([Flaw(self.name, "the unit gives no directional derivatives")])
        rows, columns = self._references(of), self._references(by)
        with self._refusals():
            slopes = [self._slave.slopes(rows, [column], [1.0]) for column in columns]
        return np.array(slopes, float).reshape(len(columns), len(rows)).T

    def save(self) -> Saved:
        """The present state, to come back to."""
        with self._refusals():
            saved = Saved(self._slave)
        self._saved.add(saved)
        return saved

    def restore(self, state: Saved) -> None:
        """Go back to a state saved before."""
        with self._refusals():
            self._slave.restore(state.state)

    def close(self) -> None:
        """Give the unit's memory and files back."""
        if not self._remove.alive:
            return
        for saved in list(self._saved):
            saved.forget()
        self._slave.close()
        self._remove()

    def __enter__(self) -> FmuUnit:
        return self

    def __exit__(self, *details: Any) -> None:
        self.close()

    def _open(self, time: float) -> None:
        self._time = time
        self._set(tuple(self._parameters), list(self._parameters.values()))
        with self._refusals():
            self._slave.open(time, *self._settings)

    def _check_parameters(self) -> None:
        known = [name for name, v in self.variables.items() if v.causality == "parameter"]
        others = {v.name: v.type for v in self.description.modelVariables if v.name not in self.variables}
        flaws = FlawList()
        for name in self._parameters:
            if name in others:
                flaws.add(f"parameters.{name}", f"is a {others[name]} or an array", "only real scalars can be set")
            elif name not in known:
                flaws.add(f"parameters.{name}", "is no parameter of the unit", nearest(name, known))
        flaws.raise_if_any(f"unit '{self.name}'")

    def _references(self, names: Sequence[str]) -> list[int]:
        flaws = FlawList()
        for name in names:
            if name not in self.variables:
                flaws.add(name, "is no variable of the unit", nearest(name, self.variables))
        flaws.raise_if_any(f"unit '{self.name}'")
        return [self.variables[name].valueReference for name in names]

    def _get(self, names: Sequence[str]) -> list[float]:
        references = self._references(names)
        with self._refusals():
            return [float(value) for value in self._slave.get(references)] if names else []

    def _set(self, names: Sequence[str], values: Sequence[float]) -> None:
        references = self._references(names)
        with self._refusals():
            if names:
                self._slave.set(references, values)


def _gives_derivatives(path: Path) -> bool:
    """Whether a unit says it has directional derivatives; FMPy reads only the word of version 2."""
    unit = ElementTree.parse(path).getroot().find("CoSimulation")
    words = ("providesDirectionalDerivative", "providesDirectionalDerivatives")
    return unit is not None and any(unit.get(word) in ("true", "1") for word in words)


def _read_description(path: str | Path) -> Any:
    """The unit's description of itself; what is no co-simulation unit of a known version is refused."""
    import fmpy

    if not Path(path).is_file():
        raise ModelError([Flaw(str(path), "there is no such file")])
    try:
        description = fmpy.read_model_description(str(path))
    except Exception as error:  # FMPy raises Exception itself
        raise ModelError([Flaw(str(path), f"is no valid unit: {error}")]) from error
    if description.coSimulation is None:
        raise ModelError([Flaw(str(path), "is no co-simulation unit", "export it for co-simulation")])
    if not str(description.fmiVersion).startswith(("2.", "3.")):
        raise ModelError([Flaw(str(path), f"has version {description.fmiVersion}", "2.0 and 3.0 are known")])
    return description
