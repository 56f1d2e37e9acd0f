"""Assembly finds where constraints are met, says what cannot be met, and lists the ways to put a mechanism together."""

from dataclasses import replace
from math import cos, sin

import numpy as np
import pytest
from support.linkages import crank_rocker

from robodyn import ConstraintMethod, Event, ModelError, Rod, assemble, simulate
from robodyn.computation.simulation import close_constraints, find_branches
from robodyn.description.catalog import cartesian_pendulum


def loop_error(positions):
    """How far the loop of the crank-rocker is open, from its angles alone."""
    crank, coupler, rocker = (positions[f"{name}_joint.position"] for name in ("crank", "coupler", "rocker"))
    x = 0.3 * cos(crank) + 0.9 * cos(crank + coupler) - 0.8 - 0.7 * cos(rocker)
    z = 0.3 * sin(crank) + 0.9 * sin(crank + coupler) - 0.7 * sin(rocker)
    return float(np.hypot(x, z))


def off(scenario, **initial):
    given = {name.replace("__", "."): value for name, value in initial.items()}
    return replace(scenario, initial={**scenario.initial, **given})


def test_a_loop_is_closed_from_a_guess():
    found = close_constraints(assemble(crank_rocker()))
    assert found.closed
    assert found.residual < 1e-9
    assert loop_error(found.positions) < 1e-9
    assert 1 <= found.iterations < 10


def test_the_nearest_place_on_a_circle_is_along_its_radius():
    """One equation: the shortest Newton steps go straight to the circle."""
    guess = {"x.position": -0.8, "z.position": -0.5}
    found = close_constraints(assemble(cartesian_pendulum()), guess=guess, keep=())
    length = np.hypot(0.8, 0.5)
    assert found.positions["x.position"] == pytest.approx(-0.8 / length, abs=1e-10)
    assert found.positions["z.position"] == pytest.approx(-0.5 / length, abs=1e-10)


def test_a_guess_or_a_number_that_the_system_does_not_have_is_refused():
    system = assemble(cartesian_pendulum())
    with pytest.raises(ModelError, match=r"guess\.x: there is no such state .*x\.position"):
        close_constraints(system, guess={"x": -0.8})
    with pytest.raises(ModelError, match=r"rod\.mass: is not tunable in this system"):
        find_branches(system, parameters={"rod.mass": 1.0})


def test_fixed_joints_keep_their_position():
    found = close_constraints(assemble(crank_rocker()), keep=("crank_joint.position",))
    assert found.positions["crank_joint.position"] == 1.0
    assert loop_error(found.positions) < 1e-9


def test_velocities_are_made_consistent():
    scenario = off(crank_rocker(duration=0.01), crank_joint__velocity=2.0)
    run = simulate(scenario)
    assert run["constraints.velocity_error"].values[0] < 1e-12
    assert abs(run["crank_joint.velocity"].values[0]) > 0.1


def test_a_loop_of_rods_that_are_too_short_is_told_with_what_is_left():
    """Crank and coupler stretched reach 1.2 m; a rocker 1 m long at 2.5 m is 0.3 m away at best."""
    scenario = crank_rocker(ground=2.5, lengths=(0.3, 0.9, 1.0))
    with pytest.raises(ModelError, match="constraints.loop: cannot be met") as error:
        simulate(scenario)
    found = close_constraints(assemble(scenario), keep=())
    assert not found.closed
    # Newton ends where no step makes it better, which is not quite the least there is.
    assert found.residual == pytest.approx(0.3, abs=1e-3)
    assert "0.3 is left of the equation of loop.force.x" in str(error.value)


def test_a_mechanism_without_constraints_cannot_be_assembled():
    scenario = crank_rocker()
    open_chain = replace(scenario, machine=replace(scenario.machine, constraints=()))
    with pytest.raises(ModelError, match="there are none"):
        simulate(open_chain)


def test_an_unknown_fixed_joint_is_told():
    with pytest.raises(ModelError, match="crank_joint"):
        close_constraints(assemble(crank_rocker()), keep=("crank_jiont.position",))


def test_both_branches_of_a_four_bar_are_found():
    """With the crank fixed, coupler and rocker meet above or below: two circles cut twice."""
    branches = find_branches(assemble(crank_rocker()), keep=("crank_joint.position",), tries=40)
    assert len(branches) == 2
    pin = np.array([0.3 * cos(1.0), 0.3 * sin(1.0)])
    ends = []
    for branch in branches:
        assert loop_error(branch.positions) < 1e-9
        rocker = branch.positions["rocker_joint.position"]
        ends.append(np.array([0.8 + 0.7 * cos(rocker), 0.7 * sin(rocker)]))
    # Mirror images at the line between the two centres.
    line = np.array([0.8, 0.0]) - pin
    assert (ends[0] - ends[1]) @ line == pytest.approx(0.0, abs=1e-8)
    assert np.linalg.norm(ends[0] - pin) == pytest.approx(np.linalg.norm(ends[1] - pin), abs=1e-8)


def test_relaxation_reaches_the_constraints_too():
    """Baumgarte's method from a start that is off: h = (h0 + p h0 t) exp(-p t), whatever the mechanism does."""
    pole = 20.0
    scenario = off(cartesian_pendulum(duration=1.0, constraint_method=ConstraintMethod(pole=pole)), x__position=-1.1)
    run = simulate(scenario)
    assert any("off the constraints by 0.1 (positions)" in warning for warning in run.warnings)
    decay = 0.1 * (1 + pole * run.time) * np.exp(-pole * run.time)
    assert run["constraints.position_error"].values == pytest.approx(decay, abs=1e-7)


def test_a_start_on_the_constraints_is_not_warned_about():
    assert not simulate(cartesian_pendulum(duration=0.1)).warnings


def test_a_constraint_that_is_off_is_not_assembled():
    scenario = cartesian_pendulum()
    machine = replace(scenario.machine, constraints=(Rod("rod", "pivot", "tip", 0.4, active=False),))
    found = close_constraints(assemble(replace(scenario, machine=machine)))
    assert found.positions["x.position"] == -1.0


def test_a_rod_whose_ends_coincide_is_told():
    collapsed = replace(cartesian_pendulum(), initial={})
    with pytest.raises(ModelError, match=r"constraints\.rod: has no direction at the start: its ends may coincide"):
        assemble(collapsed)
    held_later = Event("catch", lambda z: z + 0.5, {"z": "z.position"}, action=lambda: {"rod.active": 1.0})
    rod = Rod("rod", "pivot", "tip", 1.0, active=False)
    later = replace(collapsed, machine=replace(collapsed.machine, constraints=(rod,)), events=(held_later,))
    assert "constraint 'rod' has no direction at the start" in assemble(later).warnings[0]
