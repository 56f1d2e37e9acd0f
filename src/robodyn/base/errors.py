"""ModelError: what is wrong with a description? All flaws at once, each with a path and a remedy."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from .records import frozen

MOST_REPORTED, LONGEST_TEXT, LONGEST_NAME, MOST_NEAR = 100, 500, 100, 3
"""Flaws that are reported, letters of each, letters of a name for which the nearest known ones are looked for, and how
many of these."""

SYNONYMS = (
    ("position", "angle", "pos", "displacement"),
    ("velocity", "speed", "vel"),
    ("acceleration", "accel", "acc"),
    ("torque", "force", "effort", "moment"),
)
"""Words for one quantity, ours first."""


def _cut(text: str) -> str:
    """A text that may show a value of any length, no longer than a reader reads."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."


@frozen
class Flaw:
    """One problem of a description: where it is, what is wrong, how to mend it."""

    path: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        path, what, remedy = (_cut(text) for text in (self.path, self.what, self.remedy))
        sentence = f"{path}: {what}" if path else what
        return f"{sentence} ({remedy})" if remedy else sentence

    def under(self, prefix: str) -> Flaw:
        """This flaw seen from the container that holds it."""
        path = f"{prefix}.{self.path}" if self.path else prefix
        return Flaw(path, self.what, self.remedy)


class ModelError(ValueError):
    """An invalid description, with every flaw found."""

    def __init__(self, flaws: Iterable[Flaw], source: str = "") -> None:
        self.flaws = tuple(flaws)
        self.source = source
        super().__init__(self._text())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.flaws, self.source)

    def _text(self) -> str:
        count = len(self.flaws)
        head = f"{self.source}: " if self.source else ""
        noun = "1 problem" if count == 1 else f"{count} problems"
        rest = [f"  ... and {count - MOST_REPORTED} more"] if count > MOST_REPORTED else []
        return "\n".join([f"{head}{noun}", *(f"  {flaw}" for flaw in self.flaws[:MOST_REPORTED]), *rest])


@dataclass
class FlawList:
    """Collects flaws while a description is being read or checked."""

    found: list[Flaw] = field(default_factory=list)

    def add(self, path: str, what: str, remedy: str = "") -> None:
        self.found.append(Flaw(path, what, remedy))

    def extend(self, flaws: Iterable[Flaw], under: str = "") -> None:
        self.found.extend(flaw.under(under) if under else flaw for flaw in flaws)

    def add_unknown(self, names: Iterable[str], known: Iterable[str], what: str, under: str = "") -> None:
        """A flaw for each name that is none of those known, with the nearest that is."""
        there = set(known)
        for name in names:
            if name not in there:
                self.add(f"{under}.{name}" if under else name, what, nearest(name, there))

    def add_unless_positive(self, **given: float | None) -> None:
        """A flaw for each number that is not positive and finite; None is none."""
        for name, value in given.items():
            if value is not None and not 0 < value < math.inf:
                self.add(name, f"must be positive, is {value:g}")

    def concern(self, *fields: str) -> bool:
        """Whether there is a flaw of one of these fields, or of a part of it."""
        return any(re.match(rf"{re.escape(field)}(?![\w])", flaw.path) for flaw in self.found for field in fields)

    def raise_if_any(self, source: str = "") -> None:
        if self.found:
            raise ModelError(self.found, source)


def refuse(path: str, what: str, remedy: str = "", source: str = "") -> NoReturn:
    """A ModelError of one flaw."""
    raise ModelError([Flaw(path, what, remedy)], source)


def refuse_unknown(names: Iterable[str], known: Iterable[str], what: str, source: str = "", under: str = "") -> None:
    """A ModelError where a name is none of those known."""
    flaws = FlawList()
    flaws.add_unknown(names, known, what, under)
    flaws.raise_if_any(source)


def refuse_word(key: str, word: str, known: Iterable[str], source: str = "") -> None:
    """A ModelError where a setting is none of the words it may be."""
    if word not in set(known):
        refuse(key, f"'{word}' is unknown", nearest(word, known), source)


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names that one may have meant, the likeliest first: by meaning, by a word of them, then by letters."""
    candidates = sorted(map(str, known))
    if len(name) > LONGEST_NAME:
        return []
    # Another word for the same quantity: hinge.angle is hinge.position.
    parts = re.split("([._])", name)
    there = set(candidates)
    for words in SYNONYMS:
        for k, part in enumerate(parts):
            others = words if part in words else ()
            synonyms = ["".join([*parts[:k], word, *parts[k + 1 :]]) for word in others]
            if neighbours := [other for other in synonyms if other in there]:
                return neighbours[:MOST_NEAR]
    # A part of a longer name: pid is in pid_control and sampled_pid.
    words_asked = set(re.split("[._]", name))
    longer = sorted((other for other in candidates if words_asked < set(re.split("[._]", other))), key=len)
    return longer[:MOST_NEAR] or difflib.get_close_matches(name, candidates, n=MOST_NEAR, cutoff=0.55)


def nearest(name: str, known: Iterable[str]) -> str:
    """A remedy that suggests the known name closest to a misspelt one, or those that hold it as a word."""
    candidates = sorted(map(str, known))
    if close := near_names(str(name), candidates):
        # Letters alone are a guess, of which the best is enough.
        holds = set(re.split("[._]", str(name))) < set(re.split("[._]", close[0]))
        chosen = close if holds else close[:1]
        return f"did you mean {' or '.join(repr(other) for other in chosen)}?"
    if not candidates:
        return "none are defined here"
    shown = ", ".join(candidates[:12]) + (", ..." if len(candidates) > 12 else "")
    return f"known: {shown}"
