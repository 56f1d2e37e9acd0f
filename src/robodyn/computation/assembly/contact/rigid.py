"""Rigid contacts: rows that keep bodies apart, impacts, and the events between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import frozen
from robodyn.base.symbolic import (
    absolute,
    clip,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    sqrt,
    to_column,
    where,
)
from robodyn.computation.assembly.contribution import (
    Context,
    Contribution,
    Deferred,
    declare_memory,
    define_signal,
    merge,
    reference_to,
    watch,
)
from robodyn.computation.assembly.declarations import SETTLE, Ending, Guard, Invariant, MemoryInfo
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings
from robodyn.description.model import RigidContact
from robodyn.description.model.contact import AnyContact
from robodyn.description.model.joint import EFFORT, Joint

from .compliant import (
    ContactForce,
    check_moves,
    define_contact_signals,
    trace_contact,
)
from .geometry import (
    ENDS,
    ContactPoint,
    EndStop,
    RigidPoint,
    find_contact_points,
    find_drifts,
    find_end_stops,
    stop_force,
)
from .modes import (
    FIXED,
    RETURN_RATE,
    UNSETTLED,
    Mobility,
    Posed,
    Reaction,
    Settled,
    Solve,
    build_mobility,
    guard_modes,
    mean_compliance,
    pose_problem,
    pose_pushes,
    slack_of,
)
from .stick_friction import HELD_SPEED, LEAST_SPEED, LIMIT_MARGIN, REST_SPEED, TINY

# --------------------------------------------------------------------------------------------------
# Dry friction of rigid contacts: which contact points stick, and which slide in which direction?
#
# Symbols: w slips of a contact point along one or two tangents, T their gradients, N the normal force, f what holds:
#
#     sticks    T a + T_dot v = 0,    |f| <= mu N
#     slides    f = -mu N e,          e = w / |w|
#
# What slides is a part of the normal force, whose direction it changes; what sticks is a row of its own. Memory holds
# e, zero where the point sticks.


STOP_MARGIN, STOP_TIME = 1.01, 1e-3
"""Part of the rest speed up to which a slip may be stopped, and time [s] in which friction must be able to do so."""
TURNED = 0.97
"""Cosine of the angle, 14 degrees, from its direction in memory at which a slow slip has turned."""


@frozen
class RoughPoint:
    """A contact point with friction, dry where it sticks.

    Attributes:
        number: of the contact point; rows: of its slips among all rows of contacts.
        used: along which of its two tangents joints make it slip; slips: along these (m,).
        memory: of dry friction the direction e (m,); resting: whether the contact point rests.
        rest_speed: below which a slip in space that slows down has stopped.
        length: that of the machine [m], of which thresholds of speeds are parts.
        force: along both tangents for a normal force of 1 N (2,); states: of its law; declared: these and the memory.
    """

    contact_point: ContactPoint
    number: int
    rows: slice
    used: list[int]
    slips: SX
    coefficient: SX
    memory: SX
    rest_speed: SX
    resting: SX
    length: float
    force: SX = field(default_factory=lambda: SX.zeros(2))
    states: tuple[SX, ...] = ()
    declared: Contribution = Contribution()

    @property
    def is_dry(self) -> bool:
        """Whether it sticks."""
        return bool(self.memory.numel())

    @property
    def in_space(self) -> bool:
        """Whether it may slip along both tangents, and not in a plane only."""
        return len(self.used) > 1

    @property
    def slides(self) -> SX:
        return ca.sumsqr(self.memory) > 0.25

    @property
    def held(self) -> SX:
        return logical_and(self.resting, logical_not(self.slides))

    @property
    def speed(self) -> SX:
        return sqrt(ca.sumsqr(self.slips) + TINY * self.length**2)

    @property
    def moves(self) -> SX:
        """Whether it slides for certain.

        What slid in a plane is at rest only where its zero was located. In space the slip need not pass zero: it slides
        while it is fast, or goes on as it does.
        """
        if not self.in_space:
            return self.speed > self.length * where(self.slides, REST_SPEED, HELD_SPEED)
        goes_on = logical_and(self.slides, logical_and(self.speed > REST_SPEED * self.length, self.onward > 0))
        return logical_or(self.speed > STOP_MARGIN * self.rest_speed, goes_on)

    @property
    def onward(self) -> SX:
        """How fast it slides on in the direction of memory, less than zero where it has turned; in space only."""
        return ca.dot(self.memory, self.slips) - TURNED * self.speed + REST_SPEED * self.length

    @property
    def slip_direction(self) -> SX:
        """e: that of memory in a plane, so that it does not turn round in a step; in space that of the slip, (m,).

        What begins to slip has no direction yet, and one that turns at mu N / (m |w|): memory gives it below the speed
        of rest.
        """
        if not self.in_space:
            return self.memory
        moved = self.slips + maximum(self.rest_speed - self.speed, 0.0) * self.memory
        return moved / sqrt(ca.sumsqr(moved) + TINY * self.length**2)

    @property
    def slide_direction(self) -> SX:
        """The same where it slides already, else that of the slip, (m,)."""
        return where(self.slides, self.slip_direction, self.slips / self.speed)

    @property
    def direction(self) -> tuple[SX, SX]:
        """The same along both tangents; where nothing slides any will do."""
        e = where(self.slides, self.slip_direction, SX([1.0, 0.0][: len(self.used)]))
        full = {k: e[i] for i, k in enumerate(self.used)}
        return full.get(0, SX(0)), full.get(1, SX(0))

    @property
    def turn(self) -> SX:
        """Rows along and across the slip of what moves in space, (m, m)."""
        if not self.in_space:
            return SX.eye(1)
        e = where(self.moves, self.slide_direction, SX([1.0, 0.0]))
        return ca.vertcat(ca.horzcat(e[0], e[1]), ca.horzcat(-e[1], e[0]))

    @property
    def to_rest(self) -> SX:
        """A slow slip in space by the time in which friction has to stop it: w / tau + w' is what it holds, (m,).

        So a point stops where a force within its cone can do that beside all others, else it slides on: close to a
        singular position a slow slip may be a fast joint.
        """
        slow = logical_and(self.speed > HELD_SPEED * self.length, logical_not(self.moves))
        return where(slow, self.slips / STOP_TIME, 0.0) if self.in_space else SX(1, 1)

    def begin(self, forces: SX) -> SX:
        """Modes to begin with: what rests sticks, but for what is beyond its limit in a plane; what moves slides, (m,).

        Args:
            forces: of all rows of contacts, by the present modes.
        """
        limit, across = (1 + 0.5 * LIMIT_MARGIN) * self.coefficient * forces[self.number], forces[self.rows]
        slips = SX(0) if self.in_space else logical_and(self.held, across**2 >= limit**2)
        return where(self.moves, _sign(self.turn @ self.slips), where(slips, -_sign(across), 0.0))

    @property
    def coefficients(self) -> SX:
        """The friction coefficients of the rows: what moves along has no force across, (m,)."""
        return ca.vertcat(self.coefficient, where(self.moves, 0.0, self.coefficient))[: len(self.used)]

    def slide(self, modes: SX) -> SX:
        """The direction in which it slides in new modes, zero where it sticks."""
        begun = self.turn.T @ modes
        begun = begun / maximum(sqrt(ca.sumsqr(begun)), 0.5)
        ahead = self.slips / self.speed
        if self.in_space:
            # What friction cannot stop slides on in the direction it would have after STOP_TIME, an implicit step:
            # the present direction, taken over, would turn to and fro about the one that lasts.
            back = logical_and(ca.sumsqr(begun) > 0.25, ca.dot(begun, self.slips) <= 0)
            begun = where(logical_and(back, self.speed > HELD_SPEED * self.length), ahead, begun)
            ahead = where(logical_and(self.slides, self.speed < self.rest_speed), self.memory, ahead)
        return where(self.moves, ahead, begun)

    def stops(self, direction: SX, rests: SX) -> SX:
        """Whether it has come to rest, if only to slide in another direction."""
        onward = ca.dot(direction, self.slips) > 0 if self.in_space else ca.sumsqr(direction) > 0
        return logical_and(logical_and(rests, logical_not(self.moves)), logical_not(onward))


def _sign(value: SX) -> SX:
    return where(value < 0, -1.0, 1.0)


# --------------------------------------------------------------------------------------------------
# Rigid contact: which contact points of a machine rest, and which slide?
#
# Symbols: k contact points with gaps g_i; rows K of the speeds along normals and then along tangents, M^-1 K^T with the
# machine's constraints kept. A force along a normal has friction beside it, along the tangents: the columns of E.


# Lengths and speeds are those of a machine of 1 m; of a smaller one they are parts of its size.
JAMS, SETTLING = "jams", "contacts.settling"
"""Memory: of a contact for which no forces or impulses are found, and of what has to be sorted after an impact."""
CLOSED = 1e-12
"""Overlap [m] and speed of approach [m/s] at which a gap has closed; rounding is much less."""
NEAR = 1e-7
"""Gap [m] up to which a contact point takes part in an impact of another."""
SUNK = 1e-6
"""Overlap [m] and speed of approach [m/s] of a contact point that let go of a surface it lay in by the
solver's errors."""
RESTING = 1e-6
"""Speed [m/s] below which a contact point neither approaches nor parts."""
SINKING = 1e-5
"""Speed [m/s], and part of the largest one, at which a contact point must not go on after an impact."""
LOCKED = 1e-6
"""Part of its effect without friction at which a force can no longer hold a gap: it would grow beyond all bounds. As
small as rounding lets it be: most rods that come near Painleve's paradox lift off just before it."""
FREE = 1.1
"""How many times more it must be to hold again."""


@frozen
class Contacts(Reaction):
    """The rigid contacts of a machine: rows of their normals, then of the slips of dry friction.

    Attributes:
        points: k contact points; rough: those with friction, dry ones first.
        plain: mobility of the speeds along all normals and then along all tangents, without friction.
        E: forces of the rows as forces along these.
        resting, settling, jams: memory, 1 while a contact point rests, after an impact, where one finds no forces.
        rest_speed: below which a contact point stays (k,); answer: force of constraints on the joints to one there.
        sizes: of each gap, the machine's length [m] or 1 rad where a joint stops that rotates (k,); length: of slips.
    """

    points: tuple[RigidPoint, ...]
    plain: Mobility
    E: SX
    rough: tuple[RoughPoint, ...]
    resting: SX
    settling: SX
    jams: dict[str, SX]
    rest_speed: SX
    answer: Solve
    sizes: SX
    length: float

    @property
    def k(self) -> int:
        return len(self.points)

    @property
    def dry(self) -> list[RoughPoint]:
        return [point for point in self.rough if point.is_dry]

    @property
    def rests(self) -> SX:
        """Which contact points rest, (k,)."""
        return self.resting > 0.5

    @cached_property
    def gaps(self) -> SX:
        return to_column(point.gap for point in self.points)

    @cached_property
    def rates(self) -> SX:
        """The rates of the gaps, (k,)."""
        return to_column(point.rate for point in self.points)

    @cached_property
    def slips(self) -> SX:
        """The slip velocities of dry friction."""
        return to_column(point.slips for point in self.dry)

    @property
    def near(self) -> SX:
        return self.gaps <= NEAR * self.sizes

    @property
    def contacts(self) -> list[AnyContact | EndStop]:
        return list(dict.fromkeys(point.contact for point in self.points))

    @cached_property
    def normal(self) -> Mobility:
        """The mobility of the gaps under forces along the normals."""
        return self.plain.select(slice(0, self.k))

    @property
    def directions(self) -> SX:
        return self.E.T @ self.plain.rows

    @property
    def returning(self) -> SX:
        """Rates at which rows that stick come to rest again, should they move by the solver's errors."""
        return ca.vertcat(SX(self.k, 1), 2 * RETURN_RATE * self.slips)

    def sinks(self, change: SX) -> SX:
        """Which contact points a change of velocities (n_v,) leaves on their way into the surface, (k,)."""
        # Beside the largest speed there is: rounding grows with it.
        fast = SINKING * self.sizes * (1 + ca.mmax(ca.fabs(self.rates / self.sizes)))
        return self.near * (self.rates + self.normal.rows @ change < -fast)

    @cached_property
    def effect(self) -> SX:
        """The effect of a force with its friction on its own gap, as a part of its effect without, (k,)."""
        # H_i M^-1 D_i^T by H_i M^-1 H_i^T: below zero, friction pulls the gap shut (Painleve).
        return ca.diag(self.mobility.S)[: self.k] / ca.diag(self.normal.S)

    def _effect_when_sliding(self) -> SX:
        """The same where modes are found anew: what has come down and moves will slide."""
        effect = SX(self.effect)
        for point in self.dry:
            i = point.number
            along = self.plain.S[i, point.rows] @ point.slide_direction
            effect[i] = where(point.moves, 1 - point.coefficient * along / self.normal.S[i, i], effect[i])
        return effect

    def pose(self, b: SX, forces: SX) -> list[Posed]:
        """The problems of the contact points that neither approach nor part, and their friction.

        One whose friction would pull it in more than its force pushes is let go (Painleve's paradox): it sinks by a
        rounding error and hits. That impact may stop its slip; if it does not, it hits again and again, as is reported.
        """
        k = self.k
        # What rests may creep up to its rest speed before it counts as parting.
        slow = where(self.rests, self.rest_speed, RESTING * self.sizes)
        at_rest = logical_and(self.near, absolute(self.rates) <= slow)
        # What rests rests on while it pushes, else by an impact only: a located end of a force is one, also where
        # this decision would round another way.
        pushes = logical_and(self.rests, forces[:k] > 0)
        allowed = logical_and(at_rest, logical_or(pushes, self.settling > 0.5))
        if self.rough:
            allowed = logical_and(allowed, self._effect_when_sliding() > FREE * LOCKED)
        slack, sorting = slack_of(b[:k] / self.sizes, allowed), self._sorting
        normals = pose_pushes(sorting.select(slice(0, k)), b[:k], allowed, slack * self.sizes)
        if not self.dry:
            return [normals]
        turns = ca.diagcat(*(point.turn for point in self.dry))
        of = [(p, where(p.moves, FIXED, allowed[p.number])) for p in self.dry]
        columns = [(p.begin(forces), ca.repmat(may, len(p.used), 1), p.coefficients, p.to_rest) for p, may in of]
        begins, may, coefficients, to_rest = (ca.vertcat(*column) for column in zip(*columns, strict=True))
        partners = [point.number for point in self.dry for _ in point.used]
        slips, motions = sorting.select(slice(k, b.numel())), turns @ (b[k:] + to_rest)
        rubs = Posed(slips, motions, may, slack * self.length, begins, coefficient=coefficients, partners=partners)
        return [normals, rubs]

    @cached_property
    def _sorting(self) -> Mobility:
        """Mobility where modes are found: dry friction has rows of its own, along and across what slides."""
        if not self.dry:
            return self.mobility
        E = SX(self.E)
        E[:, [p.number for p in self.dry]] = SX.eye(E.shape[0])[:, [p.number for p in self.dry]]
        F = ca.diagcat(SX.eye(self.k), *(point.turn for point in self.dry))
        more = SX(E.shape[1], E.shape[0] - E.shape[1])
        return self.plain.combine(ca.horzcat(F, more), E @ F.T, self.mobility.compliance, self.mobility.leaning)

    def settle(self, modes: list[SX]) -> Settled:
        """Which contact points rest, and where their friction slides to; its states begin anew where none rests."""
        rests = modes[0] == 0
        update = {self.resting[i].name(): where(rests[i], 1.0, 0.0) for i in range(self.k)}
        for point in self.rough:
            update |= {state.name(): where(rests[point.number], state, 0.0) for state in point.states}
        update[SETTLING] = SX(0)
        jams = self.note_jams(modes[0] == UNSETTLED)
        if not self.dry:
            return Settled(update, jams=jams)
        stops = [rests]
        for point in self.dry:
            rest, direction = rests[point.number], point.slide(ca.vertcat(*modes)[point.rows])
            update |= {e.name(): where(rest, direction[i], 0.0) for i, e in enumerate(ca.vertsplit(point.memory))}
            stops += [point.stops(direction, rest)] * len(point.used)
        rows = self.plain.select(slice(0, self.held.numel()))
        return Settled(update, rows, ca.vertcat(self.rates, self.slips), ca.vertcat(*stops), jams)

    def note_jams(self, wrong: SX) -> dict[str, SX]:
        """Contacts for which there are no forces or impulses that keep them from sinking in."""
        own = {name: [wrong[i] for i, p in enumerate(self.points) if p.contact.name == name] for name in self.jams}
        return {self.jams[name].name(): where(ca.mmax(ca.vertcat(*bad)), 1.0, 0.0) for name, bad in own.items()}


# --------------------------------------------------------------------------------------------------
# Impact law: which impulses act where bodies hit each other, and what do they change?
#
# Symbols: lam, beta impulses along the k normals and along the k slips; r speeds along the normals above those of the
# rebound, s slips; mu coefficients of friction:
#
#     r = b + H y >= 0,    s = s0 + G y,    y = M^-1 (H^T lam + G^T beta),    |beta_i| <= mu_i lam_i
#
# Newton's law of impact as a complementarity problem of all contact points together, `v_n+ >= -r v_n-`. In the
# direction of the slip that there would be without friction, a contact point slides, beta_i = -+mu_i lam_i, or it
# sticks, s_i = 0. The law may give energy, by friction and where contacts differ: as much of the rebound is then left
# out.


TINY_SLIP = 1e-7
"""Slip [m/s], and part of the speed before the impact, that has no direction but that of rounding: no friction then."""
NO_MOBILITY = 1e-9
"""Part of the normal compliance that stands in for that along a slip without direction."""
LOCKING = 2 * FREE * LOCKED
"""Part of its friction that a contact point has more where that all but locks it: so it stops at once, by an impulse
without a collision, which is the way out of Painleve's paradox."""


@frozen
class Impulse:
    """Impulse on the joints and what it changes of their velocities, both (n_v,)."""

    impulse: SX
    change: SX

    def work(self, v: SX) -> SX:
        """On joints that had the velocities v: `P^T (v + y / 2)`."""
        return ca.dot(self.impulse, v + 0.5 * self.change)


def find_impulse(motion: Motion, contacts: Contacts) -> tuple[Impulse, Contribution]:
    """With rebound, but not so much that it would give energy; and the problems that are solved for it."""
    slips, smooth = None, Contribution()
    if contacts.rough:
        without, smooth = _collide(contacts, "impact.smooth", contacts.rates)
        slips = _find_slips(contacts, without.change)
    # Two problems of the same kind: v_n+ >= 0, and v_n+ >= -r v_n-.
    plastic, first = _collide(contacts, "impact.plastic", contacts.rates, slips)
    elastic, second = _collide(contacts, "impact.elastic", contacts.rates + _rebound(motion, contacts), slips)
    impulse = _lose_energy(motion.v, plastic, elastic, contacts.sinks(elastic.change))
    return impulse, merge((smooth, first, second))


def _rebound(motion: Motion, contacts: Contacts) -> SX:
    """r v_n- of the contact points that approach fast enough to rebound."""
    restitution = to_column(point.restitution(motion.values) for point in contacts.points)
    return where(contacts.rates < -contacts.rest_speed, restitution * contacts.rates, 0.0)


@frozen
class Slips:
    """Along which contact points slip: directions G among all rows of contacts, a column for each of k contact points.

    Attributes:
        mobility: along these; speeds: before the impact; coefficients: of friction; all of k rows.
    """

    G: SX
    mobility: Mobility
    speeds: SX
    coefficients: SX


def _collide(contacts: Contacts, name: str, b: SX, slips: Slips | None = None) -> tuple[Impulse, Contribution]:
    """The impulses of an impact, without friction where no slips are given.

    Args:
        b: speeds along the normals, above those of the rebound with its sign, (k,).
    """
    k, near, normal, plain = contacts.k, contacts.near, contacts.normal, contacts.plain
    slack = slack_of(b / contacts.sizes, near, CLOSED)
    parts, B = [pose_pushes(normal, b, near, slack * contacts.sizes)], SX.eye(plain.compliance.numel())[:, :k]
    if slips is None:
        (modes,), problem = pose_problem(name, parts, {})
        along = B @ normal.holder(modes == 0)(b)
    else:
        mu = slips.coefficients
        least = slack * contacts.length
        parts.append(Posed(slips.mobility, slips.speeds, near, least, coefficient=mu, partners=range(k)))
        (modes, directions), problem = pose_problem(name, parts, {})
        # A contact point that slides has beta = -+mu lam: its friction is a part of its normal column.
        B, ratio, pushing = ca.horzcat(B, slips.G), -directions * mu, modes == 0
        E = ca.vertcat(ca.horzcat(SX.eye(k), SX(k, k)), ca.horzcat(ca.diag(ratio), SX.eye(k)))
        compliance = ca.vertcat(normal.compliance, slips.mobility.compliance)
        mobility = plain.combine(B.T, B @ E, compliance, tuple(range(k)))
        held = ca.vertcat(pushing, logical_and(pushing, directions == 0))
        impulses = mobility.holder(held)(ca.vertcat(b, slips.speeds))
        # Rounding aside, it is within the friction cone.
        lam = maximum(impulses[:k], 0.0)
        beta = clip(impulses[k:] + ratio * impulses[:k], -mu * lam, mu * lam)
        along = B @ ca.vertcat(lam, beta)
    return Impulse(plain.rows.T @ along, plain.columns @ along), problem


def _find_slips(contacts: Contacts, smooth: SX) -> Slips:
    """Friction acts against the slip that is left when the normals alone have acted.

    Args:
        smooth: change of the velocities without friction.
    """
    k, plain = contacts.k, contacts.plain
    G, speeds, factors = SX(plain.compliance.numel(), k), SX(k, 1), SX(k, 1)
    for point in contacts.rough:
        i, after = point.number, point.slips + plain.rows[point.rows, :] @ smooth
        speed, fast = sqrt(ca.sumsqr(after)), sqrt(ca.sumsqr(point.slips) + contacts.rates[i] ** 2)
        tiny = TINY_SLIP * contacts.length
        direction = where(speed > tiny + TINY_SLIP * fast, after / maximum(speed, tiny), 0.0)
        G[point.rows, i], speeds[i] = direction, ca.dot(direction, point.slips)
        # mu H M^-1 G^T >= H M^-1 H^T: the more it pushes, the more its friction pulls it in, until it has stopped.
        lock = point.coefficient * (plain.S[i, point.rows] @ direction)
        locked = lock > (1 - FREE * LOCKED) * plain.S[i, i]
        factors[i] = where(locked, 1 + LOCKING, 1.0) * point.coefficient
    least = NO_MOBILITY * contacts.normal.compliance
    compliance = mean_compliance(ca.diag(G.T @ plain.S @ G)) + least
    return Slips(G, plain.combine(G.T, G, compliance), speeds, factors)


def _lose_energy(v: SX, plastic: Impulse, elastic: Impulse, sinks: SX) -> Impulse:
    """The most elastic impact between one without rebound, which always takes energy, and one with it, that gives none.

    T(c) = T(0) + l c + h c^2 <= 0 for the impact plastic + c (elastic - plastic), c from 0 to 1

    Both push, both keep to the friction cones and neither lets bodies sink in: so does what lies between.

    Args:
        sinks: which contact points the elastic one lets sink in, where it has not been found; the plastic one is taken
        then.
    """
    # The energy along the straight line between the two is a parabola in c: its root is the largest share allowed.
    more = Impulse(elastic.impulse - plastic.impulse, elastic.change - plastic.change)
    lost = maximum(-plastic.work(v), 0.0)
    h = 0.5 * ca.dot(more.impulse, more.change)
    slope = more.work(v) - h + 0.5 * (ca.dot(more.impulse, plastic.change) + ca.dot(plastic.impulse, more.change))
    root = sqrt(maximum(slope * slope + 4 * h * lost, 0.0))
    # Of the two ways to write the root the one without cancellation.
    share = where(slope > 0, 2 * lost / (slope + root), (root - slope) / (2 * h))
    share = where(elastic.work(v) > 0, minimum(share, 1.0), 1.0)
    share = where(ca.sum1(sinks) > 0, 0.0, share)
    return Impulse(plastic.impulse + share * more.impulse, plastic.change + share * more.change)


# --------------------------------------------------------------------------------------------------
# Rows of rigid contacts: what are the contacts of a machine made of, and what do they not go together with?


IDLE = 1e-9
"""Gradient of a slip, lengths by that of the machine, that no joint makes."""


def build_contacts(motion: Motion, accelerate: Solve, answer: Solve) -> tuple[Contacts | None, Contribution]:
    """The rigid contacts of a machine, if it has any, with their memory and the states of their friction.

    Args:
        accelerate: M^-1, constraints kept, as a function of a column; answer: force of constraints on the joints,
            likewise.
    """
    points = find_rigid_points(motion)
    if not points or not check_rest(motion, points):
        return None, Contribution()
    resting, declared = _remember([f"{point.name}.rests" for point in points], 0.0)
    settling, after = _remember([SETTLING], 1.0)
    names = list(dict.fromkeys(point.contact.name for point in points))
    jams, noted = _remember([f"{name}.{JAMS}" for name in names], 0.0)
    rough = _trace_friction(motion, points, resting)
    dry = [point for point in rough if point.is_dry]
    plain, drift = _lay_rows(motion, points, rough, accelerate)
    # What holds or slides by itself: all normals, and the slips of dry friction; friction leans on the normals.
    k, n, F = len(points), len(points) + sum(len(point.used) for point in dry), SX.eye(drift.numel())
    E = F[:, :n]
    for point in rough:
        E[point.rows, point.number] = point.force[point.used]
    leaning = tuple(sorted(point.number for point in rough))
    mobility = plain.combine(F[:n, :], E, plain.compliance[:n], leaning) if rough else plain
    # g'' = H a + drift, and for what rests g'' + 2 r g' + r^2 g = 0 (Baumgarte). Whether a contact point pushes is
    # found from the same as how much: else one whose force has ended may go on resting.
    back = to_column(2 * RETURN_RATE * point.rate + RETURN_RATE**2 * point.gap for point in points)
    drift = drift[:n] + ca.vertcat(where(resting > 0.5, back, 0.0), SX(n - k, 1))
    held = ca.vertcat(resting > 0.5, *(ca.repmat(point.held, len(point.used), 1) for point in dry))
    own = (tuple(points), plain, E, tuple(rough), resting, settling)
    own_jams = dict(zip(names, ca.vertsplit(jams), strict=True))
    rest_speed = to_column(point.rest_speed(motion.values, motion.context.size) for point in points)
    memory = merge((declared, after, noted, *(point.declared for point in rough)))
    sizes = SX([point.size(motion.context.size) for point in points])
    more = (own_jams, rest_speed, answer, sizes, motion.context.size.length)
    return Contacts(mobility, held, drift, *own, *more), memory


def find_rigid_points(motion: Motion) -> list[RigidPoint]:
    """The contact points of all rigid contacts, and the stops of joints."""
    contacts = [c for c in motion.machine.contacts if isinstance(c, RigidContact)]
    points_of_contacts = [find_contact_points(motion, contact) for contact in contacts]
    points: list[RigidPoint] = [point for group in points_of_contacts if check_moves(motion, group) for point in group]
    return points + find_end_stops(motion)


def _remember(names: list[str], start: float) -> tuple[SX, Contribution]:
    """Hidden memory, as a column and as what declares it."""
    declared = merge(declare_memory(MemoryInfo(name, "", start, hidden=True)) for name in names)
    return to_column(declared.symbols.values()), declared


def _lay_rows(
    motion: Motion, points: list[RigidPoint], rough: list[RoughPoint], accelerate: Solve
) -> tuple[Mobility, SX]:
    """Mobility and drifts of the speeds along all normals, then along all tangents, those of dry friction first."""
    moving = [
        *(move_point(motion, point) for point in points),
        *(move_point(motion, point.contact_point, point.used) for point in rough),
    ]
    rows, drift = (ca.vertcat(*column) for column in zip(*moving, strict=True))
    k = len(points)
    return build_mobility(accelerate, rows, lambda own: ca.vertcat(*map(mean_compliance, (own[:k], own[k:])))), drift


def move_point(motion: Motion, point: RigidPoint, used: Sequence[int] | None = None) -> tuple[SX, SX]:
    """Speeds of a contact point by the joints' velocities, along its normal or the tangents named, and their drifts."""
    if not isinstance(point, ContactPoint):
        return ca.jacobian(point.rate, motion.v), ca.jtimes(point.rate, motion.q, motion.q_dot)
    directions = [point.normal] if used is None else [point.tangents[axis] for axis in used]
    rows = [ca.sparsify(direction.T @ point.gradient) for direction in directions]
    return ca.vertcat(SX(0, motion.v.numel()), *rows), find_drifts(motion, point, directions)


def _trace_friction(motion: Motion, points: list[RigidPoint], resting: SX) -> list[RoughPoint]:
    """All rough contact points, those of dry friction first; slips that no joint makes are left out."""
    rough = [(i, p) for i, p in enumerate(points) if isinstance(p, ContactPoint) and p.contact.friction is not None]
    context, traced, first = motion.context, list[RoughPoint](), len(points)
    length = context.size.length
    for i, point in sorted(rough, key=lambda one: not one[1].contact.sticks):
        slips, used = to_column(point.slips), used_tangents(motion, point)
        rows = slice(first, first + len(used))
        mu = SX(context.values[f"{point.contact.name}.friction.coefficient"])
        names = [f"{point.name}.slides{axis + 1}" for axis in used] if point.contact.sticks else []
        direction, memory = _remember(names, 0.0)
        rest_speed = point.rest_speed(context.values, context.size) if names else SX(0)
        one = RoughPoint(point, i, rows, used, slips[used], mu, direction, rest_speed, resting[i] > 0.5, length)
        force, law = _rub(context, one, resting[i])
        traced.append(replace(one, force=force, states=tuple(law.symbols.values()), declared=memory + law))
        first = rows.stop
    return traced


def used_tangents(motion: Motion, point: ContactPoint) -> list[int]:
    """Along which of its two tangents joints make a contact point slip."""
    gradients = motion.value_somewhere(move_point(motion, point, range(2))[0])
    lengths = [np.linalg.norm(gradients[axis] * motion.speed_scales) for axis in range(2)]
    return [axis for axis in range(2) if lengths[axis] > IDLE * motion.context.size.length]


def _rub(context: Context, rough: RoughPoint, resting: SX) -> tuple[SX, Contribution]:
    """Friction along both tangents for a normal force of 1 N, (2,)."""
    point = rough.contact_point
    first, second = rough.direction if rough.is_dry else point.slips
    arguments = {"slip1": first, "slip2": second, "normal": SX(1), "travel": point.travel}
    if point.contact.sticks:
        arguments["direction"] = where(rough.slides, 1.0, 0.0) if rough.is_dry else SX(0)
    rubbed, traced = trace_contact(context, point, arguments, "friction", ("force1", "force2"), resting > 0.5)
    return ca.vertcat(rubbed["force1"], rubbed["force2"]) if rubbed else SX.zeros(2), traced


def check_rest(motion: Motion, points: list[RigidPoint]) -> bool:
    """Report what rigid contacts do not go together with."""
    scenario, flaws, path = motion.context.scenario, motion.flaws, points[0].path
    method = scenario.constraint_method.method
    before = len(flaws.found)
    if method in ("index3", "minimal"):
        what = f"rigid contacts and end stops cannot be combined with the constraint method '{method}'"
        flaws.add(path, what, "use baumgarte or projection")
    if scenario.initialisation == "given":
        _check_start(motion, points)
    return len(flaws.found) == before


def _check_start(motion: Motion, points: list[RigidPoint]) -> None:
    for point in points:
        gap, rate = motion.values_at_start(ca.vertcat(point.gap, point.rate))
        # A start inside a surface, or on its way into one, has no impulse that belongs to it.
        size = point.size(motion.context.size)
        if gap < -SUNK * size:
            motion.flaws.add(point.path, f"starts inside the surface, by {-gap:.3g} m", "change initial")
        elif gap <= NEAR * size and rate < -RESTING * size:
            what = f"starts in touch and moves into the surface, with {-rate:.3g} m/s"
            motion.flaws.add(point.path, what, "start a little above it")


# --------------------------------------------------------------------------------------------------
# Rigid contact events: with which forces and impulses do contacts push, and when do they begin and end?
#
# Impulses act where a gap closes. After them, and where a force has come down to zero, those contact points that
# neither approach nor part are sorted into resting and parting by their accelerations without contact forces. A contact
# for which no forces are found ends the run.


IMPACT = "action:impact"
DEEP = 1e-4
"""Overlap [m of a machine of 1 m] of what has gone in, whichever way it moves."""
TURN_TIME = 1e-3
"""Of a speed [s] that is compared with a gap; only its sign counts."""
CONE_MARGIN = 1e-7
"""Part of the limit of friction in space by which a located slip is beyond it."""


def trace_contact_events(
    motion: Motion, contacts: Contacts, forces: SX, deciding: SX, contributions: Contribution, bindings: Bindings
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


def _define_forces(contacts: Contacts, forces: SX, bindings: Bindings) -> Contribution:
    """Forces along the normals, with those of friction along the tangents."""
    pushed = {i: forces[i] * p.normal for i, p in enumerate(contacts.points) if isinstance(p, ContactPoint)}
    for point in contacts.rough:
        pushed[point.number] += forces[point.number] * (ca.horzcat(*point.contact_point.tangents) @ point.force)
    for point in contacts.dry:
        pushed[point.number] += ca.horzcat(*point.contact_point.tangents)[:, point.used] @ forces[point.rows]
    parts = []
    for contact in (one for one in contacts.contacts if not isinstance(one, EndStop)):
        touching = [
            (i, p) for i, p in enumerate(contacts.points) if p.contact is contact and isinstance(p, ContactPoint)
        ]
        push = [ContactForce(p, forces[i], pushed[i], contacts.rests[i], bindings) for i, p in touching]
        parts.append(define_contact_signals(contact, push))
    stops = [(point, forces[i]) for i, point in enumerate(contacts.points) if isinstance(point, EndStop)]
    return merge((*parts, define_stop_forces(stops, bindings)))


def define_stop_forces(forces: list[tuple[EndStop, SX]], bindings: Bindings) -> Contribution:
    """The force of the stops on each joint, as a signal."""
    total: dict[Joint, SX] = {}
    for stop, force in forces:
        total[stop.joint] = total.get(stop.joint, SX(0)) + ENDS[stop.end] * force
    return merge(
        define_signal(stop_force(joint), EFFORT[joint.kind], force, bindings) for joint, force in total.items()
    )


def _trace_impact(motion: Motion, contacts: Contacts, bindings: Bindings) -> Contribution:
    """Impulses where gaps close: `v+ = v + M^-1 P`, with `v_n+ >= -r v_n-`; what they do is work.

    So is what the constraints' answer does: a prescribed motion goes on through an impact. Friction on joints is finite
    and does nothing in no time.
    """
    impact, problems = find_impulse(motion, contacts)
    answer = Impulse(contacts.answer(impact.impulse), impact.change)
    # v+ = v + M^-1 P, and the work P^T (v + v+) / 2 goes into the books: the balance of energy holds across the impact.
    v, so_far = motion.v + impact.change, reference_to("energy.work")
    update = {motion.v[k].name(): v[k] for k in range(v.numel())} | {SETTLING: SX(1)}
    update |= contacts.note_jams(contacts.sinks(impact.change))
    update["energy.work"] = so_far.expression + impact.work(motion.v) + answer.work(motion.v)
    action = {name: Deferred(value, {**bindings, **so_far.bindings}) for name, value in update.items()}
    return replace(problems, actions={IMPACT: action})


def _guard_contacts(contacts: Contacts, lam: SX, problems: tuple[str, ...], bindings: Bindings) -> Contribution:
    """A gap closes where it is shut and approaches, or is far beyond that; a force ends where it comes down to zero.

    Args:
        lam: forces along the normals; problems: names of those of an impact.
    """
    guards, rough = [], {point.number for point in contacts.rough}
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


def _trace_dry(point: RoughPoint, forces: SX, bindings: Bindings) -> Contribution:
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
