"""Lead compensator: which one damps a vibration, given the frequency response from its actuator to its sensor?

Fed back as u = -C(s) y, a small C moves the pole s1 of a mode by -C(s1) times the residue of G there. Near its peak the
response is that of the mode alone, G(j w) = residue / (zeta w), so that

    arg C(j w) = -arg G(j w)                     the pole moves straight to the left
    |C(j w) G(j w)| = zeta_wanted / zeta - 1     by as much as is wanted

The zero is at the origin, so that what stands still is not answered, and fast vibrations are answered least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.analysis import LinearModel, find_modes, respond
from robodyn.base.errors import Flaw, ModelError

LEAST_LEAD, MOST_LEAD = 5.0, 85.0
"""Phases that one compensator can be made for [deg]."""


@dataclass(frozen=True)
class Lead:
    """A compensator `C(s) = gain s / (s + pole)` in the loop u = -C y.

    Attributes:
        gain: in the input's unit over the output's; pole: [rad/s].
        frequency: of the mode before [Hz]; damping: its ratio before; damped: after, with the loop closed.
        stable: whether all poles of the closed loop are.
    """

    gain: float
    pole: float
    frequency: float
    damping: float
    damped: float
    stable: bool


def design_lead(model: LinearModel, input: str, output: str, *, frequency: float, damping: float) -> Lead:
    """The lead compensator that gives the mode nearest to a frequency the wanted damping ratio.

    Args:
        input, output: of the model, the actuator and the sensor of the loop.
        frequency: near which the mode is [Hz].
        damping: ratio wanted; what the closed loop has is reported by the result, exactly.

    Raises:
        ModelError: where the mode is damped more already, or the phase is out of reach of one compensator.
    """
    mode = find_modes(model).nearest(frequency)
    _check_wish(mode.damping, damping)
    omega = abs(mode.pole)
    G = complex(respond(model, input, output, [mode.frequency]).values[0])
    # Where the response is on the other side of the circle, the loop has the opposite sign.
    turn = -np.angle(G)
    sign = 1.0 if np.cos(turn) >= 0 else -1.0
    lead = float(np.angle(sign * np.exp(1j * turn)))
    if not LEAST_LEAD <= np.degrees(lead) <= MOST_LEAD:
        what = f"the loop needs {np.degrees(lead):.0f} deg of phase lead at {mode.frequency:.4g} Hz"
        remedy = f"choose a sensor or actuator where it is {LEAST_LEAD:g} to {MOST_LEAD:g}"
        raise ModelError([Flaw("output", what, remedy)], "lead compensator")
    # C(j w) = K j w / (j w + p) has the phase atan(p / w) and the size K cos(phase).
    pole = float(omega * np.tan(lead))
    gain = float(sign * (damping / mode.damping - 1) / (abs(G) * np.cos(lead)))
    closed = close_with_lead(model.choose([input], [output]), gain, pole)
    after = find_modes(closed).nearest(mode.frequency)
    stable = bool(np.all(closed.poles().real < 0))
    return Lead(gain, pole, mode.frequency, mode.damping, after.damping, stable)


def _check_wish(present: float, wanted: float) -> None:
    if not 0 < present < wanted < 1:
        what = f"{wanted:g} must lie between that of the mode, {present:.4g}, and 1"
        raise ModelError([Flaw("damping", what)], "lead compensator")


def close_with_lead(channel: LinearModel, gain: float, pole: float) -> LinearModel:
    """A model of one input and one output with the loop u = -C y closed, without inputs and outputs.

    States of the model, then that of the compensator, w' = y - p w:  u = -K (y - p w),  y = C x
    """
    if channel.delays or channel.D[0, 0]:
        what = "has delays or a direct path from input to output"
        raise ModelError([Flaw("model", what, "approximate the delays, choose another output")], "lead compensator")
    A, B, C = channel.A, channel.B, channel.C
    whole = np.block([[A - gain * B @ C, gain * pole * B], [C, np.array([[-pole]])]])
    return LinearModel(whole)
