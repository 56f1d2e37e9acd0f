"""Laws: friction, drives, control, references, sensors, as plain functions a user reads, copies and replaces."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from robodyn.description.laws import (
    aerodynamics,
    clutches,
    compensation,
    contact,
    control,
    drives,
    elements,
    excitation,
    filters,
    friction,
    gears,
    hydraulic_flows,
    hydraulic_volumes,
    hydraulics,
    model_based,
    orientation,
    pid,
    references,
    sensors,
    servo,
    speed_profile,
    task_control,
    tyres,
    walking,
)
from robodyn.description.laws.definition import RULES, Argument, Law, LawInfo, arguments_of, info_of, law

MODULES = (
    *(
        friction,
        clutches,
        drives,
        hydraulics,
        hydraulic_volumes,
        hydraulic_flows,
        elements,
        gears,
        contact,
        control,
        pid,
        filters,
        compensation,
        model_based,
        task_control,
        servo,
        references,
        speed_profile,
        orientation,
        excitation,
        sensors,
    ),
    aerodynamics,
    tyres,
    walking,
)


@cache
def known_laws() -> Mapping[str, Callable[..., Any]]:
    """All laws of this package by name."""
    named = [(name, part) for module in MODULES for name, part in vars(module).items() if isinstance(part, Law)]
    return MappingProxyType({name: function for name, function in named if callable(function)})


__all__ = ["RULES", "Argument", "Law", "LawInfo", "arguments_of", "info_of", "known_laws", "law"]
