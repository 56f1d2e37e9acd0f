"""Bodies on ball, free and screw joints against closed forms.

Tumbling: L. D. Landau, E. M. Lifshitz, Mechanics, section 37. Top: H. Goldstein, Classical Mechanics, section 5.7.
"""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

from robodyn import GROUND, Block, Body, Joint, Machine, Mechanism, Point, Scenario, Solver, simulate
from robodyn.base.spatial import from_quaternion
from robodyn.computation.assembly import assemble
from robodyn.computation.dynamics import geometric_jacobian, link_poses

SOLVER = Solver("dopri5", rtol=1e-11, atol=1e-12)
FLIPS = 100
assert_close = partial(np.testing.assert_allclose, rtol=0)
"""Errors of some 1e4 steps add up: absolute tolerances are about 100 times that of one step."""


def scenario(bodies, joints, initial, duration, gravity=(0.0, 0.0, 0.0), points=(), blocks=()):
    mechanism = Mechanism("m", bodies, joints, points, gravity)
    return Scenario("s", Machine("m", mechanism, blocks), duration, initial, solver=SOLVER)


def named(quantity, values, parts="xyz"):
    return {f"{quantity}.{part}": float(value) for part, value in zip(parts, values, strict=True)}


def read(run, quantity, parts="xyz"):
    return np.array([run[f"{quantity}.{part}"].values for part in parts])


def test_a_body_tumbles_about_its_intermediate_axis_by_elliptic_functions(proof):
    inertia, start = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
    # Almost about the intermediate axis when it passes: the modulus is near 1, a flip is much shorter than the rest.
    start[0] = 1.7
    twice_energy, momentum = inertia @ start**2, inertia * start
    square = momentum @ momentum
    A, B, C = inertia
    wide, high = twice_energy * C - square, square - twice_energy * A
    rate, m = np.sqrt((C - B) * high / (A * B * C)), (B - A) * wide / ((C - B) * high)
    assert 0.9 < m < 1.0
    duration = FLIPS * 2 * ellipk(m) / rate
    joints = [Joint("base", "free", GROUND, "body")]
    quaternion = np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5])
    initial = named("base.angular_velocity", start) | named("base.orientation", quaternion, "wxyz")
    run = simulate(scenario([Body("body", 1.0, inertia=tuple(inertia))], joints, initial, duration))

    sn, cn, dn, _ = ellipj(rate * run.time, m)
    exact = np.sqrt([wide / (A * (C - A)), wide / (B * (C - B)), high / (C * (C - A))])[:, None] * [cn, sn, dn]
    omega = read(run, "base.angular_velocity")
    what, source = "angular velocity of a body that flips over 100 times", "Landau, Lifshitz, Mechanics, section 37"
    proof(what, kind="closed form", source=source, ours=omega, reference=exact, within=1e-9, unit="rad/s")
    assert np.sum(np.diff(np.sign(omega[0])) != 0) == FLIPS
    turned = Rotation.from_quat(read(run, "base.orientation", "wxyz").T, scalar_first=True)
    world = turned.apply((inertia[:, None] * omega).T)
    assert_close(world, np.broadcast_to(from_quaternion(*quaternion) @ momentum, world.shape), atol=1e-10)
    assert run.statistics.energy_error < 1e-10


MASS, LEVER, ACROSS, ALONG, G = 0.5, 0.1, 0.002, 0.0012, 9.81
"""Of a top: its inertias are those about its centre of mass."""
PIVOT = ACROSS + MASS * LEVER**2


def top(tilt, omega, duration):
    """A top on a ball joint, its axis tilted about x."""
    body = Body("top", MASS, (0, 0, LEVER), (ACROSS, ACROSS, ALONG))
    initial = named("tip.orientation", [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0], "wxyz")
    initial |= named("tip.angular_velocity", omega)
    point = Point("centre", "top", (0, 0, LEVER))
    return simulate(
        scenario([body], [Joint("tip", "ball", GROUND, "top")], initial, duration, (0, 0, -G), [point]),
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_a_top_precesses_steadily_at_the_slow_and_the_fast_rate(sign, proof):
    tilt, spin = 0.6, 150.0
    # A cos(tilt) Omega^2 - C spin Omega + m g l = 0
    root = np.sqrt((ALONG * spin) ** 2 - 4 * PIVOT * MASS * G * LEVER * np.cos(tilt))
    rate = (ALONG * spin + sign * root) / (2 * PIVOT * np.cos(tilt))
    run = top(tilt, [0.0, rate * np.sin(tilt), spin], 3.0)
    x, y, z = read(run, "centre.position")
    angle = rate * run.time
    assert_close(z, LEVER * np.cos(tilt), atol=1e-10)
    exact = LEVER * np.sin(tilt) * np.array([np.sin(angle), -np.cos(angle)])
    what, source = "steady precession of a top, slow and fast", "Goldstein, Classical Mechanics, section 5.7"
    proof(what, kind="closed form", source=source, ours=[x, y], reference=exact, within=1e-9, unit="m")


def test_a_top_let_go_nutates_between_its_bounds_by_elliptic_functions(proof):
    tilt, spin = 0.8, 80.0
    # u = cos(tilt): u_dot^2 = (u_0 - u) (beta (1 - u^2) - a^2 (u_0 - u)), a cubic with the roots low < u_0 < 1 < far.
    a, beta, u = ALONG * spin / PIVOT, 2 * MASS * G * LEVER / PIVOT, np.cos(tilt)
    far, low = np.roots([beta, -(a**2), a**2 * u - beta])
    m = (u - low) / (far - low)
    run = top(tilt, [0.0, 0.0, spin], 5.0)
    phase = ellipk(m) + np.sqrt(beta * (far - low)) / 2 * run.time
    sn, *_ = ellipj(phase, m)
    height = run["centre.position.z"].values / LEVER
    what, source = "nutation of a top that is let go (cosine of its tilt)", "elliptic functions; Goldstein, section 5.7"
    proof(what, kind="closed form", source=source, ours=height, reference=low + (u - low) * sn**2, within=1e-8)
    assert phase[-1] > 18 * ellipk(m), "several nutations"


def test_a_free_floating_base_reacts_to_its_arm_as_the_momentum_says(proof):
    """db/dq = -(I_1 + mu b^2 + mu a b cos q) / (I_0 + I_1 + mu (a^2 + b^2 + 2 a b cos q)), mu = m_0 m_1 / m."""
    (m0, I0, a), (m1, I1, b) = (5.0, 0.3, 0.4), (2.0, 0.05, 0.6)
    bodies = [Body("hull", m0, (-a, 0, 0), (1, 1, I0)), Body("arm", m1, (b, 0, 0), (1, 1, I1))]
    joints = [Joint("base", "free", GROUND, "hull"), Joint("elbow", "revolute", "hull", "arm")]
    torque = _push("elbow", 0.4, 1.3)
    points = [Point("hull_centre", "hull", (-a, 0, 0)), Point("arm_centre", "arm", (b, 0, 0))]
    run = simulate(scenario(bodies, joints, {}, 6.0, points=points, blocks=torque))
    q = run["elbow.position"].values
    assert np.ptp(q) > 1.0
    mu = m0 * m1 / (m0 + m1)

    def slope(q):
        return -(I1 + mu * (b * b + a * b * np.cos(q))) / (I0 + I1 + mu * (a * a + b * b + 2 * a * b * np.cos(q)))

    w, z = read(run, "base.orientation", "wz")
    turned = 2 * np.unwrap(np.arctan2(z, w))
    exact = [quad(slope, q[0], end, epsabs=1e-13)[0] for end in q]
    what, source = "turn of a free-floating base by its arm", "conservation of angular momentum, by quadrature"
    proof(what, kind="closed form", source=source, ours=turned, reference=exact, within=1e-9, unit="rad")
    centre = (m0 * read(run, "hull_centre.position") + m1 * read(run, "arm_centre.position")) / (m0 + m1)
    assert_close(centre - centre[:, :1], 0.0, atol=1e-10)


def _push(joint, torque, frequency):
    wave = Block("wave", "sine_reference", parameters={"amplitude": torque, "frequency": frequency}, unit="N m")
    return [wave, Block("drive", "torque_source", joint, {"command": "wave.value"})]


def test_a_free_floating_two_link_arm_keeps_its_momenta():
    bodies = [
        Body("hull", 4.0, (0.1, 0, 0.05), (0.3, 0.4, 0.5)),
        *(Body(n, 1.5, (0, 0, 0.3), (0.05, 0.06, 0.01)) for n in "ab"),
    ]
    joints = [
        Joint("base", "free", GROUND, "hull"),
        Joint("shoulder", "revolute", "hull", "a", (0.3, 0, 0), axis=(0, 1, 0)),
        Joint("elbow", "revolute", "a", "b", (0, 0, 0.6), axis=(1, 0, 0)),
    ]
    initial = {"base.x.velocity": 0.3, "elbow.velocity": 2.0} | named("base.angular_velocity", [0.4, -0.7, 0.2])
    case = scenario(bodies, joints, initial, 5.0, blocks=_push("shoulder", 2.0, 2.0))
    system, run = assemble(case), simulate(case)
    tree = system.motion.mechanics.tree
    columns = np.array([run[state.name].values for state in system.states[: system.n_q + system.n_v]]).T
    found = np.array([_momenta(tree, x[: system.n_q], x[system.n_q :]) for x in columns[:: len(columns) // 50]])
    assert np.ptp(run["shoulder.position"].values) > 0.3
    assert_close(found, np.broadcast_to(found[0], found.shape), atol=1e-9)


def _momenta(tree, q, v):
    """Linear, and angular about the world's origin."""
    linear, angular = np.zeros(3), np.zeros(3)
    for k, (link, pose) in enumerate(zip(tree.links, link_poses(tree, q), strict=True)):
        J = geometric_jacobian(tree, q, k, link.inertia.com)
        omega, speed = np.split(np.asarray(J @ v, float), 2)
        centre = pose.apply(link.inertia.com)
        linear += link.inertia.mass * speed
        angular += np.cross(centre, link.inertia.mass * speed) + pose.R @ link.inertia.tensor @ pose.R.T @ omega
    return *linear, *angular


def test_a_nut_runs_down_its_screw_as_the_pitch_says():
    """(I + m r^2 + rotor + m p^2) a = -m g p, upright, with the centre of mass r off the axis."""
    mass, inertia, off, pitch, rotor = 2.0, 0.01, 0.07, 0.05, 0.004
    joint = Joint("screw", "screw", GROUND, "nut", pitch=pitch, armature=rotor)
    nut, point = Body("nut", mass, (off, 0, 0), (0.1, 0.1, inertia)), Point("centre", "nut", (off, 0, 0))
    run = simulate(scenario([nut], [joint], {"screw.velocity": 3.0}, 2.0, (0, 0, -G), [point]))
    exact = -mass * G * pitch / (inertia + mass * off**2 + rotor + mass * pitch**2)
    angle = 3.0 * run.time + exact * run.time**2 / 2
    assert_close(run["screw.position"].values, angle, atol=1e-10)
    assert_close(read(run, "centre.position"), [off * np.cos(angle), off * np.sin(angle), pitch * angle], atol=1e-9)
