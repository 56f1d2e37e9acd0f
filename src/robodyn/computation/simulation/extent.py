"""Extent of a run: which instants does the engine keep, and how long and large will it be? Too much is refused."""

from __future__ import annotations

import math
import warnings

import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.assembly import System
from robodyn.computation.engine import Recording as EngineRecording
from robodyn.computation.engine.integrate import LARGEST_RECORD
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.description.model import Recording, Solver
from robodyn.description.model.scenario import check_samples


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


LARGE_RECORD = 2**28
"""Bytes of rows that are reported before a run, this project's own choice; beyond LARGEST_RECORD it is refused."""
RESOLUTION = 2.0**-46
"""Part of a run's duration that times must be apart by to be told from each other: 64 units of the last place."""
LEAST_ROWS = 4
"""Rows of a step where the engine chooses them: PIECE in parts.h, and more where signals ask for it."""
ENOUGH_ROWS = 100_000
"""Rows that a remedy aims at: more than any picture shows."""


def count_steps(system: System, solver: Solver, duration: float) -> float:
    """Steps that a run of this duration [s] takes at least, where nothing ends it early."""
    longest = solver.max_step if solver.adaptive else solver.step or DEFAULT_FIXED_STEP
    # A step ends at every tick of every sampled block.
    return duration / min(longest, duration, *_periods(system))


def _periods(system: System) -> list[float]:
    """Of sampled blocks [s]."""
    return [float(task.period * (system.discrete.base_period or 0)) for task in system.discrete.tasks]


def check_extent(compiled: CompiledSystem, solver: Solver, recording: EngineRecording, duration: float) -> None:
    """Refuse a run whose record cannot be kept, and warn of one that is large or cannot reach its end.

    Raises:
        ModelError: with the rate at which it could be recorded; not where an event or a limit may end the run before.
    """
    system = compiled.system
    shortest = min(_periods(system), default=math.inf)
    if shortest < RESOLUTION * duration:
        what = f"is so long that times {shortest:g} s apart, as sampled blocks need them, are not distinguished"
        raise ModelError([Flaw("duration", what, "shorten it")], f"scenario '{system.scenario.name}'")
    steps, most = count_steps(system, solver, duration), solver.max_steps or math.inf
    if steps > most:
        remedy = "lengthen the step, or raise solver.max_steps"
        warnings.warn(f"the run needs {steps:.3g} steps, {most:.3g} are allowed: {remedy}", stacklevel=4)
    rows = (recording.refine or LEAST_ROWS) * min(steps, most)
    if recording.times is not None:
        rows = float(len(recording.times))
    n_signals = len(compiled.recorded)
    size = 8.0 * rows * (1 + n_signals)
    if size <= LARGE_RECORD:
        return
    what = f"keeps {rows:.3g} rows of {n_signals} signals, {size / 2**30:.3g} GB"
    rate = float(f"{ENOUGH_ROWS / duration:.0e}")
    remedy = f"recording.rate = {rate:g} (--rate {rate:g}) keeps {ENOUGH_ROWS:,}; or name fewer in recording.signals"
    ends_early = solver.max_wall_time is not None or any(guard.terminal for guard in compiled.system.discrete.guards)
    if size > LARGEST_RECORD and not ends_early:
        limit = f"at most {LARGEST_RECORD / 2**30:g} GB are kept"
        raise ModelError([Flaw("recording", f"{what}; {limit}", remedy)], f"scenario '{compiled.system.scenario.name}'")
    warnings.warn(f"the run {what}: {remedy}", stacklevel=4)
