"""Step and time responses: how does an output of a linear model follow an input in time?

    x' = A x + B u,  y = C x + D u

Exact at every sample: u is a step, or straight between samples (Van Loan 1978 on one matrix exponential).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from robodyn.analysis.linear.frequency import LEAST_DAMPING, SLOWEST, choose_variable
from robodyn.analysis.linear.linear_model import LinearModel, Variable
from robodyn.analysis.linear.subspaces import require_finite
from robodyn.errors import Flaw, ModelError
from robodyn.results import Signal

GRID_POINTS = 1001
# Chosen times: so many time constants of the slowest pole that decays, or of the fastest one that grows.
SETTLED, GROWN = 6.0, 4.0
# Poles damped less ring on beyond the chosen times, which show this many of their periods.
PERIODS = 10.0
# Doublings of the time in which a response is awaited at rest, those before which nothing is concluded, and its rest.
DOUBLINGS, LEAST_DOUBLINGS, AT_REST = 40, 10, 1e-9


@dataclass(frozen=True, eq=False)
class TimeResponse:
    """The response of one output to one input, as deviations from the operating point.

    Attributes:
        time: [s], (n,), even steps from 0; driven: the input, values: the output, each in its own unit, (n,).
        settled: the output long after a step; nan where it does not come to rest, or nothing is known of that.
    """

    input: Variable
    output: Variable
    time: np.ndarray
    driven: np.ndarray
    values: np.ndarray
    settled: float = float("nan")

    @property
    def signal(self) -> Signal:
        """The output as a signal of a run, for `measure_step` and pictures."""
        return Signal(self.output.name, self.output.unit, self.time, self.values)


def respond_to_step(
    model: LinearModel,
    input: str | None = None,
    output: str | None = None,
    time: ArrayLike | None = None,
    height: float = 1.0,
) -> TimeResponse:
    """The response to an input that jumps by a height at time 0, from rest.

    Args:
        input, output: names; the only one where there is one.
        time: [s], from 0 in even steps; by default until the slowest pole has settled or the fastest one has grown.
    """
    grid = choose_times(model) if time is None else np.asarray(time, float)
    found = respond_to_input(model, np.full(grid.shape, height), grid, input, output)
    column, row = model.inputs.index(found.input), model.outputs.index(found.output)
    step, now, following = _hold_straight(model.A, model.B[:, [column]], grid[1] - grid[0])
    pushed, at_once = height * (now + following)[:, 0], height * model.D[row, column]
    return replace(found, settled=find_settled(step, pushed, model.C[row], at_once))


def find_settled(M: np.ndarray, b: np.ndarray, c: np.ndarray, d: float) -> float:
    """Where `y = c x + d`, `x <- M x + b` goes from rest, by doubling the time: nan where it grows or rings on.

    Motions that nothing excites do not count, whether they decay or not.
    """
    n = len(M)
    whole = np.block([[M, b[:, None]], [np.zeros((1, n)), np.ones((1, 1))]])
    seen: list[float] = []
    with np.errstate(all="ignore"):
        for _ in range(DOUBLINGS):
            whole = whole @ whole
            seen.append(float(c @ whole[:n, n] + d))
            if not np.isfinite(seen[-1]):
                break
            near = AT_REST * max(abs(y) for y in seen)
            if len(seen) > LEAST_DOUBLINGS and max(abs(y - seen[-1]) for y in seen[-3:]) <= near:
                return seen[-1] if abs(seen[-1]) > near else 0.0
    return float("nan")


def respond_to_input(
    model: LinearModel, driven: ArrayLike, time: ArrayLike, input: str | None = None, output: str | None = None
) -> TimeResponse:
    """The response to an input that is straight between its samples, from rest before the first.

    Args:
        driven: the input's deviation in its unit, (n,); time: [s], (n,), from 0 in even steps.
    """
    require_finite(model)
    grid, u = np.asarray(time, float), np.asarray(driven, float)
    _check_samples(grid, u)
    column, row = (
        choose_variable(*which, "time response")
        for which in ((input, model.inputs, "input"), (output, model.outputs, "output"))
    )
    A, b = model.A, model.B[:, [column]]
    step, from_now, from_next = _hold_straight(A, b, grid[1] - grid[0])
    x = np.zeros((model.order, 1))
    values = np.empty(grid.size)
    for k in range(grid.size):
        values[k] = (model.C[row] @ x)[0] + model.D[row, column] * u[k]
        if k + 1 < grid.size:
            x = step @ x + from_now * u[k] + from_next * u[k + 1]
    return TimeResponse(model.inputs[column], model.outputs[row], grid, u, values)


def _hold_straight(A: np.ndarray, b: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x_1 = step x_0 + from_now u_0 + from_next u_1 over a time h in which u is straight."""
    n = len(A)
    whole = np.zeros((n + 2, n + 2))
    whole[:n, :n], whole[:n, n : n + 1] = A * h, b * h
    whole[n, n + 1] = 1.0
    found = expm(whole)
    level, slope = found[:n, n : n + 1], found[:n, n + 1 :]
    return found[:n, :n], level - slope, slope


def choose_times(model: LinearModel, count: int = GRID_POINTS) -> np.ndarray:
    """Times [s] that show what a model's poles do, in even steps from 0."""
    poles = model.poles()
    sizes = np.abs(poles)
    moving = poles[sizes > SLOWEST * sizes.max(initial=0.0)]
    damped = moving[np.abs(moving.real) > LEAST_DAMPING * np.abs(moving)]
    if damped.real.max(initial=0.0) > 0:
        return np.linspace(0, GROWN / damped.real.max(), count)
    ringing = moving[np.abs(moving.real) <= LEAST_DAMPING * np.abs(moving)]
    ends = [*(SETTLED / -damped.real), *(2 * np.pi * PERIODS / np.abs(ringing))]
    return np.linspace(0, max(ends, default=1.0), count)


def _check_samples(time: np.ndarray, driven: np.ndarray) -> None:
    if time.ndim != 1 or time.size < 2 or time[0] != 0 or not np.allclose(np.diff(time), time[1], rtol=1e-6):
        raise ModelError([Flaw("time", "must be two or more even steps from 0 s")], "time response")
    if time[1] <= 0 or driven.shape != time.shape or not np.isfinite(driven).all():
        what = f"must be a finite number for each of {time.size} times that increase"
        raise ModelError([Flaw("driven", what)], "time response")
