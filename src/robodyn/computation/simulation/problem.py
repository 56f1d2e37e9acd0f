"""Model of the engine: how does a system look to it? Functions, sizes, clocks, guards, as addresses or as C; delays and
breaks of a run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import Array, FlawList, SignalInfo, number_units, refuse
from robodyn.computation.assembly.declarations import WORK, Guard
from robodyn.computation.assembly.system import System
from robodyn.computation.engine import EngineProblem, EngineRecording
from robodyn.computation.engine.binding import fields_of
from robodyn.computation.engine.integrate import LARGEST_RECORD
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP, PYTHON_ACTION
from robodyn.computation.engine.tableaus import method_number
from robodyn.description.model import Recording, Solver
from robodyn.description.model.scenario import check_samples

from .compiled import CompiledSystem
from .starting import Start

if TYPE_CHECKING:
    from robodyn.computation.native.conditions import Conditions
    from robodyn.computation.native.kernel import KernelModule

    from .run_functions import KernelSet


BOTH = "rates_and_guards"
"""Name of a function that only some systems have: rates and guards as one."""


def model_fields(
    system: System,
    code: CompiledSystem | KernelSet,
    guards: Sequence[Guard],
    outputs: Sequence[SignalInfo],
    conditions: KernelModule | Conditions,
    at: Callable[[str | None], Any],
) -> dict[str, Any]:
    """The fields of the engine's `Model` (see engine.h) that decide how a system moves, of native and of exported code.

    Args:
        guards: events that are watched; outputs: signals that are recorded.
        at: name of a function, or None -> how it is referred to: its address, or its name in C.
    """
    discrete = system.discrete
    problems, ticks, base = discrete.problems, code.ticks, discrete.base_period or Fraction(0)
    names = [guard.name for guard in guards]
    kernels = [name for name, kind in fields_of("Model").items() if kind == "Kernel"]
    return {name: at(name) for name in kernels} | {
        "n_q": system.n_q,
        "n_x": len(system.states),
        "n_m": len(system.memory),
        "n_d": len(system.delays),
        "n_y": len(outputs),
        "n_guards": len(guards),
        "n_limited": len(system.limited),
        "n_quadratures": system.n_quadratures,
        "n_kept": code.n_kept,
        "n_unknowns": code.n_unknowns,
        "n_conditions": conditions.n_conditions,
        "autonomous": int(not system.depends_on_time),
        "rhs_work": code.work["rhs"],
        "outputs_work": code.work["outputs"],
        "bounds_work": conditions.work,
        "delay_depth": system.delay_depth,
        "base_period": float(base),
        "base_numerator": base.numerator,
        "base_denominator": base.denominator,
        "limited": list(system.limited),
        "passage": system.delay_passage,
        "condition_kind": list(conditions.kinds),
        "entries": list(conditions.entries),
        "task": [at(tick.function) for tick in ticks],
        "task_period": [tick.period for tick in ticks],
        "task_offset": [tick.offset for tick in ticks],
        "guard_direction": [guard.direction for guard in guards],
        "guard_terminal": [int(guard.terminal) for guard in guards],
        "guard_side": [system.side_place(guard) for guard in guards],
        "guard_action": [PYTHON_ACTION if guard.call else at(guard.action) for guard in guards],
        "guard_problems": [system.problem_set(guard.problems) for guard in guards],
        "problem": [at(problem.name) for problem in problems],
        "problem_rows": [problem.rows for problem in problems],
        "problem_joints": [problem.joints for problem in problems],
        "problem_place": [system.mode_place(problem) for problem in problems],
        "problem_events": [names.index(problem.events) if problem.events in names else -1 for problem in problems],
        "work_state": 1 + system.state_names.index(WORK) if WORK in system.state_names else 0,
        "start_problems": system.problem_set(discrete.start_problems),
        "start_action": at(discrete.start_action),
        "scale": [state.nominal for state in system.states],
        "unit": number_units(outputs),
    }


def build_problem(compiled: CompiledSystem, p: Array, values: Mapping[str, Any], start: Start) -> EngineProblem:
    """The engine's view of a system in native code, with the given parameters."""
    system, module, at = compiled.system, compiled.module, compiled.address
    fields = model_fields(system, compiled, system.discrete.guards, compiled.recorded, module, at)
    return EngineProblem(
        **fields,
        **parameter_tables(compiled, p, values, start, system.scenario.duration),
        n_watched=sum(watched.count for watched in system.watched),
        n_within=compiled.count_entries("within"),
        n_drives=compiled.count_entries("drives"),
        # Where none is in it, any: then the pace of one run is that of all that begin with the same number.
        drive_p=module.deciding or ((0,) if len(p) else ()),
        portable=compiled.plain,
        rosenbrock_method=method_number(compiled.solver.method),
        derivatives=compiled.derivatives,
    )


def parameter_tables(
    compiled: CompiledSystem, p: Array, values: Mapping[str, Any], start: Start, duration: float
) -> dict[str, Any]:
    """Those tables of the problem that a run's parameters and start decide."""
    system = compiled.system
    return {
        "delay_times": np.array([values[f"{delay.owner}.time"] for delay in system.delays], float),
        "history_start": history_start(compiled, start, p, values),
        "breaks": system.discrete.break_times(values, start.time, start.time + duration),
    }


def deciding_numbers(system: System) -> tuple[str, ...]:
    """Names of the numbers that these tables depend on, beside the start."""
    names: dict[str, None] = {}
    for delay in system.delays:
        names |= dict.fromkeys((f"{delay.owner}.time", *([] if delay.before is None else [f"{delay.owner}.before"])))
    for rule in system.discrete.breaks:
        names |= dict.fromkeys(rule.names)
    return tuple(names)


def history_start(compiled: CompiledSystem, start: Start, p: Array, values: Mapping[str, Any]) -> Array:
    """Values of the delayed signals before the start: as given, else their own start values."""
    delays = compiled.system.delays
    before = np.array([values.get(f"{delay.owner}.before", 0.0) for delay in delays])
    free = np.array([delay.before is None for delay in delays], bool)
    # A delayed signal may depend on others: each round settles at least one more.
    for _ in range(len(delays) if free.any() else 0):
        now = compiled.module.kernels["delayed"](np.array([start.time]), start.x, before, start.m, p)
        before = np.where(free, now, before)
    return before


# --------------------------------------------------------------------------------------------------
# Extent of a run: which instants does the engine keep, and how long and large will it be? Too much is refused.


def engine_recording(
    recording: Recording,
    solver: Solver,
    begin: float,
    duration: float,
    watch_steps: bool = False,
    drained: bool = False,
) -> EngineRecording:
    """The instants a run keeps; times beyond its end are refused.

    Args:
        watch_steps: whether what is watched is looked at in every step, be its rows kept or not.
        drained: whether rows are taken away as they come.
    """
    if recording.times is not None:
        times = np.array(recording.times, float)
        if times.size and (times[0] < begin or times[-1] > begin + duration):
            allowed = f"between {begin:g} and {begin + duration:g} s"
            what = f"must lie {allowed}, are from {times[0]:g} to {times[-1]:g} s"
            refuse("recording.times", what, "lengthen the duration or leave times out")
        return EngineRecording(kind="times", times=times, watch_steps=watch_steps, drained=drained)
    if recording.rate is not None:
        flaws = FlawList()
        check_samples(flaws, duration, recording)
        flaws.raise_if_any("recording")
        count = recording.samples(duration)
        times = begin + np.minimum(np.arange(count) / recording.rate, duration)
        return EngineRecording("times", times=times, keep_end=True, watch_steps=watch_steps, drained=drained)
    # Adaptive steps are recorded by as many points as reading between them needs, fixed ones by their ends.
    return EngineRecording(kind="steps", refine=recording.refine or (0 if solver.adaptive else 1), drained=drained)


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
    """The periods of sampled blocks [s]."""
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
        refuse("duration", what, "shorten it", f"scenario '{system.scenario.name}'")
    steps, most = count_steps(system, solver, duration), solver.max_steps or math.inf
    if steps > most:
        remedy = "lengthen the step, or raise solver.max_steps"
        warnings.warn(f"the run needs {steps:.3g} steps, {most:.3g} are allowed: {remedy}", stacklevel=4)
    rows = (recording.refine or LEAST_ROWS) * min(steps, most)
    if recording.times is not None:
        rows = float(len(recording.times))
    n_signals = len(compiled.recorded)
    size = 8.0 * rows * (1 + n_signals)
    if size <= LARGE_RECORD or recording.drained:
        return
    what = f"keeps {rows:.3g} rows of {n_signals} signals, {size / 2**30:.3g} GB"
    rate = float(f"{ENOUGH_ROWS / duration:.0e}")
    remedy = f"recording.rate = {rate:g} (--rate {rate:g}) keeps {ENOUGH_ROWS:,}; or name fewer in recording.signals"
    remedy += "; or name a file for all of them: simulate(..., file=)"
    ends_early = solver.max_wall_time is not None or any(guard.terminal for guard in compiled.system.discrete.guards)
    if size > LARGEST_RECORD and not ends_early:
        limit = f"at most {LARGEST_RECORD / 2**30:g} GB are kept"
        refuse("recording", f"{what}; {limit}", remedy, f"scenario '{compiled.system.scenario.name}'")
    warnings.warn(f"the run {what}: {remedy}", stacklevel=4)
