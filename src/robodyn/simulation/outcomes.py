"""How did it end, in a sentence? The engine's status as an outcome that names time, state and likely cause."""

from __future__ import annotations

from collections import Counter
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly.impact import JAMS, SETTLE
from robodyn.assembly.minimal import GUARD as INDEPENDENT
from robodyn.assembly.system import Guard, System
from robodyn.engine import Status, Trajectory
from robodyn.engine.solver import DEFAULT_FIXED_STEP
from robodyn.model import Solver
from robodyn.results import Outcome, OutcomeKind
from robodyn.simulation.choice import describe_stiffness
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.dependent_joints import find_dependent_joints
from robodyn.symbolic.tables import spell_out

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

MANY_STEPS = 50_000
"""Steps beyond which a run of an explicit method is suspected to be stiff."""
BROKEN = (
    OutcomeKind.NOT_A_NUMBER,
    OutcomeKind.OVERFLOW,
    OutcomeKind.STEP_TOO_SMALL,
    OutcomeKind.NOT_SOLVED,
    OutcomeKind.STEP_LIMIT,
    OutcomeKind.RECORD_FULL,
)
"""Ends that joints which have become dependent may be behind."""
LAST_EVENTS = 100
"""How far back to look for the contact that settles without end."""


def tell_outcome(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> Outcome:
    """The outcome of a trajectory with its sentence."""
    kind = KINDS[trajectory.status]
    if kind is OutcomeKind.STOPPED:
        kind = kind_of_stop(compiled.system, compiled.system.guards[trajectory.offender])
    if kind in (OutcomeKind.FINISHED, OutcomeKind.STOPPED) and (broken := _first_broken(compiled, trajectory)):
        return Outcome(OutcomeKind.NOT_A_NUMBER, broken, trajectory.at_time)
    parallel = _tell_parallel(compiled, trajectory) if kind in BROKEN else ""
    return Outcome(kind, parallel or _SENTENCES[kind](compiled, solver, trajectory), trajectory.at_time)


def _tell_parallel(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """The true cause of a broken run, where it is that joints have become dependent."""
    joints = " and ".join(f"'{name}'" for name in find_dependent_joints(compiled.system, trajectory.x))
    return joints and (
        f"at {trajectory.at_time:.6g} s {joints} have parallel axes with nothing heavy between them, so that nothing "
        "says how they share their motion: put these joints in another order, or keep the motion away from there"
    )


def kind_of_stop(system: System, guard: Guard) -> OutcomeKind:
    """What it means that a terminal event ended a run."""
    if guard.coordinate:
        return OutcomeKind.OUT_OF_REACH
    if guard.name == INDEPENDENT:
        return OutcomeKind.SINGULAR
    jams = [f"{contact.name}.{JAMS}" for contact in system.scenario.machine.contacts]
    return OutcomeKind.JAMMED if guard.name in jams else OutcomeKind.STOPPED


def _finished(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return f"reached the end time {trajectory.at_time:.6g} s"


def _stopped(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return f"event '{_guard(compiled, trajectory)}' ended the run at {trajectory.at_time:.6g} s"


def _out_of_reach(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    system = compiled.system
    name = str(system.guards[trajectory.offender].coordinate)
    coordinate = next(c for c in system.scenario.machine.coordinates if c.name == name)
    lower, upper = coordinate.range or (-np.inf, np.inf)
    position = _position(compiled, name, trajectory)
    end = "upper" if position > (lower + upper) / 2 else "lower"
    return (
        f"'{name}' left its range at {trajectory.at_time:.6g} s: {position:.6g} is at its {end} end, "
        f"allowed is {lower:g} to {upper:g}"
    )


def _position(compiled: CompiledSystem, name: str, trajectory: Trajectory) -> float:
    """Where a coordinate is at the end of a trajectory, with the described parameters."""
    system = compiled.system
    column = [trajectory.x, [number.value for number in system.parameters]]
    symbols = [system.symbols["x"], system.symbols["p"]]
    function: Any = spell_out(ca.Function("position", symbols, [system.coordinates[name]]))
    return float(function(*column))


def _singular(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return (
        f"at {trajectory.at_time:.6g} s the chosen independent joints no longer determine the others: "
        "choose other ones, or the treatment baumgarte"
    )


def _interrupted(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return f"interrupted at {trajectory.at_time:.6g} s of simulated time; the run so far is kept"


def _step_limit(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    advice = _short_steps(compiled, solver, trajectory) or "raise max_steps or loosen the tolerances"
    return f"used all {solver.max_steps} steps by {trajectory.at_time:.6g} s; {advice}"


def _wall_time(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    where = f"used all {solver.max_wall_time:g} s of computing time by {trajectory.at_time:.6g} s of simulated time"
    advice = _short_steps(compiled, solver, trajectory)
    return f"{where}; {advice}" if advice else where


def _not_a_number(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    where = f"'{_state(compiled, trajectory)}' stopped being a finite number at {trajectory.at_time:.6g} s"
    signals = _broken_signals(compiled, trajectory)
    if signals:
        cause = "look for a division by zero or a root of a negative number"
        return f"{where}; not finite there: {', '.join(signals)}: {cause}"
    return f"{where}; {_cause(solver)}"


def _overflow(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return f"'{_state(compiled, trajectory)}' grew without bound by {trajectory.at_time:.6g} s; {_cause(solver)}"


def _step_too_small(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    advice = "a law that jumps there needs an event or smoothing"
    if solver.pair:
        advice = f"with {' and with '.join(solver.pair)}: {advice}"
    elif np.isfinite(trajectory.stiffness.since):
        advice = f"{describe_stiffness(trajectory)}; use method auto or rodas4p"
    elif not solver.stiff:
        advice = f"the system may be stiff (try method auto or rodas4p), or {advice}"
    where = f"the step became too small at {trajectory.at_time:.6g} s"
    return f"{where}; largest error in '{_state(compiled, trajectory)}': {advice}"


def _chattering(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    advice = "give the decision hysteresis, or end the run there"
    if contact := _contact(compiled, trajectory):
        advice = (
            f"'{contact}' bounces, rattles or locks without end: raise its rest_speed, lower its friction, or take a "
            "compliant Contact"
        )
    where = f"event '{_guard(compiled, trajectory)}' chatters at {trajectory.at_time:.6g} s"
    return f"{where}: very many events in next to no time; {advice}"


def _jammed(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return (
        f"at {trajectory.at_time:.6g} s no forces were found that keep the bodies of the rigid contact "
        f"'{_contact(compiled, trajectory)}' from sinking into each other: lower its friction, or take a compliant "
        "Contact"
    )


def _record_full(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    often, most = _busiest(compiled, trajectory)
    what = f"; of {len(trajectory.events)} events {most} are '{often}'" if most else ""
    advice = _short_steps(compiled, solver, trajectory) or "record fewer signals, or at a rate (recording.rate)"
    return (
        f"the record was full at {trajectory.at_time:.6g} s, with {len(trajectory.time)} rows of "
        f"{len(compiled.recorded)} signals{what}: {advice}"
    )


def _short_steps(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    """Advice where an explicit method took very short steps that neither events nor ticks asked for."""
    counters = trajectory.counters
    asked = counters.events + counters.ticks
    if solver.stiff or not solver.adaptive or counters.steps < MANY_STEPS or asked > 0.1 * counters.steps:
        return ""
    mean = (trajectory.at_time - trajectory.time[0]) / counters.steps if len(trajectory.time) else 0.0
    if mean > compiled.system.scenario.duration / MANY_STEPS:
        return ""
    return (
        f"its {counters.steps} steps are {mean:.1g} s long on average, so the system is probably too stiff for "
        f"{solver.method}: choose rodas4 or trbdf2"
    )


def _no_memory(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return (
        f"there was no memory left at {trajectory.at_time:.6g} s, with {len(trajectory.time)} rows and "
        f"{len(trajectory.events)} events: record fewer signals, or at given times, or shorten delays"
    )


def _busiest(compiled: CompiledSystem, trajectory: Trajectory) -> tuple[str, int]:
    """The event that happened most often, and how often."""
    counted = Counter(guard for _, guard in trajectory.events)
    if not counted:
        return "", 0
    guard, most = counted.most_common(1)[0]
    return compiled.system.guards[guard].name, most


def _not_solved(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return (
        f"the equations of the step at {trajectory.at_time:.6g} s could not be solved: shorten the step; if that does "
        "not help, the mechanism is in a singular position, or a law jumps there"
    )


def tell_failure(trajectory: Trajectory, name: str, error: Exception) -> Outcome:
    """The outcome of a run in which a Python block or action raised an error."""
    sentence = f"'{name}' raised {type(error).__name__} at {trajectory.at_time:.6g} s: {error}"
    return Outcome(OutcomeKind.FAILED, sentence, trajectory.at_time)


_SENTENCES = {
    OutcomeKind.FINISHED: _finished,
    OutcomeKind.STOPPED: _stopped,
    OutcomeKind.INTERRUPTED: _interrupted,
    OutcomeKind.STEP_LIMIT: _step_limit,
    OutcomeKind.WALL_TIME: _wall_time,
    OutcomeKind.NOT_A_NUMBER: _not_a_number,
    OutcomeKind.OVERFLOW: _overflow,
    OutcomeKind.STEP_TOO_SMALL: _step_too_small,
    OutcomeKind.CHATTERING: _chattering,
    OutcomeKind.JAMMED: _jammed,
    OutcomeKind.RECORD_FULL: _record_full,
    OutcomeKind.NO_MEMORY: _no_memory,
    OutcomeKind.NOT_SOLVED: _not_solved,
    OutcomeKind.SINGULAR: _singular,
    OutcomeKind.OUT_OF_REACH: _out_of_reach,
}


def _cause(solver: Solver) -> str:
    if not solver.adaptive:
        step = f"the step of {solver.step or DEFAULT_FIXED_STEP:g} s is probably beyond the method's stability"
        return f"{step}: shorten it or choose an adaptive method"
    return "the motion itself is probably unstable: look at signs of feedback and springs"


def _state(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """The state to blame: the engine's, or the largest one where that is mere book-keeping."""
    states = compiled.system.states
    if not 0 <= trajectory.offender < len(states):
        return "a state"
    if np.isfinite(states[trajectory.offender].nominal):
        return states[trajectory.offender].name
    sizes = [abs(x) / state.nominal for x, state in zip(trajectory.x, states, strict=True)]
    return states[int(np.nanargmax(sizes))].name


def _guard(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    return compiled.system.guards[trajectory.offender].name


def _contact(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """The contact whose event is to blame, if it is one; where all contacts settle together, the last before."""
    system = compiled.system
    names = [_guard(compiled, trajectory)]
    if names[0] == SETTLE:
        names += [system.guards[guard].name for _, guard in reversed(trajectory.events[-LAST_EVENTS:])]
    contacts = [contact.name for contact in system.scenario.machine.contacts]
    return next((c for name in names for c in contacts if name.startswith(f"{c}.")), "")


def _first_broken(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """A sentence on the first recorded signal that is not finite; empty where all are, as one sum shows."""
    with np.errstate(all="ignore"):
        if np.isfinite(np.sum(trajectory.y)):
            return ""
    finite = np.isfinite(trajectory.y)
    if finite.all():
        return ""
    row = int(np.argmin(finite.all(axis=1)))
    names = ", ".join(f"'{compiled.recorded[k].name}'" for k in np.flatnonzero(~finite[row])[:4])
    ended = f"reached {trajectory.at_time:.6g} s, but from {trajectory.time[row]:.6g} s on these are no finite numbers"
    return f"{ended}: {names}; look for a division by zero, a root of a negative number, or a number too large"


def _broken_signals(compiled: CompiledSystem, trajectory: Trajectory, most: int = 4) -> list[str]:
    """Recorded signals that are not finite in the last row kept."""
    if not len(trajectory.y):
        return []
    bad = ~np.isfinite(trajectory.y[-1])
    return [info.name for info, broken in zip(compiled.recorded, bad, strict=True) if broken][:most]
