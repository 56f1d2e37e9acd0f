"""Kinetic and potential energy: how much do the links hold?"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.base.spatial import Scalar, Vector, cross, dot
from robodyn.computation.dynamics.flexible import Elasticity
from robodyn.computation.dynamics.kinematics import link_poses, link_velocities
from robodyn.computation.dynamics.tree import Tree, deformed_moments


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic energy of all links and rotors [J], v^T M v / 2.

    sum (m u.u + 2 h.(u x omega) + omega.J omega) / 2 over links, plus armature v^2 / 2 over joints
    """
    total = 0.0
    bodies, eta, rates = deformed_moments(tree, q), tree.deformations(q), tree.mode_rates(v)
    for index, (link, (omega, u)) in enumerate(zip(tree.links, link_velocities(tree, q, v), strict=True)):
        body = bodies[index]
        # About the link's origin, not its centre of mass: hence the mixed term with the first moment h.
        total = total + 0.5 * (body.mass * dot(u, u) + dot(omega, body.tensor @ omega))
        total = total + dot(body.first, cross(u, omega))
        for k, _ in tree.columns(index):
            total = total + 0.5 * link.armature * v[k] * v[k]
        if link.elasticity:
            total = total + _modal_energy(link.elasticity, (omega, u), eta[index], rates[index])

    return total


def _modal_energy(
    elasticity: Elasticity, motion: tuple[Vector, Vector], eta: Sequence[Scalar], rates: Sequence[Scalar]
) -> Scalar:
    """What moving modes add: sum (u.f_i + omega.n_i) eta_i' + eta'^T M eta' / 2."""
    omega, u = motion
    total = 0.0
    for i, (f, n) in enumerate(elasticity.columns(eta)):
        row = sum((elasticity.mass[i, j] * rates[j] for j in range(elasticity.n)), 0.0)
        total = total + (dot(u, f) + dot(omega, n) + 0.5 * row) * rates[i]

    return total


def potential_energy(tree: Tree, q: Sequence[Scalar]) -> Scalar:
    """Energy of all links in the gravity field [J], zero at the world's origin: -sum m g.p_com."""
    total = 0.0
    for body, pose in zip(deformed_moments(tree, q), link_poses(tree, q), strict=True):
        # m p_com = m p + R h.
        moment = body.mass * pose.p + pose.R @ body.first
        total = total - dot(tree.gravity, moment)

    return total


def total_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic and potential energy together [J]."""
    return kinetic_energy(tree, q, v) + potential_energy(tree, q)
