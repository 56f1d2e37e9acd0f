"""Inertia check: does each joint feel some inertia? Else its acceleration would not be determined."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import casadi as ca
import numpy as np

from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tree import build_tree
from robodyn.computation.assembly.values import collect_values
from robodyn.computation.dynamics import Tree, articulate, mass_matrix, mean_depth
from robodyn.computation.dynamics.forward import COMPOSITE_DEPTH
from robodyn.description.model import LinearCombination

NO_INERTIA = 1e-12
"""Part of the largest inertia that is none."""


def check_inertia(motion: Motion) -> bool:
    """The pivots of M, eliminated from the leaves to the root, are positive."""
    tree, flaws = _numeric_tree(motion), motion.context.flaws
    if not tree.n_v:
        flaws.add("joints", "none of them moves", "make one revolute or prismatic, or leave the mechanism out")
        return False
    # Some random positions: a joint may feel no inertia at one of them alone.
    pivots = np.full(tree.n_v, np.inf)
    generator = np.random.default_rng(1)
    for _ in range(3):
        place = generator.uniform(-1, 1, tree.n_q) * motion.scales
        place[tree.n_joint_coordinates :] = 0.0
        pivots = np.minimum(pivots, _pivots_at(motion, tree, place))
    # Masses, and inertias by the square of the machine's size.
    masses = pivots * (motion.speed_scales / motion.context.size.length) ** 2
    # Modes come after the joints, and have mass in any case.
    moving = [link for link in tree.links for _ in link.subspace]
    parts = zip(moving, pivots, masses > NO_INERTIA * np.max(np.abs(masses)), strict=False)
    idle = [(link, pivot) for link, pivot, feels in parts if not feels]
    for link, pivot in idle:
        flaws.add(
            f"joints.{link.joint}",
            f"feels no inertia ({pivot:.3g}): everything beyond it is massless about its axis",
            f"give '{link.name}' or a body beyond it mass or inertia, or the joint an armature",
        )
    return not idle


def _numeric_tree(motion: Motion) -> Tree:
    """The tree with all numbers as they are described."""
    scenario = motion.context.scenario
    if not scenario.machine.tunable:
        return motion.mechanics.tree
    numeric = collect_values(replace(scenario, machine=replace(scenario.machine, tunable=())))
    return build_tree(motion.mechanism, numeric).tree


def _pivots_at(motion: Motion, tree: Tree, q: np.ndarray) -> np.ndarray:
    """Inertia that each joint feels with all joints beyond it free: from M, or from the sweep of a long chain."""
    if mean_depth(tree) > COMPOSITE_DEPTH and not motion.rotors and not tree.is_flexible:
        with suppress(np.linalg.LinAlgError):
            joints = articulate(tree, list(q)).joints
            return np.array([1.0 / inverse for joint in joints for inverse in joint.factors.inverse_diagonal])
    return _pivots(np.asarray(mass_matrix(tree, list(q))) + _rotor_inertia(motion))


def _rotor_inertia(motion: Motion) -> np.ndarray:
    total = np.zeros((motion.v.numel(),) * 2)
    for coordinate in motion.context.scenario.machine.coordinates:
        if isinstance(coordinate, LinearCombination) and coordinate.inertia:
            gradient = np.array(ca.DM(motion.gradient(coordinate.name)))
            total += coordinate.inertia * gradient.T @ gradient
    return total


def _pivots(M: np.ndarray) -> np.ndarray:
    """Diagonal of D in M = L^T D L."""
    M = M.copy()
    pivots = np.empty(M.shape[0])
    for k in reversed(range(M.shape[0])):
        pivots[k] = M[k, k]
        if pivots[k] > 0:
            M[:k, :k] -= np.outer(M[:k, k], M[k, :k]) / pivots[k]
    return pivots
