"""Shapes of contacts: what can touch, and what can be touched? All hang on named points."""

from __future__ import annotations

from robodyn.model.description import Description
from robodyn.model.fields import IDENTITY, Z_AXIS, quantity, reference, rotation_matrix, unit_vector, vector
from robodyn.model.numbers import Floats, Rows


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


class Plane(Description):
    """A plane through a named point, of the ground or of a body; what may be touched lies behind it."""

    NOUN, MARKS = "plane", ("plane",)

    point: str = reference("point", key="plane", doc="a point of it")
    normal: Floats = unit_vector(
        default=Z_AXIS, frame="point", doc="out of the material, in the frame of the point's body"
    )


Touching = Ball | Box
Touched = Plane | Box
