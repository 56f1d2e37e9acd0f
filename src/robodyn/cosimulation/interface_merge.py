"""Interface merge: on which motion do two sides of one body agree after a macro step, and how do they take it on?"""

from __future__ import annotations

import numpy as np

from robodyn.assembly import System
from robodyn.cosimulation.reduced import PortFunctions
from robodyn.cosimulation.rotations import turn_between, turn_by
from robodyn.cosimulation.unit import InterfaceMotion, ReducedModel

JOININGS = ("inertia", "mean")
"""Each side moves by the other's share of the inertia, or both move halfway."""
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
    moved = share @ _apart(a, b)
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


def _apart(a: InterfaceMotion, b: InterfaceMotion) -> np.ndarray:
    """From the first place to the second, along and about the axes."""
    along = b.position - a.position
    if a.rotation is None or b.rotation is None:
        return along
    return np.concatenate([along, turn_between(a.rotation, b.rotation)])


def move_interface(
    functions: PortFunctions,
    interface: str,
    now: tuple[np.ndarray, ...],
    inertia: np.ndarray,
    motion: InterfaceMotion,
    steps: int,
) -> np.ndarray:
    """States with which an interface has a motion, by the changes nearest in kinetic energy, attached inertia included.

    One Newton step closes a gap but for its square. To force that to zero would throw a mechanism about that cannot
    move so, near a singular position: on the way it is left to the next exchange. The velocity changes by the terms of
    the last step, for the same reason.

    Args:
        now: t, x, d, m, p; inertia: attached at the interface, (k, k); steps: of Newton's method, at most.
    """
    t, x, *rest = now
    x, n_q, n_v = x.copy(), functions.system.n_q, functions.system.n_v
    for _ in range(steps):
        terms = functions.mechanics(interface, t, x, *rest)
        apart = _apart(terms.motion, motion)
        if np.max(np.abs(apart)) <= CLOSED:
            break
        x[:n_q] += terms.N @ terms.direct(inertia, apart)
        _put_on_sphere(functions.system, x)
    x[n_q : n_q + n_v] += terms.direct(inertia, motion.velocity - terms.motion.velocity)
    return x


def _put_on_sphere(system: System, x: np.ndarray) -> None:
    """Quaternions of balls that were moved along their tangents have the length 1 again."""
    mechanism, first = system.scenario.machine.mechanism, 0
    for freedom in mechanism.freedoms if mechanism else ():
        own = slice(first, first + len(freedom.positions))
        if not freedom.is_single:
            x[own] /= np.linalg.norm(x[own])
        first = own.stop
