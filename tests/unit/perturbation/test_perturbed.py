"""How near is the perturbed motion to the non-linear one, and what does a change of numbers cost?"""

import numpy as np
import pytest
from support.followers import (
    carts,
    lagging_pull,
    pendulum,
    sprung_six_axis,
    strut_points,
    two_link,
)

from robodyn import Block, Distance, Load, Recording, Solver, simulate
from robodyn.computation.perturbation import Perturbed, compare_ways, find_convergence, simulate_perturbed
from robodyn.description.catalog.two_link import two_link_loop


def apart(first, second, name):
    return float(np.max(np.abs(first[name].values - second[name].values)))


def test_a_linear_system_is_reproduced_whatever_the_number_of_points():
    scenario = carts()
    exact = simulate(scenario)
    for points in (6, 25):
        run = simulate_perturbed(scenario, points=points)
        # The solver's tolerance of 1e-10 over some hundred steps.
        assert apart(run, exact, "second.position") < 1e-9
        assert apart(run, exact, "nose.position.x") < 1e-9


def tip_error(push, points):
    """Difference of the tip of a pushed pendulum from the non-linear motion."""
    scenario = pendulum(push)
    return apart(simulate(scenario), simulate_perturbed(scenario, points=points), "tip.position.x")


def test_the_difference_is_of_second_order_in_the_deviation():
    errors = [tip_error(push, points=400) for push in (4.0, 2.0, 1.0)]
    # Deviations of 0.06 rad and less: the third order is a few percent of the second.
    assert np.log2(np.array(errors[:-1]) / np.array(errors[1:])) == pytest.approx([2, 2], abs=0.15)


def test_the_error_falls_with_the_square_of_the_points_where_the_motion_deviates():
    scenario = pendulum(4.0)
    fine = simulate_perturbed(scenario, points=1600)
    errors = [apart(simulate_perturbed(scenario, points=count), fine, "tip.position.x") for count in (50, 100, 200)]
    # Straight lines between the points of the matrices: second order.
    assert np.log2(np.array(errors[:-1]) / np.array(errors[1:])) == pytest.approx([2, 2], abs=0.2)


def test_the_error_falls_with_the_fourth_power_where_it_does_not_deviate():
    errors = [tip_error(0.0, count) for count in (10, 20, 40)]
    # What is left is the cubic interpolation of torques and outputs.
    assert np.log2(np.array(errors[:-1]) / np.array(errors[1:])) == pytest.approx([4, 4], abs=0.4)


def test_the_convergence_with_the_points_is_a_table():
    course = find_convergence(pendulum(1.0), (10, 40), signals=("tip.position.?",))
    assert course.points == (10, 40)
    assert course.largest[0] > course.largest[1] > 0


def test_a_strut_whose_force_has_a_state_pulls_along_the_deviated_direction():
    def make(push):
        pull = Block("pull", lagging_pull, on="strut", parameters={"level": 50 * push, "time_constant": 0.05})
        return two_link(push, (pull,), (Distance("strut", "post", "lug"),), strut_points())

    scenario = make(20.0)
    exact, run = simulate(scenario), simulate_perturbed(scenario)
    deviation = apart(exact, simulate_perturbed(make(0.0)), "tool.position.z")
    # The pull of 1 kN moves the tool by centimetres; what is left is of second order.
    assert deviation > 2e-3
    assert apart(run, exact, "tool.position.z") < 30 * deviation**2
    assert apart(run, exact, "strut.position") < 30 * deviation**2


def test_friction_that_sticks_holds_in_the_perturbed_motion_too():
    friction = [
        Block(f"{joint}.dry", "stick_friction", on=joint, parameters={"coulomb": 30.0, "static": 40.0})
        for joint in ("shoulder", "elbow")
    ]
    scenario = two_link(20.0, tuple(friction))
    exact, run = simulate(scenario), simulate_perturbed(scenario)
    assert [event.name for event in run.events] == [event.name for event in exact.events]
    assert run["shoulder.velocity"].values[-1] == 0.0
    # Deviations of up to 3 cm: second order of them.
    assert apart(run, exact, "tool.position.z") < 5e-4


def test_a_sprung_six_axis_arm_with_bristles_and_a_load_agrees():
    scenario = sprung_six_axis()
    both = compare_ways(scenario)
    reference = {f"joint{k}": f"joint{k}.reference.position" for k in range(1, 7)}
    deviation = max(
        np.max(np.abs(both.nonlinear[f"{joint}.position"].values - both.nonlinear[signal].values))
        for joint, signal in reference.items()
    )
    assert {row.signal for row in both.differences} >= {"tool.position.x", "lug.position.z"}
    # About 1 m of arm times the square of the deviation, with a factor for what the loop makes of it.
    assert deviation > 1e-3
    assert both.largest < 5 * deviation**2
    force = [run["balance.force"].values for run in (both.nonlinear, both.perturbed)]
    assert np.max(np.abs(force[0] - force[1])) < 1e-3 * np.max(np.abs(force[0]))


def test_a_start_far_from_the_nominal_motion_is_warned_of():
    near, far = (simulate_perturbed(two_link(), parameters={"initial.elbow.position": q}) for q in (0.01, 0.5))
    assert near.warnings == ()
    (message,) = [sentence for sentence in far.warnings if "elbow" in sentence]
    assert "elbow.position is up to 0.5 rad from the nominal motion, at 0 s" in message


def rising_pull(time, position):
    """A spring that is tightened while it pulls."""
    return {"force": -400.0 * time - 300.0 * position}


def test_torques_of_joints_count_springs_and_loads_as_those_of_the_full_motion_do():
    strut = Distance("strut", "post", "lug")
    pull = Block("pull", rising_pull, on="strut")
    load = Load("weight", "tool", (0.0, 20.0, -30.0))
    scenario = two_link(3.0, (pull,), (strut,), strut_points(), loads=(load,))
    both = compare_ways(scenario, signals=("shoulder.torque", "elbow.torque"))
    for row in both.differences:
        # Deviations are up to 140 N m / 4e3 N m/rad = 0.035 rad; what is left out is their square.
        assert row.largest < 0.035**2 * np.max(np.abs(both.nonlinear[row.signal].values))


def test_sampled_loops_and_bristles_of_a_two_link_arm_agree_below_a_micrometre():
    both = compare_ways(two_link_loop(), recording=Recording(rate=1000.0))
    # Deviations below 1 mrad: 1e-6 rad of second order at most.
    assert both.largest < 1e-6
    assert all(row.shares == (1.0, 1.0) for row in both.differences)


@pytest.mark.parametrize("method", ["rosw1", "rosw2"])
def test_whole_steps_keep_their_order_in_the_perturbed_motion(method):
    scenario = pendulum(4.0)
    exact = simulate_perturbed(scenario, points=40)
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        run = simulate_perturbed(scenario, points=40, solver=Solver(method, step=step), propagators=False)
        errors.append(apart(run, exact, "hinge.position"))
    assert np.log2(np.array(errors[:-1]) / np.array(errors[1:])) == pytest.approx([2, 2], abs=0.3)


@pytest.fixture(scope="module")
def loaded():
    return Perturbed(two_link(50.0, tunable=("forearm.mass",)), points=100)


def test_other_gains_need_no_new_nominal_motion(loaded):
    loaded.simulate()
    before = loaded.nominal
    change = {"shoulder.control.stiffness": 3e3}
    run = loaded.simulate(parameters=change)
    assert loaded.nominal is before
    exact = simulate(loaded.scenario, parameters=change)
    assert apart(run, exact, "tool.position.z") < 1e-3


def test_another_payload_needs_a_new_nominal_motion_but_no_new_code(loaded):
    before = loaded.compiled({})
    run = loaded.simulate(parameters={"forearm.mass": 9.0})
    assert loaded.nominal.parameters["forearm.mass"] == 9.0
    assert loaded.compiled({"forearm.mass": 9.0}).address("rhs") == before.address("rhs")
    other = loaded.scenario.with_numbers({"forearm.mass": 9.0})
    fresh = Perturbed(other, points=100).simulate()
    assert np.array_equal(run.values, fresh.values)


def test_energies_are_left_out_and_everything_else_is_there(loaded):
    run, exact = loaded.simulate(), simulate(loaded.scenario)
    assert set(exact.names) - set(run.names) == {name for name in exact.names if name.startswith("energy.")}
    assert "perturbed about 100 pieces" in run.provenance.description["title"]
