"""Excitation (chirp, multisine, noise): with which signals is a machine tried out, the same in every run?"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

MODULUS, FACTOR = 2**31 - 1, 16807
"""Of Park and Miller's generator (1988): products stay below 2^46, exact in floating point on every machine."""


@law(
    time="s",
    value="{u}",
    rate="{u}/s",
    acceleration="{u}/s^2",
    amplitude="{u}",
    begin="s",
    duration="s",
    start_frequency="Hz",
    end_frequency="Hz",
    offset="{u}",
    checks={"duration": "positive", "start_frequency": "positive", "end_frequency": "positive"},
    breaks=lambda p: [p["begin"], p["begin"] + p["duration"]],
)
def chirp_reference(time, *, amplitude, start_frequency, end_frequency, duration, begin=0.0, offset=0.0):
    """A sine whose frequency rises exponentially, with its rates; still before and after.

    phi = 2 pi f0 D / ln(r) (r^(t/D) - 1),   r = f1 / f0
    """
    ratio = sym.log(end_frequency / start_frequency)
    # ln(r) = 0 is a steady sine: (r^x - 1) / ln(r) -> x.
    steady = sym.absolute(ratio) < 1e-9
    safe = sym.where(steady, 1.0, ratio)
    share = (time - begin) / duration
    grown = sym.where(steady, share, sym.expm1(safe * share) / safe)
    frequency = start_frequency * sym.where(steady, 1.0, sym.exp(safe * share))
    phase, omega = 2 * math.pi * start_frequency * duration * grown, 2 * math.pi * frequency
    omega_dot = omega * sym.where(steady, 0.0, ratio) / duration
    on = sym.logical_and(time >= begin, time < begin + duration)
    return {
        "value": offset + sym.where(on, amplitude * sym.sin(phase), 0.0),
        "rate": sym.where(on, amplitude * omega * sym.cos(phase), 0.0),
        "acceleration": sym.where(on, amplitude * (omega_dot * sym.cos(phase) - omega * omega * sym.sin(phase)), 0.0),
    }


@law(
    time="s",
    value="{u}",
    rate="{u}/s",
    acceleration="{u}/s^2",
    sines="{u}",
    cosines="{u}",
    frequency="Hz",
    offset="{u}",
    folded=("sines", "cosines"),
    checks={"frequency": "positive", "cosines": "as many as sines"},
)
def multisine_reference(time, *, sines, cosines, frequency, offset=0.0):
    """A Fourier series with its rates: `value = offset + sum_k a_k sin(k w t) + b_k cos(k w t)`, w = 2 pi frequency.

    Args:
        sines, cosines: a_k and b_k for k = 1, 2, ...
    """
    parts = [
        (2 * math.pi * (k + 1) * frequency, sine, cosine)
        for k, (sine, cosine) in enumerate(zip(sines, cosines, strict=True))
    ]
    waves = [(omega, a * sym.sin(omega * time) + b * sym.cos(omega * time)) for omega, a, b in parts]
    return {
        "value": offset + sum(wave for _, wave in waves),
        "rate": sum(omega * (a * sym.cos(omega * time) - b * sym.sin(omega * time)) for omega, a, b in parts),
        "acceleration": sum(-omega * omega * wave for omega, wave in waves),
    }


@law(
    value="{u}",
    mean="{u}",
    deviation="{u}",
    seed="",
    drawn="",
    memory={"drawn": 0.0},
    checks={"deviation": "non-negative", "seed": "positive, whole, below 2^31 - 1"},
    ideal={"deviation": 0.0},
)
def noise(drawn, *, deviation, mean=0.0, seed=1.0):
    """Independent normal samples, the same for the same seed: Park and Miller's generator, Box and Muller's transform.

    Args:
        deviation: standard deviation; the density of the spectrum is 2 T deviation^2 up to half the sample rate.
        seed: whole number from 1 to 2^31 - 2.
    """
    begun = sym.where(drawn == 0, sym.fmod(seed * 48271.0, MODULUS), drawn)
    first = sym.fmod(FACTOR * sym.absolute(begun), MODULUS)
    second = sym.fmod(FACTOR * first, MODULUS)
    radius = sym.sqrt(-2.0 * sym.log(first / MODULUS))
    return {"value": mean + deviation * radius * sym.cos(2 * math.pi * second / MODULUS), "drawn_next": second}
