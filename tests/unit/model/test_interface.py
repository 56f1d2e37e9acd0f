"""An interface that cannot be meant is refused, with every reason."""

import pytest

from robodyn import Interface, ModelError

WRONG = {
    "takes": ({"takes": "forces", "on": "slide"}, "did you mean 'force'"),
    "no place": ({"takes": "force"}, "only one of them"),
    "two places": ({"takes": "force", "on": "slide", "point": "tip"}, "only one of them"),
    "turning joint": ({"takes": "force", "on": "slide", "rotates": True}, "has no effect on a joint"),
    "stiff force": ({"takes": "force", "on": "slide", "stiffness": 1.0}, "has no effect where a force comes in"),
    "loose motion": ({"takes": "motion", "on": "slide"}, "stiffness: is missing"),
    "damped rigid": ({"takes": "model", "on": "slide", "damping": 1.0}, "attached rigidly"),
    "rows": ({"takes": "motion", "point": "tip", "stiffness": (1.0, 2.0)}, "must be 3 numbers"),
    "units": ({"takes": "motion", "point": "tip", "rotates": True, "stiffness": 1.0}, "six numbers"),
    "negative": ({"takes": "motion", "on": "slide", "stiffness": -1.0}, "must not be negative"),
    "given": ({"takes": "force", "on": "slide", "given": {"forc": 1.0}}, "does not come in here"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_has_no_effect_or_no_sense_is_refused(case):
    fields, reason = WRONG[case]
    with pytest.raises(ModelError, match=reason):
        Interface("port", **fields)


def test_its_numbers_can_be_changed_by_name():
    port = Interface("port", "motion", point="tip", rotates=True, stiffness=(1.0,) * 3 + (2.0,) * 3)
    numbers = {number.name: (number.value, number.unit) for number in port.numbers()}
    assert numbers["port.far_orientation.yy"] == (1.0, "")
    assert numbers["port.stiffness.rx"] == (2.0, "N m/rad")
    other = port.with_numbers({"port.far_position.y": 3.0, "port.stiffness.rx": 4.0})
    assert {n.name: n.value for n in other.numbers()} == {name: value for name, (value, _) in numbers.items()} | {
        "port.far_position.y": 3.0,
        "port.stiffness.rx": 4.0,
    }
