"""Are laws of users named, placed and refused as one would expect?"""

import pytest

import robodyn as rd


def slide(*blocks, **fields):
    mechanism = rd.Mechanism(
        "slide", [rd.Body("car", mass=2.0)], [rd.Joint("x", "prismatic", "ground", "car", axis=(1, 0, 0))]
    )
    return rd.Scenario("s", rd.Machine("slide", mechanism, blocks, **fields), 0.1)


def outputs(scenario, block):
    return {info.name: info.unit for info in rd.assemble(scenario).signals if info.name.startswith(f"{block}.")}


@rd.law
def bare(velocity):
    return -velocity


@rd.law(position="m", deviation="m")
def off_centre(position):
    return position - 1.0


def undecided(velocity):
    """Decides by a value, which a symbol does not have."""
    if velocity > 0:
        return -1.0
    return 1.0


def test_a_law_is_decorated_without_parentheses():
    assert bare(2.0) == -2.0
    assert outputs(slide(rd.Block("drag", bare, on="x")), "drag") == {"drag.force": "N"}
    with pytest.raises(TypeError, match="units are given by name"):
        rd.law("rad/s")


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (rd.Block("b", off_centre, inputs={"position": "x.position"}), {"b.deviation": "m"}),
        (rd.Block("b", lambda a: 2 * a, inputs={"a": "x.position"}), {"b.value": ""}),
        (rd.Block("b", lambda velocity: -velocity, on="x"), {"b.force": "N"}),
        (rd.Block("b", off_centre, on="x"), {"b.force": "N"}),
        (rd.Block("b", lambda a: -a, inputs={"a": "x.velocity"}, acts={"push": "x"}), {"b.push": ""}),
        (rd.Block("b", lambda a: a, inputs={"a": "x.position"}, period=0.01, hold={"seen": 1.0}), {"b.seen": ""}),
    ],
)
def test_a_value_without_a_name_gets_a_sensible_one(block, expected):
    assert outputs(slide(block), "b") == expected


def test_a_law_called_in_python_may_return_one_value():
    block = rd.Block("b", lambda a: a + 1, inputs={"a": "time"}, period=0.05, hold={"seen": 0.0}, native=False)
    assert rd.simulate(slide(block))["b.seen"].final == pytest.approx(1.1)


def test_an_if_is_told_with_its_line():
    with pytest.raises(rd.ModelError, match=r"test_user_laws.py, line \d+, `if velocity > 0:`\).*truth value"):
        rd.assemble(slide(rd.Block("b", undecided, on="x")))


def test_an_unknown_output_is_told_with_those_there_are():
    one = rd.Block("one", bare, on="x")
    two = rd.Block("two", lambda a: a, inputs={"a": "one.torque"})
    with pytest.raises(rd.ModelError, match="there is no signal 'one.torque'.*'one' has one.force"):
        rd.assemble(slide(one, two))


@pytest.mark.parametrize("law", ["step_reference", "ramp_reference"])
@pytest.mark.parametrize("unit", ["V", "N m", "m", None])
def test_steps_and_ramps_have_any_unit(law, unit):
    parameters = {"after": 1.0} if law == "step_reference" else {"rate": 1.0}
    block = rd.Block("goal", law, parameters=parameters, unit=unit)
    assert outputs(slide(block), "goal") == {"goal.value": unit or ""}


def test_forces_of_prescribed_motions_have_the_units_of_what_they_move():
    bodies = [rd.Body("a", mass=1.0, inertia=(1, 1, 1)), rd.Body("b", mass=1.0)]
    joints = [rd.Joint("turn", "revolute", "ground", "a"), rd.Joint("x", "prismatic", "a", "b", axis=(1, 0, 0))]
    constraints = [rd.PrescribedMotion("spin", "turn", 0.0), rd.PrescribedMotion("shift", "x", 0.0)]
    machine = rd.Machine("m", rd.Mechanism("m", bodies, joints), constraints=constraints)
    units = {info.name: info.unit for info in rd.assemble(rd.Scenario("s", machine, 1.0)).signals}
    assert (units["spin.force"], units["turn.torque"]) == ("N m", "N m")
    assert (units["shift.force"], units["x.force"]) == ("N", "N")
