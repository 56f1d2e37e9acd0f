"""Signals: what does a column of numbers over time mean?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from robodyn.base.records import dataclass

Kind = Literal["continuous", "held"]


@dataclass(frozen=True)
class SignalInfo:
    """What a signal is.

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
