"""A run that leaves its constraints says which one, how far, and what helps."""

from math import pi

import pytest
from support.linkages import crank_rocker

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Joint,
    Machine,
    Mechanism,
    PrescribedMotion,
    Scenario,
    simulate,
)
from robodyn.base.symbolic import cos, sin
from robodyn.computation.results import OutcomeKind


def sine(time):
    rate = 4 * pi
    swing, slope = 0.5 * sin(rate * time), 0.5 * rate * cos(rate * time)
    return {"value": swing, "rate": slope, "curvature": -(rate**2) * swing}


def led(method, rates):
    """A hinge that is to swing as a sine, at rates that are given."""
    body = Body("arm", 1.0, (0.5, 0, 0), (0, 0.1, 0.1))
    hinge = Joint("hinge", "revolute", GROUND, "arm", axis=(0, -1, 0))
    prescribed = PrescribedMotion("lead", "hinge", "swing.value", **rates)
    mechanism = Mechanism("arm", (body,), (hinge,))
    machine = Machine("arm", mechanism, (Block("swing", sine),), constraints=(prescribed,))
    return Scenario("arm", machine, 2.0, {"hinge.velocity": 2 * pi}, constraint_method=ConstraintMethod(method))


@pytest.mark.parametrize("method", ["baumgarte", "projection"])
def test_a_motion_with_wrong_rates_is_suspect_and_says_why(method):
    run = simulate(led(method, {"velocity": 0.0, "acceleration": 0.0}))
    assert run.outcome.kind is OutcomeKind.SUSPECT
    check = run.certificate["constraints, positions"]
    assert (check.subject, check.unit) == ("lead", "rad")
    # What is watched is not only what is kept: rows that did not suffice were replaced by finer ones.
    assert check.value >= run["constraints.position_error"].max
    assert check.value == pytest.approx(run["constraints.position_error"].max, rel=1e-2)
    assert check.value > 10 * check.limit
    assert "the rates of its position" in check.remedy
    assert ("projection" in check.remedy) == (method == "baumgarte")


def test_a_motion_with_its_own_rates_is_not():
    run = simulate(led("projection", {"velocity": "swing.rate", "acceleration": "swing.curvature"}))
    assert run.outcome.kind is OutcomeKind.FINISHED
    assert run.certificate["constraints, positions"].value < 1e-4


def test_what_counts_as_closed_is_a_part_of_a_small_machine():
    """The bars of 0.3 to 0.9 mm reach 1.5 mm at most."""
    tiny = crank_rocker(lengths=(3e-4, 9e-4, 7e-4), ground=8e-4, duration=0.01)
    check = simulate(tiny).certificate["constraints, positions"]
    assert (check.subject, check.unit) == ("loop", "m")
    assert 0.5e-6 < check.limit < 1.5e-6
    assert check.value < 1e-9
