"""Runs are called by what distinguishes them, and only recorded time is shown."""

import pytest

from robodyn.presentation.reporting.runs import as_runs, run_labels, run_style, shown_span


def mass(value):
    return {"bob.mass": {"value": value, "unit": "kg"}, "rod.length": {"value": 1.0, "unit": "m"}}


def test_runs_of_different_scenarios_are_called_by_them(make_run):
    assert run_labels([make_run(scenario="a"), make_run(scenario="b")]) == ("a", "b")


def test_runs_of_one_scenario_are_called_by_their_solvers(make_run):
    fixed = {"method": "euler", "step": 0.001, "rtol": 1e-7}
    adaptive = {"method": "dopri5", "step": None, "rtol": 1e-9}
    labels = run_labels([make_run(solver=fixed), make_run(solver=fixed | {"step": 0.002}), make_run(solver=adaptive)])
    assert labels == ("euler, step 0.001 s", "euler, step 0.002 s", "dopri5, rtol 1e-09")


def test_runs_of_one_solver_are_called_by_the_parameters_that_differ(make_run):
    assert run_labels([make_run(parameters=mass(1.0)), make_run(parameters=mass(2.5))]) == (
        "bob.mass = 1 kg",
        "bob.mass = 2.5 kg",
    )


def test_runs_that_nothing_tells_apart_are_numbered(make_run):
    assert run_labels([make_run(), make_run()]) == ("arm (1)", "arm (2)")


def test_labels_must_be_as_many_as_runs(make_run):
    with pytest.raises(ValueError, match="2 labels for 1 runs"):
        run_labels([make_run()], ["a", "b"])


@pytest.mark.parametrize("count", [0, 9])
def test_too_few_or_too_many_runs_are_refused(make_run, count):
    with pytest.raises(ValueError, match="runs can be drawn"):
        as_runs([make_run()] * count)


def test_all_runs_that_fit_look_different():
    looks = [run_style(number) for number in range(8)]
    assert len({look["color"] for look in looks}) == 8


def test_open_ends_of_a_window_are_those_of_the_longest_run(make_run):
    runs = [make_run(), make_run(end=3.0)]
    assert shown_span(runs, None) == (0.0, 3.0)
    assert shown_span(runs, (0.5, None)) == (0.5, 3.0)


@pytest.mark.parametrize(("window", "complaint"), [((0.5, 0.5), "must end after"), ((2.0, 3.0), "nothing from 2 s")])
def test_a_window_without_anything_to_see_is_refused(make_run, window, complaint):
    with pytest.raises(ValueError, match=complaint):
        shown_span([make_run()], window)
