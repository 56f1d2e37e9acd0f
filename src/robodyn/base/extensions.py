"""Entry points: what do other installed packages bring to the catalogue and to the studies?

A package names a mapping, name -> what it brings, in its pyproject.toml:

    [project.entry-points."robodyn.scenarios"]
    workshop = "workshop_robots:SCENARIOS"

Only what is asked for is loaded. What cannot be used is warned of, with the package it is from: somebody else's
package must not keep ours from working.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from .records import frozen

T = TypeVar("T")


@frozen
class Extension(Generic[T]):
    """Something that can be found by name, and the package that brings it."""

    thing: T
    package: str


def collect(group: str, own: Mapping[str, T], fits: Callable[[Any], bool], what: str) -> dict[str, Extension[T]]:
    """Our own things by name, then those of the group's entry points, package by package.

    Args:
        fits: whether something brought is of the right kind; what: that kind, in words.
    """
    extensions = {name: Extension(thing, "robodyn") for name, thing in own.items()}
    for point in sorted(entry_points(group=group), key=lambda point: (_package(point), point.name)):
        for name, thing in _load(point).items():
            if not isinstance(name, str) or not fits(thing):
                _warn(point, f"'{name}' is not {what}")
            elif name in extensions:
                _warn(point, f"'{name}' is taken: {extensions[name].package} has one of that name")
            else:
                extensions[name] = Extension(thing, _package(point))
    return extensions


def _load(point: EntryPoint) -> Mapping[Any, Any]:
    """The mapping that an entry point names; an empty one where it cannot be had."""
    try:
        brought = point.load()
    except Exception as error:  # noqa: BLE001 - code of another package, which may fail in any way
        _warn(point, f"cannot be loaded: {type(error).__name__}: {error}")
        return {}
    if not isinstance(brought, Mapping):
        _warn(point, f"must be a mapping of names, is {type(brought).__name__}")
        return {}
    return brought


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module


def _warn(point: EntryPoint, what: str) -> None:
    place = f"{_package(point)}: entry point '{point.name} = {point.value}' of {point.group}"
    warnings.warn(f"{place}: {what}; ignored", stacklevel=4)
