"""Motion: positions, velocities and coordinates of a mechanism as expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, FlawList, frozen
from robodyn.base.spatial import Pose, Quaternion
from robodyn.base.symbolic import cos, is_symbolic, minimum, sqrt, stack, to_column
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.dynamics import (
    link_motions,
    link_poses,
    link_quaternions,
    link_velocities,
    point_velocity,
    position_rates,
    relative_jacobian,
)
from robodyn.computation.dynamics.newton_euler import LinkMotion
from robodyn.description.model import (
    EMPTY,
    XYZ,
    Distance,
    FlexibleBody,
    Freedom,
    FunctionCoordinate,
    LinearCombination,
    Machine,
    Mechanism,
    Point,
    PointCoordinate,
    TriangleLength,
)
from robodyn.description.model.joint import BOUNDED, EFFORT, Joint, excess

from .contribution import (
    Context,
    Contribution,
    Deferred,
    declare_state,
    define,
    define_signal,
    merge,
    watch,
)
from .declarations import Ending, Guard, Invariant, Port, StateInfo
from .network import Bindings, SignalInfo
from .tracing import placeholder
from .tree import Mechanics, build_tree
from .units import FORCE
from .values import Values

# --------------------------------------------------------------------------------------------------
# Modal elasticity: which forces does the elasticity of flexible bodies exert on their modes?
#
#     F_i = -s k_i eta_i - d_i eta_i',   d_i = 2 zeta sqrt(s k_i m_i) + alpha m_i + beta s k_i
#
# They are forces like those of springs on joints: what treats stiff forces by itself finds them there.


def define_elasticity(motion: Motion) -> Contribution:
    """Elastic forces `<mode>.elastic_force`, and `<body>.strain_energy` [J] as signals."""
    parts, values = [], motion.values
    for body in motion.mechanism.flexible_bodies:
        energy = SX(0)
        factor = values[f"{body.name}.stiffness"]
        for k, mode in enumerate(body.modes):
            stiffness, damping = factor * body.modal_stiffness[k], _damping(values, body, k)
            eta, rate = motion.positions[mode.name], motion.coordinate_rates[mode.name]
            name, unit = f"{mode.name}.elastic_force", FORCE["rad" if mode.rotates else "m"]
            force = define_signal(name, unit, -stiffness * eta - damping * rate)
            parts.append(replace(force, forces=((mode.name, name),)))
            energy = energy + 0.5 * stiffness * eta**2
        parts.append(define_signal(f"{body.name}.strain_energy", "J", energy))
    return merge(parts)


def _damping(values: Values, body: FlexibleBody, k: int) -> SX:
    """d_i of a mode [N s/m or N m s/rad]."""
    stiffness = values[f"{body.name}.stiffness"] * body.modal_stiffness[k]
    modal = 2 * values[f"{body.name}.damping"] * sqrt(stiffness * body.modal_mass[k])
    mass, rigidity = values.vector(f"{body.name}.rayleigh", ("mass", "stiffness"))
    return modal + mass * body.modal_mass[k] + rigidity * stiffness


# --------------------------------------------------------------------------------------------------
# Coordinates of a machine: where is each, as a function of the joint positions, and when does it leave its range?


def express_coordinate(
    motion: Motion, coordinate: LinearCombination | Distance | TriangleLength | PointCoordinate | FunctionCoordinate
) -> tuple[str, SX]:
    """Unit and position of a coordinate as a function of q."""
    index = motion.places
    if isinstance(coordinate, LinearCombination):
        first = next(freedom for freedom in motion.freedoms if freedom.name == next(iter(coordinate.of)))
        return first.unit, _weighted_sum(motion, coordinate, index)
    if isinstance(coordinate, Distance):
        apart = motion.point_position(coordinate.end) - motion.point_position(coordinate.start)
        return "m", sqrt(ca.sumsqr(apart))
    if isinstance(coordinate, TriangleLength):
        a, b = motion.values.vector(f"{coordinate.name}.sides", ("a", "b"))
        phi = _weighted_sum(motion, coordinate, index) + motion.values[f"{coordinate.name}.offset"]
        return "m", sqrt(a * a + b * b - 2 * a * b * cos(phi))
    if isinstance(coordinate, PointCoordinate):
        return "m", ca.dot(ca.DM(coordinate.direction), motion.point_position(coordinate.point))
    return coordinate.unit, _linkage_position(motion, coordinate, [motion.q[index[name]] for name in coordinate.of])


def _weighted_sum(motion: Motion, coordinate: LinearCombination | TriangleLength, index: dict[str, int]) -> SX:
    return sum((weight * motion.q[index[name]] for name, weight in coordinate.of.items()), SX(0))


def _linkage_position(motion: Motion, linkage: FunctionCoordinate, positions: list[SX]) -> SX:
    """The user's function of joint positions, traced; what it raises is reported as a flaw of that linkage."""
    try:
        return SX(linkage.function(*positions))
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        what = f"its function cannot be traced: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        motion.flaws.add(f"coordinates.{linkage.name}", what, "use functions from robodyn.symbolic")
        return positions[0]


def guard_ranges(motion: Motion) -> Contribution:
    """A terminal guard for each coordinate that has a range; a start outside is a flaw."""
    guards = []
    for coordinate in motion.machine.coordinates:
        if coordinate.range is None:
            continue
        lower, upper = coordinate.range
        position = motion.positions[coordinate.name]
        start = motion.value_at_start(motion.exact[coordinate.name])
        if not lower <= start <= upper:
            what = f"the start position {start:.6g} is out of reach, allowed is {lower:g} to {upper:g}"
            motion.flaws.add(f"coordinates.{coordinate.name}.range", what, "change initial or the range")
        # Positive within the range, zero at both of its ends: it falls through zero where the range is left.
        inside = minimum(position - lower, upper - position)
        guard = Guard(f"{coordinate.name}.range", -1, Ending.OUT_OF_REACH, coordinate=coordinate.name)
        guards.append((guard, Deferred(inside, {})))
    return Contribution(guards=tuple(guards))


# --------------------------------------------------------------------------------------------------
# Kinematics: what are a mechanism's states, and where are its points and coordinates, as expressions of them?


@frozen(eq=False)
class Motion:
    """Symbols q, v of a mechanism and the kinematic expressions made from them.

    Attributes:
        q, v, q_dot: columns, which stand for sequences of scalars in `dynamics`; start: of q and v, as described.
        positions, coordinate_rates: of every joint and coordinate, by name; exact: the positions of the mechanism
            itself, where linear mechanics stand in for it.
        somewhere: a general position that meets the constraints, where there are any; ports: the interfaces.
    """

    context: Context
    mechanism: Mechanism
    mechanics: Mechanics
    q: Any
    v: Any
    q_dot: Any
    poses: list[Pose]
    start: Array
    positions: Mapping[str, SX] = EMPTY
    coordinate_rates: Mapping[str, SX] = EMPTY
    exact: Mapping[str, SX] = EMPTY
    linear: LinearMechanics | None = None
    somewhere: Array | None = None
    ports: tuple[Port, ...] = ()

    @property
    def machine(self) -> Machine:
        return self.context.machine

    @property
    def values(self) -> Values:
        return self.context.values

    @property
    def flaws(self) -> FlawList:
        return self.context.flaws

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return self.mechanism.freedoms

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the first position of each freedom stands in q."""
        sizes = [len(freedom.positions) for freedom in self.freedoms]
        return dict(zip((freedom.name for freedom in self.freedoms), accumulate([0, *sizes]), strict=False))

    @cached_property
    def quaternions(self) -> list[Quaternion]:
        """Orientation of each link, world from link."""
        return link_quaternions(self.mechanics.tree, self.q)

    @cached_property
    def angular_velocities(self) -> list[Any]:
        """The angular velocity of each link, in its own axes."""
        return [omega for omega, _ in link_velocities(self.mechanics.tree, self.q, self.v)]

    @cached_property
    def _points(self) -> dict[str, Point]:
        return {point.name: point for point in self.mechanism.points}

    def point_pose(self, name: str) -> tuple[int, Pose]:
        """The link a named point belongs to and the point's pose in that link's frame."""
        origin = stack(self.values.vector(f"{name}.origin", XYZ))
        place = self.mechanics.locate(self._points[name], self.mechanism, origin)
        return place.link, place.pose

    def point_position(self, name: str) -> SX:
        """World position of a named point [m]."""
        link, pose = self.point_pose(name)
        return SX(pose.p) if link < 0 else SX(self.poses[link].apply(pose.p))

    def point_rotation(self, name: str) -> SX:
        """Rotation of the body of a named point, world from body."""
        link, pose = self.point_pose(name)
        return SX(pose.R) if link < 0 else SX(self.poses[link].R @ pose.R)

    @cached_property
    def _drifting(self) -> list[LinkMotion]:
        """How each link moves while the joints do not accelerate."""
        return link_motions(self.mechanics.tree, self.q, self.v, [0.0] * self.v.numel())

    def turning_of(self, name: str) -> tuple[SX, SX]:
        """omega and, while the joints do not accelerate, alpha of the body of a named point, world axes, (3,) each."""
        link, _ = self.point_pose(name)
        if link < 0:
            return SX.zeros(3), SX.zeros(3)
        R, motion = self.poses[link].R, self._drifting[link]
        return SX(R @ motion.omega), SX(R @ motion.alpha)

    def point_drift(self, name: str) -> SX:
        """Acceleration of a named point while the joints do not accelerate, world axes, (3,)."""
        link, pose = self.point_pose(name)
        if link < 0:
            return SX.zeros(3)
        motion = self._drifting[link]
        return SX(self.poses[link].R @ (motion.accel + motion.U @ pose.p) + self.mechanics.tree.gravity)

    def point_velocity(self, name: str) -> SX:
        """Velocity of a named point, world axes, (3,)."""
        link, pose = self.point_pose(name)
        return SX(point_velocity(self.mechanics.tree, self.q, self.v, link, pose.p))

    def relative_jacobian(self, first: str, second: str, place: SX) -> SX:
        """Velocity of the body of a point against that of another at a place, by the joints' velocities, (3, n_v)."""
        links = self.point_pose(first)[0], self.point_pose(second)[0]
        return SX(relative_jacobian(self.mechanics.tree, self.q, self.poses, links, place))

    @property
    def scales(self) -> Array:
        """The scale of each position: 1 rad, or the machine's size [m], (n_q,)."""
        size = self.context.size
        return np.array([size.of(unit) for freedom in self.freedoms for unit in freedom.positions.values()])

    @property
    def speed_scales(self) -> Array:
        """The scale of each velocity, likewise, (n_v,)."""
        size = self.context.size
        return np.array([size.of(unit) for freedom in self.freedoms for unit in freedom.velocities.values()])

    @property
    def size(self) -> float:
        """Diagonal of the box around all joints and points at the start [m]."""
        points = [self.point_position(point.name) for point in self.mechanism.points]
        column = ca.vertcat(*(SX(pose.p) for pose in self.poses), *points)
        places = self.values_at_start(column).reshape(-1, 3)
        return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0

    def rates_of(self, positions: Sequence[SX]) -> list[SX]:
        """Rates of functions of q."""
        return ca.vertsplit(ca.jtimes(to_column(positions), self.q, self.q_dot))

    def velocity_of(self, position: SX) -> SX:
        """Velocity of a place, (3,)."""
        return ca.vertcat(*self.rates_of(ca.vertsplit(position)))

    def gradient(self, name: str) -> SX:
        """The gradient of a joint's or coordinate's position with respect to the joints, ds/dq, (1, n_v)."""
        return ca.jacobian(self.coordinate_rates[name], self.v)

    def joint_forces(self, forces: Mapping[str, SX]) -> SX:
        """Forces on joints and coordinates as forces on the joints: `sum N^T (ds/dq)^T f`, (n_v,), q_dot = N v.

        Swept backwards through all positions at once, with work that grows as that of the positions themselves.
        """
        # Reverse mode: (ds/dq)^T f without ever forming the Jacobian.
        positions = to_column(self.positions[name] for name in forces)
        return self.pull_back(ca.jtimes(positions, self.q, to_column(forces.values()), True))

    def pull_back(self, gradients: SX) -> SX:
        """Gradients with respect to q, (n_q, k), as those with respect to v: N^T g, (n_v, k)."""
        return ca.jtimes(self.q_dot, self.v, gradients, True)

    def slopes(self, expression: SX) -> SX:
        """Derivatives of a column by the motions of the joints, (k, n_v): ds/dq N."""
        return self.pull_back(ca.jacobian(expression, self.q).T).T

    @cached_property
    def N(self) -> SX:
        """q_dot by v, (n_q, n_v): the identity but for balls."""
        return ca.jacobian(self.q_dot, self.v)

    def value_at_start(self, expression: SX) -> float:
        """The value of an expression of q and v at the described start, with the parameters as described."""
        return float(self.values_at_start(expression)[0])

    def values_at_start(self, expression: SX) -> Array:
        """The values at the start of a column of expressions."""
        values = self.values
        symbols = [ca.vertcat(self.q, self.v), to_column(values.symbols)]
        function = spell_out(ca.Function("start", symbols, [expression]))
        return np.array(function(self.start, [number.value for number in values.tunable])).ravel()

    def value_somewhere(self, expression: SX) -> Array:
        """An expression of q at a general position, where no two gradients are parallel by accident."""
        values = self.values
        # Near the start, off every symmetry; where constraints are, a position that meets them.
        place = self.somewhere
        if place is None:
            nearby = 0.3 * self.scales * np.sin(1.0 + np.arange(self.q.numel()))
            place = nearby + [self.value_at_start(self.q[k]) for k in range(self.q.numel())]
        symbols = [self.q, self.context.time, to_column(values.symbols)]
        function: Any = spell_out(ca.Function("somewhere", symbols, [ca.densify(expression)]))
        return np.array(function(place, 0.0, [number.value for number in values.tunable]))

    @property
    def rotors(self) -> tuple[tuple[SX, SX], ...]:
        """Inertia and gradient of each rotor and attached model; a tunable inertia may be 0 now and something else in
        another run."""
        values = self.values
        spinning = tuple(
            (SX(values[f"{c.name}.inertia"]), self.gradient(c.name))
            for c in self.context.machine.coordinates
            if isinstance(c, LinearCombination) and (c.inertia > 0 or is_symbolic(values[f"{c.name}.inertia"]))
        )
        return spinning + tuple((port.inertia, port.A) for port in self.ports if port.inertia is not None)


def trace_kinematics(context: Context, mechanism: Mechanism) -> tuple[Motion, Contribution]:
    """States of the joints; coordinates, points and elastic forces as signals."""
    mechanics = build_tree(mechanism, context.values)
    positions, velocities = (_declare_states(context, mechanism, kind) for kind in ("positions", "velocities"))
    q: Any
    v: Any
    q, v = (to_column(part.symbols.values()) for part in (positions, velocities))
    start = np.array([info.start for info in (*positions.states, *velocities.states)])
    q_dot, poses = position_rates(mechanics.tree, q, v), link_poses(mechanics.tree, q)
    bare = Motion(context, mechanism, mechanics, q, v, q_dot, poses, start)
    # Joints are coordinates of themselves, whose signals are states.
    joints = {f.name: q[bare.places[f.name]] for f in bare.freedoms if f.is_single}
    described = {c.name: express_coordinate(bare, c) for c in context.machine.coordinates}
    by_coordinate = {name: position for name, (_, position) in described.items()}
    rates = _rates_by_name(bare, joints) | _rates_by_name(bare, by_coordinate)
    motion = replace(
        bare,
        positions=joints | by_coordinate,
        coordinate_rates=rates,
        exact=joints | by_coordinate,
    )
    coordinates = [_define_coordinate(motion, name, unit) for name, (unit, _) in described.items()]
    parts = (positions, velocities, *coordinates, _define_points(motion), define_elasticity(motion))
    return motion, merge(parts)


def _declare_states(context: Context, mechanism: Mechanism, kind: str) -> Contribution:
    """Positions or velocities of all joints, which start as given; at the origin where none of them is, else at 0."""
    initial, parts = context.scenario.start_values, []
    for freedom in mechanism.freedoms:
        rates = dict(zip(freedom.velocities, freedom.accelerations, strict=True))
        rates |= dict(zip(freedom.positions, freedom.velocities, strict=True)) if freedom.is_single else {}
        named: dict[str, str] = getattr(freedom, kind)
        starts = {name: initial[name] for name in named if name in initial}
        start = starts or (freedom.origin if kind == "positions" else {})
        for name, unit in named.items():
            info = SignalInfo(name, unit, rate=rates.get(name))
            state = StateInfo(name, unit, start.get(name, 0.0), context.size.of(unit))
            parts.append(replace(declare_state(state), signals={name: info}))
    return merge(parts)


def _rates_by_name(motion: Motion, positions: Mapping[str, SX]) -> dict[str, SX]:
    """`ds/dq q_dot`, exactly; all at once, since in a long chain they share most of their expressions."""
    return dict(zip(positions, motion.rates_of(list(positions.values())), strict=True))


def _define_coordinate(motion: Motion, name: str, unit: str) -> Contribution:
    position, velocity = f"{name}.position", f"{name}.velocity"
    infos = [SignalInfo(position, unit, rate=velocity), SignalInfo(velocity, f"{unit}/s")]
    return define(infos, {position: motion.positions[name], velocity: motion.coordinate_rates[name]})


def _define_points(motion: Motion) -> Contribution:
    places = [motion.point_position(point.name) for point in motion.mechanism.points]
    positions = [entry for place in places for entry in ca.vertsplit(place)]
    names = [(point.name, axis) for point in motion.mechanism.points for axis in XYZ]
    parts = []
    for (point, axis), position, velocity in zip(names, positions, motion.rates_of(positions), strict=True):
        where, speed = f"{point}.position.{axis}", f"{point}.velocity.{axis}"
        infos = [SignalInfo(where, "m", rate=speed), SignalInfo(speed, "m/s")]
        parts.append(define(infos, {where: position, speed: velocity}))
    return merge(parts)


# --------------------------------------------------------------------------------------------------
# Limits of joints: what does a run watch to tell when a motion passes one, and what is the effort of drives?


def watch_joint_limits(motion: Motion, contributions: Contribution) -> Contribution:
    """Watch every limit of every joint; efforts that are limited become signals."""
    limited = motion.mechanism.limited_joints
    efforts = _define_efforts(motion, contributions, [joint for joint in limited if joint.effort_limit is not None])
    signals, parts = {**contributions.signals, **efforts.signals}, [efforts]
    for joint in limited:
        for field in joint.limits:
            bindings: Bindings = {}
            signal = f"{joint.name}.{BOUNDED[field][0]}"
            value = placeholder(f"joints.{joint.name}.{field}", signal, bindings)
            beyond = excess(field, value, motion.values[f"{joint.name}.{field}"])
            parts.append(watch(Invariant.WITHIN, f"{joint.name}.{field}", signals[signal].unit, [beyond], bindings))
    return merge(parts)


def _define_efforts(motion: Motion, contributions: Contribution, joints: list[Joint]) -> Contribution:
    """Efforts of drives on joints: all forces of blocks but those that only store or lose energy."""
    blocks = motion.machine.all_blocks
    idle = {block.name for block in blocks if block.info.passive or block.info.disturbance}
    velocities = [name for freedom in motion.freedoms for name in freedom.velocities]
    bindings: Bindings = {}
    forces: dict[str, SX] = {}
    for target, signal in contributions.forces if joints else ():
        if signal.rpartition(".")[0] not in idle:
            force = placeholder(f"{target}.effort from {signal}", signal, bindings)
            forces[target] = forces.get(target, 0) + force
    effort, parts = ca.densify(motion.joint_forces(forces)), []
    for joint in joints:
        own = effort[velocities.index(f"{joint.name}.velocity")]
        parts.append(define_signal(f"{joint.name}.effort", EFFORT[joint.kind], own, bindings))
    return merge(parts)


# --------------------------------------------------------------------------------------------------
# Linearised mechanics: how does a mechanism move near a nominal motion?
#
# M(t) a + c(t, q, v) = forces on joints and combinations, with coordinates and points linear in q and v as well


@frozen
class LinearMechanics:
    """Linear equations that stand in for the mechanism's own mechanics.

    Attributes:
        carried: joint torques of folded forces and loads; the bias holds them, the joints' torque signals count them.
        signals: name -> expression, of coordinates (`name.position`, `name.velocity`) and points.
        folded: forces (coordinate, signal) that the bias holds; loads are in it in any case.
        data: numbers of the table that the expressions read, see `native.rows`.
    """

    mass_matrix: SX
    bias: SX
    carried: SX
    signals: Mapping[str, SX]
    folded: frozenset[tuple[str, str]]
    data: Array


Linearise = Callable[[SX, SX, SX, SX], LinearMechanics]
"""(time, q, v, p) -> what stands in for the mechanism's own mechanics; p are the tunable numbers, in their order."""


def replace_mechanics(
    motion: Motion, linear: LinearMechanics, contributions: Contribution
) -> tuple[Motion, Contribution]:
    """Let a motion follow linear mechanics: everything that reads its coordinates and points sees the linear ones.

    Args:
        contributions: those so far; what stands in for some of them replaces these.
    """
    signals = linear.signals
    positions_read = [name for name in motion.positions if f"{name}.position" in signals]
    positions, rates = (
        {name: signals[f"{name}.{what}"] for name in positions_read} for what in ("position", "velocity")
    )
    positions, rates = {**motion.positions, **positions}, {**motion.coordinate_rates, **rates}
    linear_signals = merge(define([contributions.signals[name]], {name: value}) for name, value in signals.items())
    forces = tuple(force for force in contributions.forces if force not in linear.folded)
    moved = replace(motion, linear=linear, positions=positions, coordinate_rates=rates)
    return moved, replace(contributions, forces=forces) + linear_signals
