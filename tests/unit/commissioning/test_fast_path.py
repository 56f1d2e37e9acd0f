"""Is a path gone along in the least time that closed forms allow, and does the machine follow it within its limits?

A cart of mass m on a rail, pushed by at most F, over a length L:

    no friction       T = 2 sqrt(L m / F)
    dry friction c    braking is helped by it: a = (F - c)/m, b = (F + c)/m, T = sqrt(2 L (a + b) / (a b))
    jerk j alone      T = 4 (L / (2 j))^(1/3)
"""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.commissioning import move_fast
from robodyn.base.errors import ModelError
from robodyn.description.laws.speed_profile import s_curve_times
from robodyn.description.paths import straight_line

MASS, FORCE, LENGTH = 2.0, 10.0, 0.4


def cart(*blocks, speed=None, mass=MASS):
    joint = rd.Joint("rail", "prismatic", rd.GROUND, "cart", axis=(1, 0, 0), effort_limit=FORCE, speed_limit=speed)
    mechanism = rd.Mechanism("cart", (rd.Body("cart", mass),), (joint,), (rd.Point("tool", "cart"),))
    return rd.Machine("cart", mechanism, blocks)


def go(machine, **settings):
    return move_fast(machine, straight_line((0, 0, 0), (LENGTH, 0, 0)), free=["y", "z"], **settings)


def test_a_cart_is_pushed_and_braked_with_all_its_force():
    found = go(cart())
    assert found.duration == pytest.approx(2 * np.sqrt(LENGTH * MASS / FORCE), rel=2e-3)
    assert found.use.max() <= 1 + 1e-6
    assert np.mean(found.use > 0.99) > 0.95
    # Nothing is faster than one switch, which a trapezoid can do too.
    assert found.trapezoid == pytest.approx(found.duration, rel=0.01)


def test_dry_friction_costs_less_time_than_it_costs_force():
    c = 4.0
    friction = rd.Block("friction", "stick_friction", on="rail", parameters={"coulomb": c, "static": c})
    a, b = (FORCE - c) / MASS, (FORCE + c) / MASS
    found = go(cart(friction))
    assert found.duration == pytest.approx(np.sqrt(2 * LENGTH * (a + b) / (a * b)), rel=2e-3)
    # A trapezoid has one acceleration for both: the smaller one.
    assert found.trapezoid == pytest.approx(2 * np.sqrt(LENGTH / a), rel=0.01)
    assert found.duration < 0.9 * found.trapezoid


def test_friction_back_is_that_of_the_way_back():
    """The closed form with the level of the direction gone; the way back is that of the level back alone."""
    levels = {"coulomb": 2.0, "coulomb_back": 6.0, "static": 2.0, "static_back": 6.0}
    machine = cart(rd.Block("friction", "two_way_stick_friction", on="rail", parameters=levels))
    for end, c in ((LENGTH, 2.0), (-LENGTH, 6.0)):
        a, b = (FORCE - c) / MASS, (FORCE + c) / MASS
        found = move_fast(machine, straight_line((0, 0, 0), (end, 0, 0)), free=["y", "z"])
        assert found.duration == pytest.approx(np.sqrt(2 * LENGTH * (a + b) / (a * b)), rel=2e-3)


def test_speed_and_jerk_limits_are_kept():
    limited = go(cart(speed=0.5))
    a = FORCE / MASS
    assert limited.duration == pytest.approx(LENGTH / 0.5 + 0.5 / a, rel=2e-3)
    jerk = 30.0
    t_jerk, t_even, t_cruise = s_curve_times(LENGTH, 100.0, a, jerk)
    found = go(cart(), jerk=jerk)
    # Between two points the jerk is an average: a first-order error of 200 of them.
    assert found.duration == pytest.approx(4 * t_jerk + 2 * t_even + t_cruise, rel=0.01)


def test_an_arm_is_faster_than_by_a_trapezoid_and_reaches_its_limits_on_the_way(dressed_arm):
    scenario, path = dressed_arm
    found = move_fast(scenario, path, share=0.9, jerk=400.0, points=60)
    assert found.duration < 0.95 * found.trapezoid
    # Between the points of the grid as well, some percent beyond.
    assert 0.85 < found.use.max() < 0.95
    run = rd.simulate(found.scenario)
    assert run.outcome.ok
    for k in range(1, len(found.joints) + 1):
        ends = run[f"move.position{k}"].final
        assert ends == pytest.approx(found.position[-1, k - 1], abs=1e-9)
    lighter = dataclasses.replace(scenario, machine=scenario.machine.with_numbers({"fore.mass": 3.0}))
    assert move_fast(lighter, path, share=0.9, jerk=400.0, points=60).duration < found.duration


@pytest.fixture(scope="module")
def dressed_arm():
    """Two links that carry their weight; loops do not matter here, references are read by hand."""
    joints = (
        rd.Joint("shoulder", "revolute", rd.GROUND, "upper", axis=(0, -1, 0), effort_limit=150.0, speed_limit=6.0),
        rd.Joint(
            "elbow",
            "revolute",
            "upper",
            "fore",
            origin=(0.5, 0, 0),
            axis=(0, -1, 0),
            effort_limit=40.0,
            speed_limit=6.0,
        ),
    )
    bodies = (
        rd.Body("upper", 10.0, com=(0.25, 0, 0), inertia=(0.02, 0.2, 0.2)),
        rd.Body("fore", 6.0, com=(0.2, 0, 0), inertia=(0.01, 0.1, 0.1)),
    )
    mechanism = rd.Mechanism("arm", bodies, joints, (rd.Point("tool", "fore", (0.4, 0, 0)),))
    blocks = []
    for joint in ("shoulder", "elbow"):
        blocks.append(rd.Block(f"{joint}.reference", "standing_reference", parameters={"positions": 0.3}))
        inputs = {"target": f"{joint}.reference.position"}
        numbers = {"proportional": 2e4, "derivative": 400.0}
        blocks.append(rd.Block(f"{joint}.loop", "pd_control", on=joint, inputs=inputs, parameters=numbers))
        blocks.append(
            rd.Block(f"{joint}.drive", "torque_source", on=joint, inputs={"command": f"{joint}.loop.command"})
        )
    machine = rd.Machine("arm", mechanism, tuple(blocks))
    start = {"shoulder.position": 0.35, "elbow.position": 0.5}
    scenario = rd.Scenario("arm", machine, 0.1, initial=start)
    tool = rd.MachineDynamics(machine).position("tool", np.array([0.35, 0.5]))
    return scenario, straight_line(tool, tool + (-0.2, 0, -0.3))


def test_what_cannot_even_stand_is_refused_with_its_place(dressed_arm):
    scenario, path = dressed_arm
    with pytest.raises(ModelError, match="of a limit is needed to stand"):
        move_fast(scenario.machine.with_numbers({"fore.mass": 60.0}), path, start={"shoulder": 0.35, "elbow": 0.5})
    with pytest.raises(ModelError) as refused:
        go(cart(), share=2.0, jerk=-1.0, points=3)
    assert len(refused.value.flaws) == 3
    with pytest.raises(ModelError, match="has no motor"):
        go(cart(), current={"rail": 3.0})
