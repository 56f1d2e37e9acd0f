"""Does a page get the shapes of flexible bodies and contact surfaces, and is what cannot be exaggerated reported?"""

import numpy as np
import pytest
from support.limber import limber_scenario

from robodyn.description.model import describe
from robodyn.presentation.pages import make_page
from robodyn.presentation.pages.machine import read_machine, read_shape

MOVING = ["hinge.position", "slide.position"]


@pytest.fixture
def record(make_measured):
    """Callable (scenario, names of its signals) -> a run of it."""

    def make(scenario, names):
        run = make_measured(names)
        run.provenance.description.update(describe(scenario))
        return run

    return make


def modes_of(scenario):
    return [f"{mode.name}.position" for body in scenario.machine.mechanism.flexible_bodies for mode in body.modes]


@pytest.fixture
def limber(record):
    scenario = limber_scenario()
    machine, note = read_machine(record(scenario, MOVING + modes_of(scenario)))
    assert note == ""
    return machine


def test_a_flexible_body_is_told_by_nodes_and_edges(limber):
    body = limber_scenario().machine.mechanism.body("crook")
    shape = next(message["shape"] for message in limber["bodies"] if message["name"] == "crook")
    assert shape["modes"] == [f"crook.mode{k + 1}.position" for k in range(6)]
    for message, node in zip(shape["nodes"], body.nodes, strict=True):
        # Seven digits are kept.
        np.testing.assert_allclose(message["shift"], node.shift, rtol=1e-6)
        np.testing.assert_allclose(message["turn"], node.turn, rtol=1e-6)
    assert [[shape["names"][k] for k in edge] for edge in shape["edges"]] == [list(edge) for edge in body.edges]


def test_joints_and_points_are_told_with_the_node_that_carries_them(limber):
    names = {body["name"]: body["shape"]["names"] for body in limber["bodies"] if "shape" in body}
    joints = {joint["name"]: joint for joint in limber["joints"]}
    assert names["crook"][joints["slide"]["node"]] == "end"
    assert "node" not in joints["hinge"]
    points = {point["name"]: point for point in limber["points"]}
    assert names["lash"][points["tip"]["node"]] == names["lash"][points["knob"]["node"]] == "tip"


def test_points_that_only_name_nodes_within_a_body_are_not_marked(limber):
    # The end carries the slide, the root does not move.
    assert all(point["inner"] for point in limber["points"] if point["name"].startswith("crook."))
    assert not any("inner" in point for point in limber["points"] if point["name"] in ("tip", "knob"))


def test_a_body_without_edges_is_drawn_from_where_it_is_clamped(limber):
    node = {"name": "far", "position": [1.0, 0.0, 0.0], "shift": [[0, 1.0, 0]], "turn": [[0, 0, 1.5]]}
    shape = read_shape({"name": "blade", "nodes": [node], "modal_mass": [1.0]})
    assert shape["edges"] == [[1, 0]]
    assert shape["nodes"][1]["position"] == [0, 0, 0]


def test_a_mode_that_was_not_recorded_is_named(record):
    scenario = limber_scenario()
    machine, note = read_machine(record(scenario, MOVING + modes_of(scenario)[:-1]))
    assert machine is None
    assert note == "The position of lash.mode2 was not recorded, so the machine cannot be drawn."


@pytest.mark.parametrize("factor", [0.5, -1.0, 2000.0, float("nan")])
def test_an_exaggeration_out_of_range_is_refused(record, factor):
    scenario = limber_scenario()
    with pytest.raises(ValueError, match="from 1 to 1000 times"):
        make_page(record(scenario, MOVING + modes_of(scenario)), exaggerate=factor)


def test_nothing_can_be_exaggerated_where_nothing_deforms(make_crane):
    with pytest.raises(ValueError, match="no body that is drawn is flexible"):
        make_page(make_crane(), exaggerate=20.0)
