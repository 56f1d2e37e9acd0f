"""Do moves start and end together, keep the limits, follow their paths, and are they refused where they must be?"""

from functools import cache

import numpy as np
import pytest
from scipy.spatial import KDTree
from tests.unit.commissioning.test_dressing import START, arm

import robodyn as rd
from robodyn.analysis.commissioning import dress
from robodyn.description.paths import arc_about, straight_line, waypoints

TO = {"shoulder": 0.8, "elbow": -0.4}


@cache
def standing():
    return dress(arm(), {"all": {"friction": "coulomb"}}, start=START).scenario


def tool_at(q):
    return rd.MachineDynamics(arm()).position("tool", np.array(list(q)))


def test_joints_start_and_end_together_within_their_limits():
    found = rd.move(arm(speed_limit=3.0, acceleration_limit=8.0), TO, start=START, speed=0.5)
    assert np.max(np.abs(found.velocity)) <= 1.5 * (1 + 1e-12)
    assert np.max(np.abs(found.acceleration)) <= 8.0 * (1 + 1e-12)
    # The joint with the longer way is at its limit of acceleration, and both are at the same part of their ways.
    assert np.max(np.abs(found.acceleration[:, 1])) == pytest.approx(8.0, rel=1e-3)
    ways = (found.position - found.position[0]) / (found.position[-1] - found.position[0])
    assert np.allclose(ways[:, 0], ways[:, 1], atol=1e-14)
    assert found.position[-1] == pytest.approx([0.8, -0.4], abs=1e-14)
    for block in found.blocks:
        ends = block.info.breaks(dict(block.parameters))
        assert ends[-1] == pytest.approx(found.duration, rel=1e-12)


def test_efforts_are_those_of_inverse_dynamics():
    found = rd.move(arm(), TO, start=START)
    dynamics = rd.MachineDynamics(arm())
    k = 150
    force = dynamics.inverse_dynamics(found.position[k], found.velocity[k], found.acceleration[k])
    assert found.effort[k] == pytest.approx(force, rel=1e-12)
    with pytest.raises(rd.ModelError, match=r"elbow: must give .* N m at .* s, its effort limit is 10 N m"):
        rd.move(arm(effort_limit=10.0), TO, start=START)


def test_a_dressed_arm_moves_and_arrives():
    found = rd.move(standing(), TO)
    run = rd.simulate(found.scenario)
    assert run.outcome.kind.name == "FINISHED"
    for name, target in TO.items():
        assert run[f"{name}.reference.position"](found.duration) == pytest.approx(target, abs=1e-12)
        # Its integral loop has not settled wholly 0.2 s after the end of the move.
        assert run.final[f"{name}_drive.position"] == pytest.approx(target, abs=2e-3)


def test_a_move_to_where_the_robot_stands_takes_no_time():
    found = rd.move(standing(), START, begin=0.3)
    assert found.duration == 0.3
    assert not np.any(found.velocity)
    assert found.position[0] == pytest.approx(list(START.values()), abs=0)


def test_efforts_of_elastic_drives_hold_their_rotors_too():
    elastic, rigid = rd.move(standing(), TO), rd.move(arm(), TO, start=START)
    joints = {joint.name: joint for joint in standing().machine.mechanism.joints}
    for k, name in enumerate(rigid.joints):
        more = joints[f"{name}_drive"].armature * rigid.acceleration[:, k]
        assert elastic.effort[:, k] == pytest.approx(rigid.effort[:, k] + more, abs=1e-9)


@pytest.mark.parametrize("shape", ["line", "arc", "points"])
def test_deviations_are_measured_from_any_path(shape):
    p = tool_at(START.values())
    path = {
        "line": straight_line(p, p + (0.0, 0.0, -0.2)),
        "arc": arc_about(p + (0.0, 0.0, -0.1), (0, -1, 0), p, 1.5),
        "points": waypoints([p, p + (-0.1, 0, -0.1), p + (-0.1, 0, -0.2)], 0.03),
    }[shape]
    found = rd.move(standing(), along=path, speed=0.2)
    run = rd.simulate(found.scenario)
    times = np.linspace(0.0, found.duration, 200)
    tool = np.stack([run[f"tool.position.{axis}"](times) for axis in "xyz"], axis=1)
    wanted = path.at(run["move.s"](times))
    error = tool - wanted.p
    assert run["deviation.along"](times) == pytest.approx(np.sum(error * wanted.twist[:, 3:], axis=1), abs=1e-9)
    across = np.hypot(run["deviation.horizontal"](times), run["deviation.vertical"](times))
    assert np.hypot(across, run["deviation.along"](times)) == pytest.approx(np.linalg.norm(error, axis=1), abs=1e-9)
    fine = path.at(np.linspace(0.0, path.length, 20001)).p
    nearest, _ = KDTree(fine).query(tool)
    # Places of the path are 1e-5 m apart or less, which is squared over the distance.
    assert run["deviation.distance"](times) == pytest.approx(nearest, abs=2e-7)
    # Gears sag: the tool is off by millimetres, of which encoders see nothing at the start.
    assert run["deviation.distance"](0.0) > 1e-3
    assert run["deviation_seen.distance"](0.0) < 1e-6


def test_what_hinders_a_move_is_told_at_once():
    with pytest.raises(rd.ModelError) as error:
        rd.move(arm(), {"shoulder": 3.0, "elbo": 1.0})
    assert {flaw.path for flaw in error.value.flaws} == {"to.shoulder", "to.elbo"}
    with pytest.raises(rd.ModelError, match="no speed limit"):
        rd.move(arm(speed_limit=None), TO)
    with pytest.raises(rd.ModelError, match="at most 1"):
        rd.move(arm(), TO, speed=2.0)
    with pytest.raises(rd.ModelError, match="give one of them"):
        rd.move(arm())
    with pytest.raises(rd.ModelError, match="tool: has no effect"):
        rd.move(arm(), TO, tool="tool")
    p = tool_at(START.values())
    with pytest.raises(rd.ModelError, match="out of reach from"):
        rd.move(arm(), along=straight_line(p, p + (0.5, 0, 0)), start=START)
    with pytest.raises(rd.ModelError, match="from where the path begins"):
        rd.move(standing(), along=straight_line(p - (0.1, 0, 0), p - (0.2, 0, 0)), speed=0.1)
    with pytest.raises(rd.ModelError, match=r"must give .* at .* mm, its effort limit"):
        rd.move(arm(effort_limit=20.0), along=straight_line(p, p - (0.1, 0, 0)), start=START, speed=0.1)


def test_a_robot_that_nothing_would_move_is_refused():
    with pytest.raises(rd.ModelError, match="nothing follows 'elbow.reference.position'.*dress the robot"):
        rd.move(rd.Scenario("bare", arm(), 1.0), {"elbow": 0.3})


def test_joints_held_by_constraints_are_not_moved():
    tie = rd.LinearConstraint("tie", {"shoulder": 1.0, "elbow": -1.0})
    with pytest.raises(rd.ModelError, match="held by a constraint"):
        rd.move(arm().replaced(constraints=(tie,)), {"elbow": 0.3})
