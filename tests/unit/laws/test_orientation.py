"""Reference orientations against scipy's interpolation of rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from robodyn.description.laws.references import orientation_reference

START, TARGET = Rotation.from_rotvec([0.3, -0.8, 0.5]), Rotation.from_rotvec([1.0, 0.9, -0.4])


def parts(rotation):
    return tuple(rotation.as_quat()[[3, 0, 1, 2]])


def values(found, name, axes):
    return np.array([found[f"{name}.{axis}"] for axis in axes])


def test_it_is_the_shortest_rotation_and_its_rates_are_those_of_the_body():
    between = Slerp([0.0, 1.0], Rotation.concatenate([START, TARGET]))
    for way in (0.0, 0.3, 1.0):
        found = orientation_reference(way, 2.0, -3.0, start=parts(START), target=parts(TARGET))
        w, *vector = values(found, "orientation", "wxyz")
        assert (between(way).inv() * Rotation.from_quat([*vector, w])).magnitude() < 1e-12
        # Body axes: R' = R [omega]x, constant along the way.
        phi = (START.inv() * TARGET).as_rotvec()
        assert values(found, "angular_velocity", "xyz") == pytest.approx(2.0 * phi)
        assert values(found, "angular_acceleration", "xyz") == pytest.approx(-3.0 * phi)


def test_what_is_no_orientation_is_refused():
    with pytest.raises(ValueError, match="target is no unit quaternion"):
        orientation_reference(0.5, target=(1.0, 1.0, 0.0, 0.0))
    assert orientation_reference(0.5, target=(1.0, 0.0, 0.0, 0.0))["orientation.w"] == 1.0
