"""Compliant contacts: do bodies bounce, stick, slide, roll and rest as the closed forms say, and as on rigid ones?"""

import math
from dataclasses import replace

import pytest
from scipy.optimize import brentq
from support.falling import GRAVITY, MASS, SHARP, falling

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    Box,
    Contact,
    Machine,
    Plane,
    Point,
    RigidContact,
    Scenario,
    Solver,
    assemble,
    compile_system,
    read_scenario,
    simulate,
)
from robodyn.description.catalog import box_on_slope, two_link_mechanism

SPEED, STIFFNESS = 2.0, 1e5


def thrown(law, **parameters):
    """The mass flies at the floor without gravity."""
    contact = Contact("bounce", Ball("middle", 0.1), Plane("floor"), law, parameters)
    return falling(contact, {"height.position": 0.2, "height.velocity": -SPEED})


@pytest.mark.parametrize("damping_ratio", [0.0, 0.2])
def test_a_spring_and_damper_let_go_when_their_force_is_gone(damping_ratio):
    """e = v / wd exp(-z w t) sin(wd t) until k e + d e_dot = 0."""
    z, w = damping_ratio, math.sqrt(STIFFNESS / MASS)
    wd = w * math.sqrt(1 - z * z)
    run = simulate(thrown("kelvin_voigt", stiffness=STIFFNESS, damping=2 * z * w * MASS), SHARP)
    lasting = (math.pi - math.atan2(2 * z * math.sqrt(1 - z * z), 1 - 2 * z * z)) / wd
    rebound = math.exp(-z * w * lasting) * (z / math.sqrt(1 - z * z) * math.sin(wd * lasting) - math.cos(wd * lasting))
    touch, part = (event.time for event in run.events)
    assert touch == pytest.approx(0.1 / SPEED, abs=1e-10)
    assert part - touch == pytest.approx(lasting, abs=1e-9)
    # Of the tolerance, 1e-9 a step in a few dozen steps.
    assert run["height.velocity"].final == pytest.approx(rebound * SPEED, rel=1e-7)
    assert run["bounce.force.normal"].values.min() > -1e-6
    assert run.statistics.energy_error < 1e-8


def test_hunt_crossley_contact_loses_speed_by_the_published_formula_whatever_its_exponent():
    """c v (1 + r) = ln((1 + c v) / (1 - c v r)): Marhefka and Orin (1999)."""
    for exponent in (1.0, 1.5):
        compiled = compile_system(assemble(thrown("hunt_crossley", stiffness=1e6, exponent=exponent)), SHARP)
        for c in (0.02, 0.3, 2.0):
            run = simulate(compiled, SHARP, parameters={"bounce.dissipation": c})
            x = c * SPEED
            r = brentq(lambda r, x=x: x * (1 + r) - math.log((1 + x) / (1 - x * r)), 1e-9, min(1.0, 1 / x) - 1e-12)
            # Of the tolerance, 1e-9 a step in a few dozen steps.
            assert run["height.velocity"].final == pytest.approx(r * SPEED, rel=1e-6)
            lost = 0.5 * MASS * SPEED**2 * (1 - r * r)
            assert run["energy.work"].final == pytest.approx(-lost, rel=1e-6)


def test_steps_end_where_bodies_touch_so_that_a_fixed_step_method_keeps_its_order():
    scenario = thrown("kelvin_voigt", stiffness=1e3, damping=10.0)
    ends = [simulate(scenario, Solver("rk4", step=step))["height.position"].final for step in (2e-3, 1e-3, 1.25e-4)]
    # Fourth order gives 16; a jump of the force inside a step would leave 2.
    assert abs(ends[0] - ends[2]) > 10 * abs(ends[1] - ends[2])


def test_bristles_hold_a_box_on_a_slope_without_creep():
    run = simulate(replace(box_on_slope(), duration=2.0))
    along = run["along.position"]
    # Held by bent bristles: what moves is the solver's error, which does not add up (tolerance 1e-9 m).
    assert abs(along(2.0) - along(1.0)) < 1e-11
    slope = math.atan(0.4)
    assert run["slope.force.x"].final == pytest.approx(-2.0 * GRAVITY * math.sin(slope), rel=1e-9)
    assert run["slope.force.normal"].final == pytest.approx(2.0 * GRAVITY * math.cos(slope), rel=1e-9)


def test_a_box_that_starts_sliding_on_the_surface_itself_stops_after_the_way_its_speed_allows():
    slope = box_on_slope()
    start = slope.initial | {"along.velocity": 1.0}
    run = simulate(replace(slope, duration=1.5, initial=start, solver=replace(slope.solver, max_steps=2000)))
    angle = math.atan(0.4)
    way = 1.0 / (2 * GRAVITY * (0.5 * math.cos(angle) - math.sin(angle)))
    # While it sinks in by 50 um its normal force, and so friction, swings about what the closed form takes.
    assert run.outcome.ok
    assert run["along.position"].final == pytest.approx(way, rel=1e-3)


def test_beyond_the_angle_of_friction_the_box_slides_with_what_friction_leaves():
    slope = math.atan(0.55)
    velocity = simulate(box_on_slope(slope))["along.velocity"]
    left = GRAVITY * (math.sin(slope) - 0.5 * math.cos(slope))
    assert velocity(1.0) - velocity(0.5) == pytest.approx(0.5 * left, rel=1e-8)


def test_smoothed_friction_creeps_at_the_speed_its_formula_gives():
    scenario = box_on_slope()
    (contact,) = scenario.machine.contacts
    smoothed = {"coefficient": 0.5, "smoothing_velocity": 1e-3}
    contact = replace(contact, friction="sliding_friction", friction_parameters=smoothed)
    run = simulate(replace(scenario, machine=replace(scenario.machine, contacts=(contact,))))
    # 0.4 = 0.5 w / sqrt(w^2 + w0^2)
    expected = 1e-3 * 0.8 / math.sqrt(1 - 0.64)
    assert run["along.velocity"].final == pytest.approx(expected, rel=1e-6)


def test_a_ball_rolls_down_a_slope_with_five_sevenths_of_the_acceleration():
    radius, slope = 0.1, 0.3
    scenario = box_on_slope(slope, duration=1.0)
    mechanism = scenario.machine.mechanism
    ball = Body("box", 2.0, inertia=(0.4 * 2.0 * radius**2,) * 3)
    mechanism = replace(mechanism, bodies=(*mechanism.bodies[:2], ball))
    (contact,) = scenario.machine.contacts
    contact = replace(contact, touching=Ball("middle", radius))
    run = simulate(replace(scenario, machine=replace(scenario.machine, mechanism=mechanism, contacts=(contact,))))
    velocity = run["along.velocity"]
    # The ball rolls on r, its axis is r minus 0.2 mm of overlap high: the same direction, so nothing changes.
    assert velocity(1.0) - velocity(0.5) == pytest.approx(0.5 * 5 / 7 * GRAVITY * math.sin(slope), rel=1e-5)
    assert run["turn.velocity"](1.0) * radius == pytest.approx(velocity(1.0), rel=1e-4)


def test_an_arm_pressed_against_a_wall_feels_the_same_force_by_both_kinds_of_contact():
    """The elastic wall lets the tool in by F / k, which takes a thousandth off the springs' force."""
    mechanism = two_link_mechanism()
    mechanism = replace(mechanism, points=(*mechanism.points, Point("wall", GROUND, (0.6, 0.0, 0.0))))
    rests = {"shoulder": 0.6, "elbow": -0.6}
    springs = tuple(
        Block(f"{joint}_spring", "spring", on=joint, parameters={"stiffness": 800.0, "damping": 60.0, "rest": rest})
        for joint, rest in rests.items()
    )
    wall = Ball("tool"), Plane("wall", (-1, 0, 0))
    soft = Contact("press", *wall, "kelvin_voigt", {"stiffness": 1e7, "damping": 3e3})
    runs = []
    for contact in (soft, RigidContact("press", *wall, restitution=0.2)):
        machine = Machine("arm", mechanism, springs, contacts=(contact,))
        scenario = Scenario("arm", machine, 2.0, {"shoulder.position": 1.2, "elbow.position": -1.0})
        runs.append(simulate(scenario, Solver("rodas4", rtol=1e-6, atol=1e-9)))
    elastic, rigid = (run["press.force.normal"].final for run in runs)
    assert rigid == pytest.approx(elastic, rel=1e-3)
    assert runs[0]["press.gap"].final == pytest.approx(-elastic / 1e7, rel=1e-6)
    assert abs(runs[1]["press.gap"].final) < 1e-9
    assert max(run.statistics.energy_error for run in runs) < 1e-4


def test_a_compliant_rest_is_an_equilibrium():
    contact = Contact("bounce", Ball("middle", 0.1), Plane("floor"), "hunt_crossley", {"stiffness": 1e6})
    scenario = falling(contact, {"height.position": 0.0999}, gravity=GRAVITY)
    run = simulate(replace(scenario, initialisation="at_rest"))
    assert run["bounce.gap"].values[0] == pytest.approx(-((GRAVITY / 1e6) ** (2 / 3)), rel=1e-6)


def test_a_file_says_the_same_as_python(tmp_path):
    path = tmp_path / "ball.toml"
    path.write_text(
        """
duration = 1.0
[bodies.ball]
mass = 1.0
[joints.height]
kind = "prismatic"
parent = "ground"
child = "ball"
[points]
middle = { body = "ball" }
floor = { body = "ground" }
[contacts.bounce]
touching = { ball = "middle", radius = "100 mm" }
against = { plane = "floor" }
restitution = 0.8
friction = "sliding_friction"
friction_parameters = { coefficient = 0.2, smoothing_velocity = 0.001 }
[contacts.soft]
touching = { box = "middle", size = [0.1, 0.1, 0.1] }
against = { plane = "floor", normal = [0, 0, 2] }
law = "hunt_crossley"
parameters = { stiffness = 1e6, dissipation = 0.1 }
friction = "sliding_friction"
friction_parameters = { coefficient = 0.3, smoothing_velocity = "1 mm/s" }
"""
    )
    hard, soft = read_scenario(path).machine.contacts
    slow = {"coefficient": 0.2, "smoothing_velocity": 1e-3}
    assert hard == RigidContact("bounce", Ball("middle", 0.1), Plane("floor"), 0.8, 1e-3, "sliding_friction", slow)
    rubbing = slow | {"coefficient": 0.3}
    given = {"stiffness": 1e6, "dissipation": 0.1}
    shapes = Box("middle", (0.1, 0.1, 0.1)), Plane("floor")
    assert soft == Contact("soft", *shapes, "hunt_crossley", given, "sliding_friction", rubbing)


@pytest.mark.parametrize(("turn", "pull", "damping"), [(0.25, 2.909177182112427, 0.0), (0.25, 0.9093541361329198, 1.0)])
def test_a_ball_that_turns_round_on_the_surface_itself_is_not_held_there(turn, pull, damping):
    """z = a (t - T)^2 / 2 touches the floor at the end of a step; from then on it flies away."""
    contact = Contact("bounce", Ball("middle"), Plane("floor"), "kelvin_voigt", {"stiffness": 4.0, "damping": damping})
    start = {"height.position": pull * turn**2 / 2, "height.velocity": -pull * turn}
    run = simulate(falling(contact, start, duration=2.0, gravity=-pull), Solver("rk4", step=0.25))
    assert run["height.position"].final == pytest.approx(pull * (2.0 - turn) ** 2 / 2, abs=1e-9)
