"""Options of a scenario in the catalogue: `epaas-hold:payload=4,gripper=horizontal`.

They are the keyword arguments of the function that makes the scenario, as far as a word or a number says them: a true
or false, a whole number, a number in SI, a word.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from robodyn.base.errors import FlawList, nearest

TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
Option: TypeAlias = type[bool] | type[int] | type[float] | type[str]
KINDS: dict[Option, str] = {bool: "true or false", int: "a whole number", float: "a number in SI", str: "a word"}
"""What an option may be, in the order in which a hint such as `float | None` is searched, and in words."""


def options_of(maker: Callable[..., Any]) -> dict[str, Option]:
    """Options that a maker takes, by name."""
    choices: dict[str, Option] = {}
    try:
        hints = typing.get_type_hints(maker.func if isinstance(maker, partial) else maker)
        parameters = inspect.signature(maker).parameters
    except (NameError, TypeError, ValueError):  # a maker of another package, whose hints say nothing here
        return choices
    for name, parameter in parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            # **options: Unpack[Options] takes what the dictionary of that type has.
            for each in typing.get_args(hints.get(name)):
                choices |= _kinds(typing.get_type_hints(each))
        elif parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            choices |= _kinds({name: hints.get(name)})
    return choices


def _kinds(hints: dict[str, Any]) -> dict[str, Option]:
    """The hints that a text can say; a hint such as `str | Law` counts as its word."""
    options: dict[str, Option] = {}
    for name, hint in hints.items():
        union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
        allowed = typing.get_args(hint) if union else (hint,)
        kind = next((kind for kind in KINDS if kind in allowed), None)
        options |= {} if kind is None else {name: kind}
    return options


def read_options(name: str, maker: Callable[..., Any], text: str) -> dict[str, Any]:
    """What `payload=4,gripper=horizontal` means to a maker.

    Raises:
        ModelError: for each option that is unknown, given twice or of another kind.
    """
    known, flaws = options_of(maker), FlawList()
    values: dict[str, Any] = {}
    for pair in text.split(","):
        key, equals, word = (part.strip() for part in pair.partition("="))
        kind = known.get(key)
        if kind is None:
            remedy = f"{nearest(key, known)} (options: {', '.join(known)})" if known else "it has no options"
            flaws.add(f"{name}:{pair.strip()}", f"there is no option '{key}'", remedy)
        elif key in values:
            flaws.add(f"{name}:{pair.strip()}", "is given twice")
        else:
            try:
                values[key] = TRUTH[word.lower()] if kind is bool else kind(word)
            except (KeyError, ValueError):
                flaws.add(f"{name}:{pair.strip()}", f"must be {key}= and {KINDS[kind]}", f"is '{word}'")
    flaws.raise_if_any("catalogue")
    return values
