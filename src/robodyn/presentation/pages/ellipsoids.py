"""Inertia ellipsoids: which homogeneous ellipsoid has a body's mass and inertia?

I_1 = m/5 (b^2 + c^2),  ...   so   a^2 = 5/(2 m) (I_2 + I_3 - I_1)
"""

from typing import Any

import numpy as np

Plain = dict[str, Any]


def read_ellipsoid(mass: float, entries: list[float]) -> Plain | None:
    """Half lengths [m] and the axes they lie along, as columns of a rotation in the body's frame; None without inertia.

    Args:
        entries: xx, yy, zz, xy, xz, yz about the centre of mass [kg m^2].
    """
    xx, yy, zz, xy, xz, yz = entries
    if mass <= 0 or not any(entries):
        return None
    moments, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.linalg.det(axes) < 0:
        axes = -axes
    # An inertia that no real body can have leaves less than nothing along an axis: drawn flat.
    squares = np.maximum(2.5 / mass * (moments.sum() - 2 * moments), 0.0)
    return {"axes": np.sqrt(squares).tolist(), "rotation": axes.tolist()}
