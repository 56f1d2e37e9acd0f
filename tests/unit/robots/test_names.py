"""Names of robot files become names that a machine may have, and are used once."""

import pytest

from robodyn.description.model.numbers import NAME
from robodyn.description.robots.building import free_name, usable_name


@pytest.mark.parametrize(
    "name", ["arm", "left-arm.2", "", "7", "a b", "a/b", "a..b", "é", "ground", "time", "\n", "arm."]
)
def test_every_name_becomes_one_that_is_allowed(name):
    made = usable_name(name, "link")
    assert NAME.fullmatch(made)
    assert made not in ("ground", "time")


def test_good_names_stay():
    assert usable_name("left-arm_2", "link") == "left-arm_2"


def test_a_name_that_is_taken_gets_a_number():
    assert free_name("tool", ["tool", "tool_2"]) == "tool_3"
