"""Rigid contact events: which contacts push, with which forces and impulses, and when do they begin and end?

Everything is a linear complementarity problem, for impulses with the speeds along the normals, for forces with the
accelerations.

Impulses act where a gap closes. After them, and where a force has come down to zero, those touches that neither
approach nor part are sorted into resting and parting by their accelerations without contact forces. A contact for which
none are found ends the run.
"""

from __future__ import annotations

import casadi as ca

from robodyn.assembly.blows import Blow, find_blow
from robodyn.assembly.builder import Builder, Pending, reference_to
from robodyn.assembly.contact import Pushed, add_contact_signals, own_name
from robodyn.assembly.declarations import Ending, Guard, MemoryInfo
from robodyn.assembly.events import START
from robodyn.assembly.motion import Motion
from robodyn.assembly.promises import Promise
from robodyn.assembly.rigid import RESTING, SUNK, Rigid
from robodyn.assembly.touching import Touch
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
        Pushed(touch, lam[i], lam[i] * rigid.directions[i], rigid.held[i], bindings)
        for i, touch in enumerate(rigid.touches)
    ]
    for contact in rigid.contacts:
        builder.add_memory(MemoryInfo(f"{contact.name}.{JAMS}", "", 0.0, hidden=True))
        add_contact_signals(builder, contact, [one for one in pushed if one.touch.contact is contact])
    for i, touch in enumerate(rigid.touches):
        builder.watch(Promise.APART, touch.name, "m", [-touch.gap, 0.0], {})
        pulls = where(rigid.held[i], -lam[i], 0.0)
        builder.watch(Promise.PUSHES, touch.name, "N", [pulls, absolute(lam[i])], bindings)
    _add_impact(builder, motion, rigid, bindings)
    _add_sorting(builder, rigid, a, bindings)
    _add_guards(builder, rigid, lam, bindings)
    return rigid.D.T @ lam


def _add_impact(builder: Builder, motion: Motion, rigid: Rigid, bindings: Bindings) -> None:
    """Impulses where gaps close: `v+ = v + M^-1 P`, with `v_n+ >= -r v_n-`; what they do is work.

    So is what the constraints' answer does: a prescribed motion goes on through an impact.
    """
    blow = find_blow(builder, motion, rigid)
    answer = Blow(rigid.react(blow.impulse), blow.change)
    # v+ = v + M^-1 P, and the work P^T (v + v+) / 2 goes into the books: the balance of energy holds across the blow.
    v, sinking = motion.v + blow.change, ca.vertsplit(rigid.sinks(blow.change))
    so_far = reference_to("energy.work")
    update = {motion.v[k].name(): Pending(v[k], bindings) for k in range(v.numel())}
    work = so_far.expression + blow.work(motion.v) + answer.work(motion.v)
    update["energy.work"] = Pending(work, bindings | so_far.bindings)
    builder.add_memory(MemoryInfo(SETTLING, "", 0.0, hidden=True))
    update |= _note_jams(rigid, sinking, {}) | _unbend(builder, rigid)
    builder.actions[IMPACT] = update | {SETTLING: Pending(ca.SX(1), {})}


def _note_jams(rigid: Rigid, wrong: list[ca.SX], bindings: Bindings) -> dict[str, Pending]:
    """Contacts for which there are no forces or impulses that keep them from sinking in."""
    updates = {}
    for contact in rigid.contacts:
        found = ca.SX(0)
        for touch, bad in zip(rigid.touches, wrong, strict=True):
            found = logical_or(found, bad) if touch.contact is contact else found
        updates[f"{contact.name}.{JAMS}"] = Pending(where(found, 1.0, 0.0), bindings)
    return updates


def _unbend(builder: Builder, rigid: Rigid) -> dict[str, Pending]:
    """States of friction begin anew where nothing rested before."""
    update = {}
    for touch, held in zip(rigid.touches, rigid.held, strict=True):
        for _, law, _ in touch.contact.laws.values():
            for state in info_of(function_of(law)).states:
                name = own_name(touch, state)
                update[name] = Pending(where(held, builder.symbol_of(name), 0.0), {})
    return update


def _add_sorting(builder: Builder, rigid: Rigid, a: ca.SX, bindings: Bindings) -> None:
    """Which touches rest: those at rest on their surface that would be accelerated into it.

    One whose friction would pull it in more than its force pushes is let go (Painleve's paradox): it sinks by a
    rounding error and hits. That impact may stop its slip; if it does not, it hits again and again, which is told.
    """
    # The same problem for accelerations: g'' >= 0, lam >= 0, g'' lam = 0 among the touches that are at rest.
    b = rigid.approach(a)
    allowed = []
    for i, touch in enumerate(rigid.touches):
        # What rests may creep up to its rest speed before it counts as parting.
        slow = where(rigid.held[i], builder.values[f"{touch.contact.name}.rest_speed"], RESTING)
        at_rest = logical_and(rigid.near[i], absolute(touch.rate) <= slow)
        allowed.append(logical_and(at_rest, rigid.effect(i) > FREE * LOCKED) if rigid.rubs else at_rest)
    _, pushing, wrong = rigid.mobility(rigid.D).complement(b, allowed)
    update = {
        memory.name(): Pending(where(logical_and(push, logical_not(bad)), 1.0, 0.0), bindings)
        for memory, push, bad in zip(rigid.resting, pushing, wrong, strict=True)
    }
    # At the start there are no events: what finds no force sinks, hits and is then told.
    builder.actions.setdefault(START, {}).update(update)
    builder.actions[SORTING] = update | _note_jams(rigid, wrong, bindings) | {SETTLING: Pending(ca.SX(0), {})}


def _add_guards(builder: Builder, rigid: Rigid, lam: ca.SX, bindings: Bindings) -> None:
    """A gap closes where it is shut and approaches, or is far beyond that; a force ends where it comes down to zero."""
    for i, touch in enumerate(rigid.touches):
        # One margin for a gap that closes, a wider one for what rounding has let sink: it must be hit out again.
        closing = {"hits": CLOSED, "sinks": SUNK}
        for event, margin in closing.items():
            # A step may end where a corner that went in is on its way out again.
            apart = maximum(touch.gap + margin, minimum(touch.rate + margin, touch.gap + DEEP))
            guard = _guard(touch, event, IMPACT)
            builder.add_guard(guard, Pending(where(rigid.held[i], 1.0, apart), {}))
        builder.add_guard(_guard(touch, "parts", SORTING), Pending(where(rigid.held[i], lam[i], -1.0), bindings))
        if touch.contact.friction is not None:
            left = where(rigid.held[i], rigid.effect(i) - LOCKED, 1.0)
            builder.add_guard(_guard(touch, "locks", SORTING), Pending(left, {}))
    settling = builder.memory_symbols[SETTLING]
    builder.add_guard(Guard(SETTLE, -1, action=SORTING), Pending(where(settling > 0.5, -1.0, 1.0), {}))
    for contact in rigid.contacts:
        name = f"{contact.name}.{JAMS}"
        jammed = Pending(where(builder.memory_symbols[name] > 0.5, -1.0, 1.0), {})
        builder.add_guard(Guard(name, -1, Ending.JAMMED, contact=contact.name), jammed)


def _guard(touch: Touch, event: str, action: str) -> Guard:
    return Guard(f"{touch.name}.{event}", -1, action=action, contact=touch.contact.name)
