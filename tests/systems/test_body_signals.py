"""Signals of bodies: do they agree with the poses of the links, and each with the rate of the one before?"""

import numpy as np
import pytest

from robodyn import GROUND, Body, Joint, Machine, Mechanism, ModelError, Point, Recording, Scenario, Solver, simulate
from robodyn.base.spatial import from_quaternion, from_rpy
from robodyn.description.model import Block
from robodyn.description.structures import Reduction, Section, beam

WORDS = ("orientation", "angular_velocity", "angular_acceleration")
STEP = 5e-4


def machine(**fields):
    """A floating base with an arm that has a universal, a screw and a ball joint, and a fixed tool."""
    bodies = [Body(name, 1.0, (0.1, 0.05, -0.1), (0.1, 0.2, 0.25)) for name in ("hull", "fork", "nut", "bob", "tool")]
    turned = from_rpy(0.4, -0.7, 3.0)
    joints = [
        Joint("base", "free", GROUND, "hull", rotation=turned),
        Joint("cross", "universal", "hull", "fork", (0.2, 0, 0), axis=(1, 0, 0), second_axis=(0, 1, 0)),
        Joint("screw", "screw", "fork", "nut", axis=(0, 0, 1), pitch=0.02, rotation=turned.T),
        Joint("socket", "ball", "nut", "bob", (0, 0.2, 0)),
        Joint("flange", "fixed", "bob", "tool", (0, 0, 0.1), rotation=from_rpy(np.pi, 0, 0)),
    ]
    points = [
        Point(f"{body.name}_{axis}", body.name, tuple(e))
        for body in bodies
        for axis, e in zip("oxyz", [(0, 0, 0), *np.eye(3)], strict=True)
    ]
    return Machine("m", Mechanism("m", bodies, joints, points), **fields)


START = {
    "base.orientation": (0.1, 0.2, 0.3),
    "base.angular_velocity": (1, -2, 0.5),
    "cross.first.velocity": 7.0,
    "screw.velocity": 20.0,
    "socket.angular_velocity": (3, 1, -2),
}
EVERYTHING = ("*", *(f"*.{word}.*" for word in WORDS))


@pytest.fixture(scope="module")
def run():
    recording = Recording(times=tuple(STEP * np.arange(1001)), signals=EVERYTHING)
    return simulate(
        Scenario("s", machine(), 1.0, START, recording=recording, solver=Solver("dopri5", rtol=1e-10, atol=1e-11))
    )


def read(run, quantity, parts="xyz"):
    return np.array([run[f"{quantity}.{part}"].values for part in parts]).T


BODIES = ["hull", "fork", "nut", "bob", "tool"]


@pytest.mark.parametrize("body", BODIES)
def test_orientations_place_the_points_of_a_body(run, body):
    quaternions = read(run, f"{body}.orientation", "wxyz")
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-14)
    origin = read(run, f"{body}_o.position")
    axes = np.stack([read(run, f"{body}_{axis}.position") - origin for axis in "xyz"], axis=2)
    np.testing.assert_allclose([from_quaternion(*q) for q in quaternions], axes, atol=1e-13)


@pytest.mark.parametrize("body", BODIES)
def test_orientations_are_continuous_and_turn_with_the_angular_velocity(run, body):
    q, omega = read(run, f"{body}.orientation", "wxyz"), read(run, f"{body}.angular_velocity")
    w, v = q[:, :1], q[:, 1:]
    exact = 0.5 * np.hstack([-np.sum(v * omega, axis=1, keepdims=True), w * omega + np.cross(v, omega)])
    scale = np.max(np.abs(omega))
    np.testing.assert_allclose(differences(q), exact[2:-2], atol=1e-9 * scale**5)


@pytest.mark.parametrize("body", BODIES)
def test_angular_accelerations_are_the_rates_of_angular_velocities(run, body):
    omega, alpha = read(run, f"{body}.angular_velocity"), read(run, f"{body}.angular_acceleration")
    np.testing.assert_allclose(differences(omega), alpha[2:-2], atol=1e-6 * np.max(np.abs(alpha)))


def differences(column):
    """Rates by differences of fourth order."""
    return (8 * (column[3:-1] - column[1:-3]) - (column[4:] - column[:-4])) / (12 * STEP)


def test_bodies_that_bend_and_bodies_on_the_ground_have_them_too():
    boom = beam("boom", 1.0, Section.tube(0.02, 0.002, 70e9, 26e9, 2700.0), Reduction((), modes=2), elements=3)
    bodies = [boom, Body("tip", 0.5, inertia=(0.01, 0.01, 0.01)), Body("wall")]
    joints = [
        Joint("wall_mount", "fixed", GROUND, "wall", rotation=from_rpy(0, 0, 1)),
        Joint("hinge", "revolute", "wall", "boom", axis=(0, 1, 0)),
        Joint("knuckle", "fixed", "boom", "tip", node="tip"),
    ]
    points = [Point("tip_o", "tip"), Point("tip_x", "tip", (1, 0, 0))]
    case = Scenario("s", Machine("m", Mechanism("m", bodies, joints, points)), 0.1, {"hinge.velocity": 3.0})
    run = simulate(case, recording=Recording(signals=EVERYTHING))
    along = read(run, "tip_x.position") - read(run, "tip_o.position")
    turned = np.array([from_quaternion(*q)[:, 0] for q in read(run, "tip.orientation", "wxyz")])
    np.testing.assert_allclose(turned, along, atol=1e-12)
    np.testing.assert_allclose(read(run, "wall.orientation", "wz")[-1], [np.cos(0.5), np.sin(0.5)], atol=1e-14)
    assert not read(run, "wall.angular_velocity").any()


def test_they_are_traced_only_where_they_are_asked_for():
    plain = simulate(Scenario("s", machine(), 0.01, START))
    assert "hull.angular_velocity.x" not in plain
    gyro = Block(
        "gyro", "amplifier", inputs={"value": "tool.angular_velocity.y"}, parameters={"gain": 2.0}, unit="rad/s"
    )
    read_there = simulate(Scenario("s", machine(blocks=[gyro]), 0.01, START))
    assert read_there["gyro.output"].final == 2 * read_there["tool.angular_velocity.y"].final
    assert "tool.orientation.w" not in read_there
    with pytest.raises(ModelError, match="matches no signal"):
        simulate(Scenario("s", machine(), 0.01, START), recording=Recording(signals=("nobody.orientation.w",)))
