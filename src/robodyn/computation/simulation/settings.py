"""Recording settings: which instants does the engine keep?"""

from __future__ import annotations

import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.engine import Recording as EngineRecording
from robodyn.description.model import Recording, Solver
from robodyn.description.model.recording import check_samples


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
        flaws = FlawList()
        check_samples(flaws, duration, recording)
        flaws.raise_if_any("recording")
        count = recording.samples(duration)
        times = begin + np.minimum(np.arange(count) / recording.rate, duration)
        return EngineRecording(kind="times", times=times, keep_end=True, watch_steps=watch_steps)
    # Adaptive steps are recorded by as many points as reading between them needs, fixed ones by their ends.
    return EngineRecording(kind="steps", refine=recording.refine or (0 if solver.adaptive else 1))
