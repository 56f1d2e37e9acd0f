"""Catalogue: which machines and scenarios are ready to run?

The library's own are for teaching; other packages bring theirs by entry points of the group `robodyn.scenarios`.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest, refuse
from robodyn.base.extensions import Extension, collect
from robodyn.description.catalog import scara, six_axis
from robodyn.description.catalog.contacts import bouncing_ball, box_on_slope, tumbling_box
from robodyn.description.catalog.linkages import (
    breaking_pendulum,
    cartesian_pendulum,
    double_pendulum,
    four_bars,
    pendulum,
)
from robodyn.description.catalog.oscillator import (
    COUPLINGS,
    PORT,
    Oscillator,
    oscillator,
    oscillator_side,
    oscillator_sides,
)
from robodyn.description.catalog.quadruped import quadruped, quadruped_mechanism
from robodyn.description.catalog.scara import scara_mechanism, scara_phases, scara_ptp
from robodyn.description.catalog.six_axis import excited_arm, six_axis_mechanism, swinging_arm
from robodyn.description.catalog.two_link import two_link_loop, two_link_mechanism
from robodyn.description.model import Scenario, ScenarioSequence

# --------------------------------------------------------------------------------------------------
# Scenarios that are files, as a user writes them: a rover, a quadrotor, an arm on a slope and a parallel ankle.


FILES = Path(__file__).parent / "files"


def _read(name: str) -> Scenario:
    from robodyn.description.files import read_scenario

    return read_scenario(FILES / name)


def rover() -> Scenario:
    """A rover on two driven wheels that roll without slipping drives an S under sampled velocity loops."""
    return _read("rover.toml")


def quadrotor() -> Scenario:
    """A quadrotor rises to 1 m and levels itself on the thrusts of four propellers."""
    return _read("quadrotor.toml")


def arm_on_slope() -> Scenario:
    """A box sticks on a slope by dry friction while an arm on it swings."""
    return _read("arm_on_slope.toml")


def parallel_ankle() -> Scenario:
    """Two motors in a shank roll an ankle by rods, under its pitch and roll joints' limits."""
    return _read("parallel_ankle.toml")


# --------------------------------------------------------------------------------------------------
# The catalogue: scenarios by name.


Maker: TypeAlias = Callable[[], Scenario | ScenarioSequence]
GROUP = "robodyn.scenarios"
STUDIES = "robodyn-studies"
"""The package with the scenarios of published studies."""
SCENARIOS: Mapping[str, Maker] = {
    "pendulum": pendulum,
    "double-pendulum": double_pendulum,
    "breaking-pendulum": breaking_pendulum,
    "four-bar": four_bars,
    "bouncing-ball": bouncing_ball,
    "box-on-slope": box_on_slope,
    "arm-on-slope": arm_on_slope,
    "parallel-ankle": parallel_ankle,
    "swinging-arm": swinging_arm,
    "excited-arm": excited_arm,
    "quadruped": quadruped,
    "rover": rover,
    "quadrotor": quadrotor,
    "oscillator-first": partial(oscillator_side, 0),
    "oscillator-second": partial(oscillator_side, 1),
    "scara-ptp": scara_ptp,
    "scara-phases": scara_phases,
    "two-link-loop": two_link_loop,
}
"""The library's own."""


def list_scenarios() -> dict[str, Extension[Maker]]:
    """All scenarios by name, the library's own first, each with the package that brings it."""
    return collect(GROUP, SCENARIOS, callable, "a function that makes a scenario")


def find_scenario(what: str) -> Scenario | ScenarioSequence:
    """A scenario of the catalogue by name, with options where it has some: `four-bar:count=4`."""
    name, colon, options = what.partition(":")
    # The packages of others are loaded only where the library has no such scenario.
    scenarios = {name: Extension(SCENARIOS[name], "robodyn")} if name in SCENARIOS else list_scenarios()
    if name not in scenarios:
        packages = {extension.package for extension in scenarios.values()}
        missing = "" if STUDIES in packages else f"; more come with {STUDIES}"
        remedy = f"{nearest(name, scenarios)}; a file must end in .toml{missing}"
        refuse("", f"there is no scenario '{name}'", remedy)
    entry = scenarios[name]
    if colon:
        entry = Extension(partial(entry.thing, **read_options(name, entry.thing, options)), entry.package)
    return make_scenario(name, entry)


def make_scenario(name: str, entry: Extension[Maker]) -> Scenario | ScenarioSequence:
    """Make the scenario or sequence of an entry of the catalogue."""
    try:
        made = entry.thing()
    except ModelError:
        raise
    except Exception as error:  # code of another package, which may fail in any way
        what = f"'{name}' of {entry.package} cannot be built: {type(error).__name__}: {error}"
        raise ModelError([Flaw("", what)]) from error
    if not isinstance(made, (Scenario, ScenarioSequence)):
        refuse("", f"'{name}' of {entry.package} must be a scenario, is {type(made).__name__}")
    return made


def title_of(maker: Maker) -> str:
    """The title of a scenario: the sentence of the function that makes it, which is not called, as some take their
    time.

    What distinguishes it from others of the same function follows: `Option elastic.`, `Option axis l3.`
    """
    function, words = maker, []
    if isinstance(maker, partial):
        function = maker.func
        named = dict(zip(inspect.signature(function).parameters, maker.args, strict=False)) | maker.keywords
        for name, value in named.items():
            words.append(f"{'' if value else 'not '}{name}" if isinstance(value, bool) else f"{name} {value}")
    sentence = (function.__doc__ or "").strip().partition("\n")[0]
    return f"{sentence} Option{'s' * (len(words) > 1)} {', '.join(words)}." if words else sentence


# --------------------------------------------------------------------------------------------------
# Options of a scenario in the catalogue: `epaas-hold:payload=4,gripper=horizontal`.
#
# They are the keyword arguments of the function that makes the scenario, as far as a word or a number says them: a true
# or false, a whole number, a number in SI, a word.


TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
Option: TypeAlias = type[bool] | type[int] | type[float] | type[str]
KINDS: dict[Option, str] = {bool: "true or false", int: "a whole number", float: "a number in SI", str: "a word"}
"""Types of options, in the order in which a hint such as `float | None` is searched, and in words."""


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
    """The values of `payload=4,gripper=horizontal` for the options of a maker.

    Raises:
        ModelError: for each option that is unknown, given twice or of another kind.
    """
    kinds, flaws = options_of(maker), FlawList()
    values: dict[str, Any] = {}
    for pair in text.split(","):
        key, equals, word = (part.strip() for part in pair.partition("="))
        kind = kinds.get(key)
        if kind is None:
            remedy = f"{nearest(key, kinds)} (options: {', '.join(kinds)})" if kinds else "it has no options"
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


__all__ = [
    "COUPLINGS", "PORT", "SCENARIOS", "Oscillator", "arm_on_slope", "bouncing_ball", "box_on_slope",
    "breaking_pendulum", "cartesian_pendulum", "double_pendulum", "find_scenario",
    "four_bars", "list_scenarios", "make_scenario", "options_of", "oscillator", "oscillator_side",
    "oscillator_sides", "pendulum", "quadrotor", "quadruped", "quadruped_mechanism", "rover", "scara",
    "scara_mechanism", "scara_phases", "scara_ptp", "six_axis",
    "six_axis_mechanism", "swinging_arm", "title_of", "tumbling_box", "two_link_loop",
    "two_link_mechanism",
]  # fmt: skip
