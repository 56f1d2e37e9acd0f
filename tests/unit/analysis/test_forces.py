"""Are the forces of a run's drives split as in closed form?"""

import numpy as np
import pytest

from robodyn.analysis.mechanics.forces import split_forces
from robodyn.base.errors import ModelError
from robodyn.description.catalog import find_scenario
from robodyn.description.files import read_scenario
from robodyn.presentation.reporting import display

ARM = """
duration = "0.6 s"
gravity = [0, 0, -10]
initial = { shoulder.position = 0.4 }
bodies.upper = { mass = 2, com = [0.5, 0, 0], inertia = [0.01, 0.2, 0.2] }
bodies.payload = { mass = 3 }
joints.shoulder = { kind = "revolute", parent = "ground", child = "upper", axis = [0, 1, 0] }
joints.grip = { kind = "fixed", parent = "upper", child = "payload", origin = [1, 0, 0] }
blocks.friction = { law = "viscous_friction", on = "shoulder", parameters = { viscous = 4 } }
blocks.spring = { law = "spring", on = "shoulder", parameters = { stiffness = 7 } }
blocks.push = { law = "constant_force", on = "shoulder", parameters = { value = -20 } }
"""


@pytest.fixture(scope="module")
def pushed(tmp_path_factory):
    """An arm that a constant torque pushes against friction and a spring, 3 kg at its end 1 m from the axis."""
    path = tmp_path_factory.mktemp("arm") / "arm.toml"
    path.write_text(ARM)
    return split_forces(read_scenario(path))


def test_what_a_drive_gives_is_the_sum_of_its_parts_in_closed_form(pushed):
    q, v, a = (pushed.run[f"shoulder.{part}"].values for part in ("position", "velocity", "acceleration"))
    # About y, x downwards is a positive angle: a mass m at l weighs - m g l cos q.
    expected = {
        "inertia": 0.7 * a,
        "coupling": 0 * a,
        "Coriolis": 0 * a,
        "gravity": -2 * 10 * 0.5 * np.cos(q),
        "payload": 3 * a - 3 * 10 * np.cos(q),
        "friction": 4 * v,
        "springs": 7 * q,
        "rest": 0 * a,
    }
    assert list(pushed.forces.components) == list(expected)
    for part, values in expected.items():
        # Rounding of terms of some ten N m.
        np.testing.assert_allclose(pushed.forces.components[part][:, 0], values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pushed.drives, -20, rtol=1e-12)
    np.testing.assert_allclose(pushed.forces.total, pushed.drives, rtol=1e-12)


def test_a_joint_carries_weight_and_centripetal_force_of_all_beyond_it(pushed):
    q, v, a = (pushed.run[f"shoulder.{part}"].values for part in ("position", "velocity", "acceleration"))
    # 5 kg with their centre of mass at 0.8 m.
    along = -5 * 0.8 * v**2 + 5 * 10 * np.sin(-q)
    across = 5 * 0.8 * a - 5 * 10 * np.cos(q)
    assert pushed.loads["shoulder"].force.largest == pytest.approx(np.hypot(along, across).max(), rel=1e-10)
    assert pushed.loads["shoulder"].axial.largest == pytest.approx(0, abs=1e-12)
    assert pushed.loads["grip"].axial is None
    joint = pushed.joints["shoulder"]
    assert (joint.unit, joint.drive.largest, joint.drive.rms) == ("N m", pytest.approx(20), pytest.approx(20))


def test_forces_are_shown_without_parts_that_are_rounding(pushed):
    largest, rms, loads = display(pushed).tables
    assert largest.heads == ("largest", "drive", "inertia", "gravity", "payload", "friction", "springs", "unit")
    assert rms.rows[0][1] == pytest.approx(20)
    assert [row[0] for row in loads.rows] == ["shoulder", "grip"]
    assert loads.rows[1][2] is None


def test_a_payload_that_is_not_there_and_a_free_joint_are_refused():
    with pytest.raises(ModelError, match="there is no such body"):
        split_forces(find_scenario("double-pendulum"), "gripper")
    with pytest.raises(ModelError, match="turns freely in space"):
        split_forces(find_scenario("quadrotor"))
