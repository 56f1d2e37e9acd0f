"""Sentences of outcomes: when, where and probably why did a run end as it did, and what can be done?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robodyn.computation.assembly.declarations import SETTLE
from robodyn.computation.engine import Trajectory
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.results import OutcomeKind
from robodyn.computation.simulation.choice import describe_stiffness
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.description.model import Solver

MANY_STEPS = 50_000
"""Steps beyond which a run of an explicit method is suspected to be stiff."""
GROWN = 1e4
"""How many times its nominal size a state has in a run that is suspected to be unstable."""
LAST_EVENTS = 100
"""How far back to look for the contact that settles without end."""


def describe_finish(time: float) -> str:
    """What is said of a run that reached its end."""
    return f"reached the end time {time:.6g} s"


def _finished(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return describe_finish(trajectory.at_time)


def _stopped(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return f"event '{_guard(compiled, trajectory)}' ended the run at {trajectory.at_time:.6g} s"


def _out_of_reach(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    system = compiled.system
    guard = system.discrete.guards[trajectory.offender]
    if guard.block:
        block = next(b for b in system.scenario.machine.blocks if b.name == guard.block)
        remedy = block.info.positive[guard.name.removeprefix(f"{block.name}.")]
        return f"'{guard.name}' came to zero at {trajectory.at_time:.6g} s: {remedy}"
    name = str(guard.coordinate)
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
    import casadi as ca

    from robodyn.base.symbolic.tables import spell_out

    system = compiled.system
    column = [trajectory.x, [number.value for number in system.parameters]]
    symbols = [system.symbols.x, system.symbols.p]
    function: Any = spell_out(ca.Function("position", symbols, [system.motion.coordinates[name]]))
    return float(function(*column))


def _singular(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return (
        f"at {trajectory.at_time:.6g} s the chosen independent joints no longer determine the others: "
        "choose other ones, or the constraint method baumgarte"
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
        advice = f"with {' and with '.join(solver.pair)}: {_growth(compiled, solver, trajectory) or advice}"
    elif growth := _growth(compiled, solver, trajectory):
        advice = growth
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
    if growth := _growth(compiled, solver, trajectory):
        return growth
    return (
        f"its {counters.steps} steps are {mean:.1g} s long on average, so the system is probably too stiff for "
        f"{solver.method}: choose rodas4 or trbdf2"
    )


def _growth(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    """A state that has grown beyond its size: it needs ever shorter steps, which are a symptom then, not the cause."""
    states = compiled.system.states
    if not states:
        return ""
    k = _largest_state(compiled, trajectory)
    if not abs(trajectory.x[k]) > GROWN * states[k].nominal:
        return ""
    return f"'{states[k].name}' is {trajectory.x[k]:.2g}, out of all proportion: {_cause(solver)}"


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
    return compiled.system.discrete.guards[guard].name, most


def _not_solved(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> str:
    return (
        f"the equations of the step at {trajectory.at_time:.6g} s could not be solved: shorten the step; if that does "
        "not help, the mechanism is in a singular position, or a law jumps there"
    )


SENTENCES: Mapping[OutcomeKind, Callable[[CompiledSystem, Solver, Trajectory], str]] = {
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
    """The state that is the cause: the engine's, or the largest one where that is mere book-keeping."""
    states = compiled.system.states
    if not 0 <= trajectory.offender < len(states):
        return "a state"
    first_book = len(states) - compiled.system.n_quadratures
    if trajectory.offender < first_book or first_book == 0:
        return states[trajectory.offender].name
    return states[_largest_state(compiled, trajectory)].name


def _largest_state(compiled: CompiledSystem, trajectory: Trajectory) -> int:
    """The state that is largest at the end beside its nominal size, book-keeping aside."""
    states = compiled.system.states[: len(compiled.system.states) - compiled.system.n_quadratures]
    sizes = [abs(x) / state.nominal for x, state in zip(trajectory.x, states, strict=False)]
    return int(np.nanargmax(sizes)) if sizes else 0


def _guard(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    return compiled.system.discrete.guards[trajectory.offender].name


def _contact(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """The contact whose event is the cause, if it is one; where all contacts settle together, the last before."""
    guards = [compiled.system.discrete.guards[trajectory.offender]]
    if guards[0].name == SETTLE:
        guards += [compiled.system.discrete.guards[k] for _, k in reversed(trajectory.events[-LAST_EVENTS:])]
    return next((guard.contact for guard in guards if guard.contact), "")


def _broken_signals(compiled: CompiledSystem, trajectory: Trajectory, most: int = 4) -> list[str]:
    """Recorded signals that are not finite in the last row kept."""
    if not len(trajectory.y):
        return []
    bad = ~np.isfinite(trajectory.y[-1])
    return [info.name for info, broken in zip(compiled.recorded, bad, strict=True) if broken][:most]
