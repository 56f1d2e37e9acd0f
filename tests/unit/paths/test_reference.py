"""Does the reference block give the planned motion, in Python and in native code, and change without compiling?"""

import dataclasses
import pickle
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

from robodyn import Machine, ModelError, Recording, Scenario, Solver, assemble, simulate
from robodyn.computation.native import compile_kernels, read_program
from robodyn.description.catalog import six_axis_mechanism
from robodyn.description.laws import arguments_of
from robodyn.description.model import describe, digest
from robodyn.description.paths import build_arm, path_block, path_law, plan_path, point_tool, straight_line, waypoints

DOWN = point_tool((0, 0, -1))
ELBOW_UP = np.radians([0, 20, -150, 0, -60, 180])
PATHS = {
    "line": straight_line((0.6, -0.6, -0.285), (0.6, 0.6, -0.285), DOWN),
    "waypoints": waypoints([(0.6, -0.3, -0.2), (0.7, 0, -0.2), (0.5, 0.2, 0)], 0.05, DOWN),
}
RESTS = [(0.6, -0.2, -0.2), (0.6, 0, -0.1), (0.6, 0.1, -0.05), (0.5, -0.1, -0.2)]
PLANS = {name: plan_path(six_axis_mechanism(), "tool", path, near=ELBOW_UP) for name, path in PATHS.items()}
PLAN = PLANS["line"]
PROFILES = {
    "trapezoid": {"speed": 0.2, "acceleration": 0.8, "begin": 0.1},
    "s-curve": {"speed": 0.3, "acceleration": 0.8, "jerk": 6.0, "begin": 0.1},
}


def scenario_of(*blocks, duration=7.0, rate=200.0):
    return Scenario("path", Machine("path", blocks=blocks), duration, recording=Recording(rate=rate))


def columns(run, name, quantity):
    return np.stack([run[f"{name}.{quantity}{k}"].values for k in range(1, 7)], axis=1)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", PLANS)
def test_the_law_is_the_plans_motion(name, profile):
    numbers = PROFILES[profile]
    time = np.linspace(0.0, PLANS[name].duration(**numbers) + 0.2, 501)
    found = path_law(PLANS[name])(time, **numbers)
    for quantity, wanted in zip(
        ("position", "velocity", "acceleration"), PLANS[name].motion(time, **numbers), strict=True
    ):
        values = [np.broadcast_to(found[f"{quantity}{k}"], time.shape) for k in range(1, 7)]
        # The same numbers, in another order.
        assert np.allclose(np.stack(values, axis=1), wanted, atol=1e-12)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", PLANS)
def test_native_code_gives_the_same_for_any_numbers(name, profile):
    law, numbers = path_law(PLANS[name]), PROFILES[profile]
    keys = list(numbers)
    t, p = ca.SX.sym("t"), ca.SX.sym("p", len(keys))
    traced = law(t, **dict(zip(keys, ca.vertsplit(p), strict=True)))
    function = ca.Function("path", [t, p], [ca.vertcat(*traced.values())])
    kernel = compile_kernels({"path": function}).kernels["path"]
    for factor in (1.0, 0.5):
        changed = numbers | {"speed": factor * numbers["speed"]}
        time = np.linspace(0.0, PLANS[name].duration(**changed) + 0.2, 203)
        wanted = law(time, **changed)
        native = np.array([kernel(instant, np.array([changed[key] for key in keys])) for instant in time])
        for column, (key, values) in enumerate(wanted.items()):
            # Fused multiply-adds round otherwise; slopes are divided by knots' distances of a millimetre, twice.
            assert np.allclose(native[:, column], values, atol=1e-8 if "acceleration" in key else 1e-11), key


def test_a_path_with_rests_stands_at_each_way_point_for_a_pause():
    """Corners, and a point on a straight line; the pause is a number of the law, and only of a path with rests."""
    mechanism = six_axis_mechanism()
    plan = plan_path(mechanism, "tool", waypoints(RESTS, orientation=DOWN), near=ELBOW_UP)
    law, numbers = path_law(plan), PROFILES["s-curve"] | {"pause": 0.25}
    legs = np.linalg.norm(np.diff(RESTS, axis=0), axis=1)
    alone = [plan_path(mechanism, "tool", straight_line(*ends, DOWN), near=ELBOW_UP) for ends in pairwise(RESTS)]
    times = [one.duration(**(PROFILES["s-curve"] | {"begin": 0.0})) for one in alone]
    arrive = 0.1 + np.cumsum(times) + 0.25 * np.arange(3)
    assert plan.duration(**numbers) == pytest.approx(arrive[-1], rel=1e-12)
    arm = build_arm(mechanism, "tool")
    for k, way in enumerate(np.cumsum(legs)[:-1]):
        found = law(arrive[k] + np.array([1e-9, 0.125, 0.249]), **numbers)
        assert found["s"] == pytest.approx([way] * 3, abs=1e-14)
        assert np.max(np.abs(found["velocity2"])) < 1e-12
        q = [found[f"position{j}"][0] for j in range(1, 7)]
        assert arm.place(q).p == pytest.approx(RESTS[k + 1], abs=1e-11)
    with pytest.raises(ModelError, match="pause"):
        path_block("path", PLAN, **PROFILES["trapezoid"], pause=0.1)


def test_a_table_costs_one_search():
    """All coefficients are read behind one look-up of the interval."""
    t = ca.SX.sym("t")
    outputs = path_law(PLAN)(t, **PROFILES["trapezoid"])
    program = ca.Function("path", [t], [ca.vertcat(*outputs.values())])
    operations = [node[0] for node in read_program(program).nodes]
    assert operations.count("locate") == 1
    # Six coefficients of each of the five joints that move, and the interval's begin and width.
    assert operations.count("gather") == 5 * 6 + 2


def test_velocity_and_acceleration_are_the_positions_derivatives():
    law, numbers = path_law(PLAN), PROFILES["s-curve"]
    time = np.linspace(0.3, PLAN.duration(**numbers) - 0.2, 301)
    h = 1e-3

    def rate(key):
        weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
        pairs = [(law(time + k * h, **numbers)[key], law(time - k * h, **numbers)[key]) for k in range(1, 5)]
        return sum(w * (after - before) for w, (after, before) in zip(weights, pairs, strict=True)) / h

    found = law(time, **numbers)
    breaks = np.array(law.breaks(numbers))
    smooth = np.min(np.abs(time[:, None] - breaks), axis=1) > 4 * h
    for k in (1, 2, 3, 5, 6):
        # Continuous to the second derivative: differences over knots see the third one jump.
        assert np.allclose(found[f"velocity{k}"][smooth], rate(f"position{k}")[smooth], atol=1e-8)
        assert np.allclose(found[f"acceleration{k}"][smooth], rate(f"velocity{k}")[smooth], atol=1e-5)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_run_gives_the_planned_motion_and_sampled_set_points(profile):
    numbers = PROFILES[profile]
    continuous = path_block("path", PLAN, **numbers)
    sampled = path_block("setpoints", PLAN, **numbers, period=1e-3)
    run = simulate(scenario_of(continuous, sampled), Solver("rk4", step=1e-3))
    _, unique = np.unique(run.time, return_index=True)
    time = run.time[unique]
    breaks = np.array(path_law(PLAN).breaks({"jerk": np.inf} | numbers))
    clear = np.min(np.abs(time[:, None] - breaks), axis=1) > 1e-9
    for name in ("path", "setpoints"):
        for quantity, wanted in zip(
            ("position", "velocity", "acceleration"), PLAN.motion(time, **numbers), strict=True
        ):
            # Recorded at samples, where held setpoints are the reference itself.
            assert np.allclose(columns(run, name, quantity)[unique][clear], wanted[clear], atol=1e-8)
    assert run["path.s"].values[-1] == pytest.approx(1.2)
    assert run["path.s"].unit == "m"
    assert run["path.position3"].unit == "rad"


def test_numbers_change_without_compiling_again():
    scenario = scenario_of(path_block("path", PLAN, **PROFILES["s-curve"]))
    assert {number.name for number in assemble(scenario).parameters} == {
        f"path.{key}" for key in ("speed", "acceleration", "jerk", "begin")
    }
    slow = simulate(scenario.with_numbers({"path.speed": 0.2}), Solver("rk4", step=5e-3))
    time = np.unique(slow.time)
    wanted = PLAN.motion(time, **(PROFILES["s-curve"] | {"speed": 0.2}))[0]
    assert np.allclose([slow["path.position2"](t) for t in time], wanted[:, 1], atol=1e-11)


def test_steps_end_where_the_acceleration_jumps():
    law = path_law(PLANS["waypoints"])
    numbers = {"jerk": np.inf} | PROFILES["trapezoid"]
    breaks = law.breaks(numbers)
    assert len(breaks) == 4 + 2
    assert breaks == sorted(breaks)
    ways = [law(time, **numbers)["s"] for time in breaks]
    for end in PLANS["waypoints"].piece_ends:
        assert min(abs(way - end) for way in ways) < 1e-12


def test_the_description_tells_paths_apart_and_is_plain_data():
    one, other = (scenario_of(path_block("path", plan, **PROFILES["trapezoid"])) for plan in PLANS.values())
    again = scenario_of(path_block("path", PLAN, **PROFILES["trapezoid"]))
    assert digest(one) == digest(again) != digest(other)
    law = describe(one)["machine"]["blocks"][0]["law"]
    assert law["type"] == "PathReference"
    assert law["knots"] == PLAN.knots.tolist()
    assert pickle.loads(pickle.dumps(path_law(PLAN))) == path_law(PLAN)


def test_a_table_is_small_enough_to_read():
    assert len(PLAN.knots) < 200
    assert "position" not in repr(path_law(PLAN))
    assert [argument.name for argument in arguments_of(path_law(PLAN))] == [
        *("time", "speed", "acceleration", "jerk", "begin")
    ]


@pytest.mark.parametrize(("key", "value"), [("speed", 0.0), ("acceleration", -1.0), ("jerk", 0.0), ("begin", np.nan)])
def test_wrong_numbers_are_told(key, value):
    with pytest.raises(ModelError) as error:
        path_block("path", PLAN, **(PROFILES["trapezoid"] | {key: value}))
    assert [flaw.path for flaw in error.value.flaws] == [f"parameters.{key}"]


def test_a_plan_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PLAN.point = "elsewhere"
