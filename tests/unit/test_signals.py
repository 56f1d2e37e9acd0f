"""Are the signals that matter looked at first, and not too many?"""

import pytest

from robodyn.base.signals import MOST_OF_A_UNIT, SignalInfo, choose_first

JOINTS = {f"{joint}.{quantity}": unit for joint in ("turn", "lift") for quantity, unit in
          (("position", "rad"), ("velocity", "rad/s"), ("torque", "N m"))}  # fmt: skip
MOTIONS = ["turn.position", "lift.position", "turn.velocity", "lift.velocity"]


@pytest.mark.parametrize(
    ("units", "chosen"),
    [
        (JOINTS, MOTIONS),
        (JOINTS | {"deviation.vertical": "m"}, ["deviation.vertical", *MOTIONS]),
        # Errors of joints stand in the plot in which their positions would hide them.
        (JOINTS | {"following_error.turn": "rad"}, ["following_error.turn", *MOTIONS[2:]]),
        ({"tool.position.x": "m", "motor.current": "A"}, ["tool.position.x", "motor.current"]),
        ({f"joint{k}.position": "rad" for k in range(9)}, [f"joint{k}.position" for k in range(MOST_OF_A_UNIT)]),
        ({}, []),
    ],
)
def test_errors_come_before_motions_and_those_before_all_else(units, chosen):
    assert choose_first(SignalInfo(name, unit) for name, unit in units.items()) == chosen
