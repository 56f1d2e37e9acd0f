"""Do rigid end stops of joints rebound and hold as closed forms say, alone, in loops, with friction and contacts?"""

import math

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Ball,
    Block,
    Body,
    Joint,
    LinearConstraint,
    Machine,
    Mechanism,
    ModelError,
    Plane,
    Point,
    Recording,
    RigidContact,
    Scenario,
    Solver,
    read_scenario,
    simulate,
)
from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics

GRAVITY = 9.81
SHARP = Solver("dopri5", rtol=1e-9, atol=1e-11)
AXIS = (0.0, 1.0, 0.0)


def cart(restitution, **more):
    joint = Joint("slide", "prismatic", GROUND, "cart", lower_limit=0.0, stop_restitution=restitution, **more)
    return Machine("cart", Mechanism("cart", (Body("cart", 2.0),), (joint,)))


def arm(gravity=0.0, blocks=(), **stops):
    """Two links of 1 m; the elbow stops at 60 degrees."""
    bodies = tuple(Body(name, 1.0, (0.5, 0, 0), (0.01, 0.09, 0.09)) for name in ("upper", "lower"))
    joints = (
        Joint("shoulder", "revolute", GROUND, "upper", axis=AXIS),
        Joint("elbow", "revolute", "upper", "lower", (1.0, 0, 0), axis=AXIS, upper_limit=math.pi / 3, **stops),
    )
    return Machine("arm", Mechanism("arm", bodies, joints, gravity=(0, 0, -gravity)), blocks)


def test_a_cart_that_falls_on_its_stop_bounces_in_a_geometric_series_and_rests():
    run = simulate(Scenario("s", cart(0.8), 6.0, {"slide.position": 1.0}, solver=SHARP))
    hits = [event.time for event in run.events if event.name == "slide.lower_stop.hits"]
    fall = math.sqrt(2 / GRAVITY)
    expected = [fall * (1 + 2 * sum(0.8**k for k in range(1, n + 1))) for n in range(20)]
    np.testing.assert_allclose(hits[:20], expected, atol=1e-9)
    assert run["slide.end_stop.force"].final == pytest.approx(2.0 * GRAVITY, rel=1e-9)
    assert abs(run["slide.position"].final) < 1e-10
    assert run.certificate.ok
    assert not run.passed_limits


@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_an_impact_at_an_elbow_keeps_the_moment_about_the_shoulder_and_rebounds_by_its_restitution(restitution):
    run = simulate(Scenario("s", arm(stop_restitution=restitution), 1.0, {"elbow.velocity": 2.0}, solver=SHARP))
    (hit,) = (event.time for event in run.events if event.name == "elbow.upper_stop.hits")
    # An instant has two rows, before and after it.
    left, *_, right = np.flatnonzero(run["elbow.position"].time == hit)
    q, before, after = (
        np.array([run[f"{joint}.{what}"].values[row] for joint in ("shoulder", "elbow")])
        for what, row in (("position", left), ("velocity", left), ("velocity", right))
    )
    assert after[1] == pytest.approx(-restitution * before[1], abs=1e-9)
    # Nothing from outside acts about the shoulder: the first row of M v stays.
    M = MachineDynamics(arm()).mass_matrix(q)
    assert (M @ after)[0] == pytest.approx((M @ before)[0], abs=1e-9)
    energy = run["energy.kinetic"].values
    assert (energy[-1] == pytest.approx(energy[0], rel=1e-7)) == (restitution == 1.0)
    assert run.certificate.ok


def test_a_joint_rests_at_its_stop_while_its_friction_sticks_and_leaves_it_where_both_are_overcome():
    """Pressed on its stop by 3 N m that become -3: it leaves where the pull is more than the static friction, 1 N m."""

    def swing(time):
        return {"torque": 3.0 - 6.0 * time}

    rough = (Block("rub", "stick_friction", on="elbow", parameters={"coulomb": 1.0}), Block("pull", swing, on="elbow"))
    hold = Block("hold", "stick_friction", on="shoulder", parameters={"coulomb": 100.0})
    machine = arm(blocks=(*rough, hold), stop_restitution=0.0)
    run = simulate(Scenario("s", machine, 1.0, {"elbow.position": math.pi / 3}, solver=SHARP))
    slips = [event.time for event in run.events if event.name == "rub.slips"]
    assert slips == [pytest.approx(4 / 6, abs=1e-9)]
    moment = 0.09 + 0.25
    # J q'' = 3 - 6 t + 1 from there on.
    assert run["elbow.position"].final - math.pi / 3 == pytest.approx(-((1 / 3) ** 3) / moment, abs=1e-8)
    assert np.max(run["elbow.position"].values) < math.pi / 3 + 1e-10
    assert run.certificate.ok


def test_a_coupled_joint_is_stopped_by_the_stop_of_the_other():
    """Two carts, the second twice as fast as the first: the stop holds the weight of both along the coupling."""
    bodies = (Body("first", 1.0), Body("second", 3.0))
    joints = (
        Joint("one", "prismatic", GROUND, "first", lower_limit=-0.2, stop_restitution=0.5),
        Joint("two", "prismatic", GROUND, "second"),
    )
    coupled = LinearConstraint("belt", {"two": 1.0, "one": -2.0})
    machine = Machine("carts", Mechanism("carts", bodies, joints), constraints=(coupled,))
    run = simulate(Scenario("s", machine, 3.0, solver=SHARP))
    # (1 + 4 * 3) a = -(1 + 2 * 3) g
    first = next(event.time for event in run.events if event.name == "one.lower_stop.hits")
    assert first == pytest.approx(math.sqrt(0.4 * 13 / (7 * GRAVITY)), abs=1e-9)
    assert run["one.end_stop.force"].final == pytest.approx(7 * GRAVITY, rel=1e-6)
    assert run["two.position"].final == pytest.approx(-0.4, abs=1e-7)
    assert run.certificate.ok


def test_a_leg_at_its_stop_stands_on_rough_ground():
    """A knee held by its stop carries the trunk; all that the ground gives is the weight."""
    bodies = (Body("trunk", 4.0, inertia=(0.1, 0.1, 0.1)), Body("leg", 0.5, (0, 0, -0.1), (0.001, 0.001, 0.001)))
    joints = (
        Joint("up", "prismatic", GROUND, "trunk"),
        Joint("strut", "prismatic", "trunk", "leg", upper_limit=0.05, stop_restitution=0.0),
    )
    points = (Point("foot", "leg", (0, 0, -0.2)), Point("floor", GROUND))
    floor = RigidContact("floor_touch", Ball("foot"), Plane("floor"))
    machine = Machine("leg", Mechanism("leg", bodies, joints, points), contacts=(floor,))
    recorded = Recording(signals=("*", "strut.reaction.*"))
    run = simulate(Scenario("s", machine, 2.0, {"up.position": 0.3}, solver=SHARP, recording=recorded))
    assert run["strut.end_stop.force"].final == pytest.approx(-4 * GRAVITY, rel=1e-9)
    assert run["floor_touch.force.normal"].final == pytest.approx(4.5 * GRAVITY, rel=1e-9)
    assert run["up.position"].final == pytest.approx(0.15, abs=1e-9)
    # All that the trunk weighs goes through the joint, the stop's push along it too.
    assert run["strut.reaction.force.z"].final == pytest.approx(-4 * GRAVITY, rel=1e-6)
    assert run.certificate.ok


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lower_limit": None}, "stop_restitution: has no effect without a limit"),
        ({"stop_stiffness": 1e4}, "stop_restitution: is for rigid end stops, stop_stiffness for elastic ones"),
        ({"stop_restitution": 1.2}, "stop_restitution"),
        ({"kind": "ball", "lower_limit": None}, "stop_restitution: has no effect on a ball joint"),
    ],
)
def test_stops_that_make_no_sense_are_reported(change, message):
    fields = {"kind": "prismatic", "lower_limit": 0.0, "stop_restitution": 0.5} | change
    with pytest.raises(ModelError, match=message):
        Joint("slide", parent=GROUND, child="cart", **fields)


def test_a_start_that_moves_into_a_stop_is_reported_at_the_limit():
    with pytest.raises(ModelError, match="joints.slide.lower_limit: starts in touch and moves into the surface"):
        simulate(Scenario("s", cart(0.5), 1.0, {"slide.velocity": -1.0}))


def test_files_say_rigid_stops(tmp_path):
    path = tmp_path / "cart.toml"
    path.write_text(
        'name = "cart"\nduration = 0.1\n[bodies.cart]\nmass = 1\n[joints.slide]\nkind = "prismatic"\n'
        'parent = "ground"\nchild = "cart"\nlower_limit = "-2 mm"\nstop_restitution = 0.3\n'
    )
    (joint,) = read_scenario(path).machine.mechanism.joints
    assert joint.stop_restitution == 0.3
    assert [event.name for event in simulate(read_scenario(path)).events][:1] == ["slide.lower_stop.hits"]
