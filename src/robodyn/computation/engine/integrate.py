"""Integration of a hybrid system: how does Python drive a run of the C engine?

The engine returns when the run has ended, when a budget of steps is used up (about fifty times a second: then the
clock, the keyboard and the progress are looked at), when a task or an action is Python's, and when a run turns out to
be stiff whose Jacobian is not compiled yet. It runs without the interpreter's lock.

Resumable run: how does a run go on in portions, with new parameters or states between them, as if it were one?

Clocks, delays, memory, signs of guards, proposed steps and the record go on across the end of a portion. What is new
there acts like a break: nothing smooth is assumed across it, and a guard that it makes jump across zero fires.
"""

from __future__ import annotations

import ctypes
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from robodyn.base import Array, frozen

from .binding import (
    EngineRun,
    address_of,
    copied,
    fill,
    function_address,
    functions,
    method_structure,
    structures,
)
from .problem import (
    RECORDING_KINDS,
    Derivatives,
    EngineProblem,
    EngineRecording,
    check_problem,
    check_start,
    engine_settings,
)
from .tableaus import method_number
from .trajectory import (
    EXTREMES,
    NO_PROBES,
    BrokenRun,
    Counters,
    ProbeRows,
    Proof,
    Status,
    Stiffness,
    Trajectory,
)

if TYPE_CHECKING:
    from robodyn.description.model import Solver

PythonTask = Callable[[int, float, Array, Array, Array], Any]
PythonAction = Callable[[int, float, Array, Array, Array], tuple[Any, Any]]
Progress = Callable[[float, float, int], Any]
Drain = Callable[[Array, Array], bool]
"""Takes rows [t, y, knot] away, with the times of the probes among them; False where there is no room for them."""

SLICE = 0.02
"""Seconds of computing between two looks at the clock and the keyboard; progress is shown less often."""
BETWEEN_SHOWS = 0.05
FIRST_BUDGET = 50
DRAINED_NUMBERS, KEPT_ROWS = 2**19, 16
"""Numbers in rows that are taken away at once; rows that the engine keeps to compare the next ones with."""
LARGEST_RECORD = 2**31
"""Bytes of rows at which a run ends, this project's own choice; copies made on the way take as much again."""
COUNTERS = (
    "steps", "marched", "rejected", "steps_too_long", "evaluations", "jacobians", "factorisations",
    "newton_iterations", "n_log", "ticks", "wall_time", "smallest_step", "largest_step",
)  # fmt: skip
STIFFNESS = (
    "stiff_since", "stiff_step", "limited_steps", "replaced_at", "replaced_step", "stiff_phases", "stiff_steps",
    "stiff_time", "trials",
)  # fmt: skip
NOTHING = np.zeros(0)
PROOF = ("n_proven", "n_unproven", "unproven", "unproven_at", "n_missed", "missed", "missed_at")
REPORTED = (*COUNTERS, *STIFFNESS, "n_rows", "status", "offender", "t", *PROOF)
"""Fields of the engine's run, and the time it took, in the order of `Counters`, `Stiffness` and `Proof`."""
N_COUNTERS, N_STIFFNESS = len(COUNTERS), len(STIFFNESS)


class Reason(IntEnum):
    """Why the engine returned, as in engine.h."""

    ENDED = 0
    BUDGET_USED = 1
    NEEDS_TASK = 2
    NEEDS_ACTION = 3
    EVENTS_DUE = 4
    NEEDS_JACOBIAN = 5


def integrate(
    problem: EngineProblem,
    solver: Solver,
    t0: float,
    t_end: float,
    x0: Array,
    m0: Array,
    p: Array,
    recording: EngineRecording,
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
        progress: progress(t, h, steps), called up to twenty times a second.
        budget: steps between two looks at the clock; None finds a number for 20 ms. It never changes the
            result.
    """
    integration = Integration(set_up(problem, solver, recording), t0, t_end, x0, m0, p)
    integration.call_back(python_task, python_action, progress)
    integration.fixed_budget = budget
    return integration.complete()


@frozen
class Setup:
    """What runs of one problem share, in the engine's own structures: checked and filled in once.

    Attributes:
        needs_task, needs_action: whether a task or an action is Python's.
        keeps: what the engine reads beside, as long as there are runs.
    """

    problem: EngineProblem
    solver: Solver
    recording: EngineRecording
    structures: tuple[Any, Any, Any, Any]
    times: Array
    needs_task: bool
    needs_action: bool
    keeps: Any = None

    def changed(self, **tables: Any) -> Setup:
        """This setup with other delay_times, history_start or breaks, which a run's parameters may decide."""
        return replace(self, problem=self.problem.replaced(**tables))


def set_up(
    problem: EngineProblem, solver: Solver, recording: EngineRecording, march: Mapping[str, Any] | None = None
) -> Setup:
    """Make ready for any number of runs.

    Args:
        march: fields of the engine's structure `March`, where runs take many steps at once.

    Raises:
        ValueError: where the tables of the problem do not fit each other.
    """
    check_problem(problem)
    times = np.zeros(0) if recording.times is None else np.array(recording.times, float)
    traced = problem.rosenbrock_step if problem.rosenbrock_method == method_number(solver.method) else 0
    course = fill("March", None, advance=function_address("march"), **march) if march else None
    model = fill("Model", problem, rosenbrock_step=traced, march=ctypes.addressof(course) if course else None)
    method, _ = method_structure(solver.method, solver.pair[1] if solver.pair else None)
    rows = {"kind": RECORDING_KINDS.index(recording.kind), "n_times": len(times), "times": times}
    rows["most_rows"] = 0 if recording.drained else LARGEST_RECORD // (8 * (problem.n_y + 2))
    structures = (
        model,
        method,
        fill("Solver", None, **engine_settings(solver)),
        fill("Recording", recording, **rows),
    )
    calls = bool(np.any(problem.task == 0)), bool(np.any(problem.guard_action < 0))
    return Setup(problem, solver, recording, structures, times, *calls, (course, march))


class Integration:
    """One run between two calls of the engine.

    Attributes:
        run: the engine's record of it. x, m, d: the present states, memory and delayed signals, in the engine's memory.
    """

    def __init__(self, setup: Setup, t0: float, t_end: float, x0: Array, m0: Array, p: Array) -> None:
        problem = setup.problem
        check_start(problem, x0, m0)
        self.setup, self.problem, self.max_wall_time = setup, problem, setup.solver.max_wall_time
        self.p = np.array(p, float)
        model, method, solver, recording = setup.structures
        # A run may add derivatives to its model, and be recorded in another way from some time on.
        self.model, self.recording = copied(model, n_breaks=len(problem.breaks)), copied(recording)
        self.engine = EngineRun(self.model, method, solver, self.recording)
        self._start(float(t0), float(t_end), x0, m0)
        self.callbacks: tuple[PythonTask | None, PythonAction | None, Progress | None] = (None, None, None)
        self.fixed_budget: int | None = None
        self.seen: tuple[tuple[int, int], Array] = (0, 0), NOTHING
        self.derivatives: Derivatives | None = None
        self.drain: Drain | None = None
        self.drained_probes = self.drained_rows = 0
        self.begun = clock.perf_counter()

    def _start(self, t0: float, t_end: float, x0: Array, m0: Array) -> None:
        problem, view = self.problem, self.engine.view
        self.address, self.run = self.engine.address, self.engine.fields
        run = self.run
        self.x, self.m, self.d = view(run.x, problem.n_x), view(run.m, problem.n_m), view(run.d, problem.n_d)
        self.extremes = view(run.extremes, EXTREMES * problem.n_watched).reshape(EXTREMES, -1).T
        self.whole = np.frombuffer(run, np.int64)
        self.real = self.whole.view(float)
        run.p = address_of(self.p)
        self._enter(t0, t_end, x0, m0)

    def _enter(self, t0: float, t_end: float, x0: Array, m0: Array) -> None:
        problem, run, view = self.problem, self.run, self.engine.view
        # Views of the engine's memory: writing to them is how states, memory and parameters come in.
        self.x[:], self.m[:] = x0, m0
        if problem.n_d:
            view(run.delay, problem.n_d)[:] = problem.delay_times
            view(run.before, problem.n_d)[:] = problem.history_start
        if len(problem.breaks):
            view(run.breaks, len(problem.breaks))[:] = problem.breaks
        run.n_breaks = len(problem.breaks)
        functions().run_begin(self.address, t0, t_end)

    def restart(self, x0: Array, m0: Array, p: Array) -> None:
        """Begin again with other numbers, in the same memory; what the run before left is gone."""
        span = self.run.t0, self.run.t_last
        check_start(self.problem, x0, m0)
        functions().run_reset(self.address)
        self.p[:] = p
        self._enter(*span, x0, m0)
        self.drained_probes = self.drained_rows = 0
        self.begun = clock.perf_counter()

    def call_back(self, task: PythonTask | None, action: PythonAction | None, progress: Progress | None) -> None:
        """What the run asks Python for."""
        if self.setup.needs_task and task is None:
            raise ValueError("python_task: must be given, the problem has a task with address 0")
        if self.setup.needs_action and action is None:
            raise ValueError("python_action: must be given, the problem has a guard with action -1")
        self.callbacks = task, action, progress

    def complete(self, probes: bool = True) -> Trajectory:
        """Run to the end.

        Args:
            probes: whether what was noted between the rows is wanted too.

        Raises:
            BrokenRun: where a task or an action raised an error, with the trajectory so far.
        """
        try:
            self.loop()
        except KeyboardInterrupt:
            self.conclude(Status.INTERRUPTED)
        except Exception as error:
            self.conclude(Status.FAILED)
            raise BrokenRun(error, self.trajectory()) from error
        return self.trajectory(probes)

    def loop(self) -> None:
        """Resume the engine until the run has ended."""
        advance, address = functions().run_advance, self.address
        self.run.budget = self.size = self.fixed_budget or FIRST_BUDGET
        self.slice_begun = self.shown = clock.perf_counter()
        while (reason := advance(address)) != Reason.ENDED:
            if not self.serve(reason):
                return

    def serve(self, reason: int) -> bool:
        """Do what the engine returned for; whether the run may go on: its time may be used up."""
        if reason == Reason.BUDGET_USED:
            if self.drain is not None and not self.take_rows(self.drain):
                self.conclude(Status.RECORD_FULL)
                return False
            self.start_slice()
        elif reason == Reason.NEEDS_JACOBIAN:
            self.add_derivatives()
        elif reason == Reason.NEEDS_TASK:
            self.run_task()
        else:
            self.run_action()
        if self.max_wall_time is not None and clock.perf_counter() - self.begun > self.max_wall_time:
            self.conclude(Status.WALL_TIME)
            return False
        return True

    def take_rows(self, drain: Drain) -> bool:
        """Take most rows away, once they are many; whether there was room for them."""
        count = self.run.n_rows - KEPT_ROWS
        if count * (self.problem.n_y + 2) < DRAINED_NUMBERS:
            return True
        rows = self._rows(count).copy()
        width = 1 + 2 * self.problem.n_y
        probes = self.engine.view(self.run.probes, self.run.n_probes * width).reshape(-1, width)[:, 0]
        ready = int(np.searchsorted(probes, rows[-1, 0]))
        # Ctrl-C in between leaves rows that were taken: whoever took them knows how many they are.
        is_room = drain(rows, probes[self.drained_probes : ready].copy())
        self.drained_probes = ready
        functions().run_drop_rows(self.address, KEPT_ROWS)
        self.drained_rows += count
        return is_room

    def start_slice(self) -> None:
        """Show the progress and choose the next budget, at most four times the last, for 20 ms of work."""
        now = clock.perf_counter()
        # As many steps as take 20 ms, by how long the last ones took.
        elapsed = max(now - self.slice_begun, 1e-6)
        if self.fixed_budget is None:
            self.size = int(max(1, self.size * min(4.0, SLICE / elapsed)))
        self.run.budget = self.size
        progress = self.callbacks[2]
        if progress is not None and (self.fixed_budget is not None or now - self.shown >= BETWEEN_SHOWS):
            self.shown = now
            progress(self.run.t, self.run.last_length, self.run.steps)
        self.slice_begun = clock.perf_counter()

    def conclude(self, status: Status) -> None:
        """End a run from outside, with its last row."""
        functions().run_conclude(self.address, status)

    def add_derivatives(self) -> None:
        """Give the engine's model what a stiff method needs; where there is none, the run stays explicit."""
        self.derivatives = self.problem.derivatives() if self.problem.derivatives else None
        if self.derivatives is None:
            self.run.only_explicit = 1
            return
        self.model.jacobian, self.model.time_derivative = self.derivatives.jacobian, self.derivatives.time_derivative
        self.model.jacobian_work = self.derivatives.work
        self.change_parameters(self.p)

    def change_parameters(self, p: Array) -> None:
        """Go on with other parameters, prepared as for `integrate`."""
        self.p[:] = p
        if self.derivatives is not None:
            self.p_jacobian = self.derivatives.prepare(self.p)
            self.run.p_jacobian = address_of(self.p_jacobian)

    def run_task(self) -> None:
        """Call the Python task that is due, and keep its memory."""
        task = cast(PythonTask, self.callbacks[0])
        memory = np.array(task(self.run.task - 1, *self.arguments()), float)
        _require_shape("python_task: the new m", memory, self.problem.n_m)
        if not np.array_equal(memory, self.m):
            self.run.m_changed = 1
        self.m[:] = memory

    def run_action(self) -> None:
        """Call the action of the event that has happened, and keep its states and memory."""
        action = cast(PythonAction, self.callbacks[1])
        x, memory = (np.array(values, float) for values in action(self.run.guard - 1, *self.arguments()))
        _require_shape("python_action: the new x", x, self.problem.n_x)
        _require_shape("python_action: the new m", memory, self.problem.n_m)
        self.x[:], self.m[:] = x, memory

    def arguments(self) -> tuple[float, Array, Array, Array]:
        """t, x, d, m as copies, so that a callback cannot change the run by the back door."""
        return self.run.t, self.x.copy(), self.d.copy(), self.m.copy()

    def probes(self) -> ProbeRows:
        """What was noted between the rows."""
        n_y = self.problem.n_y
        probes = self.engine.view(self.run.probes, self.run.n_probes * (1 + 2 * n_y)).reshape(-1, 1 + 2 * n_y).copy()
        return ProbeRows(probes[:, 0], probes[:, 1 : 1 + n_y], probes[:, 1 + n_y :])

    def report(self) -> list[Any]:
        """How the run went, in the order of REPORTED; all of it looked up at once."""
        wholes, reals, order = _places_reported()
        values = self.whole[wholes].tolist() + self.real[reals].tolist()
        values.append(clock.perf_counter() - self.begun)
        return [values[k] for k in order]

    def _rows(self, count: int) -> Array:
        """The first rows as they stand in the engine's memory, which moves where they become too many for it."""
        run, width = self.run, self.problem.n_y + 2
        place = run.rows, run.row_capacity
        if place != self.seen[0]:
            self.seen = place, self.engine.view(place[0], place[1] * width).reshape(-1, width)
        return self.seen[1][:count]

    def trajectory(self, probes: bool = True) -> Trajectory:
        """What there is so far."""
        problem, view, values = self.problem, self.engine.view, self.report()
        n_rows, status, offender, at_time, *proof = values[N_COUNTERS + N_STIFFNESS :]
        counters = Counters(*values[:N_COUNTERS])
        if not counters.steps:
            counters = counters._replace(smallest_step=0.0)
        rows, y = _copied(self._rows(n_rows))
        log = view(self.run.log, 2 * counters.events).reshape(-1, 2).tolist() if counters.events else ()
        # The engine owns its arrays: what leaves it is copied.
        unknowns = self.run.inputs + 8 * (2 * problem.n_x + problem.n_kept + 3) if problem.n_unknowns else 0
        return Trajectory(
            time=rows[:, 0].copy(),
            y=y,
            knots=rows[:, -1] > 0,
            probes=self.probes() if probes else NO_PROBES,
            events=[(t, int(j)) for t, j in log],
            status=Status(status) if len(rows) == n_rows else Status.NO_MEMORY,
            at_time=at_time,
            x=self.x.copy(),
            m=self.m.copy(),
            offender=offender,
            counters=counters,
            stiffness=Stiffness(*values[N_COUNTERS : N_COUNTERS + N_STIFFNESS]),
            extremes=self.extremes.copy(),
            proof=Proof(*proof),
            unknowns=view(unknowns, problem.n_unknowns).copy() if unknowns else NOTHING,
        )


@cache
def _places_reported() -> tuple[Array, Array, list[int]]:
    """Where the fields stand that say how a run went: the whole numbers, then the others; and where each of REPORTED is
    among them, the time it took behind them."""
    fields: Any = structures()["Run"]._fields_
    whole, real = (
        {name: k for k, (name, kind) in enumerate(fields) if name in REPORTED and (kind is ctypes.c_int64) is integer}
        for integer in (True, False)
    )
    names = [*whole, *real, "wall_time"]
    return np.array([*whole.values()]), np.array([*real.values()]), [names.index(name) for name in REPORTED]


def _copied(rows: Array) -> tuple[Array, Array]:
    """The rows and a copy of their signals; where there is no memory for it, the first ones that there is for."""
    while True:
        try:
            return rows, rows[:, 1:-1].copy()
        except MemoryError:
            rows = rows[: len(rows) // 4]


def _require_shape(name: str, values: Array, size: int) -> None:
    """Refuse what a callback returned in the wrong shape."""
    if values.shape != (size,):
        raise ValueError(f"{name} must have the shape ({size},), has {values.shape}")


Saved = tuple["ctypes.Array[ctypes.c_char]", Array, bool]
"""State of the engine's run, parameters, whether it had begun. The record only grows: going back needs its length."""


class ResumableRun:
    """A run, ready to be carried out, that goes on from one given time to the next, at the latest to its end."""

    def __init__(self, integration: Integration) -> None:
        self.integration = integration
        # The end of a portion is not the end that is to be kept.
        self.keep_end, integration.recording.keep_end = integration.setup.recording.keep_end, 0
        self.begun = False
        self.moved = False

    @property
    def time(self) -> float:
        """Reached so far [s]."""
        return self.integration.run.t

    @property
    def x(self) -> Array:
        """The present states."""
        return self.integration.x

    @property
    def m(self) -> Array:
        """The present memory."""
        return self.integration.m

    @property
    def d(self) -> Array:
        """The delayed signals at the present time."""
        return self.integration.d

    def move(self, x: Array) -> None:
        """Go on from other states."""
        self.integration.x[:] = x
        self.moved = True

    def change(self, p: Array) -> None:
        """Go on with other parameters, prepared as for `integrate`."""
        self.integration.change_parameters(p)

    def go_on(self, t_end: float) -> Status:
        """Integrate to t_end; what is due there happens. The first portion, also one of no length, begins the run."""
        self.open(t_end)
        self.integration.loop()
        return self.status

    @property
    def status(self) -> Status:
        """How the portion ended."""
        return Status(self.integration.run.status)

    def open(self, t_end: float) -> None:
        """Make ready to be carried to t_end: by `go_on`, or with other runs by a pack."""
        engine, address = functions(), self.integration.address
        engine.run_extend(address, t_end)
        if self.begun:
            engine.run_reopen(address, self.moved, False, True)
        self.begun = True
        self.moved = False

    def save(self) -> Saved:
        """All that changes, to go back to."""
        engine, address = functions(), self.integration.address
        state = ctypes.create_string_buffer(engine.run_state_size(address))
        engine.run_save(address, state)
        return state, self.integration.p.copy(), self.begun

    def restore(self, saved: Saved) -> None:
        """Go back to where the run was when it was saved."""
        state, p, self.begun = saved
        if not functions().run_restore(self.integration.address, state, len(state)):
            raise MemoryError("there is not enough memory to restore the run")
        self.change(p)

    def finish(self, status: Status) -> Trajectory:
        """End the run and give what there is of it."""
        self.integration.recording.keep_end = self.keep_end
        self.integration.conclude(status)
        return self.integration.trajectory()
