"""Delayed signals arrive exactly their delay later, with the right side at each jump."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem
from support.solvers import any_solver

from robodyn.computation.engine import EngineRecording, integrate
from robodyn.computation.native.conditions import KINK, LATE, STRAIGHT
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


def test_a_kink_within_a_long_segment_arrives_at_the_end_of_a_step():
    """|t - 0.85|, 0.3 s late, with nothing else to stop at: steps end where it bends, and again where that arrives."""
    n, bend = 4, 0.85

    def bent_signal(t, x, d, m, p, out):
        out[0] = abs(t[0] - bend)

    def condition(t, x, d, m, p, out):
        out[0] = t[0] - bend

    def enclosures(t, box, d, m, p, out):
        out[0], out[1] = box[0] - bend, box[n]

    def drifts(t, box, d, m, p, out):
        out[0], out[1] = box[2 * n], box[3 * n]

    system = problem(
        bent_signal,
        n_conditions=1,
        conditions=kernel(condition),
        enclosures=kernel(enclosures),
        drifts=kernel(drifts),
        condition_kind=np.array([KINK + STRAIGHT + LATE]),
        entries=np.zeros(1),
        bounds_work=10,
        passage=np.array([10]),
    )
    result = run(system, "dopri5")
    ends = result.time[1:]
    assert np.abs(ends - bend).min() < 1e-12
    assert np.abs(ends - (bend + DELAY)).min() < 1e-12
    # The integral of what arrives: exact, as no step has a bend within.
    assert result.x[0] == pytest.approx(-5.0 * DELAY + bend**2, abs=1e-12)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_break_of_a_reference_is_read_from_its_own_side(method):
    def jump(t, x, d, m, p, out):
        out[0] = 1.0 if t[0] >= 0.5 else -1.0

    system = make_problem(kernel(jump), 1, breaks=np.array([0.5]))
    solver = Solver(method, step=None if method == "dopri5" else 0.07)
    result = integrate(system, solver, 0.0, 2.0, np.zeros(1), EMPTY, EMPTY, EngineRecording())
    # Piecewise constant derivatives are integrated exactly if no stage looks across the break.
    assert result.x[0] == pytest.approx(-0.5 + 1.5, abs=1e-14)


COURSES = (np.polynomial.Polynomial([0.3, -2.0, 3.7, -2.1, 0.37]), np.polynomial.Polynomial([-1.0, 0.4, -0.6, 0.15]))
DELAYS = (0.3, 0.47)


def polynomials(method, **kernels):
    """Two signals that are polynomials of time, which the history keeps exactly, with delays of their own."""

    def signals(t, x, d, m, p, out):
        out[0], out[1] = (course(t[0]) for course in COURSES)

    def both(t, x, d, m, p, out):
        out[0], out[1] = d[0], d[1]

    def rates(t, x, d, m, p, out):
        out[0] = d[0]

    system = make_problem(
        kernel(rates),
        1,
        n_d=2,
        delayed=kernel(signals),
        delay_times=np.array(DELAYS),
        history_start=np.array([5.0, 6.0]),
        outputs=kernel(both),
        n_y=2,
        **kernels,
    )
    solver = any_solver(method, rtol=1e-8, atol=1e-8, step=None if method == "dopri5" else 0.05)
    return integrate(system, solver, 0.0, 3.0, np.zeros(1), EMPTY, EMPTY, EngineRecording(refine=4))


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_polynomials_of_fourth_degree_arrive_as_they_were(method):
    result = polynomials(method)
    for j, (course, delay) in enumerate(zip(COURSES, DELAYS, strict=True)):
        late, early = result.time > delay + 1e-9, result.time < delay - 1e-9
        np.testing.assert_allclose(result.y[late, j], course(result.time[late] - delay), atol=1e-13)
        assert np.all(result.y[early, j] == 5.0 + j)
    # Its integral from the arrival on, by a method of order five exactly, by Simpson's rule but for its fourth power.
    integral = COURSES[0].integ()
    missed = 0.0 if method == "dopri5" else 0.05**4 / 120 * 0.37 * 2.7
    assert result.x[0] == pytest.approx(5.0 * 0.3 + integral(2.7) - integral(0.0), abs=1e-12 + 1.01 * missed)


def test_events_on_a_delayed_signal_come_when_it_arrives_and_know_its_rate():
    level, seen = 0.1, []

    def guard(t, x, d, m, p, out):
        out[0] = d[0] - level

    def guard_rate(t, x, d, m, p, out):
        seen.append((t[0], d[2], d[3]))
        out[0] = d[2]

    def act(t, x, d, m, p, out):
        out[0] = x[0]

    fields = {"guard_rates": kernel(guard_rate), "guard_direction": np.array([0]), "guard_action": [kernel(act)]}
    result = polynomials("dopri5", n_guards=1, guards=kernel(guard), **fields)
    roots = sorted(root.real for root in (COURSES[0] - level).roots() if abs(root.imag) < 1e-9 and 0 < root.real < 2.7)
    jump = [0.3] if (5.0 - level) * (COURSES[0](0.0) - level) < 0 else []
    expected = [*jump, *(root + 0.3 for root in roots)]
    np.testing.assert_allclose([t for t, _ in result.events], expected, atol=1e-9)
    assert len(seen) >= len(expected) > 3
    for t, first, second in seen:
        for rate, course, delay in ((first, COURSES[0], 0.3), (second, COURSES[1], 0.47)):
            if abs(t - delay) > 1e-9:
                assert rate == pytest.approx(course.deriv()(t - delay) if t > delay else 0.0, abs=1e-11)
