"""Obstacles: what stands in the robot's way? Boxes that pictures show; laws and events decide what they do."""

from __future__ import annotations

from robodyn.description.model.description import Description
from robodyn.description.model.fields import part_name, vector
from robodyn.description.model.numbers import Floats


class Obstacle(Description):
    """A box along the world axes, drawn in pictures and replays."""

    NOUN = "obstacle"

    name: str = part_name()
    center: Floats = vector("m", suffixes=(), doc="of the box")
    size: Floats = vector("m", suffixes=(), positive=True, doc="lengths of its edges")
