"""Control model: what does a controller know of the machine that it controls? Its task, its model, its states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

from robodyn.base import FlawList, frozen

from .description import Description
from .fields import EMPTY, choice, flag, part_name, quantity, references, vector, weights
from .numbers import XYZ, Floats

# --------------------------------------------------------------------------------------------------
# Task of a control model: which positions and rotations does a law in task coordinates control, by name?
#
#     "tool.position.x"   any position that is a signal
#     "tool.rotation.x"   rotation of a point's body about an axis
#     "tool.pose"         all six of a point


FRAMES = ("world", "target")
POSE = tuple(f"{quantity}.{axis}" for quantity in ("position", "rotation") for axis in XYZ)


@frozen
class TaskRow:
    """One direction of a task.

    Attributes:
        point, axis: of a point's position or rotation; none and 0 of other positions.
    """

    name: str
    rotates: bool = False
    point: str = ""
    axis: int = 0


@frozen
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


# --------------------------------------------------------------------------------------------------
# Control model: what does a controller know of the machine that it controls, and where does that differ from it?


class ControlModel(Description):
    """The model of the machine that a block's law gets as its argument `model`: as described, except for this.

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
        doc="points that the model holds where they are: standing feet, instead of their contacts",
        absent="none",
    )
    friction: bool = flag(default=False, doc="whether it includes friction, at the velocity it is given")
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
        """The factor by which a number of the machine is multiplied: the last one whose pattern it matches."""
        return next((self.scale[p] for p in reversed(tuple(self.scale)) if self.matches(p, name)), 1.0)


# --------------------------------------------------------------------------------------------------
# State controllers: which weights, noises or poles say how states are fed back and observed?


class StateController(Description):
    """A sampled controller or observer whose gains follow from the linear model of the machine (LQR, LQG, Luenberger).

    Its signals are `NAME.command.0` and so on, and, with an observer, `NAME.estimate.0` and so on, in the order of the
    machine's states. Gains are those of the machine as it is described: they do not follow numbers that a run changes.
    """

    NOUN = "controller"

    name: str = part_name()
    period: float = quantity("s", positive=True, named=False, doc="sample time")
    delay: float = quantity(
        "s", non_negative=True, named=False, default=0.0, doc="from a sample until its commands take effect"
    )
    states: Mapping[str, float] = weights(
        "signal",
        empty=True,
        default=EMPTY,
        doc='weights of states\' squares (LQR): `{"rail.position" = 20}`, 0 for those not named',
        absent="commands nothing: an observer alone",
    )
    commands: Floats = vector("", None, default=(), doc="weight of each command's square, as many as commands")
    acts: tuple[str, ...] = references(
        "joint or coordinate", empty=True, default=(), doc="what each command acts on", absent="blocks read them"
    )
    measured: tuple[str, ...] = references(
        "signal", empty=True, default=(), doc="what an observer sees", absent="no observer: all states are read"
    )
    applied: tuple[str, ...] = references(
        "signal", empty=True, default=(), doc="of an observer alone: outputs of blocks that drive the machine"
    )
    noise: Mapping[str, float] = weights(
        "signal",
        empty=True,
        default=EMPTY,
        doc="Kalman filter: variance that noise adds to each state in a sample, 0 for those not named",
    )
    measured_noise: Floats = vector("", None, default=(), doc="and of the noise of each measured signal")
    poles: Floats = vector("", None, default=(), doc="or Luenberger observer: its poles [1/s], one for each state")
    at: Mapping[str, float] = weights(
        "signal", empty=True, default=EMPTY, doc="operating point: values of states", absent="where the scenario starts"
    )

    def check(self, flaws: FlawList) -> None:
        if flaws.found:
            return
        if self.states:
            if not self.commands or min(self.commands) <= 0:
                flaws.add("commands", "must be a positive weight for each command", "commands = [0.1]")
            if self.acts and len(self.acts) != len(self.commands):
                flaws.add("acts", f"names {len(self.acts)}, there are {len(self.commands)} commands")
            if self.applied:
                flaws.add("applied", "has no effect: the controller knows what it commands", "leave it out")
        else:
            for key in self.stated("commands", "acts", "delay"):
                flaws.add(key, "has no effect without weights of states", 'states = {"rail.position" = 1}')
            if not self.measured or not self.applied:
                flaws.add("states", "is missing", "give weights of states, or for an observer measured and applied")
        if self.measured:
            if bool(self.poles) == bool(self.noise or self.measured_noise):
                flaws.add(
                    "poles", "or noise and measured_noise: give one of them", "a Luenberger observer or a Kalman filter"
                )
            elif not self.poles and len(self.measured_noise) != len(self.measured):
                what = f"has {len(self.measured_noise)} values, {len(self.measured)} signals are measured"
                flaws.add("measured_noise", what, "give each its variance")
            elif not self.poles and min(self.measured_noise) <= 0:
                flaws.add("measured_noise", "must be positive", "give a small one for a good sensor")
        else:
            for key in self.stated("noise", "measured_noise", "poles"):
                flaws.add(key, "has no effect without measured", "name what an observer sees")
