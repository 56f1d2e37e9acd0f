"""Frequency and time responses of linear models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm
from scipy.optimize import linear_sum_assignment

from robodyn.base import Array, frozen, refuse
from robodyn.computation.results import Signal

from .linear_model import LinearModel, Variable, find_places

# --------------------------------------------------------------------------------------------------
# Frequency response (Bode): how strongly and how late does an output follow a sinusoidal input?


# Points of a chosen grid, and the part of a decade it goes beyond the slowest and fastest pole.
GRID_POINTS, GRID_MARGIN = 1200, 1.0
# Poles slower than this part of the fastest one count as integrators and do not widen a grid.
SLOWEST = 1e-6
# The response at a pole that is damped less is too high to be drawn.
LEAST_DAMPING = 1e-4


@frozen(eq=False)
class FrequencyResponse:
    """The response of one output to one input.

    Attributes:
        frequency: [Hz], (n,), increasing; values: complex, (n,), in the output's unit over the input's.
    """

    JSON = """
    frequency: [Hz]
    magnitude_db = decibel
    phase_deg = phase
    """
    input: Variable
    output: Variable
    frequency: Array
    values: Array

    @property
    def magnitude(self) -> Array:
        """|y / u|."""
        return np.abs(self.values)

    @property
    def decibel(self) -> Array:
        """20 log10 of the magnitude."""
        return 20 * np.log10(np.maximum(self.magnitude, np.finfo(float).tiny))

    @property
    def phase(self) -> Array:
        """Angle of y / u [deg], without jumps of 360 deg between neighbouring frequencies."""
        return np.degrees(np.unwrap(np.angle(self.values)))

    @property
    def unit(self) -> str:
        """Unit of the magnitude; empty where output and input have the same."""
        if self.output.unit == self.input.unit:
            return ""
        over = f"({self.input.unit})" if set(" /") & set(self.input.unit) else self.input.unit
        return f"{self.output.unit or '1'}/{over}" if over else self.output.unit


def respond(
    model: LinearModel, input: str | None = None, output: str | None = None, frequency: ArrayLike | None = None
) -> FrequencyResponse:
    """The exact response of one output to one input, delays included.

    Args:
        input, output: names; the only one where there is one.
        frequency: [Hz], increasing; by default a grid around the model's poles.
    """
    column = choose_variable(input, model.inputs, "input", "frequency response")
    row = choose_variable(output, model.outputs, "output", "frequency response")
    grid = choose_frequencies([model]) if frequency is None else np.atleast_1d(np.asarray(frequency, float))
    if grid.ndim != 1 or not grid.size or np.any(grid < 0) or np.any(np.diff(grid) <= 0) or not np.isfinite(grid).all():
        refuse("frequency", "must be increasing numbers of at least 0 Hz", source="frequency response")
    channel = model.choose([model.inputs[column].name], [model.outputs[row].name])
    values = channel.frequency_response(2 * np.pi * grid)[:, 0, 0]
    return FrequencyResponse(model.inputs[column], model.outputs[row], grid, values)


def choose_frequencies(models: Sequence[LinearModel], count: int = GRID_POINTS) -> Array:
    """Frequencies [Hz] that show the poles of all models, evenly spaced in decades; damped peaks are hit."""
    poles = np.concatenate([model.poles() for model in models])
    sizes = np.abs(poles) / (2 * np.pi)
    fastest = sizes.max(initial=0.0)
    if fastest == 0:
        return np.logspace(-2, 2, count)
    slowest = sizes[sizes > SLOWEST * fastest].min()
    grid = np.logspace(np.log10(slowest) - GRID_MARGIN, np.log10(fastest) + GRID_MARGIN, count)
    damped = poles[(poles.imag > 0) & (np.abs(poles.real) > LEAST_DAMPING * np.abs(poles))]
    return np.union1d(grid, damped.imag / (2 * np.pi))


def choose_variable(name: str | None, variables: tuple[Variable, ...], part: str, purpose: str) -> int:
    """Index of the input or output named, or of the only one."""
    if name is None and len(variables) != 1:
        names = ", ".join(variable.name for variable in variables) or "none"
        refuse(part, f"the model has {len(variables)}: {names}", "choose one", purpose)
    return 0 if name is None else find_places([name], variables, f"{part}s")[0]


# --------------------------------------------------------------------------------------------------
# Step and time responses: how does an output of a linear model follow an input in time?
#
#     x' = A x + B u + E d,  y = C x + D u + K d,  d_i(t) = w_i(t - tau_i),  w = F x + G u + H d
#
# Exact at every sample without delays: u is a step, or straight between samples (Van Loan 1978 on one matrix
# exponential). With delays d is straight between samples too, so fine that a delay has many of them, and known: what
# comes out of a delay went in before (method of steps).


TIME_POINTS = 1001
# Chosen times: so many time constants of the slowest pole that decays, or of the fastest one that grows.
SETTLED, GROWN = 6.0, 4.0
# Poles damped less ring on beyond the chosen times, which show this many of their periods.
PERIODS = 10.0
# Samples within the shortest delay, and most samples altogether.
FINE, MOST_SAMPLES = 32, 1_000_000
# Doublings of the time in which a response is awaited at rest, those before which nothing is concluded, and its rest.
DOUBLINGS, LEAST_DOUBLINGS, AT_REST = 40, 10, 1e-9


@frozen(eq=False)
class TimeResponse:
    """The response of one output to one input, as deviations from the operating point.

    Attributes:
        time: [s], (n,), even steps from 0; driven: the input, values: the output, each in its own unit, (n,).
        settled: the output long after a step; nan where it does not come to rest, or nothing is known of that.
    """

    input: Variable
    output: Variable
    time: Array
    driven: Array
    values: Array
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
    response = respond_to_input(model, np.full(grid.shape, height), grid, input, output)
    column, row = model.inputs.index(response.input), model.outputs.index(response.output)
    if model.delays:
        poles = model.poles()
        rests = bool(poles.real.max(initial=-1.0) < -SLOWEST * np.abs(poles).max(initial=0.0))
        settled = height * float(model.transfer(0.0)[row, column].real) if rests else float("nan")
        return replace(response, settled=settled)
    step, now, following = _hold_straight(model.A, model.B[:, [column]], grid[1] - grid[0])
    pushed, at_once = height * (now + following)[:, 0], height * model.D[row, column]
    return replace(response, settled=find_settled(step, pushed, model.C[row], at_once))


def find_settled(M: Array, b: Array, c: Array, d: float) -> float:
    """Where `y = c x + d`, `x <- M x + b` goes from rest, by doubling the time: nan where it grows or rings on.

    Motions that nothing excites do not count, whether they decay or not.
    """
    n = len(M)
    whole = np.block([[M, b[:, None]], [np.zeros((1, n)), np.ones((1, 1))]])
    outputs: list[float] = []
    with np.errstate(all="ignore"):
        for _ in range(DOUBLINGS):
            whole = whole @ whole
            outputs.append(float(c @ whole[:n, n] + d))
            if not np.isfinite(outputs[-1]):
                break
            near = AT_REST * max(abs(y) for y in outputs)
            if len(outputs) > LEAST_DOUBLINGS and max(abs(y - outputs[-1]) for y in outputs[-3:]) <= near:
                return outputs[-1] if abs(outputs[-1]) > near else 0.0
    return float("nan")


def respond_to_input(
    model: LinearModel, driven: ArrayLike, time: ArrayLike, input: str | None = None, output: str | None = None
) -> TimeResponse:
    """The response to an input that is straight between its samples, from rest before the first.

    Args:
        driven: the input's deviation in its unit, (n,); time: [s], (n,), from 0 in even steps.
    """
    grid, u = np.asarray(time, float), np.asarray(driven, float)
    _check_samples(grid, u)
    column = choose_variable(input, model.inputs, "input", "time response")
    row = choose_variable(output, model.outputs, "output", "time response")
    within = _samples_within(model, grid)
    time = np.linspace(0.0, grid[-1], within * (grid.size - 1) + 1)
    fine = u if within == 1 else np.interp(time, grid, u)
    # The output at even times that are finer than any delay.
    count, h, lags = time.size, time[1], model.delay_times
    step, from_now, from_next = _hold_straight(model.A, np.hstack([model.B[:, [column]], model.E]), h)
    places = np.arange(lags.size)
    x, d = np.zeros(model.order), np.zeros(lags.size)
    went_in, values = np.zeros((count, lags.size)), np.empty(count)
    for k in range(count):
        went_in[k] = model.F @ x + model.G[:, column] * fine[k] + model.H @ d
        values[k] = model.C[row] @ x + model.D[row, column] * fine[k] + model.K[row] @ d
        if k + 1 < count:
            # Where in what went in stands what comes out next, in samples; before the first nothing had gone in.
            back = k + 1 - lags / h
            low = np.clip(np.floor(back).astype(int), 0, k)
            high = np.minimum(low + 1, k)
            share = np.clip(back - low, 0.0, 1.0)
            following = (1 - share) * went_in[low, places] + share * went_in[high, places]
            following[back < 0] = 0.0
            x = step @ x + from_now @ np.append(fine[k], d) + from_next @ np.append(fine[k + 1], following)
            d = following
    values = values[::within]
    return TimeResponse(model.inputs[column], model.outputs[row], grid, u, values)


def _samples_within(model: LinearModel, grid: Array) -> int:
    """Into how many parts each step is cut, so that the shortest delay has many of them."""
    if not model.delays:
        return 1
    count = int(np.ceil(FINE * grid[1] / model.delay_times.min()))
    if count * grid.size > MOST_SAMPLES:
        what = f"{grid[-1]:g} s are more than {MOST_SAMPLES // FINE} times the shortest delay"
        refuse("time", what, "look at a shorter time", "time response")
    return max(count, 1)


def _hold_straight(A: Array, b: Array, h: float) -> tuple[Array, Array, Array]:
    """x_1 = step x_0 + from_now u_0 + from_next u_1 over a time h in which u is straight."""
    n, m = b.shape
    whole = np.zeros((n + 2 * m, n + 2 * m))
    whole[:n, :n], whole[:n, n : n + m] = A * h, b * h
    whole[n : n + m, n + m :] = np.eye(m)
    step, level, slope = np.split(expm(whole)[:n], [n, n + m], axis=1)
    return step, level - slope, slope


def choose_times(model: LinearModel) -> Array:
    """Times [s] that show what a model's poles do, in even steps from 0."""
    poles = model.poles()
    sizes = np.abs(poles)
    moving = poles[sizes > SLOWEST * sizes.max(initial=0.0)]
    damped = moving[np.abs(moving.real) > LEAST_DAMPING * np.abs(moving)]
    if damped.real.max(initial=0.0) > 0:
        return np.linspace(0, GROWN / damped.real.max(), TIME_POINTS)
    ringing = moving[np.abs(moving.real) <= LEAST_DAMPING * np.abs(moving)]
    ends = [*(SETTLED / -damped.real), *(2 * np.pi * PERIODS / np.abs(ringing))]
    return np.linspace(0, max(ends, default=1.0), TIME_POINTS)


def _check_samples(time: Array, driven: Array) -> None:
    if time.ndim != 1 or time.size < 2 or time[0] != 0 or not np.allclose(np.diff(time), time[1], rtol=1e-6):
        refuse("time", "must be two or more even steps from 0 s", source="time response")
    if time[1] <= 0 or driven.shape != time.shape or not np.isfinite(driven).all():
        what = f"must be a finite number for each of {time.size} times that increase"
        refuse("driven", what, source="time response")


# --------------------------------------------------------------------------------------------------
# Model comparison: how well does one linear model, for example one of lower order, stand for another?


# Poles that are further apart than this part of their magnitudes' sum do not stand for each other.
FURTHEST = 0.25


@frozen
class PolePair:
    """A pole of the full model [rad/s] and the one that stands for it, None where there is none."""

    full: complex
    reduced: complex | None

    @property
    def shift(self) -> float:
        """|s_reduced - s_full| / |s_full|; not a number without a partner."""
        if self.reduced is None or self.full == 0:
            return np.nan
        return abs(self.reduced - self.full) / abs(self.full)


@frozen(eq=False)
class ModelComparison:
    """Two linear models side by side.

    Attributes:
        inputs, outputs: the channels both have.
        frequency: [Hz], (n,).
        error: |y_reduced - y_full| over the largest |y_full| of the same channel, (n, n_outputs, n_inputs).
        poles: of the full model, slowest first, upper half plane only.
    """

    orders: tuple[int, int]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    frequency: Array
    error: Array
    poles: tuple[PolePair, ...]

    @property
    def largest_error(self) -> float:
        """Over all channels and frequencies."""
        return float(self.error.max())

    def valid_to(self, tolerance: float) -> float:
        """Frequency [Hz] up to which no channel's error passes a tolerance; 0 where the first one does."""
        passed = np.flatnonzero(self.error.max(axis=(1, 2)) > tolerance)
        if not passed.size:
            return float(self.frequency[-1])
        return float(self.frequency[passed[0] - 1]) if passed[0] else 0.0


def compare_models(full: LinearModel, reduced: LinearModel, frequency: ArrayLike | None = None) -> ModelComparison:
    """Frequency responses of all common channels and poles of two models, delays exact in both.

    Args:
        frequency: [Hz]; by default a grid around the poles of both.
    """
    inputs = tuple(v.name for v in full.inputs if v.name in {u.name for u in reduced.inputs})
    outputs = tuple(v.name for v in full.outputs if v.name in {u.name for u in reduced.outputs})
    if not inputs or not outputs:
        what = "the models have no input or no output in common"
        refuse("", what, "linearise both with the same inputs and outputs", "comparison of models")
    grid = choose_frequencies([full, reduced]) if frequency is None else np.atleast_1d(np.asarray(frequency, float))
    chosen = (model.choose(inputs, outputs) for model in (full, reduced))
    full_response, reduced_response = (model.frequency_response(2 * np.pi * grid) for model in chosen)
    size = np.abs(full_response).max(axis=0)
    error = np.abs(reduced_response - full_response) / np.where(size > 0, size, 1.0)
    poles = match_poles(full.poles(), reduced.poles())
    return ModelComparison((full.order, reduced.order), inputs, outputs, grid, error, poles)


def match_poles(full: ArrayLike, reduced: ArrayLike) -> tuple[PolePair, ...]:
    """Pairs of poles with the least sum of relative distances, of each conjugate pair the upper one.

    Poles of the full model without a near one in the reduced model stay alone.
    """
    upper, others = (np.asarray(poles, complex) for poles in (full, reduced))
    upper, others = upper[upper.imag >= 0], others[others.imag >= 0]
    distance = np.abs(upper[:, None] - others[None, :]) / np.maximum(np.abs(upper[:, None]) + np.abs(others), 1e-300)
    rows, columns = linear_sum_assignment(distance)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    partners = {row: complex(others[column]) for row, column in pairs if distance[row, column] <= FURTHEST}
    return tuple(PolePair(complex(pole), partners.get(k)) for k, pole in enumerate(upper))
