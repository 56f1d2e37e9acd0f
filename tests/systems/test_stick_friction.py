"""Friction that sticks holds exactly, slips and stops at the right instants, and takes energy only."""

import math
from dataclasses import replace

import numpy as np
import pytest

from robodyn import (
    Block,
    Body,
    ConstraintMethod,
    Event,
    Joint,
    LinearCombination,
    LinearConstraint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    Scenario,
    Solver,
    TriangleLength,
    simulate,
)

PRECISE = Solver("dopri5", rtol=1e-10, atol=1e-12)


def slide(*blocks, duration=1.0, events=(), initial=None, solver=None):
    mechanism = Mechanism("slide", [Body("block", 2.0)], [Joint("x", "prismatic", "ground", "block", axis=(1, 0, 0))])
    return Scenario(
        "slide", Machine("slide", mechanism, blocks=blocks), duration, initial or {}, events, solver=solver or PRECISE
    )


def pull(position, time, *, stiffness, speed):
    return {"force": stiffness * (speed * time - position)}


def two_link_arm(coulomb, duration, solver=None, initial=None, ratio=1.2):
    upper = Body("upper", 2.0, com=(0.25, 0, 0), inertia=(0.01, 0.05, 0.05, 0, 0, 0))
    lower = Body("lower", 1.0, com=(0.2, 0, 0), inertia=(0.01, 0.03, 0.03, 0, 0, 0))
    joints = [
        Joint("shoulder", "revolute", "ground", "upper", axis=(0, 1, 0)),
        Joint("elbow", "revolute", "upper", "lower", origin=(0.5, 0, 0), axis=(0, 1, 0)),
    ]
    blocks = [
        Block(f"{name}_friction", "stick_friction", on=name, parameters={"coulomb": level, "static": ratio * level})
        for name, level in zip(("shoulder", "elbow"), coulomb, strict=True)
    ]
    machine = Machine("arm", Mechanism("arm", [upper, lower], joints), blocks=blocks)
    start = initial or {"shoulder.position": 0.3, "elbow.position": 0.2}
    return Scenario("arm", machine, duration, start, solver=solver or PRECISE)


def test_stick_slip_of_a_pulled_block_follows_the_closed_form():
    friction = {"coulomb": 1.0, "static": 2.0}
    scenario = slide(
        Block("spring", pull, on="x", parameters={"stiffness": 8.0, "speed": 0.1}),
        Block("friction", "stick_friction", on="x", parameters=friction),
        duration=6.0,
    )
    run = simulate(scenario)
    # It slips when k v t = static; sliding, deviation from steady motion is (static - coulomb)/k cos(wt) - v/w sin(wt).
    omega, slip = math.sqrt(8.0 / 2.0), 2.0 / (8.0 * 0.1)
    ahead = (2.0 - 1.0) / 8.0
    stop = slip + 2 * (math.pi - math.atan2(ahead * omega, 0.1)) / omega
    assert [event.name for event in run.events[:2]] == ["friction.slips", "friction.stops"]
    # Events are located to the accuracy of the solver's interpolation.
    assert run.events[0].time == pytest.approx(slip, abs=1e-9)
    assert run.events[1].time == pytest.approx(stop, abs=1e-7)


def test_a_loaded_arm_below_its_limits_does_not_move_at_all_in_an_hour():
    run = simulate(two_link_arm((30.0, 5.0), 3600.0, solver=Solver("rodas4p")))
    assert run.outcome.ok
    assert not run.events
    for name, start in (("shoulder.position", 0.3), ("elbow.position", 0.2)):
        assert np.all(run[name].values == start)
    assert run.statistics.extra["stick_drift"] == 0.0


def test_the_holding_torques_are_those_of_gravity():
    run = simulate(two_link_arm((30.0, 5.0), 0.1))
    lower = 1.0 * 9.81 * 0.2 * math.cos(0.5)
    upper = 9.81 * (2.0 * 0.25 + 1.0 * 0.5) * math.cos(0.3) + lower
    # About the y axis a weight pulls forth, friction holds back.
    assert run["elbow_friction.torque"].values[-1] == pytest.approx(-lower, rel=1e-9)
    assert run["shoulder_friction.torque"].values[-1] == pytest.approx(-upper, rel=1e-9)


def test_an_overloaded_arm_falls_and_comes_to_rest_for_good():
    run = simulate(two_link_arm((6.0, 1.0), 10.0))
    names = {event.name for event in run.events}
    assert {"shoulder_friction.stops", "elbow_friction.stops"} <= names
    last = run.events[-1].time
    for name in ("shoulder.velocity", "elbow.velocity"):
        assert np.all(run[name].values[run.time > last] == 0.0)
    # Friction takes what gravity gives.
    assert run.statistics.energy_error < 1e-7


def test_a_joint_that_slips_shakes_the_other_loose_at_the_same_instant():
    def ramp(time):
        return {"torque": 10.0 * time}

    mechanism = replace(two_link_arm((1.0, 1.0), 1.0).machine.mechanism, gravity=(0.0, 0.0, 0.0))
    blocks = [
        Block("motor", ramp, on="shoulder"),
        Block("shoulder_friction", "stick_friction", on="shoulder", parameters={"coulomb": 1.0, "static": 5.0}),
        Block("elbow_friction", "stick_friction", on="elbow", parameters={"coulomb": 0.1}),
    ]
    run = simulate(Scenario("arm", Machine("arm", mechanism, blocks=blocks), 0.6, solver=PRECISE))
    first, second = run.events[:2]
    assert first.name == "shoulder_friction.slips"
    assert first.time == pytest.approx(0.5, abs=1e-9)
    assert (second.name, second.time) == ("elbow_friction.slips", first.time)
    assert run["elbow.velocity"].values[-1] < 0 < run["shoulder.velocity"].values[-1]


def test_it_agrees_with_smoothed_coulomb_friction_where_that_is_steep():
    stuck = simulate(two_link_arm((6.0, 1.0), 2.0, ratio=1.0))
    blocks = [
        Block(f"{name}_friction", "coulomb_friction", on=name, parameters={"coulomb": c, "smoothing_velocity": 1e-5})
        for name, c in (("shoulder", 6.0), ("elbow", 1.0))
    ]
    machine = two_link_arm((6.0, 1.0), 2.0).machine
    smooth = Scenario(
        "smooth",
        Machine("arm", machine.mechanism, blocks=blocks),
        2.0,
        {"shoulder.position": 0.3, "elbow.position": 0.2},
        solver=Solver("rodas4p", rtol=1e-8, atol=1e-10),
    )
    run = simulate(smooth)
    # The smoothed arm creeps by the order of 1e-5 rad/s.
    for name in ("shoulder.position", "elbow.position"):
        assert run[name].values[-1] == pytest.approx(stuck[name].values[-1], abs=1e-4)


def test_a_sampled_force_that_jumps_past_the_limit_makes_it_slip_at_that_sample():
    def push(time, *, period):
        return {"command": 10.0 * (time >= 0.005)}

    def mobility(command):
        return {"force": command}

    scenario = slide(
        Block("push", push, period=0.001),
        Block("drive", mobility, on="x", inputs={"command": "push.command"}),
        Block("friction", "stick_friction", on="x", parameters={"coulomb": 4.0}),
        duration=0.02,
    )
    run = simulate(scenario)
    assert [(event.name, event.time) for event in run.events] == [("friction.slips", 0.005)]
    # (10 - 4) N on 2 kg for 15 ms
    assert run["x.velocity"].values[-1] == pytest.approx(3.0 * 0.015, rel=1e-9)


def test_a_blow_knocks_a_held_block_loose():
    def at(time):
        return time - 0.1

    impact = Event("blow", at, direction="rising", action=lambda: {"x.velocity": 0.6})
    scenario = slide(
        Block("friction", "stick_friction", on="x", parameters={"coulomb": 4.0}), duration=1.0, events=[impact]
    )
    run = simulate(scenario)
    # It slides 2 kg 0.6 m/s / 4 N = 0.3 s.
    assert run.events[-1].name == "friction.stops"
    assert run.events[-1].time == pytest.approx(0.4, abs=1e-9)
    assert run["x.position"].values[-1] == pytest.approx(0.6 * 0.3 / 2, rel=1e-9)


def test_a_block_set_moving_at_the_start_slides_the_way_it_moves():
    scenario = slide(
        Block("friction", "stick_friction", on="x", parameters={"coulomb": 4.0}), initial={"x.velocity": -0.6}
    )
    run = simulate(scenario)
    assert run["friction.torque"].values[0] == 4.0
    assert run["x.position"].values[-1] == pytest.approx(-0.6 * 0.3 / 2, rel=1e-9)


def test_a_piston_held_on_moving_joints_keeps_its_length():
    """The elbow's cylinder reaches over both joints: held, it ties them together while the arm swings."""
    scenario = two_link_arm((0.0, 0.0), 3.0)
    piston = LinearCombination("piston", {"shoulder": 0.5, "elbow": 1.0})
    machine = Machine(
        "arm",
        scenario.machine.mechanism,
        blocks=[Block("seal", "stick_friction", on="piston", parameters={"coulomb": 100.0})],
        coordinates=[piston],
    )
    run = simulate(Scenario("arm", machine, 3.0, scenario.initial, solver=PRECISE))
    assert np.ptp(run["shoulder.position"].values) > 1.0
    # Held on the level of accelerations with a return rate: what is left is the solver's error.
    assert run.statistics.extra["stick_drift"] < 1e-8
    assert run.statistics.energy_error < 1e-8


def test_three_seals_on_two_joints_hold_the_arm_exactly():
    scenario = two_link_arm((30.0, 5.0), 60.0)
    machine = Machine(
        "arm",
        scenario.machine.mechanism,
        blocks=[*scenario.machine.blocks, Block("third", "stick_friction", on="sum", parameters={"coulomb": 9.0})],
        coordinates=[LinearCombination("sum", {"shoulder": 1.0, "elbow": 1.0})],
    )
    run = simulate(Scenario("arm", machine, 60.0, scenario.initial, solver=Solver("dopri5")))
    assert np.all(run["elbow.position"].values == 0.2)
    assert np.all(run["shoulder.position"].values == 0.3)


def test_a_linkage_piston_holds_the_arm_exactly():
    scenario = two_link_arm((30.0, 5.0), 60.0)
    mechanism = scenario.machine.mechanism
    pinned = Mechanism("arm", mechanism.bodies, mechanism.joints, [Point("pin", "upper")])
    lift = TriangleLength("lift", {"shoulder": 1.0}, (0.3, 0.2), offset=1.0)
    tilt = TriangleLength("tilt", {"shoulder": 1.0, "elbow": 1.0}, (0.3, 0.2), offset=1.0)
    machine = Machine(
        "arm",
        pinned,
        blocks=[Block(f"{on}_seal", "stick_friction", on=on, parameters={"coulomb": 500.0}) for on in ("lift", "tilt")],
        coordinates=[lift, tilt],
    )
    run = simulate(Scenario("arm", machine, 60.0, scenario.initial, solver=Solver("dopri5")))
    assert np.all(run["elbow.position"].values == 0.2)
    assert np.all(run["shoulder.position"].values == 0.3)


@pytest.mark.parametrize("method", ["euler", "rk4", "dopri5", "rodas4p", "trbdf2"])
def test_every_kind_of_method_stops_where_friction_stops_it(method):
    solver = Solver(method, step=1e-4 if method in ("euler", "rk4") else None)
    scenario = slide(
        Block("friction", "stick_friction", on="x", parameters={"coulomb": 4.0}),
        initial={"x.velocity": 0.6},
        solver=solver,
    )
    run = simulate(scenario)
    # Euler's first-order error at a step of 0.1 ms; the others are exact for constant deceleration.
    tolerance = 1e-4 if method == "euler" else 1e-8
    assert run.events[-1].time == pytest.approx(0.3, abs=tolerance)
    assert np.all(run["x.velocity"].values[run.time > 0.31] == 0.0)


def test_friction_of_level_zero_holds_nothing():
    def ramp(time):
        return {"force": 5.0 * time}

    scenario = slide(
        Block("push", ramp, on="x"), Block("friction", "stick_friction", on="x", parameters={"coulomb": 0.0})
    )
    # 5 t on 2 kg: x = 5 t^3 / 12
    assert simulate(scenario)["x.position"].values[-1] == pytest.approx(5.0 / 12.0, rel=1e-8)


@pytest.mark.parametrize("method", ["dopri5", "rodas4p", "trbdf2"])
def test_a_kick_too_small_to_count_does_not_make_a_held_block_creep(method):
    kick = Event("kick", lambda time: time - 0.1, direction="rising", action=lambda: {"x.velocity": 5e-7})
    friction = Block("friction", "stick_friction", on="x", parameters={"coulomb": 4.0})
    run = simulate(slide(friction, duration=100.0, events=[kick], solver=Solver(method)))
    assert np.all(run["x.position"].values == 0.0)


def test_the_force_of_friction_that_sticks_cannot_be_sent_elsewhere():
    with pytest.raises(ModelError, match="acts"):
        Block("friction", "stick_friction", on="x", parameters={"coulomb": 4.0}, acts={"torque": "y"})


@pytest.mark.parametrize("method", ["baumgarte", "projection"])
@pytest.mark.parametrize(("load", "moves"), [(1.5, False), (2.5, True)])
def test_friction_holds_what_a_constraint_has_held_before(method, load, moves):
    """Locked, the joint needs no friction; released at rest, it feels the static one of 2 N, not the 1 N of sliding."""
    blocks = [
        Block("push", lambda: {"force": load}, on="x"),
        Block("friction", "stick_friction", on="x", parameters={"coulomb": 1.0, "static": 2.0}),
    ]
    release = Event("release", lambda time: time - 0.1, action=lambda: {"lock.active": 0.0})
    scenario = slide(*blocks, duration=0.3, events=[release])
    locked = replace(scenario.machine, constraints=[LinearConstraint("lock", {"x": 1.0})])
    run = simulate(replace(scenario, machine=locked, constraint_method=ConstraintMethod(method)))
    end = 0.5 * (load - 1.0) / 2.0 * 0.2**2 if moves else 0.0
    assert run["x.position"].values[-1] == pytest.approx(end, abs=1e-9)
