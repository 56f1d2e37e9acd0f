"""The pendulum against its exact solution by Jacobi's elliptic functions.

sin(theta / 2) = k sn(K(k) - omega t, k), k = sin(theta_0 / 2), released at rest (any book of mechanics).
"""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from robodyn import Solver, simulate
from robodyn.description.catalog import pendulum


def exact_angle(t: np.ndarray, start: float, length: float, gravity: float = 9.81) -> np.ndarray:
    k = np.sin(start / 2)
    sn, *_ = ellipj(ellipk(k * k) - np.sqrt(gravity / length) * t, k * k)
    return 2 * np.arcsin(k * sn)


@pytest.mark.parametrize(
    "solver",
    [Solver("dopri5", rtol=1e-10, atol=1e-12), Solver("rodas4", rtol=1e-8, atol=1e-10)],
    ids=lambda s: s.method,
)
def test_the_pendulum_follows_the_elliptic_function(solver, proof):
    run = simulate(pendulum(length=0.7), solver)
    t = run.time
    # The error of 10 s grows about linearly: some 1e3 times the tolerance of a step.
    ours, exact = run["hinge.position"].values, exact_angle(t, 2.0, 0.7)
    source, within = "Jacobi's elliptic functions (SciPy)", 2e3 * solver.rtol
    what = f"pendulum let go at 115 deg, 10 s, {solver.method} at rtol {solver.rtol:.0e}"
    proof(what, kind="closed form", source=source, ours=ours, reference=exact, within=within, unit="rad")


def test_interpolated_positions_are_as_good_as_the_steps():
    run = simulate(pendulum(), Solver("dopri5", rtol=1e-8, atol=1e-10))
    t = np.linspace(0, 10, 3001)
    np.testing.assert_allclose(run["hinge.position"](t), exact_angle(t, 2.0, 1.0), atol=1e-5)


def test_energy_is_kept():
    run = simulate(pendulum(), Solver("dopri5", rtol=1e-10, atol=1e-12))
    assert run.statistics.energy_error < 1e-9
