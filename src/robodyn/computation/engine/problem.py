"""Problem: what does the engine need to know of a hybrid system, and can it carry out a run of it?

A system is given by machine addresses of kernels with one signature,

    void f(const double* t, const double* x, const double* d, const double* m, const double* p, double* out)

with t one value, x the continuous states, d the delayed signals at t, m the discrete memory and p the parameters. The
address 0 means: not given. Which kernels, tables and sizes there are, and what each means, is declared once: by the
structure `Model` in engine.h.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.base import Array, frozen

from .binding import fields_of

if TYPE_CHECKING:
    from robodyn.description.model import Solver


PYTHON_ACTION = -1
"""Address of an action that is Python's."""
DEFAULT_FIXED_STEP = 1e-3
RECORDING_KINDS = ("steps", "times", "none")
NO_LIMIT = np.iinfo(np.int64).max

OTHERS = {"delay_times": "double*", "history_start": "double*", "breaks": "double*"}
OTHERS |= {"derivatives": "", "rosenbrock_method": "int64_t"}
"""Fields of a problem beside those of `Model`, with their C types."""
DEFAULTS = {"base_denominator": 1, "delay_depth": 1, "rhs_work": 1, "rosenbrock_method": -1, "derivatives": None}
FILLED = (
    ("scale", "n_x", 1.0),
    ("unit", "n_y", 0),
    ("guard_side", "n_guards", 0),
    ("guard_problems", "n_guards", 0),
    ("problem_events", "n_problems", -1),
)
"""Tables that need not be given, the size and the entries that they then have."""
COUNTED = {"n_tasks": "task", "n_problems": "problem", "n_entries": "entries", "n_drive_p": "drive_p"}
"""Sizes that follow from a table; others belong to several, which must agree: SIZES."""
SIZES = {
    "n_x": ("scale",),
    "n_y": ("unit",),
    "n_d": ("delay_times", "history_start"),
    "n_limited": ("limited",),
    "n_tasks": ("task_period", "task_offset"),
    "n_guards": ("guard_direction", "guard_terminal", "guard_side", "guard_action", "guard_problems"),
    "n_problems": ("problem_rows", "problem_joints", "problem_place", "problem_events"),
}
NEEDED = {
    "rhs": "n_x",
    "outputs": "n_y",
    "within": "n_within",
    "guards": "n_guards",
    "guard_rates": "n_guards",
    "limits": "n_limited",
    "delayed": "n_d",
    "drives": "n_drives",
    "conditions": "n_conditions",
}
"""Kernels that must be there where there is something for them to write."""


class Derivatives(NamedTuple):
    """Kernels that a stiff method needs beside the others, compiled when a run first asks for them.

    Attributes:
        work: operations of both. prepare: their parameters, from those of the other kernels.
    """

    jacobian: int
    time_derivative: int
    work: int
    prepare: Callable[[Array], Array]


class EngineProblem:
    """A hybrid system as the engine sees it.

    Its fields are those of `Model` in engine.h: numbers, addresses, and tables as arrays of exactly the engine's types.
    What is not given is 0 or empty; by default states have the scale 1, no guard notes its side or has a problem, and
    what a delay delivers is integrated once before another keeps it.

    Args:
        derivatives: makes jacobian and time_derivative where they are not given; called when a run turns out to be
            stiff.
        rosenbrock_method: `method_number` of the method whose step is rosenbrock_step.
        delay_times: how late each delayed signal arrives [s], > 0; history_start: its value before the start; (n_d,).
        breaks: ascending times the integration must meet exactly [s].
    """

    def __init__(self, **fields: Any) -> None:
        for name, kind in _kinds().items():
            self.__dict__[name] = _exact(kind, () if kind.endswith("*") else DEFAULTS.get(name, 0))
        self._set(fields)
        for name, size, value in FILLED:
            if not len(self.__dict__[name]):
                self._set({name: np.full(self.__dict__[size], value)})
        if not len(self.passage):
            self._set({"passage": np.ones(self.n_d**2)})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def replaced(self, **changes: Any) -> EngineProblem:
        """This problem with some fields changed."""
        other = copy.copy(self)
        other._set(changes)
        return other

    def _set(self, fields: Mapping[str, Any]) -> None:
        kinds = _kinds()
        if unknown := fields.keys() - kinds.keys():
            raise TypeError(f"the engine's Model has no {', '.join(sorted(unknown))}")
        for name, value in fields.items():
            self.__dict__[name] = _exact(kinds[name], value)
        for count, table in COUNTED.items():
            self.__dict__[count] = len(self.__dict__[table])


@cache
def _kinds() -> dict[str, str]:
    return fields_of("Model") | OTHERS


def _exact(kind: str, value: Any) -> Any:
    """A value in the engine's own type; addresses are whole numbers."""
    if not kind:
        return value
    if kind.endswith("*"):
        return np.array(value, np.float64 if kind == "double*" else np.int64, order="C").reshape(-1)
    return float(value) if kind == "double" else int(value)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def check_problem(problem: EngineProblem) -> None:
    """Refuse tables that do not fit each other, and kernels that are missing."""
    for size, tables in SIZES.items():
        for name in tables:
            _require(len(getattr(problem, name)) == getattr(problem, size), f"{name}: must have {size} entries")
    has_clock = problem.n_tasks == 0 or problem.base_period > 0
    _require(has_clock, f"base_period: must be positive with a task, is {problem.base_period}")
    _require(bool(np.all(problem.task_period > 0)), "task_period: must be positive")
    _require(bool(np.all(problem.task_offset >= 0)), "task_offset: must not be negative")
    _require(bool(np.all(problem.scale > 0)), "scale: must be positive")
    _require(bool(np.all(problem.delay_times > 0)), "delay_times: must be positive")
    _require(bool(np.all(np.isfinite(problem.delay_times))), "delay_times: must be finite")
    _require(bool(np.all(np.diff(problem.breaks) >= 0)), "breaks: must ascend")
    _require(0 <= problem.n_quadratures <= problem.n_x, "n_quadratures: must be between 0 and n_x")
    for name, size in NEEDED.items():
        there = getattr(problem, name) != 0 or getattr(problem, size) == 0
        _require(there, f"{name}: must be given when {size} > 0")


@frozen
class EngineRecording:
    """Which instants are kept.

    Args:
        kind: "steps" keeps the start, `refine` points of every step (0: of an adaptive step as many as the polynomials
            between them need) and both sides of every jump; "times" keeps exactly `times`, which ascend within the run,
            each by its right limit; "none" keeps only the first and the last instant.
        keep_end: with "times", whether the instant at which the run ends is kept too.
        watch_steps: with "times", whether the last of what is watched is looked at in every step too.
        drained: whether rows are taken away while the run goes on, so that it never ends because they are too many.
    """

    kind: str = "steps"
    refine: int = 1
    times: Array | None = None
    keep_end: bool = False
    watch_steps: bool = False
    drained: bool = False


def check_start(problem: EngineProblem, x0: Array, m0: Array) -> None:
    """Refuse states and memory of another size than the problem's."""
    for name, values, size in (("x0", x0, problem.n_x), ("m0", m0, problem.n_m)):
        if np.shape(values) != (size,):
            raise ValueError(f"{name}: must have the shape ({size},), has {np.shape(values)}")


def engine_settings(solver: Solver) -> dict[str, Any]:
    """The fields of `Solver` in engine.h, as the engine counts them: 0 for what it is to choose."""
    return {
        "step": solver.step or (0.0 if solver.adaptive else DEFAULT_FIXED_STEP),
        "rtol": solver.rtol,
        "atol": solver.atol,
        "max_step": solver.max_step,
        "min_step": solver.min_step or 0.0,
        "spectral_radius": solver.spectral_radius,
        "max_steps": solver.max_steps or NO_LIMIT,
    }
