"""Does what touches a height field, or slides on a plane in space, move as closed forms and other programs say?"""

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    HeightField,
    Joint,
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
from robodyn.base.symbolic import cos, sin
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.contact.geometry import look_at_height_field

GRAVITY, CURVATURE = 9.81, 0.8
SHARP = Solver("dopri5", rtol=1e-9, atol=1e-11)
# Places are not equally far from each other: parabolas are exact all the same.
GRID = (-1.0, -0.6, -0.1, 0.2, 0.7, 1.0)


def grid_of(height):
    return HeightField("floor", GRID, GRID, [[height(x, y) for y in GRID] for x in GRID])


def particle(surface, radius=0.0, gravity=(0.0, 0.0, -GRAVITY), friction=None):
    """A ball of 1 kg that does not rotate."""
    joints = (
        Joint("x", "prismatic", GROUND, "a", axis=(1, 0, 0)),
        Joint("y", "prismatic", "a", "b", axis=(0, 1, 0)),
        Joint("z", "prismatic", "b", "ball"),
    )
    points = (Point("middle", "ball"), Point("floor", GROUND))
    mechanism = Mechanism("m", (Body("a"), Body("b"), Body("ball", 1.0)), joints, points, gravity)
    rough = {"friction": "dry_friction", "friction_parameters": {"coefficient": friction}} if friction else {}
    contact = RigidContact("touch", Ball("middle", radius), surface, **rough)
    return Machine("m", mechanism, contacts=(contact,), tunable=("gravity.*",) if friction else ())


def test_a_bead_slides_in_a_parabolic_trough_as_its_own_equation_says():
    """(1 + k^2 x^2) x'' + k^2 x x'^2 + g k x = 0, and y' stays."""
    machine = particle(grid_of(lambda x, y: 0.5 * CURVATURE * x * x))
    start = {"x.position": 0.5, "y.position": -0.8, "y.velocity": 0.6, "z.position": 0.5 * CURVATURE * 0.25}
    run = simulate(Scenario("s", machine, 2.0, start, solver=SHARP))

    def rates(_, state):
        x, v = state
        return v, -(CURVATURE**2 * x * v * v + GRAVITY * CURVATURE * x) / (1 + CURVATURE**2 * x * x)

    times = np.linspace(0.0, 2.0, 41)
    exact = solve_ivp(rates, (0.0, 2.0), (0.5, 0.0), t_eval=times, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(run["x.position"](times), exact.y[0], atol=1e-7)
    np.testing.assert_allclose(run["y.position"](times), -0.8 + 0.6 * times, atol=1e-9)
    assert run.certificate.ok


def test_a_ball_in_a_bowl_touches_it_where_its_middle_is_a_radius_above_it_along_the_normal():
    radius, grown = 0.05, 0.02
    field, place = grid_of(lambda x, y: 0.5 * x * x + 0.2 * y * y), ca.SX.sym("place", 3)
    look = spell_out(ca.Function("look", [place], [*look_at_height_field(field, place, ca.SX(radius))]))
    for x, y in ((0.4, -0.3), (-0.5, 0.1), (0.05, 0.6)):
        normal = np.array((-x, -0.4 * y, 1.0)) / math.sqrt(1 + x * x + 0.16 * y * y)
        middle = (x, y, 0.5 * x * x + 0.2 * y * y) + (radius + grown) * normal
        distance, seen = look(middle)
        # Found in three approaches, each better by r times the curvature of at most 1/m; a gap is no part of them.
        assert float(distance) - radius == pytest.approx(grown, abs=grown**2 * 0.5)
        distance, seen = look(middle - grown * normal)
        assert float(distance) == pytest.approx(radius, abs=radius * 0.05**3)
        np.testing.assert_allclose(np.array(seen).ravel(), normal, atol=2 * 0.05**3)


def test_an_inclined_height_field_is_a_plane():
    slope = 0.3
    tilted = particle(grid_of(lambda x, y: slope * x), radius=0.05)
    normal = np.array((-slope, 0.0, 1.0)) / math.hypot(slope, 1.0)
    plane = replace(tilted, contacts=(RigidContact("touch", Ball("middle", 0.05), Plane("floor", tuple(normal))),))
    start = {"z.position": 0.3, "y.velocity": 0.2}
    runs = [simulate(Scenario("s", machine, 0.6, start, solver=SHARP)) for machine in (tilted, plane)]
    assert [event.name for event in runs[0].events] == [event.name for event in runs[1].events]
    for name in ("x.position", "y.position", "z.position", "touch.force.normal"):
        # A gap of 1e-11 m, rounding of its location, is pushed back by 4e-9 N.
        allowed = 5e-9 if name == "touch.force.normal" else 1e-9
        assert runs[0][name].final == pytest.approx(runs[1][name].final, abs=allowed), name


@pytest.fixture(scope="module")
def sliding():
    machine = particle(Plane("floor"), friction=0.5)
    return compile_system(assemble(Scenario("s", machine, 6.0, {"y.velocity": 1.0}, solver=SHARP)))


def test_what_slides_across_a_slope_as_steep_as_its_friction_ends_downhill_with_half_its_speed(sliding):
    """|w| + w_downhill stays what it was: both change by g sin(slope) (1 - cos) of the angle between them."""
    angle = math.atan(0.5)
    pull = {"gravity.x": GRAVITY * math.sin(angle), "gravity.z": -GRAVITY * math.cos(angle)}
    run = simulate(sliding, parameters=pull)
    total = np.hypot(run["x.velocity"].values, run["y.velocity"].values) + run["x.velocity"].values
    np.testing.assert_allclose(total, 1.0, atol=1e-6)
    assert run["x.velocity"].final == pytest.approx(0.5, abs=1e-3)
    assert run.certificate.ok


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_what_rests_in_space_slips_beyond_its_cone_in_the_direction_of_the_pull(sliding, share):
    states = tuple(replace(s, start=0.0) for s in sliding.system.states)
    still = replace(sliding, system=replace(sliding.system, states=states))
    pull = share * 0.5 * GRAVITY * np.array((math.cos(2.0), math.sin(2.0)))
    run = simulate(still, parameters={"gravity.x": pull[0], "gravity.y": pull[1]})
    moved = np.array([run["x.position"].final, run["y.position"].final])
    # Half a t^2, with what is left of the pull.
    left = max(share - 1, 0.0) * 0.5 * GRAVITY
    np.testing.assert_allclose(moved, 18 * left * pull / np.linalg.norm(pull), atol=1e-7)
    # Of the solver's tolerance of 1e-11 in each step, and what is held comes back to rest.
    assert share > 1 or (np.max(run["touch.slip"].values) < 1e-10 and np.max(np.abs(moved)) < 1e-10)


def test_a_slow_slip_that_friction_cannot_stop_follows_the_pull_as_that_turns_and_does_not_turn_to_and_fro():
    """Creeping through oil: c w = P - mu N along the pull, which turns at 1 rad/s; 0.1 mm/s is below `rest_speed`."""
    pull, oil, duration = 5.0, 1000.0, 1.5

    def pull_x(velocity, time):
        return {"force": pull * cos(time) - oil * velocity}

    def pull_y(velocity, time):
        return {"force": pull * sin(time) - oil * velocity}

    blocks = Block("ahead", pull_x, on="x"), Block("aside", pull_y, on="y")
    machine = replace(particle(Plane("floor"), friction=0.5), blocks=blocks, tunable=())
    run = simulate(Scenario("s", machine, duration, solver=Solver("dopri5", rtol=1e-6, atol=1e-9)))
    speed = (pull - 0.5 * GRAVITY) / oil
    way = run["x.position"].final / speed, run["y.position"].final / speed
    # Its direction is up to 14 degrees off, half of that in the mean.
    assert math.dist(way, (math.sin(duration), 1 - math.cos(duration))) < 0.5 * math.sin(math.radians(14.1)) * duration
    # A pull off by d turns the slip by d / (1 - mu N / P + |w| / rest_speed), 8.7 d: 8.7 times 86 over 14 degrees.
    assert sum(event.name == "touch.stops" for event in run.events) < 70
    assert run.certificate.ok


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": (0.0, 0.0, 1.0)}, "x: must be two or more increasing numbers"),
        ({"heights": ((0.0, 1.0),)}, "heights: must be 6 rows of 6 finite numbers"),
        ({"heights": tuple((0.0,) * 5 + (math.nan,) for _ in GRID)}, "heights: must be 6 rows of 6 finite numbers"),
    ],
)
def test_a_height_field_that_is_no_grid_is_reported(change, message):
    field = {"x": GRID, "y": GRID, "heights": tuple((0.0,) * 6 for _ in GRID)} | change
    with pytest.raises(ModelError, match=message):
        HeightField("floor", **field)
