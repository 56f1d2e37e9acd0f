"""A triangle coordinate checks its sides, its range and its place."""

import math

import pytest

from robodyn import Body, Joint, Machine, Mechanism, ModelError, Point, TriangleLength


def flaws_of(**changes):
    with pytest.raises(ModelError) as error:
        TriangleLength(**({"name": "cylinder", "of": {"hinge": 1.0}, "sides": (0.3, 0.2)} | changes))
    return {flaw.path: flaw for flaw in error.value.flaws}


def test_reach_is_difference_and_sum_of_the_sides():
    assert TriangleLength("c", {"hinge": 1.0}, (0.3, 0.2)).reach == pytest.approx((0.1, 0.5))


def test_all_flaws_are_told_at_once():
    found = flaws_of(of={"hinge": math.nan}, sides=(0.0, 0.2), offset=math.inf, range=(0.4, 0.3))
    assert set(found) == {"of.hinge", "sides[0]", "offset", "range"}


def test_a_range_beyond_the_sides_is_refused_with_what_they_allow():
    found = flaws_of(range=(0.2, 0.6))
    assert "0.1 to 0.5 m" in found["range"].remedy


def test_a_drawing_without_a_place_is_refused():
    assert "no effect without at" in flaws_of(arm=(0.0, 1.0, 0.0))["arm"].what


def test_an_arm_along_the_axis_is_refused():
    assert "parallel" in flaws_of(at="pin", arm=(0.0, 0.0, 2.0))["arm"].what


def test_joint_and_point_must_exist():
    mechanism = Mechanism(
        "m",
        [Body("arm", 1.0)],
        [Joint("hinge", "revolute", "ground", "arm")],
        [Point("pin", "arm")],
    )
    with pytest.raises(ModelError) as error:
        Machine("m", mechanism, coordinates=[TriangleLength("c", {"hing": 1.0}, (0.3, 0.2), at="pn")])
    assert {flaw.path for flaw in error.value.flaws} == {"coordinates.c.of", "coordinates.c.at"}


def test_numbers_can_be_changed_by_name():
    changed = TriangleLength("c", {"hinge": 1.0}, (0.3, 0.2)).with_numbers({"c.sides.a": 0.4, "c.offset": 0.1})
    assert changed.sides == (0.4, 0.2)
    assert changed.offset == 0.1
