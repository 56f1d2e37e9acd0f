"""Accelerations: how does a mechanism accelerate under given forces, with its constraints, friction and contacts?

    M(q) a + c(q, v) = tau + K^T f + H^T lam

f are the forces of friction that sticks and of rigid contacts, lam those of the constraints, which answer to all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from robodyn.computation.assembly.constraints.solution import (
    Constrained,
    Equation,
    constrain,
    project_on,
    trace_constraint_signals,
)
from robodyn.computation.assembly.contact.modes import MassSolver, Reactions, Solve, trace_modes
from robodyn.computation.assembly.contact.rigid import Contacts, build_contacts, trace_contact_events
from robodyn.computation.assembly.contact.stick_friction import Sticking, build_sticking, trace_stick_events
from robodyn.computation.assembly.contribution import Contribution, Deferred, merge
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import Binding
from robodyn.computation.assembly.system import build_mass_matrix
from robodyn.computation.assembly.tracing import Bindings
from robodyn.computation.dynamics import articulate, bias, ldl, mass_factors, position_rates
from robodyn.description.model.fields import EMPTY

EVENTS: Mapping[type, Callable[..., Contribution]] = {Sticking: trace_stick_events, Contacts: trace_contact_events}


@dataclass(frozen=True)
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
    a: ca.SX
    q_dot: Any
    applied: ca.SX
    tau: ca.SX
    bindings: Bindings
    constrained: Constrained | None = None
    projection: Mapping[str, Deferred] = EMPTY
    loads: ca.SX = field(default_factory=lambda: ca.SX(0, 1))

    @property
    def n_q(self) -> int:
        return int(self.motion.q.numel())

    @property
    def equations(self) -> tuple[Equation, ...]:
        """Of the constraints."""
        return self.constrained.equations if self.constrained else ()

    @property
    def null_forces(self) -> Mapping[str, np.ndarray]:
        """Of each constraint force, its part in forces that move nothing."""
        return self.constrained.redundancy.null_forces if self.constrained else EMPTY


def accelerate(motion: Motion, tau: ca.SX, known: Contribution, bindings: Bindings) -> tuple[Dynamics, Contribution]:
    """Solve for the accelerations and the forces that keep constraints, friction and contacts.

    Args:
        tau: joint torques of all that does not depend on these; known: contributions so far; bindings: of tau.
    """
    tree = motion.mechanics.tree
    c = motion.linear.bias if motion.linear else ca.SX(bias(tree, motion.q, motion.v))
    solve = _mass_solver(motion)
    motion, constrained, read = constrain(motion, solve, known)
    bindings = _join(bindings, constrained.bindings if constrained else {}, *(e.bindings for e in known.sticking))
    # Friction and contacts act on the constrained mechanism; what would happen without them decides what they hold.
    reactions, declared = _react(motion, tau - c, solve, constrained, known)
    parts = [read, declared]
    if reactions:
        parts.append(_trace_reactions(motion, reactions, known, bindings))
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
    if reactions and known.sticking:
        a = reactions.hold_joints(a)
        # Not even the last digits of a speed, as implicit methods leave them, may move what is held.
        q_dot = position_rates(tree, motion.q, reactions.hold_joints(motion.v))  # type: ignore[arg-type]
    return Dynamics(motion, a, q_dot, applied, tau, bindings, constrained, projection), merge(parts)


def _join(*groups: Bindings) -> dict[str, Binding]:
    return {name: binding for group in groups for name, binding in group.items()}


def _react(
    motion: Motion, b: ca.SX, solve: Solve, constrained: Constrained | None, known: Contribution
) -> tuple[Reactions | None, Contribution]:
    """Friction that sticks and rigid contacts.

    Args:
        b: tau - c; solve: M^-1.
    """
    if not known.sticking and not motion.context.scenario.machine.rigid_parts:
        return None, Contribution()
    a = constrained.accelerate(b)[0] if constrained else solve(b)
    sticking, warned = build_sticking(motion, known.sticking, known.units, a, solve, constrained)
    respond, answer = (constrained.respond, constrained.constraint_force) if constrained else (solve, _no_force)
    contacts, declared = build_contacts(motion, respond, answer)
    parts = [part for part in (sticking, contacts) if part]
    return Reactions(parts, a) if parts else None, warned + declared


def _no_force(b: ca.SX) -> ca.SX:
    return ca.SX(*b.shape)


def _trace_reactions(motion: Motion, reactions: Reactions, known: Contribution, bindings: Bindings) -> Contribution:
    """Signals, events and modes of friction that sticks and of rigid contacts."""
    columns = (reactions.parts, reactions.split(reactions.forces), reactions.split(reactions.deciding_forces))
    events = merge(EVENTS[type(part)](motion, part, *own, known, bindings) for part, *own in zip(*columns, strict=True))
    return events + trace_modes(motion, reactions, known + events, bindings)


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
    return lambda b: ca.SX(solve(b))  # type: ignore[arg-type]
