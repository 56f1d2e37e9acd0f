"""Which rigid contacts push, with which forces and impulses, and when do they begin and end?

Symbols: k touches with gaps g_i and gradients H_i; D_i the direction of a touch's force in the joints' space, H_i with
friction added; A = H M^-1 D^T with the machine's constraints kept. Everything is a linear complementarity problem, for
impulses with the speeds along the normals, for forces with the accelerations.

Impulses act where a gap closes. After them, and where a force has come down to zero, those touches that neither
approach nor part are sorted into resting and parting by their accelerations without contact forces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca

from robodyn.assembly.builder import Builder, Pending, reference_to
from robodyn.assembly.complementarity import Mobility
from robodyn.assembly.contact import Pushed, add_contact_signals, check_moves, own_name, trace_contact
from robodyn.assembly.events import START
from robodyn.assembly.motion import Motion
from robodyn.assembly.rubbing import Rubbing
from robodyn.assembly.system import Guard, MemoryInfo
from robodyn.assembly.touching import Touch, find_touches
from robodyn.assembly.tracing import Bindings
from robodyn.laws import info_of
from robodyn.model import RigidContact
from robodyn.model.contact import AnyContact, function_of
from robodyn.symbolic import absolute, logical_and, logical_or, maximum, minimum, sqrt, where

Apply = Callable[[ca.SX], ca.SX]
IMPACT, SORTING = "action:impact", "action:resting"
SETTLING = "contacts.settling"
JAMS = "jams"
NEAR = 1e-7
"""Gap [m] up to which a touch takes part in an impact of another."""
CLOSED = 1e-12
"""Overlap [m] and speed of approach [m/s] at which a gap has closed; rounding is much less."""
SUNK = 1e-6
"""The same for a touch that let go of a surface it lay in by the solver's errors."""
RESTING = 1e-6
"""Speed [m/s] below which a touch neither approaches nor parts."""
RETURN_RATE = 20.0
"""Rate [1/s] at which a resting touch returns to its surface (Baumgarte)."""
COMPLIANCE = 1e-7
"""Part of the mean mobility by which touches give way, so that four corners share a load; corrected for afterwards."""
SINKING = 1e-5
"""Speed [m/s], and part of the largest one, at which a touch must not go on after an impact."""
TINY_SLIP = 1e-9
"""Slip [m/s] that has no direction."""
NO_MOBILITY = 1e-9
"""Part of the normal mobility that stands in for that along a slip without direction."""


@dataclass(frozen=True)
class Rigid:
    """The rigid contacts of a machine and the expressions their behaviour is made of.

    Attributes:
        resting: for each touch, memory that is 1 while it rests.
        H, D: gradients and directions of forces (k, n_v); directions: of forces in world axes, per normal force, (3,).
        apply: M^-1, constraints kept, as a function of a column.
        drift: accelerations of the gaps while the joints do not accelerate (k,).
    """

    touches: tuple[Touch, ...]
    resting: tuple[ca.SX, ...]
    H: ca.SX
    D: ca.SX
    directions: tuple[ca.SX, ...]
    apply: Apply
    drift: ca.SX

    @property
    def held(self) -> list[ca.SX]:
        return [memory > 0.5 for memory in self.resting]

    @property
    def near(self) -> list[ca.SX]:
        return [touch.gap <= NEAR for touch in self.touches]

    @property
    def contacts(self) -> list[AnyContact]:
        return list(dict.fromkeys(touch.contact for touch in self.touches))

    @property
    def rubs(self) -> bool:
        return any(touch.contact.friction is not None for touch in self.touches)

    def mobility(self, directions: ca.SX) -> Mobility:
        """What forces in these directions (k, n_v) do to the gaps."""
        columns, k = self.responses(directions), len(self.touches)
        give = COMPLIANCE * ca.sum1(ca.sum2(self.H * columns.T)) / k
        return Mobility(self.H, columns, ca.repmat(give, k, 1), directions is self.H)

    def responses(self, directions: ca.SX) -> ca.SX:
        """M^-1 of forces in these directions, (n_v, k)."""
        return ca.horzcat(*(self.apply(directions[k, :].T) for k in range(directions.shape[0])))

    def forces(self, a: ca.SX) -> ca.SX:
        """Normal forces that keep what rests on its surface.

        Args:
            a: joint accelerations without contact forces.
        """
        b = self.H @ a + self.drift
        back = [
            b[i] + 2 * RETURN_RATE * touch.rate + RETURN_RATE**2 * touch.gap for i, touch in enumerate(self.touches)
        ]
        return self.mobility(self.D).hold(ca.vertcat(*back), self.held)


def build_rigid(builder: Builder, motion: Motion, apply: Apply) -> Rigid | None:
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
    resting = tuple(builder.add_memory(MemoryInfo(own_name(t, "rests"), "", 0.0, hidden=True)) for t in touches)
    directions = tuple(_push(builder, touch, memory) for touch, memory in zip(touches, resting, strict=True))
    D = H
    if any(touch.contact.friction is not None for touch in touches):
        rows = [ca.jtimes(t.velocity, motion.v, n, True).T for t, n in zip(touches, directions, strict=True)]
        D = ca.vertcat(*rows)
    drift = ca.jtimes(rates, motion.q, motion.q_dot)
    return Rigid(tuple(touches), resting, H, D, directions, apply, drift)


def _push(builder: Builder, touch: Touch, resting: ca.SX) -> ca.SX:
    """Force on the touching body for a normal force of 1 N: along the normal, and what its friction adds."""
    if touch.contact.friction is None:
        return touch.normal
    first, second = touch.slips
    given = {"slip1": first, "slip2": second, "normal": ca.SX(1)}
    rubbed = trace_contact(builder, touch, given, "friction", ("force1", "force2"), resting > 0.5)
    if rubbed is None:
        return touch.normal
    return touch.normal + rubbed["force1"] * touch.tangents[0] + rubbed["force2"] * touch.tangents[1]


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
        Pushed(touch, lam[i], lam[i] * rigid.directions[i], rigid.held[i], bindings)
        for i, touch in enumerate(rigid.touches)
    ]
    for contact in rigid.contacts:
        builder.add_memory(MemoryInfo(f"{contact.name}.{JAMS}", "", 0.0, hidden=True))
        add_contact_signals(builder, contact, [one for one in pushed if one.touch.contact is contact])
    _add_impact(builder, motion, rigid, bindings)
    _add_sorting(builder, rigid, a, bindings)
    _add_guards(builder, rigid, lam, bindings)
    return rigid.D.T @ lam


def _add_impact(builder: Builder, motion: Motion, rigid: Rigid, bindings: Bindings) -> None:
    """Impulses where gaps close: `v+ = v + M^-1 P`, with `v_n+ >= -r v_n-`; what they do is work."""
    solve = _rub(builder, motion, rigid) if rigid.rubs else _push_apart(rigid)
    rates = ca.vertcat(*(touch.rate for touch in rigid.touches))
    blow = solve(rates + _rebound(builder, rigid))
    if rigid.rubs or len(rigid.touches) > 1:
        blow = _lose_energy(motion.v, solve(rates), blow)
    v = motion.v + blow.change
    so_far = reference_to("energy.work")
    update = {motion.v[k].name(): Pending(v[k], bindings) for k in range(v.numel())}
    update["energy.work"] = Pending(so_far.expression + blow.work(motion.v), bindings | so_far.bindings)
    builder.add_memory(MemoryInfo(SETTLING, "", 0.0, hidden=True))
    sinking = ca.vertsplit(rates + rigid.H @ blow.change < -SINKING * (1 + ca.mmax(ca.fabs(rates))))
    stuck = _note_jams(builder, rigid, [logical_and(*pair) for pair in zip(rigid.near, sinking, strict=True)])
    builder.updates[IMPACT] = update | _unbend(builder, rigid) | stuck | {SETTLING: Pending(ca.SX(1), {})}


def _rebound(builder: Builder, rigid: Rigid) -> ca.SX:
    """r v_n- of the touches that approach fast enough to rebound."""
    rebounds = []
    for touch in rigid.touches:
        name, rate = touch.contact.name, touch.rate
        bounces = rate < -builder.values[f"{name}.rest_speed"]
        rebounds.append(where(bounces, builder.values[f"{name}.restitution"] * rate, 0.0))
    return ca.vertcat(*rebounds)


@dataclass(frozen=True)
class Blow:
    """Impulse on the joints and what it changes of their velocities, both (n_v,)."""

    impulse: ca.SX
    change: ca.SX

    def work(self, v: ca.SX) -> ca.SX:
        """On joints that had the velocities v: `P^T (v + y / 2)`."""
        return ca.dot(self.impulse, v + 0.5 * self.change)


def _push_apart(rigid: Rigid) -> Callable[[ca.SX], Blow]:
    """The blow without friction, as a function of the speeds along the normals above those of the rebound."""
    mobility = rigid.mobility(rigid.H)

    def solve(b: ca.SX) -> Blow:
        lam = mobility.complement(b, rigid.near)[0]
        return Blow(rigid.H.T @ lam, mobility.columns @ lam)

    return solve


def _rub(builder: Builder, motion: Motion, rigid: Rigid) -> Callable[[ca.SX], Blow]:
    """The blow with friction, against the slip that there would be without it."""
    mobility = rigid.mobility(rigid.H)
    smooth = mobility.columns @ mobility.complement(ca.vertcat(*(t.rate for t in rigid.touches)), rigid.near)[0]
    rows, coefficients = [], []
    for touch in rigid.touches:
        slips = ca.vertcat(*touch.slips)
        after = slips + ca.jtimes(slips, motion.v, smooth)
        speed = sqrt(ca.sumsqr(after) + TINY_SLIP**2)
        rows.append(ca.jtimes(slips, motion.v, after / speed, True).T)
        rubs = touch.contact.friction is not None
        coefficients.append(builder.values[f"{touch.contact.name}.friction.coefficient"] if rubs else ca.SX(0))
    G = ca.vertcat(*rows)
    columns, k = rigid.responses(G), len(rows)
    mean = ca.sum1(ca.sum2(G * columns.T)) / k
    slip = Mobility(G, columns, ca.repmat(COMPLIANCE * mean + NO_MOBILITY * mobility.give[0], k, 1))
    rubbing = Rubbing(mobility, slip, G @ motion.v, coefficients)

    def solve(b: ca.SX) -> Blow:
        lam, beta = rubbing.solve(b, rigid.near)
        return Blow(rigid.H.T @ lam + G.T @ beta, rubbing.change(lam, beta))

    return solve


def _lose_energy(v: ca.SX, dull: Blow, lively: Blow) -> Blow:
    """The liveliest blow between one without rebound, which always takes energy, and one with it, that gives none.

    T(c) = T(0) + l c + h c^2 <= 0 for the blow dull + c (lively - dull), c from 0 to 1

    Both push, both keep to the friction cones and neither lets bodies sink in: so does what lies between.
    """
    more = Blow(lively.impulse - dull.impulse, lively.change - dull.change)
    lost = maximum(-dull.work(v), 0.0)
    h = 0.5 * ca.dot(more.impulse, more.change)
    slope = more.work(v) - h + 0.5 * (ca.dot(more.impulse, dull.change) + ca.dot(dull.impulse, more.change))
    root = sqrt(maximum(slope * slope + 4 * h * lost, 0.0))
    share = where(slope > 0, 2 * lost / (slope + root), (root - slope) / (2 * h))
    share = where(lively.work(v) > 0, minimum(share, 1.0), 1.0)
    return Blow(dull.impulse + share * more.impulse, dull.change + share * more.change)


def _note_jams(builder: Builder, rigid: Rigid, wrong: list[ca.SX]) -> dict[str, Pending]:
    """Contacts for which there are no forces or impulses that keep them from sinking in."""
    updates = {}
    for contact in rigid.contacts:
        found = ca.SX(0)
        for touch, bad in zip(rigid.touches, wrong, strict=True):
            found = logical_or(found, bad) if touch.contact is contact else found
        updates[f"{contact.name}.{JAMS}"] = Pending(where(found, 1.0, 0.0), {})
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
    """Which touches rest: those at rest on their surface that would be accelerated into it."""
    b = rigid.H @ a + rigid.drift
    allowed = []
    for i, touch in enumerate(rigid.touches):
        slow = where(rigid.held[i], builder.values[f"{touch.contact.name}.rest_speed"], RESTING)
        allowed.append(logical_and(rigid.near[i], absolute(touch.rate) <= slow))
    _, pushing, wrong = rigid.mobility(rigid.D).complement(b, allowed)
    update = {
        memory.name(): Pending(where(push, 1.0, 0.0), bindings)
        for memory, push in zip(rigid.resting, pushing, strict=True)
    }
    update |= {name: replace(one, bindings=bindings) for name, one in _note_jams(builder, rigid, wrong).items()}
    builder.updates[SORTING] = update | {SETTLING: Pending(ca.SX(0), {})}
    builder.updates.setdefault(START, {}).update(update)


def _add_guards(builder: Builder, rigid: Rigid, lam: ca.SX, bindings: Bindings) -> None:
    """A gap closes where it is shut and approaches; a force ends where it comes down to zero."""
    for i, touch in enumerate(rigid.touches):
        closing = {"hits": CLOSED, "sinks": SUNK}
        for event, margin in closing.items():
            apart = maximum(touch.gap + margin, touch.rate + margin)
            _add_guard(builder, f"{touch.name}.{event}", where(rigid.held[i], 1.0, apart), IMPACT, {})
        _add_guard(builder, f"{touch.name}.parts", where(rigid.held[i], lam[i], -1.0), SORTING, bindings)
    settling = builder.memory_symbols[SETTLING]
    _add_guard(builder, "contacts.settle", where(settling > 0.5, -1.0, 1.0), SORTING, {})
    for contact in rigid.contacts:
        name = f"{contact.name}.{JAMS}"
        builder.columns["guards"].append(Pending(where(builder.memory_symbols[name] > 0.5, -1.0, 1.0), {}))
        builder.guards.append(Guard(name, -1, terminal=True))


def _add_guard(builder: Builder, name: str, value: ca.SX, action: str, bindings: Bindings) -> None:
    builder.columns["guards"].append(Pending(value, bindings))
    builder.guards.append(Guard(name, -1, terminal=False, action=action))
