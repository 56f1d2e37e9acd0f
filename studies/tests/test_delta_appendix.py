"""The arm dynamics of the delta robot as typed in the appendix of the published study of Baumgarte's method in Modelica
(Bortoff, International Modelica Conference 2019), against those generated from the description of the robot.

Misprints of the study, each shown below where it can be:

1. the centrifugal coefficient of phi3'^2 on phi2 lacks J2 and has a length too many: half of dm33/dphi2 is right;
2. the third mass of the appendix is a third of the platform's, as in equations (6) and (10), not the m3 of table 1;
3. the appendix's loop joint has L3 - L0 where equation (9) has l0 - l3: with x2 outwards, equation (9) is right;
4. equation (1d) of its pendulum has g where its own code, and the units, have M g.

And some that no number depends on: equation (17) counts the forces of the loop joint twice, (26) differentiates H
again, (36) names the rate w1' a rate of w2, the poles at -5 belong to (29b) and not to (29a), and the listing drops
`p.` or a letter in four places.
"""

import numpy as np
import pytest

from robodyn import GROUND, Body, Joint, Machine, Mechanism, Point, Rod, Scenario, assemble, simulate
from robodyn.computation.simulation import close_constraints
from robodyn_studies.catalog.delta_parameters import AUTONOX, FITTED
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, delta_fall
from robodyn_studies.kinetics import Kinetics

ROUNDING = 1e-10
"""Sums of ten products of numbers near 1 in two orders, after a change of coordinates: 1e-15 times some hundred."""
GRAVITY = 9.81


def typed_arm(robot, phi, *, third=1 / 3, printed_coefficient=False):
    """Inertia (3, 3), coefficients of products of speeds (3, 3, 3), gravity (3,), as the appendix has them."""
    (s1, s2, s3), (c1, c2, c3) = np.sin(phi), np.cos(phi)
    l1, l2, lc1, lc2 = robot.proximal_length, robot.distal_length, robot.proximal_com, robot.distal_com
    m1, m2, m3 = robot.proximal_mass, robot.distal_mass, third * robot.platform_mass
    moment = lc2 * m2 + l2 * m3
    swing = robot.distal_inertia + m2 * lc2**2 + m3 * l2**2
    m12, m13 = l1 * moment * (c1 * c2 * c3 + s1 * s2), -l1 * moment * c1 * s2 * s3
    first = robot.proximal_inertia + lc1**2 * m1 + l1**2 * (m2 + m3)
    inertia = np.array([[first, m12, m13], [m12, swing, 0.0], [m13, 0.0, swing * s2**2]])
    centrifugal = -l2 * (lc2**2 * m2 + l2**2 * m3) if printed_coefficient else -swing
    speeds = np.zeros((3, 3, 3))
    speeds[:, 0, 0] = 0.0, l1 * moment * (c1 * s2 - c2 * c3 * s1), l1 * moment * s1 * s2 * s3
    speeds[:, 1, 1] = l1 * moment * (c2 * s1 - c1 * c3 * s2), 0.0, 0.0
    speeds[:, 2, 2] = -l1 * moment * c3 * c1 * s2, centrifugal * c2 * s2, 0.0
    speeds[:, 1, 2] = speeds[:, 2, 1] = -l1 * moment * c1 * c2 * s3, 0.0, swing * np.sin(2 * phi[1]) / 2
    weight = lc1 * m1 + l1 * (m2 + m3)
    gravity = GRAVITY * np.array([-weight * c1, -moment * c2 * c3, moment * s2 * s3])
    return inertia, speeds, gravity


def generated_arms(robot, n_samples=5):
    """Angles phi of an arm and the three coefficients there, for every arm at random positions."""
    names = [f"{arm}.{angle}" for arm in ARMS for angle in ("q1", "phi2", "phi3")]
    kinetics = Kinetics(assemble(delta_fall(robot)), names)
    generator = np.random.default_rng(4)
    for _ in range(n_samples):
        q = np.tile([0.2, 2.4, 0.0], 3) + generator.uniform(-0.5, 0.5, 9)
        found, phi = kinetics.coefficients_at(q), kinetics.map_at(q).position
        for at in (slice(0, 3), slice(3, 6), slice(6, 9)):
            yield phi[at], (found.inertial[at, at], found.velocity[at, at, at], found.gravity[at])


@pytest.fixture(scope="module", params=[FITTED, AUTONOX], ids=["fitted", "autonox"])
def arms(request):
    return request.param, list(generated_arms(request.param))


def largest_difference(arms, part, **reading):
    robot, samples = arms
    return max(np.max(np.abs(typed_arm(robot, phi, **reading)[part] - own[part])) for phi, own in samples)


@pytest.mark.parametrize("part", [0, 1, 2], ids=["inertia", "speeds", "gravity"])
def test_the_corrected_appendix_agrees_with_the_generated_dynamics_of_every_arm(arms, part):
    assert largest_difference(arms, part) < ROUNDING


def test_the_printed_centrifugal_coefficient_does_not_agree(arms):
    # It is wrong by about J2 + (1 - l2) (m lc^2 + ...), here some 0.01 kg m^2 and more.
    assert largest_difference(arms, 1, printed_coefficient=True) > 1e-3


@pytest.mark.parametrize("part", [0, 1, 2], ids=["inertia", "speeds", "gravity"])
def test_the_whole_platform_on_every_arm_does_not_agree(arms, part):
    assert largest_difference(arms, part, third=1.0) > 1e-2


def test_the_centrifugal_coefficient_is_half_the_slope_of_the_inertia(arms):
    """Christoffel's symbol of the typed inertia itself decides between the two readings of the coefficient."""
    robot, samples = arms
    step = np.array([0.0, 1e-6, 0.0])
    for phi, _ in samples:
        slope = (typed_arm(robot, phi + step)[0][2, 2] - typed_arm(robot, phi - step)[0][2, 2]) / 2e-6
        # A central difference of step 1e-6 is good to about 1e-10.
        assert typed_arm(robot, phi)[1][1, 2, 2] == pytest.approx(-slope / 2, abs=1e-9)
        assert typed_arm(robot, phi, printed_coefficient=True)[1][1, 2, 2] != pytest.approx(-slope / 2, abs=1e-3)


@pytest.mark.parametrize("robot", [FITTED, AUTONOX], ids=["fitted", "autonox"])
def test_the_loop_joint_offset_of_equation_9_makes_the_rods_as_long_as_they_are(robot):
    """Elbow at radius l0 + l1 cos(phi1), end of the rod on the platform at radius l3: they are l2 apart for l0 - l3
    alone."""

    def rod_length(offset, phi1):
        phi2 = np.arccos(-(offset + robot.proximal_length * np.cos(phi1)) / robot.distal_length)
        depth = robot.proximal_length * np.sin(phi1) + robot.distal_length * np.sin(phi2)
        elbow = robot.base_radius + robot.proximal_length * np.cos(phi1), robot.proximal_length * np.sin(phi1)
        return np.hypot(elbow[0] - robot.platform_radius, elbow[1] - depth)

    right = robot.base_radius - robot.platform_radius
    for phi1 in (-0.2, 0.0, 0.5):
        assert rod_length(right, phi1) == pytest.approx(robot.distal_length, abs=1e-12)
        assert rod_length(-right, phi1) != pytest.approx(robot.distal_length, abs=1e-2)


def test_the_generated_robot_closes_as_equation_9_says():
    """Newton from a guess 0.1 rad off, motors held: the elbow angle is that of l0 - l3, not that of L3 - L0."""
    system = assemble(delta_fall())
    guess = {state.name: state.start + 0.1 for state in system.states if state.name.endswith("q2.position")}
    closed = close_constraints(system, guess=guess, keep=[f"{motor}.position" for motor in MOTORS]).require()
    for arm in ARMS:
        elbow = closed.positions[f"{arm}.q2.position"]
        # Residuals are below 1e-9 m, the rods 0.4 m long.
        assert elbow == pytest.approx(np.arccos(-(0.154 - 0.060 + 0.282) / 0.418), abs=1e-8)
        assert elbow != pytest.approx(np.arccos(-(0.060 - 0.154 + 0.282) / 0.418), abs=0.1)


def test_the_weight_of_the_pendulum_belongs_into_equation_1d():
    """A bob of 3 kg hanging at rest: the rod carries M g, where the printed equation, without M, would have it g."""
    slides = [Joint("x", "prismatic", GROUND, "slide", axis=(1, 0, 0)), Joint("y", "prismatic", "slide", "bob")]
    points = [Point("pivot", GROUND), Point("tip", "bob")]
    mechanism = Mechanism("pendulum", [Body("slide"), Body("bob", 3.0)], slides, points)
    machine = Machine("pendulum", mechanism, constraints=[Rod("rod", "pivot", "tip", 1.0)])
    run = simulate(Scenario("hanging", machine, 0.01, {"y.position": -1.0}))
    assert run["rod.tension"].final == pytest.approx(3.0 * GRAVITY, rel=1e-9)
