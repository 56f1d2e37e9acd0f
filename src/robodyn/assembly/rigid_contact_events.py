"""Rigid contact events: which contacts push, with which forces and impulses, and when do they begin and end?

Everything is a linear complementarity problem, for impulses with the speeds along the normals, for forces with the
accelerations.

Impulses act where a gap closes. After them, and where a force has come down to zero, those contact points that neither
approach nor part are sorted into resting and parting by their accelerations without contact forces. A contact for which
none are found ends the run.
"""

from __future__ import annotations

import casadi as ca

from robodyn.assembly.builder import Builder, Deferred, reference_to
from robodyn.assembly.contact import ContactForce, add_contact_signals, own_name
from robodyn.assembly.contact_geometry import ContactPoint
from robodyn.assembly.declarations import Ending, Guard, MemoryInfo
from robodyn.assembly.events import START
from robodyn.assembly.impact_law import Impulse, find_impulse
from robodyn.assembly.motion import Motion
from robodyn.assembly.promises import Promise
from robodyn.assembly.rigid_contact import RESTING, SUNK, Rigid
from robodyn.assembly.tracing import Bindings
from robodyn.laws import info_of
from robodyn.model.contact import function_of
from robodyn.symbolic import absolute, logical_and, logical_not, logical_or, maximum, minimum, where

IMPACT, SORTING = "action:impact", "action:resting"
SETTLING, SETTLE = "contacts.settling", "contacts.settle"
JAMS = "jams"
CLOSED = 1e-12
"""Overlap [m] and speed of approach [m/s] at which a gap has closed; rounding is much less."""
DEEP = 1e-4
"""Overlap [m] of what has gone in, whichever way it moves."""
LOCKED = 0.01
"""Part of its effect without friction at which a force can no longer hold a gap: it would grow beyond all bounds."""
FREE = 1.1
"""How many times more it must be to hold again."""


def add_rigid(builder: Builder, motion: Motion, rigid: Rigid, a: ca.SX, bindings: Bindings) -> ca.SX:
    """Forces of the rigid contacts as signals, their events; returns their joint torques.

    Args:
        a: joint accelerations without contact forces.
    """
    lam = rigid.forces(a)
    pushed = [
        ContactForce(contact_point, lam[i], lam[i] * rigid.directions[i], rigid.held[i], bindings)
        for i, contact_point in enumerate(rigid.contact_points)
    ]
    for contact in rigid.contacts:
        builder.add_memory(MemoryInfo(f"{contact.name}.{JAMS}", "", 0.0, hidden=True))
        add_contact_signals(builder, contact, [one for one in pushed if one.contact_point.contact is contact])
    for i, contact_point in enumerate(rigid.contact_points):
        builder.watch(Promise.APART, contact_point.name, "m", [-contact_point.gap, 0.0], {})
        pulls = where(rigid.held[i], -lam[i], 0.0)
        builder.watch(Promise.PUSHES, contact_point.name, "N", [pulls, absolute(lam[i])], bindings)
    _add_impact(builder, motion, rigid, bindings)
    _add_sorting(builder, rigid, a, bindings)
    _add_guards(builder, rigid, lam, bindings)
    return rigid.D.T @ lam


def _add_impact(builder: Builder, motion: Motion, rigid: Rigid, bindings: Bindings) -> None:
    """Impulses where gaps close: `v+ = v + M^-1 P`, with `v_n+ >= -r v_n-`; what they do is work.

    So is what the constraints' answer does: a prescribed motion goes on through an impact.
    """
    impact = find_impulse(builder, motion, rigid)
    answer = Impulse(rigid.constraint_force(impact.impulse), impact.change)
    # v+ = v + M^-1 P, and the work P^T (v + v+) / 2 goes into the books: the balance of energy holds across the impact.
    v, sinking = motion.v + impact.change, ca.vertsplit(rigid.sinks(impact.change))
    so_far = reference_to("energy.work")
    update = {motion.v[k].name(): Deferred(v[k], bindings) for k in range(v.numel())}
    work = so_far.expression + impact.work(motion.v) + answer.work(motion.v)
    update["energy.work"] = Deferred(work, bindings | so_far.bindings)
    builder.add_memory(MemoryInfo(SETTLING, "", 0.0, hidden=True))
    update |= _note_jams(rigid, sinking, {}) | _unbend(builder, rigid)
    builder.actions[IMPACT] = update | {SETTLING: Deferred(ca.SX(1), {})}


def _note_jams(rigid: Rigid, wrong: list[ca.SX], bindings: Bindings) -> dict[str, Deferred]:
    """Contacts for which there are no forces or impulses that keep them from sinking in."""
    updates = {}
    for contact in rigid.contacts:
        found = ca.SX(0)
        for contact_point, bad in zip(rigid.contact_points, wrong, strict=True):
            found = logical_or(found, bad) if contact_point.contact is contact else found
        updates[f"{contact.name}.{JAMS}"] = Deferred(where(found, 1.0, 0.0), bindings)
    return updates


def _unbend(builder: Builder, rigid: Rigid) -> dict[str, Deferred]:
    """States of friction begin anew where nothing rested before."""
    update = {}
    for contact_point, held in zip(rigid.contact_points, rigid.held, strict=True):
        for _, law, _ in contact_point.contact.laws.values():
            for state in info_of(function_of(law)).states:
                name = own_name(contact_point, state)
                update[name] = Deferred(where(held, builder.symbol_of(name), 0.0), {})
    return update


def _add_sorting(builder: Builder, rigid: Rigid, a: ca.SX, bindings: Bindings) -> None:
    """Which contact points rest: those at rest on their surface that would be accelerated into it.

    One whose friction would pull it in more than its force pushes is let go (Painleve's paradox): it sinks by a
    rounding error and hits. That impact may stop its slip; if it does not, it hits again and again, which is reported.
    """
    # The same problem for accelerations: g'' >= 0, lam >= 0, g'' lam = 0 among the contact points that are at rest.
    b = rigid.approach(a)
    allowed = []
    for i, contact_point in enumerate(rigid.contact_points):
        # What rests may creep up to its rest speed before it counts as parting.
        slow = where(rigid.held[i], builder.values[f"{contact_point.contact.name}.rest_speed"], RESTING)
        at_rest = logical_and(rigid.near[i], absolute(contact_point.rate) <= slow)
        allowed.append(logical_and(at_rest, rigid.effect(i) > FREE * LOCKED) if rigid.has_friction else at_rest)
    _, pushing, wrong = rigid.mobility(rigid.D).complement(b, allowed)
    update = {
        memory.name(): Deferred(where(logical_and(push, logical_not(bad)), 1.0, 0.0), bindings)
        for memory, push, bad in zip(rigid.resting, pushing, wrong, strict=True)
    }
    # At the start there are no events: what finds no force sinks, hits and is then reported.
    builder.actions.setdefault(START, {}).update(update)
    builder.actions[SORTING] = update | _note_jams(rigid, wrong, bindings) | {SETTLING: Deferred(ca.SX(0), {})}


def _add_guards(builder: Builder, rigid: Rigid, lam: ca.SX, bindings: Bindings) -> None:
    """A gap closes where it is shut and approaches, or is far beyond that; a force ends where it comes down to zero."""
    for i, contact_point in enumerate(rigid.contact_points):
        # One margin for a gap that closes, a wider one for what rounding has let sink: it must be hit out again.
        closing = {"hits": CLOSED, "sinks": SUNK}
        for event, margin in closing.items():
            # A step may end where a corner that went in is on its way out again.
            apart = maximum(contact_point.gap + margin, minimum(contact_point.rate + margin, contact_point.gap + DEEP))
            guard = _guard(contact_point, event, IMPACT)
            builder.add_guard(guard, Deferred(where(rigid.held[i], 1.0, apart), {}))
        builder.add_guard(
            _guard(contact_point, "parts", SORTING), Deferred(where(rigid.held[i], lam[i], -1.0), bindings)
        )
        if contact_point.contact.friction is not None:
            left = where(rigid.held[i], rigid.effect(i) - LOCKED, 1.0)
            builder.add_guard(_guard(contact_point, "locks", SORTING), Deferred(left, {}))
    settling = builder.memory_symbols[SETTLING]
    builder.add_guard(Guard(SETTLE, -1, action=SORTING), Deferred(where(settling > 0.5, -1.0, 1.0), {}))
    for contact in rigid.contacts:
        name = f"{contact.name}.{JAMS}"
        jammed = Deferred(where(builder.memory_symbols[name] > 0.5, -1.0, 1.0), {})
        builder.add_guard(Guard(name, -1, Ending.JAMMED, contact=contact.name), jammed)


def _guard(contact_point: ContactPoint, event: str, action: str) -> Guard:
    return Guard(f"{contact_point.name}.{event}", -1, action=action, contact=contact_point.contact.name)
