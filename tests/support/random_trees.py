"""Random trees and states, the same for the same seed, on which mechanics is tested."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn.base.spatial import Inertia, Pose, from_rpy
from robodyn.computation.dynamics import GROUND, Link, Tree
from robodyn.computation.dynamics.joints import KINDS

SEEDS = range(24)
"""Trees of 1 to 12 links: first with one-axis joints only, then with all kinds."""


def random_tree(seed: int) -> Tree:
    """Branching tree of 1 + seed % 12 links."""
    kinds = ("revolute", "prismatic") if seed < 12 else tuple(kind for kind in KINDS if KINDS[kind].n_v)
    rng = np.random.default_rng(seed)
    links: list[Link] = []
    for index in range(1 + seed % 12):
        links.append(_random_link(rng, index, links, kinds))
    links = _fill_tips(rng, links)

    return Tree(tuple(links), gravity=rng.normal(size=3) * 5.0)


def random_state(tree: Tree, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates q, with unit quaternions where the joints have them, rates v and accelerations a."""
    rng = np.random.default_rng(1000 + seed)
    q = rng.uniform(-2.0, 2.0, tree.n_q)
    for link, part in zip(tree.links, tree.q_slices, strict=True):
        if link.kind in ("ball", "free"):
            quaternion = q[part][-4:]
            q[part.stop - 4 : part.stop] = quaternion / np.linalg.norm(quaternion)

    return q, rng.uniform(-2.0, 2.0, tree.n_v), rng.uniform(-5.0, 5.0, tree.n_v)


def random_wrenches(tree: Tree, seed: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Force and torque on about half of the links, on one at least."""
    rng = np.random.default_rng(2000 + seed)
    loaded = {index for index in range(len(tree.links)) if rng.random() < 0.5} | {len(tree.links) - 1}

    return {index: (rng.normal(size=3) * 20.0, rng.normal(size=3) * 5.0) for index in sorted(loaded)}


def random_inertia(rng: np.random.Generator) -> Inertia:
    """Inertia of a cloud of mass points, so that no real body's bounds are broken."""
    points = rng.normal(size=(8, 3)) * 0.2 + rng.normal(size=3) * 0.1
    body = Inertia.massless()
    for point, mass in zip(points, rng.uniform(0.1, 1.0, len(points)), strict=True):
        body = body + Inertia.point(mass, point)

    return body


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """General rotation, or one by right angles."""
    angles = rng.uniform(-3.0, 3.0, 3) if rng.random() < 0.5 else rng.integers(-2, 3, 3) * (np.pi / 2)

    return from_rpy(*angles)


def _random_link(rng: np.random.Generator, index: int, links: list[Link], kinds: tuple[str, ...]) -> Link:
    parent = int(rng.integers(max(GROUND, index - 3), index))
    kind = str(rng.choice(kinds))

    return Link(
        name=f"link{index}",
        joint=f"joint{index}",
        kind=kind,
        parent=parent,
        frame=Pose(random_rotation(rng), rng.uniform(-0.6, 0.6, 3) * rng.integers(0, 2, 3)),
        axis=_random_axis(rng) if KINDS[kind].has_axis else None,
        inertia=Inertia.massless() if _may_be_massless(rng, links, parent) else random_inertia(rng),
        armature=float(rng.choice([0.0, rng.uniform(0.01, 1.0)])),
        pitch=float(rng.uniform(-0.3, 0.3)) if kind == "screw" else 0.0,
    )


def _may_be_massless(rng: np.random.Generator, links: list[Link], parent: int) -> bool:
    """One link in four, but never next to the ground or to another massless one."""
    return parent != GROUND and links[parent].inertia.mass > 0.0 and rng.random() < 0.25


def _fill_tips(rng: np.random.Generator, links: list[Link]) -> list[Link]:
    """Give mass to massless links that carry nothing, an armature to the others: else M could be singular."""
    carrying = {link.parent for link in links}
    filled = []
    for index, link in enumerate(links):
        if link.inertia.mass == 0.0:
            inertia = link.inertia if index in carrying else random_inertia(rng)
            link = replace(link, inertia=inertia, armature=link.armature + 0.05)
        filled.append(link)

    return filled


def _random_axis(rng: np.random.Generator) -> np.ndarray:
    """General unit vector, or one along a coordinate axis, either way round."""
    if rng.random() < 0.5:
        return np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    axis = rng.normal(size=3)

    return axis / np.linalg.norm(axis)
