"""How does a run go on in portions, with new parameters or states between them, as if it were one?

Clocks, delays, memory, signs of guards, proposed steps and the record go on across the end of a portion. What is new
there acts like a break: nothing smooth is assumed across it, and a guard that it makes jump across zero fires.
"""

from typing import Any

import numpy as np

from robodyn.engine.integrate import Integration, Progress, PythonAction, PythonTask, check_request, select_times
from robodyn.engine.problem import Problem, check_problem
from robodyn.engine.solver import Recording, Solver
from robodyn.engine.trajectory import Status, Trajectory
from robodyn.engine.workspace import EVENTS, START, Work, bind_arrays, count_ticks, make_run, make_work

APPENDED = ("rows", "log")
"""Arrays that only grow at their ends: going back needs no copy of them, only their lengths from the record."""
Saved = tuple[np.ndarray, dict[str, np.ndarray], bool]


class Portions:
    """A run that goes on from one given time to the next, at the latest to t_last.

    Args:
        t_last: end of the whole run [s]; the others as in `integrate`.
    """

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        t0: float,
        t_last: float,
        x0: np.ndarray,
        m0: np.ndarray,
        p: np.ndarray,
        recording: Recording,
        *,
        python_task: PythonTask | None = None,
        python_action: PythonAction | None = None,
        progress: Progress | None = None,
    ) -> None:
        problem, method = check_problem(problem), solver.table
        check_request(problem, solver, method, t0, t_last, x0, m0, python_task, python_action)
        work = make_work(problem, method, x0, m0, p, select_times(recording, t0, t_last))
        self.integration = Integration(problem, method, work)
        self.integration.load(make_run(problem, solver, method, float(t0), float(t_last), recording))
        self.integration.callbacks = python_task, python_action, progress
        self.integration.fixed_budget, self.integration.max_wall_time = None, solver.max_wall_time
        self.keep_end, self.integration.run["keep_end"] = recording.keep_end, 0
        self.begun = False
        self.moved = False

    @property
    def work(self) -> Work:
        return self.integration.work

    @property
    def time(self) -> float:
        return float(self.integration.run["t"])

    @property
    def x(self) -> np.ndarray:
        """The present states."""
        return self.work.x[START]

    def move(self, x: np.ndarray) -> None:
        """Go on from other states."""
        self.work.x[START] = x
        self.moved = True

    def change(self, p: np.ndarray) -> None:
        """Go on with other parameters, prepared as for `integrate`."""
        self.work.p[:] = p

    def go_on(self, t_end: float) -> Status:
        """Integrate to t_end; what is due there happens. The first portion, also one of no length, begins the run."""
        run = self.integration.run
        run["t_end"] = t_end
        run["last_tick"] = count_ticks(self.integration.problem, float(run["t0"]), t_end)
        if self.begun:
            self._reopen()
        self.begun = True
        self.moved = False
        self.integration.loop()
        return Status(int(run["status"]))

    def _reopen(self) -> None:
        """Stand at the instant that ended the last portion, after its tasks, as at a break."""
        run = self.integration.run
        for name in ("status", "guard", "task", "tick_due", "m_changed", "jump_level", "slope_known", "jacobian_known"):
            run[name] = 0
        run["x_changed"] = self.moved
        run["terminal"] = run["culprit"] = -1
        run["phase"] = EVENTS

    def save(self) -> Saved:
        """All that changes, to go back to."""
        arrays = {name: array.copy() for name, array in self.work._asdict().items() if name not in APPENDED}
        return self.integration.records.copy(), arrays, self.begun

    def restore(self, saved: Saved) -> None:
        """Go back to where the run was when it was saved."""
        records, arrays, self.begun = saved
        work: Any = self.work._replace(**{name: array.copy() for name, array in arrays.items()})
        integration = self.integration
        integration.work = work
        integration.records[:] = records
        bind_arrays(integration.records, integration.problem, integration.method, work)

    def finish(self, status: Status) -> Trajectory:
        """End the run and give what there is of it."""
        run = self.integration.run
        run["keep_end"] = self.keep_end
        culprit = int(run["culprit"])
        self.integration.conclude(status)
        run["culprit"] = culprit
        return self.integration.trajectory()
