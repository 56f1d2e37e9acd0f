"""Signals: what does a column of numbers over time mean?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
