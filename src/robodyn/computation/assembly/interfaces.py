"""Interfaces of a subsystem: how does what comes in act on the mechanism, and which motion and force go out?

    w = A v,    tau = A^T f

Symbols: w velocity of the interface in its rows, A its Jacobian, f the force of the far side on this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
from casadi import SX

from robodyn.base import frozen
from robodyn.base.symbolic import to_column
from robodyn.computation.dynamics import geometric_jacobian, point_drift
from robodyn.description.model import XYZ, Interface
from robodyn.description.model.interface import ROTATION

from .contribution import (
    Contribution,
    Deferred,
    declare_state,
    define_column,
    merge,
    reference_to,
)
from .declarations import Port, StateInfo
from .motion import Motion
from .network import SignalInfo
from .tracing import Bindings, placeholder


@frozen
class FarSide:
    """Motion of the far side: position (1 or 3,), rotation (3, 3) or None, velocity (k,)."""

    position: SX
    rotation: SX | None
    velocity: SX


def trace_interfaces(motion: Motion, units: Mapping[str, str]) -> tuple[Motion, SX, Contribution]:
    """The motion with its ports, the joint forces of what comes in, and signals and states of the interfaces.

    The inertia of a model that is attached rigidly joins the mechanism's own: what is returned then lacks
    `-A^T M A a`, see `define_forces`.

    Args:
        units: of coordinates.
    """
    tau = SX.zeros(motion.v.numel())
    described = motion.machine.interfaces
    if described and motion.linear is not None:
        motion.flaws.add("interfaces", "cannot be linearised near a nominal motion", "leave them out")
        return motion, tau, Contribution()
    ports, far_sides, books = [], [], []
    for interface in described:
        port = _trace_port(motion, interface, units)
        acting, far = _act(motion, port)
        ports.append(replace(port, acting=acting))
        far_sides.append(far)
        tau = tau + port.A.T @ acting
        books += [_define_motion(port), _keep_books(port, far)]
    return replace(motion, ports=tuple(ports)), tau, merge((*far_sides, *books))


def _trace_port(motion: Motion, interface: Interface, units: Mapping[str, str]) -> Port:
    """Motion of an interface, its Jacobian and `A' v`."""
    # w = A v, w' = A a + drift.
    if interface.point is None:
        name = str(interface.on)
        position, rotation, velocity = motion.positions[name], None, motion.coordinate_rates[name]
        A, drift = ca.jacobian(velocity, motion.v), ca.jtimes(velocity, motion.q, motion.q_dot)
    else:
        chosen = [(*XYZ, *ROTATION).index(row) for row in interface.row_names]
        position = motion.point_position(interface.point)[chosen[:3]]
        rotation = motion.point_rotation(interface.point) if interface.rotates else None
        A, drift = _point_rows(motion, interface.point, chosen)
        velocity = A @ motion.v
    inertia = None
    if interface.rigid:
        inertia = _symmetric(_numbers(motion, interface, "far_inertia"), len(interface.row_names))
    rows = tuple("rad" if row in ROTATION else "m" for row in interface.row_names)
    rows = (units[f"{interface.on}.position"],) if interface.point is None else rows
    return Port(interface, A, drift, SX(position), rotation, velocity, inertia, rows)


def _point_rows(motion: Motion, name: str, rows: list[int]) -> tuple[SX, SX]:
    """A and `A' v` of a point in some of its rows, of its link's rotation in the last three: by recursions, which share
    most of their work with the mechanism's own."""
    (link, pose), tree = motion.point_pose(name), motion.mechanics.tree
    J = SX(geometric_jacobian(tree, motion.q, link, pose.p))
    accelerated = point_drift(tree, motion.q, motion.v, link, pose.p)
    return ca.vertcat(J[3:, :], J[:3, :])[rows, :], ca.vertcat(*map(SX, accelerated))[rows]


def _numbers(motion: Motion, interface: Interface, quantity: str) -> SX:
    return to_column(motion.values[name] for name in interface.names(quantity))


def _symmetric(entries: SX, n: int) -> SX:
    """A matrix from its lower triangle, row by row."""
    lower = iter(ca.vertsplit(entries))
    matrix = SX.zeros(n, n)
    for i in range(n):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = next(lower)
    return matrix


def _act(motion: Motion, port: Port) -> tuple[SX, Contribution]:
    """Force on this side, all of it but what a rigidly attached inertia adds by the accelerations; the far side."""
    interface = port.interface
    if interface.takes == "force":
        return _numbers(motion, interface, "force"), Contribution()
    # A rigid model adds its inertia to M: f = force - inertia (A a + drift), of which -inertia A a is part of M a.
    if port.inertia is not None:
        return _numbers(motion, interface, "far_force") - port.inertia @ port.drift, Contribution()
    far, declared = _far_model(motion, port) if interface.takes == "model" else _far_motion(motion, port)
    force = _elastic_force(motion, port, far)
    if interface.takes == "model":
        declared = declared + _move_model(motion, interface, force)
    return force, declared


def _far_motion(motion: Motion, port: Port) -> tuple[FarSide, Contribution]:
    interface = port.interface
    rotation = ca.reshape(_numbers(motion, interface, "far_orientation"), 3, 3).T if interface.rotates else None
    position, velocity = (_numbers(motion, interface, key) for key in ("far_position", "far_velocity"))
    parts = []
    for key, suffix, column in (("far_position", "", position), ("far_velocity", "/s", velocity)):
        named = zip(interface.names(key), port.units, strict=False)
        parts.append(define_column([SignalInfo(name, f"{unit}{suffix}") for name, unit in named], column))
    parts.append(_define_rotation(interface.names("far_orientation"), rotation))
    return FarSide(position, rotation, velocity), merge(parts)


def _far_model(motion: Motion, port: Port) -> tuple[FarSide, Contribution]:
    """States of the far side's reduced model; its rotation is counted from an orientation that comes in."""
    interface = port.interface
    turns = tuple(f"{interface.name}.far_turn.{row}" for row in ROTATION) if interface.rotates else ()
    names = (*interface.names("far_position"), *turns, *interface.names("far_velocity"))
    units = (*port.units, *(f"{unit}/s" for unit in port.units))
    initial = motion.context.scenario.initial
    # Behind a stiffness the far side is a body of its own between exchanges.
    infos = [StateInfo(name, unit, initial.get(name, 0.0)) for name, unit in zip(names, units, strict=True)]
    declared = merge(declare_state(info) for info in infos)
    position, velocity = (
        to_column(declared.symbols[name] for name in interface.names(key)) for key in ("far_position", "far_velocity")
    )
    rotation = None
    if interface.rotates:
        turn = ca.skew(to_column(declared.symbols[name] for name in turns))
        # Between two exchanges the far side rotates little: the second order of the exponential is enough.
        start = ca.reshape(_numbers(motion, interface, "far_orientation"), 3, 3).T
        rotation = (SX.eye(3) + turn + turn @ turn / 2) @ start
    moving = (*interface.names("far_position"), *turns)
    rates = {name: Deferred(rate, {}) for name, rate in zip(moving, ca.vertsplit(velocity), strict=True)}
    seen = _define_rotation(interface.names("far_orientation"), rotation)
    return FarSide(position, rotation, velocity), merge((declared, Contribution(rates=rates), seen))


def _move_model(motion: Motion, interface: Interface, force: SX) -> Contribution:
    """w' = free acceleration - mobility f, which is `M w' = force - f` solved for w'."""
    mobility = _symmetric(_numbers(motion, interface, "far_mobility"), len(interface.row_names))
    rates = ca.vertsplit(_numbers(motion, interface, "far_acceleration") - mobility @ force)
    names = interface.names("far_velocity")
    return Contribution(rates={name: Deferred(rate, {}) for name, rate in zip(names, rates, strict=True)})


def _elastic_force(motion: Motion, port: Port, far: FarSide) -> SX:
    """f = K (far - own) + D (w_far - w); a small rotation between the two is `sum own_i x far_i / 2` over the axes."""
    # The rotation between two nearly equal frames, R_far R^T = 1 + [phi]x: phi = sum own_i x far_i / 2.
    apart = far.position - port.position
    if port.rotation is not None and far.rotation is not None:
        turns = [ca.cross(port.rotation[:, i], far.rotation[:, i]) for i in range(3)]
        apart = ca.vertcat(apart, (turns[0] + turns[1] + turns[2]) / 2)
    stiffness, damping = (_numbers(motion, port.interface, key) for key in ("stiffness", "damping"))
    return stiffness * apart + damping * (far.velocity - port.velocity)


def _define_motion(port: Port) -> Contribution:
    interface, units = port.interface, port.units
    positions, velocities = interface.names("position"), interface.names("velocity")
    infos = [SignalInfo(name, unit, rate=rate) for name, rate, unit in zip(positions, velocities, units, strict=False)]
    infos += [SignalInfo(name, f"{unit}/s") for name, unit in zip(velocities, units, strict=True)]
    motion_column = define_column(infos, ca.vertcat(port.position, port.velocity))
    return motion_column + _define_rotation(interface.names("orientation"), port.rotation)


def _define_rotation(names: tuple[str, ...], rotation: SX | None) -> Contribution:
    """Nine entries, row by row, where a rotation is coupled."""
    if rotation is None:
        return Contribution()
    return define_column([SignalInfo(name, "") for name in names], ca.vec(rotation.T))


def _keep_books(port: Port, far: Contribution) -> Contribution:
    """States that keep book of a force: its impulse, for its mean over some time, and its work.

    The work is that on this side at the motion where the force acts; where a motion comes in, that is not known here.
    """
    interface, forces = port.interface, port.interface.names("force")
    units = ["N m s" if unit == "rad" else "N s" for unit in port.units]
    books = []
    if interface.takes != "force":
        named = zip(interface.names("impulse"), forces, units, strict=True)
        books = [_keep_book(name, unit, reference_to(force)) for name, force, unit in named]
    if interface.takes == "motion":
        return merge(books)
    # Energy is booked at the side where the motion is known.
    rates = ca.vertsplit(port.velocity)
    if interface.takes == "model" and not interface.rigid:
        rates = [far.symbols[name] for name in interface.names("far_velocity")]
    bindings: Bindings = {}
    power = sum(placeholder(f"work of {f}", f, bindings) * w for f, w in zip(forces, rates, strict=True))
    return merge((*books, _keep_book(f"{interface.name}.work", "J", Deferred(power, bindings))))


def _keep_book(name: str, unit: str, rate: Deferred) -> Contribution:
    """A state that nothing else depends on, kept out of the solver's error estimate."""
    return declare_state(StateInfo(name, unit, 0.0, nominal=float("inf")), rate)


def define_forces(motion: Motion, a: SX, bindings: Bindings) -> tuple[SX, Contribution]:
    """The joint forces of rigidly attached inertias, `-A^T M A a`, and the force on this side at each interface."""
    total, parts = SX.zeros(motion.v.numel()), []
    for port in motion.ports:
        force: SX = port.acting
        bound: Bindings = {}
        if port.inertia is not None:
            inertial = port.inertia @ (port.A @ a)
            force, total, bound = force - inertial, total - port.A.T @ inertial, bindings
        units = ["N m" if unit == "rad" else "N" for unit in port.units]
        infos = map(SignalInfo, port.interface.names("force"), units)
        parts.append(define_column(infos, force, bound))
    return total, merge(parts)
