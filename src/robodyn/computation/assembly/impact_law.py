"""Impact law: which impulses act where bodies hit each other, and what do they change?

Symbols: lam, beta impulses along the k normals and along the k slips; r speeds along the normals above those of the
rebound, s slips; mu coefficients of friction:

    r = b + H y >= 0,    s = s0 + G y,    y = M^-1 (H^T lam + G^T beta),    |beta_i| <= mu_i lam_i

Newton's law of impact as a complementarity problem of all contact points together, `v_n+ >= -r v_n-`. In the direction
of the slip that there would be without friction, a contact point slides, beta_i = -+mu_i lam_i, or it sticks, s_i = 0.
The law may give energy, by friction and where contacts differ: as much of the rebound is then left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.base.symbolic import clip, logical_and, maximum, minimum, sqrt, where
from robodyn.computation.assembly.complementarity import Posed, pose_problem, pose_pushes
from robodyn.computation.assembly.contribution import Contribution, merge
from robodyn.computation.assembly.mobility import Mobility, mean_compliance, slack_of
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.rigid_contact import CLOSED, FREE, LOCKED, Contacts

TINY_SLIP = 1e-7
"""Slip [m/s], and part of the speed before the impact, that has no direction but that of rounding: no friction then."""
NO_MOBILITY = 1e-9
"""Part of the normal compliance that stands in for that along a slip without direction."""
LOCKING = 2 * FREE * LOCKED
"""Part of its friction that a contact point has more where that all but locks it: so it stops at once, by an impulse
without a collision, which is the way out of Painleve's paradox."""


@dataclass(frozen=True)
class Impulse:
    """Impulse on the joints and what it changes of their velocities, both (n_v,)."""

    impulse: ca.SX
    change: ca.SX

    def work(self, v: ca.SX) -> ca.SX:
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


def _rebound(motion: Motion, contacts: Contacts) -> ca.SX:
    """r v_n- of the contact points that approach fast enough to rebound."""
    restitution = ca.vertcat(*(point.restitution(motion.context.values) for point in contacts.points))
    return where(contacts.rates < -contacts.rest_speed, restitution * contacts.rates, 0.0)


@dataclass(frozen=True)
class Slips:
    """Along which contact points slip: directions G among all rows of contacts, a column for each of k contact points.

    Attributes:
        mobility: along these; speeds: before the impact; coefficients: of friction; all of k rows.
    """

    G: ca.SX
    mobility: Mobility
    speeds: ca.SX
    coefficients: ca.SX


def _collide(contacts: Contacts, name: str, b: ca.SX, slips: Slips | None = None) -> tuple[Impulse, Contribution]:
    """The impulses of an impact, without friction where no slips are given.

    Args:
        b: speeds along the normals, above those of the rebound with its sign, (k,).
    """
    k, near, normal, plain = contacts.k, contacts.near, contacts.normal, contacts.plain
    slack = slack_of(b / contacts.sizes, near, CLOSED)
    parts, B = [pose_pushes(normal, b, near, slack * contacts.sizes)], ca.SX.eye(plain.compliance.numel())[:, :k]
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
        E = ca.vertcat(ca.horzcat(ca.SX.eye(k), ca.SX(k, k)), ca.horzcat(ca.diag(ratio), ca.SX.eye(k)))
        compliance = ca.vertcat(normal.compliance, slips.mobility.compliance)
        mobility = plain.combine(B.T, B @ E, compliance, tuple(range(k)))
        held = ca.vertcat(pushing, logical_and(pushing, directions == 0))
        found = mobility.holder(held)(ca.vertcat(b, slips.speeds))
        # Rounding aside, it is within the friction cone.
        lam = maximum(found[:k], 0.0)
        beta = clip(found[k:] + ratio * found[:k], -mu * lam, mu * lam)
        along = B @ ca.vertcat(lam, beta)
    return Impulse(plain.rows.T @ along, plain.columns @ along), problem


def _find_slips(contacts: Contacts, smooth: ca.SX) -> Slips:
    """Friction acts against the slip that is left when the normals alone have acted.

    Args:
        smooth: change of the velocities without friction.
    """
    k, plain = contacts.k, contacts.plain
    G, speeds, factors = ca.SX(plain.compliance.numel(), k), ca.SX(k, 1), ca.SX(k, 1)
    for rub in contacts.rough:
        i, after = rub.number, rub.slips + plain.rows[rub.rows, :] @ smooth
        speed, fast = sqrt(ca.sumsqr(after)), sqrt(ca.sumsqr(rub.slips) + contacts.rates[i] ** 2)
        tiny = TINY_SLIP * contacts.length
        direction = where(speed > tiny + TINY_SLIP * fast, after / maximum(speed, tiny), 0.0)
        G[rub.rows, i], speeds[i] = direction, ca.dot(direction, rub.slips)
        # mu H M^-1 G^T >= H M^-1 H^T: the more it pushes, the more its friction pulls it in, until it has stopped.
        lock = rub.coefficient * (plain.S[i, rub.rows] @ direction)
        locked = lock > (1 - FREE * LOCKED) * plain.S[i, i]
        factors[i] = where(locked, 1 + LOCKING, 1.0) * rub.coefficient
    least = NO_MOBILITY * contacts.normal.compliance
    compliance = mean_compliance(ca.diag(G.T @ plain.S @ G)) + least
    return Slips(G, plain.combine(G.T, G, compliance), speeds, factors)


def _lose_energy(v: ca.SX, plastic: Impulse, elastic: Impulse, sinks: ca.SX) -> Impulse:
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
