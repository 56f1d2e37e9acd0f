"""Do the figures of ISO 9283 and ISO 230-4 come out as closed forms of clouds, paths and circles say?"""

import json
import re
from datetime import date
from itertools import takewhile

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.analysis.accuracy.circle import fit_circle, measure_circle, measure_hysteresis
from robodyn.analysis.accuracy.iso9283 import (
    FollowedPath,
    measure_corner,
    measure_path,
    measure_pose,
    measure_settling,
    measure_velocity,
)
from robodyn.analysis.accuracy.sheet import Cycles, make_sheet, pose_figures
from robodyn.analysis.commissioning import cube_path
from robodyn.analysis.sweeps.variation import Distribution
from robodyn.base.errors import ModelError
from robodyn.cli.application import app
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo, save
from robodyn.computation.results.table import Curves
from robodyn.description.paths import path_block, plan_path, waypoints
from robodyn.description.paths.deviation import deviation_blocks, deviation_law
from robodyn.presentation.reporting.accuracy import sheet_lines, write_sheet

CART = """
title = "A cart that is pushed while it goes"
duration = "1.2 s"
[bodies.cart]
mass = "2 kg"
[joints.rail]
kind = "prismatic"
parent = "ground"
child = "cart"
axis = [1, 0, 0]
[points.tool]
body = "cart"
[blocks.way]
law = "trapezoid_reference"
unit = "m"
parameters = { target = "0.1 m", speed = "0.2 m/s", top_acceleration = 2 }
[blocks.loop]
law = "pd_control"
on = "rail"
inputs = { target = "way.position" }
parameters = { proportional = 1e4, derivative = 200 }
[blocks.drive]
law = "torque_source"
on = "rail"
inputs = { command = "loop.command" }
[blocks.push]
law = "constant_force"
on = "rail"
parameters = { value = "10 N" }
[blocks.deviation]
law = "line_deviation"
inputs = { x = "tool.position.x", y = "tool.position.y", z = "tool.position.z", way = "way.position" }
parameters = { start_x = 0, start_y = 0, start_z = 0, heading = 0 }
"""


def test_a_pose_cloud_has_its_barycentre_and_its_three_sigma():
    cloud = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 3, 0], [0, -3, 0]]) + (3, 4, 0)
    found = measure_pose(cloud, np.zeros(3))
    assert found.accuracy == pytest.approx(5.0)
    # Distances 1, 1, 3, 3: mean 2, S = sqrt(4/3).
    assert found.repeatability == pytest.approx(2 + 3 * np.sqrt(4 / 3))


def test_a_path_is_worst_where_its_mean_is_farthest_and_widest_where_it_spreads_most():
    deviations = np.zeros((2, 5, 2))
    deviations[:, 3] = (0.3, 0.4)
    deviations[0, 1, 0], deviations[1, 1, 0] = 0.2, -0.2
    found = measure_path(deviations)
    assert (found.accuracy, found.worst) == (pytest.approx(0.5), 3)
    assert (found.repeatability, found.widest) == (pytest.approx(0.2), 1)


def test_speeds_are_shares_of_the_commanded_one():
    speeds = np.array([[0.9, 1.1, 1.0], [1.1, 1.3, 1.2]])
    found = measure_velocity(speeds, 1.0)
    assert found.accuracy == pytest.approx(0.1)
    assert found.repeatability == pytest.approx(3 * np.sqrt(0.02))
    assert found.fluctuation == pytest.approx(0.2)


def test_a_corner_rounded_by_an_arc_and_one_that_is_overshot():
    """An arc of radius r in a right corner stays r (sqrt(2) - 1) from it."""
    turn = np.linspace(-np.pi / 2, 0, 901)
    arc = np.column_stack([-0.1 + 0.1 * np.cos(turn), 0.1 + 0.1 * np.sin(turn), 0 * turn])
    before, after = np.array([1.0, 0, 0]), np.array([0.0, 1, 0])
    found = measure_corner(arc[None], np.zeros(3), before, after)
    assert found.rounding == pytest.approx(0.1 * (np.sqrt(2) - 1), rel=1e-4)
    assert found.overshoot < 1e-12
    # Read at few places, it is the straight lines between them that come near the corner.
    through = np.array([[[-0.07, 0, 0], [0.03, 0, 0], [0.03, 0.1, 0]]])
    assert measure_corner(through, np.zeros(3), before, after).rounding < 1e-15
    beyond = np.array([[[0, 0, 0], [0.02, 0.01, 0], [0, 0.1, 0]]])
    assert measure_corner(beyond, np.zeros(3), before, after).overshoot == pytest.approx(0.02)


def test_settling_lasts_from_the_first_entry_to_the_last():
    time = np.linspace(0, 4, 401)
    # In the band from 1 s, out again between 2 and 3 s, up to 2.5.
    track = np.interp(time, [0, 1, 2, 2.5, 3, 4], [5, 1, 1, 2.5, 1, 0])
    found = measure_settling(time, track[None], 1.0)
    assert found.time == pytest.approx(2.0, abs=0.02)
    assert found.overshoot == pytest.approx(2.5)
    damped = measure_settling(time, np.exp(-time)[None], 0.1)
    assert (damped.time, damped.overshoot) == (0.0, 0.0)


def test_a_tool_that_enters_the_band_before_its_command_stops_settles_from_then_on():
    """A way of 1 m in 1 s, oblique in space; the tool follows it, and from 1.2 to 1.4 s is 0.2 m beyond its end."""
    time = np.linspace(0, 2, 2001)
    way = np.minimum(time, 1.0)
    gone = way + 0.2 * ((time > 1.2) & (time < 1.4))
    x, y, z = (part * gone for part in (2 / 3, -2 / 3, 1 / 3))
    names = ("d.along", "d.horizontal", "d.vertical", "way", "x", "y", "z")
    rows = (gone - way, 0 * z, 0 * z, way, x, y, z)
    values = {name: np.array([row] * 3) for name, row in zip(names, rows, strict=True)}
    cycles = Cycles(Curves("time", "s", time, values, {}), FollowedPath(names[:3], "way", names[4:]))
    stabilisation, overshoot = (figure for figure in pose_figures(cycles, 0.1, []) if figure.symbol in ("t", "OV"))
    # In the band from 0.9 s on, for good from 1.4 s on.
    assert stabilisation.value == pytest.approx(0.5, abs=2e-3)
    assert overshoot.value == pytest.approx(0.2)


def circle_run(deviation, turns=1.5, sign=1.0, centre=(0.0, 0.0)):
    time = np.linspace(0, turns, 20001)
    angle = sign * 2 * np.pi * time
    r = 0.05 + deviation(np.asarray(angle))
    values = np.column_stack([centre[0] + r * np.cos(angle), centre[1] + r * np.sin(angle)])
    infos = (SignalInfo("x", "m"), SignalInfo("y", "m"))
    return Run(time, values, infos, Outcome(OutcomeKind.FINISHED, "", turns), Provenance("circle"))


def test_a_lobed_circle_has_the_deviation_of_its_lobes():
    found = measure_circle(circle_run(lambda a: 1e-5 * np.cos(3 * a), centre=(0.2, -0.1)), "x", "y", radius=0.05)
    assert found.fitted == pytest.approx((0.05, 0.2, -0.1), abs=1e-8)
    assert (found.highest, found.lowest) == (pytest.approx(1e-5, rel=1e-3), pytest.approx(-1e-5, rel=1e-3))
    assert found.circular == pytest.approx(2e-5, rel=1e-3)
    assert found.speed == pytest.approx(2 * np.pi * 0.05, rel=1e-3)


def test_quadrant_peaks_are_found_where_they_are_and_a_centre_off_its_place_is_none():
    def spike(angle):
        away = (np.abs(angle) - np.pi / 2 - 0.1) / 0.05
        return 2e-5 * np.maximum(1 - np.abs(away), 0)

    found = measure_circle(circle_run(spike, turns=1.0), "x", "y", radius=0.05, centre=(0.0, 0.0))
    # A tenth of a degree may be missed of a spike that rises in three.
    assert [peak.height for peak in found.peaks] == pytest.approx([0, 2e-5, 0, 0], abs=4e-7)
    assert found.peaks[1].angle == pytest.approx(np.pi / 2 + 0.1, abs=0.01)
    back = measure_circle(circle_run(spike, turns=1.0, sign=-1.0), "x", "y", radius=0.05, centre=(0.0, 0.0))
    assert back.clockwise
    assert measure_hysteresis(found, back) == pytest.approx(2e-5, rel=0.02)


def test_the_least_squares_circle_of_an_arc_of_points_is_the_circle():
    angle = np.linspace(0, 1, 50)
    p = np.column_stack([3 + 2 * np.cos(angle), 1 + 2 * np.sin(angle)])
    assert fit_circle(p) == pytest.approx((2, 3, 1))


def test_the_way_to_a_circle_and_the_rest_after_it_are_no_part_of_it():
    """From the centre outwards for a second, once round in one, then at rest for another."""
    time = np.linspace(0, 3, 30001)
    angle = -2 * np.pi * np.clip(time - 1, 0, 1)
    r = 0.05 * np.minimum(time, 1)
    values = np.column_stack([0.3 + r * np.cos(angle), r * np.sin(angle)])
    infos = (SignalInfo("x", "m"), SignalInfo("y", "m"))
    run = Run(time, values, infos, Outcome(OutcomeKind.FINISHED, "", 3.0), Provenance("circle"))
    found = measure_circle(run, "x", "y")
    # Straight lines between points of the circle are within it by R (d angle)^2 / 8 at most.
    assert (found.radius, *found.centre) == pytest.approx((0.05, 0.3, 0.0), abs=1e-8)
    # At both ends a part of a row's distance is still the way to the circle, or missing.
    assert max(found.highest, -found.lowest) < 5e-6
    assert found.speed == pytest.approx(2 * np.pi * 0.05, rel=1e-3)


def test_what_is_no_circle_is_refused():
    with pytest.raises(ModelError, match="goes 180 deg round"):
        measure_circle(circle_run(lambda a: 0 * a, turns=0.5), "x", "y")
    with pytest.raises(ModelError, match="z: there is no such signal"):
        measure_circle(circle_run(lambda a: 0 * a), "x", "z")


@pytest.fixture(scope="module")
def cart(tmp_path_factory):
    path = tmp_path_factory.mktemp("sheet") / "cart.toml"
    path.write_text(CART, encoding="utf-8")
    return path


def test_the_sheet_of_a_pushed_cart_is_what_its_stiffness_makes_of_the_push(cart):
    """At rest the loop gives way by F / P: AP is that of the mean push, RP of the spread of the pushes."""
    push = Distribution("uniform", (8.0, 12.0))
    sheet = make_sheet(rd.read_scenario(cart), {"push.value": push}, workers=1, points=601)
    values = {figure.symbol: figure for figure in sheet.figures}
    pushes = rd.analysis.plan_sweep(rd.read_scenario(cart), random={"push.value": push}, runs=30, seed=1).inputs[:, 0]
    apart = np.abs(pushes - pushes.mean()) / 1e4
    # At the end of the path the loop has settled to 1e-5 of the way.
    assert values["AP"].value == pytest.approx(pushes.mean() / 1e4, rel=1e-3)
    assert values["RP"].value == pytest.approx(apart.mean() + 3 * apart.std(ddof=1), rel=1e-3)
    assert values["RP"].causes[0].name == "push.value"
    assert values["RP"].causes[0].value == pytest.approx(values["RP"].value, rel=1e-3)
    assert not values["AP"].causes
    assert any("not split by cause" in note for note in sheet.notes)
    assert values["AT"].value < 1e-12
    assert abs(values["AV"].value) < 0.05
    assert [values[symbol].cycles for symbol in ("AP", "AT", "t")] == [30, 10, 3]
    assert any("no corners" in note for note in sheet.notes)
    pages = [write_sheet(sheet, cart.with_suffix(ending)) for ending in (".html", ".pdf")]
    text = pages[0].read_text(encoding="utf-8")
    said = ("positioning repeatability", "Payload", "all checks passed in 30 of 30 runs", "Tested by, date")
    for words in (*said, f"robodyn {rd.__version__}", date.today().isoformat()):
        assert words in text
    printed = pages[1].read_bytes()
    assert printed[:4] == b"%PDF"
    assert len(re.findall(rb"/Type /Page\b", printed)) == 2


def gantry():
    """Three rails and a wrist about z, each pulled back to 0 by a spring beside its loop; wrist and x are pushed."""
    names, blocks, joints = ("x", "y", "z", "wrist"), [], []
    for k, (name, parent) in enumerate(zip(names, (rd.GROUND, *names), strict=False)):
        kind, axis = ("revolute", (0, 0, 1)) if name == "wrist" else ("prismatic", np.eye(3)[k])
        joints.append(rd.Joint(name, kind, parent, name, axis=tuple(axis)))
        loop = {"proportional": 36000.0, "derivative": 600.0}
        blocks.append(
            rd.Block(f"{name}.loop", "pd_control", on=name, inputs={"target": f"move.position{k + 1}"}, parameters=loop)
        )
        blocks.append(rd.Block(f"{name}.drive", "torque_source", on=name, inputs={"command": f"{name}.loop.command"}))
        blocks.append(rd.Block(f"{name}.spring", "spring", on=name, parameters={"stiffness": 4000.0}))
        blocks.append(rd.Block(f"{name}.push", "constant_force", on=name, parameters={"value": 0.0}))
    bodies = tuple(rd.Body(name, 1.0, inertia=(1, 1, 1)) for name in names)
    mechanism = rd.Mechanism("gantry", bodies, tuple(joints), (rd.Point("tool", "wrist"),), gravity=(0, 0, 0))
    path = cube_path(rd.Machine("gantry", mechanism), 0.5, plane="y-")
    plan = plan_path(mechanism, "tool", path, free=("rx", "ry", "rz"), spacing=1.0)
    profile = {"speed": 2.0, "acceleration": 20.0, "jerk": 400.0, "pause": 0.3}
    reference = path_block("move", plan, **profile)
    machine = rd.Machine("gantry", mechanism, (reference, *deviation_blocks(mechanism, "move", "tool", path), *blocks))
    return rd.Scenario("gantry", machine, plan.duration(**profile) + 0.3)


def test_five_poses_of_a_cube_have_the_accuracy_that_springs_and_pushes_leave():
    """At rest each axis gives way by (F - k q) / (P + k): distances shrink by k / (P + k), whatever is pushed."""
    pushes = {name: Distribution("normal", (0.0, 10.0)) for name in ("x.push.value", "wrist.push.value")}
    scenario = gantry()
    sheet = make_sheet(scenario, pushes, workers=1, points=1001, budget=False)
    assert [rest.name for rest in sheet.rests] == ["P2", "P3", "P4", "P5", "P1"]
    drawn = rd.analysis.plan_sweep(scenario, random=pushes, runs=30, seed=1)
    force, torque = (drawn.inputs[:, drawn.names.index(name)] for name in pushes)
    values = {(figure.symbol, figure.pose): figure for figure in sheet.figures}
    middle, away = (
        np.array([force.mean() / 4e4, 0, 0]),
        0.2 * np.array([[1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1]]),
    )
    for k, place in enumerate([*away, np.zeros(3)]):
        pose = f"P{(k + 1) % 5 + 1}"
        # What is left of a motion after a rest of 0.3 s, decaying with 75 rad/s or more, is 2e-10 of it.
        assert values["AP", pose].value == pytest.approx(np.linalg.norm(middle - 0.1 * place), rel=1e-6)
        apart = np.abs(force - force.mean()) / 4e4
        assert values["RP", pose].value == pytest.approx(apart.mean() + 3 * apart.std(ddof=1), rel=1e-6)
        assert values["APc", pose].value == pytest.approx(torque.mean() / 4e4, rel=1e-6)
        assert values["RPc", pose].value == pytest.approx(3 * torque.std(ddof=1) / 4e4, rel=1e-6)
        assert abs(values["APa", pose].value) < 1e-15
    assert values["RPc", "P1"].causes[0].name == "wrist.push.value"
    distance = 0.4 * np.sqrt(3)
    assert values["AD", ""].value == pytest.approx(-0.1 * distance, rel=1e-6)
    assert sheet.clouds[0].mean(axis=0) == pytest.approx(middle - 0.1 * away[0], rel=1e-6)
    assert "from P2 to P4" in values["AD", ""].name
    # Both ends of the distance are pushed alike.
    assert values["RD", ""].value < 1e-9
    # Across a leg along y and z, whatever the axes of deviations do at the corners.
    apart = np.abs(force[:10] - force[:10].mean()) / 4e4
    assert values["RT", ""].value == pytest.approx(apart.mean() + 3 * apart.std(ddof=1), rel=1e-6)
    assert values["RTc", ""].value == pytest.approx(3 * torque[:10].std(ddof=1) / 4e4, rel=1e-6)
    lines = sheet_lines(sheet)
    begin = lines.index("APc  orientation accuracy about z: mean c_j - c_c, 30 cycles")
    told = " ".join(takewhile(lambda line: line.startswith(" "), lines[begin + 1 :])).split()
    assert told[::3] == ["P2", "P3", "P4", "P5", "P1"]


def test_a_pose_that_is_approached_in_several_directions_varies_by_the_distance_of_its_barycentres():
    """To and fro between two places: P1 is approached along x and back, always from 0.1 mm beyond on its own side."""
    path = deviation_law(waypoints([(0, 0, 0), (1, 0, 0), (0, 0, 0), (-1, 0, 0), (0, 0, 0)]))
    time = np.linspace(0, 8, 1601)
    way = np.interp(time, [0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 1, 2, 2, 3, 3, 4, 4])
    x = np.interp(way, [0, 1, 2, 3, 4], [0, 1, 0, -1, 0])
    late = np.interp(time, [0, 2, 2.5, 6, 6.5, 8], [0, 0, 1e-4, 1e-4, -1e-4, -1e-4])
    names = ("d.along", "d.horizontal", "d.vertical", "way", "x", "y", "z")
    rows = (late, 0 * x, 0 * x, way, x + late, 0 * x, 0 * x)
    values = {name: np.array([row, row]) for name, row in zip(names, rows, strict=True)}
    cycles = Cycles(Curves("time", "s", time, values, {}), FollowedPath(names[:3], "way", names[4:], path=path))
    assert [rest.name for rest in cycles.rests] == ["P2", "P1/1", "P3", "P1/2"]
    (varied,) = [figure for figure in pose_figures(cycles, 1e-3, []) if figure.symbol == "vAP"]
    assert (varied.pose, varied.value) == ("P1", pytest.approx(2e-4, rel=1e-9))


def test_a_sheet_needs_a_path_and_something_that_differs(cart):
    def call(*arguments):
        return CliRunner().invoke(app, ["sheet", *arguments])

    result = call(str(cart))
    assert (result.exit_code, "nothing varies from cycle to cycle" in result.stderr) == (2, True)
    result = call("pendulum", "--random", "bob.mass=scale:0.9:1.1")
    assert (result.exit_code, "there is no path that a tool follows" in result.stderr) == (2, True)
    result = call(str(cart), "--random", "push.value=scale:0.9:1.1", "--set", "way.begin=9", "--workers", "1")
    assert (result.exit_code, "does not increase" in result.stderr) == (2, True)
    result = call(str(cart), "--random", "push.valeu=scale:0.9:1.1", "--band", "3 kg")
    assert result.exit_code == 2
    assert "must be in m" in result.stderr


def test_the_circle_of_a_run_is_printed_and_drawn(tmp_path):
    path = tmp_path / "lobed.run"
    save(circle_run(lambda a: 1e-5 * np.cos(3 * a)), path)
    result = CliRunner().invoke(
        app,
        ["circle", str(path), "--x", "x", "--y", "y", "--plot", str(tmp_path / "c.png"), "--dark", "--json"]
        + ["--sheet", str(tmp_path / "c.html")],
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["tests"][0]["circular"] == pytest.approx(2e-5, rel=1e-3)
    assert (tmp_path / "c.png").stat().st_size > 5000
    assert "circular deviation" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_a_sheet_of_a_cart_whose_friction_sticks_is_split_by_cause(cart):
    """Friction holds the cart off its target by no more than F / P beside what the push does."""
    path = cart.with_name("dry.toml")
    path.write_text(CART + '[blocks.dry]\nlaw = "stick_friction"\non = "rail"\nparameters = { coulomb = "3 N" }\n')
    draws = {"dry.coulomb": Distribution("uniform", (2.7, 3.3))}
    sheet = make_sheet(rd.read_scenario(path), draws, workers=1, points=601)
    accuracy = next(figure for figure in sheet.figures if figure.symbol == "AP")
    causes = {cause.name: cause.value for cause in accuracy.causes}
    assert not any("not split by cause" in note for note in sheet.notes)
    assert sum(causes.values()) == pytest.approx(accuracy.value, rel=1e-9)
    assert 1e-5 < abs(causes["dry"]) < 3.3 / 1e4
