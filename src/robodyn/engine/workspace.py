"""What does compiled code know of a run, where is it kept, and who writes it?

`Work` holds the arrays; `RUN` is a record of named scalars and of the addresses of all arrays, which compiled
functions get as one pointer. Together they are the whole state of a run, so that it can be left at a safe
point and resumed exactly.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robodyn.engine.problem import Problem
from robodyn.engine.solver import DEFAULT_FIXED_STEP, RECORDING_KINDS, Recording, Solver
from robodyn.engine.tableaus import TRACED, Method

START, END, TRIAL, ERROR, POINT, SLOPE, DENSE, STAGE = 0, 1, 2, 3, 4, 5, 6, 11
"""Rows of Work.x: x at the start and end of the step, a stage's argument, the error estimate, x at a point of
the
polynomial, df/dt, the five coefficients of the polynomial, the stages."""

G_START, G_MIDDLE, G_END, G_POINT, G_ROOT, G_NOTED = range(6)
"""Rows of Work.guard_values: guards at the settled instant, in the middle and at the end of the step, at a point
tried; roots; guards at the instant before any action."""

SIGN, FROM_RATE, FIRED = range(3)
"""Rows of Work.marks: sign at the start of the step, whether it is a rate's, what fired at this instant."""

NOT_FIRED, LOCATED, JUMPED, FIRED_BEFORE = 0, 1, 2, 3
"""Values in the row FIRED: nothing; its root was located; it jumped across zero; it jumped and has acted.
-LOCATED: it was located and has acted."""

LEAVING = 2
"""Value in the row FROM_RATE: the guard is still on its way out of its root, its sign is kept; 1 says it is a
rate's."""

RECORD_STEPS, RECORD_TIMES, RECORD_NONE = range(3)
FIRST_PHASE, EVENTS, TICKS, SETTLE, STEPS, CONCLUDE = range(6)
REASON_DONE, REASON_BUDGET, REASON_ROWS, REASON_LOG, REASON_HISTORY, REASON_TASK, REASON_ACTION = range(7)

SMOOTH = 1_000_000
"""Level of an instant at which nothing jumps."""

FLOAT_FIELDS = (
    "t0", "t_end", "t_last", "resolution",
    "t", "t_segment", "t_stop", "t_left", "t_new", "theta_end", "h_tried", "t_read", "last_length",
    "h", "error_before", "base_period", "gamma", "fixed_step", "rtol", "atol", "max_step", "min_step",
    "shortest_delay", "smallest_step", "largest_step", "matrix_scale", "matrix_shift", "spectral_radius",
)  # fmt: skip
INTEGER_FIELDS = (
    "phase", "status", "culprit", "budget", "max_steps",
    "k", "slope_known", "end_known", "jacobian_known", "dense_known", "was_rejected", "was_cut",
    "tick", "last_tick", "tick_due", "task", "next_break", "stop_is_tick", "stop_is_break", "jump_level",
    "armed", "guard", "terminal", "n_all_guards", "m_changed", "x_changed",
    "kind", "refine", "keep_end", "plain", "next_time", "n_rows", "n_log", "n_history",
    "steps", "rejected", "evaluations", "jacobians", "factorisations", "ticks", "newton_iterations",
    "n_tasks", "n_breaks", "n_times", "n_dense",
    "row_capacity", "log_capacity", "history_capacity", "queue_capacity",
)  # fmt: skip

TIME_RESOLUTION = 16 * np.finfo(float).eps
"""Times closer than this times the largest time of a run are the same instant."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Work(NamedTuple):
    """The arrays of one run.

    Args:
        x: states, stages and polynomial, (rows, n_x).
        m: discrete memory (n_m,). d: delayed signals at the last time asked for (n_d,). p: parameters.
        changed: what a task or an action writes, (n_x + n_m,).
        columns, factors: columns of df/dx and of the factorised iteration matrix, (n_x, n_x); pivots (n_x,).
        inputs, finish: of the kernels of a step that the model gives, (2 n_x + n_kept + 3 + n_unknowns,) and (2 n_x +
            n_kept,); correction: of its unknowns (n_unknowns,), for which columns, factors and pivots then are.
        guard_values: by row, the guards, then the limits, (6, n_guards + 2 n_limited); marks likewise, (3,
            ...).
        bounds: lower and upper limits, (2 * n_limited,).
        history: per kept step [start, end, polynomial of each delayed signal (5)], (capacity, 2 + 5 n_d).
        cursor: the step of the history that each delay reads at the start of the step, (n_d,); -1 before the
            start.
        nodes: delayed signals at five points of a step, (5, n_d).
        queue, queue_level: coming jumps of each delayed signal, ascending, (n_d, capacity); queue_ends:
            [first, count].
        rows: recorded [t, y], (capacity, 1 + n_y). times: instants to
            record.
        log: events [t, guard], (capacity, 2).
        task_due: tick at which each task is due next, (n_tasks,).
    """

    x: Floats
    m: Floats
    d: Floats
    p: Floats
    changed: Floats
    columns: Floats
    factors: Floats
    pivots: Integers
    inputs: Floats
    finish: Floats
    correction: Floats
    guard_values: Floats
    marks: Integers
    bounds: Floats
    history: Floats
    cursor: Integers
    nodes: Floats
    queue: Floats
    queue_level: Integers
    queue_ends: Integers
    rows: Floats
    times: Floats
    log: Floats
    task_due: Integers


OWN_ARRAYS = {
    group: tuple(name for name, kind in group.__annotations__.items() if kind not in (int, float))
    for group in (Problem, Method, Work)
}
OWN_COUNTS = {
    group: tuple(name for name, kind in group.__annotations__.items() if kind is int) for group in (Problem, Method)
}
ARRAYS = tuple(name for names in OWN_ARRAYS.values() for name in names)
COUNTS = tuple(name for names in OWN_COUNTS.values() for name in names)
UNITS = (
    "step_explicit", "step_symplectic", "step_rosenbrock", "step_esdirk", "step_traced", "step_whole", "need_dense",
    "choose_first", "take_step", "blame_end", "blame_step",
    "locate_events", "carry_signs", "settle_signs", "note_guards", "find_jumps", "limit_end", "project_end",
    "record_step", "record_instant", "record_end", "read_inside", "read_right", "keep_step", "make_room",
    "run_events", "run_ticks", "begin_instant", "settle_instant", "leave_instant", "advance",
)  # fmt: skip
"""The parts of the engine: functions that call one another through addresses in the record."""

RUN = np.dtype(
    [(name, np.float64) for name in FLOAT_FIELDS]
    + [(name, np.int64) for name in (*INTEGER_FIELDS, *COUNTS, *ARRAYS, *(f"unit_{name}" for name in UNITS))],
    align=True,
)
"""Scalars of a run; sizes, kernels and settings of problem and method; addresses of all arrays of the
three. Every field has eight bytes."""


def place_fields(names: Iterable[str]) -> Integers:
    """Where fields stand in a record, counted in words of eight bytes."""
    fields: dict[str, Any] = dict(RUN.fields or {})
    return np.array([fields[name][1] // 8 for name in names], np.int64)


ARRAY_PLACES, COUNT_PLACES = place_fields(ARRAYS), place_fields(COUNTS)


def make_work(problem: Problem, method: Method, x0: Floats, m0: Floats, p: Floats, times: Floats) -> Work:
    """Arrays of the sizes a problem needs; buffers start small and are grown on demand."""
    n, n_d = problem.n_x, problem.n_d
    n_square = n if method.gamma > 0 else 0
    n_u, n_w = problem.n_unknowns, problem.n_kept
    n_square = n_u if method.family == TRACED else n_square
    n_all = problem.n_guards + 2 * problem.n_limited
    x = np.zeros((STAGE + method.stages + 1, n))
    x[START] = x0
    return Work(
        x=x,
        m=np.array(m0, float),
        d=np.zeros(n_d),
        p=np.array(p, float),
        changed=np.zeros(n + problem.n_m),
        columns=np.zeros((n_square, n_square)),
        factors=np.zeros((n_square, n_square)),
        pivots=np.zeros(n_square, np.int64),
        inputs=np.zeros(2 * n + max(n_w + 3 + n_u, n_d + 2)),
        finish=np.zeros(2 * n + n_w),
        correction=np.zeros(n_u),
        guard_values=np.zeros((6, n_all)),
        marks=np.zeros((3, n_all), np.int64),
        bounds=np.zeros(2 * problem.n_limited),
        history=np.zeros((256, 2 + 5 * n_d)),
        cursor=np.full(n_d, -1, np.int64),
        nodes=np.zeros((5, n_d)),
        queue=np.zeros((n_d, 64)),
        queue_level=np.zeros((n_d, 64), np.int64),
        queue_ends=np.zeros((n_d, 2), np.int64),
        rows=np.zeros((max(256, len(times) + 2), 1 + problem.n_y)),
        times=np.array(times, float),
        log=np.zeros((64 + 3 * problem.n_guards, 2)),
        task_due=np.array(problem.task_offset, np.int64),
    )


def make_run(
    problem: Problem, solver: Solver, method: Method, t0: float, t_end: float, recording: Recording
) -> NDArray[np.void]:
    """An array of one record: the scalars of a run at its start; arrays are not yet bound."""
    records = np.zeros(1, RUN)
    run = records[0]
    run["t0"], run["t_end"], run["t"], run["t_left"] = t0, t_end, t0, t0
    run["t_last"] = t_end
    run["resolution"] = TIME_RESOLUTION * max(abs(t0), abs(t_end))
    run["rtol"], run["atol"], run["max_step"] = solver.rtol, solver.atol, solver.max_step
    run["min_step"] = solver.min_step or run["resolution"]
    run["shortest_delay"] = problem.delay_times.min(initial=np.inf)
    run["fixed_step"] = min(solver.step or DEFAULT_FIXED_STEP, run["shortest_delay"])
    run["h"] = solver.step or 0.0
    run["error_before"] = 1.0
    run["culprit"] = run["terminal"] = -1
    run["max_steps"] = solver.max_steps or np.iinfo(np.int64).max
    run["last_tick"] = count_ticks(problem, t0, t_end)
    run["next_break"] = np.searchsorted(problem.breaks, t0, side="right")
    run["n_all_guards"] = problem.n_guards + (2 * problem.n_limited if method.adaptive else 0)
    run["kind"], run["refine"] = RECORDING_KINDS.index(recording.kind), recording.refine
    run["keep_end"] = recording.keep_end
    # Whether at a tick nothing can happen but its tasks, all of them compiled.
    watched = problem.n_guards + problem.n_d + (problem.n_limited if method.adaptive else 0)
    run["plain"] = watched == 0 and recording.kind != "steps" and bool(np.all(problem.task_address != 0))
    run["smallest_step"] = np.inf
    run["spectral_radius"] = solver.spectral_radius
    copy_settings(records, problem, method)
    return records


def copy_settings(records: NDArray[np.void], problem: Problem, method: Method) -> None:
    """Sizes, kernels and settings of a problem and a method."""
    run = records[0]
    run["base_period"], run["gamma"] = problem.base_period, method.gamma
    run["n_tasks"], run["n_breaks"] = len(problem.task_address), len(problem.breaks)
    run["n_dense"] = len(method.P)
    counts = [getattr(group, name) for group in (problem, method) for name in OWN_COUNTS[type(group)]]
    write_integers(records, COUNT_PLACES, counts)


def write_integers(records: NDArray[np.void], places: Integers, values: list[int]) -> None:
    """Integer fields of a run's record, all at once: one by one they would take longer than a short run."""
    records.view(np.int64)[places] = values


def bind_arrays(records: NDArray[np.void], problem: Problem, method: Method, work: Work) -> None:
    """Addresses and capacities of all arrays; again after one was replaced. The caller keeps the arrays
    alive."""
    groups = (problem, method, work)
    arrays = [getattr(group, name) for group in groups for name in OWN_ARRAYS[type(group)]]
    write_integers(records, ARRAY_PLACES, [array.__array_interface__["data"][0] for array in arrays])
    run = records[0]
    run["row_capacity"], run["log_capacity"] = len(work.rows), len(work.log)
    run["history_capacity"], run["queue_capacity"] = len(work.history), work.queue.shape[1]
    run["n_times"] = len(work.times)


def count_ticks(problem: Problem, t0: float, t_end: float) -> int:
    """Number of the last tick not after the end; one nearer to it than 1e-9 of a period is at the end."""
    if len(problem.task_address) == 0:
        return -1
    return int(np.floor((t_end - t0) / problem.base_period + 1e-9))
