"""A run can be left and resumed anywhere, and one that cannot go on says why and keeps what it has."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem
from support.solvers import any_solver

from robodyn.computation.engine import EngineRecording, Integration, ResumableRun, Status, integrate, set_up
from robodyn.description.model import Solver

EMPTY = np.zeros(0)


def swing(t, x, d, m, p, out):
    out[0] = x[1]
    out[1] = -x[0] + m[0] + 0.5 * d[0]


def position(t, x, d, m, p, out):
    out[0] = x[0]


def position_rate(t, x, d, m, p, out):
    out[0] = x[1]


def kick(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = 1.1 * x[1]
    out[2] = m[0]


def sample(t, x, d, m, p, out):
    out[0] = -0.3 * x[1]


def sampled_signal(t, x, d, m, p, out):
    out[0] = x[0] + m[0]


SWING, POSITION, RATE, KICK, SAMPLE = (kernel(f) for f in (swing, position, position_rate, kick, sample))


def everything():
    """Ticks, an event with an action, a break and a delay in one problem."""
    return make_problem(
        SWING,
        2,
        n_q=1,
        n_m=1,
        n_d=1,
        n_guards=1,
        guards=POSITION,
        guard_rates=RATE,
        guard_direction=np.array([1]),
        guard_action=np.array([KICK]),
        delayed=POSITION,
        delay_times=np.array([0.15]),
        history_start=np.zeros(1),
        task=np.array([SAMPLE]),
        task_period=np.array([2]),
        task_offset=np.array([1]),
        base_period=0.05,
        breaks=np.array([0.333]),
    )


def run(solver, budget=None, **options):
    start = np.array([1.0, 0.0])
    return integrate(
        everything(),
        solver,
        0.0,
        12.0,
        start,
        np.zeros(1),
        EMPTY,
        EngineRecording(refine=3),
        budget=budget,
        **options,
    )


@pytest.mark.parametrize("method", ["rk4", "dopri5", "heun_euler"])
def test_the_budget_does_not_change_a_single_bit(method):
    solver = any_solver(method, step=0.01, max_step=0.05)
    whole = run(solver)
    for budget in (1, 7):
        sliced = run(solver, budget)
        assert np.array_equal(whole.time, sliced.time)
        assert np.array_equal(whole.y, sliced.y)
        assert whole.events == sliced.events
    assert whole.status is Status.FINISHED
    assert len(whole.events) >= 1
    # More rows than the first buffer of 256 has: it was grown.
    assert len(whole.time) > 600


def test_progress_is_told_and_an_interrupt_keeps_what_there_is():
    seen = []

    def progress(t, h, steps):
        seen.append((t, steps))
        if t > 5.0:
            raise KeyboardInterrupt

    result = run(Solver("rk4", step=0.01), 10, progress=progress)
    assert result.status is Status.INTERRUPTED
    assert 5.0 < result.at_time < 6.0
    assert result.time[-1] == result.at_time
    assert seen == sorted(seen)


def test_wall_time_and_step_limits_end_a_run():
    assert run(Solver("rk4", step=1e-6, max_wall_time=1e-9), 10).status is Status.WALL_TIME
    limited = run(Solver("rk4", step=0.01, max_steps=25))
    assert limited.status is Status.STEP_LIMIT
    assert limited.counters.steps == 25
    assert run(Solver("dopri5", max_steps=25)).status is Status.STEP_LIMIT
    assert run(Solver("rk4", step=0.01, max_steps=None)).status is Status.FINISHED


def test_steps_that_are_rejected_count_against_the_limit():
    def jump(t, x, d, m, p, out):
        out[0] = 1e3 if t[0] > 0.5 else 0.0

    def counted(limit):
        problem, empty = make_problem(kernel(jump), 1), np.zeros(0)
        solver = Solver("dopri5", max_steps=limit)
        return integrate(problem, solver, 0.0, 1.0, np.zeros(1), empty, empty, EngineRecording())

    free = counted(None).counters
    assert free.rejected > 1
    assert counted(free.steps + free.rejected).status is Status.FINISHED
    for limit in range(20, free.steps + free.rejected, 5):
        limited = counted(limit)
        assert limited.status is Status.STEP_LIMIT
        assert limited.counters.steps + limited.counters.rejected == limit


def test_long_delays_with_many_steps_grow_the_history():
    problem = everything().replaced(delay_times=np.array([3.0]), task_period=np.array([1]))
    result = integrate(
        problem, Solver("rk4", step=0.005), 0.0, 8.0, np.ones(2), np.zeros(1), EMPTY, EngineRecording("none")
    )
    assert result.status is Status.FINISHED
    assert np.all(np.isfinite(result.x))


def simple(function, n=2):
    return make_problem(kernel(function), n)


def failing(function, solver, t_end=2.0):
    return integrate(simple(function), solver, 0.0, t_end, np.ones(2), EMPTY, EMPTY, EngineRecording())


def root_of_negative(t, x, d, m, p, out):
    out[0] = -1.0
    out[1] = np.sqrt(0.5 - t[0])


@pytest.mark.parametrize("method", ["euler", "rk4", "heun_euler", "dopri5"])
def test_a_derivative_that_is_no_number_is_blamed(method):
    result = failing(root_of_negative, Solver(method, step=0.01))
    assert result.status is Status.NOT_A_NUMBER
    assert result.offender == 1
    assert result.at_time == pytest.approx(0.5, abs=0.011)
    assert result.time[-1] == result.at_time
    assert np.all(np.isfinite(result.y))


def grow(t, x, d, m, p, out):
    out[0] = 0.0
    out[1] = 1000.0 * x[1]


def test_overflow_is_blamed():
    result = failing(grow, Solver("euler", step=0.01))
    assert result.status is Status.OVERFLOWN
    assert result.offender == 1


def explode(t, x, d, m, p, out):
    out[0] = 0.0
    out[1] = x[1] * x[1]


def test_a_step_that_becomes_too_small_is_blamed():
    result = failing(explode, Solver("dopri5"))
    assert result.status is Status.STEP_TOO_SMALL
    assert result.offender == 1
    # x = 1 / (1 - t) has its pole at 1.
    assert result.at_time == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"scale": np.zeros(2)}, "scale"),
        ({"n_guards": 1}, "guard_direction"),
        ({"breaks": np.array([1.0, 0.0])}, "breaks"),
        ({"delay_times": np.ones(1)}, "delay_times"),
        ({"task": np.ones(1, int)}, "task_period"),
    ],
)
def test_inconsistent_tables_are_refused_by_name(change, name):
    with pytest.raises(ValueError, match=name):
        integrate(simple(grow).replaced(**change), Solver(), 0.0, 1.0, np.ones(2), EMPTY, EMPTY, EngineRecording())


def test_a_run_of_no_length_has_one_row():
    result = integrate(simple(grow), Solver(), 1.0, 1.0, np.ones(2), EMPTY, EMPTY, EngineRecording())
    assert result.status is Status.FINISHED
    assert result.time.tolist() == [1.0]


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_when_a_run_begins_does_not_matter(method):
    """Ticks, events, breaks and delays 32 s later, a power of two: the same but for the last digits.

    No jump arrives at a tick, where the last digits decide on which side of it.
    """
    solver, shift = any_solver(method, step=0.01, rtol=1e-6, atol=1e-8), 32.0
    runs = []
    for begin in (0.0, shift):
        problem = everything().replaced(breaks=np.array([begin + 0.333]), delay_times=np.array([0.171]))
        start, recording = np.array([1.0, 0.0]), EngineRecording(refine=3)
        runs.append(integrate(problem, solver, begin, begin + 12.0, start, np.zeros(1), EMPTY, recording))
    here, there = runs
    assert here.status is there.status is Status.FINISHED
    assert len(here.events) == len(there.events) > 0
    # Times near 44 s are known to 7e-15 s.
    np.testing.assert_allclose(there.time - shift, here.time, atol=1e-11)
    np.testing.assert_allclose(there.y, here.y, atol=1e-9)
    assert np.array_equal(there.knots, here.knots)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
@pytest.mark.parametrize("until", [0.4, 2.0, 9.0])
def test_a_run_put_back_goes_on_the_same_with_jumps_under_way(method, until):
    """Delays of several ticks: jumps of the memory that have not arrived yet belong to the state of a run."""
    problem = everything().replaced(
        task_period=np.array([1]),
        task_offset=np.array([0]),
        delayed=kernel(sampled_signal),
        delay_times=np.array([0.33]),
    )
    solver = any_solver(method, step=0.02)
    start = np.array([1.0, 0.0])
    setup = set_up(problem, solver, EngineRecording("none"))
    going = ResumableRun(Integration(setup, 0.0, 12.0, start, np.zeros(1), EMPTY))
    going.go_on(until)
    saved = going.save()
    going.go_on(12.0)
    ends = [going.x.copy()]
    # In the same memory, and in that of a run which has no past yet.
    fresh = ResumableRun(Integration(setup, 0.0, 12.0, start, np.zeros(1), EMPTY))
    for other in (going, fresh):
        other.restore(saved)
        other.go_on(12.0)
        ends.append(other.x.copy())
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])
