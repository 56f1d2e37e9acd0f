"""Model-based control: how does a controller's model of the machine move, as a part of the traced graph?

    s'' = d(q, v) + B(q) f,   so that   f = L s'' + b,   L = B^-1,   b = -L d

of axes s(q) with forces f on them: joints, cylinders, whatever has a motor. B is the mobility of these axes with all
constraints kept, L their mass matrix. So the same few lines hold for trees, closed loops and floating bases; what has
no motor moves as it must. Of a task y(q), y'' = d_y + B_y f, and J = B_y L is its Jacobian by the axes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import casadi as ca

from robodyn.assembly.model_state import StateFinder, Values, identify, invert, solve

Friction = Mapping[str, Sequence[Callable[[Any, Any], Any]]]
"""Joint or coordinate -> laws of the friction on it: forces by its position and velocity."""


class ModelDynamics:
    """A controller's model: functions of the positions and velocities of its axes, which a law gets as `model`.

    Attributes:
        axes, task: names, in the order of all positions, velocities and forces.
    """

    def __init__(
        self, axes: Sequence[str], task: Sequence[str], finder: StateFinder, friction: Friction, rubs: bool
    ) -> None:
        """
        Args:
            rubs: whether friction belongs to the motion.
        """
        self.axes, self.task = tuple(axes), tuple(task)
        self._finder, self._frictions, self._rubs = finder, friction, rubs
        self._states: dict[tuple[int, ...], tuple[ca.SX, ca.SX]] = {}

    def inverse_dynamics(self, position: Values, velocity: Values, acceleration: Values) -> tuple[Any, ...]:
        """Forces on the axes that accelerate them so: `L s'' + b`."""
        state = self._state(position, velocity)
        return _split(self._inertia(state) @ ca.vertcat(*acceleration) + self._bias(state))

    def gravity(self, position: Values) -> tuple[Any, ...]:
        """Forces on the axes that hold the machine at rest, against weight, springs and constant loads."""
        return _split(self._bias(self._rest(position)))

    def mass_matrix(self, position: Values) -> tuple[tuple[Any, ...], ...]:
        """L, row by row: what the axes feel of all masses, with the constraints kept [kg m^2 or kg]."""
        return tuple(_split(row.T) for row in ca.vertsplit(self._inertia(self._rest(position))))

    def friction(self, position: Values, velocity: Values) -> tuple[Any, ...]:
        """Forces of friction on the axes: those of its laws where they slide, and of dry friction at rest none."""
        return _split(self._friction(self._state(position, velocity)))

    def task_position(self, position: Values) -> tuple[Any, ...]:
        """y."""
        return _split(self._call("task_position", self._rest(position)))

    def task_velocity(self, position: Values, velocity: Values) -> tuple[Any, ...]:
        """y'."""
        return _split(self._call("task_velocity", self._state(position, velocity)))

    def jacobian(self, position: Values) -> tuple[tuple[Any, ...], ...]:
        """J of the task by the axes, row by row: y' = J s' where these determine it, as forces on them move it else."""
        return tuple(_split(row.T) for row in ca.vertsplit(self._jacobian(self._rest(position))))

    def task_dynamics(self, position: Values, velocity: Values, acceleration: Values) -> tuple[Any, ...]:
        """Forces on the axes under which the task accelerates so (Khatib 1987).

        f = J^T (J B J^T)^-1 (y'' - d_y - B_y b) + b, of more axes than the task needs with the least energy
        """
        state = self._state(position, velocity)
        bias = self._bias(state)
        left = self._drift(state, "task ") + self._call("task_mobility", state) @ bias
        force = solve(self._task_mobility(state), ca.vertcat(*acceleration) - left)
        return _split(self._jacobian(state).T @ force + bias)

    def task_push(self, position: Values, force: Values) -> tuple[Any, ...]:
        """Forces on the axes that do what a force on the task does: `J^T F`."""
        return _split(self._jacobian(self._rest(position)).T @ ca.vertcat(*force))

    def null_space(self, position: Values, forces: Values) -> tuple[Any, ...]:
        """The part of forces on the axes that does not accelerate the task: `f - J^T (J B J^T)^-1 B_y f`."""
        state, f = self._rest(position), ca.vertcat(*forces)
        pushed = solve(self._task_mobility(state), self._call("task_mobility", state) @ f)
        return _split(f - self._jacobian(state).T @ pushed)

    def independence(self, position: Values) -> Any:
        """How far the task is from a singular position, where it is 0.

        The least pivot of J B J^T over its mean diagonal.
        """
        mobility = self._task_mobility(self._rest(position))
        return ca.mmin(_pivots(mobility)) * mobility.shape[0] / ca.trace(mobility)

    def _state(self, position: Values, velocity: Values) -> tuple[ca.SX, ca.SX]:
        for name, values in (("position", position), ("velocity", velocity)):
            if len(values) != len(self.axes):
                raise ValueError(f"{name} has {len(values)} values, axes are {', '.join(self.axes)}")
        key = tuple(identify(value) for value in (*position, *velocity))
        if key not in self._states:
            self._states[key] = self._finder.find(tuple(position), tuple(velocity))
        return self._states[key]

    def _rest(self, position: Values) -> tuple[ca.SX, ca.SX]:
        q, v = self._state(position, self._finder.known.velocity)
        return q, ca.SX.zeros(v.numel())

    def _call(self, name: str, state: tuple[ca.SX, ca.SX]) -> ca.SX:
        return self._finder.call(name, *state)

    @property
    def _open(self) -> bool:
        """Whether it is a tree whose joints all have motors."""
        return "mass_matrix" in self._finder.functions.named

    def _inertia(self, state: tuple[ca.SX, ca.SX]) -> ca.SX:
        return self._call("mass_matrix", state) if self._open else invert(self._call("mobility", state))

    def _bias(self, state: tuple[ca.SX, ca.SX]) -> ca.SX:
        """Forces under which the axes do not accelerate."""
        if not self._open:
            return -solve(self._call("mobility", state), self._drift(state, ""))
        bias = self._call("bias", state)
        return bias - self._friction(state) if self._rubs else bias

    def _drift(self, state: tuple[ca.SX, ca.SX], of: str) -> ca.SX:
        """Accelerations of the axes, or of the task, without forces on the axes."""
        drift = self._call(f"{of}drift".replace(" ", "_"), state)
        return drift + self._rubbed(state, of, self._frictions) if self._rubs else drift

    def _rubbed(self, state: tuple[ca.SX, ca.SX], of: str, places: Collection[str]) -> ca.SX:
        """Accelerations by friction on some places."""
        responses = (self._call(f"{of}response to {on}", state) * self._force(on, state) for on in places)
        return sum(responses, ca.SX(0))

    def _force(self, on: str, state: tuple[ca.SX, ca.SX]) -> ca.SX:
        motion = ca.vertsplit(self._call(f"motion of {on}", state))
        return sum((law(*motion) for law in self._frictions.get(on, ())), ca.SX(0))

    def _friction(self, state: tuple[ca.SX, ca.SX]) -> ca.SX:
        """What friction is on the axes; elsewhere, forces on the axes that accelerate these as much."""
        own = ca.vertcat(*(self._force(axis, state) for axis in self.axes))
        others = [on for on in self._frictions if on not in self.axes]
        if not others:
            return own
        rubbed = self._rubbed(state, "", others)
        return own + (self._inertia(state) @ rubbed if self._open else solve(self._call("mobility", state), rubbed))

    def _jacobian(self, state: tuple[ca.SX, ca.SX]) -> ca.SX:
        return self._call("task_mobility", state) @ self._inertia(state)

    def _task_mobility(self, state: tuple[ca.SX, ca.SX]) -> ca.SX:
        """J B J^T = J B_y^T."""
        return self._jacobian(state) @ self._call("task_mobility", state).T


def _split(column: ca.SX) -> tuple[Any, ...]:
    """Entries of a column, numbers where they are constant."""
    return tuple(float(entry) if entry.is_constant() else entry for entry in ca.vertsplit(ca.densify(column)))


def _pivots(A: ca.SX) -> ca.SX:
    """Of a symmetric matrix, eliminated in order."""
    pivots = []
    while A.shape[0]:
        pivots.append(A[0, 0])
        column = A[1:, 0]
        A = A[1:, 1:] - column @ column.T / pivots[-1]
    return ca.vertcat(*pivots)
