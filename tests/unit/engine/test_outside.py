"""A run whose steps another integrator takes, and one that is carried on in portions by another program."""

import ctypes

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, Status
from robodyn.computation.engine.binding import functions
from robodyn.computation.engine.integrate import Integration, ResumableRun, set_up
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
ENDED, BUDGET_USED, EVENTS_DUE = 0, 1, 4


def fall(t, x, d, m, p, out):
    out[0], out[1] = x[1], -10.0


def height(t, x, d, m, p, out):
    out[0] = x[0]


def speed(t, x, d, m, p, out):
    out[0] = x[1]


def bounce(t, x, d, m, p, out):
    out[0], out[1], out[2] = x[0], -0.5 * x[1], m[0] + 1.0


def tick(t, x, d, m, p, out):
    out[0] = m[0] + 100.0


FALL, HEIGHT, SPEED, BOUNCE, TICK = (kernel(f) for f in (fall, height, speed, bounce, tick))


def falling_ball(**more):
    """A ball that bounces at height 0 and counts how often, m[0]."""
    tables = {"n_guards": 1, "guards": HEIGHT, "guard_rates": SPEED, "guard_direction": np.array([-1])}
    return make_problem(FALL, 2, n_q=1, n_m=1, guard_action=np.array([BOUNCE]), **tables, **more)


def begin_outside(problem, x0):
    """A run that takes no steps itself, its first instant settled."""
    library = functions()
    for name, result in (("run_watch", ctypes.c_int64), ("run_arrive", None), ("run_note", None)):
        getattr(library, name).restype = result
    library.run_arrive.argtypes = [ctypes.c_void_p, ctypes.c_double]
    library.run_watch.argtypes = library.run_note.argtypes = [ctypes.c_void_p]
    setup = set_up(problem, Solver("dopri5"), EngineRecording("none"))
    integration = Integration(setup, 0.0, 1.0, np.array(x0), np.zeros(1), EMPTY)
    library.run_begin(integration.address, 0.0, np.inf)
    library.run_extend(integration.address, np.inf)
    integration.run.budget = 0
    assert library.run_advance(integration.address) == BUDGET_USED
    return library, integration


def step_to(integration, t, x):
    """What the other integrator does."""
    integration.run.t = t
    integration.x[:] = x


def test_guards_that_cross_in_steps_of_another_integrator_are_counted_and_act_on_arrival():
    library, ball = begin_outside(falling_ball(), [1.0, 0.0])
    step_to(ball, 0.4, [0.2, -4.0])
    assert library.run_watch(ball.address) == 0
    step_to(ball, 0.5, [-0.25, -5.0])
    assert library.run_watch(ball.address) == 1
    # Watching changes nothing: the integrator looks for the root, and arrives there.
    at = np.sqrt(0.2)
    step_to(ball, at, [0.0, -10.0 * at])
    library.run_arrive(ball.address, at)
    assert library.run_advance(ball.address) == BUDGET_USED
    assert ball.m[0] == 1.0
    assert ball.x[1] == 5.0 * at
    assert ball.run.t == at


def test_a_guard_on_its_way_out_of_its_root_does_not_fire_by_rounding_and_fires_when_it_turns_back():
    library, ball = begin_outside(falling_ball(), [0.0, 2.0])
    # It left upwards; rounding has put it a little below.
    step_to(ball, 1e-9, [-1e-18, 2.0])
    assert library.run_watch(ball.address) == 0
    step_to(ball, 0.41, [-0.0205, -2.1])
    assert library.run_watch(ball.address) == 1


def test_a_tick_is_due_where_the_integrator_arrives_at_it_but_for_rounding():
    tables = {"task": np.array([TICK]), "task_period": np.array([1]), "task_offset": np.array([1]), "base_period": 0.1}
    library, ball = begin_outside(falling_ball(**tables), [10.0, 0.0])
    assert ball.run.t_stop == pytest.approx(0.1)
    for t, times in ((0.05, 0), (0.1 * (1 - 1e-12), 1), (0.15, 1)):
        step_to(ball, t, [10.0, 0.0])
        library.run_arrive(ball.address, t)
        assert library.run_advance(ball.address) == BUDGET_USED
        assert ball.m[0] == 100.0 * times
    assert ball.run.t_stop == pytest.approx(0.2)


def test_a_run_that_pauses_shows_its_events_before_they_act():
    setup = set_up(falling_ball(), Solver("dopri5"), EngineRecording("none"))
    ball = Integration(setup, 0.0, 1.0, np.array([1.0, 0.0]), np.zeros(1), EMPTY)
    ball.run.pause_at_events, ball.run.budget = 1, 1000
    assert functions().run_advance(ball.address) == EVENTS_DUE
    assert ball.run.t == pytest.approx(np.sqrt(0.2))
    assert ball.x[1] == pytest.approx(-np.sqrt(20.0))
    assert ball.m[0] == 0.0
    # Called again, it acts and goes on, to the next one.
    assert functions().run_advance(ball.address) == EVENTS_DUE
    assert ball.m[0] == 1.0
    assert ball.run.t == pytest.approx(2 * np.sqrt(0.2))


def late(t, x, d, m, p, out):
    out[0] = 1.0 if t[0] >= 0.5 else 0.0


def test_an_open_end_is_seen_from_the_left():
    """What jumps at the end of a portion belongs to the next one, as at a break; the states of both ways agree."""
    rhs = kernel(late)
    ends = []
    for open_end in (0, 1):
        setup = set_up(make_problem(rhs, 1), Solver("rk4", step=0.25), EngineRecording("none"))
        run = ResumableRun(Integration(setup, 0.0, 1.0, np.zeros(1), EMPTY, EMPTY))
        run.integration.run.open_end = open_end
        assert run.go_on(0.5) == Status.FINISHED
        ends.append(run.x[0])
        run.go_on(1.0)
        assert run.x[0] - ends[-1] == pytest.approx(0.5)
    # The last stage of the step to 0.5 is at 0.5: a sixth of 0.25.
    assert ends == [pytest.approx(0.25 / 6), 0.0]


def test_a_state_of_another_run_is_not_restored():
    setup = set_up(falling_ball(), Solver("dopri5"), EngineRecording("none"))
    run = ResumableRun(Integration(setup, 0.0, 1.0, np.array([1.0, 0.0]), np.zeros(1), EMPTY))
    run.go_on(0.3)
    before = run.x.copy()
    state, _, _ = run.save()
    restore, address = functions().run_restore, run.integration.address
    for wrong in (state.raw[:8], state.raw[:-8], bytes(len(state))[:-8], b"\xff" * len(state)):
        assert restore(address, ctypes.create_string_buffer(wrong, len(wrong)), len(wrong)) == 0
    assert run.time == 0.3
    assert np.array_equal(run.x, before)
    assert restore(address, state, len(state)) == 1


@pytest.mark.parametrize("kind", ["peak", "rms", "mean", "final", "max", "min", "time of peak"])
def test_measures_of_one_row_and_of_what_is_no_number(kind):
    number = ["peak", "rms", "mean", "final", "max", "min", "time of peak"].index(kind)
    measure = functions().take_measure

    def take(rows):
        table = np.ascontiguousarray(rows, float)
        at = table.ctypes.data
        return measure(number, len(table), at, at + 8, table.shape[1])

    one = {"peak": 3.0, "rms": 3.0, "mean": -3.0, "final": -3.0, "max": -3.0, "min": -3.0, "time of peak": 2.0}
    assert take([[2.0, -3.0]]) == one[kind]
    ramp = {"peak": 4.0, "rms": 4.0 / np.sqrt(3.0), "mean": 2.0, "final": 4.0, "max": 4.0, "min": 0.0}
    assert take([[0.0, 0.0], [2.0, 4.0]]) == pytest.approx((ramp | {"time of peak": 2.0})[kind])
    # The first that is not a number comes before all others.
    spoiled = take([[0.0, 1.0], [1.0, np.nan], [2.0, 5.0]])
    expected = {"final": 5.0, "time of peak": 1.0}.get(kind, np.nan)
    assert spoiled == pytest.approx(expected, nan_ok=True)
