"""Test poses of ISO 9283: which five poses in a cube does a tool visit, one after the other?

P1 is the middle of the cube, P2 to P5 lie on the diagonals of an inclined plane through two of its opposite edges, a
tenth of a diagonal from the corners.
"""

from __future__ import annotations

import numpy as np

from robodyn.analysis.commissioning.moving import stand_of
from robodyn.base.errors import FlawList
from robodyn.description.model import Machine, Scenario
from robodyn.description.paths import CartesianPath, way_points

SHARE = 0.8
"""Distance of a pose from the middle, by half the diagonal."""
PLANES = {"x+": (0, 1), "x-": (0, -1), "y+": (1, 1), "y-": (1, -1)}
"""Along which axis the plane is inclined, and whether it rises or falls."""


def cube_path(what: Machine | Scenario, side: float, tool: str | None = None, plane: str = "x+") -> CartesianPath:
    """From where a tool stands, P1, to P2, P3, P4, P5 and back, with a rest at each.

    The tool's orientation is kept where there are six joints.

    Args:
        side: of the cube [m], its edges along the world's axes, the tool in its middle.
        plane: "x+" rises along x, "x-" falls along it, "y+" and "y-" along y.
    """
    flaws = FlawList()
    flaws.add_unless_positive(side=side)
    if plane not in PLANES:
        flaws.add("plane", f"is '{plane}'", f"one of {', '.join(PLANES)}")
    flaws.raise_if_any("cube")
    placed, rotation = stand_of(what, tool)
    axis, sign = PLANES[plane]
    round_about = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], float)
    offsets = np.zeros((4, 3))
    offsets[:, axis], offsets[:, 1 - axis], offsets[:, 2] = *round_about.T, sign * round_about[:, 0]
    return way_points([placed, *(placed + SHARE * side / 2 * offsets), placed], None, rotation)
