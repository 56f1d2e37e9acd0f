"""Digital filters (low-pass, notch, lead), and compensation beside the loop: what is left of a signal, what is added?

Analogue filters made digital by the bilinear transform, bent so that both agree exactly at the design frequency w:

    s = K (z - 1) / (z + 1),   K = w / tan(w T / 2)

Their memory is that of the transposed direct form II: `y = b0 u + m1`, `m1' = b1 u - a1 y + m2`, `m2' = b2 u - a2 y`.
"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

UNITS = {
    **dict.fromkeys(("value", "output", "first", "second"), "{u}"),
    "frequency": "Hz",
    "period": "s",
}
FLAT = math.sqrt(0.5)
"""Damping of a low-pass without a peak (Butterworth)."""
BELOW = {"frequency": "positive, below Nyquist", "period": "positive"}


def _filter(value, first, second, numerator, denominator, omega, period):
    """One sample of the analogue filter `numerator(s) / denominator(s)`, coefficients of s^2, s, 1."""
    K = omega / sym.tan(omega * period / 2)
    # s^2, s, 1 times (z + 1)^2: K^2 (1, -2, 1), K (1, 0, -1), (1, 2, 1).
    b, a = (
        (n2 * K * K + n1 * K + n0, 2 * (n0 - n2 * K * K), n2 * K * K - n1 * K + n0)
        for n2, n1, n0 in (numerator, denominator)
    )
    b, (a1, a2) = tuple(entry / a[0] for entry in b), (a[1] / a[0], a[2] / a[0])
    output = b[0] * value + first
    return {
        "output": output,
        "first_next": b[1] * value - a1 * output + second,
        "second_next": b[2] * value - a2 * output,
    }


@law(units=UNITS, damping="", memory={"first": 0.0, "second": 0.0}, checks=BELOW | {"damping": "positive"})
def sampled_low_pass(value, first, second, *, frequency, period, damping=FLAT):
    """Second-order low-pass: `w^2 / (s^2 + 2 d w s + w^2)`; -3 dB at its frequency with the default damping."""
    w = 2 * math.pi * frequency
    return _filter(value, first, second, (0.0, 0.0, w * w), (1.0, 2 * damping * w, w * w), w, period)


@law(
    units=UNITS,
    width="",
    depth="",
    memory={"first": 0.0, "second": 0.0},
    checks=BELOW | {"width": "positive", "depth": "non-negative"},
)
def sampled_notch(value, first, second, *, frequency, period, width=1.0, depth=0.0):
    """Notch against a resonance: `(s^2 + g b w s + w^2) / (s^2 + b w s + w^2)`, gain g at its frequency.

    Args:
        width: b, of the band that is more than 3 dB down where the depth is 0, over the frequency.
        depth: g, what is left at the frequency; 0 for nothing.
    """
    w = 2 * math.pi * frequency
    numerator, denominator = (1.0, depth * width * w, w * w), (1.0, width * w, w * w)
    return _filter(value, first, second, numerator, denominator, w, period)


@law(
    units={"value": "", "output": "{u}", "first": "{u}", "gain": "", "frequency": "Hz", "lead": "rad", "period": "s"},
    memory={"first": 0.0},
    checks=BELOW | {"lead": "within 90 deg"},
)
def sampled_lead(value, first, *, frequency, lead, period, gain=1.0):
    """Phase lead of a given angle at a given frequency, where its gain is `gain`: `g r (s + w / r) / (s + w r)`.

    r = (1 + sin(lead)) / cos(lead), less than 90 deg; a negative lead is a lag
    """
    w = 2 * math.pi * frequency
    r = (1 + sym.sin(lead)) / sym.cos(lead)
    K = w / sym.tan(w * period / 2)
    b0, b1, a0, a1 = K + w / r, w / r - K, K + w * r, w * r - K
    output = gain * r * b0 / a0 * value + first
    return {"output": output, "first_next": gain * r * b1 / a0 * value - a1 / a0 * output}


# --------------------------------------------------------------------------------------------------
# Compensation beside the loop (disturbance observer, friction feedforward, input shaping): what is known before?


@law(
    command="{F}",
    velocity="{x}/s",
    units={"disturbance": "{F}"},
    momentum="{F} s",
    inertia="{F} s^2/{x}",
    frequency="Hz",
    period="s",
    memory={"momentum": 0.0},
    checks={"inertia": "positive", "frequency": "positive", "period": "positive"},
)
def disturbance_observer(command, velocity, momentum, *, inertia, frequency, period):
    """Force beside the command that an axis must feel, from its momentum: `d_dot = w (f - command - d)`.

        d_k = g (J v_k - p_k),   p_{k+1} = p_k + T (command_k + d_k),   g T = 1 - exp(-2 pi f T)

    A constant force is found as `1 - exp(-w t)`, exactly at the samples, if the command is held in between.

    Args:
        command: force that acts until the next sample, all that is compensated included.
        inertia: J, that the axis feels.
    """
    gain = (1.0 - sym.exp(-2 * math.pi * frequency * period)) / period
    estimate = gain * (inertia * velocity - momentum)
    return {"disturbance": estimate, "momentum_next": momentum + period * (command + estimate)}


@law(
    target_velocity="{x}/s",
    target_acceleration="{x}/s^2",
    torque_command="{F}",
    coulomb="{F}",
    static="{F}",
    viscous="{F} s/{x}",
    stribeck_velocity="{x}/s",
    checks=dict.fromkeys(("coulomb", "static", "viscous"), "non-negative") | {"stribeck_velocity": "positive"},
)
def reversal_feed_forward(target_velocity, target_acceleration, *, coulomb, static, stribeck_velocity, viscous=0.0):
    """Force against friction that sticks at a reversal, from the wanted motion: it turns as soon as that does.

        f = sign (Tc + (max(Ts, Tc) - Tc) exp(-(v / vs)^2)) + B v

    with the sign of v, where v is 0 that of the acceleration, which says where the motion will go.

    Args:
        static: level that has to be broken through; stribeck_velocity: over which it falls to the sliding one.
    """
    v = target_velocity
    direction = sym.where(v == 0, sym.sign(target_acceleration), sym.sign(v))
    excess = (sym.maximum(static, coulomb) - coulomb) * sym.exp(-((v / stribeck_velocity) ** 2))
    return {"torque_command": direction * (coulomb + excess) + viscous * v}


def shaper_delay(frequency, damping=0.0):
    """Time between the steps of a shaped input [s]: half a period of the damped oscillation, `1 / (2 f sqrt(1 - d^2))`.

    Args:
        frequency: of the oscillation without damping [Hz].
    """
    return 1.0 / (2.0 * frequency * math.sqrt(1.0 - damping**2))


def _decay(damping):
    """Part of an oscillation that is left after half a period: `exp(-pi d / sqrt(1 - d^2))`, nothing for d = 1."""
    return sym.exp(-math.pi * damping / sym.sqrt(sym.maximum(1.0 - damping * damping, 1e-30)))


@law(value="{u}", late="{u}", output="{u}", damping="", checks={"damping": "non-negative, below one"})
def zv_shaper(value, late, *, damping=0.0):
    """Input shaped so that an oscillation cancels itself (Singer and Seering 1990): `y = (u + K u(t - T)) / (1 + K)`.

    Args:
        late: the same signal, delayed by half a period of the damped oscillation, T = `shaper_delay`.
        damping: of the oscillation, d; K = exp(-pi d / sqrt(1 - d^2)).
    """
    K = _decay(damping)
    return {"output": (value + K * late) / (1.0 + K)}


@law(value="{u}", late="{u}", later="{u}", output="{u}", damping="", checks={"damping": "non-negative, below one"})
def zvd_shaper(value, late, later, *, damping=0.0):
    """Input shaped twice, which leaves little of the oscillation where its frequency is known badly.

    y = (u + 2 K u(t - T) + K^2 u(t - 2 T)) / (1 + K)^2

    Args:
        late, later: the signal delayed by T and by 2 T, T = `shaper_delay`.
    """
    K = _decay(damping)
    return {"output": (value + 2.0 * K * late + K * K * later) / (1.0 + K) ** 2}
