"""Equations that follow from others are found, named and left out; the motion is the same without them."""

from dataclasses import replace

import numpy as np
import pytest
from support.linkages import crank_rocker

from robodyn import (
    GROUND,
    Body,
    ConstraintMethod,
    Joint,
    LinearConstraint,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    Scenario,
    Solver,
    assemble,
    simulate,
)
from robodyn.analysis import ParallelKinematics
from robodyn.computation.assembly.constraints.redundancy import _dependent_rows
from robodyn.description.catalog import four_bars


def test_rows_that_are_combinations_of_those_before_are_found():
    H = np.array([[1.0, 0, 1], [0, 1, 0], [2, -3, 2], [0, 0, 1], [0, 0, 0]])
    assert _dependent_rows(H, [True] * 5) == [2, 4]


def test_a_revolute_loop_joint_in_a_plane_has_three_equations_too_many():
    (warning,) = assemble(crank_rocker("revolute")).warnings
    assert warning.startswith("3 of 5 constraint equations follow from the others and are left out")
    assert "loop.force.y, loop.torque.0, loop.torque.1" in warning


def test_a_plane_closed_by_a_point_or_by_a_hinge_moves_alike():
    times = np.linspace(0, 1, 20)
    point, hinge = (simulate(crank_rocker(kind))["rocker_joint.position"](times) for kind in ("spherical", "revolute"))
    assert point == pytest.approx(hinge, abs=1e-12)


def test_forces_of_equations_left_out_are_zero():
    run = simulate(crank_rocker("revolute", duration=0.1))
    assert np.all(run["loop.force.y"].values == 0.0)
    assert np.min(np.abs(run["loop.force.z"].values)) > 0.0


def with_couplings(*couplings):
    scenario = crank_rocker()
    constraints = (*scenario.machine.constraints, *couplings)
    machine = Machine("four-bar", scenario.machine.mechanism, constraints=constraints)
    return Scenario("four-bar", machine, 1.0, scenario.initial, initialisation="assembled")


def test_the_same_coupling_twice_counts_once():
    twice = [LinearConstraint(name, {"crank_joint": 1.0, "rocker_joint": -0.2}, 0.5) for name in ("one", "two")]
    system = assemble(with_couplings(*twice))
    assert "two.force" in system.warnings[0]
    assert "one.force" in system.motion.constraint_forces


def test_couplings_that_contradict_each_other_are_told():
    pair = [LinearConstraint(name, {"crank_joint": 1.0}, offset) for name, offset in (("one", 0.5), ("two", 0.6))]
    assert "cannot be met near the start" in assemble(with_couplings(*pair)).warnings[0]


def test_equations_of_which_none_follows_from_others_are_all_kept():
    """Two couplings fix the one freedom of the loop and one more than it has: of four equations three count."""
    one = LinearConstraint("one", {"crank_joint": 1.0}, 1.0)
    kept = assemble(with_couplings(one))
    assert set(kept.motion.constraint_forces) == {"loop.force.x", "loop.force.z", "one.force"}
    assert "1 of 4" in kept.warnings[0]


def test_a_singular_start_does_not_make_equations_redundant():
    """Lying flat, the row's loops have dependent gradients at random: only what depends elsewhere too is left out."""
    scenario = four_bars(1)
    flat = Scenario("flat", scenario.machine, 1.0, dict.fromkeys(scenario.initial, 0.0))
    system = assemble(flat)
    assert system.motion.constraint_forces == assemble(scenario).motion.constraint_forces
    assert len(system.motion.constraint_forces) == 2


def test_a_loop_that_cannot_be_met_keeps_all_equations_but_the_idle_ones():
    system = assemble(crank_rocker("revolute", ground=2.5))
    assert "cannot be met near the start" in system.warnings[0]
    assert system.motion.constraint_forces == ("loop.force.x", "loop.force.z")


def test_points_in_different_planes_are_told():
    """No joint of a planar mechanism moves across its plane."""
    scenario = crank_rocker()
    first, second = scenario.machine.mechanism.points
    shifted = replace(first, origin=(0.9, 0.1, 0))
    machine = replace(scenario.machine, mechanism=replace(scenario.machine.mechanism, points=(shifted, second)))
    with pytest.raises(
        ModelError, match=r"constraints\.loop: cannot be met: 0\.1 is left of the equation of loop\.force\.y"
    ):
        assemble(replace(scenario, machine=machine))


def pinned_twice(kind="revolute"):
    """A bar on a turning arm: by a hinge and, at another point of it, by a ball, or rigidly."""
    bodies = [Body(name, 1.0, (0.2, 0, 0.1), (0.02, 0.03, 0.04)) for name in ("arm", "bar")]
    joints = [Joint("turn", "revolute", GROUND, "arm", axis=(0, 1, 0))]
    axis = {} if kind == "fixed" else {"axis": (0, 1, 0)}
    joints.append(Joint("hinge", kind, "arm", "bar", (0.4, 0, 0), **axis))
    points = [Point("eye", "bar", (0.1, 0, 0.2)), Point("nail", "arm", (0.5, 0, 0.2))]
    mechanism = Mechanism("pinned", bodies, joints, points, gravity=(0, 0, -9.81))
    pin = () if kind == "fixed" else (LoopJoint("pin", "eye", "nail"),)
    start = {"turn.position": 0.3, "turn.velocity": 9.0}
    return Scenario("pinned", Machine("pinned", mechanism, constraints=pin), 2.0, start, solver=Solver(rtol=1e-8))


@pytest.mark.parametrize("method", ["baumgarte", "projection", "minimal"])
def test_what_locks_a_hinge_does_so_however_its_carrier_turns(method):
    """One equation would do, but another one in every direction: that of each axis of the world vanishes somewhere."""
    scenario = replace(pinned_twice(), constraint_method=ConstraintMethod(method))
    system = assemble(scenario)
    assert "2 of 3 constraint equations follow from the others, 1 of them in a way that changes" in system.warnings[0]
    assert (system.motion.constraint_forces, system.motion.spare) == (("pin.force.x", "pin.force.z"), 1)
    run, rigid = simulate(system), simulate(pinned_twice("fixed"))
    assert run.outcome.ok
    assert run["turn.position"].final > 2 * np.pi
    assert run["hinge.position"].values == pytest.approx(0.0, abs=1e-7)
    times = np.linspace(0, 2, 30)
    assert run["turn.position"](times) == pytest.approx(rigid["turn.position"](times), abs=2e-6)


def test_a_hinge_that_is_pinned_twice_carries_its_torque_by_the_least_forces():
    """The pin's force is perpendicular to its arm about the hinge: along the arm it does nothing."""
    run = simulate(pinned_twice())
    angle = run["turn.position"].values
    along = (np.cos(angle) * 0.1 + np.sin(angle) * 0.2, -np.sin(angle) * 0.1 + np.cos(angle) * 0.2)
    forces = (run["pin.force.x"].values, run["pin.force.z"].values)
    assert np.max(np.hypot(*forces)) > 10.0
    assert along[0] * forces[0] + along[1] * forces[1] == pytest.approx(0.0, abs=1e-6)


def test_the_parallel_kinematics_have_independent_equations_only():
    kinematics = ParallelKinematics(assemble(pinned_twice()), "eye", ("turn",), ("x",))
    assert len(kinematics.system.motion.constraint_forces) == 1
    assert kinematics.forward([0.7]).q == pytest.approx([0.7, 0.0], abs=1e-10)
