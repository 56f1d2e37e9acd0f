"""Rigid contacts: do bodies bounce, rest, slide and let go as the closed forms say?"""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.falling import GRAVITY, MASS, SHARP, falling

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    Box,
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
    simulate,
)
from robodyn.base.symbolic import cos, sin, where
from robodyn.computation.simulation import find_equilibrium
from robodyn.description.catalog import bouncing_ball, box_on_slope, quadruped
from robodyn.description.catalog.contacts import BRISTLES, planar_mechanism
from robodyn.description.catalog.quadruped import LEGS


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


def test_what_is_lifted_takes_no_bent_bristles_with_it():
    """A mass slides to the right and is pulled up: its bristles are bent while it rubs, and straight in the air."""
    joints = (
        Joint("along", "prismatic", GROUND, "sled", axis=(1, 0, 0)),
        Joint("up", "prismatic", "sled", "mass"),
    )
    bodies, points = (Body("sled", 1.0), Body("mass", 1.0)), (Point("foot", "mass"), Point("floor", GROUND))
    rope = Block("rope", lambda time: {"force": where(time < 0.1, 0.0, 30.0)}, "up")
    rough = {"friction": "bristle_friction", "friction_parameters": BRISTLES | {"coefficient": 0.3}}
    contact = RigidContact("rubs", Ball("foot"), Plane("floor"), **rough)
    machine = Machine("lifted", Mechanism("lifted", bodies, joints, points), (rope,), contacts=(contact,))
    run = simulate(Scenario("lifted", machine, 0.2, {"along.velocity": 1.0}))
    bent = [run[f"rubs.bristle{k}"] for k in (1, 2)]
    assert max(abs(bristle(0.09)) for bristle in bent) > 1e-6
    assert run["up.position"].final == pytest.approx(0.5 * (30.0 - GRAVITY) * 0.1**2, rel=1e-6)
    assert [bristle.final for bristle in bent] == [0, 0]


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


def test_what_cannot_be_is_told():
    below = {"height.position": 0.05}
    rigid = RigidContact("bounce", Ball("middle", 0.1), Plane("floor"))
    with pytest.raises(ModelError, match="starts inside the surface, by 0.05 m"):
        assemble(falling(rigid, below))
    with pytest.raises(ModelError, match=r"moves into the surface, with 1 m/s"):
        assemble(falling(rigid, {"height.position": 0.1, "height.velocity": -1.0}))
    with pytest.raises(ModelError, match="never move against each other"):
        assemble(falling(RigidContact("bounce", Ball("wall"), Plane("floor")), below, points=(Point("wall", GROUND),)))
    with pytest.raises(ModelError, match="an equilibrium on a rigid contact or end stop is not searched for"):
        simulate(replace(falling(rigid, {}), initialisation="at_rest"))


def test_a_rest_on_a_rigid_contact_is_refused_by_its_name():
    with pytest.raises(ModelError, match=r"(?s)contacts\.bounce: an equilibrium on a rigid contact or end stop is not"):
        find_equilibrium(assemble(bouncing_ball()))


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
    hard = 0
    for mass in np.linspace(1.0, 3.0, 11):
        run = simulate(compiled, SHARP, parameters={"bar.mass": mass})
        velocity = run["hinge.velocity"].values
        for hit in (event.time for event in run.events if event.name == "touch.hits"):
            rows = np.flatnonzero(run.time == hit)
            if abs(velocity[rows[0]]) > 0.1:
                hard += 1
                assert velocity[rows[-1]] == pytest.approx(-0.8 * velocity[rows[0]], rel=1e-9)
    assert hard >= 11


def test_a_slow_slip_close_to_an_axis_is_braked_by_friction_and_not_stopped_at_once():
    """A top that spins on a tip 0.6 mm beside its axis: 0.9 mm/s is below the speed of rest, but 1.5 rad/s."""
    radius, inertia, mu, omega = 6e-4, 0.01, 0.5, 1.5
    bodies = Body("carriage", 0.1, inertia=(1e-3,) * 3), Body("top", 1.0, inertia=(inertia,) * 3)
    lift = Joint("lift", "prismatic", GROUND, "carriage", axis=(0, 0, 1))
    spin = Joint("spin", "revolute", "carriage", "top", axis=(0, 0, 1))
    points = Point("floor", GROUND), Point("tip", "top", (radius, 0, 0))
    rough = {"friction": "dry_friction", "friction_parameters": {"coefficient": mu}}
    machine = Machine(
        "top",
        Mechanism("top", bodies, (lift, spin), points),
        contacts=(RigidContact("touch", Ball("tip", 0.01), Plane("floor"), **rough),),
    )
    run = simulate(Scenario("top", machine, 6.0, {"lift.position": 0.01, "spin.velocity": omega}, solver=SHARP))
    braking = mu * 1.1 * GRAVITY * radius / inertia
    # Its direction lags by up to 14 degrees while it is that slow: 1 - cos of the mean of that, at most.
    assert run["spin.velocity"](2.0) == pytest.approx(omega - 2 * braking, rel=5e-3)
    assert run.events[-1].time == pytest.approx(omega / braking, rel=5e-3)
    assert abs(run["spin.velocity"].final) < 1e-12
    assert run.certificate.ok


def test_a_rigid_quadruped_stands_without_slip_and_then_trots():
    run = simulate(quadruped(rigid=True, duration=0.7))
    assert run.certificate.ok
    feet = [f"{leg}_touch" for leg in LEGS]
    standing = run.time < 0.2
    for foot in feet:
        assert run[f"{foot}.slip"].values[standing].max() < 1e-9
        assert run[f"{foot}.gap"].values.min() > -1e-6
    assert sum(run[f"{foot}.force.normal"](0.19) for foot in feet) == pytest.approx(12.2 * GRAVITY, rel=0.03)
    assert {f"{foot}.parts" for foot in feet} <= {event.name for event in run.events}
    assert run.statistics.energy_error < 1e-5
