"""Are forward and inverse kinematics, Jacobians, singular postures and workspaces of closed loops right?"""

import dataclasses
import math

import numpy as np
import pytest

from robodyn import GROUND, Body, Joint, LoopJoint, Machine, Mechanism, ModelError, Point, Scenario, assemble
from robodyn.analysis.mechanics.parallel_kinematics import ParallelKinematics, map_workspace, point_outwards
from robodyn_studies.catalog.delta_parameters import FITTED
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, delta_fall
from robodyn_studies.catalog.delta_rods import delta_rods

ELBOWS = tuple(f"{arm}.elbow" for arm in ARMS)


@pytest.fixture(scope="module")
def delta():
    return ParallelKinematics(assemble(delta_fall()), "platform", MOTORS)


@pytest.fixture(scope="module")
def asymmetric(delta):
    return delta.forward([0.1, 0.2, 0.3])


def five_bar():
    """Two arms of 0.5 + 0.7 m in the plane (x, z), their motors 0.6 m apart, tips joined."""
    bodies, joints, points = [], [], []
    for name, x in (("a", -0.3), ("b", 0.3)):
        bodies += [
            Body(f"{name}1", 1.0, (0.25, 0, 0), (0, 0.1, 0.1)),
            Body(f"{name}2", 1.0, (0.35, 0, 0), (0, 0.1, 0.1)),
        ]
        joints.append(Joint(f"{name}_motor", "revolute", GROUND, f"{name}1", (x, 0, 0), axis=(0, 1, 0)))
        joints.append(Joint(f"{name}_elbow", "revolute", f"{name}1", f"{name}2", (0.5, 0, 0), axis=(0, 1, 0)))
        points += [Point(f"{name}_mid", f"{name}1", (0.5, 0, 0)), Point(f"{name}_tip", f"{name}2", (0.7, 0, 0))]
    machine = Machine(
        "bars", Mechanism("bars", bodies, joints, points), constraints=[LoopJoint("tip", "a_tip", "b_tip")]
    )
    start = {"a_motor.position": -2.2, "a_elbow.position": 1.2, "b_motor.position": -1.0, "b_elbow.position": -1.2}
    return Scenario("bars", machine, 1.0, start)


@pytest.fixture(scope="module")
def bars():
    return ParallelKinematics(assemble(five_bar()), "a_tip", ("a_motor", "b_motor"), ("x", "z"))


def test_inverse_undoes_forward(delta, asymmetric):
    back = delta.inverse(asymmetric.points["platform"])
    assert back.solved
    assert back.actuated == pytest.approx([0.1, 0.2, 0.3], abs=1e-9)
    assert asymmetric.actuated == pytest.approx([0.1, 0.2, 0.3], abs=1e-10)
    for arm in ARMS:
        assert asymmetric.points[f"{arm}.tip"] == pytest.approx(asymmetric.points["platform"], abs=1e-10)


@pytest.mark.parametrize(("apart", "most"), [(0.01, 2), (0.05, 2), (0.1, 3), (0.2, 3)])
def test_seven_decimals_take_two_or_three_steps_from_close_by(delta, asymmetric, apart, most):
    motors = asymmetric.actuated + apart * np.array([1.0, -1.0, 0.5])
    posture = delta.forward(motors, asymmetric.q, tolerance=1e-7)
    assert posture.residual < 1e-7
    assert 1 <= posture.iterations <= most


def test_newton_steps_square_the_error(delta, asymmetric):
    motors = asymmetric.actuated + 0.2
    tried = [delta.forward(motors, asymmetric.q, tolerance=limit) for limit in np.logspace(-1, -9, 17)]
    left = {posture.iterations: posture.residual for posture in tried if posture.iterations}
    assert len(left) >= 3
    for k in list(left)[1:]:
        # The curvature of the equations is about 1 m/rad^2, their slopes are some 0.2 m/rad: a constant of 10 or so.
        assert left[k] < 20 * left[k - 1] ** 2


def test_every_motor_has_two_branches(delta, asymmetric):
    """For each arm the elbow out or in: eight, of which one has all elbows out."""
    branches = delta.branches(asymmetric.points["platform"])
    assert len(branches) == 8
    for k in range(3):
        assert len({round(posture.actuated[k], 6) for posture in branches}) == 2
    assert branches[0].actuated == pytest.approx(asymmetric.actuated, abs=1e-9)
    outwards = min(branches, key=point_outwards(*ELBOWS))
    assert outwards.actuated == pytest.approx(asymmetric.actuated, abs=1e-9)
    inwards = max(branches, key=point_outwards(*ELBOWS))
    assert all(abs(a - b) > 1 for a, b in zip(inwards.actuated, asymmetric.actuated, strict=True))


def test_the_branches_of_a_motor_are_those_of_the_closed_form(delta, asymmetric):
    """Arm 1 in its own plane: `E cos(phi1) + F sin(phi1) = G`, two roots."""
    x, y, z = asymmetric.points["platform"]
    radial, down = x - FITTED.offset, -z
    l1, l2 = FITTED.proximal_length, FITTED.distal_length
    aim = (radial**2 + y**2 + down**2 + l1**2 - l2**2) / (2 * l1)
    centre, half = math.atan2(down, radial), math.acos(aim / math.hypot(radial, down))
    roots = {(centre + sign * half + math.pi) % (2 * math.pi) - math.pi for sign in (1, -1)}
    found = {posture.actuated[0] for posture in delta.branches(asymmetric.points["platform"])}
    assert all(min(abs(root - value) for value in found) < 1e-7 for root in roots)


def test_the_jacobian_is_the_slope_of_the_forward_kinematics(delta, asymmetric):
    step, columns = 1e-5, []
    for k in range(3):
        ends = [delta.forward(asymmetric.actuated + s * step * np.eye(3)[k], asymmetric.q, 1e-13) for s in (1, -1)]
        columns.append((ends[0].points["platform"] - ends[1].points["platform"]) / (2 * step))
    # Central differences of step 1e-5: errors of 1e-10 from the third derivative.
    assert delta.jacobian(asymmetric) == pytest.approx(np.array(columns).T, abs=1e-8)


def test_the_lumped_robot_and_that_of_all_bodies_have_the_same_kinematics(delta, asymmetric):
    bodies = ParallelKinematics(assemble(delta_rods()), "platform", MOTORS)
    posture = bodies.forward(asymmetric.actuated)
    assert posture.points["platform"] == pytest.approx(asymmetric.points["platform"], abs=1e-9)
    assert bodies.jacobian(posture) == pytest.approx(delta.jacobian(asymmetric), abs=1e-8)


def test_a_regular_posture_is_not_called_singular(delta, asymmetric):
    found = delta.singularity(asymmetric)
    assert found.kind == "none"
    assert found.freedom == 3
    assert found.condition == pytest.approx(np.linalg.cond(delta.jacobian(asymmetric)))


def test_stretched_arms_are_an_input_singularity(delta):
    """Proximal and distal links in line: the platform is as low as it can be."""
    angle = math.acos(-FITTED.offset / (FITTED.proximal_length + FITTED.distal_length))
    posture = delta.forward([angle] * 3, np.tile([angle, 0.0, 0.0], 3))
    assert posture.points["platform"][2] == pytest.approx(-0.7 * math.sin(angle), abs=1e-9)
    assert delta.singularity(posture).kind == "input"
    assert not delta.inverse(posture.points["platform"] - np.array([0.0, 0.0, 0.01])).solved


def test_rods_in_the_plane_of_the_platform_are_an_output_singularity():
    """Nothing holds the platform against a push perpendicular to the rods, though all motors are held."""
    robot = dataclasses.replace(FITTED, distal_length=0.375)
    angle = math.acos((robot.distal_length - robot.offset) / robot.proximal_length)
    kinematics = ParallelKinematics(assemble(delta_fall(robot, angle=0.5)), "platform", MOTORS)
    posture = kinematics.forward([angle] * 3, np.tile([angle, math.pi - angle, 0.0], 3))
    found = kinematics.singularity(posture)
    assert found.kind == "output"
    assert found.condition == math.inf
    with pytest.raises(ModelError, match="all motors are held"):
        kinematics.jacobian(posture)


def test_a_planar_five_bar_has_four_branches_and_its_closed_form(bars):
    target = np.array([0.1, 0.8])
    branches = bars.branches(target)
    assert len(branches) == 4
    for posture in branches:
        for name, x in (("a", -0.3), ("b", 0.3)):
            elbow = posture.points[f"{name}_mid"][[0, 2]]
            assert np.hypot(*(elbow - (x, 0.0))) == pytest.approx(0.5, abs=1e-9)
            assert np.hypot(*(elbow - target)) == pytest.approx(0.7, abs=1e-9)


def elbows_out(point):
    """Joint positions of the delta robot by closed form, all elbows out; None where an arm does not reach."""
    q, l1, l2 = [], FITTED.proximal_length, FITTED.distal_length
    for azimuth in -2 * np.pi / 3 * np.arange(3):
        radial = np.cos(azimuth) * point[0] + np.sin(azimuth) * point[1] - FITTED.offset
        beside, down = np.cos(azimuth) * point[1] - np.sin(azimuth) * point[0], -point[2]
        aim = (radial**2 + beside**2 + down**2 + l1**2 - l2**2) / (2 * l1 * np.hypot(radial, down))
        if abs(aim) > 1:
            return None
        phi = np.arctan2(down, radial) - np.arccos(aim)
        rod = np.array([radial - l1 * np.cos(phi), beside, down - l1 * np.sin(phi)]) / l2
        q += [phi, np.arctan2(rod[2], rod[0]) - phi, np.arcsin(rod[1])]
    return np.array(q)


def test_a_plane_of_the_workspace_is_where_the_closed_form_has_the_same_mode(delta):
    """Filling the grid from the start finds what all arms reach with elbows out and no singular posture between."""
    values = np.linspace(-0.45, 0.45, 19), np.linspace(-0.75, -0.1, 14)
    found = map_workspace(delta, {"x": values[0], "y": [0.0], "z": values[1]})
    assert found.reachable.shape == (19, 1, 14)
    mode = delta.orientation(delta.start)
    for i, x in enumerate(values[0]):
        for k, z in enumerate(values[1]):
            q = elbows_out((x, 0.0, z))
            expected = q is not None and delta.orientation(q) == mode
            assert found.reachable[i, 0, k] == expected
            if expected:
                assert found.actuated[i, 0, k] == pytest.approx(q[::3], abs=1e-8)
    assert 0.2 < found.share < 0.9
    assert np.array_equal(np.isnan(found.condition), ~found.reachable)
    assert np.nanmin(found.condition) >= 1


def test_limits_of_motors_bound_the_workspace(delta):
    grid = {"x": np.linspace(-0.2, 0.2, 5), "y": [0.0], "z": np.linspace(-0.6, -0.2, 5)}
    limits = dict.fromkeys(MOTORS, (-0.5, 0.8))
    free, limited = map_workspace(delta, grid), map_workspace(delta, grid, limits=limits)
    assert 0 < limited.share < free.share
    assert np.nanmax(limited.actuated) <= 0.8


def test_what_does_not_fit_is_told_at_once():
    system = assemble(delta_fall())
    with pytest.raises(ModelError, match="5 problems") as message:
        ParallelKinematics(system, "platfrom", ("arm1.q1", "arm2.q"), ("x", "y", "w"))
    assert "did you mean 'platform'" in str(message.value)
    kinematics = ParallelKinematics(system, "platform", MOTORS)
    with pytest.raises(ModelError, match=r"grid.z.*is missing"):
        map_workspace(kinematics, {"x": [0.0], "y": [0.0]})
    with pytest.raises(ModelError, match="is not actuated"):
        map_workspace(kinematics, {"x": [0.0], "y": [0.0], "z": [-0.3]}, limits={"arm1.q2": (0, 1)})
