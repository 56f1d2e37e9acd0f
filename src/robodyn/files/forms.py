"""Forms of files: descriptions that a file gives in another way than Python does, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from robodyn.errors import FlawList
from robodyn.files.denavit_hartenberg import DHRow
from robodyn.model import Body, Event
from robodyn.model.description import Description
from robodyn.model.event import DIRECTIONS, SetValues, level_crossing
from robodyn.model.fields import NONE_GIVEN, choice, flag, numbers, part_name, quantity, reference


class BodyForm(Body):
    """A rigid body, whose inertia may be about the origin of its frame."""

    about: str = choice(("com", "origin"), default="com", doc="what `inertia` is about")

    def check(self, flaws: FlawList) -> None:
        """Whether it is possible, the body itself says."""

    def made(self) -> Body:
        make = Body if self.about == "com" else Body.about_origin
        return make(self.name, self.mass, self.com, self.inertia, self.physical)


class RowForm(DHRow):
    """A row of a Denavit-Hartenberg table, with the body it carries."""

    body: str = reference("body", default="", doc="the body of the row, in its frame i")


class LevelEvent(Description):
    """An event at which a signal passes a level, and which gives states or memory new values."""

    NOUN, MARKS = "event", ("signal",)
    SPELLED: ClassVar[Mapping[str, str]] = {"inputs.signal": "signal", "parameters.level": "level"}
    """Fields of what is made of it, and the keys that hold them."""

    name: str = part_name()
    signal: str = reference("signal", doc="the signal that is watched")
    level: float = quantity(written="{signal}", doc="the value it passes")
    direction: str = choice(DIRECTIONS, default="both", doc="in which it is passed")
    stop: bool = flag(default=False, doc="whether the run ends there")
    set: Mapping[str, float] = numbers(
        "state", dotted=True, default=NONE_GIVEN, doc="table of states or memory and their new values",
        absent="nothing changes",
    )  # fmt: skip

    def made(self) -> Event:
        action = SetValues(self.set) if self.set else None
        given = {"signal": self.signal}, {"level": self.level}
        return Event(self.name, level_crossing, *given, self.direction, action, self.stop)

    @classmethod
    def of(cls, event: Event) -> LevelEvent | None:
        """The form of an event, None where it is no such event."""
        values = event.action.values if isinstance(event.action, SetValues) else NONE_GIVEN
        plain = event.action is None or isinstance(event.action, SetValues)
        if event.guard is not level_crossing or not plain or not event.native:
            return None
        if event.inputs.keys() != {"signal"} or event.parameters.keys() != {"level"}:
            return None
        signal, level = event.inputs["signal"], event.parameters["level"]
        return cls(event.name, signal, level, event.direction, event.terminal, values)


EVENTS = (LevelEvent, Event)
