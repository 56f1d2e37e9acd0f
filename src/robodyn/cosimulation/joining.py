"""On which motion do two sides agree that are one body and moved apart during a macro step?"""

from __future__ import annotations

import numpy as np

from robodyn.cosimulation.rotations import turn_between, turn_by
from robodyn.cosimulation.unit import InterfaceMotion, ReducedModel

JOININGS = ("inertia", "mean")
"""Each side moves by the other's share of the inertia, or both move halfway."""


def join_motions(first: ReducedModel, second: ReducedModel, how: str) -> InterfaceMotion:
    """The common motion of two sides.

        inertia: (M_1 + M_2) w = M_1 w_1 + M_2 w_2,    mean: w = (w_1 + w_2) / 2

    and so for the position and the turn. The first keeps the momentum; a side is not asked to move where it cannot,
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
