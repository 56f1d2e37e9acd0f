"""Co-simulation settings: macro step, scheme, tolerance and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from robodyn.errors import FlawList, nearest

SCHEMES = ("parallel", "sequential")
STEPS = ("smallest_step", "largest_step")
CONDITIONS = ("condition_warning", "condition_limit")


@dataclass(frozen=True)
class CosimSettings:
    """Settings of a co-simulation.

    Attributes:
        step: macro step [s]; the first one where it is adapted.
        scheme: "parallel" (Jacobi): all units go on from the same exchange; "sequential" (Gauss-Seidel): in their
            order, each knowing where those before it have arrived.
        tolerance: largest error of what signals and models were expected to be at the end of a macro step, in units of
            the largest values so far; the step is adapted to it. None keeps the step.
        least_scale: what counts as the largest value as long as all are smaller, in the signals' own units. This
            project's own choice.
        smallest_step, largest_step: of an adapted macro step [s]; a ten-thousandth of the first, and no limit. At the
            smallest an error above the tolerance is a warning.
        condition_warning, condition_limit: condition numbers of an interface's mobility above which there is a warning,
            and above which the run ends because its inertia does not exist. This project's own choices.
        largest_value: of any exchanged signal, above which the run has diverged. This project's own choice.
    """

    step: float
    scheme: str = "parallel"
    tolerance: float | None = None
    least_scale: float = 1e-3
    smallest_step: float | None = None
    largest_step: float | None = None
    condition_warning: float = 1e8
    condition_limit: float = 1e12
    largest_value: float = 1e12

    def __post_init__(self) -> None:
        flaws = FlawList()
        for key in ("step", "tolerance", "smallest_step", "largest_step", "least_scale", "largest_value", *CONDITIONS):
            self._check_positive(flaws, key)
        if self.scheme not in SCHEMES:
            flaws.add("scheme", f"{self.scheme!r} is unknown", nearest(str(self.scheme), SCHEMES))
        if self.tolerance is None:
            for key in ("smallest_step", "largest_step", "least_scale"):
                if getattr(self, key) != getattr(CosimSettings, key):
                    flaws.add(key, "has no effect without a tolerance", "give one, or leave it out")
        flaws.raise_if_any("co-simulation")
        if not 1 <= self.condition_warning <= self.condition_limit:
            flaws.add("condition_warning", "must be at least 1 and not above condition_limit")
        if not self.shortest <= self.step <= (self.largest_step or self.step):
            flaws.add("step", f"{self.step:g} s is not between smallest_step and largest_step")
        flaws.raise_if_any("co-simulation")

    def finer(self, times: float) -> CosimSettings:
        """The same with finer macro steps; where these are adapted, with a tighter tolerance."""
        changes: dict[str, Any] = {"step": self.step / times}
        if self.tolerance is not None:
            changes |= {"tolerance": self.tolerance / times**2}
            changes |= {key: getattr(self, key) / times for key in STEPS if getattr(self, key) is not None}
        return replace(self, **changes)

    def _check_positive(self, flaws: FlawList, key: str) -> None:
        value = getattr(self, key)
        if value is None and key in ("tolerance", "smallest_step", "largest_step"):
            return
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and value > 0 and math.isfinite(value)):
            flaws.add(key, f"must be a positive number, is {value!r}")

    @property
    def shortest(self) -> float:
        return self.smallest_step or self.step * 1e-4
