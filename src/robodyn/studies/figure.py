"""Published value: what did a study publish, what do we get, and is that the same?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

NOT_REPRODUCIBLE = "not reproducible"


@dataclass(frozen=True)
class PublishedValue:
    """One figure of a study beside ours.

    Attributes:
        published: the study's or reference's value, None where it gives only a statement (see `reason`).
        value: ours; None where it cannot be reproduced.
        tolerance: largest deviation taken as equal, in the unit; with a relation the limit itself.
        reason: why this tolerance, or why the figure cannot be reproduced.
        source: where the published value stands.
        holds: for a statement ("q1 arrives before q3"), whether it holds.
        relation: "at most" or "more than", for a value that has only a limit.
        measured: what the study measured on the machine itself, beside what it computed.
        part: of the study, a heading of its page.
    """

    name: str
    published: float | None
    value: float | None
    unit: str = ""
    tolerance: float | None = None
    reason: str = ""
    source: str = ""
    holds: bool | None = None
    relation: str = ""
    measured: float | None = None
    part: str = ""

    def __post_init__(self) -> None:
        """Numbers and truth values are Python's: a NumPy one is no `False`, and no JSON."""
        for name in ("published", "value", "tolerance", "measured"):
            number = getattr(self, name)
            object.__setattr__(self, name, None if number is None else float(number))
        object.__setattr__(self, "holds", None if self.holds is None else bool(self.holds))

    @property
    def deviation(self) -> float | None:
        """Ours less the published one."""
        if self.published is None or self.value is None:
            return None
        return self.value - self.published

    @property
    def ok(self) -> bool | None:
        """Whether it is reproduced; None where it cannot be."""
        if self.holds is not None:
            return self.holds
        if self.value is None or self.deviation is None or self.tolerance is None:
            return None
        return math.isfinite(self.deviation) and abs(self.deviation) <= self.tolerance

    @property
    def verdict(self) -> str:
        """The answer in a word or two."""
        return {True: "yes", False: "NO", None: NOT_REPRODUCIBLE}[self.ok]

    @property
    def expected(self) -> str:
        """What the value is held against, in words."""
        if self.relation and self.tolerance is not None:
            return f"{self.relation} {self.tolerance:.4g}"
        if self.published is None:
            return "a statement" if self.holds is not None else "-"
        return f"{self.published:.6g}" + ("" if self.tolerance is None else f" within {self.tolerance:.2g}")

    def as_plain(self) -> dict[str, Any]:
        """As data for a program."""
        message = ("name", "published", "measured", "value", "unit", "tolerance", "ok", "source", "reason", "part")
        keys = (*message, "deviation", "relation")
        return {key: getattr(self, key) for key in keys}


def below(name: str, value: float, limit: float, unit: str, reason: str, source: str = "") -> PublishedValue:
    """A statement that a value is no larger than a limit."""
    return PublishedValue(
        name, None, value, unit, limit, reason, source, holds=bool(value <= limit), relation="at most"
    )


def above(name: str, value: float, limit: float, unit: str, reason: str, source: str = "") -> PublishedValue:
    """A statement that a value is larger than a limit."""
    return PublishedValue(
        name, None, value, unit, limit, reason, source, holds=bool(value > limit), relation="more than"
    )
