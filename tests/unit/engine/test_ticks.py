"""Sampled tasks run at whole multiples of the base period, in declared order, natively or in Python alike."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import BrokenRun, EngineRecording, Status, integrate
from robodyn.description.model import Solver

NOTHING = EngineRecording("none")
EMPTY = np.zeros(0)


def held_input(t, x, d, m, p, out):
    out[0] = m[0] - x[0]


def sample_feedback(t, x, d, m, p, out):
    out[0] = -2.0 * x[0]
    out[1] = m[1] + 1.0
    out[2] = m[2]


def double_command(t, x, d, m, p, out):
    out[0] = 2.0 * m[0]
    out[1] = m[1]
    out[2] = m[2] + t[0]


HELD, FEEDBACK, DOUBLE = kernel(held_input), kernel(sample_feedback), kernel(double_command)


def sampled(addresses, periods, offsets, base, **fields):
    return make_problem(
        HELD,
        1,
        n_m=3,
        task=np.array(addresses),
        task_period=np.array(periods),
        task_offset=np.array(offsets),
        base_period=base,
        **fields,
    )


def run(problem, solver, t_end, recording=NOTHING, **options):
    return integrate(problem, solver, 0.0, t_end, np.ones(1), np.zeros(3), EMPTY, recording, **options)


def test_a_million_ticks_are_all_met_at_their_product():
    problem = sampled([FEEDBACK], [1], [0], 1e-6)
    result = run(problem, Solver("euler", step=1e-6), 1.0)
    assert result.m[1] == 1_000_001
    assert result.counters.ticks == 1_000_001
    assert result.counters.steps == 1_000_000


def test_tick_times_are_products_not_sums():
    base = 0.1
    times = []

    def note(k, t, x, d, m):
        times.append(t)
        return m

    run(sampled([0], [3], [2], base), Solver("rk4", step=0.07), 5.0, python_task=note)
    assert times == [k * base for k in range(2, 51, 3)]


def test_tasks_run_in_declared_order_on_the_memory_left_before():
    first = run(sampled([FEEDBACK, DOUBLE], [1, 1], [0, 0], 1.0), Solver("rk4", step=0.1), 0.5)
    other = run(sampled([DOUBLE, FEEDBACK], [1, 1], [0, 0], 1.0), Solver("rk4", step=0.1), 0.5)
    assert first.m[0] == -4.0
    assert other.m[0] == -2.0


def test_a_tick_at_the_end_of_the_run_still_happens():
    # 3 * 0.1 is one unit in the last place above 0.3; it is the same tick.
    result = run(sampled([FEEDBACK], [1], [0], 0.1), Solver("rk4", step=0.05), 0.3)
    assert result.m[1] == 4
    assert result.at_time == 0.3


@pytest.mark.parametrize("method", ["euler", "rk4", "dopri5", "heun_euler"])
def test_python_tasks_equal_native_tasks_bit_for_bit(method):
    def task(k, t, x, d, m):
        return [-2.0 * x[0], m[1] + 1.0, m[2]]

    recording = EngineRecording("steps", refine=2)
    native = run(sampled([FEEDBACK], [2], [1], 0.013), Solver(method, step=0.004), 1.0, recording)
    python = run(sampled([0], [2], [1], 0.013), Solver(method, step=0.004), 1.0, recording, python_task=task)
    assert native.status is python.status is Status.FINISHED
    assert np.array_equal(native.time, python.time)
    assert np.array_equal(native.y, python.y)
    assert np.array_equal(native.m, python.m)


def test_ticks_do_not_shorten_the_adaptive_step():
    result = run(sampled([FEEDBACK], [1], [0], 250e-6), Solver("dopri5", rtol=1e-3, atol=1e-6), 0.25)
    # x moves slowly: once the first steps have grown, one step fills each of the 1000 segments.
    assert result.counters.steps < 1030
    assert result.counters.rejected < 10


def test_a_slope_is_reused_across_ticks_that_change_nothing():
    def hold(t, x, d, m, p, out):
        for i in range(3):
            out[i] = m[i]

    result = run(sampled([kernel(hold)], [1], [0], 0.01), Solver("dopri5"), 1.0)
    # Six evaluations a step, two for the choice of the first step; none to begin anew after a tick.
    attempts = result.counters.steps + result.counters.rejected
    assert result.counters.evaluations == 6 * attempts + 2


def test_a_task_that_returns_the_wrong_shape_is_refused_with_the_partial_trajectory():
    with pytest.raises(BrokenRun, match="ValueError: .*new m") as error:
        run(sampled([0], [1], [5], 0.1), Solver("rk4"), 1.0, python_task=lambda *_: [1.0])
    assert error.value.cause is error.value.__cause__
    assert error.value.trajectory.at_time == 0.5
    assert error.value.trajectory.status is Status.FAILED


def test_missing_python_task_is_refused():
    with pytest.raises(ValueError, match="python_task"):
        run(sampled([0], [1], [0], 0.1), Solver("rk4"), 1.0)
