"""How much energy do the links hold?"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.dynamics.kinematics import link_poses, link_velocities
from robodyn.dynamics.tree import Tree
from robodyn.spatial import cross, dot
from robodyn.spatial.vectors import Scalar


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic energy of all links and rotors [J], v^T M v / 2.

    sum (m u.u + 2 h.(u x omega) + omega.J omega) / 2 over links, plus armature v^2 / 2 over joints
    """
    total = 0.0
    for index, (link, (omega, u)) in enumerate(zip(tree.links, link_velocities(tree, q, v), strict=True)):
        body = link.inertia.about_origin()
        total = total + 0.5 * (body.mass * dot(u, u) + dot(omega, body.tensor @ omega))
        total = total + dot(body.first, cross(u, omega))
        for k, _ in tree.columns(index):
            total = total + 0.5 * link.armature * v[k] * v[k]

    return total


def potential_energy(tree: Tree, q: Sequence[Scalar]) -> Scalar:
    """Energy of all links in the gravity field [J], zero at the world's origin: -sum m g.p_com."""
    total = 0.0
    for link, pose in zip(tree.links, link_poses(tree, q), strict=True):
        moment = link.inertia.mass * pose.p + pose.R @ link.inertia.first_moment
        total = total - dot(tree.gravity, moment)

    return total


def total_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic and potential energy together [J]."""
    return kinetic_energy(tree, q, v) + potential_energy(tree, q)
