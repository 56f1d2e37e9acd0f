"""Does robodyn modes print the modes of a scenario, in words and in JSON, and draw them?"""

import math

import numpy as np
import pytest

SPRING = """
    [blocks.spring]
    law = "spring"
    on = "hinge"
    parameters = { stiffness = 4.0, damping = 0.8 }
"""


@pytest.fixture
def sprung(quick):
    """A point mass of 1 kg at 1 m, without gravity, on a spring of 4 N m/rad: 2 rad/s, damping ratio 0.2."""
    quick.write_text("    gravity = [0, 0, 0]\n" + quick.read_text() + SPRING)
    return quick


def test_the_table_tells_frequency_damping_and_states(invoke, sprung):
    result = invoke("modes", sprung)
    assert result.exit_code == 0
    head, row = result.stdout.splitlines()
    assert head.split()[0] == "frequency"
    frequency, damping, constant, *states = row.split()
    assert float(frequency) == pytest.approx(2 / (2 * np.pi), rel=1e-5)
    assert float(damping) == pytest.approx(0.2, abs=1e-4)
    assert float(constant) == pytest.approx(2.5, rel=1e-5)
    assert "hinge.position" in states


def test_json_tells_all_of_each_mode(invoke, sprung, read_json):
    message = read_json(invoke("modes", sprung, "--json").stdout)
    (mode,) = message["modes"]
    assert mode["frequency"] == pytest.approx(2 / (2 * np.pi))
    assert mode["pole"] == pytest.approx([-0.4, 2 * np.sqrt(0.96)])
    assert sum(mode["participation"].values()) == pytest.approx(1.0)
    assert message["notes"] == []


def test_numbers_can_be_changed(invoke, sprung, read_json):
    message = read_json(invoke("modes", sprung, "--set", "spring.stiffness=16", "--json").stdout)
    assert message["modes"][0]["frequency"] == pytest.approx(4 / (2 * np.pi))


def test_the_start_can_be_linearised_and_notes_are_told(invoke, quick):
    """A pendulum at 30 deg is not at rest, and swings slower than at the bottom by the root of its cosine."""
    result = invoke("modes", quick, "--at", "start")
    assert "note: not at rest: hinge.velocity" in result.stderr
    slow = float(result.stdout.splitlines()[1].split()[0])
    bottom = float(invoke("modes", quick).stdout.splitlines()[1].split()[0])
    assert slow / bottom == pytest.approx(np.sqrt(np.cos(np.pi / 6)), rel=1e-5)


def test_the_shapes_are_drawn(invoke, quick, tmp_path):
    pytest.importorskip("matplotlib")
    result = invoke("modes", quick, "--plot", "modes.png", "--html", "modes.html")
    assert result.exit_code == 0
    assert "Modes of" in (tmp_path / "modes.html").read_text(encoding="utf-8")
    assert (tmp_path / "modes.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nothing",), "there is no scenario 'nothing'"),
        (("scara-phases",), "is a sequence of"),
        (("pendulum", "--at", "rest"), "must be equilibrium or start"),
        (("pendulum", "--pade", "-1"), "must not be negative"),
        (("pendulum", "--set", "bob.mas=1"), "did you mean 'bob.mass'"),
        (("quick.toml", "--plot", "a.xyz"), "pictures end in .png, .svg or .pdf"),
        (("pendulum", "--html", "a.html"), "--html a.html: no mode oscillates"),
    ],
)
def test_what_cannot_be_done_is_told(invoke, quick, arguments, complaint):
    result = invoke("modes", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stdout == ""


HELD = """
duration = 1.0

[bodies.carriage]
mass = 2.0

[joints.axis]
kind = "prismatic"
parent = "ground"
child = "carriage"
axis = [1, 0, 0]

[blocks.spring]
law = "spring"
on = "axis"
parameters = { stiffness = 200.0 }

[blocks.friction]
law = "viscous_friction"
on = "axis"
parameters = { viscous = 4.0 }

[blocks.control]
law = "pd_control"
on = "axis"
inputs = { target = 0.1 }
parameters = { proportional = 600.0, derivative = 0.0 }

[blocks.drive]
law = "torque_source"
on = "axis"
inputs = { command = "control.command" }
"""


def test_modes_without_friction_and_with_outputs_held(invoke, read_json, tmp_path):
    """A mass of 2 kg on 200 N/m: controlled by 600 N/m it swings twice as fast, undamped without its friction."""
    (tmp_path / "held.toml").write_text(HELD)

    def mode(*options):
        (found,) = read_json(invoke("modes", "held.toml", *options, "--json").stdout)["modes"]
        return found["frequency"] * 2 * math.pi, found["damping"]

    assert mode() == pytest.approx((20.0, 4.0 / (2 * 2.0 * 20.0)))
    assert mode("--friction", "none") == pytest.approx((20.0, 0.0), abs=1e-9)
    assert mode("--hold", "control") == mode("--hold", "control.*") == pytest.approx((10.0, 0.1))
    assert mode("--hold", "control", "--friction", "none") == pytest.approx((10.0, 0.0), abs=1e-9)
    refused = invoke("modes", "held.toml", "--hold", "axis.position")
    assert refused.exit_code == 2
    assert "not an output of a block" in refused.stderr
    assert invoke("modes", "held.toml", "--friction", "some").exit_code == 2


def test_modes_of_the_constraint_method_are_marked(invoke, read_json):
    """A pendulum in x and z: one swing of its own, and errors of its rod's length that decay at the method's pole."""
    found = read_json(invoke("modes", "cartesian-pendulum", "--json").stdout)["modes"]
    swings = [mode for mode in found if not mode["of_method"]]
    assert [mode["frequency"] for mode in swings] == pytest.approx([math.sqrt(9.81) / (2 * math.pi)])
    assert all(mode["damping"] == pytest.approx(1.0, abs=1e-4) for mode in found if mode["of_method"])
    assert len(found) > len(swings)
    assert "constraint method: z.position" in invoke("modes", "cartesian-pendulum").stdout
