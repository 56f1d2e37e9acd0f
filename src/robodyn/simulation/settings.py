"""Recording settings: which instants does the engine keep?"""

from __future__ import annotations

import numpy as np

from robodyn.engine import Recording as EngineRecording
from robodyn.errors import Flaw, ModelError
from robodyn.model import Recording, Solver

# Rows of a recording at a rate, far beyond what can be looked at and within what can be held in memory.
MOST_ROWS = 50_000_000


def engine_recording(
    recording: Recording, solver: Solver, begin: float, duration: float, watch_steps: bool = False
) -> EngineRecording:
    """The instants a run keeps; times beyond its end are refused.

    Args:
        watch_steps: whether what is watched is looked at in every step, be its rows kept or not.
    """
    if recording.times is not None:
        times = np.array(recording.times, float)
        if times.size and (times[0] < begin or times[-1] > begin + duration):
            allowed = f"between {begin:g} and {begin + duration:g} s"
            what = f"must lie {allowed}, are from {times[0]:g} to {times[-1]:g} s"
            raise ModelError([Flaw("recording.times", what, "lengthen the duration or leave times out")])
        return EngineRecording(kind="times", times=times, watch_steps=watch_steps)
    if recording.rate is not None:
        # The last sample of a whole number of periods must not fall out by rounding.
        count = int(np.floor(duration * recording.rate * (1 + 1e-12))) + 1
        if count > MOST_ROWS:
            what = f"{recording.rate:g} Hz for {duration:g} s are {count:.3g} rows"
            raise ModelError([Flaw("recording.rate", what, f"at most {MOST_ROWS:,} are kept")])
        times = begin + np.minimum(np.arange(count) / recording.rate, duration)
        return EngineRecording(kind="times", times=times, keep_end=True, watch_steps=watch_steps)
    # Adaptive steps are recorded by as many points as reading between them needs, fixed ones by their ends.
    return EngineRecording(kind="steps", refine=recording.refine or (0 if solver.adaptive else 1))
