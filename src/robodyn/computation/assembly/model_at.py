"""Controller's model in one state: what are its mass matrix, bias, Jacobian and friction there? Each computed once.

s'' = d + B f + friction,   L = B^-1,   b = -L d,   J = B_y L
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from robodyn.computation.assembly.model_state import StateFinder, invert
from robodyn.computation.assembly.tracing import FRICTION_FACTOR

Friction = Mapping[str, Sequence[Callable[[Any, Any], Any]]]
"""Joint or coordinate -> laws of the friction on it: forces by its position and velocity."""


@dataclass(frozen=True, eq=False)
class ModelAt:
    """A model in the state q, v.

    Attributes:
        rubs: whether friction belongs to the motion.
    """

    finder: StateFinder
    axes: tuple[str, ...]
    frictions: Friction
    rubs: bool
    q: ca.SX
    v: ca.SX

    def __getitem__(self, name: str) -> ca.SX:
        """One of the model's functions in this state."""
        return self.finder.call(name, self.q, self.v)

    @property
    def is_open(self) -> bool:
        """Whether it is a tree whose joints all have motors."""
        return "mass_matrix" in self.finder.functions.named

    @cached_property
    def inertia(self) -> ca.SX:
        """L."""
        functions = self.finder.functions
        if functions.is_overactuated:
            what = f"{len(self.axes)} axes, but {functions.free} motions are free: these do not determine the forces"
            raise ValueError(f"{what}; control a task by operational_space_control, without posture")
        return self["mass_matrix"] if self.is_open else invert(self["mobility"])

    @cached_property
    def bias(self) -> ca.SX:
        """b: forces under which the axes do not accelerate."""
        if not self.is_open:
            return -self.inertia @ self.drift
        return self["bias"] - self.friction if self.rubs else self["bias"]

    @cached_property
    def friction(self) -> ca.SX:
        """What friction is on the axes; elsewhere, forces on the axes that accelerate these as much."""
        own = ca.vertcat(*(self.force(axis) for axis in self.axes))
        others = [on for on in self.frictions if on not in self.axes]
        return own + self.inertia @ self._rubbed(others) if others else own

    @property
    def drift(self) -> ca.SX:
        """d, with friction where that belongs to the motion."""
        return self["drift"] + self._rubbed(self.frictions) if self.rubs else self["drift"]

    def _rubbed(self, places: Collection[str]) -> ca.SX:
        """Accelerations by friction on some places."""
        return sum((self[f"response to {on}"] * self.force(on) for on in places), ca.SX(0))

    def force(self, on: str) -> ca.SX:
        """Of friction on a joint or coordinate."""
        motion = ca.vertsplit(self[f"motion of {on}"])
        return FRICTION_FACTOR * sum((law(*motion) for law in self.frictions.get(on, ())), ca.SX(0))


@dataclass(frozen=True, eq=False)
class TaskAt:
    """The task of a model in a state, with a target, or as where that is met."""

    at: ModelAt
    target: ca.SX | None

    def __getitem__(self, name: str) -> ca.SX:
        aim = self.at["here"] if self.target is None else self.target
        return self.at.finder.call(name, self.at.q, self.at.v, aim)

    @cached_property
    def reach(self) -> ca.SX:
        """B_y: accelerations of the task by forces on the axes."""
        return self["task_mobility"]

    @cached_property
    def jacobian(self) -> ca.SX:
        """J."""
        return self.reach @ self.at.inertia

    @cached_property
    def mobility(self) -> ca.SX:
        """J B J^T = J B_y^T; or B_y B_y^T."""
        return self.gain @ self.reach.T

    @cached_property
    def gain(self) -> ca.SX:
        """J: or, of more axes than motions, B_y itself, so that forces are as small as they can be."""
        return self.reach if self.at.finder.functions.is_overactuated else self.jacobian

    @cached_property
    def bias(self) -> ca.SX:
        """Forces to which those of the task are added."""
        functions = self.at.finder.functions
        return ca.SX.zeros(self.reach.shape[1]) if functions.is_overactuated else self.at.bias

    @cached_property
    def drift(self) -> ca.SX:
        """Accelerations of the task without forces on the axes."""
        rubbed = self.at.frictions if self.at.rubs else ()
        return self["task_drift"] + sum((self[f"task response to {on}"] * self.at.force(on) for on in rubbed), ca.SX(0))
