"""Laws: friction, drives, control, references, sensors, as plain functions a user reads, copies and replaces."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from robodyn.description.laws import (
    contact,
    control,
    drives,
    elements,
    filters,
    friction,
    hydraulics,
    model_based,
    references,
    sensors,
    speed_profile,
)
from robodyn.description.laws.definition import RULES, Argument, Law, LawInfo, arguments_of, info_of, law

MODULES = (
    friction, drives, hydraulics, elements, contact, control, filters, model_based, references, speed_profile, sensors,
)  # fmt: skip


@cache
def known_laws() -> Mapping[str, Callable[..., Any]]:
    """All laws of this package by name."""
    named = [(name, part) for module in MODULES for name, part in vars(module).items() if isinstance(part, Law)]
    return MappingProxyType({name: function for name, function in named if callable(function)})


__all__ = ["RULES", "Argument", "Law", "LawInfo", "arguments_of", "info_of", "known_laws", "law"]
