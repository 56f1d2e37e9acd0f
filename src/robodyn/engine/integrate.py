"""How does Python drive a run: buffers, budget, interruption, tasks and actions written in Python?"""

import ctypes
import time as clock
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

from robodyn.engine import hybrid  # noqa: F401  registers the parts of the engine
from robodyn.engine.problem import Problem, check_problem
from robodyn.engine.record import compile_units
from robodyn.engine.solver import Recording, Solver
from robodyn.engine.tableaus import SYMPLECTIC, Method
from robodyn.engine.trajectory import Counters, Status, Trajectory
from robodyn.engine.workspace import (
    CONCLUDE,
    REASON_ACTION,
    REASON_BUDGET,
    REASON_DONE,
    REASON_HISTORY,
    REASON_LOG,
    REASON_ROWS,
    REASON_TASK,
    START,
    Work,
    bind_arrays,
    make_run,
    make_work,
    place_fields,
    write_integers,
)

PythonTask = Callable[[int, float, np.ndarray, np.ndarray, np.ndarray], Any]
PythonAction = Callable[[int, float, np.ndarray, np.ndarray, np.ndarray], tuple[Any, Any]]
Progress = Callable[[float, float, int], Any]

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
"""C type of a part of the engine: it gets the address of a run's record."""
SLICE = 0.05
"""Seconds of computing between two looks at the clock and the keyboard."""
FIRST_BUDGET = 1000
LARGEST_RECORD = 2**31
"""Bytes of rows at which a run ends, this project's own choice; copies made on the way take as much again."""
INTEGER_COUNTERS = (
    "steps", "rejected", "evaluations", "jacobians", "factorisations", "newton_iterations", "ticks",
)  # fmt: skip


def integrate(
    problem: Problem,
    solver: Solver,
    t0: float,
    t_end: float,
    x0: np.ndarray,
    m0: np.ndarray,
    p: np.ndarray,
    recording: Recording,
    *,
    python_task: PythonTask | None = None,
    python_action: PythonAction | None = None,
    progress: Progress | None = None,
    budget: int | None = None,
) -> Trajectory:
    """Simulate a hybrid system from t0 to t_end; a run that cannot go on is a Trajectory with its status, not
    an error.

    Args:
        python_task: python_task(k, t, x, d, m) -> new m, for tasks with address 0.
        python_action: python_action(g, t, x, d, m) -> (new x, new m), for guards with action -1.
        progress: progress(t, h, steps), called about twenty times a second.
        budget: steps between two looks at the clock; None finds a number for 50 ms. It never changes the
            result.
    """
    problem = check_problem(problem)
    method = solver.table
    check_request(problem, solver, method, t0, t_end, x0, m0, python_task, python_action)
    times = select_times(recording, t0, t_end)
    integration = Integration(problem, method, make_work(problem, method, x0, m0, p, times))
    integration.load(make_run(problem, solver, method, float(t0), float(t_end), recording))
    integration.callbacks = python_task, python_action, progress
    integration.fixed_budget, integration.max_wall_time = budget, solver.max_wall_time
    return integration.complete()


def check_request(problem, solver, method, t0, t_end, x0, m0, python_task, python_action) -> None:
    """Refuse what could not be carried out."""
    if not (np.isfinite(t0) and np.isfinite(t_end) and t_end >= t0):
        raise ValueError(f"t_end: must be finite and not before t0 = {t0}, is {t_end}")
    for name, values, size in (("x0", x0, problem.n_x), ("m0", m0, problem.n_m)):
        if np.shape(values) != (size,):
            raise ValueError(f"{name}: must have the shape ({size},), has {np.shape(values)}")
    if solver.stiff and problem.jacobian == 0:
        raise ValueError(f"method: {solver.method} needs the Jacobian, which the problem does not have")
    if method.family == SYMPLECTIC and problem.position_rate == 0 and problem.n_q > 0:
        raise ValueError(f"method: {solver.method} needs the position rates, which the problem does not have")
    if solver.traced and problem.step_residual == 0:
        raise ValueError(f"method: {solver.method} needs the equations of a step, which the problem does not have")
    if solver.whole and problem.step_whole == 0:
        raise ValueError(f"method: {solver.method} needs the whole step, which the problem does not have")
    if np.any(problem.task_address == 0) and python_task is None:
        raise ValueError("python_task: must be given, the problem has a task with address 0")
    if np.any(problem.guard_action < 0) and python_action is None:
        raise ValueError("python_action: must be given, the problem has a guard with action -1")


def select_times(recording: Recording, t0: float, t_end: float) -> np.ndarray:
    """The instants asked for; one outside the run is refused."""
    if recording.times is None:
        return np.zeros(0)
    times = np.asarray(recording.times, float)
    if len(times) and (times[0] < t0 or times[-1] > t_end):
        raise ValueError(f"times: must lie in {t0}..{t_end}, are in {times[0]}..{times[-1]}")
    return times


@cache
def unit_places() -> np.ndarray:
    """Where the addresses of the engine's parts stand in a record."""
    return place_fields(compile_units())


class Integration:
    """One run between two calls of compiled code."""

    run: np.void
    callbacks: tuple[PythonTask | None, PythonAction | None, Progress | None]
    fixed_budget: int | None
    max_wall_time: float | None
    is_full = False

    def __init__(self, problem: Problem, method: Method, work: Work):
        self.problem, self.method, self.work = problem, method, work

    def load(self, records: np.ndarray) -> None:
        """Take a run's record and put the addresses of the engine's parts into it."""
        self.records, self.run = records, records[0]
        entries = compile_units()
        write_integers(records, unit_places(), [entry.address for entry in entries.values()])
        self.advance = ENTRY(int(self.run["unit_advance"]))
        self.place = records.ctypes.data
        bind_arrays(self.records, self.problem, self.method, self.work)
        # The clock runs from here: making the engine ready, once a process, is not part of the run.
        self.begun = clock.perf_counter()

    def complete(self) -> Trajectory:
        """Run to the end; an error raised by a task or an action carries the partial trajectory."""
        try:
            self.loop()
        except KeyboardInterrupt:
            self.conclude(Status.INTERRUPTED)
        except Exception as error:
            self.conclude(Status.FAILED)
            error.trajectory = self.trajectory()  # type: ignore[attr-defined]
            raise
        return self.trajectory()

    def loop(self) -> None:
        """Resume the compiled engine until the run has ended."""
        answers = {
            REASON_ROWS: self.grow_rows,
            REASON_LOG: self.grow_log,
            REASON_HISTORY: self.grow_history,
            REASON_TASK: self.run_task,
            REASON_ACTION: self.run_action,
        }
        self.run["budget"] = self.size = self.fixed_budget or FIRST_BUDGET
        self.slice_begun = clock.perf_counter()
        while (reason := self.resume()) != REASON_DONE:
            if reason == REASON_BUDGET:
                self.start_slice()
            else:
                answers[reason]()
            if self.is_full or self.is_out_of_time():
                self.conclude(Status.RECORD_FULL if self.is_full else Status.WALL_TIME)
                return

    def resume(self) -> int:
        """Let the compiled engine go on; the reason why it returned."""
        return self.advance(self.place)

    def start_slice(self) -> None:
        """Show the progress and choose the next budget, at most four times the last, for 50 ms of work."""
        now = clock.perf_counter()
        elapsed = max(now - self.slice_begun, 1e-6)
        if self.fixed_budget is None:
            self.size = int(max(1, self.size * min(4.0, SLICE / elapsed)))
        self.run["budget"] = self.size
        progress = self.callbacks[2]
        if progress is not None:
            progress(float(self.run["t"]), float(self.run["last_length"]), int(self.run["steps"]))
        self.slice_begun = clock.perf_counter()

    def is_out_of_time(self) -> bool:
        return self.max_wall_time is not None and clock.perf_counter() - self.begun > self.max_wall_time

    def conclude(self, status: Status) -> None:
        """End a run from outside, with its last row."""
        self.run["status"], self.run["phase"] = status, CONCLUDE
        self.resume()

    def replace_arrays(self, **arrays: np.ndarray) -> None:
        """Let the run go on with larger arrays."""
        self.work = self.work._replace(**arrays)
        bind_arrays(self.records, self.problem, self.method, self.work)

    def grow_rows(self) -> None:
        """Twice the room for rows, until the record is as large as allowed."""
        if 2 * self.work.rows.nbytes > LARGEST_RECORD:
            self.is_full = True
            return
        self.replace_arrays(rows=doubled(self.work.rows, at_least=int(self.run["refine"]) + 3))

    def grow_log(self) -> None:
        self.replace_arrays(log=doubled(self.work.log, at_least=3 * self.problem.n_guards))

    def grow_history(self) -> None:
        """Twice the room for past steps and coming jumps; the rings of jumps are unrolled."""
        work = self.work
        n_d, capacity = work.queue.shape
        queue, level = np.zeros((n_d, 2 * capacity)), np.zeros((n_d, 2 * capacity), np.int64)
        for j in range(n_d):
            order = (work.queue_ends[j, 0] + np.arange(capacity)) % capacity
            queue[j, :capacity], level[j, :capacity] = work.queue[j, order], work.queue_level[j, order]
        work.queue_ends[:, 0] = 0
        self.replace_arrays(history=doubled(work.history), queue=queue, queue_level=level)

    def run_task(self) -> None:
        task = cast(PythonTask, self.callbacks[0])
        memory = np.array(task(int(self.run["task"]) - 1, *self.arguments()), float)
        require_shape("python_task: the new m", memory, self.problem.n_m)
        if not np.array_equal(memory, self.work.m):
            self.run["m_changed"] = 1
        self.work.m[:] = memory

    def run_action(self) -> None:
        action = cast(PythonAction, self.callbacks[1])
        x, memory = (np.array(values, float) for values in action(int(self.run["guard"]) - 1, *self.arguments()))
        require_shape("python_action: the new x", x, self.problem.n_x)
        require_shape("python_action: the new m", memory, self.problem.n_m)
        self.work.x[START], self.work.m[:] = x, memory

    def arguments(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """t, x, d, m as copies, so that a callback cannot change the run by the back door."""
        work = self.work
        return float(self.run["t"]), work.x[START].copy(), work.d.copy(), work.m.copy()

    def trajectory(self) -> Trajectory:
        """What there is so far."""
        run, work = self.run, self.work
        rows, log = work.rows[: run["n_rows"]], work.log[: run["n_log"]]
        counters = Counters(
            **{name: int(run[name]) for name in INTEGER_COUNTERS},
            events=len(log),
            wall_time=clock.perf_counter() - self.begun,
            smallest_step=float(run["smallest_step"]) if run["steps"] else 0.0,
            largest_step=float(run["largest_step"]),
        )
        return Trajectory(
            time=rows[:, 0].copy(),
            y=rows[:, 1:].copy(),
            events=[(float(t), int(j)) for t, j in log],
            status=Status(int(run["status"])),
            at_time=float(run["t"]),
            x=work.x[START].copy(),
            m=work.m.copy(),
            culprit=int(run["culprit"]),
            counters=counters,
            unknowns=work.inputs[len(work.inputs) - self.problem.n_unknowns :].copy(),
        )


def doubled(buffer: np.ndarray, at_least: int = 0) -> np.ndarray:
    """The same rows with room for as many more."""
    return np.concatenate([buffer, np.zeros((max(len(buffer), at_least), buffer.shape[1]))])


def require_shape(name: str, values: np.ndarray, size: int) -> None:
    """Refuse what a callback returned in the wrong shape."""
    if values.shape != (size,):
        raise ValueError(f"{name} must have the shape ({size},), has {values.shape}")
