"""Signals: what does a column of numbers over time mean, and which ones are looked at first?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from .records import frozen

Kind = Literal["continuous", "held"]


@frozen
class SignalInfo:
    """The name, unit and kind of a signal.

    Args:
        kind: "held" for one that changes at samples only.
        rate: name of the signal that is this one's time derivative, if there is one.
        note: what whoever uses its numbers should know.
    """

    name: str
    unit: str
    kind: Kind = "continuous"
    rate: str | None = None
    note: str = ""


def number_units(infos: Sequence[SignalInfo]) -> list[int]:
    """The number of each signal's unit among all units, 0 where it has none; -1 for signals that hold."""
    numbers = {unit: k for k, unit in enumerate(dict.fromkeys(["", *(info.unit for info in infos)]))}
    return [-1 if info.kind == "held" else numbers[info.unit] for info in infos]


def fits(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name fits one of some patterns, such as `elbow.*`."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def find_unmatched(patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """The patterns that none of some names fits."""
    names = list(names)
    return [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]


MOST_OF_A_UNIT, MOST_UNITS = 4, 4
"""Curves of a plot, and plots, of a first look."""
_ERRORS = ("deviation.", "error", "following_error")
_MOTIONS = ("position", "velocity")


def choose_first(infos: Iterable[SignalInfo]) -> list[str]:
    """Names for a first look: deviations and errors, then positions and velocities of joints, a few of each unit.

    Where a machine has neither, the first signals of each unit.
    """
    units = {info.name: info.unit for info in infos}
    errors = [name for name in units if name.startswith(_ERRORS)]
    units_of_errors = {units[name] for name in errors}
    motions = []
    for quantity in _MOTIONS:
        joints = (name for name in units if name.count(".") == 1 and name.endswith(f".{quantity}"))
        motions += [name for name in joints if units[name] not in units_of_errors]
    groups: dict[str, list[str]] = {}
    for name in [*errors, *motions] or units:
        groups.setdefault(units[name], []).append(name)
    return [name for group in list(groups.values())[:MOST_UNITS] for name in group[:MOST_OF_A_UNIT]]
