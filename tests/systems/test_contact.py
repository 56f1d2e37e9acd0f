"""Do bodies bounce, stick, slide, roll and rest as the closed forms say, by compliant and by rigid contacts?"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    Box,
    Contact,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Plane,
    Point,
    PrescribedMotion,
    RigidContact,
    Scenario,
    Solver,
    assemble,
    compile_system,
    read_scenario,
    simulate,
)
from robodyn.catalog import bouncing_ball, box_on_slope, two_link_mechanism
from robodyn.catalog.contacts import BRISTLES, planar_mechanism
from robodyn.simulation import find_equilibrium
from robodyn.symbolic import cos, sin

GRAVITY, SPEED, MASS, STIFFNESS = 9.81, 2.0, 1.0, 1e5
SHARP = Solver("dopri5", rtol=1e-9, atol=1e-12)
FLOOR = Point("floor", GROUND)


def falling(contact, start, *, duration=0.2, gravity=0.0, points=()):
    """A mass of 1 kg on a rail along z, with its point `middle`."""
    joint = Joint("height", "prismatic", GROUND, "mass")
    places = (Point("middle", "mass"), FLOOR, *points)
    mechanism = Mechanism("ball", (Body("mass", MASS),), (joint,), places, gravity=(0, 0, -gravity))
    contacts = contact if isinstance(contact, tuple) else (contact,)
    return Scenario("ball", Machine("ball", mechanism, contacts=contacts), duration, start)


def thrown(law, **parameters):
    """The mass flies at the floor without gravity."""
    contact = Contact("bounce", Ball("middle", 0.1), Plane("floor"), law, parameters)
    return falling(contact, {"height.position": 0.2, "height.velocity": -SPEED})


def test_a_ball_on_a_rigid_floor_bounces_at_the_times_of_the_geometric_series_and_then_rests():
    r, first = 0.8, math.sqrt(2 / GRAVITY)
    run = simulate(bouncing_ball(r))
    hits = np.array([event.time for event in run.events if event.name == "bounce.hits"])
    expected = first * (1 + 2 * np.cumsum(np.concatenate([[0.0], r ** np.arange(1, len(hits))])))
    # A gap counts as closed at 1e-12 m: at the last speeds of 1e-3 m/s that is 1e-9 s.
    np.testing.assert_allclose(hits, expected, atol=2e-9)
    tops = 0.1 + r ** (2 * np.arange(1, 6))
    middles = 0.5 * (hits[:5] + hits[1:6])
    np.testing.assert_allclose(run["height.position"](middles), tops, atol=1e-8)
    # The bounces left out last r^n of the whole series; below 1 mm/s they are over.
    assert len(hits) == 1 + math.ceil(math.log(1e-3 / math.sqrt(2 * GRAVITY)) / math.log(r))
    assert run["bounce.active"].final == 1
    assert run["height.position"].final == pytest.approx(0.1, abs=1e-11)
    assert run["bounce.force.normal"].final == pytest.approx(GRAVITY, rel=1e-9)


def test_the_energy_lost_in_impacts_is_work_of_the_contact():
    run = simulate(bouncing_ball())
    balance = run["energy.balance"].values
    # Rounding of 10 J.
    np.testing.assert_allclose(balance, balance[0], atol=1e-11)
    assert run["energy.work"].final == pytest.approx(-GRAVITY, rel=1e-9)


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


@pytest.fixture(scope="module")
def dropped():
    """A tilted box falls on a rigid floor, rocks and comes to rest."""
    scenario = box_on_slope(0.0, duration=1.5)
    (contact,) = scenario.machine.contacts
    rigid = RigidContact("slope", contact.touching, contact.against, restitution=0.3)
    start = {"up.position": 0.3, "turn.position": 0.1}
    machine = replace(scenario.machine, contacts=(rigid,))
    return simulate(replace(scenario, machine=machine, initial=start), Solver("dopri5", rtol=1e-7, atol=1e-10))


def test_a_box_dropped_on_its_edge_comes_to_rest_on_four_corners_that_share_its_weight(dropped):
    assert dropped["up.position"].final == pytest.approx(0.1, abs=1e-8)
    assert abs(dropped["turn.position"].final) < 1e-8
    assert dropped["slope.active"].final == 4
    forces = [dropped[f"slope.corner{k}.force.normal"].final for k in (0, 2, 4, 6)]
    # What the little compliance that shares the load leaves.
    np.testing.assert_allclose(forces, 2.0 * GRAVITY / 4, rtol=1e-6)


def test_corners_never_pull_and_never_sink_in_and_the_energy_is_accounted_for(dropped):
    # The solver's tolerance, with the rate at which errors of resting corners decay.
    assert dropped["slope.gap"].values.min() > -1e-7
    assert min(dropped[f"slope.corner{k}.force.normal"].values.min() for k in range(8)) > -1e-6
    assert dropped.statistics.energy_error < 1e-7


def test_a_rigid_contact_lets_go_where_its_force_ends():
    """A mass on a table that swings up and down until its downward acceleration passes g."""
    joints = (Joint("height", "prismatic", GROUND, "mass"), Joint("table", "prismatic", GROUND, "plate"))
    mechanism = Mechanism(
        "pair", (Body("mass", 1.0), Body("plate", 1.0)), joints, (Point("foot", "mass"), Point("top", "plate"))
    )

    def swing(time):
        return {"position": 0.1 * sin(12 * time), "velocity": 1.2 * cos(12 * time), "rate": -14.4 * sin(12 * time)}

    guided = PrescribedMotion("guided", "table", "swing.position", "swing.velocity", "swing.rate")
    contact = RigidContact("lies", Ball("foot"), Plane("top"))
    machine = Machine("pair", mechanism, (Block("swing", swing),), constraints=(guided,), contacts=(contact,))
    scenario = Scenario("pair", machine, 0.5, {"height.velocity": 1.2, "table.velocity": 1.2})
    run = simulate(scenario, SHARP)
    parts = [event.time for event in run.events if event.name == "lies.parts"]
    # The table's downward acceleration 14.4 sin(12 t) reaches g there.
    assert parts[0] == pytest.approx(math.asin(GRAVITY / 14.4) / 12, abs=1e-7)
    before = run["lies.force.normal"](0.02)
    assert before == pytest.approx(GRAVITY - 14.4 * math.sin(0.24), rel=1e-6)


def planar(body, points, contacts, start, duration, slope=0.0):
    """A body that moves along x and z and rotates about y."""
    machine = Machine("planar", planar_mechanism(body, points, slope), contacts=contacts)
    return Scenario("planar", machine, duration, start)


@pytest.mark.parametrize("coefficient", [0.1, 0.6])
def test_a_ball_thrown_on_a_rough_rigid_floor_slides_or_rolls_off_as_coulomb_says(coefficient):
    """Impulse of friction: mu (1 + r) m v_n, or m v_x 2 / 7 where that is less: it rolls then."""
    r, radius, speed = 0.6, 0.1, 2.0
    body = Body("body", 2.0, inertia=(0.4 * 2.0 * radius**2,) * 3)
    rough = {"coefficient": coefficient} | BRISTLES
    contact = RigidContact("hit", Ball("middle", radius), Plane("floor"), r, 1e-3, "bristle_friction", rough)
    start = {"along.velocity": speed, "up.velocity": -2.0, "up.position": 0.2}
    run = simulate(planar(body, (Point("middle", "body"),), (contact,), start, 0.1), SHARP)
    down = math.sqrt(4.0 + 2 * GRAVITY * 0.1)
    taken = min(coefficient * (1 + r) * down, 2 / 7 * speed)
    # The compliance of 1e-7 that lets several touches share an impulse.
    assert run["along.velocity"].final == pytest.approx(speed - taken, rel=1e-6)
    assert run["turn.velocity"].final == pytest.approx(2.5 * taken / radius, rel=1e-6)
    assert run.statistics.energy_error < 1e-9


@pytest.mark.parametrize("tangent", [0.4, 0.55])
def test_a_block_on_rigid_feet_is_held_below_the_angle_of_friction_and_slides_beyond_it(tangent):
    slope, mu = math.atan(tangent), 0.5
    feet = (Point("rear", "body", (-0.2, 0.0, -0.1)), Point("front", "body", (0.2, 0.0, -0.1)))
    rough = {"friction": "bristle_friction", "friction_parameters": {"coefficient": mu} | BRISTLES}
    contacts = tuple(RigidContact(f"{foot.name}_foot", Ball(foot.name), Plane("floor"), **rough) for foot in feet)
    body = Body("body", 2.0, inertia=(0.03, 0.03, 0.03))
    scenario = planar(body, feet, contacts, {"up.position": 0.1}, 1.0, slope)
    run = simulate(scenario, Solver("rodas4", rtol=1e-7, atol=1e-10))
    along = run["along.velocity"]
    left = max(0.0, GRAVITY * (math.sin(slope) - mu * math.cos(slope)))
    assert along(1.0) - along(0.5) == pytest.approx(0.5 * left, abs=1e-7)
    # Moments about the front foot: the pull at half the height moves load from the rear foot to the front one.
    pull = min(math.sin(slope), mu * math.cos(slope))
    front = 2.0 * GRAVITY * (0.5 * math.cos(slope) + 0.1 / 0.4 * pull)
    assert run["front_foot.force.normal"].final == pytest.approx(front, rel=1e-6)
    assert run.statistics.energy_error < 1e-6


def test_a_ball_between_a_floor_and_a_box_above_it_bounces_off_both():
    ceiling = Point("ceiling", GROUND, (0.0, 0.0, 1.0))
    contacts = (
        RigidContact("below", Ball("middle", 0.1), Plane("floor"), 1.0),
        RigidContact("above", Ball("middle", 0.1), Box("ceiling", (1.0, 1.0, 0.4)), 1.0),
    )
    scenario = falling(contacts, {"height.position": 0.4, "height.velocity": 1.0}, duration=2.5, points=(ceiling,))
    run = simulate(scenario, SHARP)
    hits = [(event.name, event.time) for event in run.events if event.name.endswith("hits")]
    assert [name for name, _ in hits] == ["above.hits", "below.hits", "above.hits", "below.hits"]
    np.testing.assert_allclose([time for _, time in hits], [0.3, 0.9, 1.5, 2.1], atol=1e-9)


def test_a_racket_whose_motion_is_prescribed_does_the_work_that_the_ball_gets():
    """A ball at rest leaves with (1 + r) times the speed of the racket, which goes on as it did."""
    speed, r = 3.0, 0.6
    joints = tuple(Joint(name, "prismatic", GROUND, f"{name}_body") for name in ("ball", "racket"))
    bodies = Body("ball_body", MASS), Body("racket_body", 0.5)
    points = Point("middle", "ball_body"), Point("face", "racket_body")
    mechanism = Mechanism("game", bodies, joints, points, gravity=(0, 0, 0))
    ramp = Block("ramp", "ramp_reference", unit="m", parameters={"rate": speed})
    machine = Machine(
        "game",
        mechanism,
        (ramp,),
        contacts=(RigidContact("hit", Ball("middle"), Plane("face"), r),),
        constraints=(PrescribedMotion("stroke", "racket", "ramp.value", speed),),
    )
    run = simulate(Scenario("game", machine, 0.2, {"ball.position": 0.3, "racket.velocity": speed}), SHARP)
    # The tolerance of the solver, 1e-9.
    assert run["ball.velocity"].final == pytest.approx((1 + r) * speed, rel=1e-9)
    assert run["racket.velocity"].final == pytest.approx(speed, rel=1e-9)
    assert run["energy.work"].final == pytest.approx(MASS / 2 * ((1 + r) * speed) ** 2, rel=1e-9)
    assert run.statistics.energy_error < 1e-9


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


def test_what_cannot_be_is_told():
    below = {"height.position": 0.05}
    rigid = RigidContact("bounce", Ball("middle", 0.1), Plane("floor"))
    with pytest.raises(ModelError, match="starts inside the surface, by 0.05 m"):
        assemble(falling(rigid, below))
    with pytest.raises(ModelError, match=r"moves into the surface, with 1 m/s"):
        assemble(falling(rigid, {"height.position": 0.1, "height.velocity": -1.0}))
    with pytest.raises(ModelError, match="never move against each other"):
        assemble(falling(RigidContact("bounce", Ball("wall"), Plane("floor")), below, points=(Point("wall", GROUND),)))
    with pytest.raises(ModelError, match="a rest on a rigid contact or end stop is not searched for"):
        assemble(replace(falling(rigid, {}), initialisation="equilibrium"))


def test_a_compliant_rest_is_an_equilibrium():
    contact = Contact("bounce", Ball("middle", 0.1), Plane("floor"), "hunt_crossley", {"stiffness": 1e6})
    scenario = falling(contact, {"height.position": 0.0999}, gravity=GRAVITY)
    run = simulate(replace(scenario, initialisation="equilibrium"))
    assert run["bounce.gap"].values[0] == pytest.approx(-((GRAVITY / 1e6) ** (2 / 3)), rel=1e-6)


def test_a_rest_on_a_rigid_contact_is_refused_by_its_name():
    with pytest.raises(ModelError, match=r"contacts\.bounce: a rest on a rigid contact or end stop is not"):
        find_equilibrium(assemble(bouncing_ball()))


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


def test_what_has_one_freedom_rebounds_with_its_restitution_however_rough_the_floor_is():
    # Its slip is a multiple of its speed along the normal: with that stopped, what is left of the slip is rounding, and
    # friction has no direction.
    bar = Body("bar", 2.7, com=(0.11, -0.03, -0.04), inertia=(0.004, 0.003, 0.004))
    joint = Joint("hinge", "revolute", GROUND, "bar", origin=(0.2, 0.18, -0.03), axis=(0.75, -0.25, 0.61))
    points = (Point("tip", "bar", (0.18, 0.26, -0.27)), Point("floor", GROUND, (0.36, 0.51, -0.3)))
    rough = {"friction": "dry_friction", "friction_parameters": {"coefficient": 0.84}}
    touch = RigidContact("touch", Ball("tip", 0.02), Plane("floor", (-0.13, -0.17, 0.98)), restitution=0.8, **rough)
    machine = Machine("bar", Mechanism("bar", (bar,), (joint,), points), contacts=(touch,), tunable=("bar.mass",))
    compiled = compile_system(assemble(Scenario("bar", machine, 0.25, {"hinge.position": 0.23})), SHARP)
    for mass in np.linspace(1.0, 3.0, 11):
        run = simulate(compiled, SHARP, parameters={"bar.mass": mass})
        velocity = run["hinge.velocity"].values
        for hit in (event.time for event in run.events if event.name == "touch.hits"):
            rows = np.flatnonzero(run.time == hit)
            if abs(velocity[rows[0]]) > 0.1:
                assert velocity[rows[-1]] == pytest.approx(-0.8 * velocity[rows[0]], rel=1e-9)
