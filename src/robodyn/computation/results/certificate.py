"""Certificate: did the run keep what must hold in any right run? A table of checks, each with value and limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robodyn.base.lazy import Displayed, later
from robodyn.base.records import dataclass


@dataclass(frozen=True)
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
        """What is violated, where, by how much, and what helps."""
        unit = f" {self.unit}" if self.unit else ""
        where = f" at {self.time:.6g} s" if self.time is not None else ""
        of = f" of '{self.subject}'" if self.subject else ""
        return f"{self.name}{of} is off by {self.value:.3g}{unit}{where}, allowed is {self.limit:.3g}: {self.remedy}"


@dataclass(frozen=True)
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
        kept = len(self) - len(self.violated)
        return f"<Certificate: {kept} of {len(self)} checks passed, {len(self.unchecked)} not made{broken}>"

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

    summary = later("robodyn.presentation.reporting.displays:describe")

    @property
    def violated(self) -> tuple[Check, ...]:
        """The checks that are not kept."""
        return tuple(check for check in self.checks if not check.ok)


def certificate_from(record: Mapping[str, Any]) -> Certificate:
    """The certificate in a record of plain values; TypeError where it is none."""
    checks = [{key: value for key, value in check.items() if key != "ok"} for check in record.get("certificate", [])]
    return Certificate(tuple(Check(**check) for check in checks), tuple(record.get("unchecked", [])))


def join_certificates(parts: Iterable[Certificate]) -> Certificate:
    """Of runs that follow each other: of each check the worst."""
    found: dict[tuple[str, str], list[Check]] = {}
    unchecked: dict[str, None] = {}
    for part in parts:
        unchecked |= dict.fromkeys(part.unchecked)
        for check in part:
            found.setdefault((check.name, check.subject), []).append(check)
    return Certificate(tuple(_worst(checks) for checks in found.values()), tuple(unchecked))


def _worst(checks: Iterable[Check]) -> Check:
    """The check that is furthest beyond its limit, or nearest to it."""
    return max(checks, key=lambda check: check.value / (check.limit or 1.0) if check.ok else float("inf"))
