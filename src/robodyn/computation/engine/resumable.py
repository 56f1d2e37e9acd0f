"""Resumable run: how does a run go on in portions, with new parameters or states between them, as if it were one?

Clocks, delays, memory, signs of guards, proposed steps and the record go on across the end of a portion. What is new
there acts like a break: nothing smooth is assumed across it, and a guard that it makes jump across zero fires.
"""

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from robodyn.computation.engine.binding import functions
from robodyn.computation.engine.integrate import Integration, Progress, PythonAction, PythonTask, set_up
from robodyn.computation.engine.problem import Problem, Recording
from robodyn.computation.engine.trajectory import Status, Trajectory

if TYPE_CHECKING:
    from robodyn.description.model import Solver

Saved = tuple["ctypes.Array[ctypes.c_char]", np.ndarray, bool]
"""State of the engine's run, parameters, whether it had begun. The record only grows: going back needs its length."""


class ResumableRun:
    """A run that goes on from one given time to the next, at the latest to t_last.

    Args:
        t_last: end of the whole run [s]; the others as in `integrate`.
    """

    def __init__(
        self,
        problem: Problem,
        solver: "Solver",
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
        self._take(Integration(set_up(problem, solver, recording), t0, t_last, x0, m0, p))
        self.integration.call_back(python_task, python_action, progress)

    @classmethod
    def of(cls, integration: Integration) -> "ResumableRun":
        """The same of a run that is ready to be carried out."""
        run = cls.__new__(cls)
        run._take(integration)
        return run

    def _take(self, integration: Integration) -> None:
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
    def x(self) -> np.ndarray:
        """The present states."""
        return self.integration.x

    @property
    def m(self) -> np.ndarray:
        """The present memory."""
        return self.integration.m

    @property
    def d(self) -> np.ndarray:
        """The delayed signals at the present time."""
        return self.integration.d

    def move(self, x: np.ndarray) -> None:
        """Go on from other states."""
        self.integration.x[:] = x
        self.moved = True

    def change(self, p: np.ndarray) -> None:
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
