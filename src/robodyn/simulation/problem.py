"""How does a compiled system look to the engine? Addresses, sizes, clocks, guards, delays and breaks as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly.system import BreakRule, System
from robodyn.engine import Problem
from robodyn.errors import FlawList
from robodyn.results import Run
from robodyn.simulation.closing import close_constraints
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.equilibrium import find_equilibrium
from robodyn.symbolic.tables import spell_out

PYTHON_ACTION = -1


@dataclass(frozen=True)
class Start:
    """Where a run begins: time [s], continuous states, memory."""

    time: float
    x: np.ndarray
    m: np.ndarray


def build_problem(compiled: CompiledSystem, p: np.ndarray, values: dict[str, Any], start: Start) -> Problem:
    """The engine's view of a system with the given parameters."""
    system, at = compiled.system, compiled.address
    base = system.base_period or Fraction(0)
    return Problem(
        n_q=system.n_q,
        n_v=system.n_v,
        n_x=len(system.states),
        n_m=len(system.memory),
        n_d=len(system.delays),
        n_y=len(compiled.recorded),
        n_watched=system.expressions["watched"].numel(),
        n_guards=len(system.guards),
        n_limited=len(system.limited),
        n_quadratures=system.n_quadratures,
        n_kept=compiled.n_kept,
        n_unknowns=compiled.n_unknowns,
        **{name: at(name) for name in ("step_guess", "step_residual", "step_jacobian", "step_end", "fused_step")},
        autonomous=int(not system.depends_on_time),
        **{name: at(name) for name in ("rhs", "jacobian", "time_derivative", "position_rate", "outputs")},
        **{name: at(name) for name in ("guards", "guard_rates", "limits", "delayed", "drives")},
        n_drives=compiled.n_drives,
        limited=np.array(system.limited, np.int64),
        delay_times=np.array([values[f"{delay.owner}.time"] for delay in system.delays], float),
        history_start=_history_start(compiled, start, p, values),
        task_address=np.array([at(tick.function) for tick in compiled.ticks], np.int64),
        task_period=np.array([tick.period for tick in compiled.ticks], np.int64),
        task_offset=np.array([tick.offset for tick in compiled.ticks], np.int64),
        base_period=float(base),
        base_numerator=base.numerator,
        base_denominator=base.denominator,
        delay_depth=system.delay_depth,
        guard_direction=np.array([guard.direction for guard in system.guards], np.int64),
        start_action=at(system.start_action),
        projection=at("action:projection"),
        guard_terminal=np.array([guard.terminal for guard in system.guards], np.int64),
        guard_action=np.array([PYTHON_ACTION if g.call else at(g.action) for g in system.guards], np.int64),
        breaks=break_times(system.breaks, values, start.time, start.time + system.scenario.duration),
        scale=np.array([state.nominal for state in system.states], float),
    )


def find_start(compiled: CompiledSystem, values: np.ndarray, before: Run | None = None) -> Start:
    """The described start values, the rest nearest to them, or the end of a run before for all it knows by name.

    Args:
        values: of the tunable parameters.
    """
    system = compiled.system
    parameters = {number.name: value for number, value in zip(system.parameters, values.tolist(), strict=True)}
    if before is None and system.scenario.start == "equilibrium":
        found = find_equilibrium(system, parameters=parameters, balance=compiled.balance)
        check_ranges(system, found.x, values)
        return Start(0.0, found.x, found.m)
    if before is None and system.scenario.start == "assembled":
        x = close_constraints(system, parameters=parameters).require().x
        check_ranges(system, x, values)
        return Start(0.0, x, np.array([memory.start for memory in system.memory], float))
    end = before.end if before else {}
    x = np.array([end.get(state.name, state.start) for state in system.states], float)
    m = np.array([end.get(memory.name, memory.start) for memory in system.memory], float)
    _check_constraints(compiled, m)
    return Start(before.outcome.time if before else 0.0, x, m)


def _check_constraints(compiled: CompiledSystem, m: np.ndarray) -> None:
    """Whether a constraint holds is built in where no event changes it: a run before must not end otherwise."""
    system, flaws = compiled.system, FlawList()
    switched = {guard.name for guard in system.guards}
    active = {f"{c.name}.active": c.name for c in system.scenario.machine.constraints}
    for info, value in zip(system.memory, m, strict=True):
        name = active.get(info.name)
        if name and f"{name}.closes" not in switched and (value > 0.5) != (info.start > 0.5):
            what = f"{'holds' if value > 0.5 else 'is broken'} at the end of the run before, and not here"
            flaws.add(f"constraints.{name}", what, f"start with '{info.name}' = {value:g}")
    flaws.raise_if_any(system.scenario.name)


def check_ranges(system: System, x: np.ndarray, values: np.ndarray) -> None:
    """A start that was found must lie within the ranges of all coordinates, as a given one must."""
    ranged = [c for c in system.scenario.machine.coordinates if c.range is not None]
    if not ranged:
        return
    column = ca.vertcat(*(system.coordinates[c.name] for c in ranged))
    function: Any = spell_out(ca.Function("positions", [system.symbols["x"], system.symbols["p"]], [column]))
    flaws = FlawList()
    for c, position in zip(ranged, np.array(function(x, values)).ravel(), strict=True):
        lower, upper = c.range or (-np.inf, np.inf)
        if not lower <= position <= upper:
            what = f"the start found at {position:.6g} is out of reach, allowed is {lower:g} to {upper:g}"
            flaws.add(f"coordinates.{c.name}.range", what, "change initial, the set point or the range")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")


def _history_start(compiled: CompiledSystem, start: Start, p: np.ndarray, values: dict[str, Any]) -> np.ndarray:
    """Values of the delayed signals before the start: as given, else their own start values."""
    delays = compiled.system.delays
    given = np.array([values.get(f"{delay.owner}.before", 0.0) for delay in delays])
    free = np.array([delay.before is None for delay in delays], bool)
    # A delayed signal may depend on others: each round settles at least one more.
    for _ in range(len(delays) if free.any() else 0):
        now = compiled.module.kernels["delayed"](np.array([start.time]), start.x, given, start.m, p)
        given = np.where(free, now, given)
    return given


def break_times(rules: tuple[BreakRule, ...], values: dict[str, Any], begin: float, end: float) -> np.ndarray:
    """Instants between two times at which references jump or have a kink, ascending."""
    times: set[float] = set()
    for rule in rules:
        parameters = {
            key: tuple(values[name] for name in names) if isinstance(names, tuple) else values[names]
            for key, names in rule.parameters.items()
        }
        times |= {float(time) for time in rule.function(parameters)}
    return np.array(sorted(time for time in times if begin < time < end))
