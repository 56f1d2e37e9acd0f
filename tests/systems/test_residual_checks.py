"""A run that leaves its constraints says which one, how far, and what helps."""

from math import pi

import pytest

from robodyn import GROUND, Block, Body, Joint, Machine, Mechanism, Prescribed, Scenario, Treatment, simulate
from robodyn.results import OutcomeKind


def told_wrongly(method, rates):
    """A hinge that is to swing as a sine, with rates that are not those of the sine."""
    body, hinge = (
        Body("arm", 1.0, (0.5, 0, 0), (0, 0.1, 0.1)),
        Joint("hinge", "revolute", GROUND, "arm", axis=(0, -1, 0)),
    )
    swing = Block("swing", "sine_reference", parameters={"amplitude": 0.5, "frequency": 2.0})
    prescribed = Prescribed("lead", "hinge", "swing.value", **rates)
    machine = Machine("arm", Mechanism("arm", (body,), (hinge,)), (swing,), constraints=(prescribed,))
    return Scenario("arm", machine, 2.0, {"hinge.velocity": 2 * pi}, treatment=Treatment(method))


@pytest.mark.parametrize("method", ["baumgarte", "projection"])
def test_a_motion_with_wrong_rates_is_suspect_and_says_why(method):
    run = simulate(told_wrongly(method, {"velocity": 0.0, "acceleration": 0.0}))
    assert run.outcome.kind is OutcomeKind.SUSPECT
    check = run.certificate["constraints, positions"]
    assert (check.subject, check.unit) == ("lead", "rad")
    assert check.value == pytest.approx(run["constraints.position_error"].max, rel=1e-9)
    assert check.value > 10 * check.limit
    assert "the rates of its position" in check.remedy
    assert ("projection" in check.remedy) == (method == "baumgarte")


def test_a_motion_with_its_own_rates_is_not():
    rates = {"velocity": "swing.rate", "acceleration": "swing.curvature"}
    run = simulate(told_wrongly("projection", rates))
    assert run.outcome.kind is OutcomeKind.FINISHED
    assert run.certificate["constraints, positions"].value < 1e-4
