"""Interface merge: on which motion do two sides of one body agree after a macro step, and how do they take it on?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.computation.assembly import System
from robodyn.computation.cosimulation.reduced import PortTerms
from robodyn.computation.cosimulation.rotations import reach, turn_by
from robodyn.computation.cosimulation.unit import InterfaceMotion, ReducedModel

JOININGS = ("inertia", "mean", "none")
"""Each side moves by the other's share of the inertia, both move halfway, or each keeps its own motion."""
CLOSED = 1e-12
"""Distance at which an interface is where it should be [m, rad]."""


def join_motions(first: ReducedModel, second: ReducedModel, how: str) -> InterfaceMotion:
    """The common motion of two sides.

        inertia: (M_1 + M_2) w = M_1 w_1 + M_2 w_2,    mean: w = (w_1 + w_2) / 2

    and so for the position and the rotation. The first keeps the momentum; a side is not asked to move where it cannot,
    which is where its inertia has no bound.
    """
    a, b = first.motion, second.motion
    share = _share(first, second, how)
    moved = share @ reach(a, b)
    n = len(a.position)
    rotation = None if a.rotation is None else turn_by(a.rotation, moved[n:])
    return InterfaceMotion(a.position + moved[:n], a.velocity + share @ (b.velocity - a.velocity), rotation)


def _share(first: ReducedModel, second: ReducedModel, how: str) -> np.ndarray:
    """How much of the way to the second side the first one goes, (k, k).

        (M_1 + M_2)^-1 M_2 = W_1 (W_1 + W_2)^-1

    by the mobilities W = M^-1, which exist also where an inertia does not.
    """
    if how == "mean":
        return np.eye(len(first.mobility)) / 2
    return np.linalg.solve((first.mobility + second.mobility).T, first.mobility.T).T


def move_interface(
    terms: PortTerms,
    evaluate: Callable[[np.ndarray], object],
    x: np.ndarray,
    spheres: np.ndarray,
    inertia: np.ndarray,
    motion: InterfaceMotion,
    steps: int,
) -> np.ndarray:
    """States with which an interface has a motion, by the changes nearest in kinetic energy, attached inertia included.

    One Newton step closes a gap but for its square. To force that to zero would throw a mechanism about that cannot
    move so, near a singular position: on the way it is left to the next exchange. The velocity changes by the terms of
    the last step, for the same reason.

    Args:
        evaluate: makes the terms those at some states; spheres: see `quaternions`.
        inertia: attached at the interface, (k, k); steps: of Newton's method, at most.
    """
    x, n_q, n_v = x.copy(), terms.n_q, terms.n_v
    for _ in range(steps):
        evaluate(x)
        apart = reach(terms.motion, motion)
        if np.max(np.abs(apart)) <= CLOSED:
            break
        x[:n_q] += terms.N @ terms.direct(inertia, apart)
        for first, end in spheres.tolist():
            x[first:end] /= np.linalg.norm(x[first:end])
    x[n_q : n_q + n_v] += terms.direct(inertia, motion.velocity - terms.motion.velocity)
    return x


def quaternions(system: System) -> np.ndarray:
    """Where quaternions of balls stand among the states: the first entry and the one behind the last of each, (n, 2).

    Moved along their tangents they need the length 1 again.
    """
    mechanism, first, found = system.scenario.machine.mechanism, 0, []
    for freedom in mechanism.freedoms if mechanism else ():
        end = first + len(freedom.positions)
        found += [] if freedom.is_single else [(first, end)]
        first = end
    return np.array(found, np.int64).reshape(-1, 2)
