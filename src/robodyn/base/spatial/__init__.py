"""Rotations, poses and inertias as values, of numbers or of symbols."""

from robodyn.base.spatial.inertia import Inertia, Moments
from robodyn.base.spatial.pose import Pose
from robodyn.base.spatial.rotations import (
    Quaternion,
    about_axis,
    clean_rotation,
    conjugate,
    from_matrix,
    from_quaternion,
    from_rpy,
    multiply,
    quaternion_about,
    quaternion_from_matrix,
    quaternion_from_rpy,
    rotation_vector,
)
from robodyn.base.spatial.vectors import (
    as_vector,
    build_matrix,
    build_symmetric,
    cross,
    dot,
    perpendicular_to,
    rotate_symmetric,
    skew,
)

__all__ = [
    "Inertia",
    "Moments",
    "Pose",
    "Quaternion",
    "about_axis",
    "as_vector",
    "build_matrix",
    "build_symmetric",
    "clean_rotation",
    "conjugate",
    "cross",
    "dot",
    "from_matrix",
    "from_quaternion",
    "from_rpy",
    "multiply",
    "perpendicular_to",
    "quaternion_about",
    "quaternion_from_matrix",
    "quaternion_from_rpy",
    "rotate_symmetric",
    "rotation_vector",
    "skew",
]
