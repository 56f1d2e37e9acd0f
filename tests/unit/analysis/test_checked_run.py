"""Unstable sampled loops are said in runs from Python as they are in the shell."""

import dataclasses

from support.sampled_loops import single_loop

import robodyn as rd

UNSTABLE = 30.0  # u = -k x held for 0.1 s: x_next = (1 - 0.1 k) x, stable below k = 20


def moved(gain, **fields):
    return single_loop(gain, **({"initial": {"plant.value": 1.0}, "duration": 2.0} | fields))


def test_an_unstable_loop_is_a_warning_of_the_run():
    (warning,) = rd.simulate(moved(UNSTABLE)).warnings
    assert "the loop of loop is unstable" in warning
    assert "reduce loop.gain below 66.7 %" in warning


def test_a_stable_loop_is_none():
    assert rd.simulate(moved(3.0)).warnings == ()


def test_changed_numbers_are_judged_with_the_change():
    assert rd.simulate(moved(UNSTABLE), parameters={"loop.gain": 3.0}).warnings == ()
    assert "unstable" in rd.simulate(moved(3.0), parameters={"loop.gain": UNSTABLE}).warnings[0]


def test_the_outcome_of_a_run_that_fails_names_the_loop():
    scenario = moved(1e20)
    run = rd.simulate(dataclasses.replace(scenario, duration=10.0))
    assert not run.outcome.ok
    assert "the loop of loop is unstable" in run.outcome.sentence


def test_short_steps_of_what_grows_are_not_called_stiffness():
    grows = rd.Block("runaway", lambda value: {"value_dot": value**2}, states={"value": 1.0})
    machine = single_loop().machine
    scenario = rd.Scenario(
        "runaway", dataclasses.replace(machine, blocks=(grows,)), 2.0, solver=rd.Solver("dopri5", max_steps=60_000)
    )
    run = rd.simulate(scenario)
    assert not run.outcome.ok
    assert "stiff" not in run.outcome.sentence, run.outcome.sentence
