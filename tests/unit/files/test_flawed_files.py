"""Are all problems of a file reported in one error, each with its path?"""

import textwrap

import pytest

from robodyn import ModelError, read_scenario

FLAWED = """
    name = "arm"
    duration = -1
    gravity = [0, 0, nan]
    colour = "red"
    tunable = "upper.mass"

    [bodies.upper]
    mass = -3
    centre = [0, 0, 0]

    [bodies.lower]
    mass = "3 m"
    inertia = [1, 1, 3]

    [bodies.loose]
    mass = 1

    [bodies.odd]
    inertia = [[1, 0, 0], 2]
    about = "middle"

    [joints.shoulder]
    kind = "revolut"
    parent = "ground"
    child = "uper"

    [joints.elbow]
    kind = "revolute"
    parent = "upper"
    child = "lower"
    axis = [0, 0, 0]
    rpy = [0, 0]
    quaternion = [1, 0, 0, 0]

    [joints.mount]
    kind = "fixed"
    parent = "lower"
    child = "odd"
    armature = "1 kg m^2"

    [points.tip]
    origin = [0, "1 kg", 0]

    [coordinates.strut]
    between = ["tip"]

    [coordinates.sum]
    of = { shoulder = "a", elbow = 1 }

    [coordinates.elbow]
    point = "tip"
    direction = [0, 0, 0]

    [blocks.friction]
    law = "lugre_fricton"

    [blocks.motor]
    law = "dc_motor"
    on = "elbw"
    parameters = { resistance = 1, inductance = 0, torque_constant = true, gear = [1, "x"] }

    [blocks.stop]
    law = "damper"
    on = "elbw"
    parameters = { damping = 1 }

    [blocks.loop]
    law = "sample_and_hold"
    inputs = { value = true }
    period = "1 m"

    [delays.late]
    signal = "elbow.position"
    time = 0

    [loads.weight]
    point = "tpi"
    force = 5

    [initial]
    elbow.position = [1, 2]

    [events.stop]
    signal = "elbow.position"
    level = "3 mass"
    stop = "yes"

    [recording]
    rate = "1 s"
    times = [1, 0]

    [solver]
    metod = "rk4"
    max_steps = 1.5
"""
TOLD = {
    "duration": "must be positive",
    "gravity[2]": "must be a number",
    "colour": "is unknown",
    "tunable": "a list of texts",
    "bodies.upper.mass": "must not be negative",
    "bodies.upper.centre": "is unknown",
    "bodies.lower.mass": "must be in kg",
    "bodies.lower.inertia": "triangle inequality",
    "bodies.loose": "not connected to the ground",
    "bodies.odd.inertia": "rows of numbers",
    "bodies.odd.about": "known: com, origin",
    "joints.shoulder.kind": "did you mean 'revolute'?",
    "joints.shoulder.child": "did you mean 'upper'?",
    "joints.elbow": "give one of rpy, quaternion, rotation",
    "joints.elbow.rpy": "a list of 3 numbers",
    "joints.elbow.axis": "must not be zero",
    "joints.mount.armature": "no effect on a fixed joint",
    "points.tip.body": "is missing",
    "points.tip.origin[1]": "must be in m",
    "coordinates.strut.between": "must name two points",
    "coordinates.sum.of.shoulder": "not a number",
    "coordinates.elbow.direction": "must not be zero",
    "elbow": "2 parts have this name",
    "blocks.friction.law": "did you mean 'lugre_friction'?",
    "blocks.motor.parameters.torque_constant": "must be a number",
    "blocks.motor.parameters.gear[1]": "not a number",
    "blocks.stop.on": "did you mean 'elbow'?",
    "blocks.loop.inputs.value": "a signal's name",
    "blocks.loop.period": "must be in s",
    "delays.late.time": "must be positive",
    "loads.weight.force": "a list of 3 numbers",
    "initial.elbow.position": "must be a number",
    "events.stop": "another event or block has this name",
    "events.stop.level": 'unit "mass"',
    "events.stop.stop": "must be true or false",
    "recording.rate": "must be in Hz",
    "recording.times": "must be increasing",
    "solver.metod": "did you mean 'method'?",
    "solver.max_steps": "a whole number",
}


def write(tmp_path, text):
    path = tmp_path / "arm.toml"
    path.write_text(textwrap.dedent(text))
    return path


@pytest.fixture
def message(tmp_path):
    """The text of every flaw of FLAWED, by path."""
    with pytest.raises(ModelError) as error:
        read_scenario(write(tmp_path, FLAWED))
    found = {}
    for flaw in error.value.flaws:
        found[flaw.path] = f"{found.get(flaw.path, '')} {flaw.what} ({flaw.remedy})"
    assert str(error.value).startswith(f"{tmp_path / 'arm.toml'}: {len(error.value.flaws)} problems")
    return found


@pytest.mark.parametrize("path", TOLD)
def test_each_problem_is_told_in_the_one_error(message, path):
    assert TOLD[path] in message.get(path, f"not told; told are {sorted(message)}")


def test_nothing_is_told_that_is_right(message):
    follow_ups = {
        "bodies.upper",  # the joint that should carry it names no body
        "bodies.lower",
        "bodies.odd",
    }
    assert set(message) - set(TOLD) <= follow_ups


SMALL = """
    duration = 1
    [bodies.a]
    mass = 1
    inertia = [1, 1, 1]
    [joints.j]
    kind = "revolute"
    parent = "ground"
    child = "a"
"""


@pytest.mark.parametrize(
    ("more", "path", "complaint"),
    [
        ("[blocks.j]\nlaw='constant_force'\non='j'\nparameters={value=1}", "j", "2 parts"),
        ("[blocks.b]\nlaw='constant_force'\non='i'\nparameters={value=1}", "blocks.b.on", "no joint or coordinate"),
        ("[recording]\ntimes=[0, 2]", "recording.times", "between 0 and the duration"),
        ("[initial]\n'j.position' = '1 kg'", "initial.j.position", "must be in rad"),
        ("[initial]\n'j.position' = 1\nj.position = 2", "initial.j.position", "given twice"),
        ("[dh]\nrows=[]", "joints", "with a dh table"),
        ("[blocks.x.y]\nlaw='constant_force'", "blocks.x.y", "name with dots stands in quotes"),
        ("[bodies]\na = 3", "", "not TOML"),
        ("[initial]\nj.position = inf", "initial.j.position", "must be finite"),
        ("[bodies.b]\nmass=1", "bodies.b", "not connected"),
        (
            "[bodies.b]\nmass=1\n[joints.k]\nkind='fixed'\nparent='a'\nchild='b'\n[points.k]\nbody='b'",
            "k.origin.x",
            "2 numbers",
        ),
    ],
)
def test_one_problem_is_told_where_it_is(tmp_path, more, path, complaint):
    with pytest.raises(ModelError) as error:
        read_scenario(write(tmp_path, textwrap.dedent(SMALL) + more))
    flaws = {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}
    assert complaint in flaws.get(path, str(flaws))
    assert path in flaws


@pytest.mark.parametrize(
    ("rows", "path", "complaint"),
    [
        ("rows = 3", "dh.rows", "list of tables"),
        ("rows = []", "dh.rows", "list of tables"),
        ("rows = [3]", "dh.rows[0]", "must be a table"),
        ("", "dh.rows", "is missing"),
        ("rows = [{ joint = 'j' }]", "dh.rows[0].body", "is missing"),
        ("rows = [{ joint = 'j', body = 'c' }]", "dh.rows[0].body", "no body 'c'"),
        ("rows = [{ joint = 'j', body = 'a', kind = 'spin' }]", "dh.rows[0].kind", "unknown"),
        ("rows = [{ joint = 'j', body = 'a', alpha = '1 m' }]", "dh.rows[0].alpha", "must be in rad"),
        ("rows = [{ joint = 'j', body = 'a' }]", "bodies.b", "no row of the table carries it"),
        ("convention = 'craig'\nrows = [{ joint = 'j', body = 'a' }]", "dh.convention", "unknown"),
    ],
)
def test_problems_of_a_denavit_hartenberg_table_are_told_by_row(tmp_path, rows, path, complaint):
    text = f"duration = 1\n[bodies.a]\nmass = 1\n[bodies.b]\nmass = 1\n[dh]\n{rows}"
    with pytest.raises(ModelError) as error:
        read_scenario(write(tmp_path, text))
    flaws = {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}
    assert complaint in flaws.get(path, str(flaws))
    assert path in flaws


def test_a_file_that_is_not_there_or_no_text_is_told(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        read_scenario(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="is not UTF-8 text"):
        read_scenario(tmp_path / "bytes.toml")


def test_a_file_without_anything_to_simulate_tells_what_is_missing(tmp_path):
    with pytest.raises(ModelError, match="duration: is missing"):
        read_scenario(write(tmp_path, "name = 'empty'"))


def test_a_contact_of_a_wheel_without_a_ground_is_named(tmp_path):
    text = "duration = 1\n[contacts.tyre]\ntouching = { rim = 'hub', radius = 0.1 }\nrestitution = 0"
    with pytest.raises(ModelError, match=r"contacts.tyre.against: is missing \(there is no ground .* give against = "):
        read_scenario(write(tmp_path, text))
