"""Are the runs of a sweep those that were asked for, and the same as single runs?"""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import ModelError, Solver, simulate
from robodyn.analysis.sweeps.plan import plan_sweep
from robodyn.analysis.sweeps.runner import run_sweep
from robodyn.analysis.sweeps.runs import Nonlinear
from robodyn.analysis.sweeps.variation import Distribution, Factors
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Block, Event, Recording

# Single runs and runs of a sweep take the same steps but where numbers became inputs of the code: rounding.
ROUNDING = 1e-9
HALF = Distribution("scale", (0.5, 1.0))


@pytest.fixture(scope="module")
def arm():
    short = find_scenario("two-link-loop").with_numbers({"duration": 0.15})
    # As sweeps do where there are sampled blocks: one row a step.
    return replace(short, recording=Recording(refine=1))


@pytest.fixture(scope="module")
def pendulum():
    return find_scenario("pendulum").with_numbers({"duration": 1.0})


def single(scenario, changes):
    return simulate(scenario.with_numbers(changes))


def test_numbers_have_the_units_of_their_places(arm):
    plan = plan_sweep(arm, vary={"elbow.friction.coulomb": [1.0, 2.0]}, random={"elbow.friction.viscous": HALF}, runs=2)
    assert plan.units["elbow.friction.coulomb"] == plan.axes[0].unit == "N m"
    assert plan.units["elbow.friction.viscous"] == "N m s/rad"


def test_every_combination_is_run_the_last_axis_fastest(pendulum):
    plan = plan_sweep(pendulum, vary={"bob.mass": [1, 2], "gravity.z": [-9.81, -3.7, -1.6]})
    assert plan.n_runs == 6
    assert [plan.changes(k)["bob.mass"] for k in range(6)] == [1, 1, 1, 2, 2, 2]
    assert [plan.changes(k)["gravity.z"] for k in range(6)] == [-9.81, -3.7, -1.6] * 2


def test_names_of_a_list_take_one_value_and_factors_multiply_each_number(arm):
    plan = plan_sweep(arm, vary={"shoulder.friction.static,elbow.friction.static": [5.0], "*.coulomb": Factors((0.5,))})
    assert plan.changes(0) == {
        "shoulder.friction.static": 5.0,
        "elbow.friction.static": 5.0,
        "shoulder.friction.coulomb": 4.0,
        "elbow.friction.coulomb": 2.0,
    }


def test_a_pattern_draws_each_number_by_itself_and_a_list_together(arm):
    spread = Distribution("scale", (0.8, 1.2))
    plan = plan_sweep(
        arm, random={"*.coulomb": spread, "shoulder.friction.static,elbow.friction.static": spread}, runs=50
    )
    factors = {name: plan.inputs[:, k] / arm.numbers()[name].value for k, name in enumerate(plan.names)}
    assert abs(np.corrcoef(factors["shoulder.friction.coulomb"], factors["elbow.friction.coulomb"])[0, 1]) < 0.5
    assert factors["shoulder.friction.static"] == pytest.approx(factors["elbow.friction.static"], rel=1e-14)


def test_draws_depend_on_nothing_but_their_name_and_the_seed(arm):
    coulomb, viscous = {"*.coulomb": Distribution("scale", (0.5, 2))}, {"*.viscous": Distribution("lognormal", (0.1,))}
    alone = plan_sweep(arm, random=coulomb, runs=20, seed=3)
    among = plan_sweep(arm, random=viscous | coulomb, runs=40, seed=3)
    for name in alone.names:
        assert among.inputs[:20, among.names.index(name)].tolist() == alone.inputs[:, alone.names.index(name)].tolist()
    assert plan_sweep(arm, random=coulomb, runs=20, seed=4).inputs.tolist() != alone.inputs.tolist()


@pytest.mark.parametrize(
    ("distribution", "mean", "deviation"),
    [
        (Distribution("normal", (3.0, 0.2)), 3.0, 0.2),
        (Distribution("uniform", (2.0, 5.0)), 3.5, 3 / np.sqrt(12)),
        (Distribution("scale", (0.5, 1.5)), 1.0, 1 / np.sqrt(12)),
        (Distribution("lognormal", (0.3,)), np.exp(0.045), np.exp(0.045) * np.sqrt(np.exp(0.09) - 1)),
    ],
)
def test_draws_have_the_mean_and_deviation_of_their_distribution(pendulum, distribution, mean, deviation):
    values = plan_sweep(pendulum, random={"bob.mass": distribution}, runs=4000).inputs[:, 0]
    # Four standard errors of 4000 draws: 4 / sqrt(4000) of the deviation, and of the deviation 4 / sqrt(8000).
    assert values.mean() == pytest.approx(mean, abs=0.064 * deviation)
    assert values.std() == pytest.approx(deviation, rel=0.09)


def test_rows_are_those_of_single_runs(arm):
    vary = {"shoulder.friction.coulomb": [4.0, 12.0], "forearm.mass": [6.0, 9.0], "initial.elbow.position": [0.0, 0.1]}
    plan = plan_sweep(arm, vary=vary, measures=["peak:tool.position.z", "final:shoulder.position", "min:elbow.torque"])
    assert plan.structural == ()
    table = run_sweep(plan, workers=1)
    for k in (0, 3, 6):
        run = single(arm, plan.changes(k))
        assert table["peak:tool.position.z"][k] == pytest.approx(
            np.max(np.abs(run["tool.position.z"].values)), rel=ROUNDING
        )
        assert table["final:shoulder.position"][k] == pytest.approx(run["shoulder.position"].final, rel=ROUNDING)
        assert table["min:elbow.torque"][k] == pytest.approx(run["elbow.torque"].values.min(), rel=1e-6)


def test_numbers_that_are_constants_of_the_code_are_varied_too(arm):
    vary = {
        "elbow.velocity_loop.period": [0.25e-3, 0.5e-3],
        "duration": [0.05, 0.1],
        "elbow.drive.torque_limit": [5, np.inf],
    }
    plan = plan_sweep(arm, vary=vary, measures=["final:elbow.position"])
    assert plan.structural == ("elbow.velocity_loop.period", "elbow.drive.torque_limit")
    table = run_sweep(plan, workers=2)
    for k in (0, 5, 7):
        run = single(arm, plan.changes(k))
        assert table.end_time[k] == plan.changes(k)["duration"]
        assert table["final:elbow.position"][k] == pytest.approx(run["elbow.position"].final, rel=ROUNDING)


def test_a_closed_chain_is_assembled_for_its_start_and_duration():
    scenario = find_scenario("four-bar").with_numbers({"duration": 0.2})
    joint = scenario.machine.mechanism.axes[0].name
    plan = plan_sweep(scenario, vary={f"initial.{joint}.velocity": [0.0, 0.5], "duration": [0.1, 0.2]})
    assert set(plan.structural) == {f"initial.{joint}.velocity", "duration"}
    table = run_sweep(plan, workers=1)
    run = single(scenario, plan.changes(3))
    assert table[f"final:{joint}.position"][3] == pytest.approx(run[f"{joint}.position"].final, rel=ROUNDING)


def test_results_do_not_depend_on_the_number_of_threads(arm):
    random = {"*.coulomb": Distribution("scale", (0.8, 1.2))}
    plan = plan_sweep(
        arm, random=random, runs=12, measures=["rms:tool.velocity.x"], keep=["tool.position.*"], points=20
    )
    for method in ("nonlinear", "perturbation"):
        one, many = run_sweep(plan, workers=1, method=method), run_sweep(plan, workers=3, method=method)
        assert many["rms:tool.velocity.x"].tolist() == one["rms:tool.velocity.x"].tolist()
        assert np.array_equal(many.curves.values["tool.position.x"], one.curves.values["tool.position.x"])


def test_a_run_that_cannot_be_carried_through_is_a_row_with_its_sentence(pendulum):
    stiff = replace(pendulum, solver=Solver("euler", step=0.01, max_steps=60))
    table = run_sweep(plan_sweep(stiff, vary={"duration": [0.5, 1.0], "bob.mass": [1.0, -1.0]}), workers=1)
    assert table.outcomes == ("finished", "failed", "step_limit", "failed")
    assert "60 steps" in table.sentences[2]
    assert "mass" in table.sentences[1]
    assert np.isfinite(table["final:hinge.position"]).tolist() == [True, False, False, False]
    assert table.failures == {"failed": 2, "step_limit": 1}


def test_a_rule_of_a_law_refuses_a_value_as_a_single_run_does(arm):
    table = run_sweep(plan_sweep(arm, vary={"elbow.friction.stiffness": [5e4, -1.0]}), workers=1)
    with pytest.raises(ModelError) as refused:
        arm.with_numbers({"elbow.friction.stiffness": -1.0})
    assert table.sentences[1] == "; ".join(map(str, refused.value.flaws))


def test_blocks_and_actions_in_python_run_as_in_single_runs(pendulum):
    def push(velocity, gain):
        return {"torque": -gain * velocity}

    machine = pendulum.machine
    blocks = (
        Block("brake", push, inputs={"velocity": "hinge.velocity"}, parameters={"gain": 1.0}, period=0.01, native=False,
              hold={"torque": 0.0}, acts={"torque": "hinge"}),
    )  # fmt: skip
    passing = Event("passing", lambda angle: angle, {"angle": "hinge.position"}, terminal=True)
    braked = replace(pendulum, machine=replace(machine, blocks=blocks), events=(passing,))
    plan = plan_sweep(braked, vary={"brake.gain": [0.5, 2.0]}, measures=["final:hinge.velocity"])
    table = run_sweep(plan, workers=2)
    assert table.outcomes == ("stopped", "stopped")
    for k in range(2):
        run = single(braked, plan.changes(k))
        assert table["final:hinge.velocity"][k] == pytest.approx(run["hinge.velocity"].final, rel=ROUNDING)


def test_another_way_to_simulate_can_be_given(pendulum):
    def prepare(plan):
        simulate_fully = Nonlinear(plan)
        return lambda changes: simulate_fully(changes | {"bob.mass": 1.0, "initial.hinge.position": 0.0})

    plan = plan_sweep(pendulum, vary={"initial.hinge.position": [1.0, 2.0]}, measures=["peak:hinge.position"])
    assert run_sweep(plan, workers=1, method=prepare)["peak:hinge.position"].tolist() == [0.0, 0.0]
    with pytest.raises(ModelError, match="nonlinear"):
        run_sweep(plan, workers=1, method="nonlinar")


def test_all_flaws_of_a_plan_are_told_at_once(arm):
    with pytest.raises(ModelError) as refused:
        plan_sweep(
            arm,
            vary={"shoulder.friction.colomb": [1.0], "elbow.mass": [], "elbow.friction.static": [2.0, 2.0]},
            random={
                "elbow.friction.static": Distribution("normal", (1.0, -1.0)),
                "gravity.x": Distribution("scale", (1, 2)),
            },
            measures=["peak:tool.position.q", "biggest:tool.position.x"],
            along="time",
        )
    message = str(refused.value)
    for words in (
        "shoulder.friction.coulomb",
        "no such number",
        "value twice",
        "deviation",
        "0 or infinite",
        "kind of",
    ):
        assert words in message
    assert "tool.position" in message
    assert "along: has no effect" in message


def test_a_number_varied_twice_is_refused(arm):
    both = {"*.coulomb": Distribution("scale", (0.9, 1.1))}
    with pytest.raises(ModelError, match="elbow.friction.coulomb: is varied twice"):
        plan_sweep(arm, vary={"elbow.friction.coulomb": [1.0, 2.0]}, random=both)


def test_runs_near_the_nominal_motion_give_nearly_the_same(arm):
    vary = {"shoulder.friction.coulomb": [4.0, 8.0], "upper_arm.mass": [10.0, 14.0]}
    plan = plan_sweep(arm, vary=vary, measures=["peak:tool.position.x", "final:elbow.position"])
    full, near = (run_sweep(plan, workers=1, method=method) for method in ("nonlinear", "perturbation"))
    for measure in ("peak:tool.position.x", "final:elbow.position"):
        # Deviations below 1 mrad: their squares.
        assert near[measure] == pytest.approx(full[measure], abs=2e-6)
        assert not np.array_equal(near[measure], full[measure])
