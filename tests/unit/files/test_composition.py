"""Are includes and templates put together as said, and mistakes reported where they stand?"""

import dataclasses

import pytest

import robodyn as rd
from robodyn.description.files import composition
from robodyn.description.files.composition import DEEPEST, load_composed

AXIS = """
[templates.axis]
tunable = ["*.mass"]
bodies.carriage.mass = 2
joints.slide = { kind = "prismatic", parent = "ground", child = "carriage", axis = [1, 0, 0] }
points.tool.body = "carriage"
coordinates.reach = { point = "tool", direction = [1, 0, 0] }
blocks.spring = { law = "spring", on = "slide", parameters = { stiffness = "2 N/mm", damping = 0 } }
blocks.reference = { law = "constant_reference", unit = "m", parameters.constant = 0 }
signals.error = { formula = "slide.position - reference.value + 0 * other" , parameters.other = 1 }
delays.late = { signal = "error", time = "1 ms" }
events.far = { signal = "error", level = "1 m", direction = "rising", set = { slide.velocity = 0 } }
initial.slide.velocity = "1 m/s"
"""
MAIN = """
include = "axis.toml"
duration = "1 s"
[use.x]
template = "axis"
[use.y]
template = "axis"
bodies.carriage.mass = "500 g"
joints.slide.parent = "x.carriage"
joints.slide.axis = [0, 1, 0]
"""


def write(folder, **files):
    for name, text in files.items():
        path = folder / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.toml"


def complaints(folder, **files):
    with pytest.raises(rd.ModelError) as caught:
        rd.read_scenario(write(folder, **files))
    return str(caught.value)


def test_a_template_is_used_twice_with_other_numbers(tmp_path):
    scenario = rd.read_scenario(write(tmp_path, main=MAIN, axis=AXIS))
    machine = scenario.machine
    assert [joint.name for joint in machine.mechanism.joints] == ["x.slide", "y.slide"]
    assert [body.mass for body in machine.mechanism.bodies] == [2, 0.5]
    assert machine.mechanism.joints[1].parent == "x.carriage"
    assert [block.law for block in machine.blocks if "spring" in block.name] == ["spring", "spring"]
    assert machine.signals[1].formula == "y.slide.position - y.reference.value + 0 * other"
    assert machine.delays[0].signal == "x.error"
    assert dict(scenario.events[1].action.values) == {"y.slide.velocity": 0}
    assert dict(scenario.initial) == {"x.slide.velocity": 1, "y.slide.velocity": 1}
    assert machine.tunable == ("x.*.mass", "y.*.mass")
    run = rd.simulate(scenario)
    assert run["y.error"].final == pytest.approx(run["y.slide.position"].final)


def test_a_file_wins_over_what_it_includes(tmp_path):
    base = "title = 'base'\n" + MAIN.replace('include = "axis.toml"', "") + AXIS
    path = write(tmp_path, main='include = ["base.toml"]\nduration = "2 s"\n[initial]\ny.slide.velocity = 3', base=base)
    scenario = rd.read_scenario(path)
    assert (scenario.duration, scenario.title, scenario.initial["y.slide.velocity"]) == (2, "base", 3)


def test_files_are_named_as_seen_from_the_file_that_names_them(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "laws.py").write_text("def drag(velocity):\n    return -velocity\n", encoding="utf-8")
    (tmp_path / "lib" / "track.csv").write_text("time,a\n0,1\n1,2\n", encoding="utf-8")
    more = (
        AXIS
        + """
blocks.drag = { law = "laws.py:drag", on = "slide" }
blocks.track = { law = "file_reference", file = "track.csv", column = "a" }
"""
    )
    write(tmp_path / "lib", axis=more.replace("[templates.axis]", "[templates.axis]"))
    scenario = rd.read_scenario(write(tmp_path, main=MAIN.replace("axis.toml", "lib/axis.toml")))
    assert scenario.machine.blocks[2].law.__name__ == "drag"
    assert scenario.machine.blocks[3].law.points == (1, 2)


@pytest.mark.parametrize(
    ("main", "axis", "complaint"),
    [
        (
            MAIN,
            AXIS.replace('"2 N/mm"', '"2 mm"'),
            'axis.toml: templates.axis.blocks.spring.parameters.stiffness: "2 mm" must',
        ),
        (MAIN, AXIS.replace("kind", "knd"), "axis.toml: templates.axis.joints.slide.knd: is unknown"),
        (MAIN.replace('"500 g"', '"5 m"'), AXIS, 'use.y.bodies.carriage.mass: "5 m" must be in kg'),
        (
            MAIN.replace("carriage.mass", "cariage.mass"),
            AXIS,
            "use.y.bodies.cariage: the template has no such part (did",
        ),
        (MAIN.replace("bodies.", "bodis."), AXIS, "use.y.bodis: is unknown (did you mean 'bodies'?)"),
        (
            MAIN.replace('"axis"', '"axle"', 1),
            AXIS,
            "use.x.template: there is no template 'axle' (known: axis)",
        ),
        (MAIN.replace('template = "axis"', "", 1), AXIS, "use.x.template: is missing"),
        (MAIN.replace("[use.x]", '[use."x y"]'), AXIS, "use.x y: 'x y' is not a name"),
        (MAIN, AXIS + "\nduration = 3", "axis.toml: templates.axis.duration: is unknown in a template"),
        (MAIN, "include = 3", "include.axis.toml: include: must be the name of a file"),
        (MAIN, AXIS + "\n[", "include.axis.toml: is not TOML"),
        (MAIN.replace("axis.toml", "axes.toml"), AXIS, "include.axes.toml: cannot be read"),
        (MAIN, 'include = "main.toml"', "'main.toml' includes itself: main.toml -> axis.toml -> main.toml"),
        ("use = 3", AXIS, "use: must be a table of tables"),
        ("use.x = 3", AXIS, "use: must be a table of tables"),
        (
            MAIN,
            AXIS.replace("bodies.carriage", "extra").replace("[templates.axis]", "[templates.axis]\nbodies = 3"),
            "use.x.bodies: must be a table, is 3",
        ),
        (MAIN.replace("bodies.carriage.mass", "bodies"), AXIS, "use.y.bodies: must be a table"),
    ],
)
def test_what_is_wrong_is_told_where_it_stands(tmp_path, main, axis, complaint):
    assert complaint in complaints(tmp_path, main=main, axis=axis)


def test_two_includes_do_not_contradict_each_other(tmp_path):
    files = {"main": 'include = ["a.toml", "b.toml"]', "a": "duration = 1", "b": "duration = 2"}
    assert "duration: is given by two includes, 'a.toml' and 'b.toml'" in complaints(tmp_path, **files)


def test_includes_and_templates_have_limits(tmp_path, monkeypatch):
    chain = {f"f{k}": f'include = "f{k + 1}.toml"' for k in range(DEEPEST + 2)}
    assert "is one too many" in complaints(tmp_path, main='include = "f0.toml"', **chain)
    wide = {f"g{k}": f"include = {[f'g{k + 1}.toml'] * 40}" for k in range(6)}
    assert "is one too many" in complaints(tmp_path, main='include = "g0.toml"', **wide, g6="")
    assert composition.MOST_ENTRIES == 200_000
    monkeypatch.setattr(composition, "MOST_ENTRIES", 2000)
    parts = "\n".join(f"bodies.b{k}.mass = 1" for k in range(40))
    uses = "\n".join(f'[use.u{k}]\ntemplate = "t"' for k in range(100))
    assert "makes more than 2000 entries" in complaints(tmp_path, main=f"[templates.t]\n{parts}\n{uses}")


CELL = """
[templates.cell]
points.mark.body = "x.carriage"
blocks.brake = { law = "viscous_friction", on = "x.slide", parameters.viscous = 3 }
[templates.cell.use.x]
template = "axis"
[templates.cell.use.y]
template = "axis"
joints.slide.parent = "x.carriage"
joints.slide.axis = [0, 1, 0]
"""
CELLS = """
include = ["axis.toml", "cell.toml"]
duration = "1 s"
use.left.template = "cell"
[use.right]
template = "cell"
bodies."y.carriage".mass = "300 g"
"""


def test_a_template_uses_others(tmp_path):
    machine = rd.read_scenario(write(tmp_path, main=CELLS, axis=AXIS, cell=CELL)).machine
    joints = {joint.name: joint for joint in machine.mechanism.joints}
    assert list(joints) == ["left.x.slide", "left.y.slide", "right.x.slide", "right.y.slide"]
    assert joints["right.y.slide"].parent == "right.x.carriage"
    assert {body.name: body.mass for body in machine.mechanism.bodies}["right.y.carriage"] == 0.3
    assert next(block for block in machine.blocks if block.name == "right.brake").on == "right.x.slide"
    assert machine.tunable == ("left.x.*.mass", "left.y.*.mass", "right.x.*.mass", "right.y.*.mass")
    assert machine.signals[3].formula == "right.y.slide.position - right.y.reference.value + 0 * other"


@pytest.mark.parametrize(
    ("axis", "cell", "complaint"),
    [
        (AXIS.replace('"2 N/mm"', '"2 mm"'), CELL, "axis.toml: templates.axis.blocks.spring.parameters.stiffness"),
        (
            AXIS,
            CELL.replace("[0, 1, 0]", "[0, 1]"),
            "cell.toml: templates.cell.use.y.joints.slide.axis: must be a list",
        ),
        (AXIS, CELL.replace('"axis"', '"axle"', 1), "cell.toml: templates.cell.use.x.template: there is no template"),
        (
            AXIS,
            CELL.replace("slide.axis", "slid.axis"),
            "cell.toml: templates.cell.use.y.joints.slid: the template has",
        ),
        (AXIS, "templates.cell.use.x = 3", "cell.toml: templates.cell.use: must be a table of tables"),
        (
            AXIS + '[templates.axis.use.whole]\ntemplate = "cell"',
            CELL,
            "cell.toml: templates.cell.use.x.template: 'axis' uses itself: axis -> cell -> axis (leave one",
        ),
        (AXIS + '[templates.axis.use.a]\ntemplate = "axis"', CELL, "'axis' uses itself: axis -> axis"),
    ],
)
def test_what_is_wrong_with_templates_in_templates_is_told_where_it_stands(tmp_path, axis, cell, complaint):
    assert complaint in complaints(tmp_path, main=CELLS, axis=axis, cell=cell)


@pytest.mark.parametrize(
    ("axis", "complaint"),
    [
        (
            AXIS.replace('"error", time', '"eror", time'),
            "axis.toml: templates.axis.delays.late.signal: there is no signal 'eror'",
        ),
        (
            AXIS.replace("slide.position - reference.value", "slide.position - slide.velocity"),
            "axis.toml: templates.axis.signals.error.formula: '-' combines m and m/s",
        ),
        (
            AXIS + 'constraints.stay = { prescribed = "slide", position = "wish", velocity = 0 }',
            "axis.toml: templates.axis.constraints.stay.position: there is no signal 'wish'",
        ),
        (AXIS + "initial.slide.positon = 0", "axis.toml: templates.axis.initial.slide.positon: "),
    ],
)
def test_what_is_found_wrong_when_assembling_is_told_where_it_stands(tmp_path, axis, complaint):
    scenario = rd.read_scenario(write(tmp_path, main=MAIN, axis=axis))
    changed = dataclasses.replace(scenario.with_numbers({"x.carriage.mass": 3.0}), duration=2.0)
    for one in (scenario, changed):
        with pytest.raises(rd.ModelError) as caught:
            rd.assemble(one)
        assert complaint in str(caught.value)
        assert f"{tmp_path / 'main.toml'}: scenario 'main'" in str(caught.value)


def test_templates_in_templates_have_limits(tmp_path, monkeypatch):
    monkeypatch.setattr("robodyn.description.files.composition.MOST_ENTRIES", 20_000)
    doubled = "\n".join(
        f"[templates.t{k}]\n" + "\n".join(f'use.u{n} = {{ template = "t{k + 1}" }}' for n in range(10))
        for k in range(7)
    )
    bomb = f"{doubled}\n[templates.t7]\nbodies.b.mass = 1\n[use.all]\ntemplate = 't0'"
    assert "makes more than 20000 entries" in complaints(tmp_path, main=bomb)
    chain = "\n".join(f'[templates.t{k}.use.u]\ntemplate = "t{k + 1}"' for k in range(DEEPEST + 2))
    assert "is one too many" in complaints(tmp_path, main=f"{chain}\n[templates.t{DEEPEST + 2}]\nbodies.b.mass = 1")


def test_texts_that_are_no_names_of_parts_stay(tmp_path):
    odd = """
[templates.odd]
bodies.m.mass = 1
joints.spring = { kind = "prismatic", parent = "ground", child = "m" }
points.force.body = "m"
blocks.hold = { law = "spring", on = "spring", parameters = { stiffness = 3, damping = 0 } }
blocks.wish = { law = "constant_reference", unit = "m", parameters.constant = 0 }
blocks.sum = { law = "pid", inputs = { reference = "wish.value", measured = ["spring.position"] } }
interfaces.port = { takes = "force", on = "spring", given = { force = 3 } }
constraints.rod = { rod = ["force", "fixed"], length = 1 }
obstacles.force = { center = [0, 0, 0], size = [1, 1, 1] }
[use.a]
template = "odd"
"""
    data = load_composed(write(tmp_path, main=odd)).data
    assert data["blocks"]["a.hold"]["law"] == "spring"
    assert data["blocks"]["a.hold"]["on"] == "a.spring"
    assert data["blocks"]["a.wish"]["unit"] == "m"
    assert data["blocks"]["a.sum"]["inputs"] == {"reference": "a.wish.value", "measured": ["a.spring.position"]}
    assert data["interfaces"]["a.port"] == {"takes": "force", "on": "a.spring", "given": {"force": 3}}
    assert data["constraints"]["a.rod"]["rod"] == ["a.force", "fixed"]


def test_nodes_of_a_flexible_body_keep_their_names_and_its_sections_do_not(tmp_path):
    beam = """
[templates.boom]
sections.tip = { kind = "rod", radius = 0.01, young = 7e10, shear = 2.7e10, density = 2700 }
bodies.boom = { beam = { length = 1, section = "tip", modes = 1, interfaces = ["tip"] } }
points.tip = { body = "boom", node = "tip" }
[use.left]
template = "boom"
"""
    data = load_composed(write(tmp_path, main=beam)).data
    assert data["bodies"]["left.boom"]["beam"]["section"] == "left.tip"
    assert data["bodies"]["left.boom"]["beam"]["interfaces"] == ["tip"]
    assert data["points"]["left.tip"] == {"body": "left.boom", "node": "tip"}
