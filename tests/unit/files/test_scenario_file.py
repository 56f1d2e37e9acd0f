"""Does a file say the same as the description written in Python?"""

import math
import textwrap

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Block,
    Body,
    Delay,
    DHRow,
    Distance,
    Joint,
    LinearCombination,
    Load,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PointCoordinate,
    Recording,
    Solver,
    mechanism_from_dh,
    read_scenario,
    simulate,
)
from robodyn.base.spatial import about_axis
from robodyn.description.catalog import find_scenario
from robodyn.description.files import is_sequence, read_sequence, write_sequence
from robodyn.description.model.event import SetValues, level_crossing

COMPLETE = """
    name = "arm"
    title = "An arm"
    duration = "2 s"
    gravity = [0, 0, "-9.81 m/s^2"]
    tunable = ["upper.mass"]

    [bodies.upper]
    mass = "1500 g"
    com = ["10 cm", 0, 0]
    inertia = { xx = 0.1, yy = 0.2, zz = 0.2, xy = 0.01 }

    [bodies.lower]
    mass = 1
    com = [0.1, 0, 0]
    inertia = [0.1, "2000 kg cm^2", 0.2]
    about = "origin"

    [joints.shoulder]
    kind = "revolute"
    parent = "ground"
    child = "upper"
    rpy = ["90 deg", 0, 0]
    armature = "50 kg cm^2"

    [joints.slide]
    kind = "prismatic"
    parent = "upper"
    child = "lower"
    origin = ["100 mm", 0, 0]
    axis = [1, 0, 0]
    armature = "200 g"

    [points.tip]
    body = "lower"
    origin = [0.3, 0, 0]

    [points.wall]
    body = "ground"

    [coordinates.strut]
    between = ["wall", "tip"]

    [coordinates.height]
    point = "tip"
    direction = [0, 0, 2]

    [coordinates.both]
    of = { shoulder = 2, slide = -1 }
    inertia = 0.01

    [blocks."shoulder.motor"]
    law = "dc_motor"
    on = "shoulder"
    inputs = { voltage = "drive.command" }
    parameters = { resistance = 2, inductance = "4 mH", torque_constant = 0.1, gear = 50, current_limit = "8 A" }
    states = { current = "500 mA" }

    [blocks.drive]
    law = "pd_control"
    on = "shoulder"
    inputs = { target = "late.output" }
    parameters = { proportional = "40 V/rad", derivative = 1 }
    period = "1 ms"
    offset = 0.0005
    delay = 0.001
    hold = { command = "3 V" }

    [blocks.path]
    law = "spline_reference"
    parameters = { times = [0, "500 ms"], points = [0, "90 deg"] }

    [blocks.strut_spring]
    law = "spring"
    acts = { force = "strut" }
    inputs = { position = "strut.position", velocity = "strut.velocity" }
    parameters = { stiffness = 100 }
    unit = "m"

    [delays.late]
    signal = "path.position"
    time = "2 ms"
    before = 0.1

    [loads.weight]
    point = "tip"
    force = [0, 0, -5]

    [initial]
    shoulder.position = "30 deg"
    "slide.velocity" = "10 mm/s"

    [events.far]
    signal = "slide.position"
    level = "200 mm"
    direction = "rising"
    stop = true
    set = { "slide.velocity" = 0 }

    [recording]
    rate = "1 kHz"
    signals = ["shoulder.*"]

    [solver]
    method = "rodas4"
    rtol = 1e-6
    max_step = "10 ms"
    max_steps = 1000
"""


@pytest.fixture
def read(tmp_path):
    """Callable text -> scenario."""

    def read_text(text):
        path = tmp_path / "arm.toml"
        path.write_text(textwrap.dedent(text))
        return read_scenario(path)

    return read_text


def expected_mechanism():
    bodies = (
        Body("upper", 1.5, (0.1, 0.0, 0.0), (0.1, 0.2, 0.2, 0.01, 0.0, 0.0)),
        Body.about_origin("lower", 1.0, (0.1, 0.0, 0.0), (0.1, 2000 * 1e-4, 0.2)),
    )
    turned = about_axis((1.0, 0.0, 0.0), math.pi / 2)
    joints = (
        Joint("shoulder", "revolute", GROUND, "upper", rotation=turned, armature=50 * 1e-4),
        Joint("slide", "prismatic", "upper", "lower", (0.1, 0.0, 0.0), axis=(1.0, 0.0, 0.0), armature=0.2),
    )
    return Mechanism("arm", bodies, joints, (Point("tip", "lower", (0.3, 0.0, 0.0)), Point("wall", GROUND)))


def test_every_table_of_a_file_becomes_what_python_would_write(read):
    found = read(COMPLETE)
    motor = {"resistance": 2.0, "inductance": 4e-3, "torque_constant": 0.1, "gear": 50.0, "current_limit": 8.0}
    place = {"position": "strut.position", "velocity": "strut.velocity"}
    blocks = (
        Block("shoulder.motor", "dc_motor", "shoulder", {"voltage": "drive.command"}, motor, {"current": 0.5}),
        Block(
            "drive",
            "pd_control",
            "shoulder",
            {"target": "late.output"},
            {"proportional": 40.0, "derivative": 1.0},
            period=1e-3,
            offset=5e-4,
            delay=1e-3,
            hold={"command": 3.0},
        ),
        Block("path", "spline_reference", parameters={"times": (0.0, 0.5), "points": (0.0, math.pi / 2)}),
        Block("strut_spring", "spring", None, place, {"stiffness": 100.0}, acts={"force": "strut"}, unit="m"),
    )
    coordinates = (
        Distance("strut", "wall", "tip"),
        PointCoordinate("height", "tip", (0.0, 0.0, 1.0)),
        LinearCombination("both", {"shoulder": 2.0, "slide": -1.0}, 0.01),
    )
    delays, loads = (Delay("late", "path.position", 2e-3, 0.1),), (Load("weight", "tip", (0.0, 0.0, -5.0)),)
    mechanism = found.machine.mechanism
    assert found.machine.blocks == blocks
    assert found.machine == Machine("arm", mechanism, blocks, coordinates, delays, loads, tunable=("upper.mass",))
    assert (found.name, found.title, found.duration) == ("arm", "An arm", 2.0)
    assert found.initial == {"shoulder.position": pytest.approx(math.pi / 6), "slide.velocity": 0.01}
    assert found.recording == Recording(rate=1000.0, signals=("shoulder.*",))
    assert found.solver == Solver("rodas4", rtol=1e-6, max_step=0.01, max_steps=1000)


def test_the_mechanism_of_a_file_is_the_one_python_would_write(read):
    found, expected = read(COMPLETE).machine.mechanism, expected_mechanism()
    for number, wanted in zip(found.numbers(), expected.numbers(), strict=True):
        assert (number.name, number.unit) == (wanted.name, wanted.unit)
        # The conversions multiply by a rounded factor.
        assert number.value == pytest.approx(wanted.value, rel=1e-14)
    for joint, wanted in zip(found.joints, expected.joints, strict=True):
        for field in ("name", "kind", "parent", "child", "axis"):
            assert getattr(joint, field) == getattr(wanted, field)
        assert sum(joint.rotation, ()) == pytest.approx(sum(wanted.rotation, ()), abs=1e-15)


def test_an_event_of_a_file_watches_a_level_and_sets_values(read):
    (event,) = read(COMPLETE).events
    assert (event.name, event.guard, event.direction, event.terminal) == ("far", level_crossing, "rising", True)
    assert event.guard(0.5, event.parameters["level"]) == pytest.approx(0.3)
    assert event.action == SetValues({"slide.velocity": 0.0})
    assert event.action() == {"slide.velocity": 0.0}


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_denavit_hartenberg_table_becomes_what_python_would_write(read, convention):
    found = read(f"""
        name = "arm"
        duration = 1
        [bodies.first]
        mass = 1
        inertia = [1, 1, 1]
        [bodies.second]
        mass = 2
        [dh]
        convention = "{convention}"
        rows = [
            {{ joint = "turn", body = "second", alpha = "-90 deg", a = "100 mm", armature = "1 kg m^2" }},
            {{ joint = "reach", body = "first", theta = 0.3, d = 0.5, kind = "prismatic", armature = "1 kg" }},
        ]
    """).machine.mechanism
    rows = (
        DHRow("turn", a=100 * 1e-3, alpha=-90 * (math.pi / 180), armature=1.0),
        DHRow("reach", theta=0.3, d=0.5, kind="prismatic", armature=1.0),
    )
    bodies = (Body("second", 2.0), Body("first", 1.0, inertia=(1.0, 1.0, 1.0)))
    assert found == mechanism_from_dh("arm", rows, bodies, convention)


def test_rotations_are_read_in_any_of_their_forms(read):
    half = math.sqrt(0.5)
    ways = (
        "rpy = [0, 0, 1.5707963267948966]",
        f"quaternion = [{half}, 0, 0, {half}]",
        "rotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]",
    )
    for way in ways:
        text = f"duration=1\n[bodies.a]\nmass=1\n[joints.j]\nkind='prismatic'\nparent='ground'\nchild='a'\n{way}"
        rotation = read(text).machine.mechanism.joints[0].rotation
        assert sum(rotation, ()) == pytest.approx((0, -1, 0, 1, 0, 0, 0, 0, 1), abs=1e-15)


def test_a_law_may_stand_in_a_python_file_beside(read, tmp_path):
    (tmp_path / "mine.py").write_text("def drag(velocity, *, factor):\n    return -factor * velocity * velocity\n")
    block = "duration = 1\n[blocks.drag]\nlaw='mine.py:drag'\ninputs={velocity='time'}\nparameters={factor=2}"
    assert read(block).machine.blocks[0].function(3.0, factor=2.0) == -18.0


@pytest.mark.parametrize(
    ("law", "complaint"),
    [
        ("none.py:drag", "there is no file"),
        ("mine.py:drg", "did you mean 'drag'"),
        ("broken.py:drag", "ZeroDivisionError"),
        ("lugre_fricton", "did you mean 'lugre_friction'"),
    ],
)
def test_a_law_that_cannot_be_had_is_told(read, tmp_path, law, complaint):
    (tmp_path / "mine.py").write_text("def drag(velocity):\n    return -velocity\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(ModelError, match=complaint) as error:
        read(f"duration = 1\n[blocks.drag]\nlaw = '{law}'")
    assert error.value.flaws[0].path == "blocks.drag.law"


def test_the_name_of_a_file_is_the_default_name(read):
    assert read("duration = 1\n[blocks.c]\nlaw='constant_reference'\nparameters={constant=1}").name == "arm"


# --------------------------------------------------------------------------------------------------
# Are phases of one motion written to files and read back, and is what is wrong with them reported?


def test_a_sequence_written_to_files_is_read_back_equal_and_runs_bit_equal(tmp_path):
    sequence = find_scenario("scara-phases")
    first, *others = write_sequence(sequence, tmp_path / "phases.toml")
    assert [path.name for path in others] == [f"phases-{name}.toml" for name in ("approach", "rise", "finish")]
    assert is_sequence(first)
    assert not is_sequence(others[0])
    again = read_sequence(first)
    assert (again.name, again.title, again.phases) == (sequence.name, sequence.title, sequence.phases)
    one, other = simulate(sequence), simulate(again)
    assert one.outcome == other.outcome
    # Signals that a phase does not have are no numbers there.
    assert all(np.array_equal(one[name].values, other[name].values, equal_nan=True) for name in one.names)


def test_a_phase_is_changed_in_its_own_file(tmp_path):
    """The tool rises 50 mm above the obstacle before the arm goes on, instead of 5 mm: it takes longer."""
    write_sequence(find_scenario("scara-phases"), tmp_path / "phases.toml")
    rise = tmp_path / "phases-rise.toml"
    text = rise.read_text()
    assert "safe = 0.005" in text
    rise.write_text(text.replace("safe = 0.005", 'safe = "50 mm"'))
    run, before = simulate(read_sequence(tmp_path / "phases.toml")), simulate(find_scenario("scara-phases"))
    cleared, sooner = (next(e.time for e in one.events if e.name == "cleared") for one in (run, before))
    assert cleared > sooner + 0.01
    assert run["lift.position"](cleared) == pytest.approx(0.25, abs=1e-6)


def test_all_that_is_wrong_with_a_sequence_and_its_phases_is_reported(tmp_path):
    write_sequence(find_scenario("scara-phases"), tmp_path / "phases.toml")
    finish = tmp_path / "phases-finish.toml"
    finish.write_text(finish.read_text().replace("duration = 6.0", "duration = -6.0"))
    file = tmp_path / "phases.toml"
    file.write_text(file.read_text().replace("rise.toml", "rize.toml") + "duration = 3\n")
    with pytest.raises(ModelError) as refusal:
        read_sequence(file)
    message = str(refusal.value)
    assert "phases[1]: there is no file 'phases-rize.toml'" in message
    assert "duration: is not a key of a file that names phases" in message
    assert "duration: must be positive, is -6" in message
    file.write_text("phases = 3")
    with pytest.raises(ModelError, match="must be a list of files, is 3"):
        read_sequence(file)


def test_a_sequence_is_no_scenario_for_who_reads_one(tmp_path):
    write_sequence(find_scenario("scara-phases"), tmp_path / "phases.toml")
    with pytest.raises(ModelError, match="phases"):
        read_scenario(tmp_path / "phases.toml")
