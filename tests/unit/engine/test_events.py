"""Guards fire where they cross zero in the wanted direction, once, in order, and never at rest on zero."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem
from support.solvers import any_solver

from robodyn.computation.engine import EngineRecording, Status, integrate
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
FIXED, ADAPTIVE = ["euler", "heun", "rk4"], ["heun_euler", "dopri5"]
GRAVITY = 10.0
NOTHING = EngineRecording("none")


def fall(t, x, d, m, p, out):
    out[0] = x[1]
    out[1] = -GRAVITY


def height(t, x, d, m, p, out):
    out[0] = x[0]


def speed(t, x, d, m, p, out):
    out[0] = x[1]


def bounce(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = -p[0] * x[1]
    for i in range(1):
        out[2 + i] = m[i] + 1.0


FALL, HEIGHT, SPEED, BOUNCE = kernel(fall), kernel(height), kernel(speed), kernel(bounce)


def ball(action=BOUNCE, direction=-1, terminal=0):
    return make_problem(
        FALL,
        2,
        n_q=1,
        n_m=1,
        n_guards=1,
        guards=HEIGHT,
        guard_rates=SPEED,
        guard_direction=np.array([direction]),
        guard_terminal=np.array([terminal]),
        guard_action=np.array([action]),
    )


def drop(problem, solver, t_end, x0=(1.0, 0.0), restitution=1.0, recording=NOTHING, **options):
    return integrate(
        problem, solver, 0.0, t_end, np.array(x0), np.zeros(1), np.array([restitution]), recording, **options
    )


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_a_ball_bounces_at_the_exact_times(method):
    result = drop(ball(), any_solver(method, step=0.01, rtol=1e-9, atol=1e-12), 3.0)
    first = np.sqrt(2 / GRAVITY)
    expected = first * np.arange(1, 7, 2)
    # Parabolas are exact for both methods and their polynomials; what is left is rounding over some hundred
    # steps.
    np.testing.assert_allclose([t for t, _ in result.events], expected[: len(result.events)], rtol=1e-12)
    assert len(result.events) == 3
    assert result.m[0] == 3


def test_bounces_shorter_than_a_step_are_all_found():
    # Restitution 0.1: the second and third flights last 0.09 s and 0.009 s, within one step of 0.2 s.
    result = drop(ball(), Solver("rk4", step=0.2), 0.546, restitution=0.1)
    first = np.sqrt(2 / GRAVITY)
    expected = first * np.array([1, 1.2, 1.22])
    np.testing.assert_allclose([t for t, _ in result.events], expected, rtol=1e-12)


@pytest.mark.parametrize("method", ["dopri5", "heun_euler", "rk4"])
def test_infinitely_many_bounces_are_reported_as_chattering(method):
    result = drop(ball(), Solver(method, step=0.01), 10.0, restitution=0.5)
    assert result.status is Status.CHATTERING
    assert result.offender == 0
    # The times add up to sqrt(2 h / g) (1 + 2 (e + e^2 + ...)) = 3 sqrt(2 h / g).
    assert result.at_time == pytest.approx(3 * np.sqrt(2 / GRAVITY), abs=1e-6)
    assert abs(result.x[0]) < 1e-12


def test_a_terminal_guard_ends_the_run_after_its_action():
    result = drop(ball(terminal=1), Solver(), 3.0, recording=EngineRecording())
    assert result.status is Status.TERMINAL
    assert result.offender == 0
    assert result.m[0] == 1
    assert result.x[1] > 0
    assert result.at_time == result.events[-1][0] == result.time[-1]


@pytest.mark.parametrize("method", FIXED + ADAPTIVE)
def test_a_guard_that_starts_at_zero_does_not_fire_when_it_leaves(method):
    result = drop(ball(action=0, direction=0), Solver(method, step=0.01), 0.3, x0=(0.0, 2.0))
    assert result.events == []


@pytest.mark.parametrize("method", FIXED + ADAPTIVE)
def test_a_guard_that_starts_at_zero_fires_when_it_comes_back(method):
    result = drop(ball(action=0, direction=0), Solver(method, step=0.01), 0.7, x0=(0.0, 2.0))
    assert len(result.events) == 1
    # Up and down again takes 2 v / g = 0.4 s; Euler's method is late by a step.
    assert result.events[0][0] == pytest.approx(0.4, abs=0.02)


def test_a_guard_at_rest_on_zero_never_fires():
    def rest(t, x, d, m, p, out):
        out[0] = 0.0
        out[1] = 0.0

    problem = ball(direction=0).replaced(rhs=kernel(rest))
    assert drop(problem, Solver(), 1.0, x0=(0.0, 0.0)).events == []


def test_directions_select_the_crossings():
    def turn(t, x, d, m, p, out):
        out[0] = x[1]
        out[1] = -x[0]

    counts = {}
    for direction in (-1, 0, 1):
        problem = ball(action=0, direction=direction).replaced(rhs=kernel(turn))
        result = drop(problem, Solver(rtol=1e-9, atol=1e-12), 20.0, x0=(1.0, 0.0))
        counts[direction] = [t for t, _ in result.events]
    # cos crosses zero at (k + 1/2) pi, falling for even k; rtol 1e-9 over 20 s leaves about 1e-8.
    np.testing.assert_allclose(counts[0], np.pi * (np.arange(6) + 0.5), atol=1e-7)
    np.testing.assert_allclose(counts[-1], np.pi * (np.arange(0, 6, 2) + 0.5), atol=1e-7)
    np.testing.assert_allclose(counts[1], np.pi * (np.arange(1, 6, 2) + 0.5), atol=1e-7)


def clock_rhs(t, x, d, m, p, out):
    out[0] = 1.0


def three_guards(t, x, d, m, p, out):
    out[0] = x[0] - 0.5
    out[1] = m[0] - 0.5
    out[2] = 1.0 - 2.0 * x[0]


def three_rates(t, x, d, m, p, out):
    out[0] = 1.0
    out[1] = 0.0
    out[2] = -2.0


def add_digit(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = 1.0
    out[2] = 10.0 * m[1] + 1.0


def add_other_digit(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = m[0]
    out[2] = 10.0 * m[1] + 3.0


def add_last_digit(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = m[0]
    out[2] = 10.0 * m[1] + 2.0


CLOCK = kernel(clock_rhs)


@pytest.mark.parametrize("method", ["euler", "rk4", "dopri5"])
def test_simultaneous_events_act_in_declared_order_and_jumps_follow_at_the_same_instant(method):
    # Guards 0 and 2 cross at t = 0.5 together; guard 1 is made to jump across zero by the action of guard 0.
    actions = np.array([kernel(add_digit), kernel(add_last_digit), kernel(add_other_digit)])
    problem = make_problem(
        CLOCK,
        1,
        n_m=2,
        n_guards=3,
        guards=kernel(three_guards),
        guard_rates=kernel(three_rates),
        guard_direction=np.array([1, 1, -1]),
        guard_action=actions,
    )
    result = integrate(
        problem, Solver(method, step=0.03), 0.0, 1.0, np.zeros(1), np.zeros(2), EMPTY, EngineRecording("none")
    )
    assert [j for _, j in result.events] == [0, 2, 1]
    assert len({t for t, _ in result.events}) == 1
    assert result.m[1] == 132.0
    assert result.events[0][0] == pytest.approx(0.5, abs=1e-15)


def test_a_guard_moved_by_a_tick_fires_at_the_tick():
    def count(t, x, d, m, p, out):
        out[0] = m[0] + 1.0

    def third(t, x, d, m, p, out):
        out[0] = m[0] - 2.5

    def zero(t, x, d, m, p, out):
        out[0] = 0.0

    problem = make_problem(
        CLOCK,
        1,
        n_m=1,
        n_guards=1,
        guards=kernel(third),
        guard_rates=kernel(zero),
        guard_direction=np.array([1]),
        task=np.array([kernel(count)]),
        task_period=np.array([1]),
        task_offset=np.array([0]),
        base_period=0.1,
    )
    result = integrate(problem, Solver(), 0.0, 1.0, np.zeros(1), np.zeros(1), EMPTY, EngineRecording("none"))
    assert result.events == [(2 * 0.1, 0)]


def test_python_actions_equal_native_actions_bit_for_bit():
    def action(g, t, x, d, m):
        return [x[0], -0.8 * x[1]], m + 1.0

    solver = Solver(rtol=1e-8)
    native = drop(ball(), solver, 2.0, restitution=0.8, recording=EngineRecording())
    python = drop(ball(action=-1), solver, 2.0, restitution=0.8, recording=EngineRecording(), python_action=action)
    assert len(native.events) > 2
    assert native.events == python.events
    assert np.array_equal(native.y, python.y)


def test_an_event_and_a_tick_at_one_instant_come_in_this_order():
    def mark(t, x, d, m, p, out):
        out[0] = 10.0 * m[0] + 2.0

    def act(t, x, d, m, p, out):
        out[0] = x[0]
        out[1] = 10.0 * m[0] + 1.0

    def half(t, x, d, m, p, out):
        out[0] = t[0] - 0.5

    def one(t, x, d, m, p, out):
        out[0] = 1.0

    problem = make_problem(
        CLOCK,
        1,
        n_m=1,
        n_guards=1,
        guards=kernel(half),
        guard_rates=kernel(one),
        guard_direction=np.array([1]),
        guard_action=np.array([kernel(act)]),
        task=np.array([kernel(mark)]),
        task_period=np.array([1]),
        task_offset=np.array([1]),
        base_period=0.5,
    )
    result = integrate(problem, Solver(), 0.0, 0.75, np.zeros(1), np.zeros(1), EMPTY, EngineRecording("none"))
    assert result.m[0] == 12.0


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
@pytest.mark.parametrize("ulps", [-2, -1, 0, 1, 2, 5, 20])
def test_a_tick_next_to_a_bounce_neither_repeats_nor_hides_it(method, ulps):
    def keep(t, x, d, m, p, out):
        out[0] = m[0]

    # The first bounce, as the engine finds it. A tick a few units in the last place beside it makes a segment
    # of no length, in which the ball still shows the rounding of its root.
    first = drop(ball(), Solver(method, step=0.01), 1.0).events[0][0]
    problem = ball().replaced(task=np.array([kernel(keep)]), task_period=np.array([1]))
    problem = problem.replaced(task_offset=np.array([1]), base_period=first + ulps * np.spacing(first))
    result = drop(problem, Solver(method, step=0.01), 3.0)
    expected = np.sqrt(2 / GRAVITY) * np.arange(1, 7, 2)
    np.testing.assert_allclose([t for t, _ in result.events], expected, rtol=1e-11)


def test_a_scale_makes_the_tolerance_of_its_state():
    def turn(t, x, d, m, p, out):
        out[0] = x[1]
        out[1] = -x[0]

    problem = make_problem(kernel(turn), 2)
    solver = Solver(rtol=1e-12, atol=1e-9)
    steps = [
        integrate(p, solver, 0.0, 10.0, np.array([1.0, 0.0]), EMPTY, EMPTY, NOTHING).counters.steps
        for p in (problem, problem.replaced(scale=np.full(2, 1e4)))
    ]
    # Tolerances 1e4 apart and error ~ h^5: steps differ by about 1e4^(1/5) = 6.3.
    assert 4 < steps[0] / steps[1] < 9


def fire(times, interval, begin, end):
    """So many actions of one guard, an interval [s] apart: x rises by 1 a second and is put back."""

    def rise(t, x, d, m, p, out):
        out[0] = 1.0

    def put_back(t, x, d, m, p, out):
        out[0], out[1] = -interval if m[0] + 1 < times else -1e6, m[0] + 1

    problem = make_problem(
        kernel(rise),
        1,
        n_m=1,
        n_guards=1,
        guards=HEIGHT,
        guard_rates=kernel(rise),
        guard_direction=np.array([1]),
        guard_action=np.array([kernel(put_back)]),
    )
    return integrate(problem, Solver("dopri5"), begin, end, -np.ones(1), np.zeros(1), EMPTY, NOTHING)


@pytest.mark.parametrize("begin", [0.0, 1000.0])
@pytest.mark.parametrize(
    ("times", "interval", "status"),
    [
        # Fifty in a thousand-millionth of the run, 1e-7 s; a thousand in a hundred-thousandth, 1e-3 s. There is one
        # interval less than there are actions.
        (50, 1e-7 / 49.5, Status.CHATTERING),
        (49, 1e-7 / 49.5, Status.FINISHED),
        (200, 1e-7 / 48.5, Status.FINISHED),
        (1000, 1e-3 / 999.5, Status.CHATTERING),
        (999, 1e-3 / 999.5, Status.FINISHED),
        (1100, 1e-3 / 998.5, Status.FINISHED),
    ],
)
def test_many_actions_in_little_time_are_chattering_whenever_the_run_began(times, interval, status, begin):
    done = fire(times, interval, begin, begin + 100.0)
    assert done.status is status
    assert done.m[0] == times
    assert done.offender == (0 if status is Status.CHATTERING else -1)


def test_a_guard_that_only_watches_is_noted_each_time_that_it_crosses_in_a_step():
    """(t - a)(t - a - 0.4), of which nothing is proven: once in each half of a step, or twice in one."""
    crossings = []

    def guard(t, x, d, m, p, out):
        out[0] = (x[0] - crossings[0]) * (x[0] - crossings[1])

    def rate(t, x, d, m, p, out):
        out[0] = 2.0 * x[0] - crossings[0] - crossings[1]

    def move(t, x, d, m, p, out):
        out[0] = 1.0

    problem = make_problem(kernel(move), 1, n_guards=1, guards=kernel(guard), guard_rates=kernel(rate))
    for a in np.linspace(0.3, 2.3, 41):
        crossings[:] = a, a + 0.4
        done = integrate(problem, Solver("dopri5"), 0.0, 3.0, np.zeros(1), EMPTY, EMPTY, EngineRecording())
        assert [t for t, _ in done.events] == pytest.approx(crossings, abs=1e-9)


def test_the_side_on_which_a_guard_is_stands_in_its_memory():
    """One is passed at 1.5 s, one never; a third notes nothing."""

    def move(t, x, d, m, p, out):
        out[0] = 1.0

    def guards(t, x, d, m, p, out):
        out[0], out[1], out[2] = x[0] - 1.5, x[0] - 5.0, x[0] - 1.0

    def slopes(t, x, d, m, p, out):
        out[0] = out[1] = out[2] = 1.0

    def stay(t, x, d, m, p, out):
        out[0] = x[0]
        for k in range(3):
            out[1 + k] = m[k]

    problem = make_problem(
        kernel(move),
        1,
        n_m=3,
        n_guards=3,
        guards=kernel(guards),
        guard_rates=kernel(slopes),
        guard_side=np.array([3, 1, 0]),
        guard_action=np.array([kernel(stay)] * 3),
    )
    for end, side in ((1.2, -1.0), (2.0, 1.0)):
        memory = np.array([0.0, 7.0, 0.0])
        done = integrate(problem, Solver("dopri5"), 0.0, end, np.zeros(1), memory, np.zeros(0), EngineRecording())
        assert done.m.tolist() == [-1.0, 7.0, side]
