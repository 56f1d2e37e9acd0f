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
