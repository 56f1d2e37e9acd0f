"""Is a nominal motion checked before anything is made of it?"""

from dataclasses import replace

import pytest

from robodyn import ModelError, assemble
from robodyn.description.catalog.two_link import two_link_loop
from robodyn.description.model import describe

GOOD = {"shoulder": "shoulder.reference.position", "elbow": "elbow.reference.position"}


def test_a_nominal_motion_is_part_of_the_description_and_kept_with_other_numbers():
    scenario = two_link_loop()
    assert describe(scenario)["nominal"] == GOOD
    assert scenario.with_numbers({"duration": 1.0}).nominal == GOOD


def test_all_moving_joints_must_have_a_reference():
    with pytest.raises(ModelError) as error:
        replace(two_link_loop(), nominal={"shoulder": "shoulder.reference.position", "elbw": 3})
    assert str(error.value).splitlines()[1:] == [
        "  nominal.elbw: must be a name, is 3",
        "  nominal.elbw: is not a moving joint (did you mean 'elbow'?)",
        "  nominal.elbow: is missing (name the signal of its reference position)",
    ]


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        ("elbow.referenc.position", "there is no signal .*did you mean 'elbow.reference.position'"),
        ("elbow.position", "'elbow.position' depends on elbow.position"),
        ("elbow.position_loop.velocity_command", "use a continuous reference, a function of time alone"),
    ],
)
def test_a_reference_must_be_a_function_of_time(signal, message):
    with pytest.raises(ModelError, match=f"nominal.elbow: {message}|{message}"):
        assemble(replace(two_link_loop(), nominal=GOOD | {"elbow": signal}))
