"""Random trees in which some links deform, the same for the same seed."""

from __future__ import annotations

import dataclasses

import numpy as np
from tests.support.random_trees import random_inertia, random_tree

from robodyn.base.spatial import Inertia, Pose
from robodyn.computation.dynamics import Elasticity, Link, Node, Tree

SCALE = 0.1
"""Of displacements for a unit of a mode [m]; 0.05 for their foreshortening."""


def flexible_tree(seed: int) -> Tree:
    """A tree of one-axis joints: a random one in which every second link deforms and carries its children by nodes."""
    rng = np.random.default_rng(3000 + seed)
    rigid = random_tree(seed)
    links: list[Link] = []
    place: dict[int, int] = {-1: -1}
    for index, link in enumerate(rigid.links):
        parent = place[link.parent]
        if parent >= 0 and links[parent].elasticity:
            links.append(_random_node(rng, parent, links[parent].n_modes))
            parent = len(links) - 1
        changed = dataclasses.replace(link, parent=parent)
        links.append(_flexible(rng, changed) if index % 2 == 0 else changed)
        place[index] = len(links) - 1

    return Tree(tuple(links), rigid.gravity)


def _random_node(rng: np.random.Generator, parent: int, n: int) -> Link:
    bend = rng.normal(size=(n, n, 3)) * 0.5 * SCALE
    node = Node(
        rng.normal(size=3),
        rng.normal(size=(n, 3)) * SCALE,
        rng.normal(size=(n, 3)) * SCALE,
        bend + bend.transpose(1, 0, 2),
    )

    return Link("node", "node", "fixed", parent, Pose.identity(), None, random_inertia(rng), node=node)


def _flexible(rng: np.random.Generator, link: Link) -> Link:
    """A link of 8 particles with 1 to 3 modes, particles that also turn, and foreshortening."""
    n = int(rng.integers(1, 4))
    m, r0 = rng.uniform(0.1, 1.0, 8), rng.normal(size=(8, 3)) * 0.3
    phi, bend = rng.normal(size=(8, n, 3)) * SCALE, rng.normal(size=(8, n, n, 3)) * 0.5 * SCALE
    bend = bend + bend.transpose(0, 2, 1, 3)
    tensor = np.einsum("p,pi,pj->ij", m, r0, r0)
    inertia = Inertia(m.sum(), np.zeros(3), np.eye(3) * np.trace(tensor) - tensor)
    com = m @ r0 / m.sum()
    shifted = np.eye(3) * (com @ com) - np.outer(com, com)
    inertia = Inertia(m.sum(), com, inertia.tensor - m.sum() * shifted)

    return dataclasses.replace(link, inertia=inertia, elasticity=_integrate(m, r0, phi, bend))


def _integrate(m: np.ndarray, r0: np.ndarray, phi: np.ndarray, bend: np.ndarray) -> Elasticity:
    once = np.einsum("p,pix,py->ixy", m, phi, r0)
    twice = np.einsum("p,pix,pjy->ijxy", m, phi, phi) + np.einsum("p,pijx,py->ijxy", m, bend, r0)
    return Elasticity(
        first=np.einsum("p,pix->ix", m, phi),
        first_bend=np.einsum("p,pijx->ijx", m, bend),
        second=once + once.transpose(0, 2, 1),
        second_bend=twice + twice.transpose(0, 1, 3, 2),
        turning=np.einsum("p,pix->ix", m, np.cross(r0[:, None], phi)),
        turning_bend=np.einsum(
            "p,pijx->ijx", m, np.cross(phi[:, None], phi[:, :, None]) + np.cross(r0[:, None, None], bend)
        ),
        mass=np.einsum("p,pix,pjx->ij", m, phi, phi),
    )
