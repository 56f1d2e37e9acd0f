"""Do tyres push as their formula says, and do wheels on them roll, brake and corner as it follows from that?"""

import math

import numpy as np
import pytest

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
    RigidContact,
    Rim,
    Scenario,
    Solver,
    read_scenario,
    simulate,
)
from robodyn.description.laws.contact import tyre

GRAVITY, RADIUS, MASS = 9.81, 0.3, 20.0
TYRE = {"coefficient": 1.0, "lateral_coefficient": 0.9, "stiffness": 19.0, "lateral_stiffness": 12.0, "low_speed": 1e-3}
SHAPE, CURVATURE = 1.9, 0.97


def published(slip, stiffness, peak):
    """`D sin(C atan(B s - E (B s - atan(B s))))` with `B C D` the slope, as it is printed."""
    B = stiffness / (SHAPE * peak)
    return peak * math.sin(SHAPE * math.atan(B * slip - CURVATURE * (B * slip - math.atan(B * slip))))


def test_each_slip_alone_has_the_published_formula():
    for slip in (-0.8, -0.05, 1e-6, 0.02, 0.11, 0.4, 3.0):
        along = tyre(20.0 * slip, 0.0, 500.0, 20.0, **TYRE)
        across = tyre(0.0, 20.0 * slip, 500.0, -20.0, **TYRE)
        assert along["force1"] == pytest.approx(-500 * published(slip, 19.0, 1.0), rel=1e-7)
        assert across["force2"] == pytest.approx(-500 * published(slip, 12.0, 0.9), rel=1e-7)
        assert along["force2"] == across["force1"] == 0


def test_both_slips_together_stay_in_the_ellipse_and_take_energy():
    generator = np.random.default_rng(3)
    w1, w2, travel = generator.normal(0.0, 3.0, (3, 1000))
    force = tyre(w1, w2, 1.0, travel, **TYRE | {"low_speed": 0.1})
    inside = force["force1"] ** 2 + (force["force2"] / 0.9) ** 2
    assert np.max(inside) <= 1 + 1e-12
    assert np.max(inside) > 0.99
    assert np.all(force["force1"] * w1 + force["force2"] * w2 <= 0)


def turned(angle):
    """About z."""
    c, s = math.cos(angle), math.sin(angle)
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


def wheel(steering=0.0, blocks=(), **changes):
    """A wheel that carries 20 kg, steered by an angle, on a slide along x; it moves up and down and spins."""
    bodies = (Body("carriage", MASS - 3.0), Body("fork", 1.0), Body("wheel", 2.0, inertia=(0.05, 0.09, 0.05)))
    joints = (
        Joint("along", "prismatic", GROUND, "carriage", axis=(1, 0, 0)),
        Joint("up", "prismatic", "carriage", "fork", (0, 0, RADIUS)),
        Joint("spin", "revolute", "fork", "wheel", rotation=turned(steering), axis=(0, 1, 0)),
    )
    points = (Point("hub", "wheel"), Point("road", GROUND))
    own = {"friction": "tyre", "friction_parameters": TYRE} | changes
    tread = RigidContact("tread", Rim("hub", RADIUS), Plane("road"), **own)
    return Machine("wheel", Mechanism("wheel", bodies, joints, points), blocks, contacts=(tread,))


def run_from(machine, speed, spin, duration=0.5):
    start = {"along.velocity": speed, "spin.velocity": spin}
    solver = Solver("rodas4", rtol=1e-7, atol=1e-9)
    return simulate(Scenario("wheel", machine, duration, start, solver=solver))


def test_a_wheel_that_rolls_freely_at_an_angle_is_pushed_across_by_the_formula():
    angle = 0.06
    run = run_from(wheel(angle), 15.0, 15.0 * math.cos(angle) / RADIUS)
    force = np.array([run[f"tread.force.{axis}"].final for axis in "xyz"])
    # The carriage carries the wheel alone of what moves up and down.
    weight = 3.0 * GRAVITY
    assert force[2] == pytest.approx(weight, rel=1e-9)
    across = np.array((-math.sin(angle), math.cos(angle), 0.0))
    # The way slips to the right of the wheel by the tangent of the angle, and the road pushes to the left. The wheel
    # slows down with the carriage: what turns it is a ten-thousandth of that force.
    assert force @ across == pytest.approx(weight * published(math.tan(angle), 12.0, 0.9), rel=1e-4)
    assert run.certificate.ok


def test_a_driven_wheel_slips_as_much_as_its_pull_needs():
    """A torque T in a steady state with the drag F = T / r: the slip has the force of the formula."""
    pull, speed = 18.0, 8.0

    def drive(time):
        return {"torque": pull * RADIUS + 0 * time}

    def drag(time):
        return {"force": -pull + 0 * time}

    blocks = (Block("drive", drive, on="spin"), Block("drag", drag, on="along"))
    run = run_from(wheel(blocks=blocks), speed, speed / RADIUS, duration=0.8)
    slip = (RADIUS * run["spin.velocity"].final - run["along.velocity"].final) / run["along.velocity"].final
    assert 3.0 * GRAVITY * published(slip, 19.0, 1.0) == pytest.approx(pull, rel=1e-6)
    assert slip > 0.02


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: RigidContact("tread", Ball("hub", 0.3), Plane("road"), friction="tyre", friction_parameters=TYRE),
            "friction: the law is for a rolling wheel: it takes its travel",
        ),
        (
            lambda: RigidContact("tread", Rim("hub", 0.3), Box("road", (1, 1, 1))),
            "against: is a box: a rim touches planes only",
        ),
        (
            lambda: wheel(friction_parameters=TYRE | {"shape": 2.4}),
            "friction_parameters.shape: must be below 2, is 2.4",
        ),
    ],
)
def test_what_a_tyre_cannot_be_is_reported(make, message):
    with pytest.raises(ModelError, match=message):
        make()


RIM = 'touching = { rim = "hub", radius = 0.3 }'


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (f"[contacts.tread]\n{RIM}\nrestitution = 0", r"contacts\.tread\.against: is missing"),
        (
            f'[contacts.tread]\n{RIM}\nagainst = {{ plane = "road" }}\nrestitution = 0',
            r"against.*: there is no .*'road'",
        ),
        ('[constraints]\ntread = { wheel = "hub" }', r"constraints\.tread\.radius: is missing"),
    ],
)
def test_a_wheel_without_a_ground_is_reported_where_it_stands(tmp_path, part, message):
    path = tmp_path / "wheel.toml"
    path.write_text(
        'name = "wheel"\nduration = 1\n[bodies.wheel]\nmass = 1\ninertia = [1, 1, 1]\n'
        '[joints.base]\nkind = "free"\nparent = "ground"\nchild = "wheel"\n[points]\nhub = { body = "wheel" }\n' + part
    )
    with pytest.raises(ModelError, match=message):
        read_scenario(path)
