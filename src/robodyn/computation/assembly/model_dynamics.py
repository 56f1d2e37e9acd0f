"""Model-based control: how does a controller's model of the machine move, as a part of the traced graph?

    s'' = d(q, v) + B(q) f,   so that   f = L s'' + b,   L = B^-1,   b = -L d

of axes s(q) with forces f on them: joints, cylinders, whatever has a motor. B is the mobility of these axes with all
constraints kept, L their mass matrix. So the same few lines hold for trees, closed loops and floating bases; what has
no motor moves as it must. Of a task with the error e = -y(q, r), y'' = d_y + B_y f, and J = B_y L is its Jacobian by
the axes (`robodyn.computation.assembly.model_task`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from robodyn.computation.assembly.model_at import Friction, ModelAt, TaskAt
from robodyn.computation.assembly.model_scales import Scales
from robodyn.computation.assembly.model_state import StateFinder, Values, identify, invert, solve
from robodyn.computation.assembly.model_target import list_target
from robodyn.description.model.task import TaskRows


class ModelDynamics:
    """A controller's model: functions of the positions and velocities of its axes, which a law gets as `model`.

    Attributes:
        axes, task: names, in the order of all positions, velocities, forces and errors; rows: of the task.
    """

    def __init__(
        self,
        axes: Sequence[str],
        rows: TaskRows,
        finder: StateFinder,
        friction: Friction,
        rubs: bool,
        scales: Scales,
    ) -> None:
        """
        Args:
            rubs: whether friction belongs to the motion; scales: of the task's Jacobian.
        """
        self.axes, self.rows, self.task = tuple(axes), rows, rows.names
        self._finder, self._frictions, self._rubs, self._scales = finder, friction, rubs, scales
        self._known: dict[tuple[float, ...], ModelAt] = {}
        self._tasks: dict[tuple[Any, ...], TaskAt] = {}

    def inverse_dynamics(self, position: Values, velocity: Values, acceleration: Values) -> tuple[Any, ...]:
        """Forces on the axes that accelerate them so: `L s'' + b`."""
        at = self._moving(position, velocity)
        return _split(at.inertia @ ca.vertcat(*acceleration) + at.bias)

    def gravity(self, position: Values) -> tuple[Any, ...]:
        """Forces on the axes that hold the machine at rest, against weight, springs and constant loads."""
        return _split(self._resting(position).bias)

    def mass_matrix(self, position: Values) -> tuple[tuple[Any, ...], ...]:
        """L, row by row: what the axes feel of all masses, with the constraints kept [kg m^2 or kg]."""
        return _split_rows(self._resting(position).inertia)

    def friction(self, position: Values, velocity: Values) -> tuple[Any, ...]:
        """Forces of friction on the axes: those of its laws where they slide, and of dry friction at rest none."""
        return _split(self._moving(position, velocity).friction)

    def task_target(
        self,
        position: Values = (),
        velocity: Values = (),
        acceleration: Values = (),
        orientation: Values = (),
        angular_velocity: Values = (),
        angular_acceleration: Values = (),
    ) -> ca.SX:
        """What is wanted of the task, for the functions below; rates that are not given are 0.

        Args:
            position, velocity, acceleration: one for each of `rows.positions`.
            orientation: quaternion w, x, y, z, world from body, of each of `rows.oriented`; angular_velocity,
                angular_acceleration: x, y, z of each, in the axes of the wanted orientation.
        """
        moving, turning = (position, velocity, acceleration), (orientation, angular_velocity, angular_acceleration)
        return ca.vertcat(ca.SX(0, 1), *list_target(self.rows, moving, turning))

    def task_error(self, position: Values, target: ca.SX) -> tuple[Any, ...]:
        """e: wanted minus present positions, and rotation vectors from present to wanted orientations."""
        return _split(-self._task(self._resting(position), target)["deviation"])

    def task_error_rate(self, position: Values, velocity: Values, target: ca.SX) -> tuple[Any, ...]:
        """e'."""
        return _split(-self._task(self._moving(position, velocity), target)["deviation_rate"])

    def jacobian(self, position: Values, target: ca.SX | None = None) -> tuple[tuple[Any, ...], ...]:
        """J of the task by the axes, row by row: -e' = J s' where these determine it and the target is at rest.

        Where the axes do not determine the task: as forces on them move it.
        """
        return _split_rows(self._task(self._resting(position), target).jacobian)

    def task_dynamics(self, position: Values, velocity: Values, acceleration: Values, target: ca.SX) -> tuple[Any, ...]:
        """Forces on the axes under which the task's error accelerates so, e'' (Khatib 1987).

        f = b - J^T (J B J^T)^-1 (e'' + d_y + B_y b), of more axes than the task needs with the least energy

        Of more axes than free motions, the smallest forces: f = -B_y^T (B_y B_y^T)^-1 (e'' + d_y).
        """
        task = self._task(self._moving(position, velocity), target)
        left = task.drift + task.reach @ task.bias
        return _split(task.bias - task.gain.T @ solve(task.mobility, left + ca.vertcat(*acceleration)))

    def task_push(self, position: Values, force: Values, target: ca.SX | None = None) -> tuple[Any, ...]:
        """Forces on the axes that do what a force on the task does: `J^T F`."""
        return _split(self._task(self._resting(position), target).jacobian.T @ ca.vertcat(*force))

    def null_space(self, position: Values, forces: Values, target: ca.SX | None = None) -> tuple[Any, ...]:
        """The part of forces on the axes that does not accelerate the task: `f - J^T (J B J^T)^-1 B_y f`."""
        task, f = self._task(self._resting(position), target), ca.vertcat(*forces)
        return _split(f - task.gain.T @ solve(task.mobility, task.reach @ f))

    def independence(self, position: Values) -> Any:
        """How far the task is from a singular position, where it is 0: `1 / sqrt(trace((J J^T)^-1))`.

        At most the smallest singular value of J, at least that over the root of its number of rows; lengths over the
        machine's size.
        """
        J = self._scales.apply(self._task(self._resting(position), None).gain)
        return 1 / ca.sqrt(ca.trace(invert(J @ J.T)))

    def _moving(self, position: Values, velocity: Values) -> ModelAt:
        for name, values in (("position", position), ("velocity", velocity)):
            if len(values) != len(self.axes):
                raise ValueError(f"{name} has {len(values)} values, axes are {', '.join(self.axes)}")
        key = tuple(identify(value) for value in (*position, *velocity))
        if key not in self._known:
            self._known[key] = self._at(*self._finder.find(tuple(position), tuple(velocity)))
        return self._known[key]

    def _resting(self, position: Values) -> ModelAt:
        moving = self._moving(position, self._finder.known.velocity)
        key = tuple(identify(value) for value in position)
        if key not in self._known:
            self._known[key] = self._at(moving.q, ca.SX.zeros(moving.v.numel()))
        return self._known[key]

    def _task(self, at: ModelAt, target: ca.SX | None) -> TaskAt:
        key = (id(at), None if target is None else tuple(identify(entry) for entry in ca.vertsplit(target)))
        if key not in self._tasks:
            self._tasks[key] = TaskAt(at, target)
        return self._tasks[key]

    def _at(self, q: ca.SX, v: ca.SX) -> ModelAt:
        return ModelAt(self._finder, self.axes, self._frictions, self._rubs, q, v)


def _split(column: ca.SX) -> tuple[Any, ...]:
    """Entries of a column, numbers where they are constant."""
    return tuple(float(entry) if entry.is_constant() else entry for entry in ca.vertsplit(ca.densify(column)))


def _split_rows(matrix: ca.SX) -> tuple[tuple[Any, ...], ...]:
    return tuple(_split(row.T) for row in ca.vertsplit(matrix))
