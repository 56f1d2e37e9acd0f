"""Are gaps, normals and speeds of touches those of the geometry, and are complementarity problems solved?"""

from itertools import product

import casadi as ca
import numpy as np
import pytest

from robodyn.base.spatial import from_rpy
from robodyn.computation.assembly.contact.geometry import find_contact_points, find_drifts
from robodyn.computation.assembly.contribution import start_context
from robodyn.computation.assembly.motion import trace_kinematics
from robodyn.description.model import (
    GROUND,
    Ball,
    Body,
    Box,
    Contact,
    Joint,
    Machine,
    Mechanism,
    Plane,
    Point,
    Rim,
    Scenario,
)

SIZE = (0.4, 0.6, 0.3)
TURN = tuple(map(tuple, np.asarray(from_rpy(0.3, -0.2, 0.5)).tolist()))


def two_bodies(touching, against):
    """Two chains of three joints each on a body that floats; returns the motion and the touches."""
    bodies, joints = [Body("trunk", 1.0, inertia=(1.0, 1.0, 1.0))], [Joint("base", "free", GROUND, "trunk")]
    for side in ("a", "b"):
        parent = "trunk"
        for k, (kind, axis) in enumerate((("prismatic", (1, 0, 0)), ("revolute", (0, 1, 0)), ("revolute", (1, 0, 0)))):
            bodies.append(Body(f"{side}{k}", 1.0, inertia=(1.0, 1.0, 1.0)))
            joints.append(Joint(f"{side}_joint{k}", kind, parent, f"{side}{k}", (0.1, 0.2, 0.3), axis=axis))
            parent = f"{side}{k}"
    points = (Point("tip", "a2", (0.3, 0.1, 0.2)), Point("face", "b2", (0.1, 0.3, -0.1)))
    law = {"law": "hunt_crossley", "parameters": {"stiffness": 1.0}}
    machine = Machine(
        "pair", Mechanism("pair", bodies, joints, points), contacts=(Contact("c", touching, against, **law),)
    )
    motion, _ = trace_kinematics(start_context(Scenario("pair", machine, 1.0)), machine.mechanism)
    return motion, find_contact_points(motion, machine.contacts[0])


TOUCHING = {"ball": Ball("tip", 0.15), "box": Box("tip", (0.1, 0.2, 0.3), TURN), "rim": Rim("tip", 0.2, (0, 1, 0))}
AGAINST = {"plane": Plane("face", (1, 2, 3)), "box": Box("face", SIZE, TURN)}
PAIRS = [pair for pair in product(TOUCHING, AGAINST) if pair != ("rim", "box")]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_speeds_and_drifts_are_derivatives_of_gaps_and_slips(pair):
    motion, contact_points = two_bodies(TOUCHING[pair[0]], AGAINST[pair[1]])
    p = ca.vertcat(*motion.context.values.symbols)
    gaps = ca.vertcat(*(contact_point.gap for contact_point in contact_points))
    rates = ca.vertcat(*(contact_point.rate for contact_point in contact_points))
    frames = [ca.horzcat(contact_point.normal, *contact_point.tangents) for contact_point in contact_points]
    square = ca.vertcat(*(ca.vec(R.T @ R - ca.SX.eye(3)) for R in frames))
    speeds = ca.vertcat(*(ca.vertcat(point.rate, *point.slips) for point in contact_points))
    drifts = ca.vertcat(*(find_drifts(motion, point, [point.normal, *point.tangents]) for point in contact_points))
    expected = [ca.jtimes(column, motion.q, motion.q_dot) for column in (gaps, speeds)]
    function = ca.Function("f", [motion.q, motion.v, p], [*expected, rates, drifts, square])
    generator = np.random.default_rng(5)
    numbers, sizes = [number.value for number in motion.context.values.tunable], (motion.q.numel(), motion.v.numel())
    for _ in range(20):
        values = function(*(generator.uniform(-1, 1, size) for size in sizes), numbers)
        gap_rates, speed_rates, found, drift, apart = (np.array(value) for value in values)
        np.testing.assert_allclose(found, gap_rates, atol=1e-12)
        # Speeds of up to 10 m/s squared by arms of 0.1 m: rounding of accelerations of some 1000 m/s^2.
        np.testing.assert_allclose(drift, speed_rates, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(apart, 0.0, atol=1e-12)


def test_the_distance_to_a_box_is_that_to_its_nearest_point():
    motion, (contact_point,) = two_bodies(Ball("tip"), Box("face", SIZE))
    p = ca.vertcat(*motion.context.values.symbols)
    apart = motion.point_rotation("face").T @ (motion.point_position("tip") - motion.point_position("face"))
    function = ca.Function("f", [motion.q, p], [apart, contact_point.gap])
    generator = np.random.default_rng(6)
    numbers, half = [number.value for number in motion.context.values.tunable], 0.5 * np.array(SIZE)
    signs = set()
    for _ in range(200):
        x, gap = (
            np.array(value).ravel() for value in function(generator.uniform(-0.5, 0.5, motion.q.numel()), numbers)
        )
        outside = np.linalg.norm(x - np.clip(x, -half, half))
        expected = outside if outside > 0 else np.max(np.abs(x) - half)
        assert gap[0] == pytest.approx(expected, abs=1e-12)
        signs.add(np.sign(expected))
    assert signs == {-1.0, 1.0}
