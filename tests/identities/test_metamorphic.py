"""Does a machine do the same where it is described or run in another way? See `support.metamorphic`."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from support.metamorphic import RELATIONS, TINY, NotComparable, compare_twin, scale
from support.random_machines import random_scenario

import robodyn as rd
from robodyn.computation.assembly.contact.stick_friction import find_held_joints
from robodyn.computation.assembly.machine_size import size_machine

SEEDS = (0, 1, 2, 3, 5, 6, 7, 9)
SCALED = (3, 5, 12, 15, 18, 22, 31, 54)
"""Machines with friction that sticks, loops, joints of all kinds, rigid contacts, freewheels, a servo."""


# One machine is compared with one twin after another: what it does is found once.
machine = cache(random_scenario)


@pytest.mark.parametrize("relation", RELATIONS)
def test_described_otherwise_a_machine_does_the_same(relation):
    found, compared = [], Counter()
    for seed in SCALED if relation == "scale" else SEEDS:
        try:
            difference = compare_twin(machine(seed, 2 + (relation == "scale")), relation)
        except NotComparable:
            continue
        compared[relation] += 1
        found += [f"seed {seed}: {difference}"] if difference else []
    assert found == []
    assert compared[relation] >= 3


def test_a_twin_that_is_another_machine_is_told():
    """The comparison itself: a mass that is 1 % more is seen."""
    from support import metamorphic

    scenario = random_scenario(1, 2)
    heavier = scenario.with_numbers({"b0.mass": 1.01 * scenario.numbers()["b0.mass"].value})
    assert "differs by" in metamorphic._compare(scenario, metamorphic.Twin(heavier), metamorphic.CLOSE)


def test_a_machine_of_micrometres_has_inertia_and_tolerances_of_its_size():
    """A free body of 1 um: its inertia of 1e-12 m^2 times its mass is no rounding beside that mass."""
    body = rd.Body("drop", 1.0, (0, 0, 0), (1e-12, 1e-12, 1e-12))
    mechanism = rd.Mechanism("m", [body], [rd.Joint("fly", "free", "ground", "drop")])
    scenario = rd.Scenario("s", rd.Machine("m", mechanism), 1.0, {"fly.angular_velocity.x": 1.0})
    run = rd.simulate(scenario)
    assert run["fly.z.position"].values[-1] == pytest.approx(-9.81 / 2, rel=1e-9)
    size = size_machine(scenario)
    assert size.length == pytest.approx(np.sqrt(3e-12))
    assert size.of("m/s") == size.length
    assert size.of("N m") == pytest.approx(size.length**2)
    assert size.of("Pa") == size.of("A") == size.of("rad") == 1.0


def test_a_machine_of_metres_keeps_tolerances_in_metres():
    big = scale(random_scenario(1, 3), 64.0, 64.0).scenario
    assert size_machine(big).length == size_machine(big).mass == 1.0


def test_an_element_along_does_not_hold_a_joint_that_an_angle_moves_a_little():
    """A coordinate of a um machine: 1 by a slide, 1e-6 m by a hinge. Held, it holds neither of the two alone."""
    gradient = np.array([[1.0, 1e-6]])
    sizes = np.array([1e-6, 1.0])
    assert find_held_joints(gradient * sizes) == ((), ())


def test_scaling_is_refused_where_units_are_not_known():
    scenario = random_scenario(2, 3)
    with pytest.raises(NotComparable):
        scale(scenario, TINY)


def test_rounding_that_decides_where_a_loop_closes_is_no_threshold():
    """Two of the five equations of a loop follow from the others near its start, and not elsewhere."""
    with pytest.raises(NotComparable, match="follow from each other"):
        compare_twin(random_scenario(94, 3), "scale")
