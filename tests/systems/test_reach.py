"""A coordinate that leaves its range ends the run with a sentence; a start outside is refused."""

from dataclasses import replace

import pytest

from robodyn import (
    Block,
    Body,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Scenario,
    Solver,
    TriangleLength,
    assemble,
    simulate,
)
from robodyn.computation.results import OutcomeKind


def crane(initial=0.0, stroke=(0.2, 0.4)):
    body = Body("boom", 2.0, com=(0.5, 0, 0), inertia=(0.01, 0.01, 0.01, 0, 0, 0))
    mechanism = Mechanism("crane", [body], [Joint("hinge", "revolute", "ground", "boom", axis=(0, -1, 0))])
    lift = TriangleLength("lift", {"hinge": 1.0}, (0.3, 0.2), offset=1.0, range=stroke)
    blocks = [Block("seal", "damper", on="lift", parameters={"damping": 50.0})]
    machine = Machine("crane", mechanism, blocks=blocks, coordinates=[lift])
    return Scenario("crane", machine, 5.0, {"hinge.position": initial}, solver=Solver("dopri5"))


def test_a_boom_that_falls_ends_out_of_reach_of_its_cylinder():
    run = simulate(crane())
    assert run.outcome.kind is OutcomeKind.OUT_OF_REACH
    assert run.outcome.failed
    assert 0 < run.outcome.time < 5
    for word in ("lift", "lower end", "0.2 to 0.4"):
        assert word in run.outcome.sentence
    assert run["lift.position"].values[-1] == pytest.approx(0.2, abs=1e-9)


def test_within_its_range_it_runs_on():
    assert simulate(crane(stroke=(0.1, 0.5))).outcome.ok


def test_a_start_out_of_reach_is_refused_with_length_and_range():
    with pytest.raises(ModelError) as error:
        assemble(crane(initial=1.5))
    text = str(error.value)
    for word in ("coordinates.lift.range", "0.47", "0.2 to 0.4"):
        assert word in text


def test_an_equilibrium_out_of_reach_is_refused():
    scenario = crane(initial=0.0)
    spring = Block("spring", "spring", on="hinge", parameters={"stiffness": 8.0})
    machine = replace(scenario.machine, blocks=(*scenario.machine.blocks, spring))
    with pytest.raises(ModelError, match="nothing at rest found near the start and within the ranges"):
        simulate(replace(scenario, machine=machine, initialisation="at_rest"))


def cylinder(start=0.0):
    piston = Mechanism("rig", [Body("rod", 5.0)], [Joint("slide", "prismatic", "ground", "rod", axis=(1, 0, 0))])
    parameters = {
        "area": -1.2e-4, "volume": 3e-5, "bulk_modulus": 7e8,
    }  # fmt: skip
    drain = Block("drain", "valve_edge", inputs={"opening": 0.3, "pressure_in": "oil.pressure"},
                  parameters={"flow_coefficient": 2e-7}, unit="A")  # fmt: skip
    oil = Block("oil", "piston_chamber", on="slide", inputs={"flow_1": "drain.flow_in"}, parameters=parameters)
    push = Block("push", "constant_force", on="slide", parameters={"value": 800.0})
    return Scenario("rig", Machine("rig", piston, blocks=[oil, drain, push]), 5.0, {"slide.position": start})


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "auto"])
def test_a_piston_at_the_end_of_its_stroke_ends_the_run(method):
    """V = V0 - A s is used up at s = 0.25 m."""
    run = simulate(cylinder(), Solver(method))
    assert run.outcome.kind is OutcomeKind.OUT_OF_REACH
    assert "'oil.spare_volume' reached zero" in run.outcome.sentence
    assert "end stop" in run.outcome.sentence
    assert run["slide.position"].values[-1] == pytest.approx(0.999 * 3e-5 / 1.2e-4, abs=1e-9)


def test_a_piston_beyond_its_stroke_is_suspect():
    run = simulate(cylinder(start=0.3))
    assert run.outcome.kind is not OutcomeKind.FINISHED
    assert "laws are within their range" in str(run.certificate)
