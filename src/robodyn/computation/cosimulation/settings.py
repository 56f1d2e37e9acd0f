"""Co-simulation settings: macro step, scheme, tolerance and limits."""

from __future__ import annotations

from typing import Any

from robodyn.base import FlawList
from robodyn.description.model import Description
from robodyn.description.model.fields import choice, quantity

SCHEMES = ("parallel", "sequential")
STEPS = ("smallest_step", "largest_step")


class CosimSettings(Description):
    """Settings of a co-simulation.

    With the scheme "parallel" (Jacobi) all units go on from the same exchange; with "sequential" (Gauss-Seidel) in
    their order, each knowing where those before it have arrived. The macro step is adapted to a tolerance, where one is
    given; at the smallest step an error above it is a warning. The limits are this project's own choices.
    """

    NOUN = "co-simulation"

    step: float = quantity("s", positive=True, doc="macro step; the first one where it is adapted")
    scheme: str = choice(SCHEMES, default="parallel", doc="who waits for whom")
    tolerance: float | None = quantity(
        "1",
        positive=True,
        default=None,
        doc="largest prediction error of signals and models at the end of a macro step, in units of the "
        "largest values so far",
        absent="the step is kept",
    )
    least_scale: float = quantity(
        "1", positive=True, default=1e-3, doc="the largest value as long as all are smaller, in the signals' own units"
    )
    smallest_step: float | None = quantity(
        "s", positive=True, default=None, doc="of an adapted macro step", absent="a ten-thousandth of the first"
    )
    largest_step: float | None = quantity(
        "s", positive=True, default=None, doc="of an adapted macro step", absent="no limit"
    )
    condition_warning: float = quantity(
        "1",
        positive=True,
        default=1e8,
        doc="largest condition number of an interface's mobility without a warning",
    )
    condition_limit: float = quantity(
        "1", positive=True, default=1e12, doc="the largest for which its inertia exists; above it the run ends"
    )
    largest_value: float = quantity(
        "1", positive=True, infinite=True, default=1e12, doc="of any exchanged signal; beyond it the run has diverged"
    )
    energy_limit: float = quantity(
        "1",
        positive=True,
        infinite=True,
        default=0.1,
        doc="energy that a connection may create or lose, relative to what passes through; beyond it a run is suspect",
    )
    start_limit: float = quantity(
        "1",
        positive=True,
        infinite=True,
        default=1e-5,
        doc="gap of joined sides at the start, relative to their coordinates, or angle; beyond it a run is suspect",
    )
    drift_limit: float = quantity(
        "1",
        positive=True,
        infinite=True,
        default=0.01,
        doc="distance of sides that each keep their motion, relative to how far they moved; beyond it a run is suspect",
    )
    growth_limit: float = quantity(
        "1",
        positive=True,
        infinite=True,
        default=2.0,
        doc="growth of jumps that alternate in sign, from a quarter of the run to the next; beyond it a run is suspect",
    )

    def check(self, flaws: FlawList) -> None:
        for key in self.stated(*STEPS, "least_scale") if self.tolerance is None else ():
            flaws.add(key, "has no effect without a tolerance", "give one, or leave it out")
        if flaws.found:
            return
        if not 1 <= self.condition_warning <= self.condition_limit:
            flaws.add("condition_warning", "must be at least 1 and not above condition_limit")
        if not self.shortest <= self.step <= (self.largest_step or self.step):
            flaws.add("step", f"{self.step:g} s is not between smallest_step and largest_step")

    def finer(self, times: float) -> CosimSettings:
        """These settings with finer macro steps; where these are adapted, with a tighter tolerance."""
        changes: dict[str, Any] = {"step": self.step / times}
        if self.tolerance is not None:
            changes |= {"tolerance": self.tolerance / times**2}
            changes |= {key: getattr(self, key) / times for key in STEPS if getattr(self, key) is not None}
        return self.replaced(**changes)

    @property
    def shortest(self) -> float:
        """Smallest macro step [s]; 1e-4 of `step` where none is given."""
        return self.smallest_step or self.step * 1e-4
