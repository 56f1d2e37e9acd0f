"""Figure of a study: what was it to be, what do we get, and what does it prove that both are the same?

A figure is one of three kinds. A published result stands in the study and follows here from the physics, so that it
could fail. An input was given to the model, or parameters were fitted to it: it is read back and proves nothing. An own
check is an identity, a closed form, a convergence or a second program, of this project's own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from robodyn.base import frozen


class Kind(StrEnum):
    """The kind of proof that a figure gives."""

    RESULT = "published result"
    INPUT = "input"
    CHECK = "own check"


WIDE = "wide"
UNTOLD = "too small to compare"
APART = "apart"
VERDICTS: dict[Kind, dict[bool | str | None, str]] = {
    Kind.RESULT: {
        True: "reproduced",
        WIDE: UNTOLD,
        APART: "different",
        False: "NOT REPRODUCED",
        None: "not reproducible",
    },
    Kind.INPUT: {False: "NOT AS PRINTED", None: "given"},
    Kind.CHECK: {True: "holds", WIDE: UNTOLD, False: "FAILS", None: "reported"},
}
"""Kind -> `ok`, or `WIDE` where that says little, or `APART` where ours is known to be another -> the answer."""


@frozen
class PublishedValue:
    """One figure of a study beside ours.

    Attributes:
        expected: what ours is held against, None where there is only a statement (see `reason`): the printed value, or
            of an own check the closed form or what another program gives.
        value: ours; None where it cannot be reproduced.
        tolerance: largest deviation taken as equal, in the unit; with a relation the limit itself; none of a published
            result that comes out otherwise.
        reason: where the tolerance comes from, or why the figure differs or cannot be reproduced.
        source: where the expected value stands.
        kind: what it proves; an own check unless it is said to be more.
        holds: for a statement ("q1 arrives before q3"), whether it holds.
        relation: "at most" or "more than", for a value that has only a limit.
        measured: what the study measured on the machine itself, beside what it computed.
        wide: why a tolerance as wide as the expected value still says something; none other has one.
        fitted: parameters of the model that were fitted to this figure, which makes it an input.
        part: of the study, a heading of its page.
    """

    JSON = """
    name
    kind: published result, input or own check
    published
    measured
    value: ours
    unit
    tolerance
    ok
    source
    reason: of the tolerance
    part
    expected
    deviation
    relation
    wide
    fitted
    verdict
    """
    name: str
    expected: float | None
    value: float | None
    unit: str = ""
    tolerance: float | None = None
    reason: str = ""
    source: str = ""
    kind: Kind = Kind.CHECK
    holds: bool | None = None
    relation: str = ""
    measured: float | None = None
    wide: str = ""
    fitted: str = ""
    part: str = ""

    def __post_init__(self) -> None:
        """Numbers and truth values are Python's: a NumPy one is no `False`, and no JSON."""
        for name in ("expected", "value", "tolerance", "measured"):
            number = getattr(self, name)
            object.__setattr__(self, name, None if number is None else float(number))
        object.__setattr__(self, "holds", None if self.holds is None else bool(self.holds))
        if self.fitted and self.kind is not Kind.INPUT:
            raise ValueError(f"{self.name}: {self.fitted} was fitted to it, so it is an input")
        if self.is_wide != bool(self.wide):
            what = "as wide as its value: say in `wide` why" if self.is_wide else "narrower than its value: no `wide`"
            raise ValueError(f"{self.name}: the tolerance {self.tolerance} is {what}")

    @property
    def is_wide(self) -> bool:
        """Whether the tolerance is as large as the value that it is around; a count has none."""
        if self.expected is None or not self.tolerance or self.relation or self.holds is not None:
            return False
        return self.tolerance >= abs(self.expected)

    @property
    def published(self) -> float | None:
        """The printed value; None for a check of our own."""
        return None if self.kind is Kind.CHECK else self.expected

    @property
    def deviation(self) -> float | None:
        """Ours less the expected one."""
        if self.expected is None or self.value is None:
            return None
        return self.value - self.expected

    @property
    def ok(self) -> bool | None:
        """Whether it comes out; None where it has no verdict. An input fails if the model does not have it."""
        verdict = self.holds
        if verdict is None and self.deviation is not None and self.tolerance is not None:
            verdict = math.isfinite(self.deviation) and abs(self.deviation) <= self.tolerance
        return None if self.kind is Kind.INPUT and verdict else verdict

    @property
    def verdict(self) -> str:
        """The answer in a few words; a figure that is as small as its tolerance is counted apart, and so is one that
        comes out otherwise, with its reason, beside those that cannot be computed at all."""
        if self.is_wide and self.ok:
            return VERDICTS[self.kind][WIDE]
        if self.kind is Kind.RESULT and self.ok is None and self.value is not None:
            return VERDICTS[self.kind][APART]
        return VERDICTS[self.kind][self.ok]

    @property
    def expectation(self) -> str:
        """The value or bound that the figure is compared with, in words."""
        if self.relation and self.tolerance is not None:
            return f"{self.relation} {self.tolerance:.4g}"
        if self.expected is None:
            return "a statement" if self.holds is not None else "-"
        return f"{self.expected:.6g}" + ("" if self.tolerance is None else f" within {self.tolerance:.2g}")


def below(
    name: str, value: float, limit: float, unit: str, reason: str, source: str = "", kind: Kind = Kind.CHECK
) -> PublishedValue:
    """A statement that a value is no larger than a limit."""
    return PublishedValue(name, None, value, unit, limit, reason, source, kind, value <= limit, "at most")


def above(
    name: str, value: float, limit: float, unit: str, reason: str, source: str = "", kind: Kind = Kind.CHECK
) -> PublishedValue:
    """A statement that a value is larger than a limit."""
    return PublishedValue(name, None, value, unit, limit, reason, source, kind, value > limit, "more than")


def count_verdicts(figures: Iterable[PublishedValue]) -> dict[Kind, dict[str, int]]:
    """How many figures of each kind have which verdict; only those that occur."""
    occurring = Counter((figure.kind, figure.verdict) for figure in figures)
    counts: dict[Kind, dict[str, int]] = {}
    for kind, words in VERDICTS.items():
        for word in words.values():
            if occurring[kind, word]:
                counts.setdefault(kind, {})[word] = occurring[kind, word]
    return counts


def describe_counts(figures: Iterable[PublishedValue]) -> list[str]:
    """One line for each kind: `published results: 12 reproduced, 1 not reproducible`."""
    return [
        f"{kind}s: " + ", ".join(f"{count} {word}" for word, count in counts.items())
        for kind, counts in count_verdicts(figures).items()
    ]
