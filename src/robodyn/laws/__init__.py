"""Friction, drives, hydraulics, control, references, sensors: plain functions a user reads, copies and replaces."""

from collections.abc import Callable
from typing import Any

from robodyn.laws import control, drives, elements, friction, hydraulics, references, sensors
from robodyn.laws.definition import RULES, Argument, LawInfo, arguments_of, info_of, law

MODULES = (friction, drives, hydraulics, elements, control, references, sensors)


def known_laws() -> dict[str, Callable[..., Any]]:
    """All laws of this package by name."""
    return {
        name: function for module in MODULES for name, function in vars(module).items() if hasattr(function, "law_info")
    }


__all__ = ["RULES", "Argument", "LawInfo", "arguments_of", "info_of", "known_laws", "law"]
