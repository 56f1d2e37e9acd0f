"""Problem: what does the engine need to know of a hybrid system?

A system is given by machine addresses of kernels with one signature,

    void f(const double* t, const double* x, const double* d, const double* m, const double* p, double* out)

with t one value, x = [q (n_q), v (n_v), z] the continuous states, d the delayed signals at t, m the discrete
memory and p the parameters. The address 0 means: not given.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
NO_INTEGERS = np.zeros(0, np.int64)
NO_FLOATS = np.zeros(0)

PYTHON_ACTION = -1


class Derivatives(NamedTuple):
    """Kernels that a stiff method needs beside the others, compiled when a run first asks for them.

    Attributes:
        work: operations of both. prepare: their parameters, from those of the other kernels.
    """

    jacobian: int
    time_derivative: int
    work: int
    prepare: Callable[[Floats], Floats]


class Problem(NamedTuple):
    """A hybrid system by the addresses of its kernels and its tables of sizes, clocks, guards and delays.

    Args:
        rhs: writes x_dot (n_x).
        autonomous: 1 when the rates do not depend on time itself, so that df/dt is zero (delays aside).
        n_quadratures: how many of the last states no rate depends on; implicit methods solve them by substitution.
        jacobian: writes df/dx (n_x * n_x), column-major.
        time_derivative: writes the partial derivative df/dt (n_x).
        derivatives: makes these two where they are not given, or None; called when a run turns out to be stiff.
        rhs_work, jacobian_work, outputs_work, bounds_work: operations of a call, of jacobian with time_derivative, of
            enclosures with drifts.
        position_rate: writes q_dot (n_q).
        outputs: writes the recorded signals (n_y), then those of which only the extremes are kept (n_watched);
            within: writes the last of these alone (n_within), which may be looked at in every step.
        guards: writes g (n_guards); guard_rates: writes dg/dt along the motion (n_guards); rates_and_guards: writes
            x_dot and g in one call, where they share most of their work.
        limits: writes [lower (n_limited), upper (n_limited)] of the states `limited`.
        drives: writes what depends on time alone and drives the others (n_drives).
        drive_p: places of the parameters that decide them, at least (n_drive_p); none: not known.
        conditions: writes what decides between one course of the rates and another (n_conditions);
            condition_kind: of guards, limits and conditions.
        enclosures: writes bounds of all guards, limits and conditions in a box, middles then radii; drifts: of their
            rates; their x is the box, of which they read the entries (n_entries): see `robodyn.native.conditions`.
        delayed: writes w (n_d), the present values of the delayed signals; before the start w is
            history_start.
        delay_times: how late each delayed signal arrives [s], > 0, (n_d,).
        task_address: each task writes the whole new m (n_m); 0 is a Python task.
        task_period, task_offset: in ticks; a task is due at tick k >= offset when (k - offset) % period == 0.
        base_period: time between ticks [s], 0 without tasks; where base_numerator is given, the exact period is
            base_numerator / base_denominator, and ticks are the floating-point numbers nearest to its multiples.
        delay_depth: longest chain of delays that feed one another directly, along which jumps stay jumps.
        portable: 1 where the same bits are wanted on every platform: no step's length depends on the C library.
        guard_direction: +1 rising, -1 falling, 0 both. guard_terminal: 1 when the event ends the run.
        guard_side: 1 + the entry of m that notes on which side of zero a guard is, -1 or 1; 0 none (all, by default).
        guard_action: writes [new x (n_x), new m (n_m)]; 0 none, -1 a Python action.
        problem: writes the data of a complementarity problem of problem_rows rows and problem_joints joints, see
            complementarity.c; its modes go to m from problem_place on.
        guard_problems, start_problems: problems solved before an action, the sum of 2^number (none by default).
        start_action: like a guard's action, carried out once at the start, after the tasks due there.
        projection: like a guard's action, carried out on x at the end of each step.
        step_guess, step_residual, step_jacobian, step_end: the equations of a step, where the model gives them. Their
            x is [x0, x_dot0 (n_x each), w (n_kept), h, fresh, spectral radius, u (n_unknowns)], their t the end of the
            step; fresh is 1 where w is not from a step that ended here. They write a first u, the residual, its
            derivatives by u column by column, and [x1, x_dot1, next w].
        fused_step: a whole step, where the model takes it; its x is [x0 (n_x), h, time at its end, delayed signals
            at its start (n_d)], its t the start and its d at the end of the step. It writes x1 (n_x).
        rosenbrock_step: all stages of a step of rosenbrock_method (its `method_number`), where the model takes it; its
            x is [x0 (n_x), h, latest time that may be seen], its t the start. It writes the stages behind the slope at
            the start and x1 (n_x each), then a number above 0 where a solution misses its equations.
        breaks: ascending times the integration must meet exactly [s].
        scale: nominal magnitude of each state; its absolute tolerance is atol * scale, (n_x,).
        unit: number of each output's unit, 0 for none, negative for outputs that hold, (n_y,).
    """

    n_q: int
    n_v: int
    n_x: int
    n_m: int
    n_d: int
    n_y: int
    n_guards: int
    n_limited: int
    rhs: int
    n_kept: int = 0
    n_unknowns: int = 0
    step_guess: int = 0
    step_residual: int = 0
    step_jacobian: int = 0
    step_end: int = 0
    fused_step: int = 0
    rosenbrock_step: int = 0
    rosenbrock_method: int = -1
    n_drives: int = 0
    n_drive_p: int = 0
    n_conditions: int = 0
    n_entries: int = 0
    n_watched: int = 0
    n_within: int = 0
    within: int = 0
    drives: int = 0
    conditions: int = 0
    enclosures: int = 0
    drifts: int = 0
    n_quadratures: int = 0
    autonomous: int = 0
    rhs_work: int = 1
    jacobian_work: int = 0
    outputs_work: int = 0
    bounds_work: int = 0
    derivatives: Callable[[], Derivatives | None] | None = None
    jacobian: int = 0
    time_derivative: int = 0
    position_rate: int = 0
    outputs: int = 0
    guards: int = 0
    guard_rates: int = 0
    rates_and_guards: int = 0
    limits: int = 0
    limited: Integers = NO_INTEGERS
    drive_p: Integers = NO_INTEGERS
    condition_kind: Integers = NO_INTEGERS
    entries: Integers = NO_INTEGERS
    delayed: int = 0
    delay_times: Floats = NO_FLOATS
    history_start: Floats = NO_FLOATS
    task_address: Integers = NO_INTEGERS
    task_period: Integers = NO_INTEGERS
    task_offset: Integers = NO_INTEGERS
    base_period: float = 0.0
    base_numerator: int = 0
    base_denominator: int = 1
    delay_depth: int = 1
    portable: int = 0
    guard_direction: Integers = NO_INTEGERS
    guard_terminal: Integers = NO_INTEGERS
    guard_side: Integers = NO_INTEGERS
    guard_action: Integers = NO_INTEGERS
    guard_problems: Integers = NO_INTEGERS
    n_problems: int = 0
    problem: Integers = NO_INTEGERS
    problem_rows: Integers = NO_INTEGERS
    problem_joints: Integers = NO_INTEGERS
    problem_place: Integers = NO_INTEGERS
    start_problems: int = 0
    start_action: int = 0
    projection: int = 0
    breaks: Floats = NO_FLOATS
    scale: Floats = NO_FLOATS
    unit: Integers = NO_INTEGERS


SIZES = {
    "limited": "n_limited",
    "delay_times": "n_d",
    "history_start": "n_d",
    "guard_direction": "n_guards",
    "guard_terminal": "n_guards",
    "guard_side": "n_guards",
    "guard_action": "n_guards",
    "guard_problems": "n_guards",
    "problem": "n_problems",
    "problem_rows": "n_problems",
    "problem_joints": "n_problems",
    "problem_place": "n_problems",
    "scale": "n_x",
    "unit": "n_y",
}


def check_problem(problem: Problem) -> Problem:
    """The same problem with exact types, so that one compiled engine serves all; inconsistent tables are
    refused."""
    if len(problem.scale) == 0:
        problem = problem._replace(scale=np.ones(problem.n_x))
    if len(problem.guard_side) == 0:
        problem = problem._replace(guard_side=np.zeros(problem.n_guards, np.int64))
    if len(problem.guard_problems) == 0:
        problem = problem._replace(guard_problems=np.zeros(problem.n_guards, np.int64))
    if len(problem.unit) == 0:
        problem = problem._replace(unit=np.zeros(problem.n_y, np.int64))
    typed = Problem(*(_exact(value, Problem.__annotations__[name]) for name, value in problem._asdict().items()))
    for name, size in SIZES.items():
        _require(len(getattr(typed, name)) == getattr(typed, size), f"{name}: must have {size} entries")
    _check_clocks(typed)
    _check_kernels(typed)
    return typed


def _exact(value: Any, kind: Any) -> Any:
    if kind is Problem.__annotations__["derivatives"]:
        return value
    if kind is int or kind is float:
        return kind(value)
    dtype = np.int64 if kind is Integers else np.float64
    return np.array(value, dtype=dtype, order="C").reshape(-1)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _check_clocks(problem: Problem) -> None:
    n_tasks = len(problem.task_address)
    same = len(problem.task_period) == len(problem.task_offset) == n_tasks
    _require(same, "task_address, task_period, task_offset: must have the same length")
    _require(n_tasks == 0 or problem.base_period > 0, f"base_period: must be positive, is {problem.base_period}")
    _require(bool(np.all(problem.task_period > 0)), "task_period: must be positive")
    _require(bool(np.all(problem.task_offset >= 0)), "task_offset: must not be negative")
    _require(bool(np.all(problem.scale > 0)), "scale: must be positive")
    check_delays(problem)


def check_delays(problem: Problem) -> None:
    """Delays and breaks that a run can have."""
    _require(bool(np.all(problem.delay_times > 0)), "delay_times: must be positive")
    _require(bool(np.all(np.isfinite(problem.delay_times))), "delay_times: must be finite")
    _require(bool(np.all(np.diff(problem.breaks) >= 0)), "breaks: must ascend")


def _check_kernels(problem: Problem) -> None:
    _require(0 <= problem.n_quadratures <= problem.n_x, "n_quadratures: must be between 0 and n_x")
    _require(problem.rhs != 0 or problem.n_x == 0, "rhs: must be given")
    for name, size in (
        ("outputs", "n_y"),
        ("within", "n_within"),
        ("guards", "n_guards"),
        ("guard_rates", "n_guards"),
        ("limits", "n_limited"),
        ("delayed", "n_d"),
        ("drives", "n_drives"),
        ("conditions", "n_conditions"),
    ):
        _require(
            getattr(problem, name) != 0 or getattr(problem, size) == 0,
            f"{name}: must be given when {size} > 0",
        )
