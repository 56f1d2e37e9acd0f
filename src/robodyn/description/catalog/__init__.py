"""Catalogue: which machines and scenarios are ready to run?

The library's own are for teaching; other packages bring theirs by entry points of the group `robodyn.scenarios`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.base.extensions import Extension, collect
from robodyn.description.catalog import scara, scara_avoidance, six_axis
from robodyn.description.catalog.contacts import bouncing_ball, box_on_slope, tumbling_box
from robodyn.description.catalog.described import arm_on_slope, quadrotor, rover
from robodyn.description.catalog.excited_arm import excited_arm
from robodyn.description.catalog.linkages import breaking_pendulum, cartesian_pendulum, four_bars
from robodyn.description.catalog.options import options_of, read_options
from robodyn.description.catalog.oscillator import (
    COUPLINGS,
    PORT,
    Oscillator,
    energy_of,
    exact_matrix,
    oscillator,
    oscillator_side,
    oscillator_sides,
    solve_exactly,
)
from robodyn.description.catalog.pendulums import double_pendulum, pendulum
from robodyn.description.catalog.quadruped import quadruped, quadruped_mechanism
from robodyn.description.catalog.scara import scara_mechanism, scara_ptp
from robodyn.description.catalog.scara_avoidance import scara_avoid, scara_avoid_sampled, scara_phases
from robodyn.description.catalog.six_axis import six_axis_mechanism, swinging_arm
from robodyn.description.catalog.two_link import two_link_loop, two_link_mechanism
from robodyn.description.model import Scenario, ScenarioSequence

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
    known = {name: Extension(SCENARIOS[name], "robodyn")} if name in SCENARIOS else list_scenarios()
    if name not in known:
        packages = {extension.package for extension in known.values()}
        missing = "" if STUDIES in packages else f"; more come with {STUDIES}"
        remedy = f"{nearest(name, known)}; a file must end in .toml{missing}"
        raise ModelError([Flaw("", f"there is no scenario '{name}'", remedy)])
    entry = known[name]
    if colon:
        entry = Extension(partial(entry.thing, **read_options(name, entry.thing, options)), entry.package)
    return make_scenario(name, entry)


def make_scenario(name: str, entry: Extension[Maker]) -> Scenario | ScenarioSequence:
    """What an entry of the catalogue makes."""
    try:
        made = entry.thing()
    except ModelError:
        raise
    except Exception as error:  # code of another package, which may fail in any way
        what = f"'{name}' of {entry.package} cannot be made: {type(error).__name__}: {error}"
        raise ModelError([Flaw("", what)]) from error
    if not isinstance(made, (Scenario, ScenarioSequence)):
        raise ModelError([Flaw("", f"'{name}' of {entry.package} must be a scenario, is {type(made).__name__}")])
    return made


def title_of(maker: Maker) -> str:
    """What a scenario is, in the words of the function that makes it, which is not called: some take their time."""
    function, given = maker, ""
    if isinstance(maker, partial):
        function = maker.func
        words = [*map(str, maker.args), *(f"{key}={value}" for key, value in maker.keywords.items())]
        given = f" ({', '.join(words)})" if words else ""
    return (function.__doc__ or "").strip().partition("\n")[0].rstrip(".") + given


__all__ = [
    "COUPLINGS",
    "PORT",
    "SCENARIOS",
    "Oscillator",
    "arm_on_slope",
    "bouncing_ball",
    "box_on_slope",
    "breaking_pendulum",
    "cartesian_pendulum",
    "double_pendulum",
    "energy_of",
    "exact_matrix",
    "find_scenario",
    "four_bars",
    "list_scenarios",
    "make_scenario",
    "options_of",
    "oscillator",
    "oscillator_side",
    "oscillator_sides",
    "pendulum",
    "quadrotor",
    "quadruped",
    "quadruped_mechanism",
    "rover",
    "scara",
    "scara_avoid",
    "scara_avoid_sampled",
    "scara_avoidance",
    "scara_mechanism",
    "scara_phases",
    "scara_ptp",
    "six_axis",
    "six_axis_mechanism",
    "solve_exactly",
    "swinging_arm",
    "title_of",
    "tumbling_box",
    "two_link_loop",
    "two_link_mechanism",
]
