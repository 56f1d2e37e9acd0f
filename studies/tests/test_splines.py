import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from support.epaas_arm import ACTUATORS, CENTRED, START, epaas_system

from robodyn.base.errors import ModelError
from robodyn_studies.kinetics import SampledMotion, joint_motion, spline_motion

TIMES = (0.0, 0.3, 0.7, 1.0)
OFFSETS = {
    "L1": (0.0, 0.02, -0.01, 0.01),
    "L2": (0.0, -0.01, 0.01, 0.0),
    "L3": (0.0, 0.03, -0.02, -0.04),
    "L4": (0.0, -0.04, 0.02, 0.03),
    "vane": (0.0, 0.4, 1.0, 1.5),
}
POINTS = {name: CENTRED[name] + np.array(offsets) for name, offsets in OFFSETS.items()}


@pytest.fixture(scope="module")
def system():
    return epaas_system()


def held_at(**changes):
    """A motion of one instant, pistons centred but for some."""
    position = np.array([[CENTRED[name] + changes.get(name, 0.0) for name in ACTUATORS]])
    return SampledMotion(ACTUATORS, np.zeros(1), position, np.zeros((1, 5)), np.zeros((1, 5)))


def test_splines_are_scipys_clamped_ones():
    at = np.linspace(0.0, 1.0, 41)

    found = spline_motion(TIMES, POINTS, at)

    for k, points in enumerate(POINTS.values()):
        expected = CubicSpline(TIMES, points, bc_type="clamped")
        # Two solutions of one well-conditioned system of four equations, differentiated twice.
        np.testing.assert_allclose(found.position[:, k], expected(at), atol=1e-13)
        np.testing.assert_allclose(found.velocity[:, k], expected(at, 1), atol=1e-12)
        np.testing.assert_allclose(found.acceleration[:, k], expected(at, 2), atol=1e-11)


def test_acceleration_is_continuous_at_the_points():
    eps = 1e-9
    before, after = (spline_motion(TIMES, POINTS, np.array(TIMES[1:3]) + side) for side in (-eps, eps))

    # A jump would be of the accelerations' own size; third derivatives of some 1e2 times eps remain.
    np.testing.assert_allclose(after.acceleration, before.acceleration, atol=1e-5)


def test_joints_moved_so_move_the_pistons_as_given(system):
    wanted = spline_motion(TIMES, POINTS, np.linspace(0.0, 1.0, 21))

    found = joint_motion(system, wanted)

    place = system.function(ca.vertcat(*system.motion.coordinates.values()))
    rows = [list(system.motion.coordinates).index(name) for name in ACTUATORS]
    parameters = [number.value for number in system.parameters]
    for k, q in enumerate(found.position):
        x = np.zeros(len(system.states))
        x[:5] = q
        reached = np.array(place(0.0, x, [], [], parameters)).ravel()[rows]
        np.testing.assert_allclose(reached, wanted.position[k], atol=1e-11)


def test_joint_speeds_and_accelerations_are_the_derivatives_of_the_positions(system):
    h, t = 1e-4, 0.45
    motion = joint_motion(system, spline_motion(TIMES, POINTS, [t - h, t, t + h]))
    before, here, after = motion.position

    # Central differences: h^2 of derivatives up to 1e3, and 1e-12 / h^2 of the solved positions.
    np.testing.assert_allclose(motion.velocity[1], (after - before) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(motion.acceleration[1], (after - 2 * here + before) / h**2, atol=2e-3)


def test_motion_begins_at_the_start_up_position(system):
    # The start-up angles are printed to a thousandth of a degree.
    np.testing.assert_allclose(joint_motion(system, held_at()).position[0], START, atol=3e-5)


def test_positions_beyond_a_range_are_all_told(system):
    with pytest.raises(ModelError) as message:
        joint_motion(system, held_at(L3=0.06, L1=-0.08))

    text = str(message.value)
    assert "coordinates.L3: 0.318053 is out of reach (its range is 0.208053 to 0.308053)" in text
    assert "coordinates.L1: 0.102263 is out of reach (its range is 0.132263 to 0.232263)" in text


def test_dead_centre_of_a_cylinder_is_told_by_its_name_and_length():
    # A stroke of 9 cm is more than the sides of 186 and 71 mm allow: at most 257 mm.
    with pytest.raises(ModelError, match=r"coordinates.L4: 0.267263 is out of reach .*gets to 0.2572"):
        joint_motion(epaas_system(stroke=0.09), held_at(L4=0.085))


def test_wrong_times_and_points_are_told_at_once():
    with pytest.raises(ModelError) as message:
        spline_motion((0.0, 0.0, 1.0), {"L1": (0.1, 0.2), "L2": (0.1, np.nan, 0.2)}, [0.5])

    text = str(message.value)
    assert "times: must increase" in text
    assert "points.L1: has 2 positions for 3 times" in text
    assert "points.L2: must be finite" in text


def test_samples_beyond_the_points_are_refused():
    with pytest.raises(ModelError, match=r"at: 0 to 1.5 s goes beyond the points .they go from 0 to 1 s"):
        spline_motion((0.0, 1.0), {"L1": (0.1, 0.2)}, [0.0, 1.5])
