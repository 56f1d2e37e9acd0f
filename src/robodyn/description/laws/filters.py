"""Digital filters (low-pass, notch, lead): what is left of a sampled signal, designed by frequency and damping?

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
