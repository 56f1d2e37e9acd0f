"""An assembled start keeps what is given; contradictions are reported, and what was found is listed."""

from dataclasses import replace
from math import sin

import numpy as np
import pytest
from support.linkages import crank_rocker

from robodyn import (
    GROUND,
    Body,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PrescribedMotion,
    Rod,
    Scenario,
    assemble,
    simulate,
)
from robodyn.analysis import linearise
from robodyn.computation.results import load, save
from robodyn.computation.simulation import close_constraints
from robodyn.computation.simulation.loop_assembly import find_kept
from robodyn.description.catalog import cartesian_pendulum

JOINTS = ("crank_joint", "coupler_joint", "rocker_joint")


def started(scenario, **fields):
    return simulate(replace(scenario, duration=1e-3, **fields))


def given(**values):
    return {name.replace("__", "_joint."): value for name, value in values.items()}


def rocker_speed(run):
    """Of the crank-rocker, from its angles and the crank's speed: both rates across the coupler are equal."""
    crank, coupler, rocker = (float(run[f"{joint}.position"](0.0)) for joint in JOINTS)
    along = crank + coupler
    return float(run["crank_joint.velocity"](0.0)) * 0.3 * sin(crank - along) / (0.7 * sin(rocker - along))


@pytest.mark.parametrize("joint", JOINTS)
def test_a_speed_that_is_given_stays_whichever_joint_has_it(joint):
    run = started(crank_rocker(initial={f"{joint}.velocity": 10.0}))
    assert run[f"{joint}.velocity"].values[0] == 10.0
    assert run["constraints.velocity_error"].values[0] < 1e-12
    assert run["rocker_joint.velocity"].values[0] == pytest.approx(rocker_speed(run), rel=1e-9)


def test_of_positions_the_first_ones_stay_as_many_as_are_free():
    run = started(crank_rocker())
    assert run["crank_joint.position"].values[0] == 1.0
    assert set(run.found) == {"coupler_joint.position", "rocker_joint.position"}
    turned = {f"{joint}.position": crank_rocker().initial[f"{joint}.position"] for joint in reversed(JOINTS)}
    other = started(replace(crank_rocker(), initial=turned))
    assert other["rocker_joint.position"].values[0] == turned["rocker_joint.position"]
    assert "crank_joint.position" in other.found


def test_what_was_found_is_listed_beside_what_was_described(tmp_path):
    run = started(crank_rocker())
    described, found = run.found["rocker_joint.position"]
    assert described == crank_rocker().initial["rocker_joint.position"]
    assert found == run["rocker_joint.position"].values[0]
    assert f"start rocker_joint.position: {described:.6g} described, {found:.6g} found" in run.summary()
    assert load(save(run, tmp_path / "a.run")).found == run.found
    assert not started(cartesian_pendulum()).found


def test_a_scenario_says_what_is_kept_and_what_is_a_guess():
    run = started(crank_rocker(), keep=["coupler_joint.position"])
    assert run["coupler_joint.position"].values[0] == -0.5
    nearest = close_constraints(assemble(crank_rocker()), keep=()).positions
    run = started(crank_rocker(), keep=())
    assert all(run[name].values[0] == pytest.approx(place, abs=1e-12) for name, place in nearest.items())


def test_more_positions_than_are_free_can_be_kept_where_they_fit():
    closed = close_constraints(assemble(crank_rocker())).positions
    run = started(replace(crank_rocker(), initial=dict(closed)), keep=tuple(closed))
    assert not run.found


def test_positions_that_contradict_each_other_are_told_with_what_would_fit():
    keep = ("crank_joint.position", "coupler_joint.position")
    fits = close_constraints(assemble(crank_rocker())).positions["coupler_joint.position"]
    with pytest.raises(ModelError) as error:
        started(crank_rocker(), keep=keep)
    message = str(error.value)
    assert (
        "initial.coupler_joint.position: -0.5 rad cannot be kept with the constraints met: beside crank_joint.position"
        in message
    )
    assert f"the constraints ask for {fits:.6g} rad, {fits + 0.5:+.3g} rad" in message


def test_speeds_that_contradict_each_other_are_told_with_what_would_fit():
    fits = float(started(crank_rocker(initial=given(crank__velocity=2.0)))["rocker_joint.velocity"](0.0))
    with pytest.raises(ModelError) as error:
        started(crank_rocker(initial=given(crank__velocity=2.0, rocker__velocity=5.0)))
    assert "initial.rocker_joint.velocity: 5 rad/s cannot be kept" in str(error.value)
    assert f"the constraints ask for {fits:.6g} rad/s, {fits - 5:+.3g} rad/s" in str(error.value)


def test_a_speed_against_a_prescribed_one_is_told():
    scenario = crank_rocker(initial=given(crank__velocity=3.0))
    driven = PrescribedMotion("turn", "crank_joint", 1.0)
    machine = replace(scenario.machine, constraints=(*scenario.machine.constraints, driven))
    with pytest.raises(ModelError, match=r"crank_joint\.velocity: 3 rad/s cannot be kept .* is .*0 rad/s, -3 rad/s"):
        started(replace(scenario, machine=machine))


def test_a_place_out_of_reach_is_told():
    far = {"x.position": -1.25, "z.position": -0.5}
    with pytest.raises(ModelError, match=r"initial\.x\.position: -1\.25 m cannot be kept"):
        started(replace(cartesian_pendulum(), initial=far, initialisation="assembled"))


def test_a_dead_centre_is_no_reason_to_let_go():
    """At x = -1 m the rod is level and x cannot move; x is kept all the same, as it is elsewhere."""
    scenario = replace(cartesian_pendulum(), initialisation="assembled")
    assert find_kept(assemble(scenario)) == ("x.position",)
    run = started(replace(scenario, initial={"x.position": -0.6, "z.position": -0.9}))
    assert run["x.position"].values[0] == -0.6
    assert run["z.position"].values[0] == pytest.approx(-0.8, abs=1e-12)


def test_another_length_is_assembled_with_the_same_values_kept():
    scenario = replace(
        cartesian_pendulum(), initial={"x.position": -0.6, "z.position": -0.9}, initialisation="assembled"
    )
    machine = replace(scenario.machine, constraints=(Rod("rod", "pivot", "tip", 0.75),))
    run = started(replace(scenario, machine=machine))
    assert run["x.position"].values[0] == -0.6
    assert run["z.position"].values[0] == pytest.approx(-0.45, abs=1e-12)


def test_linear_models_begin_where_the_run_does():
    scenario = crank_rocker(initial=given(crank__velocity=2.0))
    model = linearise(assemble(scenario), at="start")
    run = started(scenario)
    for joint in JOINTS:
        assert model.point.x[JOINTS.index(joint)] == pytest.approx(float(run[f"{joint}.position"](0.0)), abs=1e-12)


def test_keep_is_checked():
    cases = {
        ("rocker_joint",): "is not a position or velocity",
        ("crank_jiont.position",): "crank_joint.position",
        ("crank_joint.position",) * 2: "2 times",
    }
    for keep, text in cases.items():
        with pytest.raises(ModelError, match=text):
            crank_rocker(keep=keep)
    with pytest.raises(ModelError, match="has no effect on the initialisation 'given'"):
        crank_rocker(initialisation="given", keep=("crank_joint.position",))
    with pytest.raises(ModelError, match="must be a list of names"):
        crank_rocker(keep="crank_joint.position")


def random_chain(generator):
    """Seven hinges in space, and positions of these."""
    bodies = [Body(f"b{k}", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1)) for k in range(7)]
    joints = [
        Joint(f"j{k}", "revolute", bodies[k - 1].name if k else GROUND, f"b{k}", (0.4, 0, 0), axis=axis)
        for k, axis in enumerate(generator.standard_normal((7, 3)))
    ]
    positions = {f"j{k}.position": float(generator.uniform(-0.5, 0.5)) for k in (6, 2, 4, 0, 1, 3, 5)}
    return bodies, joints, positions


def test_a_chain_in_space_with_its_end_tied_keeps_four_of_its_seven_positions():
    generator = np.random.default_rng(3)
    bodies, joints, closed = random_chain(generator)
    end = Point("end", "b6", (0.3, 0, 0))
    free = simulate(Scenario("free", Machine("free", Mechanism("free", bodies, joints, (end,))), 1e-3, closed))
    nail = Point("nail", GROUND, [float(free[f"end.position.{axis}"](0.0)) for axis in "xyz"])
    tied = Machine(
        "tied", Mechanism("tied", bodies, joints, (end, nail)), constraints=(LoopJoint("tie", "end", "nail"),)
    )
    speeds = {f"j{k}.velocity": float(generator.uniform(-1, 1)) for k in (1, 5, 3)}
    off = {name: value + (0.2 if name[1] in "135" else 0.0) for name, value in closed.items()}
    scenario = Scenario("tied", tied, 1e-3, off | speeds, initialisation="assembled")
    kept = {name: off[name] for name in ("j6.position", "j2.position", "j4.position", "j0.position")} | speeds
    assert set(find_kept(assemble(scenario))) == set(kept)
    run = simulate(scenario)
    assert {name: run[name].values[0] for name in kept} == kept
    assert max(run[f"constraints.{level}_error"].values[0] for level in ("position", "velocity")) < 1e-9
