"""State controller (LQR, LQG) and observer: how do a regulator and an observer become a block of a machine?

At each sample, in deviations from the operating point:

    x <- x + L (y - C x),   u = -K [x, u_1, u_2 ...],   x <- F x + G_0 u + G_1 u_1 + ...

u_1, u_2 ... being the inputs that are still on their way. The law is traced like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.feedback.gains import Observer, Regulator
from robodyn.computation.feedback.sampled_plant import SampledPlant
from robodyn.description.laws import LawInfo
from robodyn.description.model import Block, Floats

Rows = tuple[Floats, ...]


def state_controller(
    name: str, regulator: Regulator, observer: Observer | None = None, acts: Mapping[str, Any] | None = None
) -> Block:
    """A sampled block that commands the plant's inputs, `<name>.command.0` and so on.

    It reads the plant's outputs and estimates the states, `<name>.estimate.0` and so on; without an observer it reads
    the states themselves (LQR).

    Args:
        acts: joints or coordinates that the commands act on, such as `{"command": ("rail",)}`.
    """
    plant = regulator.plant
    if observer is not None and observer.plant is not plant:
        raise ModelError([Flaw("observer", "is that of another plant", "design both for the same one")], name)
    law = _law(plant, observer, regulator)
    held = {f"command.{k}": value for k, value in enumerate(law.commanded)}
    inputs = {"measured": tuple(variable.name for variable in (plant.outputs if observer else plant.states))}
    return _block(name, law, inputs, held, acts or {}, plant)


def state_observer(name: str, observer: Observer) -> Block:
    """A sampled block that estimates the states, `<name>.estimate.0` and so on, from outputs and inputs of the plant.

    Inputs count as held between samples.
    """
    plant = observer.plant
    law = _law(plant, observer, None)
    inputs = {
        "measured": tuple(variable.name for variable in plant.outputs),
        "applied": tuple(variable.name for variable in plant.inputs),
    }
    return _block(name, law, inputs, {}, {}, plant)


def _law(plant: SampledPlant, observer: Observer | None, regulator: Regulator | None) -> StateLaw:
    read = plant.outputs if observer else plant.states
    C, L = (plant.C, observer.L) if observer else (np.eye(len(plant.F)),) * 2
    return StateLaw(
        _rows(plant.F),
        _rows(C),
        _rows(L),
        _rows(regulator.K) if regulator else (),
        tuple(_rows(G) for G in plant.G),
        tuple(variable.value for variable in read),
        tuple(variable.value for variable in plant.inputs),
        tuple(variable.value for variable in plant.states) if observer else (),
    )


def _block(
    name: str,
    law: StateLaw,
    inputs: Mapping[str, Any],
    held: Mapping[str, float],
    acts: Mapping[str, Any],
    plant: SampledPlant,
) -> Block:
    estimates = {f"estimate.{k}": value for k, value in enumerate(law.estimated)}
    start: dict[str, Any] = {"hold": {**held, **estimates}, "period": plant.period, "delay": plant.delay}
    return Block(name, law, inputs=inputs, acts=acts, **start)


def _rows(matrix: np.ndarray) -> Rows:
    return tuple(tuple(float(entry) for entry in row) for row in matrix)


@dataclass(frozen=True)
class StateLaw:
    """The law of a state controller, or of an observer alone where it has no gains K.

    Attributes:
        seen, commanded: outputs and inputs at the operating point; estimated: states there, none where they are read.
    """

    F: Rows
    C: Rows
    L: Rows
    K: Rows
    G: tuple[Rows, ...]
    seen: Floats
    commanded: Floats
    estimated: Floats = ()

    @property
    def __name__(self) -> str:
        return "state_controller"

    @property
    def _predicted(self) -> list[str]:
        return [f"predicted{k}" for k in range(len(self.F))]

    @property
    def _late(self) -> list[str]:
        """Names of the inputs on their way, the latest first."""
        return [f"late{j}_{k}" for j in range(1, len(self.G)) for k in range(len(self.commanded))]

    @property
    def law_info(self) -> LawInfo:
        return LawInfo(memory=dict.fromkeys([*self._predicted, *self._late], 0.0))

    @property
    def __signature__(self) -> Signature:
        names = ["measured", *(() if self.K else ("applied",)), *self._predicted, *self._late]
        return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, measured: Any, applied: Any = (), **memory: Any) -> dict[str, Any]:
        x, late = [memory[name] for name in self._predicted], [memory[name] for name in self._late]
        y = _subtract(measured, self.seen)
        x = _add(x, _times(self.L, [one - guess for one, guess in zip(y, _times(self.C, x), strict=True)]))
        u = [-one for one in _times(self.K, [*x, *late])] if self.K else _subtract(applied, self.commanded)
        sent, n = [*u, *late], len(u)
        following = _times(self.F, x)
        for j, G in enumerate(self.G):
            following = _add(following, _times(G, sent[j * n : (j + 1) * n]))
        kept = zip([*self._predicted, *self._late], [*following, *sent[: len(late)]], strict=True)
        found: dict[str, Any] = {f"{name}_next": value for name, value in kept}
        found |= {"command": tuple(_add(u, self.commanded))} if self.K else {}
        return found | ({"estimate": tuple(_add(x, self.estimated))} if self.estimated else {})


def _subtract(given: Any, values: Floats) -> list[Any]:
    several = given if isinstance(given, (tuple, list)) else (given,)
    return [one - value for one, value in zip(several, values, strict=True)]


def _add(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [one + other for one, other in zip(first, second, strict=True)]


def _times(matrix: Rows, column: Sequence[Any]) -> list[Any]:
    """A matrix of numbers times a column of numbers or symbols; zeros cost nothing."""
    return [sum(a * x for a, x in zip(row, column, strict=True) if a != 0) for row in matrix]
