"""Control model: what does a controller know of the machine that it controls, and where does that differ from it?"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from robodyn.base.errors import FlawList
from robodyn.description.model.description import Description
from robodyn.description.model.fields import EMPTY, choice, flag, references, weights
from robodyn.description.model.task import FRAMES, TaskRows, find_rows


class ControlModel(Description):
    """The machine as a block's law knows it, which gets it as its argument `model`: as it is described, but for this.

    Springs, dampers and end stops that are blocks belong to it; drives, contacts, end stops of joints, loads that
    signals drive, and friction do not.
    """

    NOUN = "model"

    axes: tuple[str, ...] = references(
        "joint or coordinate",
        empty=True,
        default=(),
        doc="joints and coordinates whose forces the law gives",
        absent="those that the block acts on, else all joints",
    )
    task: tuple[str, ...] = references(
        "signal",
        empty=True,
        default=(),
        doc="what a law in task coordinates controls: positions, rotations of points, or whole poses: "
        '`["tool.position.x", "tool.rotation.z"]`, `["tool.pose"]`',
        absent="none",
    )
    frame: str = choice(
        FRAMES, default="world", doc="axes of the task's directions: the world's, or those of the wanted orientation"
    )
    rigid: tuple[str, ...] = references(
        "joint or coordinate",
        empty=True,
        default=(),
        doc="joints and coordinates that the model holds at 0: elastic ones, twists of gears",
        absent="none",
    )
    held: tuple[str, ...] = references(
        "point",
        empty=True,
        default=(),
        doc="points that the model holds where they are: feet that stand, in the place of their contacts",
        absent="none",
    )
    friction: bool = flag(default=False, doc="whether friction belongs to its motion, at the velocity that it is given")
    scale: Mapping[str, float] = weights(
        "number", empty=True, default=EMPTY, doc='factors of its numbers, by pattern: `{"*.mass" = 0.9}`', absent="none"
    )
    changes: Mapping[str, float] = weights(
        "number",
        empty=True,
        default=EMPTY,
        doc='its own numbers: `{"payload.mass" = 0}`',
        absent="those of the machine",
    )

    def check(self, flaws: FlawList) -> None:
        for key, names in (("axes", self.axes), ("task", self.rows.names), ("rigid", self.rigid), ("held", self.held)):
            for name in dict.fromkeys(name for name in names if names.count(name) > 1):
                flaws.add(key, f"names '{name}' twice", "name it once")

        if self.stated("frame") and not any(row.point for row in self.rows.all):
            flaws.add("frame", "has no effect: the task names no point", "leave it out")

    @property
    def rows(self) -> TaskRows:
        """Directions of the task."""
        return find_rows(self.task, self.frame)

    @staticmethod
    def matches(pattern: str, name: str) -> bool:
        """Whether a pattern of `scale` means a number."""
        return fnmatchcase(name, pattern)

    def scales(self, name: str) -> bool:
        """Whether a number of the model is another one than the machine's, by a factor."""
        return any(self.matches(pattern, name) for pattern in self.scale)

    def factor_of(self, name: str) -> float:
        """By which a number of the machine is multiplied: the last factor whose pattern it matches."""
        return next((self.scale[p] for p in reversed(tuple(self.scale)) if self.matches(p, name)), 1.0)
