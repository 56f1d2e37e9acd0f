"""Is the geometry complete where the description is short, and is a strange description answered in words?"""

import copy

import pytest

from robodyn import Body, Joint, Machine, Mechanism, Scenario, simulate
from robodyn.description.model import TriangleLength, describe
from robodyn.presentation.pages.machine import read_machine


@pytest.fixture
def described(make_crane):
    """A run, made from a description that may be changed first."""

    def make(change):
        description = copy.deepcopy(make_crane().provenance.description)
        change(description)
        return make_crane(description=description)

    return make


def test_what_the_description_leaves_out_has_the_models_defaults(make_crane):
    machine, note = read_machine(make_crane())
    assert note == ""
    turn = machine["joints"][0]
    assert (turn["name"], turn["axis"], turn["origin"]) == ("turn", [0, 0, 1], [0, 0, 0])
    assert turn["rotation"] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert machine["gravity"] == [0, 0, -9.81]
    assert machine["points"] == [{"name": "hook", "body": "rod", "origin": [0, 0, 0]}]


def test_parents_come_before_children(make_crane):
    machine, _ = read_machine(make_crane())
    assert [joint["name"] for joint in machine["joints"]] == ["turn", "mount", "slide"]


def test_a_number_used_in_the_run_stands_above_the_description(make_crane):
    machine, _ = read_machine(make_crane())
    assert machine["joints"][1]["origin"] == [1.5, 0, 0]


def test_obstacles_and_struts_are_told(described):
    def change(description):
        description["obstacles"] = [{"type": "Obstacle", "name": "wall", "center": [1, 0, 0], "size": [0.1, 1, 2]}]
        description["machine"]["mechanism"]["points"] += [{"name": "mast", "body": "ground", "origin": [0, 0, 1]}]
        rope = {"type": "Distance", "name": "rope", "start": "mast", "end": "hook"}
        description["machine"]["coordinates"] = [rope, {"type": "PointCoordinate", "name": "x", "point": "hook"}]

    machine, _ = read_machine(described(change))
    assert machine["obstacles"] == [{"name": "wall", "center": [1, 0, 0], "size": [0.1, 1, 2]}]
    assert machine["struts"] == [{"name": "rope", "range": None, "start": "mast", "end": "hook"}]


def cylinder(**changes):
    """A cylinder beside the crane's turning joint."""
    message = {"type": "TriangleLength", "name": "lift", "of": {"turn": 1.0}, "sides": [0.2, 0.5], "at": "hook"}
    return message | changes


def struts_of(run):
    machine, note = read_machine(run)
    assert note == ""
    return machine["struts"]


def test_a_cylinder_beside_a_hinge_is_told_with_the_models_defaults(described):
    (strut,) = struts_of(described(lambda d: d["machine"].update(coordinates=[cylinder()])))
    assert strut == {
        "name": "lift",
        "range": None,
        "at": "hook",
        "of": {"turn": 1.0},
        "sides": [0.2, 0.5],
        "offset": 0.0,
        "arm": [1, 0, 0],
        "axis": [0, 0, 1],
    }


def test_the_numbers_of_a_cylinder_are_those_of_the_run(make_crane, described):
    run = described(lambda d: d["machine"].update(coordinates=[cylinder(range=[0.3, 0.7], offset=1.0)]))
    numbers = {"lift.sides.a": 0.25, "lift.offset": 1.5}
    parameters = {name: {"value": value, "unit": ""} for name, value in numbers.items()}
    (strut,) = struts_of(make_crane(description=run.provenance.description, parameters=parameters))
    assert (strut["sides"], strut["offset"], strut["range"]) == ([0.25, 0.5], 1.5, [0.3, 0.7])


def test_the_defaults_of_a_cylinder_are_those_of_the_model(described):
    triangle = TriangleLength("lift", {"turn": 1.0}, (0.2, 0.5), at="hook")
    (strut,) = struts_of(described(lambda d: d["machine"].update(coordinates=[describe(triangle)])))
    assert tuple(strut["arm"]) == triangle.arm
    assert tuple(strut["axis"]) == triangle.axis
    assert strut["offset"] == triangle.offset


@pytest.mark.parametrize(
    "change", [{"at": None}, {"at": "moon"}, {"of": {"moon": 1.0}}, {"type": "FunctionCoordinate"}]
)
def test_what_has_no_place_in_space_is_left_out(described, change):
    assert struts_of(described(lambda d: d["machine"].update(coordinates=[cylinder(**change)]))) == []


def test_a_point_on_no_body_is_named(described):
    change = {"name": "lost", "body": "moon"}
    machine, note = read_machine(described(lambda d: d["machine"]["mechanism"]["points"].append(change)))
    assert machine is None
    assert "points lost are not on any body" in note


def test_a_run_without_a_mechanism_is_told(make_measured):
    machine, note = read_machine(make_measured())
    assert machine is None
    assert "no description of a mechanism" in note


def test_an_unrecorded_joint_is_named(make_measured, make_crane):
    run = make_measured(("turn.position",))
    object.__setattr__(run, "provenance", make_crane().provenance)
    assert read_machine(run) == (None, "The position of slide was not recorded, so the machine cannot be drawn.")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda joints: joints[0].update(kind="cam"), "kind cam"),
        (lambda joints: joints[0].update(parent="moon"), "never reaches the ground"),
        (lambda joints: joints[0].update(axis=None), "cannot be drawn"),
        (lambda joints: joints[0].pop("child"), "cannot be drawn"),
        (lambda joints: joints[1].update(origin=[1, 2]), "cannot be drawn"),
        (lambda joints: joints[1].update(rotation=[[1, 0], [0, 1]]), "cannot be drawn"),
        (lambda joints: joints.append("joint"), "cannot be drawn"),
        (lambda joints: [joint.update(kind="fixed") for joint in joints], "No joint of the mechanism moves"),
    ],
)
def test_a_strange_description_is_answered_with_a_sentence(described, change, complaint):
    machine, note = read_machine(described(lambda d: change(d["machine"]["mechanism"]["joints"])))
    assert machine is None
    assert complaint in note


def test_a_joint_of_several_motions_is_drawn_as_a_chain_of_them():
    bodies = [Body("hub", 1.0, inertia=(1, 1, 1, 0, 0, 0)), Body("hand", 1.0, inertia=(1, 1, 1, 0, 0, 0))]
    joints = [Joint("base", "free", "ground", "hub"), Joint("neck", "universal", "hub", "hand", origin=(1, 0, 0))]
    run = simulate(Scenario("floats", Machine("m", Mechanism("m", bodies, joints)), 0.01))
    machine, note = read_machine(run)
    assert note == ""
    motions = [(joint["name"], joint["kind"], joint["parent"], joint["child"]) for joint in machine["joints"]]
    assert motions[0] == ("base.x", "prismatic", "ground", "hub 1")
    assert motions[3:] == [
        ("base", "ball", "hub 3", "hub"),
        ("neck.first", "revolute", "hub", "hand 1"),
        ("neck.second", "revolute", "hand 1", "hand"),
    ]
    assert machine["joints"][4]["origin"] == [1, 0, 0]
    assert machine["joints"][5]["origin"] == [0, 0, 0]
