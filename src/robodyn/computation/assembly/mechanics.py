"""Equations of motion: which forces act on a mechanism, how does it move, and what does that do to its energy?

M(q) a + c(q, v) = sum over coordinates (ds/dq)^T f + loads + contacts + interfaces + reactions
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from robodyn.base.symbolic import absolute
from robodyn.computation.assembly.accelerations import Dynamics, accelerate
from robodyn.computation.assembly.contact.compliant import trace_contacts
from robodyn.computation.assembly.contribution import (
    Contribution,
    Deferred,
    declare_state,
    define,
    merge,
    reference_to,
    watch,
)
from robodyn.computation.assembly.declarations import StateInfo
from robodyn.computation.assembly.interfaces import define_forces, trace_interfaces
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.loads import trace_loads
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import Binding, SignalInfo
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.computation.dynamics import kinetic_energy, potential_energy
from robodyn.description.model import LinearCombination, PrescribedMotion

MUCH_WORK = 1e3
"""Work [J], of a machine of 1 kg and 1 m, as a nominal magnitude: errors count far less than those of the motion."""


@dataclass(frozen=True)
class Applied:
    """Forces on a mechanism that do not depend on its accelerations.

    Attributes:
        motion: with its ports; forces: by joint or coordinate, in placeholders; loads: joint torques of constant loads;
        tau: joint torques of all together; bindings: of the placeholders.
    """

    motion: Motion
    forces: dict[str, ca.SX]
    loads: ca.SX
    tau: ca.SX
    bindings: Bindings


def trace_dynamics(motion: Motion, known: Contribution, solvable: bool) -> tuple[Dynamics, Contribution]:
    """Accelerations under all forces, and the signals of both and of the energies.

    Args:
        known: contributions so far; solvable: False where a joint without inertia has been reported: the rest is then
            still checked.
    """
    applied, pushing = _apply_forces(motion, known)
    motion, tau, reacting = applied.motion, applied.tau, Contribution()
    found = Dynamics(motion, ca.SX.zeros(motion.v.numel()), motion.q_dot, tau, tau, applied.bindings)
    if solvable:
        found, reacting = accelerate(motion, tau, known + pushing, applied.bindings)
    attached, passing = define_forces(found.motion, found.a, found.bindings)
    found = replace(found, tau=found.tau + attached, loads=applied.loads)
    parts = [pushing, reacting, passing, _define_accelerations(found), _define_torques(found, tau)]
    # Linear mechanics do not balance energies: the squares of what is small are left out of them.
    if motion.linear is None:
        parts.append(_balance(found, applied.forces, bool(known.sticking)))
    return found, merge(parts)


def _apply_forces(motion: Motion, known: Contribution) -> tuple[Applied, Contribution]:
    """Of blocks on joints and coordinates, loads, compliant contacts and interfaces."""
    bindings: dict[str, Binding] = {}
    forces: dict[str, ca.SX] = {}
    for target, signal in known.forces:
        force = placeholder(f"{target}.force from {signal}", signal, bindings)
        forces[target] = forces.get(target, 0) + force
    tau, loads, parts = motion.joint_forces(forces), ca.SX(0, 1), []
    if motion.linear is None:
        loads, driven = trace_loads(motion)
        pushed, contacts = trace_contacts(motion)
        tau = tau + loads + driven.expression + pushed
        bindings |= driven.bindings
        parts = [Contribution(read=(driven.bindings,)), contacts]
    motion, incoming, interfaces = trace_interfaces(motion, known.units)
    return Applied(motion, forces, loads, tau + incoming, bindings), merge((*parts, interfaces))


def _define_accelerations(found: Dynamics) -> Contribution:
    """One definition for all accelerations, since each depends on every force; they are the rates of the velocities."""
    freedoms = found.motion.freedoms
    named = {name: unit for freedom in freedoms for name, unit in freedom.accelerations.items()}
    outputs = {name: found.a[k] for k, name in enumerate(named)}
    positions = [name for freedom in freedoms for name in freedom.positions]
    velocities = [name for freedom in freedoms for name in freedom.velocities]
    rates = {name: Deferred(found.q_dot[k], {}) for k, name in enumerate(positions)}
    rates |= {name: reference_to(rate) for name, rate in zip(velocities, named, strict=True)}
    return replace(define([SignalInfo(*pair) for pair in named.items()], outputs, found.bindings), rates=rates)


def _define_torques(found: Dynamics, applied: ca.SX) -> Contribution:
    """Each joint's torque on its own; but together where constraints make each depend on every force.

    Args:
        applied: torques without those of reactions.
    """
    motion = found.motion
    carried = motion.linear.carried if motion.linear else ca.SX.zeros(motion.v.numel())
    applied, tau = applied + carried, found.tau + carried
    groups: dict[int, tuple[list[SignalInfo], dict[str, ca.SX]]] = {}
    forces = [pair for freedom in motion.freedoms for pair in freedom.forces.items()]
    for k, (name, unit) in enumerate(forces):
        # Multipliers couple all joints: a torque that holds some cannot be resolved before every force is.
        constrained = bool(motion.context.scenario.machine.all_constraints)
        bound = constrained and not ca.is_equal(applied[k], tau[k], 0)
        infos, outputs = groups.setdefault(-1 if bound else k, ([], {}))
        infos.append(SignalInfo(name, unit))
        outputs[name] = tau[k]
    return merge(define(infos, outputs, found.bindings) for infos, outputs in groups.values())


def _balance(found: Dynamics, forces: dict[str, ca.SX], sticking: bool) -> Contribution:
    """E_kinetic + E_potential - work of all joint torques is constant: what runs watch of themselves.

    Args:
        forces: by joint or coordinate; sticking: whether some friction sticks.
    """
    motion, tau, bindings = found.motion, found.tau, found.bindings
    machine = motion.context.scenario.machine
    outside = machine.loads or machine.all_constraints or machine.contacts or machine.interfaces or machine.rigid_parts
    work, books = ca.SX(0), Contribution()
    if forces or sticking or outside:
        books = _book_work(motion, Deferred(ca.dot(tau, motion.v), bindings))
        work = books.symbols["energy.work"]
    energies = _define_energies(motion, work)
    passing = sum((absolute(force * motion.coordinate_rates[on]) for on, force in forces.items()), ca.SX(0))
    outputs = energies.definitions["energy.balance"].outputs
    values = [outputs[f"energy.{name}"] for name in ("balance", "kinetic", "potential")]
    # Forces by the machine's length are compared with torques.
    values += [passing, ca.sum1(absolute(tau) * motion.speed_scales)]
    return merge((books, energies, watch(Invariant.BALANCE, "", "J", values, bindings)))


def _book_work(motion: Motion, power: Deferred) -> Contribution:
    """`energy.work` integrates the power of all blocks and loads."""
    # What depends on time alone is integrated exactly in steps of any length, between whose ends its work would be
    # read from too low a polynomial: book-keeping takes a small part in the error estimate. A prescribed motion is
    # exact altogether: there, its work alone says how well its force is followed.
    constraints = motion.context.scenario.machine.all_constraints
    nominal = 1.0 if any(isinstance(c, PrescribedMotion) for c in constraints) else MUCH_WORK
    nominal *= motion.context.size.of("J")
    work = declare_state(StateInfo("energy.work", "J", 0.0, nominal), reference_to("energy.power"))
    rated = Contribution(signals={"energy.work": SignalInfo("energy.work", "J", rate="energy.power")})
    powers = define([SignalInfo("energy.power", "W")], {"energy.power": power.expression}, power.bindings)
    return merge((work, rated, powers))


def _define_energies(motion: Motion, work: ca.SX) -> Contribution:
    """Energies as signals; with the work, so that E - W is constant."""
    tree, values = motion.mechanics.tree, motion.context.values
    rotors = [c for c in motion.context.scenario.machine.coordinates if isinstance(c, LinearCombination)]
    spinning = sum(
        (0.5 * values[f"{c.name}.inertia"] * motion.coordinate_rates[c.name] ** 2 for c in rotors),
        ca.SX(0),
    )
    kinetic = ca.SX(kinetic_energy(tree, motion.q, motion.v)) + spinning
    potential = ca.SX(potential_energy(tree, motion.q))
    outputs = {
        "energy.kinetic": kinetic,
        "energy.potential": potential,
        "energy.balance": kinetic + potential - work,
    }
    return define([SignalInfo(name, "J") for name in outputs], outputs)
