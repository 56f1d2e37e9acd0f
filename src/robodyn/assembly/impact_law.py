"""Impact law: which impulses act where bodies hit each other, and what do they change?

Newton's law of impact as a complementarity problem of all contact points together, `v_n+ >= -r v_n-`, with friction
where the contacts have some. It may give energy, by friction and where contacts differ: as much of the rebound is then
left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.assembly.builder import Builder
from robodyn.assembly.complementarity import Mobility
from robodyn.assembly.frictional_impact import FrictionalImpact
from robodyn.assembly.motion import Motion
from robodyn.assembly.rigid_contact import COMPLIANCE, Rigid
from robodyn.symbolic import maximum, minimum, sqrt, where

TINY_SLIP = 1e-9
"""Slip [m/s] that has no direction."""
NO_MOBILITY = 1e-9
"""Part of the normal mobility that stands in for that along a slip without direction."""


@dataclass(frozen=True)
class Impulse:
    """Impulse on the joints and what it changes of their velocities, both (n_v,)."""

    impulse: ca.SX
    change: ca.SX

    def work(self, v: ca.SX) -> ca.SX:
        """On joints that had the velocities v: `P^T (v + y / 2)`."""
        return ca.dot(self.impulse, v + 0.5 * self.change)


def find_impulse(builder: Builder, motion: Motion, rigid: Rigid) -> Impulse:
    """With rebound, but not so much that it would give energy."""
    # Two problems of the same kind: v_n+ >= 0, and v_n+ >= -r v_n-.
    without = rigid.rates
    rebounding = without + _rebound(builder, rigid)
    if not rigid.has_friction:
        plastic, elastic = (_push_apart(rigid, b) for b in (without, rebounding))
    else:
        plastic, elastic = _rub(builder, motion, rigid, (without, rebounding))
    if len(rigid.contact_points) == 1 and not rigid.has_friction:
        return elastic
    return _lose_energy(motion.v, plastic, elastic, rigid.sinks(elastic.change))


def _rebound(builder: Builder, rigid: Rigid) -> ca.SX:
    """r v_n- of the contact points that approach fast enough to rebound."""
    rebounds = []
    for contact_point in rigid.contact_points:
        name, rate = contact_point.contact.name, contact_point.rate
        bounces = rate < -builder.values[f"{name}.rest_speed"]
        rebounds.append(where(bounces, builder.values[f"{name}.restitution"] * rate, 0.0))
    return ca.vertcat(*rebounds)


def _push_apart(rigid: Rigid, b: ca.SX) -> Impulse:
    """The impact without friction.

    Args:
        b: speeds along the normals, above those of the rebound with its sign, (k,).
    """
    mobility = rigid.mobility(rigid.H)
    lam = mobility.complement(b, rigid.near)[0]
    return Impulse(rigid.H.T @ lam, mobility.columns @ lam)


def _rub(builder: Builder, motion: Motion, rigid: Rigid, problems: tuple[ca.SX, ca.SX]) -> list[Impulse]:
    """The impacts with friction, against the slips that there would be without it.

    Args:
        problems: speeds along the normals, above those of the rebound with its sign, each (k,).
    """
    smooth = _push_apart(rigid, problems[0]).change
    rows, coefficients = [], []
    for contact_point in rigid.contact_points:
        slips = ca.vertcat(*contact_point.slips)
        # Friction acts against the slip that is left when the normals alone have acted.
        after = slips + ca.jtimes(slips, motion.v, smooth)
        speed = sqrt(ca.sumsqr(after) + TINY_SLIP**2)
        rows.append(ca.jtimes(slips, motion.v, after / speed, True).T)
        has_friction = contact_point.contact.friction is not None
        coefficients.append(
            builder.values[f"{contact_point.contact.name}.friction.coefficient"] if has_friction else ca.SX(0)
        )
    G, normal = ca.vertcat(*rows), rigid.mobility(rigid.H)
    columns, k = rigid.responses(G), len(rows)
    compliance = COMPLIANCE * ca.sum1(ca.sum2(G * columns.T)) / k + NO_MOBILITY * normal.compliance[0]
    frictional = FrictionalImpact(normal, Mobility(G, columns, ca.repmat(compliance, k, 1)), G @ motion.v, coefficients)
    impacts: list[Impulse] = []
    impulses = None
    for b in problems:
        lam, beta = impulses = frictional.solve(b, rigid.near, impulses)
        impacts.append(Impulse(rigid.H.T @ lam + G.T @ beta, frictional.change(lam, beta)))
    return impacts


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
