"""Does calibration find a robot's true geometry, and say what its poses cannot tell?

Truths are mechanisms of their own, whose tools are placed by the kinematics of paths, not by those of calibration.
"""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from support.six_axis_arms import offset_wrist

from robodyn import Machine, Point, Scenario
from robodyn.analysis.calibration import Poses, calibrate, chain_of, plan_poses, random_poses, read_poses
from robodyn.base.errors import ModelError
from robodyn.description.paths.arm import build_arm
from robodyn.description.robots.urdf import write_origins

NOISE = 2e-5
FRAME = Rotation.from_rotvec([0.3, -0.2, 1.0]).as_matrix()
AWAY = np.array([1.5, -0.7, 0.4])


def scenario_of(mechanism):
    return Scenario("arm", Machine("arm", mechanism), duration=1.0)


def built(mechanism, seed, size=5e-4):
    """The mechanism as it might come out of a workshop: every joint and the tool a little elsewhere."""
    random = np.random.default_rng(seed)
    joints = []
    for joint in mechanism.joints:
        R = np.array(joint.rotation) @ Rotation.from_rotvec(2 * size * random.normal(size=3)).as_matrix()
        origin = np.array(joint.origin) + size * random.normal(size=3)
        joints.append(joint.replaced(origin=tuple(origin), rotation=tuple(map(tuple, R))))
    points = [point.replaced(origin=tuple(size * random.normal(size=3))) for point in mechanism.points]
    return mechanism.replaced(joints=tuple(joints), points=tuple(points))


def tracked(mechanism, count, seed=1, noise=NOISE, turns=False):
    """Poses whose tool a tracker sees in its own frame."""
    random = np.random.default_rng(seed)
    q = random.uniform(-2.5, 2.5, (count, 6))
    placed = build_arm(mechanism, "tool").place(q)
    measured = {"place": placed.p @ FRAME.T + AWAY + noise * random.normal(size=(count, 3))}
    if turns:
        R = FRAME @ placed.R @ Rotation.from_rotvec(1e-4 * random.normal(size=(count, 3))).as_matrix()
        measured["turn"] = Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]]
    return Poses.at(q, **measured)


def misses(truth, calibration, scenario, count=200):
    """How far the calibrated robot is from the true one at fresh postures, frames fitted to each other [m]."""
    q = np.random.default_rng(99).uniform(-2.5, 2.5, (count, 6))
    true = build_arm(truth, "tool").place(q).p
    own = build_arm(calibration.apply(scenario).machine.mechanism, "tool").place(q).p
    turn, _ = Rotation.align_vectors(true - true.mean(axis=0), own - own.mean(axis=0))
    return np.linalg.norm(true - true.mean(axis=0) - turn.apply(own - own.mean(axis=0)), axis=1)


@pytest.fixture(scope="module")
def nominal():
    return scenario_of(offset_wrist())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_tracker_finds_the_robot_to_its_noise(nominal, seed):
    truth = built(offset_wrist(), seed)
    found = calibrate(nominal, tracked(truth, 80, seed))
    before, after = (error.rms for error in found.errors[2:])
    assert before > 1e-3
    # The error of a place has three noisy coordinates.
    assert after < 1.6 * np.sqrt(3) * NOISE
    assert found.noise == pytest.approx(NOISE, rel=0.25)
    assert np.max(misses(truth, found, nominal)) < 3 * NOISE
    assert found.warnings == ()


def test_95_of_100_intervals_hold_the_truth():
    # Only what is told is changed, so that the true change of each number is known.
    random = np.random.default_rng(7)
    mechanism = offset_wrist()
    names = [number.name for number in calibrate(scenario_of(mechanism), tracked(mechanism, 60)).numbers]
    held = []
    for seed in range(12):
        true = {name: 5e-4 * random.normal() for name in names}
        truth = mechanism
        for name, value in true.items():
            truth = changed(truth, name, value)
        found = calibrate(scenario_of(mechanism), tracked(truth, 60, seed))
        held += [number.lower <= true[number.name] <= number.upper for number in found.numbers]
    assert 0.92 <= np.mean(held) <= 0.985


def changed(mechanism, name, value):
    """The mechanism with one number of a calibration changed, axes of the joints being z."""
    part, kind, *axis = name.split(".")
    unit = value * np.eye(3)["xyz".index(axis[0] if axis else "z" if kind == "offset" else kind)]
    if part == "tool":
        points = [p.replaced(origin=tuple(np.array(p.origin) + unit)) for p in mechanism.points]
        return mechanism.replaced(points=tuple(points))
    joints = []
    for joint in mechanism.joints:
        R = np.array(joint.rotation)
        if joint.name == part and kind == "shift":
            joint = joint.replaced(origin=tuple(np.array(joint.origin) + R @ unit))
        elif joint.name == part:
            joint = joint.replaced(rotation=tuple(map(tuple, R @ Rotation.from_rotvec(unit).as_matrix())))
        joints.append(joint)
    return mechanism.replaced(joints=tuple(joints))


def test_orientations_tell_the_tools_turn_and_are_weighed_by_their_own_noise(nominal):
    truth = built(offset_wrist(), 4)
    found = calibrate(nominal, tracked(truth, 60, turns=True))
    assert found.turn_noise == pytest.approx(1e-4, rel=0.25)
    assert {"tool.turn.x", "tool.turn.y", "tool.turn.z"} <= {number.name for number in found.numbers}
    assert np.max(misses(truth, found, nominal)) < 3 * NOISE


def test_numbers_that_no_pose_tells_apart_are_named_with_what_they_are_like(nominal):
    found = calibrate(nominal, tracked(offset_wrist(), 60))
    like = {one.name: one for one in found.untold}
    # Axes 2, 3 and 4 are parallel: of the shifts along them one is told. The first joint stands like the frame.
    assert like["joint3.shift.z"].like == ("joint2.shift.z",)
    assert {"joint1.shift.x", "joint1.shift.y", "joint1.offset"} <= like.keys()
    assert not any(one.postures for one in found.untold)
    assert len(found.numbers) == 19


def test_what_other_postures_would_tell_is_said(nominal):
    poses = tracked(built(offset_wrist(), 1), 80)
    still = np.random.default_rng(1).uniform(-1e-4, 1e-4, len(poses))
    q = np.column_stack([poses.q[:, :3], 0.4 + still, poses.q[:, 4:]])
    placed = build_arm(built(offset_wrist(), 1), "tool").place(q).p
    found = calibrate(nominal, dataclasses.replace(poses, q=q, place=placed @ FRAME.T + AWAY))
    assert [one.name for one in found.untold if one.postures]
    assert any("joint4 moves by 0 deg only" in warning for warning in found.warnings)


def on_surface(truth, gap, random):
    """A posture whose tool is where `gap` of its place is 0, found by turning one joint."""
    arm = build_arm(truth, "tool")
    while True:
        q, joint = random.uniform(-2.5, 2.5, 6), random.integers(0, 4)

        def at(angle, q=q, joint=joint):
            q[joint] = angle
            return gap(arm.place(q).p)

        low = q[joint]
        if at(low) * at(low + 0.8) < 0:
            q[joint] = brentq(at, low, low + 0.8, xtol=1e-14)
            return q


def touching(truth, surfaces, count):
    """Poses that touch planes, or are at a distance from points, in turns."""
    random = np.random.default_rng(5)
    rows = []
    for k in range(count):
        name, gap, is_plane, distance = surfaces[k % len(surfaces)]
        rows.append((on_surface(truth, gap, random), name, is_plane, distance))
    q, names, planes, distances = zip(*rows, strict=True)
    noise = NOISE * random.normal(size=count)
    distance = np.array(distances) + np.where(np.array(distances) > 0, noise, 0.0)
    return Poses.at(np.array(q), touched=names, is_plane=np.array(planes), distance=distance)


def test_a_ball_bar_finds_the_robot_without_any_place(nominal):
    truth = built(offset_wrist(), 2)
    centers = {"left": np.array([0.4, 0.1, 0.2]), "right": np.array([-0.3, 0.2, 0.3])}
    bars = [(name, lambda p, c=c: np.linalg.norm(p - c) - 0.3, False, 0.3) for name, c in centers.items()]
    found = calibrate(nominal, touching(truth, bars, 120))
    assert np.sqrt(np.mean(misses(truth, found, nominal) ** 2)) < 3 * NOISE
    assert found.warnings == ()


def test_planes_tell_the_shape_but_not_the_size(nominal):
    truth = built(offset_wrist(), 2)
    planes = [("floor", lambda p: p[2] - 0.2, True, 0.0), ("wall", lambda p: p[0] - 0.3, True, 0.0)]
    planes.append(("side", lambda p: p[1] + 0.3, True, 0.0))
    poses = touching(truth, planes, 140)
    found = calibrate(nominal, poses)
    assert found.errors[2].rms > 1e-4
    # Numbers that differ by less than a hundredth in effect are not told apart: of half a millimetre that much is left.
    assert found.errors[3].rms < 5e-6
    assert any("the shape but not the size" in warning for warning in found.warnings)


def test_gears_that_give_way_are_told_by_loads():
    # The true bend: compliance times the torque of weight and load, by the slope of the potential energy.
    truth, compliance = built(offset_wrist(), 3), np.array([0.0, 2e-5, 3e-5, 1e-4, 0.0, 0.0])
    mechanism = truth.replaced(points=(*truth.points, *(Point(f"com{k}", f"link{k}") for k in range(1, 7))))
    random = np.random.default_rng(8)
    q, load = random.uniform(-2.5, 2.5, (90, 6)), random.uniform(0.0, 10.0, 90)
    arms = {name: build_arm(mechanism, name) for name in ("tool", *(f"com{k}" for k in range(1, 7)))}

    def energy(q):
        heights = {name: arm.place(q[:, : arm.n]).p[:, 2] for name, arm in arms.items()}
        return 9.81 * (load * heights.pop("tool") + sum(heights.values()))

    torque = np.zeros_like(q)
    for k in range(6):
        step = 1e-6 * np.eye(6)[k]
        torque[:, k] = -(energy(q + step) - energy(q - step)) / 2e-6
    place = arms["tool"].place(q + compliance * torque).p @ FRAME.T + AWAY + NOISE * random.normal(size=(90, 3))
    # Gravity points along the robot's z, which the tracker's frame does not know.
    found = calibrate(scenario_of(offset_wrist()), Poses.at(q, place=place, load=load), elastic="gears")
    told = {number.name: number for number in found.numbers if "compliance" in number.name}
    for k, true in ((2, 2e-5), (3, 3e-5), (4, 1e-4)):
        number = told[f"joint{k}.compliance"]
        assert abs(number.value - true) < 3 * (number.upper - number.value)
        assert number.value == pytest.approx(true, rel=0.3)
    assert found.errors[3].rms < 2 * np.sqrt(3) * NOISE


def test_a_wrong_pose_is_named(nominal):
    poses = tracked(built(offset_wrist(), 1), 80)
    poses.place[11] += [0.0, 8e-4, 0.0]
    found = calibrate(nominal, poses)
    assert [warning for warning in found.warnings if warning.startswith("poses 12 do not fit the others")]


def test_files_are_read_with_units_and_refused_with_every_problem(nominal, tmp_path):
    poses = tracked(built(offset_wrist(), 1), 40)
    chain = chain_of(nominal, None)
    heads = [f"joint{k}" for k in range(1, 7)]

    def write(heads, rows):
        path = tmp_path / "poses.csv"
        path.write_text("\n".join([",".join(heads), *(",".join(map(str, row)) for row in rows)]))
        return path

    rows = np.column_stack([np.rad2deg(poses.q), 1e3 * poses.place])
    read = read_poses(write([*(f"{head} [deg]" for head in heads), "x [mm]", "y [mm]", "z [mm]"], rows), chain)
    np.testing.assert_allclose(read.q, poses.q, rtol=1e-12)
    np.testing.assert_allclose(read.place, poses.place, rtol=1e-12)
    with pytest.raises(ModelError, match=r"x, y, z: are 1000 times as far apart .*write their unit: x \[mm\]"):
        calibrate(nominal, [write([*(f"{head} [deg]" for head in heads), "x", "y", "z"], rows)])
    with pytest.raises(ModelError, match=r"fit as degrees and not as radians .*joint1 \[deg\]"):
        calibrate(nominal, [write([*heads, "x [mm]", "y [mm]", "z [mm]"], rows)])
    with pytest.raises(ModelError) as refused:
        read_poses(write([*heads[:5], "joint9", "x", "y", "z [kg]"], [[*"123456789"]]), chain)
    message = str(refused.value)
    assert "joint9: is neither a joint of the chain" in message
    assert "joint6: has no column" in message
    assert "'kg' is not a unit of it" in message
    with pytest.raises(ModelError, match=r"line 2, column 9 \(z\): 'x' is not a finite number"):
        read_poses(write([*heads, "x", "y", "z"], [[*"12345678x"]]), chain)
    # As a spreadsheet of another language writes it.
    table = tmp_path / "tabelle.csv"
    table.write_text(";".join([*heads, "point"]) + "\n" + "0,5;" * 6 + "foot\n" + "0,1;" * 6 + "foot\n")
    assert read_poses(table, chain).q[:, 5].tolist() == [0.5, 0.1]
    assert read_poses(table, chain).touched == ("foot", "foot")


@pytest.mark.parametrize(
    ("heads", "cells", "message"),
    [
        (("x", "y", "z", "plane"), "1,1,1,floor", "touches 'floor' and also has a position"),
        (("x", "y", "z", "qw", "qx"), "1,1,1,1,0", "has no whole quaternion"),
        (("x", "y", "z", "qw", "qx", "qy", "qz"), "1,1,1,0,0,0,0", "has no whole quaternion"),
        (("x", "y", "z", "distance"), "1,1,1,0.3", "has a distance without a reference point"),
    ],
)
def test_nothing_of_a_pose_is_read_and_left_out(nominal, tmp_path, heads, cells, message):
    path = tmp_path / "poses.csv"
    path.write_text(",".join([*(f"joint{k}" for k in range(1, 7)), *heads]) + f"\n0,0,0,0,0,0,{cells}\n")
    with pytest.raises(ModelError, match=message):
        read_poses(path, chain_of(nominal, None))


def test_loads_that_have_no_effect_are_named(nominal):
    poses = tracked(built(offset_wrist(), 1), 60)
    found = calibrate(nominal, dataclasses.replace(poses, load=np.full(60, 2.0)))
    assert any(warning.startswith("loads have no effect") for warning in found.warnings)


def test_poses_of_another_robot_and_too_few_are_refused(nominal):
    poses = tracked(built(offset_wrist(), 1), 40)
    with pytest.raises(ModelError, match="of another robot .*swapped joint columns"):
        calibrate(nominal, dataclasses.replace(poses, q=poses.q[:, [1, 0, 2, 3, 4, 5]]))
    with pytest.raises(ModelError, match=r"9 poses give 27 equations for \d+ numbers \(measure \d\d poses or more\)"):
        calibrate(nominal, poses.take(np.arange(12)))


def test_chosen_poses_tell_more_than_random_ones(nominal):
    plan = plan_poses(nominal, 20)
    assert plan.q.shape == (20, 6)
    for _, chosen, random, _ in plan.deviations:
        assert chosen < random
    few = random_poses(chain_of(nominal, None), 30, 4)
    offered = plan_poses(nominal, 15, candidates=few)
    assert {tuple(row) for row in offered.q} <= {tuple(row) for row in few.q}


def test_a_urdf_gets_the_new_origins_and_stays_as_it_is_otherwise(tmp_path):
    text = """<robot name="r"><!-- <joint name="hinge"><origin xyz="9 9 9"/></joint> -->
<joint type="revolute" name="hinge"><origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 1 0"/></joint>
<joint name='bare' type="fixed"><parent link="a"/></joint></robot>
"""
    path = tmp_path / "r.urdf"
    path.write_text(text)
    R = Rotation.from_euler("xyz", [0.1, -0.2, 0.3]).as_matrix()
    upright = Rotation.from_euler("xyz", [0.4, np.pi / 2, 0.0]).as_matrix()
    new = write_origins(path, {"hinge": (np.array([0.0, 0.5, 1.25]), R), "bare": (np.zeros(3), upright)})
    assert '<!-- <joint name="hinge"><origin xyz="9 9 9"/></joint> -->' in new
    assert '<origin xyz="0 0.5 1.25" rpy="0.1 -0.2 0.3" /><axis' in new
    angles = [float(word) for word in new.rpartition('rpy="')[2].split('"')[0].split()]
    np.testing.assert_allclose(Rotation.from_euler("xyz", angles).as_matrix(), upright, atol=1e-9)
    with pytest.raises(ModelError, match=r"joint\[hinges\]: is not in the file \(did you mean 'hinge'\?\)"):
        write_origins(path, {"hinges": (np.zeros(3), R)})
