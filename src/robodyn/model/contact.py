"""Which bodies may touch, and what happens where they do? Compliant contacts, and rigid ones with restitution."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.laws import arguments_of, info_of, known_laws
from robodyn.model.block import find_law
from robodyn.model.frozen import FrozenDict, freeze_mappings
from robodyn.model.numbers import Number, as_floats, check_finite, check_name, keep_floats
from robodyn.model.rules import check_rule
from robodyn.model.shape import Ball, Box, Plane, Touched, Touching, check_shape

PlacedLaw = tuple[str, Any, Mapping[str, float]]
"""Prefix of its numbers, law, parameters."""
GROUPS = {"law": "parameters", "friction": "friction_parameters"}
NORMAL_INPUTS = ("depth", "rate")
FRICTION_INPUTS = ("slip1", "slip2", "normal")


@dataclass(frozen=True)
class Contact:
    """A body and a surface that push each other apart where they overlap.

    Signals: `<name>.gap` [m], `<name>.active`, `<name>.slip` [m/s], `<name>.power` [W] on both bodies,
    `<name>.force.normal` and, on the touching body in world axes, `<name>.force.x`, `.y`, `.z` [N]; of a box for each
    corner too (`<name>.corner0.gap` ...).

    Attributes:
        law: of the normal force, a function of `depth` and its `rate`, or the name of one in `robodyn.laws`.
        parameters: of the law; friction_parameters: of the friction's.
        friction: a law of `slip1`, `slip2` and the `normal` force, or its name; None for smooth surfaces.
    """

    name: str
    touching: Touching
    against: Touched
    law: Callable[..., Any] | str
    parameters: Mapping[str, float] = field(default_factory=dict)
    friction: Callable[..., Any] | str | None = None
    friction_parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        flaws = FlawList()
        _check_shapes(flaws, self)
        freeze_mappings(flaws, self, "parameters", "friction_parameters")
        flaws.raise_if_any(f"contact '{self.name}'")
        _settle_law(flaws, self, "law", NORMAL_INPUTS)
        _settle_friction(flaws, self)
        flaws.raise_if_any(f"contact '{self.name}'")

    @property
    def points(self) -> tuple[str, str]:
        return self.touching.point, self.against.point

    @property
    def laws(self) -> dict[str, PlacedLaw]:
        """Law of the normal force, and of friction where there is any, by field."""
        return {"law": (self.name, self.law, self.parameters)} | _friction_of(self)

    def folded(self) -> set[str]:
        """Names of numbers that laws want as constants."""
        return _folded(self)

    def numbers(self) -> Iterator[Number]:
        yield from _shape_numbers(self)
        yield from _law_numbers(self)

    def with_numbers(self, changes: Mapping[str, float]) -> Self:
        return dataclasses.replace(self, **_changed_shapes(self, changes), **_changed_laws(self, changes))


@dataclass(frozen=True)
class RigidContact:
    """A body and a surface that cannot overlap: they rebound, or rest on each other until they are pulled apart.

    At impact the speeds along the normals become `v+ >= -r v-` by impulses that only push, found for all contacts
    together (Newton's law of impact as a complementarity problem). Friction adds impulses of at most `coefficient`
    times these, against the slip; while the bodies rest on each other, its law takes their normal force. Where both
    together would give energy, the rebound is the largest that gives none.

    Signals as those of `Contact`.

    Attributes:
        restitution: r, 0 to 1.
        rest_speed: of approach [m/s], below which there is no rebound any more and the bodies stay in touch; its
            default is this project's own choice.
        friction: a law of friction with a parameter `coefficient`, or its name.
    """

    name: str
    touching: Touching
    against: Touched
    restitution: float = 0.0
    rest_speed: float = 1e-3
    friction: Callable[..., Any] | str | None = None
    friction_parameters: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        flaws = FlawList()
        _check_shapes(flaws, self)
        freeze_mappings(flaws, self, "friction_parameters")
        if check_finite(flaws, "restitution", self.restitution) and not 0 <= self.restitution <= 1:
            flaws.add("restitution", f"must be between 0 and 1, is {self.restitution:g}")
        if check_finite(flaws, "rest_speed", self.rest_speed) and self.rest_speed <= 0:
            flaws.add("rest_speed", f"must be positive, is {self.rest_speed:g} m/s")
        flaws.raise_if_any(f"contact '{self.name}'")
        _settle_friction(flaws, self)
        if self.friction is not None and "coefficient" not in self.friction_parameters:
            flaws.add("friction", "the law has no parameter 'coefficient'", "impacts need it")
        flaws.raise_if_any(f"contact '{self.name}'")
        keep_floats(self, "restitution", "rest_speed")

    @property
    def points(self) -> tuple[str, str]:
        return self.touching.point, self.against.point

    @property
    def laws(self) -> dict[str, PlacedLaw]:
        """Law of friction, where there is any."""
        return _friction_of(self)

    def folded(self) -> set[str]:
        """Names of numbers that laws want as constants."""
        return _folded(self)

    def numbers(self) -> Iterator[Number]:
        yield from _shape_numbers(self)
        yield Number(f"{self.name}.restitution", self.restitution, "")
        yield Number(f"{self.name}.rest_speed", self.rest_speed, "m/s")
        yield from _law_numbers(self)

    def with_numbers(self, changes: Mapping[str, float]) -> Self:
        own = {key: changes.get(f"{self.name}.{key}", getattr(self, key)) for key in ("restitution", "rest_speed")}
        return dataclasses.replace(self, **own, **_changed_shapes(self, changes), **_changed_laws(self, changes))


AnyContact = Contact | RigidContact


def function_of(law: Any) -> Callable[..., Any]:
    """The function of a law that has been checked."""
    function = find_law(law)
    assert function is not None
    return function


def _check_shapes(flaws: FlawList, contact: AnyContact) -> None:
    check_name(flaws, contact.name)
    check_shape(flaws, "touching", contact.touching, (Ball, Box))
    check_shape(flaws, "against", contact.against, (Plane, Box))
    if not flaws.found and contact.touching.point == contact.against.point:
        flaws.add("against.point", f"is that of touching ('{contact.against.point}')", "name two points of two bodies")


def _shape_numbers(contact: AnyContact) -> Iterator[Number]:
    yield from contact.touching.numbers(contact.name)
    yield from contact.against.numbers(f"{contact.name}.against")


def _changed_shapes(contact: AnyContact, changes: Mapping[str, float]) -> dict[str, Any]:
    return {
        "touching": contact.touching.with_numbers(contact.name, changes),
        "against": contact.against.with_numbers(f"{contact.name}.against", changes),
    }


def _friction_of(contact: AnyContact) -> dict[str, PlacedLaw]:
    if contact.friction is None:
        return {}
    return {"friction": (f"{contact.name}.friction", contact.friction, contact.friction_parameters)}


def _folded(contact: AnyContact) -> set[str]:
    laws = contact.laws.values()
    return {f"{prefix}.{key}" for prefix, law, _ in laws for key in info_of(function_of(law)).folded}


def _law_numbers(contact: AnyContact) -> Iterator[Number]:
    for prefix, law, parameters in contact.laws.values():
        units = info_of(function_of(law)).units
        for key, value in parameters.items():
            yield Number(f"{prefix}.{key}", value, units.get(key, ""))


def _changed_laws(contact: AnyContact, changes: Mapping[str, float]) -> dict[str, Any]:
    return {
        GROUPS[field]: {key: changes.get(f"{prefix}.{key}", value) for key, value in parameters.items()}
        for field, (prefix, _, parameters) in contact.laws.items()
    }


def _settle_friction(flaws: FlawList, contact: AnyContact) -> None:
    if contact.friction is not None:
        _settle_law(flaws, contact, "friction", FRICTION_INPUTS)
    elif contact.friction_parameters:
        flaws.add("friction_parameters", "have no effect without friction", "name its law")


def _settle_law(flaws: FlawList, contact: AnyContact, field: str, inputs: tuple[str, ...]) -> None:
    """Check a law and its parameters, and fill in the defaults of these."""
    law, group = getattr(contact, field), GROUPS[field]
    function = find_law(law)
    if function is None:
        flaws.add(field, f"'{law}' is unknown", nearest(str(law), known_laws()))
        return
    info, given = info_of(function), getattr(contact, group)
    try:
        arguments = arguments_of(function)
    except (TypeError, ValueError) as error:
        flaws.add(field, str(error), "write the law as a plain function with named arguments")
        return
    own = {*inputs, *info.states, *info.located.values()}
    wanted = [argument for argument in arguments if argument.name not in own]
    values = {a.name: given.get(a.name, a.default) for a in wanted if a.name in given or a.has_default}
    for argument in wanted:
        if argument.name not in values:
            flaws.add(f"{group}.{argument.name}", "is missing", f"the law takes it, beside {', '.join(inputs)}")
    for key in given.keys() - {argument.name for argument in wanted}:
        flaws.add(f"{group}.{key}", "is no parameter of the law", nearest(key, [a.name for a in wanted]))
    if not set(inputs[:2]) <= {argument.name for argument in arguments}:
        flaws.add(field, f"the law does not take {' and '.join(inputs[:2])}", "it is no law of this kind")
    if len(info.located) > (field == "law"):
        flaws.add(field, f"the law locates {', '.join(info.located)}", "only a normal force may locate one touch")
    if info.memory or info.sticks:
        flaws.add(field, "a contact's law has no memory and no direction", "take one with continuous states")
    usable = {key: value for key, value in values.items() if check_finite(flaws, f"{group}.{key}", value)}
    arrays = {key: np.array([float(value)]) for key, value in usable.items()}
    for key, rule in info.checks.items():
        if key in arrays:
            check_rule(flaws, f"{group}.{key}", rule, arrays[key], arrays)
    object.__setattr__(contact, group, FrozenDict({key: as_floats(value) for key, value in values.items()}))
