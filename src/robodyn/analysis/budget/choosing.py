"""Signals of an error budget: which are split, over which times, and against what are they drawn?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fnmatch import fnmatchcase

from robodyn.analysis.budget.result import TIME
from robodyn.analysis.budget.twin import Twin
from robodyn.assembly import System
from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.model import Recording, Scenario

DEVIATIONS = ("deviation.*",)
ROWS = 2000
"""Times at which the parts are taken where the scenario has no rate of recording."""


def choose_signals(system: System, patterns: Sequence[str], twin: Twin) -> tuple[str, ...]:
    """Names of the signals to split; each must depend on the motion."""
    names, flaws = system.signal_names, FlawList()
    chosen = tuple(name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns))
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            remedy = f"name what is to be split; {nearest(pattern, names)}"
            flaws.add("signals", f"'{pattern}' matches no signal", remedy)
    for name in chosen:
        if not twin.has(name):
            flaws.add(f"signals.{name}", "does not depend on the motion or has no linear part", "choose another")
    flaws.raise_if_any(f"budget of '{system.scenario.name}'")
    return chosen


def choose_along(system: System, along: str) -> tuple[str, ...]:
    """The signal to draw against, none for the time."""
    if along != TIME and along not in system.signal_names:
        what = f"there is no signal '{along}'"
        raise ModelError([Flaw("along", what, nearest(along, system.signal_names))])
    return () if along == TIME else (along,)


def choose_recording(scenario: Scenario, signals: tuple[str, ...]) -> Recording:
    """Evenly spaced times, the same for all runs."""
    own = scenario.recording
    if own.rate is None and own.times is None:
        own = Recording(rate=ROWS / scenario.duration)
    return dataclasses.replace(own, signals=signals)
