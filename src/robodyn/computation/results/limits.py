"""Passed limits: which limits of joints did a motion pass, when first, and how far at its worst?"""

from __future__ import annotations

from collections.abc import Iterable

from robodyn.base.records import dataclass


@dataclass(frozen=True)
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
    """Of runs that follow each other: each limit once, with its first time and its worst value."""
    found: dict[tuple[str, str, float], PassedLimit] = {}
    for passed in (one for part in parts for one in part):
        key = (passed.joint, passed.limit, passed.value)
        before = found.get(key)
        if before is None:
            found[key] = passed
        elif abs(passed.worst - passed.value) > abs(before.worst - before.value):
            found[key] = PassedLimit(*key, passed.unit, before.first, passed.worst, passed.time)
    return tuple(found.values())
