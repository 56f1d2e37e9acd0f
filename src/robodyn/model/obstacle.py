"""What stands in the robot's way? Boxes that pictures show; laws and events decide what they do."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.errors import FlawList
from robodyn.model.numbers import check_name, check_vector, keep_floats


@dataclass(frozen=True)
class Obstacle:
    """A box along the world axes, drawn in pictures and replays.

    Attributes:
        center: [m]; size: full lengths of its edges [m].
    """

    name: str
    center: tuple[float, ...]
    size: tuple[float, ...]

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_vector(flaws, "center", self.center, 3)
        if check_vector(flaws, "size", self.size, 3) and min(self.size) <= 0:
            flaws.add("size", f"must be positive, is {min(self.size):g} m")
        flaws.raise_if_any(f"obstacle '{self.name}'")
        keep_floats(self, "center", "size")
