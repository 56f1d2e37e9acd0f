"""Track: what does one run of a sweep give, whichever way it is simulated?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robodyn.results import Outcome
from robodyn.results.signal import Booleans, Floats

if TYPE_CHECKING:
    from robodyn.analysis.sweeps.plan import SweepPlan


@dataclass(frozen=True, eq=False)
class Track:
    """Rows of the signals a sweep reads, and how the run ended; far cheaper than a Run.

    Attributes:
        time: (n,) [s], never decreasing, two equal ones at a jump; signals: name -> (n,).
        knots: rows across which signals may not be smooth, (n,): see `robodyn.results.Signal`.
    """

    time: Floats
    signals: Mapping[str, Floats]
    outcome: Outcome
    knots: Booleans | None = None


Simulate = Callable[[Mapping[str, float]], Track]
"""Numbers that differ from the plan's scenario -> the run with them."""
Prepare = Callable[["SweepPlan"], Simulate]
"""A way to simulate: makes ready what all runs of a plan share, in each process that simulates some."""
