"""Model that a law gets: inverse dynamics, inertia, gravity, friction and task of a machine, as functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, frozen
from robodyn.base.symbolic import factor_linear, is_symbolic, to_column
from robodyn.base.symbolic.tables import call, spell_out
from robodyn.computation.assembly.tracing import FRICTION_FACTOR
from robodyn.description.model import XYZ
from robodyn.description.model.control_model import TaskRows
from robodyn.description.model.joint import QUATERNION

# --------------------------------------------------------------------------------------------------
# Functions of a controller's model: what of its motion does it need, by time, positions, velocities and its numbers?
#
#     s'' = d(q, v) + B(q) f,    y'' = d_y(q, v, r) + B_y(q, r) f
#
# of axes s(q) with forces f on them, and of a task y(q, r) with a reference r: all from the accelerations of one
# assembled system, in which a block `probe.<name>` has an unknown force on each axis.


@frozen
class ModelFunctions:
    """Functions (t, q, v, numbers, target of the task) by name: see `columns_of`.

    Attributes:
        direct: places of axes that are joints themselves: number of the axis -> (place in q, place in v).
        positional: rows of the constraints that are equations of positions, not of velocities alone.
        spare: rows of the constraints that follow from others.
    """

    named: dict[str, ca.Function]
    direct: dict[int, tuple[int, int]]
    positional: list[int]
    spare: int
    n_v: int
    numbers: Array

    @property
    def free(self) -> int:
        """Motions that constraints leave."""
        return self.n_v + self.spare - (self.named["positions"].size1_out(0) - self.named["drift"].size1_out(0))

    @property
    def is_overactuated(self) -> bool:
        """Whether there are more axes than motions: forces on some only strain the machine."""
        return bool(self.named["drift"].size1_out(0) > self.free)

    def at_rest(self, name: str, q: Array) -> Array:
        """A function's value in a position that is wanted, with the numbers as described."""
        arguments: list[Any] = [0.0, q, np.zeros(self.n_v), self.numbers]
        target = spell_out(self.named["here"])(*arguments, np.zeros(self.named["here"].size1_out(0)))
        return np.array(spell_out(self.named[name])(*arguments, target))


@frozen(eq=False)
class JacobianScales:
    """Units of the task's rows and of the axes: 1 rad, or the machine's size [m]."""

    rows: Array
    axes: Array

    def apply(self, J: Any) -> Any:
        """J without units."""
        return J * (self.axes[None, :] / self.rows[:, None])


# --------------------------------------------------------------------------------------------------
# State of a controller's model: where are all joints, given positions and velocities of the axes alone?
#
#     h(q) = 0,  s(q) = position,    then    h' = 0,  s' = velocity
#
# Axes that are joints are set; the others follow by Newton's method from where the machine is, so that the result is on
# the same branch, and depends on the axes alone where constraints and axes determine it. What they leave undetermined,
# a floating base, stays as it is.


NEWTON_STEPS = 3
SPARE = 1e-9
"""Damping of equations of which some follow from others, over their mean size."""
Signals = Sequence[Any]


@frozen
class ModelInputs:
    """The part of the machine that a law sees: all joints, its axes, and the numbers of its model."""

    time: SX
    q: SX
    v: SX
    position: tuple[Any, ...]
    velocity: tuple[Any, ...]
    numbers: SX


@frozen
class StateFinder:
    """Finds the state of a model.

    Attributes:
        exact: whether the model's geometry is that of the machine, so that joints are where they are.
    """

    functions: ModelFunctions
    known: ModelInputs
    exact: bool

    def call(self, name: str, q: SX, v: SX, target: SX | None = None) -> SX:
        """A function of the model in a state; a target of the task where it depends on that."""
        known, function = self.known, self.functions.named[name]
        aim = SX.zeros(function.size1_in(4)) if target is None else target
        # Positions that a law wants may be numbers, and velocities at rest are.
        return call(function, [known.time, q, v, known.numbers, aim])[0]

    def find(self, position: Signals, velocity: Signals) -> tuple[SX, SX]:
        """q and v."""
        here = self.exact and same(position, self.known.position)
        if here and same(velocity, self.known.velocity):
            return self.known.q, self.known.v
        q, v = SX(self.known.q), SX(self.known.v)
        for axis, (place, rate) in self.functions.direct.items():
            q[place], v[rate] = position[axis], velocity[axis]
        q = self.known.q if here else self._close(q, v, position)
        return q, self._match(q, v, velocity)

    def _close(self, q: SX, v: SX, position: Signals) -> SX:
        """Newton's steps of the positions that are not given."""
        n = len(position)
        rows = [*self._indirect(n), *(n + row for row in self.functions.positional)]
        if not rows or not self._free:
            return q
        for _ in range(NEWTON_STEPS):
            missed = (self.call("positions", q, v) - _padded(position, self._rows("positions")))[rows]
            step = SX.zeros(self.functions.n_v)
            slopes = self.call("position_slopes", q, v)[rows, self._free]
            step[self._free] = least_squares(slopes, missed, self.functions.spare)
            q = q - self.call("position_rates", q, v) @ step
        return q

    def _match(self, q: SX, v: SX, velocity: Signals) -> SX:
        """The velocities that are not given, from linear equations."""
        rows = [*self._indirect(len(velocity)), *range(len(velocity), self._rows("rates"))]
        if not rows or not self._free:
            return v
        missed = (self.call("rates", q, v) - _padded(velocity, self._rows("rates")))[rows]
        slopes = self.call("rate_slopes", q, v)[rows, self._free]
        v = SX(v)
        v[self._free] = v[self._free] - least_squares(slopes, missed, self.functions.spare)
        return v

    def _rows(self, name: str) -> int:
        return int(self.functions.named[name].size1_out(0))

    def _indirect(self, n: int) -> list[int]:
        """Axes that are coordinates, functions of several joints."""
        return [k for k in range(n) if k not in self.functions.direct]

    @property
    def _free(self) -> list[int]:
        """Places in v of what is no axis itself."""
        direct_rates = {rate for _, rate in self.functions.direct.values()}
        return [k for k in range(self.functions.n_v) if k not in direct_rates]


def _padded(values: Signals, n: int) -> SX:
    return ca.vertcat(*values, SX.zeros(n - len(values)))


def identify(value: Any) -> float:
    """Equal for equal numbers, and for the same symbol."""
    return int(value.element_hash()) if isinstance(value, SX) else float(value)


def same(values: Signals, others: Signals) -> bool:
    """Whether these are the same symbols."""
    return all(identify(one) == identify(other) for one, other in zip(values, others, strict=True))


def solve(A: SX, b: SX) -> SX:
    """x of A x = b, column by column."""
    A = ca.densify(A)
    rows = [[A[i, j] for j in range(A.shape[1])] for i in range(A.shape[0])]
    factored = factor_linear(rows)
    return ca.horzcat(*(ca.vertcat(*factored(ca.vertsplit(column))) for column in ca.horzsplit(ca.densify(b))))


def invert(A: SX) -> SX:
    """A^-1."""
    return solve(A, SX(np.eye(A.shape[0])))


def least_squares(A: SX, r: SX, spare: int) -> SX:
    """x of A x = r: of least squares where rows follow from others, of the least norm where there are too few."""
    rows, columns = A.shape
    if rows == columns and not spare:
        return solve(A, r)
    if rows - spare >= columns:
        return solve(A.T @ A, A.T @ r)
    # Rows that follow from others would make the equations singular; the next step takes back what this leaves.
    damping = SPARE * ca.trace(A @ A.T) / rows if spare else 0.0
    return A.T @ solve(A @ A.T + damping * SX.eye(rows), r)


# --------------------------------------------------------------------------------------------------
# Controller's model in one state: what are its mass matrix, bias, Jacobian and friction there? Each computed once.
#
# s'' = d + B f + friction,   L = B^-1,   b = -L d,   J = B_y L


Friction = Mapping[str, Sequence[Callable[[Any, Any], Any]]]
"""Joint or coordinate -> laws of the friction on it: forces by its position and velocity."""


@frozen(eq=False)
class ModelAt:
    """A model in the state q, v.

    Attributes:
        rubs: whether friction belongs to the motion.
    """

    finder: StateFinder
    axes: tuple[str, ...]
    frictions: Friction
    rubs: bool
    q: SX
    v: SX

    def __getitem__(self, name: str) -> SX:
        """One of the model's functions in this state."""
        return self.finder.call(name, self.q, self.v)

    @property
    def is_open(self) -> bool:
        """Whether it is a tree whose joints all have motors."""
        return "mass_matrix" in self.finder.functions.named

    @cached_property
    def inertia(self) -> SX:
        """L."""
        functions = self.finder.functions
        if functions.is_overactuated:
            what = f"{len(self.axes)} axes, but {functions.free} motions are free: these do not determine the forces"
            raise ValueError(f"{what}; control a task by operational_space_control, without posture")
        return self["mass_matrix"] if self.is_open else invert(self["mobility"])

    @cached_property
    def bias(self) -> SX:
        """b: forces under which the axes do not accelerate."""
        if not self.is_open:
            return -self.inertia @ self.drift
        return self["bias"] - self.friction if self.rubs else self["bias"]

    @cached_property
    def friction(self) -> SX:
        """Forces of friction on the axes; for friction elsewhere, forces on the axes that accelerate these as much."""
        on_axes = to_column(self.force(axis) for axis in self.axes)
        others = [on for on in self.frictions if on not in self.axes]
        return on_axes + self.inertia @ self._rubbed(others) if others else on_axes

    @property
    def drift(self) -> SX:
        """d, with friction where that belongs to the motion."""
        return self["drift"] + self._rubbed(self.frictions) if self.rubs else self["drift"]

    def _rubbed(self, places: Collection[str]) -> SX:
        """Accelerations by friction on some places."""
        return sum((self[f"response to {on}"] * self.force(on) for on in places), SX(0))

    def force(self, on: str) -> SX:
        """The force of friction on a joint or coordinate."""
        motion = ca.vertsplit(self[f"motion of {on}"])
        return FRICTION_FACTOR * sum((law(*motion) for law in self.frictions.get(on, ())), SX(0))


@frozen(eq=False)
class TaskAt:
    """The task of a model in a state, with a target, or as where that is met."""

    at: ModelAt
    target: SX | None

    def __getitem__(self, name: str) -> SX:
        aim = self.at["here"] if self.target is None else self.target
        return self.at.finder.call(name, self.at.q, self.at.v, aim)

    @cached_property
    def reach(self) -> SX:
        """B_y: accelerations of the task by forces on the axes."""
        return self["task_mobility"]

    @cached_property
    def jacobian(self) -> SX:
        """J."""
        return self.reach @ self.at.inertia

    @cached_property
    def mobility(self) -> SX:
        """J B J^T = J B_y^T; or B_y B_y^T."""
        return self.gain @ self.reach.T

    @cached_property
    def gain(self) -> SX:
        """J: or, of more axes than motions, B_y itself, so that forces are as small as they can be."""
        return self.reach if self.at.finder.functions.is_overactuated else self.jacobian

    @cached_property
    def bias(self) -> SX:
        """Forces to which those of the task are added."""
        functions = self.at.finder.functions
        return SX.zeros(self.reach.shape[1]) if functions.is_overactuated else self.at.bias

    @cached_property
    def drift(self) -> SX:
        """Accelerations of the task without forces on the axes."""
        rubbed = self.at.frictions if self.at.rubs else ()
        return self["task_drift"] + sum((self[f"task response to {on}"] * self.at.force(on) for on in rubbed), SX(0))


# --------------------------------------------------------------------------------------------------
# Model-based control: how does a controller's model of the machine move, as a part of the traced graph?
#
#     s'' = d(q, v) + B(q) f,   so that   f = L s'' + b,   L = B^-1,   b = -L d
#
# of axes s(q) with forces f on them: joints, cylinders, whatever has a motor. B is the mobility of these axes with all
# constraints kept, L their mass matrix. So the same few lines hold for trees, closed loops and floating bases; what has
# no motor moves as it must. Of a task with the error e = -y(q, r), y'' = d_y + B_y f, and J = B_y L is its Jacobian by
# the axes (`robodyn.computation.assembly.control.model_dynamics`).


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
        scales: JacobianScales,
    ) -> None:
        """
        Args:
            rubs: whether friction belongs to the motion; scales: of the task's Jacobian.
        """
        self.axes, self.rows, self.task = tuple(axes), rows, rows.names
        self._finder, self._frictions, self._rubs, self._scales = finder, friction, rubs, scales
        self._known: dict[tuple[float, ...], ModelAt] = {}
        self._tasks: dict[tuple[Any, ...], TaskAt] = {}

    def inverse_dynamics(
        self, position: Sequence[Any], velocity: Sequence[Any], acceleration: Sequence[Any]
    ) -> tuple[Any, ...]:
        """Forces on the axes that accelerate them so: `L s'' + b`."""
        at = self._moving(position, velocity)
        return _split(at.inertia @ ca.vertcat(*acceleration) + at.bias)

    def gravity(self, position: Sequence[Any]) -> tuple[Any, ...]:
        """Forces on the axes that hold the machine at rest, against weight, springs and constant loads."""
        return _split(self._resting(position).bias)

    def mass_matrix(self, position: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        """L, row by row: what the axes feel of all masses, with the constraints kept [kg m^2 or kg]."""
        return _split_rows(self._resting(position).inertia)

    def friction(self, position: Sequence[Any], velocity: Sequence[Any]) -> tuple[Any, ...]:
        """Forces of friction on the axes: those of its laws where they slide, and of dry friction at rest none."""
        return _split(self._moving(position, velocity).friction)

    def task_target(
        self,
        position: Sequence[Any] = (),
        velocity: Sequence[Any] = (),
        acceleration: Sequence[Any] = (),
        orientation: Sequence[Any] = (),
        angular_velocity: Sequence[Any] = (),
        angular_acceleration: Sequence[Any] = (),
    ) -> SX:
        """The wanted state of the task, for the functions below; rates that are not given are 0.

        Args:
            position, velocity, acceleration: one for each of `rows.positions`.
            orientation: quaternion w, x, y, z, world from body, of each of `rows.oriented`; angular_velocity,
                angular_acceleration: x, y, z of each, in the axes of the wanted orientation.
        """
        moving, turning = (position, velocity, acceleration), (orientation, angular_velocity, angular_acceleration)
        return to_column(list_target(self.rows, moving, turning))

    def task_error(self, position: Sequence[Any], target: SX) -> tuple[Any, ...]:
        """e: wanted minus present positions, and rotation vectors from present to wanted orientations."""
        return _split(-self._task(self._resting(position), target)["deviation"])

    def task_error_rate(self, position: Sequence[Any], velocity: Sequence[Any], target: SX) -> tuple[Any, ...]:
        """e'."""
        return _split(-self._task(self._moving(position, velocity), target)["deviation_rate"])

    def jacobian(self, position: Sequence[Any], target: SX | None = None) -> tuple[tuple[Any, ...], ...]:
        """J of the task by the axes, row by row: -e' = J s' where these determine it and the target is at rest.

        Where the axes do not determine the task: as forces on them move it.
        """
        return _split_rows(self._task(self._resting(position), target).jacobian)

    def task_dynamics(
        self, position: Sequence[Any], velocity: Sequence[Any], acceleration: Sequence[Any], target: SX
    ) -> tuple[Any, ...]:
        """Forces on the axes under which the task's error accelerates so, e'' (Khatib 1987).

        f = b - J^T (J B J^T)^-1 (e'' + d_y + B_y b), of more axes than the task needs with the least energy

        Of more axes than free motions, the smallest forces: f = -B_y^T (B_y B_y^T)^-1 (e'' + d_y).
        """
        task = self._task(self._moving(position, velocity), target)
        left = task.drift + task.reach @ task.bias
        return _split(task.bias - task.gain.T @ solve(task.mobility, left + ca.vertcat(*acceleration)))

    def task_push(self, position: Sequence[Any], force: Sequence[Any], target: SX | None = None) -> tuple[Any, ...]:
        """Forces on the axes that do what a force on the task does: `J^T F`."""
        return _split(self._task(self._resting(position), target).jacobian.T @ ca.vertcat(*force))

    def null_space(self, position: Sequence[Any], forces: Sequence[Any], target: SX | None = None) -> tuple[Any, ...]:
        """The part of forces on the axes that does not accelerate the task: `f - J^T (J B J^T)^-1 B_y f`."""
        task, f = self._task(self._resting(position), target), ca.vertcat(*forces)
        return _split(f - task.gain.T @ solve(task.mobility, task.reach @ f))

    def independence(self, position: Sequence[Any]) -> Any:
        """How far the task is from a singular position, where it is 0: `1 / sqrt(trace((J J^T)^-1))`.

        At most the smallest singular value of J, at least that over the root of its number of rows; lengths over the
        machine's size.
        """
        J = self._scales.apply(self._task(self._resting(position), None).gain)
        return 1 / ca.sqrt(ca.trace(invert(J @ J.T)))

    def _moving(self, position: Sequence[Any], velocity: Sequence[Any]) -> ModelAt:
        for name, values in (("position", position), ("velocity", velocity)):
            if len(values) != len(self.axes):
                raise ValueError(f"{name} has {len(values)} values, axes are {', '.join(self.axes)}")
        key = tuple(identify(value) for value in (*position, *velocity))
        if key not in self._known:
            self._known[key] = self._at(*self._finder.find(tuple(position), tuple(velocity)))
        return self._known[key]

    def _resting(self, position: Sequence[Any]) -> ModelAt:
        moving = self._moving(position, self._finder.known.velocity)
        key = tuple(identify(value) for value in position)
        if key not in self._known:
            self._known[key] = self._at(moving.q, SX.zeros(moving.v.numel()))
        return self._known[key]

    def _task(self, at: ModelAt, target: SX | None) -> TaskAt:
        key = (id(at), None if target is None else tuple(identify(entry) for entry in ca.vertsplit(target)))
        if key not in self._tasks:
            self._tasks[key] = TaskAt(at, target)
        return self._tasks[key]

    def _at(self, q: SX, v: SX) -> ModelAt:
        return ModelAt(self._finder, self.axes, self._frictions, self._rubs, q, v)


def _split(column: SX) -> tuple[Any, ...]:
    """Entries of a column, numbers where they are constant."""
    return tuple(float(entry) if entry.is_constant() else entry for entry in ca.vertsplit(ca.densify(column)))


def _split_rows(matrix: SX) -> tuple[tuple[Any, ...], ...]:
    return tuple(_split(row.T) for row in ca.vertsplit(matrix))


# --------------------------------------------------------------------------------------------------
# Target of a task: are as many positions and orientations wanted as the task needs, and is each of them one?


UNIT = 1e-3
"""Largest error of a quaternion's length that is forgiven."""


def list_target(rows: TaskRows, moving: Sequence[Any], turning: Sequence[Any]) -> Iterator[Any]:
    """Values in the order of `ModelTask.target`.

    Args:
        moving: positions, velocities, accelerations; turning: orientations, angular velocities and accelerations.

    Raises:
        ValueError: of another number of values, or an orientation that is no unit quaternion.
    """
    places, about = rows.positions, [f"{name}.{axis}" for name in rows.oriented for axis in XYZ]
    quaternions = [f"{name}.orientation.{part}" for name in rows.oriented for part in QUATERNION]
    orientation = _each("target_orientation", turning[0], quaternions)
    _check_lengths(orientation)
    yield from _each("target", moving[0], places)
    yield from _rates("target_velocity", moving[1], places)
    yield from orientation
    yield from _rates("target_angular_velocity", turning[1], about)
    yield from _rates("target_acceleration", moving[2], places)
    yield from _rates("target_angular_acceleration", turning[2], about)


def _rates(argument: str, values: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """One value for each name, or none of a target that rests."""
    resting = isinstance(values, (tuple, list)) and not values
    return (0.0,) * len(names) if resting else _each(argument, values, names)


def _each(argument: str, values: Any, names: Sequence[str]) -> tuple[Any, ...]:
    entries = tuple(values) if isinstance(values, (tuple, list)) else (values,)
    if len(entries) != len(names):
        raise ValueError(f"{argument} has {len(entries)} values, needs {len(names)}: {', '.join(names) or 'none'}")
    return entries


def _check_lengths(orientation: Sequence[Any]) -> None:
    for k in range(0, len(orientation), 4):
        parts = orientation[k : k + 4]
        if any(is_symbolic(part) for part in parts):
            continue
        length = float(np.linalg.norm(parts))
        if not abs(length - 1) < UNIT:
            raise ValueError(f"target_orientation is not a unit quaternion w, x, y, z: its length is {length:.4g}")
