"""Step response of a sampled loop: how does a signal follow a held one that jumps? Exact from tick to tick.

X+ = M X + B u,   y = P X + Q u    over a cycle of all ticks, u = 1 from the first writing on (see `lifting`)
"""

from __future__ import annotations

import numpy as np

from robodyn.analysis.linear.lifting import find_held, lift
from robodyn.analysis.linear.loop_gain import find_output
from robodyn.analysis.linear.responses import GROWN, SETTLED, TimeResponse, find_settled
from robodyn.analysis.linear.sampled_model import SampledModel
from robodyn.errors import Flaw, ModelError

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
