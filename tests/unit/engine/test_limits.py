"""Limited states meet their limits exactly and stay within them."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem
from support.solvers import any_solver

from robodyn.computation.engine import EngineRecording, Status, integrate

EMPTY = np.zeros(0)
UPPER, LOWER = 0.5, -0.25


def limited_integrator(t, x, d, m, p, out):
    rate = np.cos(t[0])
    out[0] = rate
    if (x[0] >= UPPER and rate > 0) or (x[0] <= LOWER and rate < 0):
        out[0] = 0.0


def limits(t, x, d, m, p, out):
    out[0] = LOWER
    out[1] = UPPER


def exact(t):
    """The integral of cos, held at its limits: it leaves the upper one at pi / 2 and the lower one at 3 pi /
    2."""
    rising = np.minimum(np.sin(t), UPPER)
    falling = np.maximum(UPPER + np.sin(t) - 1, LOWER)
    return np.where(
        t < np.pi / 2, rising, np.where(t < 3 * np.pi / 2, falling, np.minimum(LOWER + np.sin(t) + 1, UPPER))
    )


def run(method, tolerance=1e-6, step=None):
    problem = make_problem(kernel(limited_integrator), 1, n_limited=1, limits=kernel(limits), limited=np.array([0]))
    solver = any_solver(method, rtol=tolerance, atol=tolerance, step=step)
    return integrate(problem, solver, 0.0, 7.0, np.zeros(1), EMPTY, EMPTY, EngineRecording())


@pytest.mark.parametrize("method", ["euler", "rk4", "dopri5", "heun_euler"])
def test_limits_are_never_passed(method):
    result = run(method, step=None if method in ("dopri5", "heun_euler") else 0.01)
    assert result.status is Status.FINISHED
    assert result.events == []
    assert result.y.max() == UPPER
    assert result.y.min() == LOWER


@pytest.mark.parametrize("method", ["dopri5", "heun_euler"])
def test_adaptive_methods_meet_a_limit_exactly(method):
    result = run(method)
    at_limit = result.time[np.flatnonzero(result.y[:, 0] == UPPER)[0]]
    # Stages beyond the limit see the masked derivative, so the polynomial there is off by some ten
    # tolerances.
    assert at_limit == pytest.approx(np.arcsin(UPPER), abs=3e-5)
    np.testing.assert_allclose(result.y[:, 0], exact(result.time), atol=5e-5)


def test_tighter_tolerances_meet_limits_better():
    errors = [np.abs(r.y[:, 0] - exact(r.time)).max() for r in (run("dopri5", 1e-4), run("dopri5", 1e-9))]
    assert errors[1] < 1e-2 * errors[0]


def test_stages_of_fixed_steps_keep_to_the_limits():
    """x rises by 2 a second to its limit 1 and y integrates x: of one step of 0.1 s from 0.9 the last stage is at 1."""

    def rise(t, x, d, m, p, out):
        out[0], out[1] = 2.0, x[0]

    def at_one(t, x, d, m, p, out):
        out[0], out[1] = -1.0, 1.0

    problem = make_problem(kernel(rise), 2, n_limited=1, limits=kernel(at_one), limited=np.array([0]))
    solver = any_solver("rk4", step=0.1)
    result = integrate(problem, solver, 0.0, 0.1, np.array([0.9, 0.0]), EMPTY, EMPTY, EngineRecording())
    assert result.x[0] == 1.0
    # Runge's rule on 0.9, 1, 1 and 1, not 1.1.
    assert result.x[1] == pytest.approx(0.1 / 6 * (0.9 + 2 * 1.0 + 2 * 1.0 + 1.0), rel=1e-14)


def test_rows_beside_a_limit_that_is_met_are_knots():
    problem = make_problem(kernel(limited_integrator), 1, n_limited=1, limits=kernel(limits), limited=np.array([0]))
    recording, solver = (
        EngineRecording("times", times=np.linspace(0, 7, 701)),
        any_solver("dopri5", rtol=1e-8, atol=1e-8),
    )
    result = integrate(problem, solver, 0.0, 7.0, np.zeros(1), EMPTY, EMPTY, recording)
    # The upper one at 30 deg, the lower one where 1/2 + sin - 1 = -1/4, the upper one again where -1/4 + sin + 1 = 1/2.
    met = np.array([np.arcsin(0.5), np.pi - np.arcsin(0.25), 2 * np.pi - np.arcsin(0.25)])
    beside = sorted(int(k) for row in np.floor(100 * met) for k in (row, row + 1))
    assert np.flatnonzero(result.knots).tolist() == [0, *beside]


@pytest.mark.parametrize("changed", ["state", "memory"])
def test_an_event_that_leads_beyond_a_limit_ends_at_it(changed):
    """x rises to 0.4 at 0.4 s: there an action makes it 2, or lowers its limit to 0.1."""

    def rise(t, x, d, m, p, out):
        out[0] = 1.0 if x[0] < m[0] else 0.0

    def at_memory(t, x, d, m, p, out):
        out[0], out[1] = -1.0, m[0]

    def guard(t, x, d, m, p, out):
        out[0] = t[0] - 0.4

    def act(t, x, d, m, p, out):
        out[0], out[1] = (2.0, m[0]) if changed == "state" else (x[0], 0.1)

    problem = make_problem(
        kernel(rise),
        1,
        n_m=1,
        n_limited=1,
        limits=kernel(at_memory),
        limited=np.array([0]),
        n_guards=1,
        guards=kernel(guard),
        guard_rates=kernel(lambda t, x, d, m, p, out: out.__setitem__(0, 1.0)),
        guard_action=np.array([kernel(act)]),
    )
    solver = any_solver("dopri5", rtol=1e-8, atol=1e-8)
    result = integrate(problem, solver, 0.0, 1.0, np.zeros(1), np.array([0.5]), EMPTY, EngineRecording())
    limit = 0.5 if changed == "state" else 0.1
    after = result.y[result.time > 0.4 + 1e-9, 0]
    assert after.tolist() == [limit] * len(after)
    # The row right after the event too.
    assert result.y[np.flatnonzero(np.diff(result.time) == 0) + 1, 0].tolist() == [limit]
