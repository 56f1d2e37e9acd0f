"""Forms of files: descriptions that a file gives in another way than Python does, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from robodyn.base.errors import FlawList
from robodyn.description.files.denavit_hartenberg import DHRow
from robodyn.description.model import Body, Event
from robodyn.description.model.description import Description
from robodyn.description.model.event import SetValues, level_crossing
from robodyn.description.model.fields import EMPTY, choice, declare_as, numbers, part_name, quantity, reference


def new_values() -> Any:
    """What an event sets."""
    doc = "table of states or memory and their new values"
    return numbers("state", dotted=True, default=EMPTY, doc=doc, absent="none")


class BodyForm(Body):
    """A rigid body, whose inertia may be about the origin of its frame."""

    about: str = choice(("com", "origin"), default="com", doc="what `inertia` is about")

    def check(self, flaws: FlawList) -> None:
        """Whether it is possible, the body itself says."""

    def made(self) -> Body:
        make = Body if self.about == "com" else Body.about_origin
        return make(self.name, self.mass, self.com, self.inertia, self.physical, self.looks)


class RowForm(DHRow):
    """A row of a Denavit-Hartenberg table, with the body it carries."""

    body: str = reference("body", default="", doc="the body of the row, in its frame i", absent="required")


class LevelEvent(Description, kw_only=True):
    """An event at which a signal passes a level."""

    NOUN, MARKS = "event", ("signal",)
    SPELLED: ClassVar[Mapping[str, str]] = {"inputs.signal": "signal", "parameters.level": "level"}

    name: str = part_name()
    direction: str = declare_as(Event, "direction")
    terminal: bool = declare_as(Event, "terminal")
    set: Mapping[str, float] = new_values()
    signal: str = reference("signal", doc="the signal that is watched")
    level: float = quantity(written="{signal}", doc="the value it passes")

    def made(self) -> Event:
        action = SetValues(self.set) if self.set else None
        given = {"signal": self.signal}, {"level": self.level}
        return Event(self.name, level_crossing, *given, self.direction, action, self.terminal)


class GuardEvent(Event):
    """An event at which a function passes zero."""

    set: Mapping[str, float] = new_values()

    def check(self, flaws: FlawList) -> None:
        if self.set and self.action is not None:
            flaws.add("set", "has no effect beside an action", "give one of the two")

    def made(self) -> Event:
        given = {name: getattr(self, name) for name in Event.KINDS}
        return Event(**given | ({"action": SetValues(self.set)} if self.set else {}))


EVENTS = (LevelEvent, GuardEvent)
FORMS: dict[type, Sequence[type[Description]]] = {Event: EVENTS}
"""What files give instead of a description."""


def forms_of(classes: Sequence[type[Description]]) -> Sequence[type[Description]]:
    """The classes that files give in the place of others."""
    return FORMS.get(classes[0], classes)


def form_of(event: Event) -> Description:
    """The form by which a file gives an event."""
    given = {name: getattr(event, name) for name in Event.KINDS}
    if isinstance(event.action, SetValues):
        given |= {"action": None, "set": event.action.values}
    if event.guard is level_crossing and event.native and given["action"] is None:
        level = {"signal": event.inputs["signal"], "level": event.parameters["level"]}
        return LevelEvent(**level, **{name: given[name] for name in LevelEvent.KINDS if name in given})
    return GuardEvent(**given)
