"""State controller (LQG): how do a regulator and an observer become a block of a machine?

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

from robodyn.analysis.linear.state_feedback import Observer, Regulator
from robodyn.errors import Flaw, ModelError
from robodyn.laws import LawInfo
from robodyn.model import Block, Floats

Rows = tuple[Floats, ...]


def state_controller(
    name: str, regulator: Regulator, observer: Observer | None = None, acts: Mapping[str, Any] | None = None
) -> Block:
    """A sampled block that commands the plant's inputs, `<name>.command.0` and so on.

    It reads the plant's outputs and estimates the states; without an observer it reads the states themselves (LQR).

    Args:
        acts: joints or coordinates that the commands act on, such as `{"command": ("rail",)}`.
    """
    plant = regulator.plant
    if observer is not None and observer.plant is not plant:
        raise ModelError([Flaw("observer", "is that of another plant", "design both for the same one")], name)
    read = plant.outputs if observer else plant.states
    C, L = (plant.C, observer.L) if observer else (np.eye(len(plant.F)),) * 2
    law = StateLaw(
        _rows(plant.F),
        _rows(C),
        _rows(L),
        _rows(regulator.K),
        tuple(_rows(G) for G in plant.G),
        tuple(variable.value for variable in read),
        tuple(variable.value for variable in plant.inputs),
    )
    inputs = {"measured": tuple(variable.name for variable in read)}
    held = {f"command.{k}": value for k, value in enumerate(law.commanded)}
    return Block(name, law, inputs=inputs, acts=acts or {}, hold=held, period=plant.period, delay=plant.delay)


def _rows(matrix: np.ndarray) -> Rows:
    return tuple(tuple(float(entry) for entry in row) for row in matrix)


@dataclass(frozen=True)
class StateLaw:
    """The law of a state controller.

    Attributes:
        seen, commanded: outputs and inputs at the operating point.
    """

    F: Rows
    C: Rows
    L: Rows
    K: Rows
    G: tuple[Rows, ...]
    seen: Floats
    commanded: Floats

    @property
    def __name__(self) -> str:
        return "state_controller"

    @property
    def _estimates(self) -> list[str]:
        return [f"estimate{k}" for k in range(len(self.F))]

    @property
    def _late(self) -> list[str]:
        """Names of the inputs on their way, the latest first."""
        return [f"late{j}_{k}" for j in range(1, len(self.G)) for k in range(len(self.K))]

    @property
    def law_info(self) -> LawInfo:
        return LawInfo(memory=dict.fromkeys([*self._estimates, *self._late], 0.0))

    @property
    def __signature__(self) -> Signature:
        names = ["measured", *self._estimates, *self._late]
        return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, measured: Any, **memory: Any) -> dict[str, Any]:
        x, late = [memory[name] for name in self._estimates], [memory[name] for name in self._late]
        several = measured if isinstance(measured, (tuple, list)) else (measured,)
        y = [one - value for one, value in zip(several, self.seen, strict=True)]
        x = _add(x, _times(self.L, [one - guess for one, guess in zip(y, _times(self.C, x), strict=True)]))
        u = [-one for one in _times(self.K, [*x, *late])]
        sent, n = [*u, *late], len(u)
        following = _times(self.F, x)
        for j, G in enumerate(self.G):
            following = _add(following, _times(G, sent[j * n : (j + 1) * n]))
        kept = zip([*self._estimates, *self._late], [*following, *sent[: len(late)]], strict=True)
        return {"command": tuple(_add(u, self.commanded)), **{f"{name}_next": value for name, value in kept}}


def _add(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [one + other for one, other in zip(first, second, strict=True)]


def _times(matrix: Rows, column: Sequence[Any]) -> list[Any]:
    """A matrix of numbers times a column of numbers or symbols; zeros cost nothing."""
    return [sum(a * x for a, x in zip(row, column, strict=True) if a != 0) for row in matrix]
