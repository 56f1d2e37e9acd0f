"""Recording: what is kept of a run?"""

from __future__ import annotations

from typing import Any

from robodyn.base.errors import FlawList
from robodyn.description.model.description import Description
from robodyn.description.model.fields import quantity, texts, vector, whole_number
from robodyn.description.model.numbers import Floats

MOST_ROWS = 50_000_000
"""Rows of a recording at a rate, far beyond what can be looked at and within what can be held in memory."""


class Recording(Description):
    """What is kept of a run: samples at a rate or at given times, or points of every solver step."""

    NOUN = "recording"

    rate: float | None = quantity("Hz", positive=True, default=None, doc="samples a second")
    times: Floats | None = vector("s", None, default=None, doc="or a list of times")
    refine: int | None = whole_number(
        least=1,
        default=None,
        doc="or points a solver step",
        absent="as many as needed, at least 4, for adaptive methods; 1 for others",
    )
    signals: tuple[str, ...] = texts(
        "pattern", empty=False, default=("*",), doc='patterns of the signals kept: `"elbow.*"`'
    )

    def check(self, flaws: FlawList) -> None:
        if sum(choice is not None for choice in (self.rate, self.times, self.refine)) > 1:
            flaws.add("", "gives more than one of rate, times, refine", "give one of them")
        if self.times is None or flaws.concern("times"):
            return
        if not self.times:
            flaws.add("times", "must name at least one time")
        elif list(self.times) != sorted(self.times):
            flaws.add("times", "must be increasing")

    def samples(self, duration: float) -> int:
        """Samples at the rate [1/s] in a time [s], both ends included."""
        assert self.rate is not None
        # The last sample of a whole number of periods must not fall out by rounding.
        return int(duration * self.rate * (1 + 1e-12)) + 1


def check_samples(flaws: FlawList, duration: Any, recording: Recording) -> None:
    """The samples of a recording at a rate can be held."""
    if recording.rate is not None and recording.rate * duration >= MOST_ROWS:
        what = f"{recording.rate:g} Hz for {duration:g} s are {recording.rate * duration:.3g} rows"
        flaws.add("recording.rate", what, f"at most {MOST_ROWS:,} are kept")


def check_duration(flaws: FlawList, duration: Any, recording: Recording | None) -> None:
    """What is to be recorded lies in the simulated time, and is not too much."""
    if recording:
        check_samples(flaws, duration, recording)
    times = recording.times if recording else None
    if times and not 0 <= times[0] <= times[-1] <= duration:
        what = f"must lie between 0 and the duration {duration:g} s, are {times[0]:g} to {times[-1]:g} s"
        flaws.add("recording.times", what)
