"""Rigid contact: which contact points of a machine rest, and which slide?

Symbols: k contact points with gaps g_i; rows K of the speeds along normals and then along tangents, M^-1 K^T with the
machine's constraints kept. A force along a normal has friction beside it, along the tangents: the columns of E.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from robodyn.base.symbolic import absolute, logical_and, logical_or, where
from robodyn.computation.assembly.complementarity import FIXED, UNSETTLED, Posed, pose_pushes
from robodyn.computation.assembly.contact_friction import DryPoint
from robodyn.computation.assembly.contact_geometry import ContactPoint
from robodyn.computation.assembly.contribution import Contribution
from robodyn.computation.assembly.end_stops import EndStop, RigidPoint
from robodyn.computation.assembly.mobility import RETURN_RATE, Mobility, Solve, slack_of
from robodyn.computation.assembly.reaction_modes import Reaction, Settled
from robodyn.description.model.contact import AnyContact

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


@dataclass(frozen=True)
class Rub:
    """Friction of a rough contact point.

    Attributes:
        number: of the point; rows: of its slips among all; used: tangents along which joints make it slip.
        slips: along these (m,); force: along both tangents for a normal force of 1 N (2,); states: of its law.
    """

    point: ContactPoint
    number: int
    rows: slice
    used: list[int]
    slips: ca.SX
    force: ca.SX
    coefficient: ca.SX
    states: tuple[ca.SX, ...]
    declared: Contribution


@dataclass(frozen=True)
class Contacts(Reaction):
    """The rigid contacts of a machine: rows of their normals, then of the slips of dry friction.

    Attributes:
        points: k contact points; rough: their friction; dry: that which sticks.
        plain: mobility of the speeds along all normals and then along all tangents, without friction.
        E: forces of the rows as forces along these.
        resting, settling, jams: memory, 1 while a contact point rests, after an impact, where one finds no forces.
        rest_speed: below which a contact point stays (k,); answer: force of constraints on the joints to one there.
        sizes: of each gap, the machine's length [m] or 1 rad where a joint stops that rotates (k,); length: of slips.
    """

    points: tuple[RigidPoint, ...]
    plain: Mobility
    E: ca.SX
    rough: tuple[Rub, ...]
    dry: tuple[DryPoint, ...]
    resting: ca.SX
    settling: ca.SX
    jams: dict[str, ca.SX]
    rest_speed: ca.SX
    answer: Solve
    sizes: ca.SX
    length: float

    @property
    def k(self) -> int:
        return len(self.points)

    @property
    def rests(self) -> ca.SX:
        """Of which contact points, (k,)."""
        return self.resting > 0.5

    @cached_property
    def gaps(self) -> ca.SX:
        return ca.vertcat(*(point.gap for point in self.points))

    @cached_property
    def rates(self) -> ca.SX:
        """Of the gaps, (k,)."""
        return ca.vertcat(*(point.rate for point in self.points))

    @cached_property
    def slips(self) -> ca.SX:
        """Of dry friction."""
        return ca.vertcat(ca.SX(0, 1), *(point.slips for point in self.dry))

    @property
    def near(self) -> ca.SX:
        return self.gaps <= NEAR * self.sizes

    @property
    def contacts(self) -> list[AnyContact | EndStop]:
        return list(dict.fromkeys(point.contact for point in self.points))

    @cached_property
    def normal(self) -> Mobility:
        """What forces along the normals do to the gaps."""
        return self.plain.select(slice(0, self.k))

    @property
    def directions(self) -> ca.SX:
        return self.E.T @ self.plain.rows

    @property
    def returning(self) -> ca.SX:
        """What sticks comes to rest again, should it move by the solver's errors."""
        return ca.vertcat(ca.SX(self.k, 1), 2 * RETURN_RATE * self.slips)

    def sinks(self, change: ca.SX) -> ca.SX:
        """Which contact points a change of velocities (n_v,) leaves on their way into the surface, (k,)."""
        # Beside the largest speed there is: rounding grows with it.
        fast = SINKING * self.sizes * (1 + ca.mmax(ca.fabs(self.rates / self.sizes)))
        return self.near * (self.rates + self.normal.rows @ change < -fast)

    @cached_property
    def effect(self) -> ca.SX:
        """What a force with its friction does to its own gap, as a part of what it would do without, (k,)."""
        # H_i M^-1 D_i^T by H_i M^-1 H_i^T: below zero, friction pulls the gap shut (Painleve).
        return ca.diag(self.mobility.S)[: self.k] / ca.diag(self.normal.S)

    def _effect_when_sliding(self) -> ca.SX:
        """The same where modes are found anew: what has come down and moves will slide."""
        effect = ca.SX(self.effect)
        for point in self.dry:
            i = point.number
            along = self.plain.S[i, point.rows] @ point.slide_direction
            effect[i] = where(point.moves, 1 - point.coefficient * along / self.normal.S[i, i], effect[i])
        return effect

    def pose(self, b: ca.SX, forces: ca.SX) -> list[Posed]:
        """Of the contact points that neither approach nor part, and their friction.

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
        E = ca.SX(self.E)
        E[:, [p.number for p in self.dry]] = ca.SX.eye(E.shape[0])[:, [p.number for p in self.dry]]
        F = ca.diagcat(ca.SX.eye(self.k), *(point.turn for point in self.dry))
        more = ca.SX(E.shape[1], E.shape[0] - E.shape[1])
        return self.plain.combine(ca.horzcat(F, more), E @ F.T, self.mobility.compliance, self.mobility.leaning)

    def settle(self, modes: list[ca.SX]) -> Settled:
        """Which contact points rest, and where their friction slides to; its states begin anew where none rests."""
        rests = modes[0] == 0
        update = {self.resting[i].name(): where(rests[i], 1.0, 0.0) for i in range(self.k)}
        for rub in self.rough:
            update |= {state.name(): where(rests[rub.number], state, 0.0) for state in rub.states}
        update[SETTLING] = ca.SX(0)
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

    def note_jams(self, wrong: ca.SX) -> dict[str, ca.SX]:
        """Contacts for which there are no forces or impulses that keep them from sinking in."""
        own = {name: [wrong[i] for i, p in enumerate(self.points) if p.contact.name == name] for name in self.jams}
        return {self.jams[name].name(): where(ca.mmax(ca.vertcat(*bad)), 1.0, 0.0) for name, bad in own.items()}
