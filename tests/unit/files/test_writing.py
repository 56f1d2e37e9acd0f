"""Is a scenario that is written as TOML read back equal, and is what cannot be written refused by name?"""

import math

import pytest

from robodyn import (
    Ball,
    Block,
    Body,
    ConstraintFunction,
    Contact,
    Event,
    FunctionCoordinate,
    Interface,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Plane,
    Point,
    PrescribedMotion,
    Recording,
    Scenario,
    Solver,
    read_scenario,
    write_scenario,
)
from robodyn.description.catalog import SCENARIOS, six_axis_mechanism
from robodyn.description.files import scenario_text
from robodyn.description.files.patching import patch_text
from robodyn.description.laws import known_laws
from robodyn.description.model import ScenarioSequence, digest
from robodyn.description.model.event import SetValues, level_crossing
from robodyn.description.paths import (
    arc_through,
    deviation_blocks,
    path_block,
    plan_path,
    point_tool,
    straight_line,
    timed_block,
    waypoints,
)

# Scenarios with laws or actions that are Python objects, and what the refusal says of each.
REFUSED = {
    "rx90-weld": {"blocks.path.law": "'PathReference'"},
    "rx90-weld-elastic": {"blocks.path.law": "'PathReference'"},
    "rx90-weld-flexible": {"blocks.path.law": "'PathReference'"},
    "delta-pid": {
        "blocks.target.law": "'AimMotors'",
        "blocks.kinematics.law": "'FollowDistal'",
        "blocks.gravity.law": "'HoldPlatform'",
    },
    "delta-stand": {"blocks.target.law": "'AimMotors'"},
    "delta-linearised": {"blocks.kinematics.law": "'FollowDistal'", "blocks.control.law": "'LinearisePlatform'"},
    "delta-tracking": {"blocks.kinematics.law": "'FollowDistal'", "blocks.control.law": "'LinearisePlatform'"},
}


def square(q):
    return q * q


def read_back(scenario, folder):
    path = folder / "written.toml"
    write_scenario(scenario, path)
    return read_scenario(path)


def cart(*blocks, **fields):
    joint = Joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0))
    points = (Point("wall", "ground"), Point("nose", "cart"))
    mechanism = Mechanism("rail", (Body("cart", 1.0),), (joint,), points)
    given = {key: fields.pop(key) for key in ("constraints", "coordinates", "contacts", "interfaces") if key in fields}
    return Scenario("cart", Machine("trolley", mechanism, blocks, **given), 1.0, **fields)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_of_the_catalogue_is_read_back_equal_or_refused_by_name(name, tmp_path):
    made = SCENARIOS[name]()
    for scenario in made.phases if isinstance(made, ScenarioSequence) else (made,):
        if name in REFUSED:
            with pytest.raises(ModelError, match="cannot be written to a file") as error:
                scenario_text(scenario)
            message = {flaw.path: flaw.what for flaw in error.value.flaws}
            assert message.keys() == REFUSED[name].keys()
            assert all(word in message[path] for path, word in REFUSED[name].items())
            continue
        again = read_back(scenario, tmp_path)
        assert again == scenario
        assert digest(again) == digest(scenario)


def test_names_of_machine_and_mechanism_are_kept(tmp_path):
    again = read_back(cart(), tmp_path)
    assert (again.name, again.machine.name, again.machine.mechanism.name) == ("cart", "trolley", "rail")


def test_a_function_of_a_module_is_written_by_its_name(tmp_path):
    scenario = cart(
        coordinates=(FunctionCoordinate("s", ("x",), math.sin, range=(-1.0, 1.0)),),
        constraints=(ConstraintFunction("r", ("x",), math.cos, active=False),),
    )
    assert 'function = "math:sin"' in scenario_text(scenario)
    assert read_back(scenario, tmp_path) == scenario


def test_a_law_of_the_package_is_one_by_name_or_as_a_function():
    given = {"on": "x", "parameters": {"stiffness": 1.0}}
    assert Block("b", known_laws()["spring"], **given) == Block("b", "spring", **given)


def test_all_that_cannot_be_written_is_told_at_once():
    scenario = cart(
        Block("b", lambda position: {"force": position}, on="x"),
        coordinates=(FunctionCoordinate("s", ("x",), lambda q: q),),
        events=(Event("e", lambda x: x, {"x": "x.position"}),),
    )
    with pytest.raises(ModelError) as error:
        scenario_text(scenario)
    assert [flaw.path for flaw in error.value.flaws] == ["blocks.b.law", "coordinates.s.function", "events.e.guard"]
    assert all("lambda" in flaw.what and flaw.remedy for flaw in error.value.flaws)


def test_events_inputs_and_limits_are_read_back(tmp_path):
    free, halt = {"proportional": 1.0, "derivative": 0.0}, SetValues({"x.velocity": 0.0})
    scenario = cart(
        Block("drive", "pd_control", on="x", inputs={"target": 0.3}, parameters=free),
        Block("hold", "sample_and_hold", inputs={"value": "x.position"}, period=0.01, hold={"output": 2.0}),
        events=(
            Event("far", level_crossing, {"signal": "x.position"}, {"level": 1.0}, "rising", None, True),
            Event("hit", level_crossing, {"signal": "x.position"}, {"level": 2.0}, action=halt),
            Event("root", math.sin, {"x": "x.position"}, action=halt),
        ),
        initial={"x.position": -0.0, "x.velocity": -0.1},
        recording=Recording(times=(0.0, 0.5, 1.0)),
        solver=Solver("rodas4", rtol=1e-7, max_step=0.1, max_steps=0),
        nominal={"x": "drive.command"},
    )
    again = read_back(scenario, tmp_path)
    assert again.machine.blocks[0].parameters["limit"] == math.inf
    assert again == scenario


def test_contacts_interfaces_and_prescribed_motions_are_read_back(tmp_path):
    scenario = cart(
        constraints=(PrescribedMotion("p", "x", "path.position", "path.velocity", 0.0),),
        contacts=(Contact("touch", Ball("nose", 0.1), Plane("wall", (1, 2, 3)), "kelvin_voigt", {"stiffness": 1e4}),),
        interfaces=(
            Interface(
                "grip", "motion", point="nose", rotates=True, stiffness=(1.0,) * 6, given={"far_position.x": 2.0}
            ),
            Interface("push", "force", on="x"),
        ),
    )
    assert read_back(scenario, tmp_path) == scenario


def test_a_function_of_a_file_is_written_as_seen_from_the_new_file(tmp_path):
    (tmp_path / "mine.py").write_text("def drag(velocity):\n    return {'force': -velocity}\n")
    (tmp_path / "sub").mkdir()
    first = tmp_path / "first.toml"
    write_scenario(cart(), first)
    first.write_text(first.read_text() + '\n[blocks.d]\nlaw = "mine.py:drag"\non = "x"\n')
    scenario = read_scenario(first)
    for there, name in ((tmp_path, "mine.py:drag"), (tmp_path / "sub", "../mine.py:drag")):
        write_scenario(scenario, there / "again.toml")
        assert f'law = "{name}"' in (there / "again.toml").read_text()
        assert read_scenario(there / "again.toml").machine.blocks[0].law(2.0) == {"force": -2.0}
    assert "mine.py" not in patch_text(scenario, {"cart.mass": 2.0}, "first.toml")


TILTED = point_tool((0.4, 0.3, -1))
SHAPES = {
    "line": straight_line((0.35, 0, 0.3), (0.35, 0.3, 0.3), TILTED),
    "arc": arc_through((0.35, 0, 0.3), (0.3, 0.2, 0.3), (0.25, 0.1, 0.35), TILTED, point_tool((0.4, 0.4, -1))),
    "rests": waypoints([(0.35, 0, 0.3), (0.35, 0.2, 0.3), (0.3, 0.2, 0.35)], None, TILTED),
    "blends": waypoints([(0.35, 0, 0.3), (0.35, 0.2, 0.3), (0.3, 0.3, 0.35), (0.25, 0.3, 0.3)], [0.03, 0.04], TILTED),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_planned_path_is_written_and_read_back_equal(shape, tmp_path):
    """Also with other speeds than it was planned with, which are numbers of its block."""
    path, machine = SHAPES[shape], Machine("arm", six_axis_mechanism())
    plan = plan_path(machine.mechanism, "tool", path)
    pause = {"pause": 0.1} if path.stops else {}
    block = path_block("way", plan, speed=0.2, acceleration=1.0, jerk=20.0, begin=0.1, **pause)
    deviations = deviation_blocks(machine.mechanism, "way", "tool", path)
    scenario = Scenario("arm", machine.replaced(blocks=(block, *deviations)), 1.0)
    assert read_back(scenario, tmp_path) == scenario
    slower = scenario.with_numbers({"way.speed": 0.1})
    assert read_back(slower, tmp_path) == slower
    timed = timed_block("way", plan, [0.0, 1.0], [0.0, plan.length], [0.0, 0.0], [0.0, 0.0], begin=0.2)
    assert read_back(scenario.replaced(machine=machine.replaced(blocks=(timed,))), tmp_path).machine.blocks == (timed,)


def test_a_path_that_was_planned_for_another_mechanism_is_not_written_silently():
    machine = Machine("arm", six_axis_mechanism())
    block = path_block("way", plan_path(machine.mechanism, "tool", SHAPES["line"]), speed=0.2, acceleration=1.0)
    scenario = Scenario("arm", machine.replaced(blocks=(block,)), 1.0)
    point = machine.mechanism.points[0]
    moved = machine.mechanism.replaced(points=(point.replaced(origin=(0.0, 0.0, 0.3)),))
    changed = scenario.replaced(machine=scenario.machine.replaced(mechanism=moved))
    with pytest.raises(ModelError, match="planned before the mechanism was changed"):
        scenario_text(changed)
