"""Reference orientations: how should a body be oriented, and how fast does that change?"""

from robodyn.base.spatial.rotations import conjugate, multiply, quaternion_about, rotation_vector
from robodyn.base.symbolic import sqrt
from robodyn.description.laws.definition import law

UNITS = {f"orientation.{part}": "" for part in "wxyz"}
UNITS |= {f"angular_velocity.{axis}": "rad/s" for axis in "xyz"}
UNITS |= {f"angular_acceleration.{axis}": "rad/s^2" for axis in "xyz"}


UNITS |= {"way": "rad", "rate": "rad/s", "acceleration": "rad/s^2", "start": "", "target": ""}
UNIT_LENGTH = 1e-3
"""Largest error of a quaternion's length that is forgiven."""


def _check_quaternion(name, parts):
    length = sqrt(sum(part * part for part in parts))
    if len(parts) != 4 or not abs(length - 1) < UNIT_LENGTH:
        raise ValueError(f"{name} is no unit quaternion w, x, y, z: {len(parts)} numbers of length {length:.4g}")


@law(units=UNITS, folded=("start", "target"))
def orientation_reference(way, rate=0.0, acceleration=0.0, *, target, start=(1.0, 0.0, 0.0, 0.0)):
    """The shortest rotation from one orientation to another, gone by a `way` from 0 to 1: `q = start exp(way phi / 2)`.

    Quaternions w, x, y, z, world from body; angular velocity and acceleration in the axes of the orientation itself.

    Args:
        way, rate, acceleration: of a reference such as `s_curve_reference` from 0 to 1.
    """
    _check_quaternion("start", start)
    _check_quaternion("target", target)
    phi = rotation_vector(*multiply(conjugate(start), target))
    angle = sqrt(sum(part * part for part in phi))
    axis = tuple(part / angle if angle > 0 else 0.0 for part in phi)
    quaternion = dict(zip("wxyz", multiply(start, quaternion_about(axis, way * angle)), strict=True))
    return {
        **{f"orientation.{part}": value for part, value in quaternion.items()},
        **{f"angular_velocity.{axis}": part * rate for axis, part in zip("xyz", phi, strict=True)},
        **{f"angular_acceleration.{axis}": part * acceleration for axis, part in zip("xyz", phi, strict=True)},
    }
