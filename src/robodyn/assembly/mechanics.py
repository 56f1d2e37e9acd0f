"""Equations of motion: how does a mechanism accelerate under blocks, loads, stick-slip friction and constraints?

M(q) a + c(q, v) = sum over coordinates (ds/dq)^T f + loads + H^T lam
"""

from __future__ import annotations

from functools import partial
from typing import Any

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred, reference_to
from robodyn.assembly.constraints import (
    Constrained,
    add_closing,
    add_constraint_signals,
    add_projection,
    build_constrained,
)
from robodyn.assembly.contact import add_contacts
from robodyn.assembly.declarations import StateInfo
from robodyn.assembly.interfaces import add_interfaces, define_forces
from robodyn.assembly.loads import add_loads
from robodyn.assembly.mobility import Solve
from robodyn.assembly.motion import Motion
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.promises import Promise
from robodyn.assembly.reaction_modes import Reactions, add_modes
from robodyn.assembly.rigid_contact import build_rigid
from robodyn.assembly.rigid_contact_events import add_rigid
from robodyn.assembly.stick_events import add_sticking
from robodyn.assembly.stick_friction import build_sticking
from robodyn.assembly.system import build_mass_matrix
from robodyn.assembly.tracing import Bindings, placeholder
from robodyn.dynamics import (
    Tree,
    bias,
    kinetic_energy,
    ldl,
    mass_solver,
    position_rates,
    potential_energy,
    solve_ldl,
)
from robodyn.model import LinearCombination, PrescribedMotion
from robodyn.symbolic import absolute


def add_dynamics(builder: Builder, motion: Motion, solvable: bool) -> None:
    """Define the accelerations from all forces gathered, and the energies.

    Args:
        solvable: False where a joint without inertia has been reported; the rest is then still checked.
    """
    bindings: Bindings = {}
    forces: dict[str, ca.SX] = {}
    for target, signal in builder.forces:
        force = placeholder(f"{target}.force from {signal}", signal, bindings)
        forces[target] = forces.get(target, 0) + force
    n_v = motion.v.numel()
    tau = motion.joint_forces(forces)
    if motion.linear is None:
        builder.loads, driven = add_loads(builder, motion, bindings)
        tau = tau + builder.loads + driven + add_contacts(builder, motion)
    tau = tau + add_interfaces(builder, motion)
    a, applied = ca.SX.zeros(n_v), tau
    if solvable:
        a, tau = _accelerate(builder, motion, tau, bindings)
    tau = tau + define_forces(builder, motion, a, bindings)
    _define_accelerations(builder, motion, a, bindings)
    carried = motion.linear.carried if motion.linear else ca.SX.zeros(n_v)
    _define_torques(builder, motion, (applied + carried, tau + carried), bindings)
    if motion.linear is not None:
        # Linear mechanics do not balance energies: the squares of what is small are left out of them.
        return
    # E_kinetic + E_potential - work of all joint torques is constant: what runs watch of themselves.
    power = ca.dot(tau, motion.v)
    machine = builder.scenario.machine
    outside = machine.loads or machine.all_constraints or machine.contacts or machine.interfaces or machine.rigid_parts
    acting = forces or builder.sticking or outside
    passing = sum((absolute(force * motion.coordinate_rates[on]) for on, force in forces.items()), ca.SX(0))
    flows = (Deferred(passing, bindings), Deferred(ca.sum1(absolute(tau)), bindings))
    _add_energies(builder, motion, Deferred(power, bindings) if acting else None, flows)


def _accelerate(builder: Builder, motion: Motion, tau: ca.SX, bindings: Bindings) -> tuple[ca.SX, ca.SX]:
    """Accelerations, and the joint torques with those of friction that sticks and of constraints."""
    tree: Tree = motion.mechanics.tree
    c = motion.linear.bias if motion.linear else ca.SX(bias(tree, motion.q, motion.v))
    solve = _mass_solver(motion)
    constrained = build_constrained(builder, motion, solve, bindings)
    for element in builder.sticking:
        bindings.update(element.bindings)
    reactions = _react(builder, motion, (tau - c, solve, constrained))
    if reactions:
        _add_reactions(builder, motion, reactions, bindings)
        tau = tau + reactions.torques()
    _keep_applied(builder, tau, bindings)
    if constrained is None:
        a = solve(tau - c)
    else:
        # Constraints answer to all other forces.
        a, lam = constrained.accelerate(tau - c)
        tau = tau + constrained.H.T @ lam
        add_constraint_signals(builder, motion, constrained, lam, bindings)
        add_closing(builder, motion, constrained, bindings)
        if builder.scenario.constraint_method.method == "projection":
            add_projection(builder, motion, constrained, bindings)
    if reactions and (held := reactions.sticking):
        directions = [element.direction for element in held.elements]
        a = held.hold_joints(a, directions)
        # Not even the last digits of a speed, as implicit methods leave them, may move what is held.
        resting: Any = held.hold_joints(motion.v, directions)
        motion.position_rates = position_rates(tree, motion.q, resting)
    return a, tau


def _react(builder: Builder, motion: Motion, mechanism: tuple[ca.SX, Solve, Constrained | None]) -> Reactions | None:
    """Friction that sticks and rigid contacts, which act on the constrained mechanism.

    Args:
        mechanism: tau - c, M^-1, and the constraints.
    """
    b, solve, constrained = mechanism
    if not builder.sticking and not builder.scenario.machine.rigid_parts:
        return None
    # What would happen without them decides what they have to hold.
    a = constrained.accelerate(b)[0] if constrained else solve(b)
    sticking = build_sticking(builder, motion, a, solve, constrained)
    respond = constrained.respond if constrained else solve
    rigid = build_rigid(builder, motion, respond, constrained.constraint_force if constrained else _no_force)
    return Reactions(sticking, rigid, a) if sticking or rigid else None


def _no_force(b: ca.SX) -> ca.SX:
    return ca.SX(*b.shape)


def _add_reactions(builder: Builder, motion: Motion, reactions: Reactions, bindings: Bindings) -> None:
    """Signals, events and modes of friction that sticks and of rigid contacts."""
    forces, deciding = (reactions.split(column) for column in (reactions.forces, reactions.deciding_forces))
    if reactions.rigid:
        rates = reactions.split(reactions.accelerations)[2]
        add_rigid(builder, motion, reactions.rigid, forces[1:], deciding[1:], rates, bindings)
    if reactions.sticking:
        add_sticking(builder, reactions.sticking, (forces[0], deciding[0]), bindings)
    add_modes(builder, motion, reactions, bindings)


def _keep_applied(builder: Builder, tau: ca.SX, bindings: Bindings) -> None:
    """Joint torques without those of constraints, as a function of the system."""
    builder.applied = [Deferred(tau[k], bindings) for k in range(tau.numel())]


def _mass_solver(motion: Motion) -> Solve:
    """M^-1 as a function of a column."""
    tree, q = motion.mechanics.tree, motion.q
    # Composite or articulated bodies; with rotors or linear mechanics the matrix itself.
    inner: Any = mass_solver(tree, q) if not motion.rotors and not motion.linear else None
    if motion.linear:
        inner = partial(solve_ldl, ldl(motion.linear.mass_matrix))
    elif inner is None:
        inner = partial(solve_ldl, ldl(build_mass_matrix(tree, q, motion.rotors)))
    return lambda b: ca.SX(inner(b))


def _define_accelerations(builder: Builder, motion: Motion, a: ca.SX, bindings: Bindings) -> None:
    """One definition for all accelerations, since each depends on every force; they are the rates of the velocities."""
    named = {name: unit for freedom in motion.freedoms for name, unit in freedom.accelerations.items()}
    outputs = {name: a[k] for k, name in enumerate(named)}
    builder.network.define([SignalInfo(*pair) for pair in named.items()], Definition(outputs, bindings))
    positions = [name for freedom in motion.freedoms for name in freedom.positions]
    velocities = [name for freedom in motion.freedoms for name in freedom.velocities]
    builder.rates |= {name: Deferred(motion.position_rates[k], {}) for k, name in enumerate(positions)}
    builder.rates |= {name: reference_to(rate) for name, rate in zip(velocities, named, strict=True)}


def _define_torques(builder: Builder, motion: Motion, torques: tuple[ca.SX, ca.SX], bindings: Bindings) -> None:
    """Each joint's torque on its own; but together where constraints make each depend on every force.

    Args:
        torques: as applied, and with those of constraints.
    """
    applied, tau = torques
    groups: dict[int, tuple[list[SignalInfo], dict[str, ca.SX]]] = {}
    forces = [pair for freedom in motion.freedoms for pair in freedom.forces.items()]
    for k, (name, unit) in enumerate(forces):
        info = SignalInfo(name, unit)
        # Multipliers couple all joints: a torque that holds some cannot be resolved before every force is.
        bound = bool(builder.scenario.machine.all_constraints) and not ca.is_equal(applied[k], tau[k], 0)
        infos, outputs = groups.setdefault(-1 if bound else k, ([], {}))
        infos.append(info)
        outputs[info.name] = tau[k]
    for infos, outputs in groups.values():
        builder.network.define(infos, Definition(outputs, bindings))


def _add_energies(builder: Builder, motion: Motion, power: Deferred | None, flows: tuple[Deferred, Deferred]) -> None:
    """Energies as signals; `energy.work` integrates the power of all blocks and loads, so that E - W is constant.

    Args:
        flows: power of the forces on each coordinate, whatever its sign, and how large the torques are all together.
    """
    tree = motion.mechanics.tree
    rotors = [c for c in builder.scenario.machine.coordinates if isinstance(c, LinearCombination)]
    spinning = sum(
        (0.5 * builder.values[f"{c.name}.inertia"] * motion.coordinate_rates[c.name] ** 2 for c in rotors),
        ca.SX(0),
    )
    kinetic = ca.SX(kinetic_energy(tree, motion.q, motion.v)) + spinning
    potential = ca.SX(potential_energy(tree, motion.q))
    work = ca.SX(0)
    if power is not None:
        # An infinite nominal magnitude keeps the book-keeping out of the solver's error estimate. But a prescribed
        # motion is exact in steps of any length: there, its work alone says how well its force is followed.
        prescribed = any(isinstance(c, PrescribedMotion) for c in builder.scenario.machine.all_constraints)
        work = builder.add_state(StateInfo("energy.work", "J", 0.0, nominal=1.0 if prescribed else float("inf")))
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
    values = [outputs["energy.balance"], kinetic, potential, *(flow.expression for flow in flows)]
    builder.watch(Promise.BALANCE, "", "J", values, flows[0].bindings | flows[1].bindings)
