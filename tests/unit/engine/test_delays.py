"""Delayed signals arrive exactly their delay later, with the right side at each jump."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, integrate
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
DELAY = 0.3


def follow(t, x, d, m, p, out):
    out[0] = d[0]


def one(t, x, d, m, p, out):
    out[0] = 0.0


def clock_signal(t, x, d, m, p, out):
    out[0] = t[0] + m[0]


def memory_signal(t, x, d, m, p, out):
    out[0] = m[0]


def count(t, x, d, m, p, out):
    out[0] = m[0] + 1.0


def delayed_output(t, x, d, m, p, out):
    out[0] = d[0]


def problem(signal, **fields):
    return make_problem(
        kernel(follow),
        1,
        n_m=1,
        n_d=1,
        delayed=kernel(signal),
        delay_times=np.array([DELAY]),
        history_start=np.array([-5.0]),
        outputs=kernel(delayed_output),
        n_y=1,
        **fields,
    )


def run(system, method):
    solver = Solver(method, step=None if method == "dopri5" else 0.07)
    return integrate(system, solver, 0.0, 2.0, np.zeros(1), np.zeros(1), EMPTY, EngineRecording())


@pytest.mark.parametrize("method", ["euler", "rk4", "dopri5"])
def test_before_the_delay_the_history_is_read_and_after_it_the_signal(method):
    result = run(problem(clock_signal), method)
    early, late = result.time < DELAY, result.time > DELAY
    assert np.all(result.y[early] == -5.0)
    np.testing.assert_allclose(result.y[late, 0], result.time[late] - DELAY, atol=1e-14)
    rows = np.flatnonzero(result.time == DELAY)
    assert result.y[rows[0], 0] == -5.0
    assert result.y[rows[-1], 0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("method", ["euler", "rk4", "dopri5"])
def test_jumps_made_by_ticks_are_met_exactly_after_the_delay(method):
    system = problem(
        memory_signal,
        task=np.array([kernel(count)]),
        task_period=np.array([1]),
        task_offset=np.array([0]),
        base_period=0.25,
    )
    result = run(system, method)
    # x is the integral of a staircase: exact for every method when every jump is met, -5 * 0.3 s first, then
    # 1, 2, ...
    expected = -5.0 * DELAY + sum(k * 0.25 for k in range(1, 7)) + 7 * (2.0 - DELAY - 6 * 0.25)
    assert result.x[0] == pytest.approx(expected, abs=1e-12)


def test_no_step_is_longer_than_the_shortest_delay():
    result = run(problem(clock_signal), "dopri5")
    # Up to the resolution of time, 16 units in the last place of the end time 2 s: 7e-15.
    assert result.counters.largest_step <= DELAY + 1e-14


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_break_of_a_reference_is_read_from_its_own_side(method):
    def jump(t, x, d, m, p, out):
        out[0] = 1.0 if t[0] >= 0.5 else -1.0

    system = make_problem(kernel(jump), 1, breaks=np.array([0.5]))
    solver = Solver(method, step=None if method == "dopri5" else 0.07)
    result = integrate(system, solver, 0.0, 2.0, np.zeros(1), EMPTY, EMPTY, EngineRecording())
    # Piecewise constant derivatives are integrated exactly if no stage looks across the break.
    assert result.x[0] == pytest.approx(-0.5 + 1.5, abs=1e-14)
