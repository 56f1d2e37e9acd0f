"""Task of a control model: which positions and rotations does a law in task coordinates control, by name?

"tool.position.x"   any position that is a signal
"tool.rotation.x"   rotation of a point's body about an axis
"tool.pose"         all six of a point
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from robodyn.base.records import dataclass
from robodyn.description.model.numbers import XYZ

FRAMES = ("world", "target")
POSE = tuple(f"{quantity}.{axis}" for quantity in ("position", "rotation") for axis in XYZ)


@dataclass(frozen=True)
class TaskRow:
    """One direction of a task.

    Attributes:
        point, axis: of a point's position or rotation; none and 0 of other positions.
    """

    name: str
    rotates: bool = False
    point: str = ""
    axis: int = 0


@dataclass(frozen=True)
class TaskRows:
    """All directions of a task, in the order in which they are named.

    Attributes:
        frame: whose axes these directions are along and about: the world's, or those of the wanted orientation.
    """

    all: tuple[TaskRow, ...]
    frame: str = "world"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.all)

    @cached_property
    def rotating(self) -> tuple[str, ...]:
        """Points whose rotation is controlled."""
        return tuple(dict.fromkeys(row.point for row in self.all if row.rotates and row.point))

    @cached_property
    def oriented(self) -> tuple[str, ...]:
        """Points that need a wanted orientation."""
        if self.frame == "world":
            return self.rotating
        return tuple(dict.fromkeys(row.point for row in self.all if row.point))

    @cached_property
    def positions(self) -> tuple[str, ...]:
        """Positions that need a wanted value: in axes other than the world's all three of a point."""
        names: dict[str, None] = {}
        for row in self.all:
            if row.point and not row.rotates and self.frame != "world":
                names |= dict.fromkeys(f"{row.point}.position.{axis}" for axis in XYZ)
            elif not row.rotates:
                names[row.name] = None
        return tuple(names)


def find_rows(names: Sequence[str], frame: str) -> TaskRows:
    """The directions that names mean."""
    return TaskRows(tuple(row for name in names for row in _rows(name)), frame)


def _rows(name: str) -> Iterator[TaskRow]:
    start, _, last = name.rpartition(".")
    if last == "pose":
        for part in POSE:
            yield from _rows(f"{start}.{part}")
        return
    point, _, quantity = start.rpartition(".")
    if quantity in ("position", "rotation") and last in XYZ:
        yield TaskRow(name, quantity == "rotation", point, XYZ.index(last))
    else:
        yield TaskRow(name)
