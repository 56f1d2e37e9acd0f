"""Do robodyn poles and robodyn kinematics say what the analyses find, and refuse what cannot be?"""

import math

import pytest

MOTORS = ("--point", "top0", "--motor", "foot0", "--axes", "x")


def test_poles_zeros_and_truncation_of_a_pendulum_with_its_rod_as_a_constraint(invoke, read_json, tmp_path):
    """A cart of 2 kg on a spring of 50 N/m with a mass of 1 kg tied to it: 5 rad/s, and what keeps the tie hidden."""
    (tmp_path / "tied.toml").write_text("""
        duration = 1.0
        gravity = [0, 0, 0]
        [bodies]
        first = { mass = 1.0 }
        second = { mass = 1.0 }
        [joints]
        a = { kind = "prismatic", parent = "ground", child = "first", axis = [1, 0, 0] }
        b = { kind = "prismatic", parent = "ground", child = "second", axis = [1, 0, 0] }
        [blocks]
        spring = { law = "spring", on = "a", parameters = { stiffness = 50.0, damping = 2.0 } }
        push = { law = "constant_force", on = "b", parameters = { value = 0.0 } }
        [constraints]
        tie = { of = { a = 1.0, b = -1.0 } }
        [constraint_method]
        method = "baumgarte"
        pole = 7.0
    """)
    found = read_json(invoke("poles", "tied.toml", "--input", "push.value", "--output", "a.position", "--json").stdout)
    assert len(found["poles"]) == 4
    for name in ("zeros", "cancelled", "uncontrollable"):
        assert [root for pair in found[name] for root in pair] == pytest.approx([-7, 0, -7, 0], abs=1e-3)
    # 2 s^2 + 2 s + 50 = 0
    assert found["order"] == 2
    assert sorted(found["reduced_poles"])[1] == pytest.approx([-0.5, math.sqrt(25 - 0.25)])
    assert found["error_bound"] < 1e-12
    printed = invoke("poles", "tied.toml", "--input", "push.*", "--output", "a.position", "--order", "2").stdout
    assert "2 zeros           -7 (x2)" in printed
    assert "order 2 of 4" in printed
    refused = invoke("poles", "tied.toml", "--input", "pull.value", "--output", "a.position")
    assert refused.exit_code == 2
    assert "push.value" in refused.stderr


def test_closed_loops_forward_and_back(invoke, read_json):
    """A four-bar of rods of 1 m: its tip is at x = 0.5 with a rod at 60 degrees, up or down."""
    found = read_json(invoke("kinematics", "four-bar", *MOTORS, "--to", "x=0.5", "--json").stdout)["postures"]
    assert sorted(one["motors"]["foot0"] for one in found) == pytest.approx([-math.pi / 3, math.pi / 3])
    assert {round(one["point"]["z"], 9) for one in found} == {round(s * math.sqrt(0.75), 9) for s in (1, -1)}
    (forward,) = read_json(
        invoke("kinematics", "four-bar", *MOTORS, "--position", f"foot0={math.pi / 3}", "--json").stdout
    )["postures"]
    assert forward["point"]["x"] == pytest.approx(0.5)
    assert "branch 2 of 2" in invoke("kinematics", "four-bar", *MOTORS, "--to", "x=0.5").stdout


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--to", "x=1.2"), "out of reach"),
        ((), "give exactly one"),
        (("--to", "x=0.5", "--position", "foot0=1"), "give exactly one"),
        (("--to", "z=0.5"), "not one of the axes x"),
        (("--position", "knee0=1"), "not one of the motors foot0"),
        (("--to", "x=half"), "must be written as"),
    ],
)
def test_what_kinematics_cannot_do_is_refused(invoke, options, what):
    refused = invoke("kinematics", "four-bar", *MOTORS, *options)
    assert refused.exit_code == 2
    assert what in refused.stderr
