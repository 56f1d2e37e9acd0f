"""Rows are kept where asked: points of steps, both sides of jumps, given times by their right limits."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem
from support.solvers import any_solver

from robodyn.computation.engine import EngineRecording, integrate

EMPTY = np.zeros(0)


def oscillate(t, x, d, m, p, out):
    out[0] = x[1]
    out[1] = -x[0]


def with_memory(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = m[0]


def count(t, x, d, m, p, out):
    out[0] = m[0] + 1.0


def step_reference(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = 1.0 if t[0] >= 0.35 else 0.0


def sampled(period=0.1):
    return make_problem(
        kernel(oscillate),
        2,
        n_m=1,
        outputs=kernel(with_memory),
        n_y=2,
        task=np.array([kernel(count)]),
        task_period=np.array([1]),
        task_offset=np.array([0]),
        base_period=period,
    )


def run(problem, recording, method="dopri5", t_end=1.0):
    start, memory = np.array([1.0, 0.0]), np.zeros(problem.n_m)
    solver = any_solver(method, rtol=1e-8, atol=1e-10, step=None if method == "dopri5" else 0.03)
    return integrate(problem, solver, 0.0, t_end, start, memory, EMPTY, recording)


def test_both_sides_of_a_tick_are_kept():
    result = run(sampled(), EngineRecording(), t_end=0.35)
    assert result.time[0] == 0.0
    assert result.y[0, 1] == 1.0
    for k in (1, 2, 3):
        rows = np.flatnonzero(result.time == k * 0.1)
        assert result.y[rows, 1].tolist() == [k, k + 1]


def test_both_sides_of_a_break_are_kept():
    problem = make_problem(kernel(oscillate), 2, outputs=kernel(step_reference), n_y=2, breaks=np.array([0.35]))
    result = run(problem, EngineRecording(), t_end=1.0)
    rows = np.flatnonzero(result.time == 0.35)
    assert result.y[rows, 1].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_refined_points_lie_on_the_solution(method):
    result = run(make_problem(kernel(oscillate), 2), EngineRecording(refine=5), method)
    assert len(result.time) > 5 * 10
    assert np.all(np.diff(result.time) > 0)
    # Between steps: order 4 at rtol 1e-8 for the one, cubic with h = 0.03 (h^4 / 384 = 2e-9) for the other.
    np.testing.assert_allclose(result.y[:, 0], np.cos(result.time), atol=3e-8)


def test_steps_that_outputs_need_are_cut_in_pieces():
    def turn(t, x, d, m, p, out):
        out[0], out[1] = 50.0, 0.0

    def look(t, x, d, m, p, out):
        out[0], out[1] = x[0], np.cos(x[0])

    problem = make_problem(kernel(turn), 2, outputs=kernel(look), n_y=2)
    plain, cut = run(problem, EngineRecording(refine=4)), run(problem, EngineRecording(refine=0))
    assert cut.counters.steps == plain.counters.steps < 20
    # 50 rad in pieces of four points: those of rtol 1e-8 are some 0.2 rad long.
    assert 4 * 100 < len(cut.time) < 4 * 1000
    assert np.all(np.diff(cut.time) > 0)
    assert np.array_equal(np.flatnonzero(cut.knots), np.arange(0, len(cut.time), 4))


def test_rows_at_which_something_happens_are_knots():
    steps = run(sampled(), EngineRecording(), "rk4", t_end=0.35)
    ticks = np.isin(steps.time, [0.0, 0.1, 0.2, 0.30000000000000004])
    assert np.all(steps.knots[ticks])
    times = run(sampled(), EngineRecording("times", times=np.linspace(0, 1, 101)))
    # Ten samples a tick: the tick's own, which is a right limit, and the one before it.
    assert np.flatnonzero(times.knots).tolist() == [0, *sorted(k for n in range(10, 101, 10) for k in (n - 1, n))]


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_given_times_are_kept_exactly_by_their_right_limits(method):
    times = np.concatenate([[0.0, 0.0], np.linspace(0, 1, 41)[1:]])
    result = run(sampled(), EngineRecording("times", times=times), method)
    assert np.array_equal(result.time, times)
    np.testing.assert_allclose(result.y[:, 0], np.cos(times), atol=3e-8)
    # linspace and k * 0.1 differ in the last place at some ticks, which are still the same instant.
    assert result.y[:, 1].tolist() == [1 + np.floor(t * 10 + 1e-9) for t in times]


def test_nothing_but_first_and_last_row_when_nothing_is_asked():
    result = run(sampled(), EngineRecording("none"))
    assert result.time.tolist() == [0.0, 1.0]
    assert result.y[:, 1].tolist() == [1.0, 11.0]


def smallest_wave_cut(degree):
    """Smallest amplitude of a Chebyshev polynomial over one step, beside a constant 1, that cuts it in pieces."""
    wave = np.polynomial.Chebyshev.basis(degree, domain=[0.0, 1.0])

    def pieces(amplitude):
        def look(t, x, d, m, p, out):
            out[0] = 1.0 + amplitude * wave(t[0])

        problem = make_problem(kernel(rest), 1, outputs=kernel(look), n_y=1, unit=np.array([1]))
        solver = any_solver("dopri5", rtol=1e-6, atol=1e-8, step=1.0)
        return len(integrate(problem, solver, 0.0, 1.0, np.ones(1), EMPTY, EMPTY, EngineRecording(refine=0)).time)

    low, high = 0.0, 1e-3
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if pieces(middle) > 5 else (middle, high)
    return high


def rest(t, x, d, m, p, out):
    out[0] = 0.0


def test_waves_between_rows_count_alike_whether_odd_or_even():
    # 25 rtol of the size 1, and of 2 % of the largest of its unit; of higher degrees five points see the third or none.
    for degree in (3, 4):
        assert smallest_wave_cut(degree) == pytest.approx(1.02 * 25e-6, rel=1e-3)


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
@pytest.mark.parametrize("place", [0, 7, 8, 10])
def test_what_is_watched_is_seen_between_rows(place, method):
    """Of eleven quantities one is positive for a while between two rows: -cos t - 0.9, around pi.

    Another one is not watched within steps, but in rows alone.
    """
    count, level = 11, 0.9

    def within(t, x, d, m, p, out):
        for k in range(count):
            out[k] = -x[0] - level if k == place else -1.0

    def outputs(t, x, d, m, p, out):
        out[0], out[1], out[2] = x[0], x[1], -x[0]
        for k in range(count):
            out[3 + k] = -x[0] - level if k == place else -1.0

    problem = make_problem(
        kernel(oscillate),
        2,
        outputs=kernel(outputs),
        n_y=2,
        n_watched=count + 1,
        within=kernel(within),
        n_within=count,
    )
    ends = np.array([0.0, 6.0])
    hasty, watching = (
        run(problem, EngineRecording("times", times=ends, watch_steps=watch), method, 6.0) for watch in (False, True)
    )
    assert np.isnan(hasty.extremes[1:, 5]).all()
    _, smallest, _, largest, at, since = watching.extremes[1 + place]
    assert largest == pytest.approx(1.0 - level, rel=2e-3)
    assert at == pytest.approx(np.pi, abs=0.1)
    assert np.pi - np.arccos(level) <= since < np.pi
    assert smallest == -1.0 - level
    others = np.delete(watching.extremes[1:], place, axis=0)
    assert others[:, [1, 3]].tolist() == [[-1.0, -1.0]] * (count - 1)
    assert np.isnan(others[:, 5]).all()
    # It is -1 and -cos 6 in both rows, and 1 between them.
    np.testing.assert_allclose(watching.extremes[0, [1, 3]], [-1.0, -np.cos(6.0)], rtol=1e-6)
    np.testing.assert_array_equal(hasty.y, watching.y)
