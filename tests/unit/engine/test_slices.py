"""Slices of runs: all begin alike in the same memory, and the engine judges and measures each as one by itself."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, integrate
from robodyn.computation.engine.integrate import Integration, set_up
from robodyn.computation.engine.slices import CheckForm, CheckTable, RowReading, Slice, WatchedCheck
from robodyn.description.model import Solver

START, MEMORY = np.array([3.0, -1.0, 0.5]), np.array([4.0])
RATES = (0.2, 1.0, 2.5)
SOLVER = Solver("dopri5", rtol=1e-8, atol=1e-8)
END = 2.0


def rates(t, x, d, m, p, out):
    out[0], out[1], out[2] = -p[0] * x[0], d[0], m[0] if t[0] > 0.7 else 0.0


def late(t, x, d, m, p, out):
    out[0] = x[0]


def decay_problem(**fields):
    """x0 decays at a rate p; x1 is the integral of what x0 was 0.3 s ago; x2 rises from 0.7 s on as memory says."""
    late_fields = {"n_d": 1, "delayed": kernel(late), "delay_times": np.array([0.3]), "history_start": np.array([2.0])}
    return make_problem(kernel(rates), 3, n_m=1, breaks=np.array([0.7]), **late_fields, **fields)


def make_runs(problem, recording=None, solver=SOLVER, ends=(END, END, END)):
    """Runs of a slice that have begun elsewhere: nothing of that may be left."""
    setup = set_up(problem, solver, recording or EngineRecording())
    wrong = np.full(3, 99.0), np.full(1, 99.0)
    return [Integration(setup, 0.0, end, *wrong, np.array([rate])) for end, rate in zip(ends, RATES, strict=True)]


def make_slice(run, measures=(), checks=(), **options):
    given = {"most_too_long": None, "events_count": True} | options
    return Slice(run, START, MEMORY, CheckTable(checks), measures=measures, **given)


def carry_out(one, runs):
    one.begin(runs)
    for run in runs:
        run.loop()
    return one.judge(runs)


def test_all_runs_of_a_slice_begin_where_it_says_again_and_again():
    problem = decay_problem()
    runs = make_runs(problem)
    one = make_slice(runs[0], [("final", 0), ("final", 1), ("peak", 2)])
    for _ in range(2):
        sound, measures = carry_out(one, runs)
        assert sound.all()
        for run, rate, row in zip(runs, RATES, measures, strict=True):
            alone = integrate(problem, SOLVER, 0.0, END, START, MEMORY, np.array([rate]), EngineRecording())
            assert run.trajectory().x.tolist() == alone.x.tolist() == row.tolist()
            lag = 2.0 * 0.3 + 3.0 * (1.0 - np.exp(-rate * (END - 0.3))) / rate
            exact = [3.0 * np.exp(-rate * END), -1.0 + lag, 0.5 + 4.0 * (END - 0.7)]
            np.testing.assert_allclose(row, exact, rtol=1e-6)


def test_a_run_that_does_not_reach_its_end_has_no_measures():
    runs = make_runs(
        decay_problem(), solver=Solver("dopri5", rtol=1e-8, atol=1e-8, max_steps=12), ends=(END, 0.01, END)
    )
    sound, measures = carry_out(make_slice(runs[0], [("final", 0)]), runs)
    assert sound.tolist() == [False, True, False]
    assert np.isnan(measures[:, 0]).tolist() == [True, False, True]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_run_with_a_signal_that_is_no_number_is_not_sound(place):
    def outputs(t, x, d, m, p, out):
        out[0] = out[1] = out[2] = x[0]
        if p[0] == RATES[1]:
            out[place] = np.inf if t[0] < 0.05 else x[0]

    runs = make_runs(decay_problem(outputs=kernel(outputs), n_y=3))
    sound, _ = carry_out(make_slice(runs[0]), runs)
    assert sound.tolist() == [True, False, True]


@pytest.mark.parametrize("events_count", [True, False])
def test_whether_a_run_with_an_event_is_judged_is_said(events_count):
    def guard(t, x, d, m, p, out):
        out[0] = x[0] - 0.1

    def slope(t, x, d, m, p, out):
        out[0] = -p[0] * x[0]

    runs = make_runs(decay_problem(n_guards=1, guards=kernel(guard), guard_rates=kernel(slope)))
    sound, _ = carry_out(make_slice(runs[0], events_count=events_count), runs)
    # 3 exp(-2.5 t) alone comes to 0.1.
    assert sound.tolist() == [True, True, not events_count]


def test_a_check_that_fails_spoils_its_run_alone():
    """1 - x0 is watched: x0 ends at 2.0, 0.41 and 0.02."""

    def outputs(t, x, d, m, p, out):
        out[0], out[1] = 1.0 - x[0], 1.0

    runs = make_runs(decay_problem(outputs=kernel(outputs), n_y=0, n_watched=2))
    for limit, expected in ((0.5, [True, False, False]), (0.9, [True, True, False]), (1.0, [True, True, True])):
        check = WatchedCheck(CheckForm.INVARIANT, 0, 1, False, limit)
        sound, _ = carry_out(make_slice(runs[0], checks=[check]), runs)
        assert sound.tolist() == expected


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_signal_that_rows_do_not_tell_makes_a_run_unsound(place):
    """Steps follow the states; of an output that swings twenty times a second nothing is known between their ends."""

    def outputs(t, x, d, m, p, out):
        out[0] = out[1] = out[2] = x[0]
        if p[0] == RATES[1]:
            out[place] = np.sin(125.0 * t[0])

    runs = make_runs(decay_problem(outputs=kernel(outputs), n_y=3), EngineRecording(refine=1))
    reading = RowReading([1, 2, 3], [-1, -1, -1], [0, 0, 0])
    for most, expected in ((0.1, [True, False, True]), (1e3, [True, True, True])):
        sound, _ = carry_out(make_slice(runs[0], between=(reading, 0.95, most)), runs)
        assert sound.tolist() == expected


def test_a_run_may_have_as_many_steps_too_long_for_what_drives_it_as_is_said():
    """A wave of 40 periods in 20 steps."""

    def wave(t, x, d, m, p, out):
        out[0] = np.sin(2.0 * np.pi * 20.0 * t[0])

    runs = make_runs(decay_problem(drives=kernel(wave), n_drives=1), solver=Solver("rk4", step=0.1))
    assert carry_out(make_slice(runs[0]), runs)[0].all()
    count = runs[0].trajectory().counters.steps_too_long
    assert count > 5
    for allowed, expected in ((count - 1, False), (count, True)):
        sound, _ = carry_out(make_slice(runs[0], most_too_long=allowed), runs)
        assert sound.tolist() == [expected] * 3
