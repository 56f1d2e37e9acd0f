"""Patterns of parameter names: which numbers of a scenario does a name, a list of names or a pattern stand for?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from robodyn.analysis.sensitivity.parameters import INITIAL
from robodyn.base.errors import FlawList, nearest
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import MemoryInfo, StateInfo
from robodyn.description.model import Number, Scenario

WILDCARDS = "*?["


def find_numbers(system: System) -> dict[str, Number]:
    """Every number that can be varied: those of the scenario, and the start value of each state and sampled output."""
    # Those of the system know the units of their places, a description leaves them open: {F} is N m or N.
    described = {name: number for name, number in system.scenario.numbers().items() if not name.startswith(INITIAL)}
    known = {name: system.numbers.get(name, number) for name, number in described.items()}
    infos: list[StateInfo | MemoryInfo] = [*system.states, *(info for info in system.memory if not info.hidden)]
    starts = [Number(f"{INITIAL}{info.name}", info.start, info.unit) for info in infos]
    return known | {number.name: number for number in starts}


def names_meant(keys: Iterable[str], scenario: Scenario) -> list[str]:
    """Numbers of a scenario that keys name, as far as it knows them itself; what is wrong is reported later."""
    known = [name for name in scenario.numbers() if not name.startswith(INITIAL)]
    parts = [part for key in keys for part in split_key(key)]
    return [name for name in known if any(name == part or fnmatchcase(name, part) for part in parts)]


def is_pattern(key: str) -> bool:
    return any(letter in key for letter in WILDCARDS)


def split_key(key: str) -> list[str]:
    """The names and patterns of a key, which stand in it with commas between them."""
    return [part.strip() for part in key.split(",") if part.strip()]


def match_numbers(flaws: FlawList, key: str, known: Mapping[str, Number]) -> list[Number]:
    """The numbers a key names, each once; a part that names none is a flaw with the nearest name."""
    found: dict[str, Number] = {}
    for part in split_key(key):
        names = [name for name in known if fnmatchcase(name, part)] if is_pattern(part) else [part]
        missing = not names or (names == [part] and part not in known)
        if missing:
            flaws.add(part, f"{'matches' if is_pattern(part) else 'there is'} no such number", nearest(part, known))
            continue
        found |= {name: known[name] for name in names}
    if not split_key(key):
        flaws.add(key, "names no number")
    return list(found.values())


def check_once(flaws: FlawList, names: Iterable[str]) -> None:
    """No number may be varied in two ways."""
    for name, count in Counter(names).items():
        if count > 1:
            flaws.add(name, "is varied twice", "vary it in one way")
