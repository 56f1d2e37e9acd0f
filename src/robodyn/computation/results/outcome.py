"""Outcome: how did a run end, and may its numbers be used as what was asked for?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from robodyn.base import Displayed, frozen, view


class OutcomeKind(Enum):
    """Every way a run can end; the value says what the kind means."""

    FINISHED = "reached the end time"
    STOPPED = "a terminal event ended the run"
    SUSPECT = "completed, but a check of the run failed"
    INTERRUPTED = "interrupted from outside"
    STEP_LIMIT = "the maximum number of steps was reached"
    WALL_TIME = "the maximum computing time was reached"
    NOT_A_NUMBER = "a value is not a finite number"
    STEP_TOO_SMALL = "the step size fell below its limit"
    OVERFLOW = "a value or a buffer exceeded its bounds"
    OUT_OF_REACH = "a coordinate or a law left its valid range"
    CHATTERING = "events follow each other without time passing"
    JAMMED = "no contact forces can keep rigid bodies apart"
    RECORD_FULL = "the recording reached its maximum size"
    NO_MEMORY = "out of memory"
    NOT_SOLVED = "the equations of a step could not be solved"
    SINGULAR = "the chosen independent joints no longer determine the others"
    DIVERGED = "the coupled subsystems diverged"
    ILL_CONDITIONED = "the interface inertia of a subsystem does not exist"
    FAILED = "the run failed for another reason"


_OK = frozenset({OutcomeKind.FINISHED, OutcomeKind.STOPPED})
_CUT_SHORT = frozenset(
    {
        *(OutcomeKind.INTERRUPTED, OutcomeKind.STEP_LIMIT, OutcomeKind.WALL_TIME),
        *(OutcomeKind.RECORD_FULL, OutcomeKind.NO_MEMORY),
    }
)


@frozen
class Outcome:
    """How and when a run ended, with one sentence for its reader.

    Exactly one of `ok`, `suspect`, `cut_short`, `failed` holds.

    Args:
        time: simulated time at the end [s].
    """

    JSON = """
    kind: finished, stopped, suspect ...
    ok
    sentence
    time: [s]
    """
    kind: OutcomeKind
    sentence: str
    time: float

    @property
    def ok(self) -> bool:
        """The run is what was asked for: it reached its end time or a terminal event."""
        return self.kind in _OK

    @property
    def suspect(self) -> bool:
        """The run was carried through, but its certificate says that its numbers are wrong."""
        return self.kind is OutcomeKind.SUSPECT

    @property
    def carried_through(self) -> bool:
        """The run went as far as it was to go, whether its numbers are right or suspect."""
        return self.ok or self.suspect

    @property
    def cut_short(self) -> bool:
        """The numbers so far are good, but a person or a budget ended the run early."""
        return self.kind in _CUT_SHORT

    @property
    def failed(self) -> bool:
        """The equations could not be continued; the last rows may be unusable."""
        return not (self.ok or self.suspect or self.cut_short)


# --------------------------------------------------------------------------------------------------
# Certificate: did the run keep what must hold in any right run? A table of checks, each with value and limit.


@frozen
class Check:
    """One thing that a run checked of itself.

    Args:
        name: what must hold; subject: of which part of the machine, if of a part.
        value: how far it is from that at its worst; limit: up to where it counts as kept, in the same unit.
        time: where it is worst [s]; remedy: what helps where it is violated.
    """

    JSON = """
    name
    subject: the signal, joint or contact that is worst
    value
    limit: what the value may be
    unit
    ok
    time: when it was worst [s]
    remedy
    """
    name: str
    value: float
    limit: float
    subject: str = ""
    unit: str = ""
    time: float | None = None
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """Whether it holds; what is not a number does not."""
        return bool(self.value <= self.limit)

    @property
    def sentence(self) -> str:
        """The violation in a sentence: where, by how much, and what helps."""
        unit = f" {self.unit}" if self.unit else ""
        where = f" at {self.time:.6g} s" if self.time is not None else ""
        of = f" of '{self.subject}'" if self.subject else ""
        failed = f"check '{self.name}'{of} failed: {self.value:.3g}{unit}{where}"
        return f"{failed}, allowed is {self.limit:.3g}: {self.remedy}"


@frozen
class Certificate(Displayed):
    """The checks of a run, and why others could not be made.

    Args:
        unchecked: a sentence for each check that was left out.
    """

    JSON = """
    certificate = checks
    unchecked: what no check says anything about
    """
    checks: tuple[Check, ...] = ()
    unchecked: tuple[str, ...] = ()

    def __repr__(self) -> str:
        broken = f"; violated: {', '.join(check.name for check in self.violated)}" if self.violated else ""
        passed = len(self) - len(self.violated)
        return f"<Certificate: {passed} of {len(self)} checks passed, {len(self.unchecked)} not made{broken}>"

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __getitem__(self, name: str) -> Check:
        """The worst check of a name."""
        return _worst(check for check in self.checks if check.name == name)

    @property
    def ok(self) -> bool:
        """Whether every check is kept."""
        return all(check.ok for check in self.checks)

    summary = view("describe")

    @property
    def violated(self) -> tuple[Check, ...]:
        """The checks that are not kept."""
        return tuple(check for check in self.checks if not check.ok)


def join_certificates(parts: Iterable[Certificate]) -> Certificate:
    """The certificate of runs that follow each other: the worst of each check."""
    groups: dict[tuple[str, str], list[Check]] = {}
    unchecked: dict[str, None] = {}
    for part in parts:
        unchecked |= dict.fromkeys(part.unchecked)
        for check in part:
            groups.setdefault((check.name, check.subject), []).append(check)
    return Certificate(tuple(_worst(checks) for checks in groups.values()), tuple(unchecked))


def _worst(checks: Iterable[Check]) -> Check:
    """The check that is furthest beyond its limit, or nearest to it."""
    return max(checks, key=lambda check: check.value / (check.limit or 1.0) if check.ok else float("inf"))


# --------------------------------------------------------------------------------------------------
# Passed limits: which limits of joints did a motion pass, when first, and how far at its worst?


@frozen
class PassedLimit:
    """A limit of a joint that a run passed.

    Args:
        limit: its name ("upper_limit"); value: the limit itself, in its unit.
        first: when it was first seen to be passed [s].
        worst: the value furthest beyond it, a magnitude where both directions are limited; time: when that was [s].
    """

    joint: str
    limit: str
    value: float
    unit: str
    first: float
    worst: float
    time: float

    @property
    def sentence(self) -> str:
        """Joint, limit, when it was passed first, and the worst value."""
        name = self.limit.replace("_", " ")
        return (
            f"joint '{self.joint}' passes its {name} of {self.value:.6g} {self.unit} at {self.first:.6g} s, "
            f"worst {self.worst:.6g} {self.unit} at {self.time:.6g} s"
        )


def join_limits(parts: Iterable[tuple[PassedLimit, ...]]) -> tuple[PassedLimit, ...]:
    """The passed limits of runs that follow each other: each once, with its first time and its worst value."""
    limits: dict[tuple[str, str, float], PassedLimit] = {}
    for passed in (one for part in parts for one in part):
        key = (passed.joint, passed.limit, passed.value)
        before = limits.get(key)
        if before is None:
            limits[key] = passed
        elif abs(passed.worst - passed.value) > abs(before.worst - before.value):
            limits[key] = PassedLimit(*key, passed.unit, before.first, passed.worst, passed.time)
    return tuple(limits.values())
