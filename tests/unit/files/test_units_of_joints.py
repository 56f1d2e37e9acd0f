"""Numbers of what acts on a joint are in the joint's kind of unit: metres on a hinge are refused, not taken for rad."""

import pytest

from robodyn import ModelError, read_scenario

ARM = """
duration = 1
[bodies.arm]
mass = 1
inertia = [0.1, 0.1, 0.1]
[joints.j]
kind = "{kind}"
parent = "ground"
child = "arm"
"""
SPRING = '[blocks.spring]\nlaw = "spring"\non = "j"\nparameters = {{ stiffness = "{stiffness}", rest = "{rest}" }}\n'
HELD = '[constraints.held]\nprescribed = "j"\nposition = "{rest}"\n'
UNITS = {"revolute": ("5 N m/rad", "30 deg"), "prismatic": ("5 N/m", "30 mm")}


def read(folder, kind, part, stiffness, rest):
    path = folder / "arm.toml"
    path.write_text(ARM.format(kind=kind) + part.format(stiffness=stiffness, rest=rest))
    return read_scenario(path)


@pytest.mark.parametrize("kind", UNITS)
@pytest.mark.parametrize("part", [SPRING, HELD])
def test_units_of_the_other_kind_of_joint_are_refused(tmp_path, kind, part):
    assert read(tmp_path, kind, part, *UNITS[kind]).duration == 1.0
    other = next(units for name, units in UNITS.items() if name != kind)
    with pytest.raises(ModelError) as caught:
        read(tmp_path, kind, part, *other)
    wrong = {"blocks.spring.parameters.stiffness", "blocks.spring.parameters.rest"}
    assert {flaw.path for flaw in caught.value.flaws} == (wrong if part == SPRING else {"constraints.held.position"})


COORDINATES = {
    "sum of angles": ("of = { j = 2.0 }", "rad"),
    "distance": ('between = ["tip", "peg"]', "m"),
    "triangle": ("of = { j = 1.0 }\nsides = [1, 2]", "m"),
    "height": ('point = "tip"\ndirection = [0, 0, 1]', "m"),
    "function of an angle": ('of = ["j"]\nfunction = "math:cos"\nunit = "rad"', "rad"),
    "function": ('of = ["j"]\nfunction = "math:cos"', "m"),
}
POINTS = '[points.tip]\nbody = "arm"\norigin = [1, 0, 0]\n[points.peg]\nbody = "ground"\n[coordinates.s]\n'
ON_S = """
[blocks.spring]
law = "spring"
on = "s"
parameters = {{ stiffness = "{stiffness}" }}
[constraints.held]
prescribed = "s"
position = "{range}"
[constraints.sum]
of = {{ s = 2.0 }}
offset = "{range}"
[interfaces.port]
takes = "motion"
on = "s"
stiffness = "{stiffness}"
[events.far]
signal = "s.position"
level = "{range}"
"""
BY_UNIT = {"rad": {"stiffness": "5 N m/rad", "range": "60 deg"}, "m": {"stiffness": "5 N/m", "range": "1.5 m"}}


def read_coordinate(folder, made, units):
    path = folder / "arm.toml"
    path.write_text(ARM.format(kind="revolute") + POINTS + made + ON_S.format(**units))
    return read_scenario(path)


@pytest.mark.parametrize("what", COORDINATES)
def test_units_of_the_other_kind_of_coordinate_are_refused(tmp_path, what):
    made, unit = COORDINATES[what]
    assert read_coordinate(tmp_path, made, BY_UNIT[unit]).duration == 1.0
    with pytest.raises(ModelError) as caught:
        read_coordinate(tmp_path, made, BY_UNIT["m" if unit == "rad" else "rad"])
    wrong = {"blocks.spring.parameters.stiffness", "constraints.held.position", "constraints.sum.offset"}
    wrong |= {"interfaces.port.stiffness", "events.far.level"}
    assert {flaw.path for flaw in caught.value.flaws} == wrong


@pytest.mark.parametrize("what", COORDINATES)
def test_a_range_is_in_the_unit_of_its_coordinate(tmp_path, what):
    made, unit = COORDINATES[what]
    other = BY_UNIT["m" if unit == "rad" else "rad"]["range"]
    with pytest.raises(ModelError) as caught:
        read_coordinate(tmp_path, f'{made}\nrange = [0, "{other}"]', BY_UNIT[unit])
    assert [flaw.path for flaw in caught.value.flaws] == ["coordinates.s.range[1]"]


def test_a_sum_of_angles_and_lengths_may_be_either(tmp_path):
    slide = '[bodies.cart]\n[joints.k]\nkind = "prismatic"\nparent = "arm"\nchild = "cart"\n'
    for units in BY_UNIT.values():
        made = "of = { j = 0.1, k = -1.0 }"
        path = tmp_path / "arm.toml"
        path.write_text(ARM.format(kind="revolute") + slide + POINTS + made + ON_S.format(**units))
        assert read_scenario(path).duration == 1.0
