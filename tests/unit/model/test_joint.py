"""Is a joint checked for its kind, its frame and its axis?"""

import math

import numpy as np
import pytest

from robodyn import Joint, ModelError, Point
from robodyn.base.spatial import from_rpy


def test_the_axis_is_normalised():
    assert Joint("j", "revolute", "ground", "a", axis=np.array([0, 3, 4])).axis == (0.0, 0.6, 0.8)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"kind": "revolut"}, "kind"),
        ({"kind": 3}, "kind"),
        ({"axis": (0.0, 0.0, 0.0)}, "axis"),
        ({"axis": (0.0, 1.0)}, "axis"),
        ({"axis": 1.0}, "axis"),
        ({"origin": (0.0, math.nan, 0.0)}, "origin[1]"),
        ({"armature": -1.0}, "armature"),
        ({"rotation": np.eye(2)}, "rotation"),
        ({"rotation": 2 * np.eye(3)}, "rotation"),
        ({"rotation": -np.eye(3)}, "rotation"),
        ({"rotation": [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]}, "rotation"),
        ({"rotation": [[1, 0, 0], [0, 1], [0]]}, "rotation"),
        ({"parent": 3}, "parent"),
        ({"child": None}, "child"),
        ({"name": "1st"}, "name"),
    ],
)
def test_a_wrong_field_is_told_by_its_path(given, path):
    right = {"name": "j", "kind": "revolute", "parent": "ground", "child": "a"}
    with pytest.raises(ModelError) as error:
        Joint(**(right | given))
    assert [flaw.path for flaw in error.value.flaws] == [path]


def test_a_misspelt_kind_is_answered_with_the_nearest():
    with pytest.raises(ModelError, match="did you mean 'prismatic'"):
        Joint("j", "prizmatic", "ground", "a")


def test_what_a_fixed_joint_cannot_have_is_refused():
    with pytest.raises(ModelError) as error:
        Joint("j", "fixed", "ground", "a", axis=(1.0, 0.0, 0.0), armature=0.3)
    assert [flaw.path for flaw in error.value.flaws] == ["axis", "armature"]


@pytest.mark.parametrize(("kind", "unit"), [("revolute", "kg m^2"), ("prismatic", "kg"), ("fixed", None)])
def test_the_armature_has_the_unit_of_its_joint(kind, unit):
    units = {number.name: number.unit for number in Joint("j", kind, "ground", "a").numbers()}
    assert units.get("j.armature") == unit


def test_a_rotation_of_any_library_is_kept_as_plain_numbers():
    joint = Joint("j", "revolute", "ground", "a", rotation=from_rpy(0.1, 0.2, 0.3))
    assert all(type(entry) is float for row in joint.rotation for entry in row)
    assert hash(joint) == hash(Joint("j", "revolute", "ground", "a", rotation=from_rpy(0.1, 0.2, 0.3)))


def test_a_point_tells_its_problems():
    with pytest.raises(ModelError) as error:
        Point("p", 3, (0.0, math.inf, 0.0))
    assert [flaw.path for flaw in error.value.flaws] == ["body", "origin[1]"]
