"""Which rigid contacts push, with which forces and impulses, and when do they begin and end?

Symbols: k touches with gaps g_i and gradients H_i; S = H M^-1 H^T with the machine's constraints kept. Everything is a
linear complementarity problem, for impulses with the speeds along the normals, for forces with the accelerations:

    r = S lam + b,    r >= 0,  lam >= 0,  r_i lam_i = 0

Impulses act where a gap closes, b = v- + restitution v-. After them, and where a force has come down to zero, those that
neither approach nor part are sorted into resting and parting by b = their accelerations without contact forces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from robodyn.assembly.builder import Builder, Pending, reference_to
from robodyn.assembly.contact import Pushed, add_contact_signals, check_moves
from robodyn.assembly.events import START
from robodyn.assembly.motion import Motion
from robodyn.assembly.sticking import solve_holding
from robodyn.assembly.system import Guard, MemoryInfo
from robodyn.assembly.touching import Touch, find_touches
from robodyn.assembly.tracing import Bindings
from robodyn.model import RigidContact
from robodyn.symbolic import absolute, logical_and, logical_not, logical_or, maximum, where

IMPACT, SORTING = "action:impact", "action:resting"
SETTLING = "contacts.settling"
NEAR = 1e-7
"""Gap [m] up to which a touch takes part in an impact of another."""
CLOSED = 1e-12
"""Overlap [m] and speed of approach [m/s] at which a gap has closed; rounding is much less."""
SUNK = 1e-6
"""The same for a touch that let go of a surface it lay in by the solver's errors."""
RESTING = 1e-6
"""Speed [m/s] below which a touch neither approaches nor parts."""
NO_FORCE = 1e-9
"""Acceleration [m/s^2], or part of the largest one, that a force must make to count."""
RETURN_RATE = 20.0
"""Rate [1/s] at which a resting touch returns to its surface (Baumgarte)."""
COMPLIANCE = 1e-7
"""Part of the mean mobility by which touches give way, so that four corners share a load; corrected for afterwards."""

BLOCK_PIVOTS = 4
"""Passes in which all contradictions of a complementarity problem are changed at once."""


@dataclass(frozen=True)
class Rigid:
    """The rigid contacts of a machine and the expressions their behaviour is made of.

    Attributes:
        resting: for each touch, memory that is 1 while it rests.
        H: gradients (k, n_v); W: M^-1 H^T (n_v, k), constraints kept; S: (k, k), with its compliance.
        drift: accelerations of the gaps while the joints do not accelerate (k,).
    """

    touches: tuple[Touch, ...]
    resting: tuple[ca.SX, ...]
    H: ca.SX
    W: ca.SX
    S: ca.SX
    give: ca.SX
    drift: ca.SX

    @property
    def count(self) -> int:
        return len(self.touches)

    @property
    def held(self) -> list[ca.SX]:
        return [memory > 0.5 for memory in self.resting]

    @property
    def near(self) -> list[ca.SX]:
        return [touch.gap <= NEAR for touch in self.touches]

    def forces(self, a: ca.SX) -> list[ca.SX]:
        """Forces that keep what rests on its surface.

        Args:
            a: joint accelerations without contact forces.
        """
        b = self.H @ a + self.drift
        back = [
            b[i] + 2 * RETURN_RATE * touch.rate + RETURN_RATE**2 * touch.gap for i, touch in enumerate(self.touches)
        ]
        return self.solve(back, self.held)

    def solve(self, b: list[ca.SX], held: list[ca.SX]) -> list[ca.SX]:
        """lam with `S lam + b = 0` where held and 0 elsewhere, corrected twice for the compliance."""
        none = [ca.SX(0)] * self.count
        first = lam = solve_holding(self.S, b, none, held)
        for _ in range(2):
            more = solve_holding(self.S, [-self.give * entry for entry in lam], none, held)
            lam = [one + other for one, other in zip(first, more, strict=True)]
        return lam

    def complement(self, b: list[ca.SX], allowed: list[ca.SX]) -> tuple[list[ca.SX], list[ca.SX]]:
        """Solution lam of the complementarity problem among those allowed, and which of them push.

        Block pivots, all contradictions at once; then the first alone, which cannot go round in circles (Murty, 1974).
        """
        scale = ca.SX(1)
        for i in range(self.count):
            scale = maximum(scale, where(allowed[i], absolute(b[i]), 0.0))
        slack = NO_FORCE * scale
        pushing = [logical_and(allowed[i], b[i] < -slack) for i in range(self.count)]
        none = [ca.SX(0)] * self.count
        blocks = min(self.count, BLOCK_PIVOTS)
        for step in range(blocks + self.count + 1):
            lam = solve_holding(self.S, b, none, pushing)
            r = ca.vertcat(*b) + self.S @ ca.vertcat(*lam)
            wrong = [
                where(pushing[i], lam[i] * self.S[i, i] <= slack, logical_and(allowed[i], r[i] < -slack))
                for i in range(self.count)
            ]
            chosen = wrong if step < blocks else _first(wrong)
            pushing = [where(c, logical_not(p), p) for c, p in zip(chosen, pushing, strict=True)]
        return self.solve(b, pushing), pushing


def _first(conditions: list[ca.SX]) -> list[ca.SX]:
    """The first that is true, alone."""
    found: list[ca.SX] = []
    earlier = ca.SX(0)
    for condition in conditions:
        found.append(logical_and(condition, logical_not(earlier)))
        earlier = logical_or(earlier, condition)
    return found


def build_rigid(builder: Builder, motion: Motion, apply: Callable[[ca.SX], ca.SX]) -> Rigid | None:
    """The rigid contacts of a machine, if it has any.

    Args:
        apply: M^-1, constraints kept, as a function of a column.
    """
    contacts = [c for c in builder.scenario.machine.contacts if isinstance(c, RigidContact)]
    found = [find_touches(motion, contact) for contact in contacts]
    touches = [touch for group in found if check_moves(builder, motion, group) for touch in group]
    if not touches or not _check_rest(builder, motion, touches):
        return None
    rates = ca.vertcat(*(touch.rate for touch in touches))
    H = ca.jacobian(rates, motion.v)
    W = ca.horzcat(*(apply(H[k, :].T) for k in range(len(touches))))
    S = H @ W
    give = COMPLIANCE * ca.trace(S) / len(touches)
    resting = tuple(builder.add_memory(MemoryInfo(f"{t.name}.rests", "", 0.0, hidden=True)) for t in touches)
    drift = ca.jtimes(rates, motion.q, motion.q_dot)
    return Rigid(tuple(touches), resting, H, W, S + give * ca.SX.eye(len(touches)), give, drift)


def _check_rest(builder: Builder, motion: Motion, touches: list[Touch]) -> bool:
    """Tell what rigid contacts do not go together with."""
    scenario, path = builder.scenario, f"contacts.{touches[0].contact.name}"
    before = len(builder.flaws.found)
    if builder.sticking:
        what = "a rigid contact cannot be in one machine with friction that sticks on joints"
        builder.flaws.add(path, what, "take a compliant Contact, or friction with bristles")
    if scenario.treatment.method in ("index3", "minimal"):
        what = f"a rigid contact does not go together with the treatment '{scenario.treatment.method}'"
        builder.flaws.add(path, what, "say baumgarte or projection")
    if scenario.start == "equilibrium":
        builder.flaws.add(path, "a rest on a rigid contact is not searched for", "start as given")
    elif scenario.start == "given":
        _check_start(builder, motion, touches)
    return len(builder.flaws.found) == before


def _check_start(builder: Builder, motion: Motion, touches: list[Touch]) -> None:
    for touch in touches:
        gap, rate = motion.values_at_start(ca.vertcat(touch.gap, touch.rate))
        if gap < -SUNK:
            what = f"starts inside the surface, by {-gap:.3g} m"
            builder.flaws.add(f"contacts.{touch.name}", what, "change initial")
        elif gap <= NEAR and rate < -RESTING:
            what = f"starts in touch and moves into the surface, with {-rate:.3g} m/s"
            builder.flaws.add(f"contacts.{touch.name}", what, "start a little above it")


def add_rigid(builder: Builder, motion: Motion, rigid: Rigid, a: ca.SX, bindings: Bindings) -> ca.SX:
    """Forces of the rigid contacts as signals, their events; returns their joint torques.

    Args:
        a: joint accelerations without contact forces.
    """
    lam = rigid.forces(a)
    pushed = [
        Pushed(touch, lam[i], lam[i] * touch.normal, rigid.held[i], bindings) for i, touch in enumerate(rigid.touches)
    ]
    for contact in dict.fromkeys(touch.contact for touch in rigid.touches):
        add_contact_signals(builder, contact, [one for one in pushed if one.touch.contact is contact])
    _add_impact(builder, motion, rigid, bindings)
    _add_sorting(builder, rigid, a, bindings)
    _add_guards(builder, rigid, lam, bindings)
    return rigid.H.T @ ca.vertcat(*lam)


def _add_impact(builder: Builder, motion: Motion, rigid: Rigid, bindings: Bindings) -> None:
    """Impulses where gaps close: `v+ = v + W lam`, with `v_n+ >= -r v_n-`; what they do is work."""
    rates = [touch.rate for touch in rigid.touches]
    values = builder.values
    b = []
    for touch, rate in zip(rigid.touches, rates, strict=True):
        name = touch.contact.name
        bounces = rate < -values[f"{name}.rest_speed"]
        b.append(rate + where(bounces, values[f"{name}.restitution"] * rate, 0.0))
    impulses, _ = rigid.complement(b, rigid.near)
    lam = ca.vertcat(*impulses)
    v = motion.v + rigid.W @ lam
    work = ca.dot(lam, 0.5 * rigid.H @ (motion.v + v))
    so_far = reference_to("energy.work")
    update = {motion.v[k].name(): Pending(v[k], bindings) for k in range(v.numel())}
    update["energy.work"] = Pending(so_far.expression + work, bindings | so_far.bindings)
    builder.add_memory(MemoryInfo(SETTLING, "", 0.0, hidden=True))
    builder.updates[IMPACT] = update | {SETTLING: Pending(ca.SX(1), {})}


def _add_sorting(builder: Builder, rigid: Rigid, a: ca.SX, bindings: Bindings) -> None:
    """Which touches rest: those at rest on their surface that would be accelerated into it."""
    b = rigid.H @ a + rigid.drift
    allowed = []
    for i, touch in enumerate(rigid.touches):
        slow = where(rigid.held[i], builder.values[f"{touch.contact.name}.rest_speed"], RESTING)
        allowed.append(logical_and(rigid.near[i], absolute(touch.rate) <= slow))
    _, pushing = rigid.complement(ca.vertsplit(b), allowed)
    update = {
        memory.name(): Pending(where(push, 1.0, 0.0), bindings)
        for memory, push in zip(rigid.resting, pushing, strict=True)
    }
    builder.updates[SORTING] = update | {SETTLING: Pending(ca.SX(0), {})}
    builder.updates.setdefault(START, {}).update(update)


def _add_guards(builder: Builder, rigid: Rigid, lam: list[ca.SX], bindings: Bindings) -> None:
    """A gap closes where it is shut and approaches; a force ends where it comes down to zero."""
    for i, touch in enumerate(rigid.touches):
        closing = {"hits": CLOSED, "sinks": SUNK}
        for event, margin in closing.items():
            apart = maximum(touch.gap + margin, touch.rate + margin)
            _add_guard(builder, f"{touch.name}.{event}", where(rigid.held[i], 1.0, apart), IMPACT, {})
        _add_guard(builder, f"{touch.name}.parts", where(rigid.held[i], lam[i], -1.0), SORTING, bindings)
    settling = builder.memory_symbols[SETTLING]
    _add_guard(builder, "contacts.settle", where(settling > 0.5, -1.0, 1.0), SORTING, {})


def _add_guard(builder: Builder, name: str, value: ca.SX, action: str, bindings: Bindings) -> None:
    builder.columns["guards"].append(Pending(value, bindings))
    builder.guards.append(Guard(name, -1, terminal=False, action=action))
