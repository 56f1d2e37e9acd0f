"""Rigid contact events: with which forces and impulses do contacts push, and when do they begin and end?

Impulses act where a gap closes. After them, and where a force has come down to zero, those contact points that neither
approach nor part are sorted into resting and parting by their accelerations without contact forces. A contact for which
no forces are found ends the run.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from robodyn.assembly.contact import ContactForce, define_contact_signals
from robodyn.assembly.contact_friction import DryFriction
from robodyn.assembly.contact_geometry import ContactPoint
from robodyn.assembly.contribution import Contribution, Deferred, declare_memory, merge, reference_to, watch
from robodyn.assembly.declarations import Ending, Guard, MemoryInfo
from robodyn.assembly.end_stops import EndStop, RigidPoint, StopPoint, define_stop_forces
from robodyn.assembly.impact_law import Impulse, find_impulse
from robodyn.assembly.invariants import Invariant
from robodyn.assembly.motion import Motion
from robodyn.assembly.reaction_modes import ACTION, PROBLEM
from robodyn.assembly.rigid_contact import CLOSED, JAMS, LOCKED, SETTLING, SUNK, Rigid
from robodyn.assembly.stick_friction import HELD_SPEED, LEAST_SPEED, LIMIT_MARGIN, TINY
from robodyn.assembly.tracing import Bindings
from robodyn.symbolic import absolute, logical_and, maximum, minimum, where

IMPACT = "action:impact"
SETTLE = "contacts.settle"
DEEP = 1e-4
"""Overlap [m] of what has gone in, whichever way it moves."""
CONE_MARGIN = 1e-7
"""Part of the limit of friction in space by which a located slip is beyond it."""


def trace_rigid_events(
    motion: Motion, rigid: Rigid, forces: list[ca.SX], deciding: list[ca.SX], bindings: Bindings
) -> Contribution:
    """Forces of the rigid contacts as signals, their invariants, impacts and guards.

    Args:
        forces: along the normals, and of dry friction; deciding: those by which contact points rest and stick.
    """
    lam, across = forces
    pushed = [
        ContactForce(contact_point, lam[i], lam[i] * rigid.directions[i], rigid.held[i], bindings)
        for i, contact_point in enumerate(rigid.contact_points)
        if isinstance(contact_point, ContactPoint)
    ]
    # Contacts come before end stops.
    for point in rigid.dry.points if rigid.dry else ():
        held = sum((across[point.first + k] * t for k, t in enumerate(point.tangents)), pushed[point.number].force)
        pushed[point.number] = replace(pushed[point.number], force=held)
    parts = []
    for contact in rigid.contacts:
        parts.append(declare_memory(MemoryInfo(f"{contact.name}.{JAMS}", "", 0.0, hidden=True)))
        own = [one for one in pushed if one.contact_point.contact is contact]
        parts += [] if isinstance(contact, EndStop) else [define_contact_signals(contact, own)]
    stops = enumerate(rigid.contact_points)
    parts.append(define_stop_forces([(point, lam[i]) for i, point in stops if isinstance(point, StopPoint)], bindings))
    parts.append(declare_memory(MemoryInfo(SETTLING, "", 1.0, hidden=True)))
    memory = merge(parts)
    for i, contact_point in enumerate(rigid.contact_points):
        parts.append(watch(Invariant.APART, contact_point.name, "m", [-contact_point.gap, 0.0], {}))
        pulls = where(rigid.held[i], -lam[i], 0.0)
        parts.append(watch(Invariant.PUSHES, contact_point.name, "N", [pulls, absolute(lam[i])], bindings))
    impact = _trace_impact(motion, rigid, bindings)
    parts += [impact, _guard_contacts(rigid, deciding[0], memory, tuple(impact.problems), bindings)]
    parts += [_guard_dry(rigid.dry, deciding, bindings)] if rigid.dry else []
    return merge(parts)


def _trace_impact(motion: Motion, rigid: Rigid, bindings: Bindings) -> Contribution:
    """Impulses where gaps close: `v+ = v + M^-1 P`, with `v_n+ >= -r v_n-`; what they do is work.

    So is what the constraints' answer does: a prescribed motion goes on through an impact. Friction on joints is finite
    and does nothing in no time.
    """
    impact, problems = find_impulse(motion, rigid)
    answer = Impulse(rigid.constraint_force(impact.impulse), impact.change)
    # v+ = v + M^-1 P, and the work P^T (v + v+) / 2 goes into the books: the balance of energy holds across the impact.
    v, sinking = motion.v + impact.change, ca.vertsplit(rigid.sinks(impact.change))
    so_far = reference_to("energy.work")
    update = {motion.v[k].name(): Deferred(v[k], bindings) for k in range(v.numel())}
    work = so_far.expression + impact.work(motion.v) + answer.work(motion.v)
    update["energy.work"] = Deferred(work, bindings | so_far.bindings)
    update |= rigid.note_jams(sinking)
    return replace(problems, actions={IMPACT: update | {SETTLING: Deferred(ca.SX(1), {})}})


def _guard_contacts(
    rigid: Rigid, lam: ca.SX, memory: Contribution, problems: tuple[str, ...], bindings: Bindings
) -> Contribution:
    """A gap closes where it is shut and approaches, or is far beyond that; a force ends where it comes down to zero.

    Args:
        memory: of what jams and what has to settle; problems: names of those of an impact.
    """
    guards = []
    for i, contact_point in enumerate(rigid.contact_points):
        # One margin for a gap that closes, a wider one for what rounding has let sink: it must be hit out again.
        closing = {"hits": CLOSED, "sinks": SUNK}
        for event, margin in closing.items():
            # A step may end where a corner that went in is on its way out again.
            apart = maximum(contact_point.gap + margin, minimum(contact_point.rate + margin, contact_point.gap + DEEP))
            guard = _guard(contact_point, event, IMPACT, problems)
            guards.append((guard, Deferred(where(rigid.held[i], 1.0, apart), {})))
        guard = _guard(contact_point, "parts", ACTION, (PROBLEM,))
        guards.append((guard, Deferred(where(rigid.held[i], lam[i], -1.0), bindings)))
        if contact_point.contact.friction is not None:
            left = where(rigid.held[i], rigid.effect(i) - LOCKED, 1.0)
            guards.append((_guard(contact_point, "locks", ACTION, (PROBLEM,)), Deferred(left, {})))
    guards.append((Guard(SETTLE, -1, action=ACTION, problems=(PROBLEM,)), _falls_with(memory.symbols[SETTLING])))
    for contact in rigid.contacts:
        name = f"{contact.name}.{JAMS}"
        guards.append((Guard(name, -1, Ending.JAMMED, contact=contact.name), _falls_with(memory.symbols[name])))
    return Contribution(guards=tuple(guards))


def _falls_with(flag: ca.SX) -> Deferred:
    """A value that falls through zero where memory becomes 1."""
    return Deferred(where(flag > 0.5, -1.0, 1.0), {})


def _guard_dry(friction: DryFriction, forces: list[ca.SX], bindings: Bindings) -> Contribution:
    """Guards of slipping and stopping, negative while they have no meaning.

    Args:
        forces: along the normals and across them, that decide what holds.
    """
    parts = []
    for point in friction.points:
        limit, held = point.coefficient * forces[0][point.number], forces[1][point.rows]
        # (mu N)^2 - f^2 has a rate also where nothing is to be held. A load that is just the limit, as four corners may
        # have it that share one, sticks: rounding must not cross it, in space not that of the direction either.
        most = (1 + (LIMIT_MARGIN if len(point.tangents) == 1 else CONE_MARGIN)) * limit
        reserve = (most**2 - ca.sumsqr(held)) / maximum(most, TINY)
        margin = minimum(reserve, limit * (1 - ca.sumsqr(point.slips) / HELD_SPEED**2))
        # What sticks, or slides beside others that stick, has power only by the solver's errors: a millionth of 1 m/s.
        power = ca.dot(held, point.slips) - where(point.slides, limit * ca.dot(point.slip_direction, point.slips), 0.0)
        stops = ca.dot(point.memory, point.slips) + LEAST_SPEED
        if len(point.tangents) > 1:
            # In space a slip need not pass zero: it may stop where it is slow and turns.
            stops = maximum(point.speed - point.rest_speed, point.onward)
            power = where(logical_and(point.slides, point.speed < point.rest_speed), minimum(power, 0.0), power)
        name = point.contact_point.name
        parts.append(watch(Invariant.PASSIVE, name, "W", [power, absolute(power) + limit], bindings))
        values = {"slips": (point.held, margin), "stops": (logical_and(point.resting, point.slides), stops)}
        guards = [
            (_guard(point.contact_point, event, ACTION, (PROBLEM,)), Deferred(where(meant, value, -1.0), bindings))
            for event, (meant, value) in values.items()
        ]
        parts.append(Contribution(guards=tuple(guards)))
    return merge(parts)


def _guard(contact_point: RigidPoint, event: str, action: str, problems: tuple[str, ...]) -> Guard:
    name = f"{contact_point.name}.{event}"
    return Guard(name, -1, action=action, contact=contact_point.contact.name, problems=problems)
