"""What are a mechanism's states and signals, and how does it accelerate under the forces of blocks and loads?

M(q) a + c(q, v) = sum over coordinates (ds/dq)^T f + loads
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from robodyn.assembly.builder import Builder, Pending, reference_to
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.system import StateInfo
from robodyn.assembly.tracing import Bindings, placeholder
from robodyn.assembly.tree import Mechanics, build_tree
from robodyn.assembly.units import FORCE
from robodyn.dynamics import (
    bias,
    forward_dynamics,
    geometric_jacobian,
    kinetic_energy,
    link_poses,
    mass_matrix,
    position_rates,
    potential_energy,
    solve_symmetric,
)
from robodyn.model import Along, Combination, Distance, Joint, Linkage, Mechanism
from robodyn.model.numbers import XYZ
from robodyn.spatial import Pose
from robodyn.symbolic import is_symbolic, sqrt, stack

FORCE_SIGNAL = {"rad": "torque", "m": "force"}


class Motion:
    """Symbols q, v of a mechanism and the kinematic expressions made from them."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.mechanics: Mechanics = build_tree(mechanism, builder.values)
        self.joints = mechanism.moving_joints
        self.q = self._add_states("position", "")
        self.v = self._add_states("velocity", "/s")
        self.q_dot = position_rates(self.mechanics.tree, self.q, self.v)
        self.poses = link_poses(self.mechanics.tree, self.q)
        self.gradients: dict[str, ca.SX] = {}
        self.coordinate_rates: dict[str, ca.SX] = {}

    def _add_states(self, quantity: str, suffix: str) -> Any:
        """One state for each joint; a column, which stands for a sequence of scalars in `dynamics`."""
        symbols = []
        for joint in self.joints:
            name = f"{joint.name}.{quantity}"
            start = self.builder.scenario.initial.get(name, 0.0)
            symbols.append(self.builder.add_state(StateInfo(name, joint_unit(joint) + suffix, start)))
        return ca.vertcat(*symbols)

    def point_pose(self, name: str) -> tuple[int, Pose]:
        """The link a named point belongs to and the point's pose in that link's frame."""
        point = next(point for point in self.mechanism.points if point.name == name)
        place = self.mechanics.placements[point.body]
        origin = self.builder.values.vector(f"{name}.origin", XYZ)
        return place.link, place.pose @ Pose.translation(stack(origin))

    def point_position(self, name: str) -> ca.SX:
        """World position of a named point [m]."""
        link, pose = self.point_pose(name)
        return ca.SX(pose.p) if link < 0 else ca.SX(self.poses[link].apply(pose.p))

    def add_coordinate(self, name: str, unit: str, position: ca.SX) -> None:
        """A scalar s(q): its rate `ds/dq q_dot` and its gradient with respect to v, exactly."""
        velocity = ca.jtimes(position, self.q, self.q_dot)
        self.gradients[name] = ca.jacobian(velocity, self.v)
        self.coordinate_rates[name] = velocity
        if f"{name}.position" not in self.builder.network.infos:
            infos = [
                SignalInfo(f"{name}.position", unit, rate=f"{name}.velocity"),
                SignalInfo(f"{name}.velocity", f"{unit}/s"),
            ]
            outputs = {f"{name}.position": position, f"{name}.velocity": velocity}
            self.builder.network.define(infos, Definition(outputs, {}))


def joint_unit(joint: Joint) -> str:
    return "rad" if joint.turns else "m"


def add_kinematics(builder: Builder) -> Motion | None:
    """Declare joint states, coordinates, points and energies as signals."""
    mechanism = builder.scenario.machine.mechanism
    if mechanism is None:
        return None
    motion = Motion(builder, mechanism)
    for k, joint in enumerate(motion.joints):
        motion.add_coordinate(joint.name, joint_unit(joint), motion.q[k])
        for quantity, rate in (("position", "velocity"), ("velocity", "acceleration")):
            info = builder.network.infos[f"{joint.name}.{quantity}"]
            builder.network.infos[info.name] = SignalInfo(info.name, info.unit, rate=f"{joint.name}.{rate}")
    for coordinate in builder.scenario.machine.coordinates:
        motion.add_coordinate(coordinate.name, *_coordinate(motion, coordinate))
    _add_points(builder, motion)
    return motion


def _coordinate(motion: Motion, coordinate: Combination | Distance | Along | Linkage) -> tuple[str, ca.SX]:
    """Unit and position of a coordinate as a function of q."""
    index = {joint.name: k for k, joint in enumerate(motion.joints)}
    if isinstance(coordinate, Combination):
        first = next(iter(coordinate.of))
        position = sum((weight * motion.q[index[name]] for name, weight in coordinate.of.items()), ca.SX(0))
        return joint_unit(motion.joints[index[first]]), position
    if isinstance(coordinate, Distance):
        apart = motion.point_position(coordinate.end) - motion.point_position(coordinate.start)
        return "m", sqrt(ca.sumsqr(apart))
    if isinstance(coordinate, Along):
        return "m", ca.dot(ca.DM(coordinate.direction), motion.point_position(coordinate.point))
    return coordinate.unit, _linkage_position(motion, coordinate, [motion.q[index[name]] for name in coordinate.of])


def _linkage_position(motion: Motion, linkage: Linkage, positions: list[ca.SX]) -> ca.SX:
    """The user's function of joint positions, traced; what it raises is told as a flaw of that linkage."""
    try:
        return ca.SX(linkage.function(*positions))
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        what = f"its function cannot be traced: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        motion.builder.flaws.add(f"coordinates.{linkage.name}", what, "take functions from robodyn.symbolic")
        return positions[0]


def _add_points(builder: Builder, motion: Motion) -> None:
    for point in motion.mechanism.points:
        position = motion.point_position(point.name)
        velocity = ca.jtimes(position, motion.q, motion.q_dot)
        for k, axis in enumerate(XYZ):
            names = f"{point.name}.position.{axis}", f"{point.name}.velocity.{axis}"
            infos = [SignalInfo(names[0], "m", rate=names[1]), SignalInfo(names[1], "m/s")]
            builder.network.define(infos, Definition({names[0]: position[k], names[1]: velocity[k]}, {}))


def add_dynamics(builder: Builder, motion: Motion, solvable: bool) -> None:
    """Define the accelerations from all forces gathered, and the energies.

    Args:
        solvable: False where a joint without inertia has been told; the rest is then still checked.
    """
    bindings: Bindings = {}
    forces: dict[str, ca.SX] = {}
    for target, signal in builder.forces:
        force = placeholder(f"{target}.force from {signal}", signal, bindings)
        forces[target] = forces.get(target, 0) + force
    n_v = motion.v.numel()
    tau = sum((motion.gradients[name].T * force for name, force in forces.items()), ca.SX.zeros(n_v))
    load = _load_torque(builder, motion)
    a = _accelerations(builder, motion, tau + load) if solvable else ca.SX.zeros(n_v)
    _define_accelerations(builder, motion, a, bindings)
    for k, joint in enumerate(motion.joints):
        unit = joint_unit(joint)
        torque = SignalInfo(f"{joint.name}.{FORCE_SIGNAL[unit]}", FORCE[unit])
        builder.network.define([torque], Definition({torque.name: tau[k] + load[k]}, bindings))
    power = ca.dot(tau + load, motion.v)
    _add_energies(builder, motion, Pending(power, bindings) if forces or builder.scenario.machine.loads else None)


def _define_accelerations(builder: Builder, motion: Motion, a: ca.SX, bindings: Bindings) -> None:
    """One definition for all accelerations, since each depends on every force; they are the rates of the velocities."""
    infos = [SignalInfo(f"{j.name}.acceleration", f"{joint_unit(j)}/s^2") for j in motion.joints]
    outputs = {info.name: a[k] for k, info in enumerate(infos)}
    builder.network.define(infos, Definition(outputs, bindings))
    for k, joint in enumerate(motion.joints):
        builder.rates[f"{joint.name}.position"] = Pending(motion.q_dot[k], {})
        builder.rates[f"{joint.name}.velocity"] = reference_to(infos[k].name)


def _accelerations(builder: Builder, motion: Motion, tau: Any) -> ca.SX:
    """Forward dynamics; rotors on combined coordinates add `I (ds/dq)^T (ds/dq)` to the mass matrix."""
    tree, machine = motion.mechanics.tree, builder.scenario.machine
    # A tunable inertia may be 0 now and something else in another run.
    rotors = [
        c
        for c in machine.coordinates
        if isinstance(c, Combination) and (c.inertia > 0 or is_symbolic(builder.values[f"{c.name}.inertia"]))
    ]
    if not rotors:
        return ca.SX(forward_dynamics(tree, motion.q, motion.v, tau))
    M = mass_matrix(tree, motion.q)
    for rotor in rotors:
        gradient = motion.gradients[rotor.name]
        M = M + builder.values[f"{rotor.name}.inertia"] * (gradient.T @ gradient)
    return ca.SX(solve_symmetric(M, tau - bias(tree, motion.q, motion.v)))


def _load_torque(builder: Builder, motion: Motion) -> ca.SX:
    """Joint torques of the constant loads: `J^T (torque, force)`."""
    total = ca.SX.zeros(motion.v.numel())
    for load in builder.scenario.machine.loads:
        link, pose = motion.point_pose(load.point)
        if link < 0:
            builder.flaws.add(
                f"loads.{load.name}.point", f"'{load.point}' is on the ground", "a load there has no effect"
            )
            continue
        wrench = [builder.values.vector(f"{load.name}.{part}", XYZ) for part in ("torque", "force")]
        J = geometric_jacobian(motion.mechanics.tree, motion.q, link, pose.p)
        total = total + ca.SX(J).T @ ca.vertcat(*wrench[0], *wrench[1])
    return total


def _add_energies(builder: Builder, motion: Motion, power: Pending | None) -> None:
    """Energies as signals; `energy.work` integrates the power of all blocks and loads, so that E - W is constant."""
    tree = motion.mechanics.tree
    rotors = [c for c in builder.scenario.machine.coordinates if isinstance(c, Combination)]
    spinning = sum(
        (0.5 * builder.values[f"{c.name}.inertia"] * motion.coordinate_rates[c.name] ** 2 for c in rotors),
        ca.SX(0),
    )
    kinetic = ca.SX(kinetic_energy(tree, motion.q, motion.v)) + spinning
    potential = ca.SX(potential_energy(tree, motion.q))
    work = ca.SX(0)
    if power is not None:
        # An infinite nominal magnitude keeps the book-keeping out of the solver's error estimate.
        work = builder.add_state(StateInfo("energy.work", "J", 0.0, nominal=float("inf")))
        builder.network.infos["energy.work"] = SignalInfo("energy.work", "J", rate="energy.power")
        builder.network.define(
            [SignalInfo("energy.power", "W")], Definition({"energy.power": power.expression}, power.bindings)
        )
        builder.rates["energy.work"] = reference_to("energy.power")
    outputs = {
        "energy.kinetic": kinetic,
        "energy.potential": potential,
        "energy.balance": kinetic + potential - work,
    }
    builder.network.define([SignalInfo(name, "J") for name in outputs], Definition(outputs, {}))
