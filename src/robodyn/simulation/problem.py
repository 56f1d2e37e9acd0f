"""Problem of the engine: how does a compiled system look to it? Addresses, sizes, clocks, guards, delays, breaks."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from robodyn.assembly.declarations import BreakRule
from robodyn.assembly.system import System
from robodyn.engine import Problem
from robodyn.engine.solver import method_number
from robodyn.signals import number_units
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.starting import Start

PYTHON_ACTION = -1
BOTH, STEP = "rates_and_guards", "rosenbrock_step"
"""Names of functions that only some systems have: rates and guards as one, and the whole step of a stiff method."""


def build_problem(compiled: CompiledSystem, p: np.ndarray, values: Mapping[str, Any], start: Start) -> Problem:
    """The engine's view of a system with the given parameters."""
    system, at = compiled.system, compiled.address
    names: tuple[str, ...] = ("step_guess", "step_residual", "step_jacobian", "step_end", "fused_step", STEP)
    names += ("rhs", "jacobian", "time_derivative", "position_rate", "outputs", "within")
    names += ("guards", "guard_rates", BOTH, "limits", "delayed", "drives", "conditions", "enclosures", "drifts")
    others: dict[str, Any] = parameter_tables(compiled, p, values, start, system.scenario.duration)
    others |= {name: at(name) for name in names}
    # Where none is in it, any: then the pace of one run is that of all that begin with the same number.
    deciding = compiled.module.deciding or ((0,) if len(p) else ())
    base = system.discrete.base_period or Fraction(0)
    return Problem(
        n_q=system.n_q,
        n_v=system.n_v,
        n_x=len(system.states),
        n_m=len(system.memory),
        n_d=len(system.delays),
        n_y=len(compiled.recorded),
        n_watched=sum(watched.count for watched in system.watched),
        n_within=compiled.count_entries("within"),
        n_guards=len(system.discrete.guards),
        n_limited=len(system.limited),
        n_quadratures=system.n_quadratures,
        rosenbrock_method=method_number(compiled.solver.method),
        n_kept=compiled.n_kept,
        n_unknowns=compiled.n_unknowns,
        autonomous=int(not system.depends_on_time),
        n_drives=compiled.count_entries("drives"),
        n_drive_p=len(deciding),
        drive_p=np.array(deciding, np.int64),
        n_conditions=compiled.module.n_conditions,
        condition_kind=np.array(compiled.module.kinds, np.int64),
        n_entries=len(compiled.module.entries),
        entries=np.array(compiled.module.entries, np.int64),
        rhs_work=compiled.work["rhs"],
        outputs_work=compiled.work["outputs"],
        bounds_work=compiled.module.work,
        derivatives=compiled.derivatives,
        limited=np.array(system.limited, np.int64),
        task_address=np.array([at(tick.function) for tick in compiled.ticks], np.int64),
        task_period=np.array([tick.period for tick in compiled.ticks], np.int64),
        task_offset=np.array([tick.offset for tick in compiled.ticks], np.int64),
        base_period=float(base),
        base_numerator=base.numerator,
        base_denominator=base.denominator,
        delay_depth=system.delay_depth,
        portable=int(compiled.plain),
        guard_direction=np.array([guard.direction for guard in system.discrete.guards], np.int64),
        guard_problems=np.array([system.problem_set(guard.problems) for guard in system.discrete.guards], np.int64),
        n_problems=len(system.discrete.problems),
        problem=np.array([at(problem.name) for problem in system.discrete.problems], np.int64),
        problem_rows=np.array([problem.rows for problem in system.discrete.problems], np.int64),
        problem_joints=np.array([problem.joints for problem in system.discrete.problems], np.int64),
        problem_place=np.array([system.mode_place(problem) for problem in system.discrete.problems], np.int64),
        start_problems=system.problem_set(system.discrete.start_problems),
        start_action=at(system.discrete.start_action),
        projection=at("projection"),
        guard_terminal=np.array([guard.terminal for guard in system.discrete.guards], np.int64),
        guard_side=np.array([system.side_place(guard) for guard in system.discrete.guards], np.int64),
        guard_action=np.array([PYTHON_ACTION if g.call else at(g.action) for g in system.discrete.guards], np.int64),
        **others,
        scale=np.array([state.nominal for state in system.states], float),
        unit=np.array(number_units(compiled.recorded), np.int64),
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
        for given in rule.parameters.values():
            names |= dict.fromkeys(given if isinstance(given, tuple) else (given,))
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
    times: set[float] = set()
    for rule in rules:
        parameters = {
            key: tuple(values[name] for name in names) if isinstance(names, tuple) else values[names]
            for key, names in rule.parameters.items()
        }
        times |= {float(time) for time in rule.function(parameters)}
    return np.array(sorted(time for time in times if begin < time < end))
