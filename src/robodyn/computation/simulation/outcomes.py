"""Outcome of a run: how did it end? The engine's status, made a kind and a sentence."""

from __future__ import annotations

import numpy as np

from robodyn.computation.assembly.declarations import Ending
from robodyn.computation.engine import Status, Trajectory
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.dependent_joints import find_carried_points, find_dependent_joints
from robodyn.computation.simulation.outcome_sentences import SENTENCES, describe_finish
from robodyn.description.model import Solver

KINDS = {
    Status.FINISHED: OutcomeKind.FINISHED,
    Status.TERMINAL: OutcomeKind.STOPPED,
    Status.INTERRUPTED: OutcomeKind.INTERRUPTED,
    Status.STEP_LIMIT: OutcomeKind.STEP_LIMIT,
    Status.WALL_TIME: OutcomeKind.WALL_TIME,
    Status.NOT_A_NUMBER: OutcomeKind.NOT_A_NUMBER,
    Status.STEP_TOO_SMALL: OutcomeKind.STEP_TOO_SMALL,
    Status.OVERFLOWN: OutcomeKind.OVERFLOW,
    Status.CHATTERING: OutcomeKind.CHATTERING,
    Status.RECORD_FULL: OutcomeKind.RECORD_FULL,
    Status.NO_MEMORY: OutcomeKind.NO_MEMORY,
    Status.NOT_SOLVED: OutcomeKind.NOT_SOLVED,
}
ENDINGS = {
    Ending.STOPPED: OutcomeKind.STOPPED,
    Ending.OUT_OF_REACH: OutcomeKind.OUT_OF_REACH,
    Ending.SINGULAR: OutcomeKind.SINGULAR,
    Ending.JAMMED: OutcomeKind.JAMMED,
}
BROKEN = (
    OutcomeKind.NOT_A_NUMBER,
    OutcomeKind.OVERFLOW,
    OutcomeKind.STEP_TOO_SMALL,
    OutcomeKind.NOT_SOLVED,
    OutcomeKind.STEP_LIMIT,
    OutcomeKind.RECORD_FULL,
)
"""Ends that joints which have become dependent may be behind."""


def describe_outcome(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> Outcome:
    """The outcome of a trajectory with its sentence."""
    kind = KINDS[trajectory.status]
    if kind is OutcomeKind.STOPPED:
        ending = compiled.system.discrete.guards[trajectory.offender].ending
        kind = ENDINGS[ending] if ending else kind
    if kind in (OutcomeKind.FINISHED, OutcomeKind.STOPPED) and (broken := _first_broken(compiled, trajectory)):
        return Outcome(OutcomeKind.NOT_A_NUMBER, broken, trajectory.at_time)
    parallel = _describe_parallel(compiled, trajectory) if kind in BROKEN else ""
    return Outcome(kind, parallel or SENTENCES[kind](compiled, solver, trajectory), trajectory.at_time)


def describe_end(time: float) -> Outcome:
    """The outcome of a run that reached its end."""
    return Outcome(OutcomeKind.FINISHED, describe_finish(time), time)


def _describe_parallel(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """The true cause of a broken run, where it is that joints have become dependent."""
    found = find_dependent_joints(compiled.system, trajectory.x)
    joints = " and ".join(f"'{name}'" for name in found)
    if points := find_carried_points(compiled.system, found):
        return (
            f"at {trajectory.at_time:.6g} s {joints} can turn without moving anything that has inertia, since "
            f"{' and '.join(points)} {'has' if len(points) == 1 else 'have'} mass but none: give it, give a joint an "
            "armature, or fix one"
        )
    return joints and (
        f"at {trajectory.at_time:.6g} s {joints} have parallel axes with nothing heavy between them, so that nothing "
        "says how they share their motion: put these joints in another order, or keep the motion away from there"
    )


def describe_failure(trajectory: Trajectory, name: str, error: Exception) -> Outcome:
    """The outcome of a run in which a Python block or action raised an error."""
    sentence = f"'{name}' raised {type(error).__name__} at {trajectory.at_time:.6g} s: {error}"
    return Outcome(OutcomeKind.FAILED, sentence, trajectory.at_time)


def _first_broken(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """A sentence on the first recorded signal that is not finite; empty where all are."""
    finite = np.isfinite(trajectory.y)
    if finite.all():
        return ""
    row = int(np.argmin(finite.all(axis=1)))
    names = ", ".join(f"'{compiled.recorded[k].name}'" for k in np.flatnonzero(~finite[row])[:4])
    ended = f"reached {trajectory.at_time:.6g} s, but from {trajectory.time[row]:.6g} s on these are no finite numbers"
    return f"{ended}: {names}; look for a division by zero, a root of a negative number, or a number too large"
