"""Loop gains and margins: how much more gain, phase lag and delay until a loop is unstable?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from robodyn.analysis.model_stand_in import stand_in
from robodyn.base import Array, frozen, refuse
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block
from robodyn.description.model.block import name_results

from .responses import GROWN, SETTLED, FrequencyResponse, TimeResponse, find_settled
from .sampling import STABLE, Lifted, SampledModel, find_held, lift
from .stability import join_branches

# --------------------------------------------------------------------------------------------------
# Controller gains: which numbers of a block are its gains?


STRAIGHT = 1e-9
"""Part of the change of an output by which three points on a line may miss it: rounding."""


def find_gains(block: Block) -> tuple[str, ...]:
    """Numbers of a law in which its outputs or its sums are straight lines, limits apart: found by trying.

    The law is called with inputs drawn at random and the number at 0, 1 and 2 times its value.
    """
    ideal = block.info.ideal
    numbers = [key for key, value in block.parameters.items() if isinstance(value, float) and value]
    return tuple(name for name in numbers if name not in ideal and name != "period" and _is_gain(block, name))


def _is_gain(block: Block, name: str) -> bool:
    # Parameters as given, limits ideal, and anything for what is read.
    generator = np.random.default_rng(0)
    numbers = {**block.parameters, **block.info.ideal}
    arguments: dict[str, Any] = {}
    for argument in arguments_of(block.function):
        source = block.inputs.get(argument.name)
        if block.source_of(argument) == "model":
            arguments[argument.name] = stand_in(block)
        elif block.source_of(argument) == "axes":
            arguments[argument.name] = tuple(generator.normal(size=len(stand_in(block).axes)))
        elif argument.name in numbers:
            # Numbers that divide by zero without an error.
            value = numbers[argument.name]
            arguments[argument.name] = tuple(map(np.float64, value)) if isinstance(value, tuple) else np.float64(value)
        elif isinstance(source, (tuple, list)):
            arguments[argument.name] = tuple(generator.normal(size=len(source)))
        else:
            arguments[argument.name] = np.float64(generator.normal())
    value = np.float64(block.parameters[name])
    with np.errstate(all="ignore"):
        zero, one, two = (_results(block, arguments | {name: factor * value}) for factor in (0.0, 1.0, 2.0))
    if not (np.isfinite(zero).all() and np.isfinite(two).all()):
        return False
    size = np.abs(one - zero).max(initial=0.0)
    return bool(size > 0 and np.abs(two - 2 * one + zero).max() <= STRAIGHT * size)


def _results(block: Block, arguments: dict[str, Any]) -> Array:
    """Outputs, and the next values of memory that sums up: they follow it one to one."""
    results, memory = _call(block, arguments), set(block.memory_names)
    for name in memory:
        following = _call(block, arguments | {name: arguments[name] + 1.0})[f"{name}_next"]
        if abs(following - results[f"{name}_next"] - 1) > STRAIGHT:
            del results[f"{name}_next"]
    return np.hstack([np.zeros(0), *(np.ravel(np.asarray(value, float)) for value in results.values())])


def _call(block: Block, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return name_results(block, block.function(**arguments))


# --------------------------------------------------------------------------------------------------
# Gain, phase and delay margins: how far is a sampled loop from instability?
#
# The loop is cut at held signals and closed by a factor k on all of them, u = k w. It is at the limit of stability
# where k lambda = 1 for an eigenvalue lambda of L(z) (see `lifting`) at some z = e^(i omega T): the eigenvalues' curves
# over half the unit circle of z, the other half being their mirror, are followed and give
#
#     gain margins    k = 1 / lambda       where lambda is real and positive
#     phase margin    |angle of lambda|    where |lambda| = 1
#
# The delay margin comes from the loop with the signal read later by tau, whose multipliers are found anew for each
# tau.


GRID_POINTS = 600
LOWEST_ANGLE = 1e-5
"""Of z [rad], from which on curves are followed; integrators make them infinite at 0."""
REAL = 1e-4
"""Part of its magnitude up to which a number at the end of a curve, or refined, is real."""
SAME = 1e-3
"""Part by which limits of gain differ at least; within it they are found again by the multipliers themselves."""
MOST_GAIN = 1e9
HALVINGS = 45
SHORTEST_DELAY, LONGEST_DELAY, DELAYS_TRIED, DELAY_ACCURACY = 0.05, 100.0, 16, 1e-6
"""Where a delay margin is searched, in sample times of the signal, and how accurately it is found."""


@frozen
class Margins:
    """Margins of a loop.

    Attributes:
        signals: held ones at which it is cut.
        stable: as it is; radius: its largest multiplier's magnitude, of a cycle.
        gain_from, gain_to: factors on the signals between which it is stable, the stable range nearest to 1; 0 and inf
            where there is no limit, nan where no factor makes it stable.
        phase: [deg], delay: [s]: what may be added; nan where it is unstable, inf where there is no limit.
    """

    JSON = """
    signals
    stable
    radius: of the closed loop's multipliers
    gain_from: stable from this factor of its gain ...
    gain_to: ... up to this one
    phase: margin [deg]
    delay: margin [s]
    """
    signals: tuple[str, ...]
    stable: bool
    radius: float
    gain_from: float
    gain_to: float
    phase: float
    delay: float


def find_margins(model: SampledModel, signals: str | Sequence[str], delay: bool = True) -> Margins:
    """Gain, phase and delay margins of a loop cut at one held signal, or at several that are scaled together.

    Args:
        delay: whether that margin, which takes longest, is looked for; else it is nan.
    """
    names = (signals,) if isinstance(signals, str) else tuple(signals)
    lifted = lift(model, names)
    curves = EigenvalueCurves(lifted)
    radius, limits = lifted.radius(), curves.real_gains()
    ranges = count_growing(lifted.count_growing, limits)
    gains = [_polish(lifted, limit) for limit in find_stable_range(ranges)]
    if radius > 1 + STABLE:
        return Margins(names, False, radius, gains[0], gains[1], float("nan"), float("nan"))
    at_unit = curves.crossings(lambda value: np.abs(value) - 1)
    phase = min((abs(np.angle(value)) for _, value in at_unit), default=np.inf)
    late = _find_delay(model, lifted, names) if delay else float("nan")
    return Margins(names, True, radius, gains[0], gains[1], float(np.degrees(phase)), late)


def count_growing(count: Callable[[float], int], limits: Sequence[float]) -> list[tuple[float, float, int]]:
    """Ranges of a gain from 0 to inf, and how many motions grow in each.

    Args:
        count: of motions that grow with a gain; limits: gains at which it may change; those almost the same count once.
    """
    edges = [0.0]
    for limit in sorted(limits):
        edges += [limit] if limit > edges[-1] * (1 + SAME) else []
    ranges: list[tuple[float, float, int]] = []
    for low, high in pairwise([*edges, np.inf]):
        growing = count(choose_between(low, high))
        joined = ranges and ranges[-1][2] == growing
        ranges = [*ranges[:-1], (ranges[-1][0], high, growing)] if joined else [*ranges, (low, high, growing)]
    return ranges


def choose_between(low: float, high: float) -> float:
    """A gain inside a range."""
    if np.isinf(high):
        return 2 * low + 1
    return float(np.sqrt(low * high)) if low else high / 2


def _polish(lifted: Lifted, limit: float) -> float:
    """A limit of stability, where the largest multiplier's magnitude says it is.

    Beside an integrator, whose multiplier stays at one, that is where another one passes it by more than rounding.
    """
    ends = limit * (1 - 2 * SAME), limit * (1 + 2 * SAME)
    for one in (1.0, 1 + STABLE) if 0 < limit < np.inf else ():
        if (lifted.radius(ends[0]) - one) * (lifted.radius(ends[1]) - one) < 0:
            return float(brentq(lambda gain, one=one: lifted.radius(gain) - one, *ends, rtol=1e-12))
    return limit


def find_stable_range(ranges: Sequence[tuple[float, float, int]]) -> tuple[float, float]:
    """The stable range of a gain that is nearest to 1, of those in which nothing grows; nan where there is none."""
    stable = [(low, high) for low, high, growing in ranges if not growing]
    return min(stable, key=lambda ends: max(ends[0] - 1, 1 - ends[1], 0.0), default=(float("nan"), float("nan")))


class EigenvalueCurves:
    """The eigenvalues of L(e^(i theta)) over theta from almost 0 to pi, each curve a column.

    Args:
        estimated: whether the values are estimates, which are far cheaper; what is refined is exact in any case.
    """

    def __init__(self, lifted: Lifted, estimated: bool = False) -> None:
        self.lifted = lifted
        # Evenly spaced in decades and on the circle, and close around the multipliers of cut and
        # closed loop.
        even = [np.geomspace(LOWEST_ANGLE, np.pi, GRID_POINTS // 2), np.linspace(0, np.pi, GRID_POINTS // 2)[1:]]
        multipliers = np.concatenate([np.linalg.eigvals(lifted.M), lifted.multipliers()])
        multipliers = multipliers[np.abs(multipliers) > 0.5]
        width = np.maximum(np.abs(1 - np.abs(multipliers)), 1e-4)
        beside = np.abs(np.angle(multipliers))[:, None] + width[:, None] * np.linspace(-3, 3, 13)
        angles = np.concatenate([*even, beside.ravel()])
        angles = angles[(angles >= LOWEST_ANGLE) & (angles <= np.pi)]
        self.angles = np.unique(np.round(angles, 12).clip(LOWEST_ANGLE, np.pi))
        self.values = join_branches(list(self._eigenvalues(self.angles, estimated)))

    def _eigenvalues(self, angles: Array, estimated: bool = False) -> Array:
        gain = self.lifted.estimate_gain if estimated else self.lifted.gain
        gains = gain(np.exp(1j * angles))
        # A matrix of one element is its eigenvalue.
        return gains[:, :, 0] if gains.shape[-1] == 1 else np.linalg.eigvals(gains)

    def real_gains(self) -> list[float]:
        """1 / lambda wherever a curve meets the positive real axis, its ends included."""
        crossings = [value for _, value in self.crossings(np.imag)]
        # At theta = 0 all is real, but an integrator's values go to infinity; at pi it is real or comes in pairs.
        crossings += [first.real for first, second in self.values[:2].T if abs(first - second) <= REAL * abs(second)]
        crossings += [value for value in self.values[-1] if abs(value.imag) <= REAL * abs(value)]
        return [float(1 / value.real) for value in crossings if value.real > 1 / MOST_GAIN]

    def crossings(self, measure: Callable[[Array], Array]) -> Iterator[tuple[float, complex]]:
        """Angle of z and lambda wherever a measure of lambda changes its sign along a curve."""
        signs = measure(self.values) > 0
        for k, branch in np.argwhere(signs[:-1] != signs[1:]):
            ends = self.angles[k : k + 2].copy(), self.values[k : k + 2, branch].copy()
            angle, value = self._refine(measure, *ends)
            # A change of sign through infinity is none.
            if abs(measure(np.array(value))) <= REAL * max(abs(value), 1.0) and abs(value) < MOST_GAIN:
                yield angle, value

    def _refine(self, measure: Callable[[Array], Array], angles: Array, values: Array) -> tuple[float, complex]:
        """The point of a curve between two: of the eigenvalues there the one nearest to the straight line between
        them."""
        above, width = measure(values[0]) > 0, angles[1] - angles[0]

        def at(angle: float) -> float:
            if angle in angles:
                return float(measure(values[angles == angle][0]))
            eigenvalues = self._eigenvalues(np.array([angle]))[0]
            value = eigenvalues[np.argmin(np.abs(eigenvalues - np.interp(angle, angles, values)))]
            side = 0 if (measure(value) > 0) == above else 1
            angles[side], values[side] = angle, value
            return float(measure(value))

        root = brentq(at, *angles, xtol=width / 2**HALVINGS, maxiter=4 * HALVINGS, disp=False)
        return float(root), complex(values[np.argmin(np.abs(angles - root))])


def _find_delay(model: SampledModel, lifted: Lifted, signals: Sequence[str]) -> float:
    """The least extra delay [s] at which a multiplier's magnitude is one; inf where it is beyond what is searched."""

    def excess(delay: float) -> float:
        return lift(model, signals, delay).radius() - 1 - STABLE

    period = lifted.turn_time * len(signals) / max(lifted.times.size, 1)
    delays = [0.0, *(period * np.geomspace(SHORTEST_DELAY, LONGEST_DELAY, DELAYS_TRIED)).tolist()]
    for low, high in pairwise(delays if lifted.closes else ()):
        if excess(high) > 0:
            return float(brentq(excess, low, high, rtol=DELAY_ACCURACY)) if excess(low) < 0 else low
    return float("inf")


# --------------------------------------------------------------------------------------------------
# Frequency response of a sampled loop: its gain round the loop, what it follows, and its bandwidth.
#
# A held signal that swings as u_j = e^(i omega t_j) makes everything swing; of the answer at the writings or ticks the
# part at the same frequency counts, (1 / n) sum_j y_j e^(-i omega t_j). With one sample time that is the transfer
# function in z; with several there are other frequencies too, which it leaves out (first harmonic).
#
# The step response is exact from tick to tick: X+ = M X + B u, y = P X + Q u over a cycle of all ticks (see
# `lifting`).


LOOP_POINTS = 500
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

    def gain(at: Array) -> Array:
        # Of what is written, of what is read [1], (n,), for one cut signal.
        omega = 2 * np.pi * at
        driven = np.exp(1j * omega[:, None] * lifted.times)
        written = (lifted.gain(np.exp(1j * omega * lifted.turn_time)) @ driven[:, :, None])[:, :, 0]
        return -np.mean(written * driven.conj(), axis=1)

    values = gain(grid)
    if frequency is None:
        grid, values = refine_curve(gain, grid, values)
    return FrequencyResponse(variable, variable, grid, values)


def refine_curve(gain: Callable[[Array], Array], frequency: Array, values: Array) -> tuple[Array, Array]:
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

    For a setpoint that is the closed loop; for the command of an outer loop it is the inner one with the outer cut.

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


def interpolate_crossing(frequency: Array, ratio: Array) -> float:
    """Frequency between two at which a magnitude passes 1, straight in logarithms."""
    x, y = np.log(frequency), np.log(ratio)
    return float(np.exp(brentq(lambda at: np.interp(at, x, y), *x)))


def find_output(model: SampledModel, name: str) -> int:
    """Place of an output of the model."""
    names = [variable.name for variable in model.outputs]
    if name not in names:
        remedy = "name it among the outputs when linearising"
        refuse(f"output.{name}", "is not an output of the model", remedy, "loop")
    return names.index(name)


def _choose_grid(period: float, frequency: ArrayLike | None) -> Array:
    """Frequencies to half of a sample rate, evenly spaced in decades."""
    highest = 0.5 / period
    if frequency is None:
        return np.geomspace(LOWEST * highest, HIGHEST * highest, LOOP_POINTS)
    grid = np.atleast_1d(np.asarray(frequency, float))
    good = grid.ndim == 1 and grid.size and np.isfinite(grid).all() and grid[0] > 0 and (np.diff(grid) > 0).all()
    if not good or grid[-1] > highest * (1 + 1e-9):
        what = f"must be increasing numbers above 0 and up to {highest:g} Hz, half of the sample rate"
        refuse("frequency", what, source="loop")
    return grid


MOST_CYCLES, LONGEST = 200_000, 20_000
"""Cycles that may be asked for, and that are looked at by default."""


def respond_held_step(
    model: SampledModel, signal: str, output: str, duration: float | None = None, height: float = 1.0
) -> TimeResponse:
    """The response of an output to a held signal that is driven from outside and jumps at time 0, from rest.

    Args:
        signal: an output of a sampled block, such as the command of an outer loop or a sampled setpoint.
        output: one of the model's outputs; duration: [s], by default until the slowest motion has settled.
    """
    lifted, row = lift(model, [signal]), find_output(model, output)
    time = _choose_duration(np.linalg.eigvals(lifted.M), lifted.turn_time) if duration is None else duration
    if not 0 < time <= MOST_CYCLES * lifted.turn_time:
        what = f"must be positive and at most {MOST_CYCLES * lifted.turn_time:g} s, is {time:g} s"
        refuse("duration", what, source="step")
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


def _choose_duration(multipliers: Array, turn_time: float) -> float:
    """Some time constants of the slowest motion that decays, or of the fastest one that grows."""
    sizes = np.abs(multipliers[np.abs(multipliers) > 1e-12])
    rates = np.log(sizes) / turn_time
    growing, decaying = rates[rates > 1e-6 / turn_time], -rates[rates < -1e-6 / turn_time]
    if growing.size:
        return float(GROWN / growing.max())
    return float(min(SETTLED / decaying.min(), LONGEST * turn_time)) if decaying.size else 100 * turn_time
