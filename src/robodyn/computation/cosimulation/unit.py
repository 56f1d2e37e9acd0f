"""Subsystem of a co-simulation: what must a unit be able to do? To be read, written and advanced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from robodyn.computation.results import Outcome

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
    """A subsystem, coupled by named scalar inputs and outputs; what it may have further, see `capabilities`."""

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
