"""Obstacles in 3-D plots: what do they look like?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from robodyn.computation.results import Run

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

_COLOUR = "0.55"
# Corners of a box, counted by the signs of x, y, z as binary digits, going round each face.
_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


@dataclass(frozen=True)
class Box:
    """A box along the axes.

    Args:
        center: [m], (3,).
        size: full lengths of the edges [m], (3,).
    """

    name: str
    center: tuple[float, ...]
    size: tuple[float, ...]

    colour = _COLOUR

    @property
    def corners(self) -> np.ndarray:
        """All corners [m], (8, 3)."""
        signs = np.array(list(product((-0.5, 0.5), repeat=3)))
        return np.array(self.center) + signs * np.array(self.size)


def obstacles_of(runs: Sequence[Run]) -> list[Box]:
    """The obstacles the scenarios of the runs describe, each once."""
    found = [entry for run in runs for entry in run.provenance.description.get("obstacles") or ()]
    boxes = [Box(entry["name"], tuple(entry["center"]), tuple(entry["size"])) for entry in found]
    return list(dict.fromkeys(boxes))


def draw_box(ax: "Axes3D", box: Box, factor: float = 1.0) -> None:
    """Draw a box one can see through.

    Args:
        factor: from metres to the unit of the axes.
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    corners = factor * box.corners
    faces = [corners[list(face)] for face in _FACES]
    ax.add_collection3d(
        Poly3DCollection(faces, facecolor=_COLOUR, edgecolor="0.35", linewidth=0.6, alpha=0.25, gid=box.name)
    )
