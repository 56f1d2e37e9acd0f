"""Do sticking joints, loops and rigid contacts with dry friction hold and move each other as the closed forms say?"""

import math
from dataclasses import replace

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    Box,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Plane,
    Point,
    RigidContact,
    Scenario,
    Solver,
    assemble,
    compile_system,
    simulate,
)
from robodyn.description.catalog import arm_on_slope, box_on_slope
from robodyn.description.catalog.contacts import ACROSS, ALONG, BRISTLES, FRICTION, SIZE, make_box, planar_mechanism

GRAVITY, MU = 9.81, 0.5
SHARP = Solver("dopri5", rtol=1e-8, atol=1e-11, max_steps=20_000)
FLOOR = Point("floor", GROUND)


def dry(name="slope", shape=None, coefficient=MU, restitution=0.0):
    touching = shape or Box("middle", SIZE)
    rough = {"coefficient": coefficient}
    return RigidContact(name, touching, Plane("floor"), restitution, 1e-3, "dry_friction", rough)


def stick(name, on, level, static=1.0):
    return Block(name, "stick_friction", on=on, parameters={"coulomb": level, "static": static * level})


def box_with_arm(tangent, torque, level=0.3):
    """A box of 2 kg on a slope, with an arm of 0.5 kg on a hinge that sticks, moved by a torque [N m] of time."""
    base = planar_mechanism(make_box(), (Point("middle", "box"),), math.atan(tangent))
    arm = Body("arm", 0.5, (0.0, 0.0, 0.15), (0.005, 0.005, 0.005))
    hinge = Joint("hinge", "revolute", "box", "arm", axis=ACROSS, origin=(0.0, 0.0, 0.1))
    mechanism = Mechanism("box", (*base.bodies, arm), (*base.joints, hinge), base.points, base.gravity)
    blocks = (stick("rub", "hinge", level, 1.3), Block("drive", torque, on="hinge"))
    machine = Machine("box", mechanism, blocks, contacts=(dry(),))
    return Scenario("box", machine, 1.0, {"up.position": SIZE[2] / 2, "hinge.position": math.pi})


def test_a_box_held_on_a_slope_by_stick_does_not_move_while_its_sticking_arm_swings():
    run = simulate(arm_on_slope())
    names = {event.name for event in run.events}
    assert {"rub.slips", "rub.stops"} == names
    q, v, a = (run[f"hinge.{what}"].values for what in ("position", "velocity", "acceleration"))
    assert np.ptp(q) > 1.0
    # Held by rows of their own, in all six directions: rounding is all that is left.
    for axis in "xyz":
        assert np.ptp(run[f"base.{axis}.position"].values) < 1e-14
        assert np.ptp(run[f"base.orientation.{axis}"].values) < 1e-14
    assert run.certificate.ok
    # Newton for both bodies together: what the floor carries is their weight and what moves the arm's centre.
    angle = math.radians(15)
    normal = 6.5 * GRAVITY * math.cos(angle) + 0.5 * 0.15 * (-np.sin(q) * a - np.cos(q) * v**2)
    across = -6.5 * GRAVITY * math.sin(angle) + 0.5 * 0.15 * (np.cos(q) * a - np.sin(q) * v**2)
    np.testing.assert_allclose(run["slope.force.normal"].values, normal, rtol=1e-9)
    found = run["slope.force.x"].values * math.cos(angle) - run["slope.force.z"].values * math.sin(angle)
    np.testing.assert_allclose(found, across, rtol=1e-9)


def test_an_arm_at_rest_loads_the_slope_with_its_weight_alone():
    run = simulate(box_with_arm(0.3, lambda time: {"torque": 0.0 * time}), SHARP)
    angle = math.atan(0.3)
    # The arm hangs beside its vertical by 0.29 rad, held by 0.3 N m of friction.
    assert run.events == ()
    assert run["slope.force.normal"].final == pytest.approx(2.5 * GRAVITY * math.cos(angle), rel=1e-9)
    assert run["slope.force.x"].final == pytest.approx(-2.5 * GRAVITY * math.sin(angle), rel=1e-9)
    assert run["rub.torque"].final == pytest.approx(0.5 * GRAVITY * 0.15 * math.sin(angle), rel=1e-9)


@pytest.fixture(scope="module")
def sliding():
    scenario = box_on_slope(0.0)
    machine = replace(scenario.machine, contacts=(dry(),), tunable=("gravity.*",))
    return compile_system(assemble(replace(scenario, machine=machine, solver=SHARP)))


@pytest.mark.parametrize("tangent", [0.499, 0.501])
def test_dry_friction_holds_a_box_up_to_its_angle_and_lets_it_slide_beyond(sliding, tangent):
    angle = math.atan(tangent)
    pull = {"gravity.x": GRAVITY * math.sin(angle), "gravity.z": -GRAVITY * math.cos(angle)}
    run = simulate(sliding, parameters=pull)
    left = max(0.0, GRAVITY * (math.sin(angle) - MU * math.cos(angle)))
    assert run["along.position"].final == pytest.approx(0.5 * left, abs=1e-12)
    assert run["slope.force.x"].final == pytest.approx(-2.0 * min(pull["gravity.x"], -MU * pull["gravity.z"]))
    assert run.certificate.ok


def test_a_sliding_box_stops_where_its_energy_is_used_up(sliding):
    states = tuple(replace(s, start=2.0) if s.name == "along.velocity" else s for s in sliding.system.states)
    run = simulate(replace(sliding, system=replace(sliding.system, states=states)))
    assert run["along.position"].final == pytest.approx(2.0**2 / (2 * MU * GRAVITY), abs=1e-9)
    # The tolerance of the solver, 1e-11.
    assert abs(run["along.velocity"].final) < 1e-10
    stops = [event.time for event in run.events if event.name.endswith("stops")]
    assert stops[0] == pytest.approx(2.0 / (MU * GRAVITY), abs=1e-9)


@pytest.mark.parametrize("coefficient", [0.05, 0.5])
def test_a_ball_on_a_slope_rolls_with_five_sevenths_or_slides_where_friction_is_too_small(coefficient):
    radius, angle = 0.1, 0.3
    body = Body("body", 2.0, inertia=(0.4 * 2.0 * radius**2,) * 3)
    mechanism = planar_mechanism(body, (Point("middle", "body"),), angle)
    contact = dry("rolls", Ball("middle", radius), coefficient)
    run = simulate(
        Scenario("ball", Machine("ball", mechanism, contacts=(contact,)), 1.0, {"up.position": radius}), SHARP
    )
    rolls = math.tan(angle) < 3.5 * coefficient
    along = GRAVITY * (math.sin(angle) * 5 / 7 if rolls else math.sin(angle) - coefficient * math.cos(angle))
    assert run["along.velocity"].final == pytest.approx(along, rel=1e-8)
    # 1e-8 of a speed of 2 m/s in each step, which what sticks takes back at 20/s; what slides does so with 2 m/s.
    assert (np.max(run["rolls.slip"].values) < 2e-7) == rolls


def test_a_puck_pushed_across_a_slope_curves_down_and_stops_in_space():
    """v' = g sin - mu g cos v / |v|, in the plane of the slope, by a fine independent integration."""
    joints = (
        Joint("x", "prismatic", GROUND, "x_frame", axis=ALONG),
        Joint("y", "prismatic", "x_frame", "y_frame", axis=ACROSS),
        Joint("z", "prismatic", "y_frame", "puck"),
    )
    tilt = math.atan(0.3)
    gravity = (GRAVITY * math.sin(tilt), 0.0, -GRAVITY * math.cos(tilt))
    bodies = (Body("x_frame"), Body("y_frame"), Body("puck", 1.0))
    mechanism = Mechanism("puck", bodies, joints, (Point("foot", "puck"), FLOOR), gravity)
    scenario = Scenario("puck", Machine("puck", mechanism, contacts=(dry("touch", Ball("foot")),)), 1.0)
    run = simulate(replace(scenario, initial={"y.velocity": 1.0}), SHARP)

    def rate(v):
        return np.array(gravity[:2]) + MU * gravity[2] * v / np.linalg.norm(v)

    p, v, h = np.zeros(2), np.array([0.0, 1.0]), 1e-5
    while np.linalg.norm(v) > 1e-4:
        middle = v + 0.5 * h * rate(v)
        p, v = p + h * middle, v + h * rate(middle)
    assert run["x.position"].final == pytest.approx(p[0], abs=1e-5)
    assert run["y.position"].final == pytest.approx(p[1], abs=1e-5)
    assert math.hypot(run["x.velocity"].final, run["y.velocity"].final) < 1e-10
    # Beyond the angle of friction it would not have stopped.
    assert run["touch.force.x"].final == pytest.approx(-gravity[0], rel=1e-9)


def four_bar(level, contact):
    """A parallelogram of 0.3 m cranks under a coupler of 0.4 m, with friction that sticks on one crank and a foot below
    the coupler that may touch the floor."""
    rod = (0.01, 0.01, 0.01)
    bodies = (
        Body("left", 0.5, (0.0, 0.0, -0.15), rod),
        Body("coupler", 1.0, (0.2, 0.0, 0.0), rod),
        Body("right", 0.5, (0.0, 0.0, -0.15), rod),
    )
    joints = (
        Joint("left_hinge", "revolute", GROUND, "left", axis=ACROSS, origin=(0.0, 0.0, 0.5)),
        Joint("left_pin", "revolute", "left", "coupler", axis=ACROSS, origin=(0.0, 0.0, -0.3)),
        Joint("right_hinge", "revolute", GROUND, "right", axis=ACROSS, origin=(0.4, 0.0, 0.5)),
    )
    points = (
        Point("coupler_end", "coupler", (0.4, 0.0, 0.0)),
        Point("right_end", "right", (0.0, 0.0, -0.3)),
        Point("foot", "coupler", (0.2, 0.0, -0.1)),
        Point("table", GROUND, (0.0, 0.0, 0.2)),
    )
    loop = LoopJoint("loop", "coupler_end", "right_end", kind="revolute", axis=ACROSS)
    machine = Machine(
        "bars",
        Mechanism("bars", bodies, joints, points),
        (stick("brake", "left_hinge", level),),
        constraints=(loop,),
        contacts=(contact,) if contact else (),
    )
    start = {"left_hinge.position": 1.2, "left_pin.position": -1.2, "right_hinge.position": 1.2}
    return Scenario("bars", machine, 3.0, start, solver=Solver("rodas4", rtol=1e-7, atol=1e-10))


@pytest.mark.parametrize("friction", [None, "dry_friction"])
def test_a_loop_with_a_sticking_crank_falls_on_a_rigid_table_and_rests_there(friction):
    rough = {"friction": friction, "friction_parameters": {"coefficient": 0.3}} if friction else {}
    contact = RigidContact("touch", Ball("foot"), Plane("table"), 0.2, **rough)
    run = simulate(four_bar(0.4, contact))
    assert run.outcome.ok
    assert run.certificate.ok
    assert run["touch.gap"].min > -1e-7
    assert run["touch.active"].final == 1
    assert run["constraints.position_error"].final < 1e-6
    assert abs(run["left_hinge.velocity"].final) < 1e-9
    assert run["energy.kinetic"].final < 1e-16
    # Virtual work of a parallelogram turned by q: all that hangs moves as the coupler does, about a circle of 0.3 m.
    q, weight = run["left_hinge.position"].final, GRAVITY * (1.0 + 2 * 0.5 * 0.5)
    x, z = (run[f"touch.force.{axis}"].final for axis in "xz")
    work = 0.3 * ((z - weight) * math.sin(q) - x * math.cos(q))
    assert run["brake.torque"].final + work == pytest.approx(0.0, abs=1e-6)


def test_a_loop_held_by_its_crank_alone_does_not_need_the_table():
    held = simulate(four_bar(10.0, RigidContact("touch", Ball("foot"), Plane("table"))))
    assert held.events == ()
    assert held["left_hinge.position"].final == 1.2


def test_friction_on_a_joint_is_nothing_to_an_impact():
    """A mass on a rail with dry friction bounces with the speed that its contact alone gives it."""
    joint = Joint("height", "prismatic", GROUND, "mass")
    mechanism = Mechanism("mass", (Body("mass", 1.0),), (joint,), (Point("foot", "mass"), FLOOR))
    contact = RigidContact("bounce", Ball("foot"), Plane("floor"), 0.5)
    machine = Machine("mass", mechanism, (stick("rail", "height", 2.0),), contacts=(contact,))
    run = simulate(Scenario("mass", machine, 2.0, {"height.position": 1.0}), SHARP)
    (hit, *_) = [event.time for event in run.events if event.name == "bounce.hits"]
    assert hit == pytest.approx(math.sqrt(2 / (GRAVITY - 2.0)), abs=1e-9)
    speed = run["height.velocity"]
    before = math.sqrt(2 * (GRAVITY - 2.0))
    assert speed(hit + 1e-6) == pytest.approx(0.5 * before, rel=1e-5)
    assert run["bounce.active"].final == 1
    assert run.certificate.ok


def test_dry_friction_is_for_rigid_contacts():
    with pytest.raises(ModelError, match="only friction of a rigid contact has a direction"):
        replace(box_on_slope().machine.contacts[0], friction="dry_friction", friction_parameters={"coefficient": 0.5})


ROUGH = {"bristles": (FRICTION, {"coefficient": MU} | BRISTLES), "dry": ("dry_friction", {"coefficient": 0.4})}
THROWN = {"z.position": 0.15, "x.velocity": 0.5, "y.velocity": 0.2}


def throw_balls(*names):
    bodies = [Body(name, 1.0, inertia=(0.004, 0.004, 0.004)) for name in names]
    joints = [Joint(f"{name}_base", "free", GROUND, name) for name in names]
    points = [FLOOR, *(Point(f"{name}_middle", name) for name in names)]
    balls = {name: Ball(f"{name}_middle", 0.1) for name in names}
    contacts = [RigidContact(f"{n}_touch", balls[n], Plane("floor"), 0.3, 1e-3, *ROUGH[n]) for n in names]
    machine = Machine("balls", Mechanism("balls", bodies, joints, points), contacts=contacts)
    start = {f"{name}_base.{key}": value for name in names for key, value in THROWN.items()}
    return simulate(Scenario("balls", machine, 0.3, start, solver=Solver("rodas4", rtol=1e-8, atol=1e-10)))


def test_contacts_of_different_friction_move_as_each_of_them_alone():
    """Bristles, then dry friction, whose rows come first: they share nothing but the one problem of all modes."""
    both = throw_balls("bristles", "dry")
    for name in ROUGH:
        alone = throw_balls(name)
        for signal in (f"{name}_base.x.position", f"{name}_base.angular_velocity.y", f"{name}_touch.force.x"):
            # Steps end at other instants: the solver's tolerance.
            assert both[signal].values[-1] == pytest.approx(alone[signal].values[-1], abs=1e-7)
        assert np.max(both[f"{name}_touch.force.normal"].values) > 5.0
