"""Rigid contact events: with which forces and impulses do contacts push, and when do they begin and end?

Impulses act where a gap closes. After them, and where a force has come down to zero, those contact points that neither
approach nor part are sorted into resting and parting by their accelerations without contact forces. A contact for which
no forces are found ends the run.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from robodyn.base.symbolic import absolute, logical_and, maximum, minimum, where
from robodyn.computation.assembly.contact import ContactForce, define_contact_signals
from robodyn.computation.assembly.contact_friction import DryPoint
from robodyn.computation.assembly.contact_geometry import ContactPoint
from robodyn.computation.assembly.contribution import Contribution, Deferred, merge, reference_to, watch
from robodyn.computation.assembly.declarations import SETTLE, Ending, Guard
from robodyn.computation.assembly.end_stops import EndStop, define_stop_forces
from robodyn.computation.assembly.impact_law import Impulse, find_impulse
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.reaction_modes import guard_modes
from robodyn.computation.assembly.rigid_contact import CLOSED, JAMS, LOCKED, SETTLING, SUNK, Contacts
from robodyn.computation.assembly.stick_friction import HELD_SPEED, LEAST_SPEED, LIMIT_MARGIN, TINY
from robodyn.computation.assembly.tracing import Bindings

IMPACT = "action:impact"
DEEP = 1e-4
"""Overlap [m of a machine of 1 m] of what has gone in, whichever way it moves."""
TURN_TIME = 1e-3
"""Of a speed [s] that is compared with a gap; only its sign counts."""
CONE_MARGIN = 1e-7
"""Part of the limit of friction in space by which a located slip is beyond it."""


def trace_contact_events(
    motion: Motion, contacts: Contacts, forces: ca.SX, deciding: ca.SX, known: Contribution, bindings: Bindings
) -> Contribution:
    """Forces of the rigid contacts as signals, their invariants, impacts and guards.

    Args:
        forces: of the rows; deciding: those by which contact points rest and stick.
    """
    impact = _trace_impact(motion, contacts, bindings)
    parts = [_define_forces(contacts, forces, bindings), impact]
    for i, point in enumerate(contacts.points):
        pulls = where(contacts.rests[i], -forces[i], 0.0)
        parts.append(watch(Invariant.APART, point.name, "m", [-point.gap, 0.0], {}))
        parts.append(watch(Invariant.PUSHES, point.name, "N", [pulls, absolute(forces[i])], bindings))
    parts.append(_guard_contacts(contacts, deciding, tuple(impact.problems), bindings))
    return merge((*parts, *(_trace_dry(point, deciding, bindings) for point in contacts.dry)))


def _define_forces(contacts: Contacts, forces: ca.SX, bindings: Bindings) -> Contribution:
    """Forces along the normals, with those of friction along the tangents."""
    pushed = {i: forces[i] * p.normal for i, p in enumerate(contacts.points) if isinstance(p, ContactPoint)}
    for rub in contacts.rough:
        pushed[rub.number] += forces[rub.number] * (ca.horzcat(*rub.point.tangents) @ rub.force)
    for point in contacts.dry:
        pushed[point.number] += ca.horzcat(*point.contact_point.tangents)[:, point.used] @ forces[point.rows]
    parts = []
    for contact in (one for one in contacts.contacts if not isinstance(one, EndStop)):
        own = [(i, p) for i, p in enumerate(contacts.points) if p.contact is contact and isinstance(p, ContactPoint)]
        push = [ContactForce(p, forces[i], pushed[i], contacts.rests[i], bindings) for i, p in own]
        parts.append(define_contact_signals(contact, push))
    stops = [(point, forces[i]) for i, point in enumerate(contacts.points) if isinstance(point, EndStop)]
    return merge((*parts, define_stop_forces(stops, bindings)))


def _trace_impact(motion: Motion, contacts: Contacts, bindings: Bindings) -> Contribution:
    """Impulses where gaps close: `v+ = v + M^-1 P`, with `v_n+ >= -r v_n-`; what they do is work.

    So is what the constraints' answer does: a prescribed motion goes on through an impact. Friction on joints is finite
    and does nothing in no time.
    """
    impact, problems = find_impulse(motion, contacts)
    answer = Impulse(contacts.answer(impact.impulse), impact.change)
    # v+ = v + M^-1 P, and the work P^T (v + v+) / 2 goes into the books: the balance of energy holds across the impact.
    v, so_far = motion.v + impact.change, reference_to("energy.work")
    update = {motion.v[k].name(): v[k] for k in range(v.numel())} | {SETTLING: ca.SX(1)}
    update |= contacts.note_jams(contacts.sinks(impact.change))
    update["energy.work"] = so_far.expression + impact.work(motion.v) + answer.work(motion.v)
    action = {name: Deferred(value, {**bindings, **so_far.bindings}) for name, value in update.items()}
    return replace(problems, actions={IMPACT: action})


def _guard_contacts(contacts: Contacts, lam: ca.SX, problems: tuple[str, ...], bindings: Bindings) -> Contribution:
    """A gap closes where it is shut and approaches, or is far beyond that; a force ends where it comes down to zero.

    Args:
        lam: forces along the normals; problems: names of those of an impact.
    """
    guards, rough = [], {rub.number for rub in contacts.rough}
    for i, point in enumerate(contacts.points):
        rests, owner = contacts.rests[i], point.contact.name
        # One margin for a gap that closes, a wider one for what rounding has let sink: it must be hit out again.
        for event, margin in {"hits": CLOSED, "sinks": SUNK}.items():
            # A step may end where a corner that went in is on its way out again: shut are those that approach or are
            # deep inside. What parts is far from zero, and easily bounded.
            size = contacts.sizes[i]
            gap, moved = point.gap + margin * size, TURN_TIME * (point.rate + margin * size)
            apart = maximum(gap, minimum(moved, point.gap + DEEP * size))
            guard = Guard(f"{point.name}.{event}", -1, action=IMPACT, contact=owner, problems=problems)
            guards.append((guard, Deferred(where(rests, 1.0, apart), {})))
        guards.append(guard_modes(f"{point.name}.parts", where(rests, lam[i], -1.0), bindings, owner))
        if i in rough:
            left = where(rests, contacts.effect[i] - LOCKED, 1.0)
            guards.append(guard_modes(f"{point.name}.locks", left, {}, owner))
    # Memory that becomes 1 falls through zero.
    guards.append(guard_modes(SETTLE, where(contacts.settling > 0.5, -1.0, 1.0), {}))
    for name, jams in contacts.jams.items():
        fallen = Deferred(where(jams > 0.5, -1.0, 1.0), {})
        guards.append((Guard(f"{name}.{JAMS}", -1, Ending.JAMMED, contact=name), fallen))
    return Contribution(guards=tuple(guards))


def _trace_dry(point: DryPoint, forces: ca.SX, bindings: Bindings) -> Contribution:
    """Guards of slipping and stopping, negative while they have no meaning.

    Args:
        forces: of the rows of contacts, that decide what holds.
    """
    limit, held = point.coefficient * forces[point.number], forces[point.rows]
    # (mu N)^2 - f^2 has a rate also where nothing is to be held. A load that is just the limit, as four corners may
    # have it that share one, sticks: rounding must not cross it, in space not that of the direction either.
    most = (1 + (CONE_MARGIN if point.in_space else LIMIT_MARGIN)) * limit
    reserve = (most**2 - ca.sumsqr(held)) / maximum(most, TINY)
    margin = minimum(reserve, limit * (1 - ca.sumsqr(point.slips) / (HELD_SPEED * point.length) ** 2))
    # What sticks, or slides beside others that stick, has power only by the solver's errors: a millionth of 1 m/s, in a
    # machine of 1 m.
    power = ca.dot(held, point.slips) - where(point.slides, limit * ca.dot(point.slip_direction, point.slips), 0.0)
    stops = ca.dot(point.memory, point.slips) + LEAST_SPEED * point.length
    if point.in_space:
        # In space a slip need not pass zero: it may stop where it is slow and turns.
        stops = maximum(point.speed - point.rest_speed, point.onward)
        power = where(logical_and(point.slides, point.speed < point.rest_speed), minimum(power, 0.0), power)
    name, owner = point.contact_point.name, point.contact_point.contact.name
    watched = watch(Invariant.PASSIVE, name, "W", [power, absolute(power) + limit * point.length], bindings)
    values = {"slips": (point.held, margin), "stops": (logical_and(point.resting, point.slides), stops)}
    meant = {event: where(meaning, value, -1.0) for event, (meaning, value) in values.items()}
    guards = tuple(guard_modes(f"{name}.{event}", value, bindings, owner) for event, value in meant.items())
    return replace(watched, guards=guards)
