"""Do sheets of open arms contain what was measured of them, and say how little is known?"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.robot_files import example_robot

import robodyn as rd
from robodyn.analysis.accuracy.arms import arm_names, arm_sheet, choices_of, load_arm
from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics

FIXED = {"servo_gain": "13", "friction": "1", "friction_scatter": "0.1", "count_scatter": "0.5", "loose_play": "0.1"}
FIXED |= {"link_stiffness": "100", "calibration": "0.5 deg", "length": "0.2 mm"}


@cache
def sheet(name, robots=60):
    return arm_sheet(load_arm(name), robots=robots)


def figure(found, symbol, pose="P1"):
    (row,) = [row for row in found.figures if (row.symbol, row.pose) == (symbol, pose)]
    return row


@pytest.mark.parametrize(("name", "measured"), [("so101", 0.3e-3), ("wx250s", 1e-3), ("open-manipulator-x", 0.2e-3)])
def test_the_interval_contains_what_is_public_and_is_not_wide(name, measured):
    """0.3 mm is of one servo on a lever of 10 cm, the others are from makers' tables: see `known` of each arm."""
    row = figure(sheet(name, 200), "RP")
    assert row.low < measured < row.high
    assert row.high < 5 * row.low


@pytest.mark.parametrize("name", arm_names())
def test_causes_add_up_and_the_worst_pose_is_no_better(name):
    found = sheet(name)
    for row in found.figures:
        assert row.low <= row.median <= row.high
        assert sum(row.causes.values()) == pytest.approx(row.median, rel=1e-12)
    assert figure(found, "RP", "worst of P1 to P5").median >= figure(found, "RP").median
    assert len(arm_names()) >= 5


def test_a_single_joint_without_friction_repeats_as_its_counts_say():
    """A tool on one arm of length r stops anywhere in a count c: S = r c / sqrt(12), distances are uniform."""
    arm = load_arm("so101")
    free = FIXED | {"friction": "1e-9", "play": "1e-9", "count_scatter": "1"}
    fine, twice = (arm_sheet(arm, free | {"counts": counts}, robots=40) for counts in ("4096", "2048"))
    assert figure(twice, "RP").median == pytest.approx(2 * figure(fine, "RP").median, rel=1e-12)
    assert figure(fine, "RP").causes["encoder counts"] == pytest.approx(figure(fine, "RP").median, rel=1e-6)
    jacobian = np.asarray(MachineDynamics(arm.machine).jacobian("tool", arm.home))[3:]
    deviation = np.sqrt((jacobian**2).sum()) * 2 * np.pi / 4096 / np.sqrt(12)
    # RP is the mean distance and three of its deviations: 1.5 to 3 deviations in space.
    assert 1.5 * deviation < figure(fine, "RP").median < 3 * deviation


def test_a_stiffer_servo_sags_less_in_proportion():
    arm = load_arm("koch")
    zeroed = FIXED | {"calibration": "1e-9 deg"}
    soft, stiff = (arm_sheet(arm, zeroed | {"servo_gain": gain}, robots=20) for gain in ("10", "20"))
    parts = [figure(found, "AP").causes["weight on servos"] for found in (soft, stiff)]
    assert parts[0] == pytest.approx(2 * parts[1], rel=0.1)


def test_choices_are_given_as_numbers_or_ranges_and_bad_ones_are_told_together():
    arm = load_arm("so101")
    assert choices_of(arm, {"play": "0.2 deg:1 deg"})["play"].most == pytest.approx(np.radians(1.0))
    with pytest.raises(rd.ModelError) as error:
        choices_of(arm, {"plai": "1", "length": "2 deg", "friction": "2:1"})
    assert len(error.value.flaws) == 3
    with pytest.raises(rd.ModelError, match="out of reach"):
        arm_sheet(arm, side=1.0)
    with pytest.raises(rd.ModelError, match="did you mean 'so101'"):
        load_arm("so-101")


@pytest.mark.parametrize(("name", "tip"), [("so101", "gripper_link"), ("so100", "gripper")])
def test_kinematics_and_weights_are_those_of_the_public_file(name, tip):
    robot = rd.import_robot(example_robot(f"{name}.urdf"), keep_massless=True)
    machine = robot.scenario().machine
    arm = load_arm(name)
    tool = rd.Point("tip", tip, arm.machine.mechanism.points[0].origin)
    points = (*machine.mechanism.points, tool)
    theirs = MachineDynamics(replace(machine, mechanism=machine.mechanism.replaced(points=points)))
    ours = MachineDynamics(arm.machine)
    at = {f"{joint.name}.position": q for joint, q in zip(arm.machine.mechanism.joints, arm.home, strict=True)}
    place = theirs.position("tip", theirs.positions_at(at))
    np.testing.assert_allclose(place, ours.position("tool", arm.home), atol=1e-5)
