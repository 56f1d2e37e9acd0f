"""Equations of motion: which forces act on a mechanism, how does it move, and what does that do to its energy?

M(q) a + c(q, v) = sum over coordinates (ds/dq)^T f + loads + contacts + interfaces + reactions
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, frozen
from robodyn.base.symbolic import absolute
from robodyn.computation.dynamics import (
    Tree,
    articulate,
    bias,
    geometric_jacobian,
    kinetic_energy,
    ldl,
    mass_factors,
    mass_matrix,
    mean_depth,
    position_rates,
    potential_energy,
)
from robodyn.computation.dynamics.forward import COMPOSITE_DEPTH
from robodyn.description.model import EMPTY, XYZ, LinearCombination, Load, PrescribedMotion
from robodyn.description.model.machine import BODY

from .constraints.solution import (
    Constrained,
    ConstraintEquation,
    constrain,
    project_on,
    trace_constraint_signals,
)
from .contact.compliant import trace_contacts
from .contact.modes import MassSolver, Reactions, Solve, trace_modes
from .contact.rigid import Contacts, build_contacts, trace_contact_events
from .contact.stepping import step_contacts
from .contact.stick_friction import Sticking, build_sticking, trace_stick_events
from .contribution import (
    Contribution,
    Deferred,
    declare_state,
    define,
    define_signal,
    merge,
    reference_to,
    watch,
)
from .declarations import WORK, Invariant, StateInfo
from .interfaces import define_forces, trace_interfaces
from .motion import Motion
from .network import Binding, SignalInfo
from .system import build_mass_matrix
from .tracing import Bindings, placeholder
from .tree import build_tree
from .values import collect_values

# --------------------------------------------------------------------------------------------------
# Loads: which torques on the joints are the forces on bodies, constant or driven by signals?
#
# J^T (torque, force), in world axes; what is given in a body's axes rotates with it


def trace_loads(motion: Motion) -> tuple[SX, Deferred]:
    """Joint torques of the constant loads, and of those that signals drive."""
    constant, driven = SX.zeros(motion.v.numel()), SX.zeros(motion.v.numel())
    bindings: Bindings = {}
    for load in motion.machine.loads:
        link, pose = motion.point_pose(load.point)
        if link < 0:
            what = f"'{load.point}' is on the ground"
            motion.flaws.add(f"loads.{load.name}.point", what, "a load there has no effect")
            continue
        force, torque = find_wrench(motion, load)
        J = SX(geometric_jacobian(motion.mechanics.tree, motion.q, link, pose.p))
        tau = J.T @ ca.vertcat(torque, force)
        if load.times is None:
            constant = constant + tau
        else:
            driven = driven + tau * placeholder(f"loads.{load.name}.times", load.times, bindings)
    return constant, Deferred(driven, bindings)


def find_wrench(motion: Motion, load: Load) -> tuple[SX, SX]:
    """Force and torque of a load in world axes, without the signal that it is multiplied by."""
    values = motion.values
    force, torque = (ca.vertcat(*values.vector(f"{load.name}.{part}", XYZ)) for part in ("force", "torque"))
    if load.frame != BODY:
        return force, torque
    R = motion.point_rotation(load.point)
    return R @ force, R @ torque


# --------------------------------------------------------------------------------------------------
# Inertia check: does each joint feel some inertia? Else its acceleration would not be determined.


NO_INERTIA = 1e-12
"""Part of the largest inertia that is none."""
MANY_JOINTS = 100
"""Degrees of freedom from which on one position has to do."""


def check_inertia(motion: Motion) -> bool:
    """The pivots of M, eliminated from the leaves to the root, are positive."""
    tree, flaws = _numeric_tree(motion), motion.flaws
    if not tree.n_v:
        flaws.add("joints", "none of them moves", "make one revolute or prismatic, or leave the mechanism out")
        return False
    # Some random positions, fewer of large robots: a joint may feel no inertia at one of them alone.
    pivots = np.full(tree.n_v, np.inf)
    generator = np.random.default_rng(1)
    for _ in range(3 if tree.n_v < MANY_JOINTS else 1):
        place = generator.uniform(-1, 1, tree.n_q) * motion.scales
        place[tree.n_joint_coordinates :] = 0.0
        pivots = np.minimum(pivots, _pivots_at(motion, tree, place))
    # Masses, and inertias by the square of the machine's size.
    masses = pivots * (motion.speed_scales / motion.context.size.length) ** 2
    # Modes come after the joints, and have mass in any case.
    moving = [link for link in tree.links for _ in link.subspace]
    parts = zip(moving, pivots, masses > NO_INERTIA * np.max(np.abs(masses)), strict=False)
    idle = [(link, pivot) for link, pivot, feels in parts if not feels]
    for link, pivot in idle:
        flaws.add(
            f"joints.{link.joint}",
            f"feels no inertia ({pivot:.3g}): everything beyond it is massless about its axis",
            f"give '{link.name}' or a body beyond it mass or inertia, or the joint an armature",
        )
    return not idle


def _numeric_tree(motion: Motion) -> Tree:
    """The tree with all numbers as they are described."""
    scenario = motion.context.scenario
    if not scenario.machine.tunable:
        return motion.mechanics.tree
    numeric = collect_values(replace(scenario, machine=replace(scenario.machine, tunable=())))
    return build_tree(motion.mechanism, numeric).tree


def _pivots_at(motion: Motion, tree: Tree, q: Array) -> Array:
    """Inertia that each joint feels with all joints beyond it free: from M, or from the sweep of a long chain."""
    if mean_depth(tree) > COMPOSITE_DEPTH and not motion.rotors and not tree.is_flexible:
        with suppress(np.linalg.LinAlgError):
            joints = articulate(tree, list(q)).joints
            return np.array([1.0 / inverse for joint in joints for inverse in joint.factors.inverse_diagonal])
    return _pivots(np.asarray(mass_matrix(tree, list(q))) + _rotor_inertia(motion))


def _rotor_inertia(motion: Motion) -> Array:
    total = np.zeros((motion.v.numel(),) * 2)
    for coordinate in motion.machine.coordinates:
        if isinstance(coordinate, LinearCombination) and coordinate.inertia:
            gradient = np.array(ca.DM(motion.gradient(coordinate.name)))
            total += coordinate.inertia * gradient.T @ gradient
    return total


def _pivots(M: Array) -> Array:
    """Diagonal of D in M = L^T D L."""
    M = M.copy()
    pivots = np.empty(M.shape[0])
    for k in reversed(range(M.shape[0])):
        pivots[k] = M[k, k]
        if pivots[k] > 0:
            M[:k, :k] -= np.outer(M[:k, k], M[k, :k]) / pivots[k]
    return pivots


# --------------------------------------------------------------------------------------------------
# Accelerations: how does a mechanism accelerate under given forces, with its constraints, friction and contacts?
#
#     M(q) a + c(q, v) = tau + K^T f + H^T lam
#
# f are the forces of friction that sticks and of rigid contacts, lam those of the constraints, which answer to all.


EVENTS: Mapping[type, Callable[..., Contribution]] = {Sticking: trace_stick_events, Contacts: trace_contact_events}


@frozen
class Dynamics:
    """How a mechanism moves.

    Attributes:
        motion: with a position that meets the constraints, where there are any.
        a, q_dot: accelerations and rates of positions; exactly zero of joints that friction holds.
        applied: joint torques without those of constraints; tau: with these; loads: those of constant loads alone.
        bindings: of all placeholders in these expressions.
        projection: [q, v] put back on the constraints after a step, where the constraint method does so.
    """

    motion: Motion
    a: SX
    q_dot: Any
    applied: SX
    tau: SX
    bindings: Bindings
    constrained: Constrained | None = None
    projection: Mapping[str, Deferred] = EMPTY
    loads: SX = SX(0, 1)

    @property
    def n_q(self) -> int:
        return int(self.motion.q.numel())

    @property
    def equations(self) -> tuple[ConstraintEquation, ...]:
        """The equations of the constraints."""
        return self.constrained.equations if self.constrained else ()

    @property
    def null_forces(self) -> Mapping[str, Array]:
        """The part of each constraint force in forces that move nothing."""
        return self.constrained.redundancy.null_forces if self.constrained else EMPTY


def accelerate(
    motion: Motion, tau: SX, contributions: Contribution, bindings: Bindings
) -> tuple[Dynamics, Contribution]:
    """Solve for the accelerations and the forces that keep constraints, friction and contacts.

    Args:
        tau: joint torques of all that does not depend on these; contributions: those so far; bindings: of tau.
    """
    tree = motion.mechanics.tree
    c = motion.linear.bias if motion.linear else SX(bias(tree, motion.q, motion.v))
    solve = _mass_solver(motion)
    motion, constrained, read = constrain(motion, solve, contributions)
    bindings = _join(
        bindings, constrained.bindings if constrained else {}, *(e.bindings for e in contributions.sticking)
    )
    # Friction and contacts act on the constrained mechanism; what would happen without them decides what they hold.
    if motion.context.scenario.solver.contact_step:
        reactions, (torques, declared) = None, _step(motion, tau, c, solve, constrained, contributions, bindings)
        tau = tau + torques
    else:
        reactions, declared = _react(motion, tau - c, solve, constrained, contributions)
    parts = [read, declared]
    if reactions:
        parts.append(_trace_reactions(motion, reactions, contributions, bindings))
        tau = tau + reactions.torques()
    # M a = tau - c + H^T lam, H a = -drift - returning: constraints answer to all other forces, reactions among them.
    applied, q_dot = tau, motion.q_dot
    projection: Mapping[str, Deferred] = EMPTY
    if constrained is None:
        a = solve(tau - c)
    else:
        a, lam = constrained.accelerate(tau - c)
        tau = tau + constrained.H.T @ lam
        parts.append(trace_constraint_signals(motion, constrained, lam, bindings))
        if motion.context.scenario.constraint_method.method == "projection":
            projection = project_on(motion, constrained, bindings)
    if reactions and contributions.sticking:
        a = reactions.hold_joints(a)
        # Not even the last digits of a speed, as implicit methods leave them, may move what is held.
        q_dot = position_rates(tree, motion.q, reactions.hold_joints(motion.v))  # type: ignore[arg-type]
    return Dynamics(motion, a, q_dot, applied, tau, bindings, constrained, projection), merge(parts)


def _step(
    motion: Motion,
    tau: SX,
    c: SX,
    solve: Solve,
    constrained: Constrained | None,
    contributions: Contribution,
    bindings: Bindings,
) -> tuple[SX, Contribution]:
    """Torques of rigid contacts whose impulses a method finds step by step.

    Args:
        c, solve: M a + c = tau, and M^-1.
    """
    scenario = motion.context.scenario
    for element in contributions.sticking:
        what = f"{scenario.solver.method} cannot be combined with friction on joints that sticks ({element.block.name})"
        motion.context.flaws.add("solver.method", what, "use dopri5, or friction that does not stick")
    a = constrained.accelerate(tau - c)[0] if constrained else solve(tau - c)
    return step_contacts(motion, constrained.respond if constrained else solve, a, tau, bindings)


def _join(*groups: Bindings) -> dict[str, Binding]:
    return {name: binding for group in groups for name, binding in group.items()}


def _react(
    motion: Motion, b: SX, solve: Solve, constrained: Constrained | None, contributions: Contribution
) -> tuple[Reactions | None, Contribution]:
    """Friction that sticks and rigid contacts.

    Args:
        b: tau - c; solve: M^-1.
    """
    if not contributions.sticking and not motion.machine.rigid_parts:
        return None, Contribution()
    a = constrained.accelerate(b)[0] if constrained else solve(b)
    sticking, warned = build_sticking(motion, contributions.sticking, contributions.units, a, solve, constrained)
    if constrained:
        contacts, declared = build_contacts(motion, constrained.respond, constrained.constraint_force)
    else:
        contacts, declared = build_contacts(motion, solve, lambda b: SX(*b.shape))
    parts = [part for part in (sticking, contacts) if part]
    return Reactions(parts, a) if parts else None, warned + declared


def _trace_reactions(
    motion: Motion, reactions: Reactions, contributions: Contribution, bindings: Bindings
) -> Contribution:
    """Signals, events and modes of friction that sticks and of rigid contacts."""
    columns = (reactions.parts, reactions.split(reactions.forces), reactions.split(reactions.deciding_forces))
    events = merge(
        EVENTS[type(part)](motion, part, *forces_of_part, contributions, bindings)
        for part, *forces_of_part in zip(*columns, strict=True)
    )
    return events + trace_modes(motion, reactions, contributions + events, bindings)


def _mass_solver(motion: Motion) -> Solve:
    """M^-1 as a function of a column."""
    tree, q = motion.mechanics.tree, motion.q
    # Composite or articulated bodies; with rotors or linear mechanics the matrix itself.
    if motion.linear:
        return MassSolver(ldl(motion.linear.mass_matrix))
    if motion.rotors:
        return MassSolver(ldl(build_mass_matrix(tree, q, motion.rotors)))
    factors = mass_factors(tree, q)
    if factors is not None:
        return MassSolver(factors)
    solve = articulate(tree, q).solve
    return lambda b: SX(solve(b))  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------
# Equations of motion: all forces together, and what they do to the energy.


MUCH_WORK = 1e3
"""Work [J], of a machine of 1 kg and 1 m, as a nominal magnitude: errors count far less than those of the motion."""


def trace_dynamics(motion: Motion, contributions: Contribution, solvable: bool) -> tuple[Dynamics, Contribution]:
    """Accelerations under all forces, and the signals of both and of the energies.

    Args:
        contributions: those so far; solvable: False where a joint without inertia has been reported: the rest is
            still checked then.
    """
    # Forces that do not depend on accelerations: of blocks on joints and coordinates, by placeholders of their signals,
    bindings: dict[str, Binding] = {}
    forces: dict[str, SX] = {}
    for target, signal in contributions.forces:
        force = placeholder(f"{target}.force from {signal}", signal, bindings)
        forces[target] = forces.get(target, 0) + force
    tau, loads, parts = motion.joint_forces(forces), SX(0, 1), list[Contribution]()
    # of loads and compliant contacts, which linear mechanics hold already, and of interfaces.
    if motion.linear is None:
        loads, driven = trace_loads(motion)
        pushed, contacts = trace_contacts(motion)
        tau = tau + loads + driven.expression + pushed
        bindings |= driven.bindings
        parts += [Contribution(read=(driven.bindings,)), contacts]
    motion, incoming, interfaces = trace_interfaces(motion, contributions.units)
    tau, parts = tau + incoming, [*parts, interfaces]

    # Accelerations, and the forces that answer to them.
    dynamics = Dynamics(motion, SX.zeros(motion.v.numel()), motion.q_dot, tau, tau, bindings)
    if solvable:
        dynamics, reacting = accelerate(motion, tau, merge((contributions, *parts)), bindings)
        parts.append(reacting)
    attached, passing = define_forces(dynamics.motion, dynamics.a, dynamics.bindings)
    dynamics = replace(dynamics, tau=dynamics.tau + attached, loads=loads)
    parts += [passing, _define_accelerations(dynamics), _define_torques(dynamics, tau)]
    # Linear mechanics do not balance energies: the squares of what is small are left out of them.
    if motion.linear is None:
        parts.append(_balance(dynamics, forces, bool(contributions.sticking)))
    return dynamics, merge(parts)


def _define_accelerations(dynamics: Dynamics) -> Contribution:
    """One definition for all accelerations, since each depends on every force; they are the rates of the velocities."""
    freedoms = dynamics.motion.freedoms
    named = {name: unit for freedom in freedoms for name, unit in freedom.accelerations.items()}
    outputs = {name: dynamics.a[k] for k, name in enumerate(named)}
    positions = [name for freedom in freedoms for name in freedom.positions]
    velocities = [name for freedom in freedoms for name in freedom.velocities]
    rates = {name: Deferred(dynamics.q_dot[k], {}) for k, name in enumerate(positions)}
    rates |= {name: reference_to(rate) for name, rate in zip(velocities, named, strict=True)}
    return replace(define([SignalInfo(*pair) for pair in named.items()], outputs, dynamics.bindings), rates=rates)


def _define_torques(dynamics: Dynamics, applied: SX) -> Contribution:
    """Each joint's torque on its own; but together where constraints make each depend on every force.

    Args:
        applied: torques without those of reactions.
    """
    motion = dynamics.motion
    carried = motion.linear.carried if motion.linear else SX.zeros(motion.v.numel())
    applied, tau = applied + carried, dynamics.tau + carried
    groups: dict[int, tuple[list[SignalInfo], dict[str, SX]]] = {}
    forces = [pair for freedom in motion.freedoms for pair in freedom.forces.items()]
    for k, (name, unit) in enumerate(forces):
        # Multipliers couple all joints: a torque that holds some cannot be resolved before every force is.
        constrained = bool(motion.machine.all_constraints)
        bound = constrained and not ca.is_equal(applied[k], tau[k], 0)
        infos, outputs = groups.setdefault(-1 if bound else k, ([], {}))
        infos.append(SignalInfo(name, unit))
        outputs[name] = tau[k]
    return merge(define(infos, outputs, dynamics.bindings) for infos, outputs in groups.values())


def _balance(dynamics: Dynamics, forces: dict[str, SX], sticking: bool) -> Contribution:
    """E_kinetic + E_potential - work of all joint torques is constant: what runs watch of themselves.

    Args:
        forces: by joint or coordinate; sticking: whether some friction sticks.
    """
    motion, tau, bindings = dynamics.motion, dynamics.tau, dynamics.bindings
    machine = motion.machine
    outside = machine.loads or machine.all_constraints or machine.contacts or machine.interfaces or machine.rigid_parts
    work, books = SX(0), Contribution()
    if forces or sticking or outside:
        books = _book_work(motion, Deferred(ca.dot(tau, motion.v), bindings))
        work = books.symbols[WORK]
    energies = _define_energies(motion, work)
    passing = sum((absolute(force * motion.coordinate_rates[on]) for on, force in forces.items()), SX(0))
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
    constraints = motion.machine.all_constraints
    nominal = 1.0 if any(isinstance(c, PrescribedMotion) for c in constraints) else MUCH_WORK
    nominal *= motion.context.size.of("J")
    work = declare_state(StateInfo(WORK, "J", 0.0, nominal), reference_to("energy.power"))
    rated = Contribution(signals={WORK: SignalInfo(WORK, "J", rate="energy.power")})
    powers = define_signal("energy.power", "W", power.expression, power.bindings)
    return merge((work, rated, powers))


def _define_energies(motion: Motion, work: SX) -> Contribution:
    """Energies as signals; with the work, so that E - W is constant."""
    tree, values = motion.mechanics.tree, motion.values
    rotors = [c for c in motion.machine.coordinates if isinstance(c, LinearCombination)]
    spinning = sum(
        (0.5 * values[f"{c.name}.inertia"] * motion.coordinate_rates[c.name] ** 2 for c in rotors),
        SX(0),
    )
    kinetic = SX(kinetic_energy(tree, motion.q, motion.v)) + spinning
    potential = SX(potential_energy(tree, motion.q))
    outputs = {
        "energy.kinetic": kinetic,
        "energy.potential": potential,
        "energy.balance": kinetic + potential - work,
    }
    return define([SignalInfo(name, "J") for name in outputs], outputs)
