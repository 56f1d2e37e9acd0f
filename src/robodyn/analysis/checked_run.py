"""Checked simulation: what happens, and is a sampled loop unstable that makes it happen?

This is the public `simulate`. It knows of linear models, which the simulation itself does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from robodyn.base import ModelError
from robodyn.computation.assembly.system import System
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulator
from robodyn.computation.simulation.simulator import Progress, Target
from robodyn.description.model import Recording, Scenario, Solver
from robodyn.description.model.machine import has_loops


def simulate(
    what: Target,
    solver: Solver | None = None,
    *,
    start: Run | None = None,
    parameters: Mapping[str, float] | None = None,
    recording: Recording | None = None,
    certify: bool = False,
    progress: Progress | None = None,
    on_compile: Callable[[str], None] | None = None,
    file: str | Path | None = None,
    tolerance: float | None = None,
    last: float | None = None,
) -> Run:
    """Simulate a scenario from its start to its end.

    The sampled loops of a scenario are checked: one that is unstable at the start is a warning of the run, and a
    cause in the sentence of a run that could not be carried through. What was assembled or compiled before, for
    many runs, is not checked again: see `check_loops`.

    Args:
        what: a scenario (traced and compiled here), or one made ready before, for many runs; or a sequence of them,
            or their `Phases`, made ready before.
        start: a run to go on from: its end time, states and memory, as far as this system has them by name.
        solver: settings; by default those that a system was compiled for, or the scenario's own.
        parameters: tunable numbers to change for this run only, without compiling again.
        recording: what to keep; the scenario's own by default.
        certify: simulate it again by another method with tighter tolerances: the run then has the error of every
            signal and event, as `errors`.
        progress: called now and then with (time, step, steps).
        on_compile: called with a sentence before a compilation that no cache could spare.
        file: where to keep the run. A long one is written while it goes on, so that memory does not limit it, and what
            is read of it later is read from there; a run that is killed leaves what it has in a file beside it, which
            ends in `.part`.
        tolerance: error that signals may have in the file, as part of their largest magnitude; 0: none, by default the
            solver's relative tolerance.
        last: keep so many seconds at the end alone [s].

    Returns:
        The run, also where the simulation could not go on: see its outcome.
    """
    warnings: list[str] = []
    if isinstance(what, Scenario) and any(block.sampled for block in what.machine.blocks):
        from robodyn.computation.assembly import assemble

        what = assemble(what, signals=recording.signals if recording else ())
        warnings = find_loop_warnings([what], parameters=parameters)
    return simulator.simulate(
        what,
        solver,
        start=start,
        parameters=parameters,
        recording=recording,
        certify=certify,
        progress=progress,
        on_compile=on_compile,
        file=file,
        tolerance=tolerance,
        last=last,
        loop_warnings=warnings,
    )


def find_loop_warnings(
    systems: Sequence[System], unknown: bool = False, parameters: Mapping[str, float] | None = None
) -> list[str]:
    """Sentences on the unstable loops of systems; as they are described they are judged once.

    Args:
        unknown: whether to say also where loops cannot be judged, and why.
        parameters: tunable numbers that differ from the described ones.
    """
    sentences: list[str] = []
    for system in systems:
        if has_loops(system.scenario.machine):
            judge = partial(_judge_loops, system, parameters)
            unstable, doubts = judge() if parameters else system.recall("unstable loops", judge)
            sentences += unstable + (doubts if unknown else [])
    return sentences


def _judge_loops(system: System, parameters: Mapping[str, float] | None) -> tuple[list[str], list[str]]:
    """Sentences on unstable loops, and why loops cannot be judged."""
    # Linear models take longer to load than a short run takes: only where nothing is known yet.
    from .linear.loop_table import check_loops

    try:
        return [finding.sentence for finding in check_loops(system, parameters=parameters)], []
    except ModelError as error:
        return [], [f"loops are not judged: {flaw.what}" for flaw in error.flaws[:1]]
