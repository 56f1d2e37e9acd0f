"""Models of controllers: inverse dynamics, inertia and gravity of a machine as a controller knows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.errors import FlawList, ModelError, nearest
from robodyn.base.spatial import (
    Quaternion,
    conjugate,
    from_quaternion,
    multiply,
    quaternion_from_matrix,
    rotation_vector,
)
from robodyn.base.symbolic import factor_linear, is_symbolic, sign, where
from robodyn.base.symbolic.tables import call, spell_out, substitute
from robodyn.computation.assembly.system import System
from robodyn.computation.assembly.tracing import FRICTION_FACTOR
from robodyn.computation.assembly.values import Values
from robodyn.computation.dynamics import link_poses, link_quaternions
from robodyn.description.laws import arguments_of
from robodyn.description.model import GROUND, Block, LinearConstraint, LoopJoint, Machine, Point, PrescribedMotion
from robodyn.description.model.block import JointBlock, name_results
from robodyn.description.model.control_model import ControlModel, TaskRow, TaskRows
from robodyn.description.model.joint import QUATERNION
from robodyn.description.model.numbers import XYZ

# --------------------------------------------------------------------------------------------------
# Record of a controller's model: what is known of it beside its law, which axes and task, and where does it start?


@dataclass(frozen=True, eq=False)
class ModelInfo:
    """The model that a block's law has got.

    Attributes:
        positions, velocities: states of its joints, with their start values; determined: whether constraints and
            axes leave nothing free.
    """

    block: str
    axes: tuple[str, ...]
    rows: TaskRows
    functions: ModelFunctions
    scales: Scales
    positions: Mapping[str, float]
    velocities: Mapping[str, float]
    determined: bool


# --------------------------------------------------------------------------------------------------
# Checks of controllers' models: do the axes move on their own, and can they move the task, at the start?


SINGULAR = 1e-9
"""Part of a common mobility below which a direction counts as immobile."""
IMMOBILE = 1e-18
"""Part of the largest mobility that is rounding of a direction in which nothing moves."""
DEPENDENT = 1e-7
"""Part of the largest mobility below which it is that of constraints, which give way by 1e-7 of their own."""
SHOWN = 1e-3
"""Least part of a direction that is reported."""


def check_numbers(names: Collection[str], described: ControlModel, flaws: FlawList) -> None:
    """Numbers of its own must be numbers that the model has, not of drives and controllers."""
    for pattern in described.scale:
        if not any(described.matches(pattern, name) for name in names):
            flaws.add(f"model.scale.{pattern}", "has no effect: the model has no such number", "leave it out")
    for name in described.changes:
        if name not in names:
            flaws.add(f"model.changes.{name}", "has no effect: the model has no such number", "leave it out")


def check_task(system: System, described: ControlModel, flaws: FlawList) -> bool:
    """A task is made of positions that move, and of rotations of points."""
    known = [info.name for info in system.signals if info.rate and ".velocity" in info.rate]
    mechanism = system.scenario.machine.mechanism
    points = [point.name for point in mechanism.points] if mechanism else []
    for row in described.rows.all:
        if row.point and row.point not in points and (row.rotates or described.frame != "world"):
            flaws.add("model.task", f"'{row.name}': there is no point '{row.point}'", nearest(row.point, points))
        elif row.rotates or row.name in known:
            continue
        elif row.name in system.signal_names:
            flaws.add("model.task", f"'{row.name}' is no position that moves", nearest(row.name, known))
        else:
            flaws.add("model.task", f"there is no position '{row.name}'", nearest(row.name, known))
    return not flaws.found


def check_axes(
    block: Block,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    system: System,
    functions: ModelFunctions,
    flaws: FlawList,
    given: bool,
) -> tuple[str, ...]:
    """Axes, and the task by them, must be independent at the start; a warning where motions have no axis.

    Args:
        given: whether the machine starts as given; a start that is still to be found is looked at elsewhere.
    """
    axes, task = names
    free = functions.free
    if len(axes) > free and not task:
        remedy = f"name {free} of them, or a task that all of them control"
        flaws.add("model.axes", f"names {len(axes)} axes, but {free} motions are free", remedy)
        return ()
    if len(task) > min(len(axes), free):
        what = f"has {len(task)} positions, which {min(len(axes), free)} axes cannot control one by one"
        flaws.add("model.task", what, "name fewer positions, or more axes")
        return ()
    start = np.array([info.start for info in system.states[: system.n_q]])
    # Near the start, off every symmetry.
    elsewhere = start + 0.3 * np.sin(1.0 + np.arange(start.size))
    q, n = start if given else elsewhere, len(axes)
    scale = free_mobilities(functions, elsewhere)
    if not functions.is_overactuated:
        _check_mobile(flaws, "model.axes", functions.at_rest("mobility", q), scale[:n], axes)
    if task and not flaws.found and _can_move(flaws, scale[n:], task):
        _check_mobile(flaws, "model.task", _task_mobility(functions, q), scale[n:], task)
        if flaws.found and functions.free == functions.n_v:
            _say_nowhere(flaws, _task_mobility(functions, elsewhere), scale[n:])
    what = f"{free - n} of {free} motions have no axis: they move as they must, the model does not hold them"
    return (f"blocks.{block.name}: {what}",) if n < free else ()


def _task_mobility(functions: ModelFunctions, q: np.ndarray) -> np.ndarray:
    """J B J^T = B_y B^-1 B_y^T."""
    mobility, reach = functions.at_rest("mobility", q), functions.at_rest("task_mobility", q)
    strained = functions.is_overactuated
    inertia = np.linalg.pinv(mobility, DEPENDENT, hermitian=True) if strained else np.linalg.inv(mobility)
    return reach @ inertia @ reach.T


def _can_move(flaws: FlawList, scale: np.ndarray, task: Sequence[str]) -> bool:
    """A direction in which nothing moves cannot be controlled."""
    for name in (name for name, mobility in zip(task, scale, strict=True) if mobility <= IMMOBILE * np.max(scale)):
        flaws.add("model.task", f"'{name}' cannot be controlled: no joint moves it", "leave it out")
    return not flaws.found


def _say_nowhere(flaws: FlawList, mobility: np.ndarray, scale: np.ndarray) -> None:
    """What is singular elsewhere too is so not because of the start."""
    root = np.sqrt(scale)
    if np.linalg.eigvalsh((mobility + mobility.T) / 2 / np.outer(root, root))[0] <= SINGULAR:
        flaws.add("model.task", "its directions depend on each other elsewhere too", "leave one of them out")


def free_mobilities(functions: ModelFunctions, q: np.ndarray) -> np.ndarray:
    """What a common mobility is: that of each axis and position of the task without constraints."""
    M, S = (functions.at_rest(name, q) for name in ("free_mass_matrix", "slopes"))
    return np.einsum("ij,ij->i", S, np.linalg.solve(M, S.T).T)


def _check_mobile(flaws: FlawList, path: str, mobility: np.ndarray, scale: np.ndarray, names: Sequence[str]) -> None:
    """Forces must accelerate every direction."""
    root = np.sqrt(scale)
    if not np.isfinite(mobility).all():
        flaws.add(path, "the start is singular: constraints leave no motion determined", "start elsewhere")
        return
    values, vectors = np.linalg.eigh((mobility + mobility.T) / 2 / np.outer(root, root))
    if values[0] > SINGULAR:
        return
    named = name_direction(vectors[:, 0] / root, names)
    what = f"the start is singular: no force accelerates {named} (mobility {max(values[0], 0.0):.1g} of a common one)"
    flaws.add(path, what, "start elsewhere, or name others")


def name_direction(direction: np.ndarray, names: Sequence[str]) -> str:
    """Parts of a direction that count, of length 1: `+0.8 tool.position.x -0.6 tool.rotation.z`."""
    parts = zip(np.round(direction / np.linalg.norm(direction), 3), names, strict=True)
    return " ".join(f"{part:+g} {name}" for part, name in parts if abs(part) > SHOWN)


# --------------------------------------------------------------------------------------------------
# Scales of a task's Jacobian: how large are its entries, when lengths are measured by the machine's size?


@dataclass(frozen=True, eq=False)
class Scales:
    """Units of the task's rows and of the axes: 1 rad, or the machine's size [m]."""

    rows: np.ndarray
    axes: np.ndarray

    def apply(self, J: Any) -> Any:
        """J without units."""
        return J * (self.axes[None, :] / self.rows[:, None])


def find_scales(system: System, axes: Sequence[str], rows: TaskRows, functions: ModelFunctions) -> Scales:
    """Of a machine at its start; of more axes than motions those of forces, by what moves without constraints."""
    if functions.is_overactuated:
        start = np.array([info.start for info in system.states[: system.n_q]])
        root = np.sqrt(free_mobilities(functions, start))
        return Scales(root[len(axes) :], 1 / root[: len(axes)])
    size = machine_size(system)
    units = {info.name: size if info.unit == "m" else 1.0 for info in system.signals}
    return Scales(
        np.array([1.0 if row.rotates else units[row.name] for row in rows.all]),
        np.array([units[f"{axis}.position"] for axis in axes]),
    )


def machine_size(system: System) -> float:
    """Diagonal of the box around all joints and points at the start [m]."""
    assert system.motion.mechanics is not None
    poses = link_poses(system.motion.mechanics.tree, ca.vertsplit(system.q))
    joints = _at_start(system, ca.vertcat(*(ca.SX(pose.p) for pose in poses)))
    places = np.vstack([joints, *point_places(system).values()])
    return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0


def point_places(system: System) -> dict[str, np.ndarray]:
    """Where all points are at the start [m]."""
    mechanism = system.scenario.machine.mechanism
    assert mechanism is not None
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    names = [point.name for point in mechanism.points]
    column = ca.vertcat(ca.SX(0, 1), *(outputs[f"{name}.position.{axis}"] for name in names for axis in XYZ))
    return dict(zip(names, _at_start(system, column), strict=True))


def _at_start(system: System, column: ca.SX) -> np.ndarray:
    x, memory = [info.start for info in system.states], [info.start for info in system.memory]
    numbers = [number.value for number in system.parameters]
    return np.array(spell_out(system.function(column))(0.0, x, [], memory, numbers)).reshape(-1, 3)


# --------------------------------------------------------------------------------------------------
# State of a controller's model: where are all joints, given positions and velocities of the axes alone?
#
#     h(q) = 0,  s(q) = position,    then    h' = 0,  s' = velocity
#
# Axes that are joints are set; the others follow by Newton's method from where the machine is, so that the result
# is on
# the same branch, and depends on the axes alone where constraints and axes determine it. What they leave undetermined,
# a floating base, stays as it is.


NEWTON_STEPS = 3
SPARE = 1e-9
"""Damping of equations of which some follow from others, over their mean size."""
Signals = Sequence[Any]


@dataclass(frozen=True)
class ModelInputs:
    """What a law sees of the machine: all joints, its axes, and the numbers of its model."""

    time: ca.SX
    q: ca.SX
    v: ca.SX
    position: tuple[Any, ...]
    velocity: tuple[Any, ...]
    numbers: ca.SX


@dataclass(frozen=True)
class StateFinder:
    """Finds the state of a model.

    Attributes:
        exact: whether the model's geometry is that of the machine, so that joints are where they are.
    """

    functions: ModelFunctions
    known: ModelInputs
    exact: bool

    def call(self, name: str, q: ca.SX, v: ca.SX, target: ca.SX | None = None) -> ca.SX:
        """A function of the model in a state; a target of the task where it depends on that."""
        known, function = self.known, self.functions.named[name]
        aim = ca.SX.zeros(function.size1_in(4)) if target is None else target
        # Positions that a law wants may be numbers, and velocities at rest are.
        return call(function, [known.time, q, v, known.numbers, aim])[0]

    def find(self, position: Signals, velocity: Signals) -> tuple[ca.SX, ca.SX]:
        """q and v."""
        here = self.exact and same(position, self.known.position)
        if here and same(velocity, self.known.velocity):
            return self.known.q, self.known.v
        q, v = ca.SX(self.known.q), ca.SX(self.known.v)
        for axis, (place, rate) in self.functions.direct.items():
            q[place], v[rate] = position[axis], velocity[axis]
        q = self.known.q if here else self._close(q, v, position)
        return q, self._match(q, v, velocity)

    def _close(self, q: ca.SX, v: ca.SX, position: Signals) -> ca.SX:
        """Newton's steps of the positions that are not given."""
        n = len(position)
        rows = [*self._indirect(n), *(n + row for row in self.functions.positional)]
        if not rows or not self._free:
            return q
        for _ in range(NEWTON_STEPS):
            missed = (self.call("positions", q, v) - _padded(position, self._rows("positions")))[rows]
            step = ca.SX.zeros(self.functions.n_v)
            slopes = self.call("position_slopes", q, v)[rows, self._free]
            step[self._free] = least_squares(slopes, missed, self.functions.spare)
            q = q - self.call("position_rates", q, v) @ step
        return q

    def _match(self, q: ca.SX, v: ca.SX, velocity: Signals) -> ca.SX:
        """The velocities that are not given, from linear equations."""
        rows = [*self._indirect(len(velocity)), *range(len(velocity), self._rows("rates"))]
        if not rows or not self._free:
            return v
        missed = (self.call("rates", q, v) - _padded(velocity, self._rows("rates")))[rows]
        slopes = self.call("rate_slopes", q, v)[rows, self._free]
        v = ca.SX(v)
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
        taken = {rate for _, rate in self.functions.direct.values()}
        return [k for k in range(self.functions.n_v) if k not in taken]


def _padded(values: Signals, n: int) -> ca.SX:
    return ca.vertcat(*values, ca.SX.zeros(n - len(values)))


def identify(value: Any) -> float:
    """Equal for equal numbers, and for the same symbol."""
    return int(value.element_hash()) if isinstance(value, ca.SX) else float(value)


def same(values: Signals, others: Signals) -> bool:
    """Whether these are the same symbols."""
    return all(identify(one) == identify(other) for one, other in zip(values, others, strict=True))


def solve(A: ca.SX, b: ca.SX) -> ca.SX:
    """x of A x = b, column by column."""
    A = ca.densify(A)
    rows = [[A[i, j] for j in range(A.shape[1])] for i in range(A.shape[0])]
    factored = factor_linear(rows)
    return ca.horzcat(*(ca.vertcat(*factored(ca.vertsplit(column))) for column in ca.horzsplit(ca.densify(b))))


def invert(A: ca.SX) -> ca.SX:
    """A^-1."""
    return solve(A, ca.SX(np.eye(A.shape[0])))


def least_squares(A: ca.SX, r: ca.SX, spare: int) -> ca.SX:
    """x of A x = r: of least squares where rows follow from others, of the least norm where there are too few."""
    rows, columns = A.shape
    if rows == columns and not spare:
        return solve(A, r)
    if rows - spare >= columns:
        return solve(A.T @ A, A.T @ r)
    # Rows that follow from others would make the equations singular; the next step takes back what this leaves.
    damping = SPARE * ca.trace(A @ A.T) / rows if spare else 0.0
    return A.T @ solve(A @ A.T + damping * ca.SX.eye(rows), r)


# --------------------------------------------------------------------------------------------------
# Controller's model in one state: what are its mass matrix, bias, Jacobian and friction there? Each computed once.
#
# s'' = d + B f + friction,   L = B^-1,   b = -L d,   J = B_y L


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


# --------------------------------------------------------------------------------------------------
# Functions of a controller's model: what of its motion does it need, by time, positions, velocities and its numbers?
#
#     s'' = d(q, v) + B(q) f,    y'' = d_y(q, v, r) + B_y(q, r) f
#
# of axes s(q) with forces f on them, and of a task y(q, r) with a reference r: all from the accelerations of one
# assembled system, in which a block `probe.<name>` has an unknown force on each axis.


PROBE = "probe"


@dataclass(frozen=True)
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
    numbers: np.ndarray

    @property
    def free(self) -> int:
        """Motions that constraints leave."""
        return self.n_v + self.spare - (self.named["positions"].size1_out(0) - self.named["drift"].size1_out(0))

    @property
    def is_overactuated(self) -> bool:
        """Whether there are more axes than motions: forces on some only strain the machine."""
        return bool(self.named["drift"].size1_out(0) > self.free)

    def at_rest(self, name: str, q: np.ndarray) -> np.ndarray:
        """A function's value in a position that is wanted, with the numbers as described."""
        given: list[Any] = [0.0, q, np.zeros(self.n_v), self.numbers]
        target = spell_out(self.named["here"])(*given, np.zeros(self.named["here"].size1_out(0)))
        return np.array(spell_out(self.named[name])(*given, target))


def trace_functions(system: System, axes: Sequence[str], task: ModelTask) -> ModelFunctions:
    """All functions of a model."""
    x, p, n = system.symbols.x, system.symbols.p, system.n_q + system.n_v
    unknown = [number.name.startswith(f"{PROBE}.") for number in system.parameters]
    forces, numbers = (
        ca.vertcat(ca.SX(0, 1), *(p[k] for k, probe in enumerate(unknown) if probe is side)) for side in (True, False)
    )
    columns = columns_of(system, axes, task)
    # Without unknown forces, all constraints on; what blocks remember, or energies sum up, has no part in it.
    memory = ca.vertcat(ca.SX(0, 1), *(info.start for info in system.memory))
    others = ca.vertcat(x[n:], system.symbols.m, forces)
    values = ca.vertcat(ca.SX.zeros(x[n:].numel()), memory, ca.SX.zeros(forces.numel()))
    plain = substitute(list(columns.values()), others, values)
    given = [system.symbols.t, system.q, system.v, numbers, task.target]
    h = system.expressions.constraints[: len(system.motion.constraint_forces)]
    return ModelFunctions(
        {name: ca.Function("f", given, [ca.densify(column)]) for name, column in zip(columns, plain, strict=True)},
        _direct_axes(system, axes),
        [row for row in range(h.numel()) if not h[row].is_zero()],
        system.motion.spare,
        system.n_v,
        np.array([n.value for n, probe in zip(system.parameters, unknown, strict=True) if not probe]),
    )


def columns_of(system: System, axes: Sequence[str], task: ModelTask) -> dict[str, ca.SX]:
    """What the functions compute, with the unknown forces as symbols."""
    q, v, rhs = system.q, system.v, system.expressions.rhs
    q_dot, motion = rhs[: system.n_q], rhs[: system.n_q + system.n_v]
    names = [number.name for number in system.parameters]
    probes = {
        name.removeprefix(f"{PROBE}.").removesuffix(".value"): system.symbols.p[k]
        for k, name in enumerate(names)
        if name.startswith(f"{PROBE}.")
    }
    s, y = ca.vertcat(*(system.motion.coordinates[axis] for axis in axes)), task.deviation
    k = len(system.motion.constraint_forces)
    h, h_dot = system.expressions.constraints[:k], system.expressions.constraints[k:]
    r, r_dot = task.reference, task.reference_rate
    s_dot, y_dot = ca.jtimes(s, q, q_dot), ca.jtimes(y, ca.vertcat(q, r), ca.vertcat(q_dot, r_dot))
    # Total time derivatives of the rates along the motion: linear in the unknown forces.
    moving, moved = ca.vertcat(q, v, r), ca.vertcat(motion, r_dot)
    s_ddot, y_ddot = (ca.jtimes(column, moving, moved) for column in (s_dot, y_dot))
    f = ca.vertcat(*(probes[axis] for axis in axes))
    columns = {
        "drift": s_ddot,
        "mobility": ca.jacobian(s_ddot, f),
        "here": task.here,
        "deviation": y,
        "deviation_rate": y_dot,
        "task_drift": y_ddot,
        "task_mobility": ca.jacobian(y_ddot, f),
        "free_mass_matrix": system.mass_matrix,
        "slopes": system.slopes(ca.vertcat(s, y)),
        "positions": ca.vertcat(s, h),
        "position_slopes": system.slopes(ca.vertcat(s, h)),
        "rates": ca.vertcat(s_dot, h_dot),
        "rate_slopes": ca.jacobian(ca.vertcat(s_dot, h_dot), v),
        "position_rates": ca.jacobian(q_dot, v),
    }
    for name, force in probes.items():
        place = system.motion.coordinates[name]
        columns[f"motion of {name}"] = ca.vertcat(place, ca.jtimes(place, q, q_dot))
        columns[f"response to {name}"] = ca.jacobian(s_ddot, force)
        columns[f"task response to {name}"] = ca.jacobian(y_ddot, force)
    return columns | _open_tree(system, axes)


def _open_tree(system: System, axes: Sequence[str]) -> dict[str, ca.SX]:
    """Of a tree whose joints all have motors, M and c themselves, by composite bodies and Newton-Euler."""
    places = [place for _, place in _direct_axes(system, axes).values()]
    if system.motion.constraint_forces or len(places) < system.n_v:
        return {}
    bias = system.bias - system.expressions.applied
    return {"mass_matrix": system.mass_matrix[places, places], "bias": bias[places]}


def _direct_axes(system: System, axes: Sequence[str]) -> dict[int, tuple[int, int]]:
    q, v = ([symbol.name() for symbol in ca.vertsplit(column)] for column in (system.q, system.v))
    return {
        k: (q.index(f"{axis}.position"), v.index(f"{axis}.velocity"))
        for k, axis in enumerate(axes)
        if f"{axis}.position" in q
    }


# --------------------------------------------------------------------------------------------------
# Friction of a controller's model: which force does each law of friction give, by position and velocity alone?
#
# Dry friction slides in the direction of the velocity and exerts nothing at rest; states of a law, such as bent
# bristles, are those of steady sliding.


Law = Callable[[Any, Any], Any]


def friction_laws(values: Values, blocks: Sequence[Block], own: Mapping[str, float]) -> dict[str, list[Law]]:
    """Laws by the joint or coordinate that they are on.

    Args:
        own: numbers of the model that are not the machine's.
    """
    found: dict[str, list[Law]] = {}
    for block in blocks:
        parameters = {key: _number(values, block, key, own) for key in block.parameters}
        found.setdefault(str(block.on), []).append(_law(block, parameters))
    return found


def friction_numbers(blocks: Sequence[Block]) -> Iterator[str]:
    """Names of the numbers of friction."""
    for block in blocks:
        yield from block.sources.values() if isinstance(block, JointBlock) else (n.name for n in block.numbers())


def _number(values: Values, block: Block, key: str, own: Mapping[str, float]) -> Any:
    """A parameter of the machine's friction, or the model's own."""
    name = block.sources.get(key, "") if isinstance(block, JointBlock) else f"{block.name}.{key}"
    return own[name] if name in own else values.parameter(block, key)


def _law(block: Block, parameters: Mapping[str, Any]) -> Law:
    names = [argument.name for argument in arguments_of(block.function)]

    def results(given: Mapping[str, Any]) -> dict[str, Any]:
        return name_results(block, block.function(**{name: given[name] for name in names}))

    read = [signal for name, signal in block.inputs.items() if name not in ("position", "velocity")]

    def force(position: Any, velocity: Any) -> Any:
        if read:
            raise ValueError(f"friction '{block.name}' depends on the signal '{read[0]}', which no model knows")
        given = {"position": position, "velocity": velocity, "direction": sign(velocity), **parameters}
        given |= {name: _steady(results, given, name) for name in block.state_names}
        found = results(given)
        return found["torque"] if "torque" in found else found["force"]

    return force


def _steady(results: Callable[[Mapping[str, Any]], dict[str, Any]], given: Mapping[str, Any], state: str) -> Any:
    """A state that does not change, by one Newton step from 0: exact for rates that are linear in it."""
    symbol = ca.SX.sym(state)
    rate = ca.SX(results({**given, state: symbol})[f"{state}_dot"])
    slope, begun = ca.substitute([ca.jacobian(rate, symbol), rate], [symbol], [ca.SX(0)])
    return where(slope != 0, -begun / where(slope != 0, slope, 1.0), 0.0)


# --------------------------------------------------------------------------------------------------
# Machine of a controller's model: which bodies, joints, loads and springs does it have, and with which numbers?


HELD = "held_model"
"""Constraints that hold points where they start, and those places: `held_model.foot`, `held_model.foot.place`."""
RIGID = "rigid_model"
"""Constraints that hold joints at 0: `rigid_model.twist`."""
NAME_AXES = "name the axes that have motors, with acts or model.axes; the rest then moves as it must"


def all_joints(machine: Machine, flaws: FlawList) -> tuple[str, ...]:
    """Every joint of a machine in which each can have a motor."""
    mechanism = machine.mechanism
    if mechanism is None:
        flaws.add("model", "there are no bodies and joints to make it of")
        return ()
    joints = {joint.name for joint in mechanism.joints}
    loose = [joint.name for joint in mechanism.joints if len(joint.freedoms) > 1 or joint.kind == "ball"]
    if loose:
        flaws.add("model.axes", f"is missing: '{loose[0]}' moves freely and has no motors", NAME_AXES)
    elif machine.all_constraints:
        flaws.add("model.axes", "is missing: constraints leave fewer motions than there are joints", NAME_AXES)
    elif any(freedom.name not in joints for freedom in mechanism.freedoms):
        flaws.add("model.axes", "is missing: modes of flexible bodies have no motors", NAME_AXES)
    return tuple(freedom.name for freedom in mechanism.freedoms if freedom.is_single)


def own_numbers(machine: Machine, described: ControlModel, flaws: FlawList) -> dict[str, float]:
    """Numbers of the model that are not the machine's; a name that is none of the machine's is a flaw."""
    numbers = {number.name: number.value for number in machine.numbers()}
    for pattern in described.scale:
        if not any(described.matches(pattern, name) for name in numbers):
            flaws.add(f"model.scale.{pattern}", "is no number of the machine", nearest(pattern, numbers))
    for name in described.changes:
        if name not in numbers:
            flaws.add(f"model.changes.{name}", "is no number of the machine", nearest(name, numbers))
    scaled = {name: described.factor_of(name) * value for name, value in numbers.items() if described.scales(name)}
    return scaled | dict(described.changes)


def bare_machine(
    machine: Machine, described: ControlModel, places: Sequence[str], own: Mapping[str, float], flaws: FlawList
) -> Machine | None:
    """Bodies, joints, constraints, constant loads, springs and dampers, and an unknown force on each of the places."""
    for constraint in machine.all_constraints:
        if isinstance(constraint, PrescribedMotion):
            flaws.add("model", f"cannot be made: signals move '{constraint.of}'", "leave the prescribed motion out")
    try:
        changed = machine.with_numbers(own)
    except ModelError as error:
        flaws.extend(error.flaws, under="model.changes")
    if flaws.found:
        return None
    probes = [
        Block(f"{PROBE}.{name}", "constant_force", name, parameters={"value": 0.0}) for name in dict.fromkeys(places)
    ]
    rigid = [LinearConstraint(f"{RIGID}.{name}", {name: 1.0}) for name in described.rigid]
    return changed.with_all_blocks([*filter(_belongs, changed.blocks), *probes]).replaced(
        delays=(),
        signals=(),
        contacts=(),
        interfaces=(),
        loads=tuple(load for load in changed.loads if load.times is None),
        constraints=(*changed.constraints, *rigid),
    )


def with_held(machine: Machine, places: Mapping[str, Any]) -> Machine:
    """A machine whose points are held at places: at the level of accelerations, wherever they are by then."""
    mechanism = machine.mechanism
    assert mechanism is not None
    grounds = [Point(f"{HELD}.{name}.place", GROUND, tuple(place)) for name, place in places.items()]
    joints = [LoopJoint(f"{HELD}.{name}", name, f"{HELD}.{name}.place") for name in places]
    stood = mechanism.replaced(points=(*mechanism.points, *grounds))
    return machine.replaced(mechanism=stood, constraints=(*machine.constraints, *joints))


def _belongs(block: Block) -> bool:
    """Springs and dampers: forces of position and velocity alone that give no energy, and are no friction."""
    remembers = block.state_names or block.memory_names or block.inputs or block.sampled
    return bool(block.on) and block.info.passive and not block.info.disturbance and not remembers


# --------------------------------------------------------------------------------------------------
# Model-based control: how does a controller's model of the machine move, as a part of the traced graph?
#
#     s'' = d(q, v) + B(q) f,   so that   f = L s'' + b,   L = B^-1,   b = -L d
#
# of axes s(q) with forces f on them: joints, cylinders, whatever has a motor. B is the mobility of these axes with all
# constraints kept, L their mass matrix. So the same few lines hold for trees, closed loops and floating bases; what
# has
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
    ) -> ca.SX:
        """What is wanted of the task, for the functions below; rates that are not given are 0.

        Args:
            position, velocity, acceleration: one for each of `rows.positions`.
            orientation: quaternion w, x, y, z, world from body, of each of `rows.oriented`; angular_velocity,
                angular_acceleration: x, y, z of each, in the axes of the wanted orientation.
        """
        moving, turning = (position, velocity, acceleration), (orientation, angular_velocity, angular_acceleration)
        return ca.vertcat(ca.SX(0, 1), *list_target(self.rows, moving, turning))

    def task_error(self, position: Sequence[Any], target: ca.SX) -> tuple[Any, ...]:
        """e: wanted minus present positions, and rotation vectors from present to wanted orientations."""
        return _split(-self._task(self._resting(position), target)["deviation"])

    def task_error_rate(self, position: Sequence[Any], velocity: Sequence[Any], target: ca.SX) -> tuple[Any, ...]:
        """e'."""
        return _split(-self._task(self._moving(position, velocity), target)["deviation_rate"])

    def jacobian(self, position: Sequence[Any], target: ca.SX | None = None) -> tuple[tuple[Any, ...], ...]:
        """J of the task by the axes, row by row: -e' = J s' where these determine it and the target is at rest.

        Where the axes do not determine the task: as forces on them move it.
        """
        return _split_rows(self._task(self._resting(position), target).jacobian)

    def task_dynamics(
        self, position: Sequence[Any], velocity: Sequence[Any], acceleration: Sequence[Any], target: ca.SX
    ) -> tuple[Any, ...]:
        """Forces on the axes under which the task's error accelerates so, e'' (Khatib 1987).

        f = b - J^T (J B J^T)^-1 (e'' + d_y + B_y b), of more axes than the task needs with the least energy

        Of more axes than free motions, the smallest forces: f = -B_y^T (B_y B_y^T)^-1 (e'' + d_y).
        """
        task = self._task(self._moving(position, velocity), target)
        left = task.drift + task.reach @ task.bias
        return _split(task.bias - task.gain.T @ solve(task.mobility, left + ca.vertcat(*acceleration)))

    def task_push(self, position: Sequence[Any], force: Sequence[Any], target: ca.SX | None = None) -> tuple[Any, ...]:
        """Forces on the axes that do what a force on the task does: `J^T F`."""
        return _split(self._task(self._resting(position), target).jacobian.T @ ca.vertcat(*force))

    def null_space(
        self, position: Sequence[Any], forces: Sequence[Any], target: ca.SX | None = None
    ) -> tuple[Any, ...]:
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
    given = tuple(values) if isinstance(values, (tuple, list)) else (values,)
    if len(given) != len(names):
        raise ValueError(f"{argument} has {len(given)} values, needs {len(names)}: {', '.join(names) or 'none'}")
    return given


def _check_lengths(orientation: Sequence[Any]) -> None:
    for k in range(0, len(orientation), 4):
        parts = orientation[k : k + 4]
        if any(is_symbolic(part) for part in parts):
            continue
        length = float(np.linalg.norm(parts))
        if not abs(length - 1) < UNIT:
            raise ValueError(f"target_orientation is no unit quaternion w, x, y, z: its length is {length:.4g}")


# --------------------------------------------------------------------------------------------------
# Task of a controller's model: how far are positions and orientations from what is wanted, along which directions?
#
#     y(q, r) = 0 where the machine is as wanted;  y' and y'' along its motion and that of the reference r
#
# A row of y is a position minus the wanted one, in world axes or in those of the wanted orientation, or a component
# of a
# rotation vector. With d the quaternion from wanted to present orientation,
#
#     three rotations of a point     rotation vector of d
#     two                            of the shortest rotation that brings the third axis to where it is wanted (swing)
#     one                            the angle about its axis (twist)
#
# so that what a task leaves free has no effect on it. In world axes d = q q_ref^-1, in those wanted d = q_ref^-1 q.


@dataclass(frozen=True, eq=False)
class ModelTask:
    """A task as expressions.

    Attributes:
        deviation: y; reference: symbols r, of wanted positions, their velocities, orientations, angular velocities;
            reference_rate: r', with symbols of the accelerations; target: both; here: its values at which y = 0.
    """

    rows: TaskRows
    deviation: ca.SX
    reference: ca.SX
    reference_rate: ca.SX
    target: ca.SX
    here: ca.SX


def express_task(system: System, rows: TaskRows) -> ModelTask:
    """Symbols of what is wanted, and deviations from it."""
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    found = {name: _orientation(system, name) for name in rows.oriented}
    n, k = len(rows.positions), len(rows.oriented)
    p, v, a = (ca.SX.sym(name, n) for name in ("target", "target_velocity", "target_acceleration"))
    orientations, omega, alpha = (
        ca.SX.sym(name, size, k)
        for name, size in (("orientation", 4), ("angular_velocity", 3), ("angular_acceleration", 3))
    )
    wanted: dict[str, Any] = {name: ca.vertsplit(orientations[:, j]) for j, name in enumerate(rows.oriented)}
    turning = [_quaternion_rate(wanted[name], omega[:, j]) for j, name in enumerate(rows.oriented)]
    left = {name: outputs[name] - p[j] for j, name in enumerate(rows.positions)}
    reference = ca.vertcat(p, v, ca.vec(orientations), ca.vec(omega))
    positions = [outputs[name] for name in rows.positions]
    quaternions = [ca.SX(part) for name in rows.oriented for part in found[name]]
    return ModelTask(
        rows,
        ca.vertcat(ca.SX(0, 1), *_deviations(rows, left, found, wanted)),
        reference,
        ca.vertcat(v, a, *turning, ca.vec(alpha)),
        ca.vertcat(reference, a, ca.vec(alpha)),
        ca.vertcat(*positions, ca.SX.zeros(n), *quaternions, ca.SX.zeros(6 * k + n)),
    )


def _orientation(system: System, point: str) -> Quaternion:
    """Of the body of a point, world from body."""
    mechanism, mechanics = system.scenario.machine.mechanism, system.motion.mechanics
    assert mechanism is not None
    assert mechanics is not None
    described = next(one for one in mechanism.points if one.name == point)
    place = mechanics.locate(described, mechanism, np.array(described.origin))
    fixed, q = quaternion_from_matrix(place.pose.R), ca.vertsplit(system.q)
    return fixed if place.link < 0 else multiply(link_quaternions(mechanics.tree, q)[place.link], fixed)


def _quaternion_rate(q: Quaternion, omega: ca.SX) -> ca.SX:
    """q' = q (0, omega / 2), omega in the axes of the rotated frame."""
    return ca.vertcat(ca.SX(0, 1), *multiply(q, (0.0, omega[0] / 2, omega[1] / 2, omega[2] / 2)))


def _deviations(
    rows: TaskRows,
    left: Mapping[str, ca.SX],
    found: Mapping[str, Quaternion],
    wanted: Mapping[str, Quaternion],
) -> Sequence[ca.SX]:
    turned = {name: _turned(rows, name, found[name], wanted[name]) for name in rows.rotating}
    return [turned[row.point][row.axis] if row.rotates else _moved(rows, row, left, wanted) for row in rows.all]


def _moved(rows: TaskRows, row: TaskRow, left: Mapping[str, ca.SX], wanted: Mapping[str, Quaternion]) -> ca.SX:
    """How far a position is from where it is wanted."""
    if not row.point or rows.frame == "world":
        return left[row.name]
    away = ca.vertcat(*(left[f"{row.point}.position.{axis}"] for axis in XYZ))
    return from_quaternion(*wanted[row.point])[:, row.axis].T @ away


def _turned(rows: TaskRows, point: str, found: Quaternion, wanted: Quaternion) -> dict[int, ca.SX]:
    """How far a point's body is rotated about each of the axes that a task names."""
    axes = [row.axis for row in rows.all if row.rotates and row.point == point]
    world = rows.frame == "world"
    d = multiply(found, conjugate(wanted)) if world else multiply(conjugate(wanted), found)
    if len(axes) == 2:
        free = ({0, 1, 2} - {*axes}).pop()
        d = _swing(d, free, left=world)
    elif len(axes) == 1:
        d = (d[0], *(part if k == axes[0] else 0.0 for k, part in enumerate(d[1:])))
    vector = rotation_vector(*(ca.SX(part) for part in d))
    return {axis: vector[axis] for axis in axes}


def _swing(d: Quaternion, free: int, left: bool) -> Quaternion:
    """d without its twist, a rotation about the free axis: d = twist swing, or swing twist."""
    # Of any length: w^2 + z^2 in place of its root takes no part in the rotation vector.
    untwist = (d[0], *(-part if k == free else 0.0 for k, part in enumerate(d[1:])))
    w, *vector = multiply(untwist, d) if left else multiply(d, untwist)
    return (w, *(0.0 if k == free else part for k, part in enumerate(vector)))
