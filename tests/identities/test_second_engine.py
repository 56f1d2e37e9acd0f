"""Does an engine of plain Python find the same motions as the one in C? See `support.second_engine`."""

import numpy as np
import pytest
from support.random_machines import random_scenario
from support.second_engine import NotForThis, SecondEngine, _forces, compare_engines

import robodyn as rd
from robodyn.base.symbolic import where
from robodyn.computation.assembly import assemble

SEEDS = (0, 1, 4, 5, 7, 11, 13, 16, 22)
"""Machines with references, samples, friction that sticks, hydraulics and loops."""


def test_random_machines_move_alike_in_both_engines():
    found, compared = [], 0
    for seed in SEEDS:
        try:
            difference = compare_engines(random_scenario(seed, 2))
        except NotForThis:
            continue
        compared += 1
        found += [f"seed {seed}: {difference}"] if difference else []
    assert found == []
    assert compared >= 6


def cart(**fields):
    """A mass that slides against dry friction of 2 N, or falls on a floor."""
    slide = rd.Joint("slide", "prismatic", "ground", "cart", axis=(1, 0, 0), **fields)
    return rd.Mechanism("m", [rd.Body("cart", 1.0)], [slide])


def test_the_second_engine_stops_where_friction_stops():
    """v = v0 - 2 t until it sticks at 0.5 s, and stays."""
    scenario = rd.Scenario("s", rd.Machine("m", cart(friction=2.0)), 1.0, {"slide.velocity": 1.0})
    states, error, _ = SecondEngine(assemble(scenario)).run(np.array([0.25, 0.75, 1.0]))
    np.testing.assert_allclose(states[:, 0], [0.25 - 0.0625, 0.25, 0.25], atol=1e-9)
    np.testing.assert_allclose(states[:, 1], [0.5, 0.0, 0.0], atol=1e-9)
    assert np.max(error) < 1e-9


def test_the_second_engine_hits_a_stop_and_rebounds():
    """It meets its limit of 0.5 m at 0.5 s and comes back with half the speed."""
    scenario = rd.Scenario(
        "s", rd.Machine("m", cart(upper_limit=0.5, stop_restitution=0.5)), 1.0, {"slide.velocity": 1.0}
    )
    states, _, _ = SecondEngine(assemble(scenario)).run(np.array([0.25, 0.75, 1.0]))
    np.testing.assert_allclose(states[:, 0], [0.25, 0.375, 0.25], atol=1e-9)
    assert compare_engines(scenario) == ""


def test_careful_steps_find_a_jump_that_no_guard_tells():
    """A mass of 1 kg that coasts at 1 m/s is pulled back by 40 N from 0.1237 m on: v = 1 - 40 (t - 0.1237)."""

    def brake(x):
        return {"force": where(x > 0.1237, -40.0, 0.0)}

    block = rd.Block("brake", brake, on="slide", inputs={"x": "slide.position"})
    referee = SecondEngine(assemble(rd.Scenario("s", rd.Machine("m", cart(), [block]), 0.14, {"slide.velocity": 1.0})))
    exact = 1 - 40 * (0.14 - 0.1237)
    (hasty,), _, _ = referee.run(np.array([0.14]))
    (careful,), _, _ = referee.run(np.array([0.14]), careful=True)
    assert abs(hasty[1] - exact) > 1e-4
    assert abs(careful[1] - exact) < 1e-7


def test_friction_of_a_contact_that_does_not_push_has_no_force():
    """Whatever its mode was when the contact parted: a push that is let go, and a tangent that is said to hold."""
    names = ("b", "below", "above", "compliance")
    columns = {name: np.zeros(2) for name in names} | {"b": np.array([1.0, 5.0]), "allowed": np.zeros(2)}
    columns |= {"partner": np.array([-1.0, 0.0]), "coefficient": np.array([0.0, 0.5])}
    for mode in (-1.0, 0.0, 1.0):
        forces, motions = _forces(np.array([1.0, mode]), np.eye(2), columns)
        np.testing.assert_array_equal([forces, motions], [[0.0, 0.0], [1.0, 5.0]])


def test_a_difference_is_told(monkeypatch):
    """The referee is no rubber stamp: a step that loses a little is seen."""
    scenario = random_scenario(1, 2)
    step = SecondEngine._step
    monkeypatch.setattr(SecondEngine, "_step", lambda self, h, stop: step(self, 0.999 * h, stop))
    assert "differs by" in compare_engines(scenario)


def test_what_it_cannot_run_is_said():
    with pytest.raises(NotForThis):
        SecondEngine(assemble(random_scenario(2, 2)))
