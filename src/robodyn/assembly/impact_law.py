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

from robodyn.assembly.complementarity import friction_bounds, pose_problem, pushing_bounds, stack_bounds
from robodyn.assembly.contribution import Contribution, merge
from robodyn.assembly.mobility import Mobility, build_mobility, mean_compliance, slack_of, stack
from robodyn.assembly.motion import Motion
from robodyn.assembly.rigid_contact import CLOSED, FREE, LOCKED, Rigid
from robodyn.symbolic import clip, logical_and, maximum, minimum, sqrt, where

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


def find_impulse(motion: Motion, rigid: Rigid) -> tuple[Impulse, Contribution]:
    """With rebound, but not so much that it would give energy; and the problems that are solved for it."""
    # Two problems of the same kind: v_n+ >= 0, and v_n+ >= -r v_n-.
    speeds = {"impact.plastic": rigid.rates, "impact.elastic": rigid.rates + _rebound(motion, rigid)}
    if len(rigid.contact_points) == 1 and not rigid.has_friction:
        return _push_apart(rigid, "impact.elastic", speeds["impact.elastic"])
    smooth = Contribution()
    if rigid.has_friction:
        without, smooth = _push_apart(rigid, "impact.smooth", rigid.rates)
        law = _find_slips(motion, rigid, without.change)
        found = [law.rub(rigid, name, b) for name, b in speeds.items()]
    else:
        found = [_push_apart(rigid, name, b) for name, b in speeds.items()]
    (plastic, _), (elastic, _) = found
    impulse = _lose_energy(motion.v, plastic, elastic, rigid.sinks(elastic.change))
    return impulse, merge((smooth, *(problem for _, problem in found)))


def _rebound(motion: Motion, rigid: Rigid) -> ca.SX:
    """r v_n- of the contact points that approach fast enough to rebound."""
    rebounds, values = [], motion.context.values
    for contact_point in rigid.contact_points:
        rate = contact_point.rate
        bounces = rate < -contact_point.rest_speed(values)
        rebounds.append(where(bounces, contact_point.restitution(values) * rate, 0.0))
    return ca.vertcat(*rebounds)


def _push_apart(rigid: Rigid, name: str, b: ca.SX) -> tuple[Impulse, Contribution]:
    """The impact without friction.

    Args:
        b: speeds along the normals, above those of the rebound with its sign, (k,).
    """
    normal = rigid.normal
    bounds = pushing_bounds(normal, b, rigid.near, slack_of(b, rigid.near, CLOSED))
    modes, problem = pose_problem(name, normal, b, bounds, {})
    lam = normal.holder([mode == 0 for mode in modes])(b)
    return Impulse(rigid.H.T @ lam, normal.columns @ lam), problem


@dataclass(frozen=True)
class FrictionalImpact:
    """An impact with friction: mobility along the slips, slips before, coefficients, all of k contact points."""

    slip: Mobility
    s0: ca.SX
    coefficients: ca.SX

    def rub(self, rigid: Rigid, name: str, b: ca.SX) -> tuple[Impulse, Contribution]:
        """The impulses.

        Args:
            b: speeds along the normals, above those of the rebound with its sign, (k,).
        """
        normal, slip, k = rigid.normal, self.slip, b.numel()
        slack, both = slack_of(b, rigid.near, CLOSED), stack(normal, slip)
        motions = ca.vertcat(b, self.s0)
        bounds = stack_bounds(
            pushing_bounds(normal, b, rigid.near, slack), friction_bounds(rigid.near, slack, self.coefficients)
        )
        modes, problem = pose_problem(name, both, motions, bounds, {})
        pushing, directions = [mode == 0 for mode in modes[:k]], modes[k:]
        # A contact point that slides has beta = -+mu lam: its friction is a part of its normal column.
        ratio = -ca.vertcat(*directions) * self.coefficients
        columns = ca.horzcat(normal.columns + slip.columns @ ca.diag(ratio), slip.columns)
        mobility = Mobility(both.rows, columns, both.rows @ columns, both.compliance, tuple(range(k)))
        held = [*pushing, *(logical_and(p, e == 0) for p, e in zip(pushing, directions, strict=True))]
        found = mobility.holder(held)(motions)
        # Rounding aside, it is within the friction cone.
        lam, limit = maximum(found[:k], 0.0), self.coefficients * maximum(found[:k], 0.0)
        beta = clip(found[k:] + ratio * found[:k], -limit, limit)
        rubbed = Impulse(rigid.H.T @ lam + slip.rows.T @ beta, normal.columns @ lam + slip.columns @ beta)
        return rubbed, problem


def _find_slips(motion: Motion, rigid: Rigid, smooth: ca.SX) -> FrictionalImpact:
    """Friction acts against the slip that is left when the normals alone have acted.

    Args:
        smooth: change of the velocities without friction.
    """
    rows, coefficients = [], []
    for contact_point in rigid.contact_points:
        slips = ca.vertcat(*contact_point.slips)
        after = slips + ca.jtimes(slips, motion.v, smooth)
        speed, fast = sqrt(ca.sumsqr(after)), sqrt(ca.sumsqr(slips) + contact_point.rate**2)
        direction = where(speed > TINY_SLIP * (1 + fast), after / maximum(speed, TINY_SLIP), 0.0)
        rows.append(ca.jtimes(slips, motion.v, direction, True).T)
        rough = contact_point.contact.friction is not None
        name = f"{contact_point.contact.name}.friction.coefficient"
        coefficients.append(ca.SX(motion.context.values[name]) if rough else ca.SX(0))
    G, least = ca.vertcat(*rows), NO_MOBILITY * rigid.normal.compliance
    slip = build_mobility(rigid.accelerate, G, lambda own: mean_compliance(own) + least)
    # mu H M^-1 G^T >= H M^-1 H^T: the more it pushes, the more its friction pulls it in, until it has stopped.
    locks = [mu * (rigid.H[i, :] @ slip.columns[:, i]) for i, mu in enumerate(coefficients)]
    locked = [lock > (1 - FREE * LOCKED) * rigid.normal.S[i, i] for i, lock in enumerate(locks)]
    factors = ca.vertcat(*(where(lock, 1 + LOCKING, 1.0) for lock in locked))
    return FrictionalImpact(slip, G @ motion.v, factors * ca.vertcat(*coefficients))


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
