"""Do wheels roll without slipping as closed forms say: a coin, a disc down a slope, a differential drive?"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    Joint,
    Load,
    Machine,
    Mechanism,
    ModelError,
    Point,
    Recording,
    Scenario,
    Solver,
    Wheel,
    assemble,
    simulate,
)

PRECISE = Solver("dopri5", rtol=1e-10, atol=1e-12)
RADIUS, MASS = 0.1, 2.0
DISC = Body("disc", MASS, inertia=(MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2, MASS * RADIUS**2 / 4, 0, 0, 0))
METHODS = ["baumgarte", "projection"]


def rolling_disc(initial, method="baumgarte", gravity=(0.0, 0.0, -9.81), duration=2.0):
    mechanism = Mechanism("coin", [DISC], [Joint("base", "free", GROUND, "disc")], [Point("hub", "disc")], gravity)
    machine = Machine("coin", mechanism, constraints=[Wheel("tread", "hub", RADIUS)])
    start = {"base.z.position": RADIUS, **initial}
    return Scenario("coin", machine, duration, start, solver=PRECISE, constraint_method=ConstraintMethod(method))


@pytest.mark.parametrize("method", METHODS)
def test_a_disc_rolls_down_a_slope_with_two_thirds_of_the_fall(method, proof):
    """a = 2/3 g sin(alpha): the moment of inertia about the rim is 3/2 m r^2. Its axis is y, it rolls along x."""
    fall = 9.81 * np.sin(0.3)
    run = simulate(rolling_disc({}, method, gravity=(fall, 0.0, -9.81 * np.cos(0.3)), duration=1.0))
    what, way = "way of a disc that rolls down a slope", run["base.x.position"].values[-1]
    exact = 0.5 * 2 / 3 * fall
    proof(what, kind="closed form", source="a = 2/3 g sin", ours=way, reference=exact, within=1e-9, relative=True)
    assert run["base.angular_velocity.y"].values[-1] == pytest.approx(2 / 3 * fall / RADIUS, rel=1e-9)
    assert run["tread.force.along"].values[-1] == pytest.approx(-MASS * fall / 3, rel=1e-9)
    assert run["tread.force.normal"].values[-1] == pytest.approx(MASS * 9.81 * np.cos(0.3), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_coin_that_leans_rolls_in_its_steady_circle(method, proof):
    """Leaning by b inwards, its centre on a circle of radius R with the rate w: g tan(b) = w^2 (3/2 R + 1/4 r sin(b)).

    Of a thin disc with I = m r^2 / 2 about its axis, from dH/dt about the centre; it rolls with the spin
    s = w (R / r + sin(b)) beside w.
    """
    lean, yaw = 0.2, 3.0
    circle = (9.81 * np.tan(lean) / yaw**2 - 0.25 * RADIUS * np.sin(lean)) / 1.5
    axis, down = np.array([0.0, np.cos(lean), -np.sin(lean)]), -np.array([0.0, np.sin(lean), np.cos(lean)])
    omega = yaw * np.array([0.0, 0.0, 1.0]) + yaw * (circle / RADIUS + np.sin(lean)) * axis
    start = {
        "base.orientation.w": np.cos(lean / 2),
        "base.orientation.x": -np.sin(lean / 2),
        "base.z.position": RADIUS * np.cos(lean),
    }
    own = Rotation.from_rotvec([-lean, 0, 0]).inv().apply(omega)
    start |= {f"base.angular_velocity.{n}": float(w) for n, w in zip("xyz", own, strict=True)}
    start |= {f"base.{n}.velocity": float(u) for n, u in zip("xyz", -np.cross(omega, RADIUS * down), strict=True)}
    run = simulate(rolling_disc(start, method, duration=2 * np.pi / yaw))
    assert run.outcome.ok
    heights = run["base.z.position"].values
    assert np.ptp(heights) < 1e-7 * RADIUS
    what, source = "circle of a leaning coin that rolls", "g tan(b) = w^2 (3/2 R + 1/4 r sin(b))"
    ours = np.ptp(run["base.y.position"].values)
    proof(what, kind="closed form", source=source, ours=ours, reference=2 * circle, within=1e-4, relative=True)
    assert run["base.x.position"].values[-1] == pytest.approx(0.0, abs=1e-7)


def drive(left, right):
    """Two driven wheels on one axle, a body that slides on its caster without friction; planar base."""
    wheel = (0.0001, 0.0002, 0.0001, 0, 0, 0)
    bodies = [Body("deck", 4.0, inertia=(0.05, 0.05, 0.08, 0, 0, 0)), *(Body(n, 0.2, inertia=wheel) for n in "lr")]
    joints = [Joint("base", "planar", GROUND, "deck", origin=(0, 0, 0.05))]
    joints += [
        Joint(f"{n}_axle", "revolute", "deck", n, origin=(0, y, 0), axis=(0, 1, 0))
        for n, y in (("l", 0.15), ("r", -0.15))
    ]
    points = [Point("l_hub", "l"), Point("r_hub", "r"), Point("nose", "deck", (0.2, 0, 0))]
    machine = Machine(
        "drive",
        Mechanism("drive", bodies, joints, points),
        blocks=[
            Block(f"{n}_motor", lambda torque: {"torque": torque}, on=f"{n}_axle", inputs={"torque": torque})
            for n, torque in (("l", left), ("r", right))
        ],
        constraints=[Wheel(f"{n}_tread", f"{n}_hub", 0.05) for n in "lr"],
    )
    return Scenario("drive", machine, 2.0, solver=PRECISE)


def test_a_differential_drive_follows_its_closed_form():
    """v = r (wl + wr) / 2, yaw = r (wr - wl) / b; with equal torques it goes straight, with opposite ones it turns."""
    ahead, turning = simulate(drive(0.1, 0.1)), simulate(drive(-0.1, 0.1))
    effective = 4.0 + 2 * 0.2 + 2 * 0.0002 / 0.05**2
    assert ahead["base.x.position"].values[-1] == pytest.approx(0.5 * (0.2 / 0.05) / effective * 4.0, rel=1e-8)
    assert abs(ahead["base.angle.position"].values[-1]) < 1e-12
    inertia = 0.08 + 2 * (0.0001 + 0.2 * 0.15**2 + 0.0002 * 0.15**2 / 0.05**2)
    assert turning["base.angle.position"].values[-1] == pytest.approx(
        0.5 * (2 * 0.1 / 0.05 * 0.15) / inertia * 4.0, rel=1e-8
    )
    assert np.hypot(turning["base.x.position"].values[-1], turning["base.y.position"].values[-1]) < 1e-12


def test_the_forces_of_wheels_reach_the_axles():
    """An axle pushes its wheel with what the tread does not give for the wheel's own acceleration."""
    run = simulate(drive(0.1, 0.1).replaced(recording=Recording(signals=["*", "*.reaction.*"])))
    angle = run["l_axle.position"].values[-1]
    own = [run[f"l_axle.reaction.force.{axis}"].values[-1] for axis in "xyz"]
    # In the wheel's axes, which have turned about y.
    ahead = own[0] * np.cos(angle) + own[2] * np.sin(angle)
    needed = 0.2 * run["base.x.acceleration"].values[-1] - run["l_tread.force.along"].values[-1]
    assert ahead == pytest.approx(needed, rel=1e-9)


def test_what_wheels_cannot_do_is_refused():
    scenario = rolling_disc({})
    for method in ("minimal", "index3"):
        with pytest.raises(ModelError, match=r"wheels roll by velocities|index3"):
            simulate(rolling_disc({}, method))
    flat = {"base.orientation.w": np.sqrt(0.5), "base.orientation.x": np.sqrt(0.5)}
    with pytest.raises(ModelError, match="lies flat"):
        simulate(rolling_disc(flat))
    with pytest.raises(ModelError, match="there is no point 'hob'"):
        Machine("coin", scenario.machine.mechanism, constraints=[Wheel("tread", "hob", RADIUS)])


@pytest.mark.parametrize(("height", "side"), [(0.5, "0.4 m above"), (-0.3, "0.4 m below")])
def test_a_wheel_without_a_ground_is_named(height, side):
    scenario = rolling_disc({"base.z.position": height})
    with pytest.raises(ModelError, match=rf"constraints.tread: has no ground: .* {side} its plane \(start it there"):
        assemble(scenario)


def test_a_wheel_whose_start_is_looked_for_is_put_on_its_plane():
    run = simulate(rolling_disc({}, duration=0.01).replaced(initial={}, initialisation="assembled"))
    assert run["base.z.position"].values == pytest.approx(RADIUS, rel=1e-9)


def test_a_wheel_that_is_pushed_sideways_does_not_slip():
    base = drive(0.0, 0.0)
    machine = base.machine.replaced(loads=[Load("push", "nose", force=(0.0, 5.0, 0.0))])
    run = simulate(base.replaced(machine=machine, duration=0.5))
    slip = run["base.y.velocity"].values * np.cos(run["base.angle.position"].values)
    slip -= run["base.x.velocity"].values * np.sin(run["base.angle.position"].values)
    assert np.max(np.abs(slip)) < 1e-9
    assert run["base.angle.position"].values[-1] > 0.1
