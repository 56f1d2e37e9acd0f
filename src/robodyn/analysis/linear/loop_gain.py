"""Frequency response of a sampled loop: its gain round the loop, what it follows, and its bandwidth.

A held signal that swings as u_j = e^(i omega t_j) makes everything swing; of the answer at the writings or ticks the
part at the same frequency counts, (1 / n) sum_j y_j e^(-i omega t_j). With one sample time that is the transfer
function in z; with several there are other frequencies too, which it leaves out (first harmonic).

The step response is exact from tick to tick: X+ = M X + B u, y = P X + Q u over a cycle of all ticks (see `lifting`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from robodyn.analysis.linear.frequency import FrequencyResponse
from robodyn.analysis.linear.lifting import Lifted, find_held, lift
from robodyn.analysis.linear.responses import GROWN, SETTLED, TimeResponse, find_settled
from robodyn.analysis.linear.sampled_model import SampledModel
from robodyn.base.errors import Flaw, ModelError

GRID_POINTS = 500
FINE, REFINEMENTS, MOST_POINTS = 0.1, 12, 20_000
"""Part of its distance from 0 and -1 that a curve may go between two frequencies, and bounds of that refinement."""
LOWEST, HIGHEST = 1e-5, 0.999
"""Ends of a chosen grid, by half of the sample rate; there itself an integrator of a slower task may answer."""
HALF_POWER = 1 / np.sqrt(2)


def respond_loop(model: SampledModel, signal: str, frequency: ArrayLike | None = None) -> FrequencyResponse:
    """Gain once round the loop that a held signal belongs to, the loop cut there, its sign turned: L = -w / u.

    So a loop with negative feedback is unstable where the curve goes round -1.

    Args:
        signal: an output of a sampled block; frequency: [Hz], increasing, to half its rate; by default a grid.
    """
    lifted = lift(model, [signal])
    grid = _choose_grid(lifted.turn_time / max(lifted.times.size, 1), frequency)
    variable = model.memory[find_held(model, [signal])[0]]

    def gain(at: np.ndarray) -> np.ndarray:
        return -first_harmonic(lifted, at)

    values = gain(grid)
    if frequency is None:
        grid, values = refine_curve(gain, grid, values)
    return FrequencyResponse(variable, variable, grid, values)


def refine_curve(
    gain: Callable[[np.ndarray], np.ndarray], frequency: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """More frequencies wherever a curve in the complex plane goes far between two of them, as beside a resonance.

    Far is a part of the distance from 0 and from -1, whichever is larger: so a Nyquist plot is round, and a narrow
    peak as high as it is.
    """
    for _ in range(REFINEMENTS):
        far = np.maximum(np.abs(values), np.abs(1 + values))
        jumps = np.abs(np.diff(values)) > FINE * np.minimum(far[:-1], far[1:])
        if not jumps.any() or frequency.size > MOST_POINTS:
            break
        between = np.sqrt(frequency[:-1] * frequency[1:])[jumps]
        frequency, values = np.append(frequency, between), np.append(values, gain(between))
        order = np.argsort(frequency)
        frequency, values = frequency[order], values[order]
    return frequency, values


def respond_held(
    model: SampledModel, signal: str, output: str, frequency: ArrayLike | None = None
) -> FrequencyResponse:
    """How an output follows a held signal that is driven from outside instead of by its block.

    For a set point that is the closed loop; for the command of an outer loop it is the inner one with the outer cut.

    Args:
        signal: an output of a sampled block; output: one of the model's outputs.
        frequency: [Hz], increasing, to half the base rate; by default a grid.
    """
    lifted = lift(model, [signal])
    row = find_output(model, output)
    grid = _choose_grid(model.period, frequency)
    omega, count = 2 * np.pi * grid, len(model.outputs)
    driven = np.exp(1j * omega[:, None] * lifted.times)
    ticks = (lifted.answer(np.exp(1j * omega * lifted.turn_time)) @ driven[:, :, None])[:, row::count, 0]
    values = np.mean(ticks * np.exp(-1j * omega[:, None] * lifted.output_times), axis=1)
    return FrequencyResponse(model.memory[find_held(model, [signal])[0]], model.outputs[row], grid, values)


def first_harmonic(lifted: Lifted, frequency: np.ndarray) -> np.ndarray:
    """Of what is written, of what is read [1], (n,), for one cut signal."""
    omega = 2 * np.pi * frequency
    driven = np.exp(1j * omega[:, None] * lifted.times)
    written = (lifted.gain(np.exp(1j * omega * lifted.turn_time)) @ driven[:, :, None])[:, :, 0]
    return np.mean(written * driven.conj(), axis=1)


def find_bandwidth(response: FrequencyResponse) -> float:
    """Frequency [Hz] at which the magnitude falls to 1 / sqrt(2) of its lowest frequency's; nan if it does not.

    Where it comes back within an octave it was a dip beside a resonance, not the end of the band. Between points of the
    grid the logarithm of the magnitude is interpolated.
    """
    magnitude, frequency = response.magnitude, response.frequency
    if not (magnitude[0] > 0 and np.isfinite(magnitude).all()):
        return float("nan")
    ratio = np.maximum(magnitude / (magnitude[0] * HALF_POWER), np.finfo(float).tiny)
    for k in np.flatnonzero((ratio[:-1] >= 1) & (ratio[1:] < 1)):
        if np.all(ratio[k + 1 :][frequency[k + 1 :] <= 2 * frequency[k + 1]] < 1):
            return interpolate_crossing(frequency[k : k + 2], ratio[k : k + 2])
    return float("nan")


def interpolate_crossing(frequency: np.ndarray, ratio: np.ndarray) -> float:
    """Frequency between two at which a magnitude passes 1, straight in logarithms."""
    x, y = np.log(frequency), np.log(ratio)
    return float(np.exp(brentq(lambda at: np.interp(at, x, y), *x)))


def find_output(model: SampledModel, name: str) -> int:
    """Place of an output of the model."""
    names = [variable.name for variable in model.outputs]
    if name not in names:
        remedy = "name it among the outputs when linearising"
        raise ModelError([Flaw(f"output.{name}", "is no output of the model", remedy)], "loop")
    return names.index(name)


def _choose_grid(period: float, frequency: ArrayLike | None) -> np.ndarray:
    """Frequencies to half of a sample rate, evenly spaced in decades."""
    highest = 0.5 / period
    if frequency is None:
        return np.geomspace(LOWEST * highest, HIGHEST * highest, GRID_POINTS)
    grid = np.atleast_1d(np.asarray(frequency, float))
    good = grid.ndim == 1 and grid.size and np.isfinite(grid).all() and grid[0] > 0 and (np.diff(grid) > 0).all()
    if not good or grid[-1] > highest * (1 + 1e-9):
        what = f"must be increasing numbers above 0 and up to {highest:g} Hz, half of the sample rate"
        raise ModelError([Flaw("frequency", what)], "loop")
    return grid


MOST_CYCLES, LONGEST = 200_000, 20_000
"""Cycles that may be asked for, and that are looked at by default."""


def respond_held_step(
    model: SampledModel, signal: str, output: str, duration: float | None = None, height: float = 1.0
) -> TimeResponse:
    """The response of an output to a held signal that is driven from outside and jumps at time 0, from rest.

    Args:
        signal: an output of a sampled block, such as the command of an outer loop or a sampled set point.
        output: one of the model's outputs; duration: [s], by default until the slowest motion has settled.
    """
    lifted, row = lift(model, [signal]), find_output(model, output)
    time = _choose_duration(np.linalg.eigvals(lifted.M), lifted.turn_time) if duration is None else duration
    if not 0 < time <= MOST_CYCLES * lifted.turn_time:
        what = f"must be positive and at most {MOST_CYCLES * lifted.turn_time:g} s, is {time:g} s"
        raise ModelError([Flaw("duration", what)], "step")
    cycles = int(np.ceil(time / lifted.turn_time))
    u = np.full(lifted.times.size, height)
    x, values = np.zeros(len(lifted.M)), []
    for _ in range(cycles):
        values.append((lifted.P @ x + lifted.Q @ u).reshape(-1, len(model.outputs))[:, row])
        x = lifted.M @ x + lifted.B @ u
    ticks = np.arange(cycles * model.turn) * model.period
    driven = np.full(ticks.size, height)
    variable = model.memory[find_held(model, [signal])[0]]
    settled = find_settled(lifted.M, lifted.B @ u, lifted.P[row], float(lifted.Q[row] @ u))
    return TimeResponse(variable, model.outputs[row], ticks, driven, np.concatenate(values), settled)


def _choose_duration(multipliers: np.ndarray, turn_time: float) -> float:
    """Some time constants of the slowest motion that decays, or of the fastest one that grows."""
    sizes = np.abs(multipliers[np.abs(multipliers) > 1e-12])
    rates = np.log(sizes) / turn_time
    growing, decaying = rates[rates > 1e-6 / turn_time], -rates[rates < -1e-6 / turn_time]
    if growing.size:
        return float(GROWN / growing.max())
    return float(min(SETTLED / decaying.min(), LONGEST * turn_time)) if decaying.size else 100 * turn_time
