"""Control models: which laws get a model of the machine, what is it made of, and can it do what they ask for?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, FlawList, ModelError, frozen, nearest
from robodyn.base.spatial import (
    Quaternion,
    conjugate,
    from_quaternion,
    multiply,
    quaternion_from_matrix,
    rotation_vector,
)
from robodyn.base.symbolic import sign, to_column, where
from robodyn.base.symbolic.tables import substitute
from robodyn.computation.assembly.contribution import Context, Contribution
from robodyn.computation.assembly.system import System
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.computation.assembly.values import Values
from robodyn.computation.dynamics import link_poses, link_quaternions
from robodyn.description.laws import arguments_of
from robodyn.description.model import (
    GROUND,
    XYZ,
    Block,
    ConstraintMethod,
    LinearConstraint,
    LoopJoint,
    Machine,
    Point,
    PrescribedMotion,
    Scenario,
)
from robodyn.description.model.block import JointBlock, name_results
from robodyn.description.model.control_model import ControlModel, TaskRow, TaskRows

from .model_dynamics import (
    JacobianScales,
    ModelDynamics,
    ModelFunctions,
    ModelInputs,
    StateFinder,
)

# --------------------------------------------------------------------------------------------------
# Record of a controller's model: what is known of it beside its law, which axes and task, and where does it start?


@frozen(eq=False)
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
    scales: JacobianScales
    positions: Mapping[str, float]
    velocities: Mapping[str, float]
    determined: bool


# --------------------------------------------------------------------------------------------------
# Machine of a controller's model: which bodies, joints, loads and springs does it have, and with which numbers?


HELD = "held_model"
"""Constraints that hold points where they start, and those places: `held_model.foot`, `held_model.foot.place`."""
RIGID = "rigid_model"
"""Constraints that hold joints at 0: `rigid_model.twist`."""
NAME_AXES = "name the axes that have motors, with acts or model.axes; the other joints then follow"


def all_joints(machine: Machine, flaws: FlawList) -> tuple[str, ...]:
    """Every joint of a machine in which each can have a motor."""
    mechanism = machine.mechanism
    if mechanism is None:
        flaws.add("model", "there are no bodies and joints to build it from")
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
            flaws.add(f"model.scale.{pattern}", "is not a number of the machine", nearest(pattern, numbers))
    flaws.add_unknown(described.changes, numbers, "is not a number of the machine", "model.changes")
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
    mechanism = machine.any_mechanism
    grounds = [Point(f"{HELD}.{name}.place", GROUND, tuple(place)) for name, place in places.items()]
    joints = [LoopJoint(f"{HELD}.{name}", name, f"{HELD}.{name}.place") for name in places]
    stood = mechanism.replaced(points=(*mechanism.points, *grounds))
    return machine.replaced(mechanism=stood, constraints=(*machine.constraints, *joints))


def _belongs(block: Block) -> bool:
    """Springs and dampers: forces of position and velocity alone that give no energy, and are no friction."""
    remembers = block.state_names or block.memory_names or block.inputs or block.sampled
    return bool(block.on) and block.info.passive and not block.info.disturbance and not remembers


# --------------------------------------------------------------------------------------------------
# Task of a controller's model: how far are positions and orientations from what is wanted, along which directions?
#
#     y(q, r) = 0 where the machine is as wanted;  y' and y'' along its motion and that of the reference r
#
# A row of y is a position minus the wanted one, in world axes or in those of the wanted orientation, or a component of
# a rotation vector. With d the quaternion from wanted to present orientation,
#
#     three rotations of a point     rotation vector of d
#     two                            of the shortest rotation that brings the third axis to where it is wanted (swing)
#     one                            the angle about its axis (twist)
#
# so that what a task leaves free has no effect on it. In world axes d = q q_ref^-1, in those wanted d = q_ref^-1 q.


@frozen(eq=False)
class ModelTask:
    """A task as expressions.

    Attributes:
        deviation: y; reference: symbols r, of wanted positions, their velocities, orientations, angular velocities;
            reference_rate: r', with symbols of the accelerations; target: both; here: its values at which y = 0.
    """

    rows: TaskRows
    deviation: SX
    reference: SX
    reference_rate: SX
    target: SX
    here: SX


def express_task(system: System, rows: TaskRows) -> ModelTask:
    """Symbols of what is wanted, and deviations from it."""
    outputs = system.signal_expressions
    present = {name: _orientation(system, name) for name in rows.oriented}
    n, k = len(rows.positions), len(rows.oriented)
    p, v, a = (SX.sym(name, n) for name in ("target", "target_velocity", "target_acceleration"))
    orientations, omega, alpha = (
        SX.sym(name, size, k)
        for name, size in (("orientation", 4), ("angular_velocity", 3), ("angular_acceleration", 3))
    )
    wanted: dict[str, Any] = {name: ca.vertsplit(orientations[:, j]) for j, name in enumerate(rows.oriented)}
    turning = [_quaternion_rate(wanted[name], omega[:, j]) for j, name in enumerate(rows.oriented)]
    left = {name: outputs[name] - p[j] for j, name in enumerate(rows.positions)}
    reference = ca.vertcat(p, v, ca.vec(orientations), ca.vec(omega))
    positions = [outputs[name] for name in rows.positions]
    quaternions = [SX(part) for name in rows.oriented for part in present[name]]
    return ModelTask(
        rows,
        to_column(_deviations(rows, left, present, wanted)),
        reference,
        ca.vertcat(v, a, *turning, ca.vec(alpha)),
        ca.vertcat(reference, a, ca.vec(alpha)),
        ca.vertcat(*positions, SX.zeros(n), *quaternions, SX.zeros(6 * k + n)),
    )


def _orientation(system: System, point: str) -> Quaternion:
    """The orientation of the body of a point, world from body."""
    mechanism, mechanics = system.machine.any_mechanism, system.motion.mechanics
    assert mechanics is not None
    described = next(one for one in mechanism.points if one.name == point)
    place = mechanics.locate(described, mechanism, np.array(described.origin))
    fixed, q = quaternion_from_matrix(place.pose.R), ca.vertsplit(system.q)
    return fixed if place.link < 0 else multiply(link_quaternions(mechanics.tree, q)[place.link], fixed)


def _quaternion_rate(q: Quaternion, omega: SX) -> SX:
    """q' = q (0, omega / 2), omega in the axes of the rotated frame."""
    return to_column(multiply(q, (0.0, omega[0] / 2, omega[1] / 2, omega[2] / 2)))


def _deviations(
    rows: TaskRows,
    left: Mapping[str, SX],
    present: Mapping[str, Quaternion],
    wanted: Mapping[str, Quaternion],
) -> Sequence[SX]:
    turned = {name: _turned(rows, name, present[name], wanted[name]) for name in rows.rotating}
    return [turned[row.point][row.axis] if row.rotates else _moved(rows, row, left, wanted) for row in rows.all]


def _moved(rows: TaskRows, row: TaskRow, left: Mapping[str, SX], wanted: Mapping[str, Quaternion]) -> SX:
    """How far a position is from where it is wanted."""
    if not row.point or rows.frame == "world":
        return left[row.name]
    away = to_column(left[f"{row.point}.position.{axis}"] for axis in XYZ)
    return from_quaternion(*wanted[row.point])[:, row.axis].T @ away


def _turned(rows: TaskRows, point: str, present: Quaternion, wanted: Quaternion) -> dict[int, SX]:
    """How far a point's body is rotated about each of the axes that a task names."""
    axes = [row.axis for row in rows.all if row.rotates and row.point == point]
    world = rows.frame == "world"
    d = multiply(present, conjugate(wanted)) if world else multiply(conjugate(wanted), present)
    if len(axes) == 2:
        free = ({0, 1, 2} - {*axes}).pop()
        d = _swing(d, free, left=world)
    elif len(axes) == 1:
        d = (d[0], *(part if k == axes[0] else 0.0 for k, part in enumerate(d[1:])))
    vector = rotation_vector(*(SX(part) for part in d))
    return {axis: vector[axis] for axis in axes}


def _swing(d: Quaternion, free: int, left: bool) -> Quaternion:
    """d without its twist, a rotation about the free axis: d = twist swing, or swing twist."""
    # Of any length: w^2 + z^2 in place of its root takes no part in the rotation vector.
    untwist = (d[0], *(-part if k == free else 0.0 for k, part in enumerate(d[1:])))
    w, *vector = multiply(untwist, d) if left else multiply(d, untwist)
    return (w, *(0.0 if k == free else part for k, part in enumerate(vector)))


# --------------------------------------------------------------------------------------------------
# Functions of a model: all from the accelerations of one assembled system, in which a block `probe.<name>` has an
# unknown force on each axis.


PROBE = "probe"


def trace_functions(system: System, axes: Sequence[str], task: ModelTask) -> ModelFunctions:
    """All functions of a model."""
    x, p, n = system.symbols.x, system.symbols.p, system.n_q + system.n_v
    unknown = [number.name.startswith(f"{PROBE}.") for number in system.parameters]
    forces, numbers = (to_column(p[k] for k, probe in enumerate(unknown) if probe is side) for side in (True, False))
    columns = columns_of(system, axes, task)
    # Without unknown forces, all constraints on; what blocks remember, or energies sum up, has no part in it.
    memory = to_column(info.start for info in system.memory)
    others = ca.vertcat(x[n:], system.symbols.m, forces)
    values = ca.vertcat(SX.zeros(x[n:].numel()), memory, SX.zeros(forces.numel()))
    plain = substitute(list(columns.values()), others, values)
    inputs = [system.symbols.t, system.q, system.v, numbers, task.target]
    h = system.expressions.constraints[: len(system.motion.constraint_forces)]
    return ModelFunctions(
        {name: ca.Function("f", inputs, [ca.densify(column)]) for name, column in zip(columns, plain, strict=True)},
        _direct_axes(system, axes),
        [row for row in range(h.numel()) if not h[row].is_zero()],
        system.motion.spare,
        system.n_v,
        np.array([n.value for n, probe in zip(system.parameters, unknown, strict=True) if not probe]),
    )


def columns_of(system: System, axes: Sequence[str], task: ModelTask) -> dict[str, SX]:
    """The columns that the functions compute, with the unknown forces as symbols."""
    q, v, rhs = system.q, system.v, system.expressions.rhs
    q_dot, motion = rhs[: system.n_q], rhs[: system.n_q + system.n_v]
    names = [number.name for number in system.parameters]
    probes = {
        name.removeprefix(f"{PROBE}.").removesuffix(".value"): system.symbols.p[k]
        for k, name in enumerate(names)
        if name.startswith(f"{PROBE}.")
    }
    s, y = to_column(system.motion.coordinates[axis] for axis in axes), task.deviation
    k = len(system.motion.constraint_forces)
    h, h_dot = system.expressions.constraints[:k], system.expressions.constraints[k:]
    r, r_dot = task.reference, task.reference_rate
    s_dot, y_dot = ca.jtimes(s, q, q_dot), ca.jtimes(y, ca.vertcat(q, r), ca.vertcat(q_dot, r_dot))
    # Total time derivatives of the rates along the motion: linear in the unknown forces.
    moving, moved = ca.vertcat(q, v, r), ca.vertcat(motion, r_dot)
    s_ddot, y_ddot = (ca.jtimes(column, moving, moved) for column in (s_dot, y_dot))
    f = to_column(probes[axis] for axis in axes)
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


def _open_tree(system: System, axes: Sequence[str]) -> dict[str, SX]:
    """The dynamics of a tree whose joints all have motors, M and c themselves, by composite bodies and Newton-Euler."""
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


Law = Callable[..., Any]


def friction_laws(values: Values, blocks: Sequence[Block], own: Mapping[str, float]) -> dict[str, list[Law]]:
    """Laws by the joint or coordinate that they are on.

    Args:
        own: numbers of the model that are not the machine's.
    """
    laws: dict[str, list[Law]] = {}
    for block in blocks:
        parameters = {key: _number(values, block, key, own) for key in block.parameters}
        laws.setdefault(str(block.on), []).append(_law(block, parameters))
    return laws


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

    def results(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return name_results(block, block.function(**{name: arguments[name] for name in names}))

    read = {name: signal for name, signal in block.inputs.items() if name not in ("position", "velocity")}

    def force(position: Any, velocity: Any, **signals: Any) -> Any:
        if missing := [signal for name, signal in read.items() if name not in signals]:
            raise ValueError(f"friction '{block.name}' depends on the signal '{missing[0]}', which no model knows")
        arguments = {"position": position, "velocity": velocity, "direction": sign(velocity), **signals, **parameters}
        arguments |= {name: _steady(results, arguments, name) for name in block.state_names}
        outputs = results(arguments)
        return outputs["torque"] if "torque" in outputs else outputs["force"]

    return force


def _steady(results: Callable[[Mapping[str, Any]], dict[str, Any]], arguments: Mapping[str, Any], state: str) -> Any:
    """A state that does not change, by one Newton step from 0: exact for rates that are linear in it."""
    symbol = SX.sym(state)
    rate = SX(results({**arguments, state: symbol})[f"{state}_dot"])
    slope, begun = ca.substitute([ca.jacobian(rate, symbol), rate], [symbol], [SX(0)])
    return where(slope != 0, -begun / where(slope != 0, slope, 1.0), 0.0)


# --------------------------------------------------------------------------------------------------
# Scales of a task's Jacobian: how large are its entries, when lengths are measured by the machine's size?


def find_scales(system: System, axes: Sequence[str], rows: TaskRows, functions: ModelFunctions) -> JacobianScales:
    """The scales of a machine at its start; of more axes than motions those of forces, by what moves without
    constraints."""
    if functions.is_overactuated:
        start = system.described.x[: system.n_q]
        root = np.sqrt(free_mobilities(functions, start))
        return JacobianScales(root[len(axes) :], 1 / root[: len(axes)])
    size = machine_size(system)
    units = {info.name: size if info.unit == "m" else 1.0 for info in system.signals}
    return JacobianScales(
        np.array([1.0 if row.rotates else units[row.name] for row in rows.all]),
        np.array([units[f"{axis}.position"] for axis in axes]),
    )


def machine_size(system: System) -> float:
    """Diagonal of the box around all joints and points at the start [m]."""
    assert system.motion.mechanics is not None
    poses = link_poses(system.motion.mechanics.tree, ca.vertsplit(system.q))
    joints = system.evaluate(to_column(SX(pose.p) for pose in poses)).reshape(-1, 3)
    places = np.vstack([joints, *point_places(system).values()])
    return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0


def point_places(system: System) -> dict[str, Array]:
    """Where all points are at the start [m]."""
    outputs, names = system.signal_expressions, [point.name for point in system.machine.any_mechanism.points]
    column = to_column(outputs[f"{name}.position.{axis}"] for name in names for axis in XYZ)
    return dict(zip(names, system.evaluate(column).reshape(-1, 3), strict=True))


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
    positions = [info.name for info in system.signals if info.rate and ".velocity" in info.rate]
    points = [point.name for point in system.machine.any_mechanism.points]
    for row in described.rows.all:
        if row.point and row.point not in points and (row.rotates or described.frame != "world"):
            flaws.add("model.task", f"'{row.name}': there is no point '{row.point}'", nearest(row.point, points))
        elif row.rotates or row.name in positions:
            continue
        elif row.name in system.signal_names:
            flaws.add("model.task", f"'{row.name}' is not a position that moves", nearest(row.name, positions))
        else:
            flaws.add("model.task", f"there is no position '{row.name}'", nearest(row.name, positions))
    return not flaws.found


def check_axes(
    block: Block,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    system: System,
    functions: ModelFunctions,
    flaws: FlawList,
    as_described: bool,
) -> tuple[str, ...]:
    """Axes, and the task by them, must be independent at the start; a warning where motions have no axis.

    Args:
        as_described: whether the machine starts as given; a start that is still to be found is looked at elsewhere.
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
    start = system.described.x[: system.n_q]
    # Near the start, off every symmetry.
    elsewhere = start + 0.3 * np.sin(1.0 + np.arange(start.size))
    q, n = start if as_described else elsewhere, len(axes)
    scale = free_mobilities(functions, elsewhere)
    if not functions.is_overactuated:
        _check_mobile(flaws, "model.axes", functions.at_rest("mobility", q), scale[:n], axes)
    if task and not flaws.found and _can_move(flaws, scale[n:], task):
        _check_mobile(flaws, "model.task", _task_mobility(functions, q), scale[n:], task)
        if flaws.found and functions.free == functions.n_v:
            _say_nowhere(flaws, _task_mobility(functions, elsewhere), scale[n:])
    what = f"{free - n} of {free} motions have no axis: they move freely, the model does not hold them"
    return (f"blocks.{block.name}: {what}",) if n < free else ()


def _task_mobility(functions: ModelFunctions, q: Array) -> Array:
    """J B J^T = B_y B^-1 B_y^T."""
    mobility, reach = functions.at_rest("mobility", q), functions.at_rest("task_mobility", q)
    strained = functions.is_overactuated
    inertia = np.linalg.pinv(mobility, DEPENDENT, hermitian=True) if strained else np.linalg.inv(mobility)
    return reach @ inertia @ reach.T


def _can_move(flaws: FlawList, scale: Array, task: Sequence[str]) -> bool:
    """A direction in which nothing moves cannot be controlled."""
    for name in (name for name, mobility in zip(task, scale, strict=True) if mobility <= IMMOBILE * np.max(scale)):
        flaws.add("model.task", f"'{name}' cannot be controlled: no joint moves it", "leave it out")
    return not flaws.found


def _say_nowhere(flaws: FlawList, mobility: Array, scale: Array) -> None:
    """Report a task that is singular elsewhere too: the start is not to blame."""
    root = np.sqrt(scale)
    if np.linalg.eigvalsh((mobility + mobility.T) / 2 / np.outer(root, root))[0] <= SINGULAR:
        flaws.add("model.task", "its directions depend on each other elsewhere too", "leave one of them out")


def free_mobilities(functions: ModelFunctions, q: Array) -> Array:
    """Mobilities of the axes and positions of the task without constraints, which others are compared with."""
    M, S = (functions.at_rest(name, q) for name in ("free_mass_matrix", "slopes"))
    return np.einsum("ij,ij->i", S, np.linalg.solve(M, S.T).T)


def _check_mobile(flaws: FlawList, path: str, mobility: Array, scale: Array, names: Sequence[str]) -> None:
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


def name_direction(direction: Array, names: Sequence[str]) -> str:
    """Parts of a direction that count, of length 1: `+0.8 tool.position.x -0.6 tool.rotation.z`."""
    parts = zip(np.round(direction / np.linalg.norm(direction), 3), names, strict=True)
    return " ".join(f"{part:+g} {name}" for part, name in parts if abs(part) > SHOWN)


# --------------------------------------------------------------------------------------------------
# Binding: a law and its model.


@frozen
class MachineSeen:
    """The machine as a law can see it: symbols of the states of all joints, and measured motions of its axes."""

    context: Context
    joints: Mapping[str, SX]
    axes: tuple[str, ...]
    measured: Mapping[str, tuple[Any, ...]]


def bind_model(
    context: Context, block: Block, joints: Mapping[str, SX]
) -> tuple[dict[str, Any], Bindings, Contribution]:
    """A law's model, None where it cannot be made, and motions of its axes that nothing else gives; what it adds.

    Args:
        joints: symbols of the mechanism's states.
    """
    arguments: dict[str, Any] = {}
    bindings: Bindings = {}
    flaws, path = FlawList(), f"blocks.{block.name}"
    axes = block.axes or all_joints(context.machine, flaws)
    measured = {
        name: tuple(placeholder(f"{path}.{name}.{axis}", f"{axis}.{name}", bindings) for axis in axes)
        for name in ("position", "velocity")
    }
    for name in (argument.name for argument in arguments_of(block.function) if block.source_of(argument) == "axes"):
        if name not in measured:
            flaws.add(f"inputs.{name}", "is missing", "that of the axes depends on what the law returns")
        arguments[name] = measured.get(name)
    machine_seen = MachineSeen(context, joints, axes, measured)
    arguments["model"], added = (None, Contribution()) if flaws.found else _build(machine_seen, block, flaws)
    context.flaws.extend(flaws.found, under=path)
    return arguments, bindings, added


def _build(machine_seen: MachineSeen, block: Block, flaws: FlawList) -> tuple[ModelDynamics | None, Contribution]:
    described, machine, axes = block.model or ControlModel(), machine_seen.context.machine, machine_seen.axes
    frictions = [part for part in machine.all_blocks if part.info.disturbance and part.on]
    numbers = own_numbers(machine, described, flaws)
    places = (*axes, *(str(part.on) for part in frictions))
    # The machine as the controller knows it: rigid or elastic, with its own numbers, without what drives it.
    bare = None if flaws.found else bare_machine(machine, described, places, numbers, flaws)
    if bare is not None:
        names = {number.name for number in bare.numbers()} | set(friction_numbers(frictions))
        check_numbers(names, described, flaws)
    system = None if bare is None else _assemble(machine_seen.context.scenario, bare, flaws)
    if system is not None and described.held:
        stands = {name: point_places(system)[name] for name in described.held}
        system = _assemble(machine_seen.context.scenario, with_held(system.machine, stands), flaws)
    if system is None or not check_task(system, described, flaws):
        return None, Contribution()
    # Its dynamics and the task as functions of state; where the task is singular is said before the run.
    functions = trace_functions(system, axes, express_task(system, described.rows))
    starts_as_given = machine_seen.context.scenario.initialisation == "given"
    warnings = check_axes(block, (axes, described.rows.names), system, functions, flaws, starts_as_given)
    if flaws.found:
        return None, Contribution(warnings=warnings)
    # What the law gets in each call, and what a run has to know of it.
    laws = friction_laws(machine_seen.context.values, frictions, numbers)
    finder = StateFinder(functions, _look(machine_seen, system, described), not (numbers or described.rigid))
    scales = find_scales(system, axes, described.rows, functions)
    starts = [(info.name, info.start) for info in system.states]
    q, v = dict(starts[: system.n_q]), dict(starts[system.n_q : system.n_q + system.n_v])
    info = ModelInfo(block.name, axes, described.rows, functions, scales, q, v, functions.free == len(axes))
    dynamics = ModelDynamics(axes, described.rows, finder, laws, described.friction, scales)
    return dynamics, Contribution(warnings=warnings, models=(info,))


def _assemble(scenario: Scenario, bare: Machine, flaws: FlawList) -> System | None:
    """The model as a system of its own."""
    from robodyn.computation.assembly.assembler import assemble

    states = [name for freedom in bare.any_mechanism.freedoms for name in freedom.states]
    start = {name: value for name, value in scenario.start_values.items() if name in states}
    method = ConstraintMethod("projection") if bare.all_constraints else ConstraintMethod()
    try:
        return assemble(Scenario(bare.name, bare, 1.0, start, constraint_method=method))
    except ModelError as error:
        flaws.extend(error.flaws, under="model")
        return None


def _look(machine_seen: MachineSeen, system: System, described: ControlModel) -> ModelInputs:
    """The inputs that the law sees of the machine; its numbers follow those of the machine, by a factor or not at
    all."""
    numbers = []
    for number in system.parameters:
        if not number.name.startswith(f"{PROBE}."):
            # Constraints that hold what is rigid are none of the machine.
            machine = described.factor_of(number.name) * machine_seen.context.values.table.get(
                number.name, number.value
            )
            numbers.append(described.changes.get(number.name, machine))
    names = system.state_names
    positions, velocities = names[: system.n_q], names[system.n_q : system.n_q + system.n_v]
    states = ([machine_seen.joints[name] for name in group] for group in (positions, velocities))
    q, v, p = (to_column(part) for part in (*states, numbers))
    return ModelInputs(
        machine_seen.context.time, q, v, machine_seen.measured["position"], machine_seen.measured["velocity"], p
    )
