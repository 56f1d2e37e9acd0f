"""Rigid contact: what are the contacts of a machine made of, and what do they not go together with?

Symbols: k contact points with gaps g_i and gradients H_i; D_i the direction of a contact point's force in the joints'
space, H_i with friction added; A = H M^-1 D^T with the machine's constraints kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from robodyn.assembly.complementarity import Bounds, pushing_bounds
from robodyn.assembly.contact import check_moves, own_name, trace_contact
from robodyn.assembly.contact_friction import DryFriction, DryPoint, build_dry_friction, find_dry_points
from robodyn.assembly.contact_geometry import ContactPoint, find_contact_points, find_drifts
from robodyn.assembly.contribution import Context, Contribution, Deferred, declare_memory, merge, reference_to
from robodyn.assembly.declarations import MemoryInfo
from robodyn.assembly.end_stops import EndStop, RigidPoint, StopPoint, find_end_stops
from robodyn.assembly.mobility import RETURN_RATE, Mobility, Solve, build_mobility, mean_compliance, slack_of
from robodyn.assembly.motion import Motion
from robodyn.assembly.values import Values
from robodyn.laws import info_of
from robodyn.model import RigidContact
from robodyn.model.contact import AnyContact, function_of
from robodyn.symbolic import absolute, logical_and, logical_or, where

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
LOCKED = 0.01
"""Part of its effect without friction at which a force can no longer hold a gap: it would grow beyond all bounds."""
FREE = 1.1
"""How many times more it must be to hold again."""


@dataclass(frozen=True)
class Rigid:
    """The rigid contacts of a machine and the expressions their behaviour is made of.

    Attributes:
        resting: for each contact point, memory that is 1 while it rests.
        H, D: gradients and directions of forces (k, n_v); directions: of forces in world axes, per normal force, (3,).
        accelerate: M^-1, constraints kept, as a function of a column; constraint_force: force of constraints on the
        joints, likewise.
        drift: accelerations of the gaps while the joints do not accelerate (k,).
        dry: friction that sticks, of those contact points that have it.
    """

    contact_points: tuple[RigidPoint, ...]
    resting: tuple[ca.SX, ...]
    H: ca.SX
    D: ca.SX
    directions: tuple[ca.SX, ...]
    accelerate: Solve
    constraint_force: Solve
    drift: ca.SX
    dry: DryFriction | None

    @property
    def held(self) -> list[ca.SX]:
        return [memory > 0.5 for memory in self.resting]

    @property
    def near(self) -> list[ca.SX]:
        return [contact_point.gap <= NEAR for contact_point in self.contact_points]

    @property
    def contacts(self) -> list[AnyContact | EndStop]:
        return list(dict.fromkeys(contact_point.contact for contact_point in self.contact_points))

    @property
    def rates(self) -> ca.SX:
        """Of the gaps, (k,)."""
        return ca.vertcat(*(contact_point.rate for contact_point in self.contact_points))

    def sinks(self, change: ca.SX) -> ca.SX:
        """Which contact points a change of velocities (n_v,) leaves on their way into the surface, (k,)."""
        # Beside the largest speed there is: rounding grows with it.
        fast = SINKING * (1 + ca.mmax(ca.fabs(self.rates)))
        return ca.vertcat(*self.near) * (self.rates + self.H @ change < -fast)

    @property
    def has_friction(self) -> bool:
        return any(contact_point.contact.friction is not None for contact_point in self.contact_points)

    @cached_property
    def normal(self) -> Mobility:
        """What forces along the normals do to the gaps."""
        return build_mobility(self.accelerate, self.H, mean_compliance)

    @cached_property
    def mobility(self) -> Mobility:
        """What forces with their friction do to the gaps."""
        return build_mobility(self.accelerate, self.H, mean_compliance, self.D) if self.has_friction else self.normal

    @cached_property
    def sorting(self) -> Mobility:
        """The same where modes are found: friction that sticks has rows of its own."""
        if self.dry is None:
            return self.mobility
        rows = [self.H[i, :] if t.contact.sticks else self.D[i, :] for i, t in enumerate(self.contact_points)]
        return build_mobility(self.accelerate, self.H, mean_compliance, ca.vertcat(*rows))

    def effect(self, i: int) -> ca.SX:
        """What a force with its friction does to its own gap, as a part of what it would do without."""
        # H_i M^-1 D_i^T by H_i M^-1 H_i^T: below zero, friction pulls the gap shut (Painleve).
        return self.mobility.S[i, i] / self.normal.S[i, i]

    def _effect_when_sliding(self, i: int) -> ca.SX:
        """The same where modes are found anew: what has come down and moves will slide."""
        for point in self.dry.points if self.dry else ():
            if point.number == i:
                along = self.H[i, :] @ (self.dry.mobility.columns[:, point.rows] @ point.slide_direction)  # type: ignore[union-attr]
                return where(point.moves, 1 - point.coefficient * along / self.normal.S[i, i], self.effect(i))
        return self.effect(i)

    def motions(self, a: ca.SX) -> ca.SX:
        """Accelerations of the gaps without contact forces, and beside them what rests returns to its surface, (k,).

        Whether a contact point pushes is found from the same as how much: else one whose force has ended may go on
        resting.
        """
        # g'' = H a + drift, and for what rests g'' + 2 r g' + r^2 g = 0 (Baumgarte).
        b = self.H @ a + self.drift
        returning = [
            2 * RETURN_RATE * contact_point.rate + RETURN_RATE**2 * contact_point.gap
            for contact_point in self.contact_points
        ]
        return b + ca.vertcat(*(where(held, more, 0.0) for held, more in zip(self.held, returning, strict=True)))

    def bounds(self, values: Values, b: ca.SX, forces: ca.SX, settling: ca.SX) -> Bounds:
        """Of the contact points that neither approach nor part.

        One whose friction would pull it in more than its force pushes is let go (Painleve's paradox): it sinks by a
        rounding error and hits. That impact may stop its slip; if it does not, it hits again and again, as is reported.

        Args:
            b: accelerations of the gaps without contact forces; forces: by the present modes; settling: memory that is
            1 after an impact.
        """
        allowed = []
        for i, contact_point in enumerate(self.contact_points):
            # What rests may creep up to its rest speed before it counts as parting.
            slow = where(self.held[i], contact_point.rest_speed(values), RESTING)
            at_rest = logical_and(self.near[i], absolute(contact_point.rate) <= slow)
            # What rests rests on while it pushes, else by an impact only: a located end of a force is one, also where
            # this decision would round another way.
            pushes = logical_and(self.held[i], forces[i] > 0)
            at_rest = logical_and(at_rest, logical_or(pushes, settling > 0.5))
            free = self._effect_when_sliding(i) > FREE * LOCKED if self.has_friction else True
            allowed.append(logical_and(at_rest, free))
        return pushing_bounds(self.sorting, b, allowed, slack_of(b, allowed))

    def note_jams(self, wrong: list[ca.SX]) -> dict[str, Deferred]:
        """Contacts for which there are no forces or impulses that keep them from sinking in."""
        updates = {}
        for contact in self.contacts:
            found = ca.SX(0)
            for contact_point, bad in zip(self.contact_points, wrong, strict=True):
                found = logical_or(found, bad) if contact_point.contact is contact else found
            updates[f"{contact.name}.{JAMS}"] = Deferred(where(found, 1.0, 0.0), {})
        return updates

    def unbend(self, rests: list[ca.SX]) -> dict[str, Deferred]:
        """States of friction where nothing rests: what parts takes nothing with it."""
        update = {}
        for contact_point, rest in zip(self.contact_points, rests, strict=True):
            for _, law, _ in contact_point.contact.laws.values():
                for state in info_of(function_of(law)).states:
                    so_far = reference_to(own_name(contact_point, state))
                    kept = where(rest, so_far.expression, 0.0)
                    update[own_name(contact_point, state)] = Deferred(kept, so_far.bindings)
        return update


def build_rigid(motion: Motion, accelerate: Solve, constraint_force: Solve) -> tuple[Rigid | None, Contribution]:
    """The rigid contacts of a machine, if it has any, with their memory and the states of their friction.

    Args:
        accelerate: M^-1, constraints kept, as a function of a column; constraint_force: force of constraints on the
        joints, likewise.
    """
    contacts = [c for c in motion.context.scenario.machine.contacts if isinstance(c, RigidContact)]
    found = [find_contact_points(motion, contact) for contact in contacts]
    contact_points: list[RigidPoint] = [point for group in found if check_moves(motion, group) for point in group]
    contact_points += find_end_stops(motion)
    if not contact_points or not _check_rest(motion, contact_points):
        return None, Contribution()
    H = ca.vertcat(*(_row(motion, point, point.normal) for point in contact_points))
    infos = [MemoryInfo(own_name(point, "rests"), "", 0.0, hidden=True) for point in contact_points]
    rests = merge(declare_memory(info) for info in infos)
    resting = tuple(rests.symbols.values())
    dry, slides = find_dry_points(motion, contact_points, resting)
    pushes = [_push(motion.context, point, resting[i], dry.get(i)) for i, point in enumerate(contact_points)]
    directions = tuple(direction for direction, _ in pushes)
    D = H
    if any(contact_point.contact.friction is not None for contact_point in contact_points):
        # D_i = (dw/dv)^T (n + friction), the force's direction in the space of the joints.
        rough = [contact_point.contact.friction is not None for contact_point in contact_points]
        pairs = enumerate(zip(contact_points, directions, strict=True))
        D = ca.vertcat(*(_row(motion, point, n) if rough[i] else H[i, :] for i, (point, n) in pairs))
    drift = ca.vertcat(*(_drift(motion, point) for point in contact_points))
    friction = build_dry_friction(motion, dry, accelerate)
    own = (tuple(contact_points), resting, H, D, directions)
    declared = merge((rests, slides, *(part for _, part in pushes)))
    return Rigid(*own, accelerate, constraint_force, drift, friction), declared


def _row(motion: Motion, point: RigidPoint, direction: ca.SX) -> ca.SX:
    """Gradient of a contact point's velocity along a direction by the joints' velocities, (1, n_v)."""
    if isinstance(point, ContactPoint):
        return ca.sparsify(direction.T @ point.gradient)
    return ca.jacobian(point.rate, motion.v)


def _drift(motion: Motion, point: RigidPoint) -> ca.SX:
    """Acceleration of a gap while the joints do not accelerate."""
    if isinstance(point, ContactPoint):
        return find_drifts(motion, point, [point.normal])
    return ca.jtimes(point.rate, motion.q, motion.q_dot)


def _push(
    context: Context, contact_point: RigidPoint, resting: ca.SX, dry: DryPoint | None
) -> tuple[ca.SX, Contribution]:
    """Force on the touching body for a normal force of 1 N: along the normal, and what its friction adds."""
    if isinstance(contact_point, StopPoint) or contact_point.contact.friction is None:
        return contact_point.normal, Contribution()
    first, second = dry.direction if dry else contact_point.slips
    given = {"slip1": first, "slip2": second, "normal": ca.SX(1), "travel": contact_point.travel}
    if contact_point.contact.sticks:
        given["direction"] = where(dry.slides, 1.0, 0.0) if dry else ca.SX(0)
    rubbed, traced = trace_contact(context, contact_point, given, "friction", ("force1", "force2"), resting > 0.5)
    if rubbed is None:
        return contact_point.normal, traced
    along, across = contact_point.tangents
    return contact_point.normal + rubbed["force1"] * along + rubbed["force2"] * across, traced


def _check_rest(motion: Motion, contact_points: list[RigidPoint]) -> bool:
    """Report what rigid contacts do not go together with."""
    scenario, flaws, path = motion.context.scenario, motion.context.flaws, contact_points[0].path
    method = scenario.constraint_method.method
    before = len(flaws.found)
    if method in ("index3", "minimal"):
        what = f"rigid contacts and end stops do not go together with the constraint method '{method}'"
        flaws.add(path, what, "say baumgarte or projection")
    if scenario.initialisation == "equilibrium":
        flaws.add(path, "a rest on a rigid contact or end stop is not searched for", "start as given")
    elif scenario.initialisation == "given":
        _check_start(motion, contact_points)
    return len(flaws.found) == before


def _check_start(motion: Motion, contact_points: list[RigidPoint]) -> None:
    for contact_point in contact_points:
        gap, rate = motion.values_at_start(ca.vertcat(contact_point.gap, contact_point.rate))
        # A start inside a surface, or on its way into one, has no impulse that belongs to it.
        if gap < -SUNK:
            what = f"starts inside the surface, by {-gap:.3g} m"
            motion.context.flaws.add(contact_point.path, what, "change initial")
        elif gap <= NEAR and rate < -RESTING:
            what = f"starts in touch and moves into the surface, with {-rate:.3g} m/s"
            motion.context.flaws.add(contact_point.path, what, "start a little above it")
