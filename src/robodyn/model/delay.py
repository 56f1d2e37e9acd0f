"""How does a signal arrive later? Pure delays."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from robodyn.errors import FlawList
from robodyn.model.numbers import Number, check_finite, check_name, check_text, keep_floats


@dataclass(frozen=True)
class Delay:
    """A pure delay of a continuous signal: `output(t) = signal(t - time)`.

    Attributes:
        before: value until the first delayed value arrives; None takes the signal's start value.
    """

    name: str
    signal: str
    time: float
    before: float | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_text(flaws, "signal", self.signal)
        if check_finite(flaws, "time", self.time) and self.time <= 0:
            remedy = "leave the delay out where there is none"
            flaws.add("time", f"must be positive, is {self.time:g} s", remedy)
        if self.before is not None:
            check_finite(flaws, "before", self.before)
        flaws.raise_if_any(f"delay '{self.name}'")
        keep_floats(self, "time", "before")

    def numbers(self) -> Iterator[Number]:
        yield Number(f"{self.name}.time", self.time, "s")
        if self.before is not None:
            yield Number(f"{self.name}.before", self.before, "")

    def with_numbers(self, changes: Mapping[str, float]) -> Delay:
        named = {key: changes.get(f"{self.name}.{key}", getattr(self, key)) for key in ("time", "before")}
        return dataclasses.replace(self, **named)
