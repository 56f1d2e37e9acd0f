"""Forms of files: descriptions that a file gives in another way than Python does, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from robodyn.errors import FlawList
from robodyn.files.denavit_hartenberg import DHRow
from robodyn.model import Body, Event
from robodyn.model.description import Description
from robodyn.model.event import DIRECTIONS, SetValues, level_crossing
from robodyn.model.fields import EMPTY, choice, declare_as, flag, numbers, part_name, quantity, reference


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

    body: str = reference("body", default="", doc="the body of the row, in its frame i", absent="required")


class EventForm(Description, kw_only=True):
    """What all events of files have."""

    NOUN = "event"

    name: str = part_name()
    direction: str = choice(DIRECTIONS, default="both", doc="in which it is passed")
    stop: bool = flag(default=False, doc="whether the run ends there")
    set: Mapping[str, float] = numbers(
        "state", dotted=True, default=EMPTY, doc="table of states or memory and their new values", absent="none"
    )


class LevelEvent(EventForm, kw_only=True):
    """An event at which a signal passes a level."""

    MARKS = ("signal",)
    SPELLED: ClassVar[Mapping[str, str]] = {"inputs.signal": "signal", "parameters.level": "level"}
    """Fields of what is made of it, and the keys that hold them."""

    signal: str = reference("signal", doc="the signal that is watched")
    level: float = quantity(written="{signal}", doc="the value it passes")

    def made(self) -> Event:
        action = SetValues(self.set) if self.set else None
        given = {"signal": self.signal}, {"level": self.level}
        return Event(self.name, level_crossing, *given, self.direction, action, self.stop)


class GuardEvent(EventForm, kw_only=True):
    """An event at which a function passes zero."""

    MARKS = ("guard",)

    guard: Callable[..., Any] = declare_as(Event, "guard")
    inputs: Mapping[str, Any] = declare_as(Event, "inputs")
    parameters: Mapping[str, Any] = declare_as(Event, "parameters")
    action: Callable[..., Any] | None = declare_as(Event, "action")
    native: bool = declare_as(Event, "native")

    def check(self, flaws: FlawList) -> None:
        if self.set and self.action is not None:
            flaws.add("set", "has no effect beside an action", "give one of the two")

    def made(self) -> Event:
        action = SetValues(self.set) if self.set else self.action
        given = (self.guard, self.inputs, self.parameters, self.direction, action, self.stop, self.native)
        return Event(self.name, *given)


EVENTS = (LevelEvent, GuardEvent)
FORMS: dict[type, Sequence[type[Description]]] = {Event: EVENTS}
"""What files give instead of a description."""


def forms_of(classes: Sequence[type[Description]]) -> Sequence[type[Description]]:
    """The classes that files give in the place of others."""
    return FORMS.get(classes[0], classes)


def form_of(event: Event) -> EventForm:
    """The form by which a file gives an event."""
    plain = isinstance(event.action, SetValues)
    common: dict[str, Any] = {"name": event.name, "direction": event.direction, "stop": event.terminal}
    common["set"] = event.action.values if isinstance(event.action, SetValues) else EMPTY
    if event.guard is level_crossing and event.native and (plain or event.action is None):
        return LevelEvent(signal=event.inputs["signal"], level=event.parameters["level"], **common)
    own = {name: getattr(event, name) for name in ("guard", "inputs", "parameters", "native")}
    return GuardEvent(action=None if plain else event.action, **own, **common)
