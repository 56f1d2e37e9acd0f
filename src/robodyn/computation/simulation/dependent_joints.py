"""Singular mass matrix: which joints do the same at some state, so that nothing says how they share their motion?

M(q) is singular there: hinges behind one another have become parallel, with nothing heavy between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.computation.assembly.system import System

SINGULAR, ROUNDING, LESS = 1e-4, 1e-12, 0.01
"""Smallest eigenvalue of the mass matrix, scaled to ones on its diagonal, of joints that are independent: the square of
an angle of 10 mrad between axes, own choice. Also a light body between heavy ones makes it small: it must be next to
nothing, or that much less than at the start."""
TAKES_PART, MOST = 0.03, 3
"""Least part of a joint in the motion that moves nothing, and how many joints make it up; in the stiffest motion of a
long chain, which moves little, many take part."""


def find_dependent_joints(system: System, x: np.ndarray) -> list[str]:
    """Joints that can move against each other without moving any mass; the parameters as described."""
    if system.motion.mechanics is None or system.motion.momenta:
        return []
    least, motion = _least_inertia(system, x)
    start, _ = _least_inertia(system, np.array([state.start for state in system.states], float))
    if not (least <= ROUNDING or least <= min(SINGULAR, LESS * start)):
        return []
    names = [state.name.removesuffix(".velocity") for state in system.states[system.n_q : system.n_q + system.n_v]]
    found = [name for name, part in zip(names, motion, strict=True) if abs(part) > TAKES_PART]
    return found if len(found) <= MOST else []


def find_carried_points(system: System, joints: Sequence[str]) -> list[str]:
    """Bodies on joints that are points, a mass without inertia: what turns about them moves nothing."""
    mechanism = system.scenario.machine.mechanism
    carried = {joint.child for joint in mechanism.joints if joint.name in joints} if mechanism else set()
    bodies = mechanism.bodies if mechanism else ()
    return [f"'{body.name}'" for body in bodies if body.name in carried and body.mass and not np.any(body.inertia)]


def _least_inertia(system: System, x: np.ndarray) -> tuple[float, np.ndarray]:
    """Smallest eigenvalue of the scaled mass matrix and its direction; infinite where there is none to be had."""
    d, m = np.zeros(len(system.delays)), np.zeros(len(system.memory))
    M = np.array(system.function(system.mass_matrix)(0.0, x, d, m, [number.value for number in system.parameters]))
    scale = np.sqrt(np.abs(np.diag(M)))
    if not np.all(np.isfinite(M)) or not np.all(scale > 0):
        return np.inf, np.zeros(system.n_v)
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    return float(values[0]), vectors[:, 0]
