"""Contacts between bodies, obstacles and the ground."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from robodyn.base import FlawList, nearest
from robodyn.description.laws import info_of

from .body import Ball, Box, HeightField, Plane, Rim, Touched, Touching
from .description import Description
from .fields import EMPTY, child, declare_as, law_or_name, numbers, part_name, quantity, vector
from .numbers import Floats, FrozenDict, as_floats, check_finite
from .rules import check_law, check_parameters, find_law

# --------------------------------------------------------------------------------------------------
# Obstacles: what stands in the robot's way? Boxes that pictures show; laws and events decide what they do.


class Obstacle(Description):
    """A box along the world axes, drawn in pictures and replays."""

    NOUN = "obstacle"

    name: str = part_name()
    center: Floats = vector("m", suffixes=(), doc="of the box")
    size: Floats = vector("m", suffixes=(), positive=True, doc="lengths of its edges")


# --------------------------------------------------------------------------------------------------
# Contacts: which bodies may touch, and what happens where they do? Compliant ones, and rigid ones that rebound.


OWN = "as the law says"
PlacedLaw = tuple[str, Any, Mapping[str, float]]
"""Prefix of its numbers, law, parameters."""
GROUPS = {"law": "parameters", "friction": "friction_parameters"}
NORMAL_INPUTS = ("depth", "rate")
FRICTION_INPUTS = ("slip1", "slip2", "normal")
TRAVEL = "travel"
"""Friction of a rolling wheel may also take its speed along its way."""
FRICTION = "law of friction: of `slip1`, `slip2` and the `normal` force; of a rim also of its `travel`"


class ContactPair(Description, ABC):
    """Two shapes that may touch, and a law of friction: both kinds of contacts are such pairs."""

    NOUN = "contact"
    MISSING: ClassVar[Mapping[str, str]] = {
        "against": "there is no ground to touch or roll on: give against = { plane = POINT }, POINT one of the ground"
    }

    name: str = part_name()
    touching: Touching = child(Ball, Box, Rim, under="", doc="table with `ball`, `box` or `rim`")
    against: Touched = child(Plane, Box, HeightField, doc="table with `plane`, `box` or `height_field`")

    @property
    def points(self) -> tuple[str, str]:
        return self.touching.point, self.against.point

    @property
    @abstractmethod
    def laws(self) -> dict[str, PlacedLaw]:
        """The laws that act in it, by field."""

    def folded(self) -> set[str]:
        """Names of numbers that laws want as constants."""
        laws = self.laws.values()
        return {f"{prefix}.{key}" for prefix, law, _ in laws for key in info_of(function_of(law)).folded}

    @property
    def sticks(self) -> bool:
        """Whether its friction holds at rest, and slides beyond its limit."""
        return any(info_of(function_of(law)).sticks for _, law, _ in self.laws.values())

    def _check_shapes(self, flaws: FlawList) -> None:
        if not flaws.concern("touching", "against") and self.touching.point == self.against.point:
            what = f"is that of touching ('{self.against.point}')"
            flaws.add("against.point", what, "name two points of two bodies")
        if isinstance(self.touching, Rim) and isinstance(self.against, (Box, HeightField)):
            flaws.add("against", f"is a {self.against.NOUN}: a rim touches planes only", "use a plane, or a ball")

    def _rough(self, friction: Any, parameters: Mapping[str, float]) -> dict[str, PlacedLaw]:
        return {} if friction is None else {"friction": (f"{self.name}.friction", friction, parameters)}

    def _settle_friction(self, flaws: FlawList, friction: Any, parameters: Mapping[str, float]) -> None:
        if friction is not None:
            _settle_law(flaws, self, "friction", FRICTION_INPUTS)
        elif parameters:
            flaws.add("friction_parameters", "have no effect without friction", "name its law")


class Contact(ContactPair):
    """Compliant contact: a body and a surface that push each other apart where they overlap.

    Signals: `<name>.gap` [m], `<name>.active`, `<name>.slip` [m/s], `<name>.power` [W] on both bodies,
    `<name>.force.normal` and, on the touching body in world axes, `<name>.force.x`, `.y`, `.z` [N]; of a box for each
    corner too (`<name>.corner0.gap` ...).
    """

    MARKS = ("law",)

    law: Callable[..., Any] | str = law_or_name(doc="of the normal force, a function of `depth` and its `rate`")
    parameters: Mapping[str, float] = numbers("law", under="", default=EMPTY, doc="of the law", absent=OWN)
    friction: Callable[..., Any] | str | None = law_or_name(default=None, doc=FRICTION, absent="smooth surfaces")
    friction_parameters: Mapping[str, float] = numbers(
        "friction", under="friction", default=EMPTY, doc="of that law", absent=OWN
    )

    def check(self, flaws: FlawList) -> None:
        self._check_shapes(flaws)
        if not flaws.found:
            _settle_law(flaws, self, "law", NORMAL_INPUTS)
            self._settle_friction(flaws, self.friction, self.friction_parameters)

    @property
    def laws(self) -> dict[str, PlacedLaw]:
        """Law of the normal force, and of friction where there is any, by field."""
        return {"law": (self.name, self.law, self.parameters)} | self._rough(self.friction, self.friction_parameters)


class RigidContact(ContactPair):
    """Rigid contact: a body and a surface rebound, or rest on each other until they are pulled apart.

    At impact the speeds along the normals become `v+ >= -r v-` by impulses that only push, found for all contacts
    together (Newton's law of impact as a complementarity problem). Friction adds impulses of at most `coefficient`
    times these, against the slip; while the bodies rest on each other, its law takes their normal force. Where both
    together would give energy, the rebound is the largest that gives none. The default speed of rest is this project's
    own choice.

    Signals as those of `Contact`.
    """

    MARKS = ("restitution",)

    restitution: float = quantity(within=(0.0, 1.0), default=0.0, doc="speed after over speed before an impact, 0 to 1")
    rest_speed: float = quantity(
        "m/s", positive=True, default=1e-3, doc="speed of approach below which bodies stay in touch"
    )
    friction: Callable[..., Any] | str | None = declare_as(Contact, "friction")
    friction_parameters: Mapping[str, float] = declare_as(Contact, "friction_parameters")

    def check(self, flaws: FlawList) -> None:
        self._check_shapes(flaws)
        if flaws.found:
            return
        self._settle_friction(flaws, self.friction, self.friction_parameters)
        if self.friction is not None and "coefficient" not in self.friction_parameters:
            flaws.add("friction", "the law has no parameter 'coefficient'", "impacts need it")

    @property
    def laws(self) -> dict[str, PlacedLaw]:
        """Law of friction, where there is any."""
        return self._rough(self.friction, self.friction_parameters)


AnyContact = Contact | RigidContact
CONTACTS = (Contact, RigidContact)


def function_of(law: Any) -> Callable[..., Any]:
    """The function of a law that has been checked."""
    function = find_law(law)
    assert function is not None
    return function


def _settle_law(flaws: FlawList, contact: ContactPair, field: str, inputs: tuple[str, ...]) -> None:
    """Check a law and its parameters, and fill in the defaults of these."""
    law, group = getattr(contact, field), GROUPS[field]
    arguments = check_law(flaws, field, law)
    if arguments is None:
        return
    info, parameters = info_of(function_of(law)), getattr(contact, group)
    sticks = info.sticks and isinstance(contact, RigidContact)
    rolls = isinstance(contact.touching, Rim) and field == "friction"
    own = {*inputs, *info.states, *info.located.values(), *(("direction",) if sticks else ())}
    own |= {TRAVEL} if rolls else set()
    if not rolls and TRAVEL in {argument.name for argument in arguments}:
        flaws.add(field, "the law is for a rolling wheel: it takes its travel", "use a rim")
        return
    # Arguments that neither the contact nor the law itself computes are parameters: all of them, and no others.
    numbers = [argument for argument in arguments if argument.name not in own]
    values = {a.name: parameters.get(a.name, a.default) for a in numbers if a.name in parameters or a.has_default}
    for argument in numbers:
        if argument.name not in values:
            flaws.add(f"{group}.{argument.name}", "is missing", f"the law takes it, beside {', '.join(inputs)}")
    for key in parameters.keys() - {argument.name for argument in numbers}:
        flaws.add(f"{group}.{key}", "is not a parameter of the law", nearest(key, [a.name for a in numbers]))
    # What kind of law fits here.
    if not set(inputs[:2]) <= {argument.name for argument in arguments}:
        flaws.add(field, f"the law does not take {' and '.join(inputs[:2])}", "it is not a law of this kind")
    if len(info.located) > (field == "law"):
        flaws.add(field, f"the law locates {', '.join(info.located)}", "only a normal force may locate one touch")
    if info.memory or (info.sticks and not sticks):
        what = "a contact's law has no memory, and only friction of a rigid contact has a direction"
        flaws.add(field, what, "use one with continuous states")
    for key, value in values.items():
        check_finite(flaws, f"{group}.{key}", value)
    check_parameters(flaws, group, info, values)
    contact.set_fields(**{group: FrozenDict({key: as_floats(value) for key, value in values.items()})})
