"""Interfaces of a subsystem: how does what comes in act on the mechanism, and which motion and force go out?

    w = A v,    tau = A^T f

Symbols: w velocity of the interface in its rows, A its Jacobian, f the force of the far side on this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred, reference_to
from robodyn.assembly.declarations import Port, StateInfo
from robodyn.assembly.motion import Motion
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.tracing import Bindings, placeholder
from robodyn.model import Interface
from robodyn.model.interface import ROTATION


@dataclass(frozen=True)
class FarSide:
    """Motion of the far side: position (1 or 3,), rotation (3, 3) or None, velocity (k,)."""

    position: ca.SX
    rotation: ca.SX | None
    velocity: ca.SX


def add_interfaces(builder: Builder, motion: Motion) -> ca.SX:
    """Declare the interfaces' signals and states; the joint forces of what comes in.

    The inertia of a model that is attached rigidly joins the mechanism's own: what is returned then lacks
    `-A^T M A a`, see `define_forces`.
    """
    tau = ca.SX.zeros(motion.v.numel())
    described = builder.scenario.machine.interfaces
    if described and motion.linear is not None:
        builder.flaws.add("interfaces", "cannot be linearised near a nominal motion", "leave them out")
        return tau
    traced = [_trace_port(builder, motion, interface) for interface in described]
    motion.ports = tuple(replace(port, acting=_act(builder, port)) for port in traced)
    for port in motion.ports:
        tau = tau + port.A.T @ port.acting
        _define_motion(builder, port)
        _add_books(builder, port)
    return tau


def _trace_port(builder: Builder, motion: Motion, interface: Interface) -> Port:
    """Motion of an interface, its Jacobian and `A' v`."""
    if interface.point is None:
        name = str(interface.on)
        position, rotation, velocity = motion.positions[name], None, motion.coordinate_rates[name]
    else:
        position = motion.point_position(interface.point)
        rotation = motion.point_rotation(interface.point) if interface.rotates else None
        velocity = ca.vertcat(*motion.rates_of(ca.vertsplit(position)))
        if rotation is not None:
            velocity = ca.vertcat(velocity, _angular_velocity(motion, rotation))
    # w = A v, w' = A a + drift.
    A = ca.jacobian(velocity, motion.v)
    drift = ca.jtimes(velocity, motion.q, motion.q_dot)
    inertia = None
    if interface.rigid:
        inertia = _symmetric(_numbers(builder, interface, "far_inertia"), len(interface.rows))
    return Port(interface, A, drift, ca.SX(position), rotation, velocity, inertia)


def _angular_velocity(motion: Motion, R: ca.SX) -> ca.SX:
    """omega in world axes, from `R_dot R^T = [omega]x`."""
    entries = motion.rates_of(ca.vertsplit(ca.vec(R)))
    spin = ca.reshape(ca.vertcat(*entries), 3, 3) @ R.T
    return ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])


def _numbers(builder: Builder, interface: Interface, quantity: str) -> ca.SX:
    return ca.vertcat(*(builder.values[name] for name in interface.names(quantity)))


def _symmetric(entries: ca.SX, n: int) -> ca.SX:
    """A matrix from its lower triangle, row by row."""
    lower = iter(ca.vertsplit(entries))
    matrix = ca.SX.zeros(n, n)
    for i in range(n):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = next(lower)
    return matrix


def _act(builder: Builder, port: Port) -> ca.SX:
    """Force on this side, all of it but what a rigidly attached inertia adds by the accelerations."""
    interface = port.interface
    if interface.takes == "force":
        return _numbers(builder, interface, "force")
    # A rigid model adds its inertia to M: f = force - inertia (A a + drift), of which -inertia A a is part of M a.
    if port.inertia is not None:
        return _numbers(builder, interface, "far_force") - port.inertia @ port.drift
    far = _far_model(builder, interface) if interface.takes == "model" else _far_motion(builder, interface)
    force = _elastic_force(builder, port, far)
    if interface.takes == "model":
        _move_model(builder, interface, force)
    return force


def _far_motion(builder: Builder, interface: Interface) -> FarSide:
    rotation = ca.reshape(_numbers(builder, interface, "far_orientation"), 3, 3).T if interface.rotates else None
    position, velocity = (_numbers(builder, interface, key) for key in ("far_position", "far_velocity"))
    units = row_units(builder, interface)
    for key, suffix, column in (("far_position", "", position), ("far_velocity", "/s", velocity)):
        names = interface.names(key)
        infos = [SignalInfo(name, f"{unit}{suffix}") for name, unit in zip(names, units, strict=False)]
        builder.network.define(infos, Definition(dict(zip(names, ca.vertsplit(column), strict=True)), {}))
    _define_rotation(builder, interface.names("far_orientation"), rotation)
    return FarSide(position, rotation, velocity)


def _far_model(builder: Builder, interface: Interface) -> FarSide:
    """States of the far side's reduced model; its rotation is counted from an orientation that comes in."""
    turns = tuple(f"{interface.name}.far_turn.{row}" for row in ROTATION) if interface.rotates else ()
    names = (*interface.names("far_position"), *turns, *interface.names("far_velocity"))
    units = row_units(builder, interface)
    units += [f"{unit}/s" for unit in units]
    initial = builder.scenario.initial
    # Behind a stiffness the far side is a body of its own between exchanges.
    states = {
        name: builder.add_state(StateInfo(name, unit, initial.get(name, 0.0)))
        for name, unit in zip(names, units, strict=True)
    }
    position, velocity = (
        ca.vertcat(*(states[name] for name in interface.names(key))) for key in ("far_position", "far_velocity")
    )
    rotation = None
    if interface.rotates:
        turn = ca.skew(ca.vertcat(*(states[name] for name in turns)))
        # Between two exchanges the far side rotates little: the second order of the exponential is enough.
        start = ca.reshape(_numbers(builder, interface, "far_orientation"), 3, 3).T
        rotation = (ca.SX.eye(3) + turn + turn @ turn / 2) @ start
    for name, rate in zip((*interface.names("far_position"), *turns), ca.vertsplit(velocity), strict=True):
        builder.rates[name] = Deferred(rate, {})
    _define_rotation(builder, interface.names("far_orientation"), rotation)
    return FarSide(position, rotation, velocity)


def _move_model(builder: Builder, interface: Interface, force: ca.SX) -> None:
    """w' = free acceleration - mobility f, which is `M w' = force - f` solved for w'."""
    mobility = _symmetric(_numbers(builder, interface, "far_mobility"), len(interface.rows))
    rates = _numbers(builder, interface, "far_acceleration") - mobility @ force
    for name, rate in zip(interface.names("far_velocity"), ca.vertsplit(rates), strict=True):
        builder.rates[name] = Deferred(rate, {})


def _elastic_force(builder: Builder, port: Port, far: FarSide) -> ca.SX:
    """f = K (far - own) + D (w_far - w); a small rotation between the two is `sum own_i x far_i / 2` over the axes."""
    # The rotation between two nearly equal frames, R_far R^T = 1 + [phi]x: phi = sum own_i x far_i / 2.
    apart = far.position - port.position
    if port.rotation is not None and far.rotation is not None:
        turns = [ca.cross(port.rotation[:, i], far.rotation[:, i]) for i in range(3)]
        apart = ca.vertcat(apart, (turns[0] + turns[1] + turns[2]) / 2)
    stiffness, damping = (_numbers(builder, port.interface, key) for key in ("stiffness", "damping"))
    return stiffness * apart + damping * (far.velocity - port.velocity)


def row_units(builder: Builder, interface: Interface) -> list[str]:
    """Unit of each row's displacement."""
    if interface.point is None:
        return [builder.units[f"{interface.on}.position"]]
    return ["rad" if row in ROTATION else "m" for row in interface.rows]


def _define_motion(builder: Builder, port: Port) -> None:
    interface, units = port.interface, row_units(builder, port.interface)
    positions = dict(zip(interface.names("position"), ca.vertsplit(port.position), strict=True))
    velocities = dict(zip(interface.names("velocity"), ca.vertsplit(port.velocity), strict=True))
    infos = [SignalInfo(name, unit, rate=rate) for name, rate, unit in zip(positions, velocities, units, strict=False)]
    infos += [SignalInfo(name, f"{unit}/s") for name, unit in zip(velocities, units, strict=True)]
    builder.network.define(infos, Definition(positions | velocities, {}))
    _define_rotation(builder, interface.names("orientation"), port.rotation)


def _define_rotation(builder: Builder, names: tuple[str, ...], rotation: ca.SX | None) -> None:
    """Nine entries, row by row, where a rotation is coupled."""
    if rotation is not None:
        infos = [SignalInfo(name, "") for name in names]
        outputs = dict(zip(names, ca.vertsplit(ca.vec(rotation.T)), strict=True))
        builder.network.define(infos, Definition(outputs, {}))


def _add_books(builder: Builder, port: Port) -> None:
    """States that keep book of a force: its impulse, for its mean over some time, and its work.

    The work is that on this side at the motion where the force acts; where a motion comes in, that is not known here.
    """
    interface, forces = port.interface, port.interface.names("force")
    units = ["N m s" if unit == "rad" else "N s" for unit in row_units(builder, interface)]
    if interface.takes != "force":
        for name, force, unit in zip(interface.names("impulse"), forces, units, strict=True):
            _add_book(builder, name, unit, reference_to(force))
    if interface.takes == "motion":
        return
    # Energy is booked at the side where the motion is known.
    rates = ca.vertsplit(port.velocity)
    if interface.takes == "model" and not interface.rigid:
        rates = [builder.symbol_of(name) for name in interface.names("far_velocity")]
    bindings: Bindings = {}
    power = sum(placeholder(f"work of {f}", f, bindings) * w for f, w in zip(forces, rates, strict=True))
    _add_book(builder, f"{interface.name}.work", "J", Deferred(power, bindings))


def _add_book(builder: Builder, name: str, unit: str, rate: Deferred) -> None:
    """A state that nothing else depends on, kept out of the solver's error estimate."""
    builder.add_state(StateInfo(name, unit, 0.0, nominal=float("inf")))
    builder.rates[name] = rate


def define_forces(builder: Builder, motion: Motion, a: ca.SX, bindings: Bindings) -> ca.SX:
    """Define the force on this side at each interface; the joint forces of rigidly attached inertias, `-A^T M A a`."""
    total = ca.SX.zeros(motion.v.numel())
    for port in motion.ports:
        force: ca.SX = port.acting
        bound: Bindings = {}
        if port.inertia is not None:
            inertial = port.inertia @ (port.A @ a)
            force, total, bound = force - inertial, total - port.A.T @ inertial, bindings
        units = ["N m" if unit == "rad" else "N" for unit in row_units(builder, port.interface)]
        names = port.interface.names("force")
        infos = [SignalInfo(name, unit) for name, unit in zip(names, units, strict=True)]
        builder.network.define(infos, Definition(dict(zip(names, ca.vertsplit(force), strict=True)), bound))
    return total
