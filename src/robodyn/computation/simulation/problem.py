"""Model of the engine: how does a system look to it? Functions, sizes, clocks, guards, as addresses or as C; delays and
breaks of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.signals import SignalInfo, number_units
from robodyn.computation.assembly.declarations import BreakRule, Guard
from robodyn.computation.assembly.system import System
from robodyn.computation.engine import Problem
from robodyn.computation.engine.binding import fields_of
from robodyn.computation.engine.problem import PYTHON_ACTION
from robodyn.computation.engine.tableaus import method_number
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.starting import Start

if TYPE_CHECKING:
    from robodyn.computation.native.conditions import Conditions
    from robodyn.computation.native.kernel import KernelModule
    from robodyn.computation.simulation.run_functions import KernelSet

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
        "start_problems": system.problem_set(discrete.start_problems),
        "start_action": at(discrete.start_action),
        "scale": [state.nominal for state in system.states],
        "unit": number_units(outputs),
    }


def build_problem(compiled: CompiledSystem, p: np.ndarray, values: Mapping[str, Any], start: Start) -> Problem:
    """The engine's view of a system in native code, with the given parameters."""
    system, module, at = compiled.system, compiled.module, compiled.address
    fields = model_fields(system, compiled, system.discrete.guards, compiled.recorded, module, at)
    return Problem(
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
    compiled: CompiledSystem, p: np.ndarray, values: Mapping[str, Any], start: Start, duration: float
) -> dict[str, Any]:
    """Those tables of the problem that a run's parameters and start decide."""
    system = compiled.system
    return {
        "delay_times": np.array([values[f"{delay.owner}.time"] for delay in system.delays], float),
        "history_start": history_start(compiled, start, p, values),
        "breaks": break_times(system.discrete.breaks, values, start.time, start.time + duration),
    }


def deciding_numbers(system: System) -> tuple[str, ...]:
    """Names of the numbers that these tables depend on, beside the start."""
    names: dict[str, None] = {}
    for delay in system.delays:
        names |= dict.fromkeys((f"{delay.owner}.time", *([] if delay.before is None else [f"{delay.owner}.before"])))
    for rule in system.discrete.breaks:
        names |= dict.fromkeys(rule.names)
    return tuple(names)


def history_start(compiled: CompiledSystem, start: Start, p: np.ndarray, values: Mapping[str, Any]) -> np.ndarray:
    """Values of the delayed signals before the start: as given, else their own start values."""
    delays = compiled.system.delays
    given = np.array([values.get(f"{delay.owner}.before", 0.0) for delay in delays])
    free = np.array([delay.before is None for delay in delays], bool)
    # A delayed signal may depend on others: each round settles at least one more.
    for _ in range(len(delays) if free.any() else 0):
        now = compiled.module.kernels["delayed"](np.array([start.time]), start.x, given, start.m, p)
        given = np.where(free, now, given)
    return given


def break_times(rules: tuple[BreakRule, ...], values: Mapping[str, Any], begin: float, end: float) -> np.ndarray:
    """Instants between two times at which references jump or have a kink, ascending."""
    times = {float(time) for rule in rules for time in rule.times(values)}
    return np.array(sorted(time for time in times if begin < time < end))
