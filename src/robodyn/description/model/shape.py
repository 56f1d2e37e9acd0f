"""Shapes of contacts: what can touch, and what can be touched? All hang on named points."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from robodyn.base.errors import FlawList
from robodyn.description.model.description import Description
from robodyn.description.model.fields import (
    IDENTITY,
    Z_AXIS,
    array,
    quantity,
    reference,
    rotation_matrix,
    unit_vector,
    vector,
)
from robodyn.description.model.numbers import Floats, Rows

Y_AXIS = (0.0, 1.0, 0.0)


class Ball(Description):
    """A ball about a named point of a body; the point itself where its radius is 0."""

    NOUN, MARKS = "ball", ("ball",)

    point: str = reference("point", key="ball", doc="point in its middle")
    radius: float = quantity("m", non_negative=True, default=0.0, doc="0: the point itself")


class Box(Description):
    """A box whose middle is a named point: its eight corners touch, or its six faces are touched."""

    NOUN, MARKS = "box", ("box",)

    point: str = reference("point", key="box", doc="point in its middle")
    size: Floats = vector("m", positive=True, doc="lengths of its edges")
    rotation: Rows = rotation_matrix(default=IDENTITY, frame="point", doc="in the frame of the point's body")


class Rim(Description):
    """The rim of a wheel about a named point of it: its lowest place touches a plane, along and across its way."""

    NOUN, MARKS = "rim", ("rim",)

    point: str = reference("point", key="rim", doc="point in the middle of the wheel, on its body")
    radius: float = quantity("m", positive=True, doc="of the wheel")
    axis: Floats = unit_vector(default=Y_AXIS, doc="of the wheel, in the frame of its body")


class Plane(Description):
    """A plane through a named point, of the ground or of a body; what may be touched lies behind it."""

    NOUN, MARKS = "plane", ("plane",)

    point: str = reference("point", key="plane", doc="a point of it")
    normal: Floats = unit_vector(
        default=Z_AXIS, frame="point", doc="out of the material, in the frame of the point's body"
    )


class HeightField(Description):
    """Uneven ground: heights over a grid of places about a named point, with a smooth surface through them.

    Between its lines the surface is cubic along x and y, its slopes at each place those of the parabola through it and
    its neighbours: exact for planes and parabolas. Beyond the grid it goes on as it is at the edge.
    """

    NOUN, MARKS = "height field", ("height_field",)

    point: str = reference("point", key="height_field", doc="its origin")
    x: Floats = vector("m", None, doc="places of the rows of `heights`, rising")
    y: Floats = vector("m", None, doc="places of its columns, rising")
    heights: Rows = array("m", doc="a row for each of `x`, with a number for each of `y`; along z")
    rotation: Rows = rotation_matrix(default=IDENTITY, frame="point", doc="in the frame of the point's body")

    def check(self, flaws: FlawList) -> None:
        for key in ("x", "y"):
            places = getattr(self, key)
            if not flaws.concern(key) and (len(places) < 2 or any(b <= a for a, b in pairwise(places))):
                flaws.add(key, "must be two or more numbers that rise", "sort them, and the heights with them")
        if not flaws.found and not _is_grid(self.heights, len(self.x), len(self.y)):
            what = f"must be {len(self.x)} rows of {len(self.y)} finite numbers"
            flaws.add("heights", what, "a row for each of x, a number in it for each of y")


def _is_grid(rows: Any, n_rows: int, n_columns: int) -> bool:
    if not isinstance(rows, tuple) or len(rows) != n_rows:
        return False
    return all(
        isinstance(row, tuple)
        and len(row) == n_columns
        and all(isinstance(height, float) and math.isfinite(height) for height in row)
        for row in rows
    )


Touching = Ball | Box | Rim
Touched = Plane | Box | HeightField
