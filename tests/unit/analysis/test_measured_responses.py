"""Do measured frequency responses meet the exact ones as often as their intervals say, in loops too?"""

import numpy as np
import pytest
from scipy.signal import freqz, lfilter

from robodyn.analysis.measurement.responses import estimate_response
from robodyn.base.errors import ModelError
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo

RATE, N = 1000.0, 64_000
B, A = [0.0, 0.02, 0.018], [1.0, -1.9, 0.94]
"""A resonance at some 30 Hz."""


def record(**columns):
    time = np.arange(N) / RATE
    infos = tuple(SignalInfo(name, "V") for name in columns)
    outcome = Outcome(OutcomeKind.FINISHED, "", time[-1])
    return Run(time, np.column_stack(list(columns.values())), infos, outcome, Provenance("measured"))


def exact(response):
    return freqz(B, A, response.frequency, fs=RATE)[1]


def test_intervals_of_an_open_loop_hold_the_exact_response():
    rng = np.random.default_rng(1)
    u = rng.normal(size=N)
    found = estimate_response(record(u=u, y=lfilter(B, A, u) + 0.05 * rng.normal(size=N)), "u", "y", resolution=0.5)
    true = exact(found)
    lower, upper = found.interval
    assert 30 < found.told.sum() < len(true)
    held = ((lower < abs(true)) & (abs(true) < upper))[found.told]
    # Windows of 2 s are long against the decay. Neighbours are correlated: three deviations of half as many.
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / (held.size / 2)) < held.mean()
    turned = (np.angle(found.values / true) / found.deviation)[found.told]
    assert np.sqrt(np.mean(turned**2)) == pytest.approx(1.0, abs=0.25)
    assert found.coherence[found.frequency > 300].max() < 0.9 < found.coherence[np.argmax(abs(true))]


def test_periods_of_a_multisine_leak_nothing():
    t = np.arange(N) / RATE
    u = sum(np.cos(2 * np.pi * k * t + k * k) for k in range(1, 60))
    y = lfilter(B, A, u)
    # The start is over after a second.
    data = record(u=np.roll(u, 0)[:N], y=y)
    data = Run(data.time[2000:], data.values[2000:], data.infos, data.outcome, data.provenance)
    found = estimate_response(data, "u", "y", period=1.0)
    excited = found.frequency < 59.5
    np.testing.assert_allclose(found.values[excited], exact(found)[excited], rtol=1e-6)


def test_a_reference_makes_the_response_of_a_loop_right():
    """u = r - 2 y with noise on y: without the reference H tends to the controller's inverse."""
    rng = np.random.default_rng(2)
    r, noise = rng.normal(size=N), 0.5 * rng.normal(size=N)
    y, u = np.zeros(N), np.zeros(N)
    plant = np.zeros(N)
    for k in range(N):
        if k >= 2:
            plant[k] = -A[1] * plant[k - 1] - A[2] * plant[k - 2] + B[1] * u[k - 1] + B[2] * u[k - 2]
        y[k] = plant[k] + noise[k]
        u[k] = r[k] - 2 * y[k]
    data = record(r=r, u=u, y=y)
    band = slice(2, 20)
    plain, right = (estimate_response(data, "u", "y", reference=ref, resolution=2.0) for ref in (None, "r"))
    errors = [np.abs(f.values[band] / exact(f)[band] - 1) for f in (plain, right)]
    assert np.median(errors[1]) < 0.25 * np.median(errors[0])
    assert np.mean(errors[1] < 3 * np.sqrt(2) * right.deviation[band]) > 0.9


def test_what_tells_nothing_is_refused():
    data = record(u=np.ones(N), y=np.arange(N) % 7.0)
    with pytest.raises(ModelError, match=r"u: is constant"):
        estimate_response(data, "u", "y")
    with pytest.raises(ModelError, match=r"z: is not in the data"):
        estimate_response(data, "y", "z")
    with pytest.raises(ModelError, match=r"do not fit twice"):
        estimate_response(data, "y", "y", resolution=0.02)
