"""Constraints and their constraint method in TOML files: every form is read, every problem reported at once."""

import pytest

from robodyn import (
    ConstraintMethod,
    LinearConstraint,
    LoopJoint,
    ModelError,
    PrescribedMotion,
    Rod,
    assemble,
    read_scenario,
    simulate,
)

MECHANISM = """
duration = "1 s"

[bodies.slide]

[bodies.bob]
mass = 1.0
inertia = [0.1, 0.1, 0.1]

[joints.x]
kind = "prismatic"
parent = "ground"
child = "slide"
axis = [1, 0, 0]

[joints.z]
kind = "prismatic"
parent = "slide"
child = "bob"

[points.pivot]
body = "ground"

[points.tip]
body = "bob"

[initial]
x.position = "-1000 mm"
"""


def read(tmp_path, text):
    path = tmp_path / "file.toml"
    path.write_text(text)
    return read_scenario(path)


def constraint_of(tmp_path, text):
    (constraint,) = read(tmp_path, f"{MECHANISM}\n[constraints.c]\n{text}\n").machine.constraints
    return constraint


def flaws_of(tmp_path, text):
    with pytest.raises(ModelError) as error:
        read(tmp_path, text)
    return {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('rod = ["pivot", "tip"]\nlength = "500 mm"', Rod("c", "pivot", "tip", 0.5)),
        ('rod = ["pivot", "tip"]\nlength = 1\nactive = false', Rod("c", "pivot", "tip", 1.0, active=False)),
        ('loop_joint = ["pivot", "tip"]', LoopJoint("c", "pivot", "tip")),
        (
            'loop_joint = ["pivot", "tip"]\nkind = "revolute"\naxis = [0, 2, 0]\nsecond_axis = [1, 0, 0]',
            LoopJoint("c", "pivot", "tip", "revolute", (0, 1, 0), (1, 0, 0)),
        ),
        (
            'loop_joint = ["pivot", "tip"]\nkind = "fixed"\nrotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]',
            LoopJoint("c", "pivot", "tip", "fixed", rotation=((0, -1, 0), (1, 0, 0), (0, 0, 1))),
        ),
        ('of = { x = 1, z = -2 }\noffset = "10 mm"', LinearConstraint("c", {"x": 1.0, "z": -2.0}, 0.01)),
        ('prescribed = "x"\nposition = "-1000 mm"', PrescribedMotion("c", "x", -1.0)),
        ('prescribed = "x"\nposition = "90 mm"', PrescribedMotion("c", "x", 0.09)),
        (
            'prescribed = "x"\nposition = "path.position"\nvelocity = "path.velocity"\nacceleration = -2',
            PrescribedMotion("c", "x", "path.position", "path.velocity", -2.0),
        ),
    ],
)
def test_every_form_is_read(tmp_path, text, expected):
    assert constraint_of(tmp_path, text) == expected


def test_constraint_method_and_start_are_read(tmp_path):
    text = f'initialisation = "assembled"{MECHANISM}\n[constraints.c]\nrod = ["pivot", "tip"]\nlength = 1\n'
    assert read(tmp_path, text).initialisation == "assembled"
    assert read(tmp_path, text).keep is None
    assert read(tmp_path, f'keep = ["x.position"]\n{text}').keep == ("x.position",)
    assert read(tmp_path, f"keep = []\n{text}").keep == ()
    assert read(tmp_path, text).constraint_method == ConstraintMethod()
    assert read(tmp_path, f"{text}[constraint_method]\npole = 5").constraint_method == ConstraintMethod(pole=5.0)
    assert read(tmp_path, f'{text}[constraint_method]\nmethod = "projection"').constraint_method == ConstraintMethod(
        "projection"
    )


def test_all_problems_are_told_at_once(tmp_path):
    text = f"""{MECHANISM}
[constraints.none]
length = 1

[constraints.both]
rod = ["pivot", "tip"]
of = {{ x = 1 }}

[constraints.three]
loop_joint = ["pivot", "tip", "pivot"]

[constraints.short]
rod = ["pivot", "tap"]
length = "-1 m"

[constraints.heavy]
rod = ["pivot", "tip"]
length = "1 kg"

[constraints.typo]
loop_joint = ["pivot", "tip"]
kind = "revolut"
axes = [0, 1, 0]

[constraints.gear]
of = {{ x = "one" }}

[constraints.drive]
prescribed = "x"

[constraints.path]
prescribed = "y"
position = "pth.position"
velocity = 0

[constraints.late]
prescribed = "x"
position = "path.position"

[constraint_method]
method = "baumgart"
pole = -1
"""
    found = flaws_of(tmp_path, text)
    assert "exactly one of" in found["constraints.none"]
    assert "exactly one of" in found["constraints.both"]
    assert "names 3" in found["constraints.three.loop_joint"]
    assert "positive" in found["constraints.short.length"]
    assert "must be in m" in found["constraints.heavy.length"]
    assert "'revolute'" in found["constraints.typo.kind"]
    assert "unknown" in found["constraints.typo.axes"]
    assert "constraints.gear.of.x" in found
    assert "missing" in found["constraints.drive.position"]
    assert "no joint or coordinate 'y'" in found["constraints.path.prescribed"]
    assert "no signal 'pth.position'" in found["constraints.path.position"]
    assert "is not given" in found["constraints.late.velocity"]
    assert "'baumgarte'" in found["constraint_method.method"]
    assert "positive" in found["constraint_method.pole"]


def test_unknown_points_are_told_with_the_nearest(tmp_path):
    text = f'{MECHANISM}\n[constraints.c]\nrod = ["pivot", "tap"]\nlength = 1\n'
    assert "'tip'" in flaws_of(tmp_path, text)["constraints.c.rod[1]"]


@pytest.mark.parametrize("key", ["kind", "axis", "length", "offset", "position"])
def test_keys_of_other_forms_are_unknown(tmp_path, key):
    own = {"length": 'loop_joint = ["pivot", "tip"]'}
    text = own.get(key, 'rod = ["pivot", "tip"]\nlength = 1')
    assert "unknown" in flaws_of(tmp_path, f"{MECHANISM}\n[constraints.c]\n{text}\n{key} = 1\n")[f"constraints.c.{key}"]


def test_a_constraint_method_of_nothing_is_told(tmp_path):
    assert "has no effect" in flaws_of(tmp_path, f"{MECHANISM}\n[constraint_method]\npole = 5\n")["constraint_method"]


def test_a_rod_breaks_in_a_file(tmp_path):
    text = f"""{MECHANISM}
[constraints.rod]
rod = ["pivot", "tip"]
length = 1

[events.fracture]
signal = "rod.tension"
level = "20 N"
direction = "rising"
set = {{ "rod.active" = 0 }}

[solver]
method = "dopri5"
rtol = 1e-9
"""
    run = simulate(read(tmp_path, text))
    assert [event.name for event in run.events] == ["fracture"]
    # Free flight: the horizontal speed stays.
    assert run["rod.tension"].final == 0.0
    assert run["x.velocity"].values[-1] == run["x.velocity"].values[-2]


def test_a_wrong_start_value_beside_a_flaw_is_told_and_that_of_a_constraint_is_known(tmp_path):
    text = f'{MECHANISM}rod.active = 0\nrud.active = 0\n\n[constraints.rod]\nrod = ["pivot", "tip"]\nlength = -1\n'
    found = flaws_of(tmp_path, text)
    assert "initial.rud.active" in found
    assert "initial.rod.active" not in found


def test_a_file_with_constraints_assembles(tmp_path):
    text = f'{MECHANISM}\n[constraints.rod]\nrod = ["pivot", "tip"]\nlength = 1\n'
    assert assemble(read(tmp_path, text)).motion.constraint_forces == ("rod.tension",)
