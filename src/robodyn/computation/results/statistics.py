"""Statistics of a run: what did it cost, and how well did it keep its energy balance?"""

import math
from dataclasses import field
from typing import Any

from robodyn.base.records import dataclass

from .provenance import plain


@dataclass(frozen=True)
class Statistics:
    """Counts and costs of one run.

    Args:
        rejected: steps tried and thrown away by the error control.
        evaluations: right-hand sides computed.
        wall_time: computing time [s].
        simulated_time: time that passed in the model [s].
        energy_error: largest |E - W - E0| relative to the largest energy, None where it was not watched.
        extra: what else the solver reports by name, for example a constraint residual, or the method it chose and why.
    """

    JSON = """
    ...
    times_real_time
    """
    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    events: int = 0
    ticks: int = 0
    wall_time: float = 0.0
    simulated_time: float = 0.0
    energy_error: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", plain(self.extra, "extra"))

    @property
    def times_real_time(self) -> float:
        """Simulated seconds per second of computing; not a number if nothing was computed."""
        return self.simulated_time / self.wall_time if self.wall_time > 0 else math.nan
