"""Do the Jacobians say how points move, and how forces on them load the joints?"""

import casadi as ca
import numpy as np
import pytest
from tests.support.random_trees import SEEDS, random_state, random_tree, random_wrenches

from robodyn.computation.dynamics import (
    geometric_jacobian,
    inverse_dynamics,
    link_poses,
    link_velocities,
    point_position,
    point_velocity,
    position_rates,
)

POINT = np.array([0.3, -0.2, 0.5])

# A dozen rotations in a row on lengths of a few metres.
TOLERANCE = 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_times_rates_is_velocity_of_the_point(seed):
    tree = random_tree(seed)
    q, v, _ = random_state(tree, seed)
    link = len(tree.links) - 1
    q_sym, q_dot = ca.SX.sym("q", tree.n_q), ca.SX.sym("q_dot", tree.n_q)
    moving = ca.jtimes(point_position(tree, q_sym, link, POINT), q_sym, q_dot)
    exact = np.array(ca.Function("moving", [q_sym, q_dot], [moving])(q, position_rates(tree, q, v))).ravel()

    by_jacobian = geometric_jacobian(tree, q, link, POINT)[3:] @ v

    np.testing.assert_allclose(by_jacobian, exact, rtol=TOLERANCE, atol=TOLERANCE * 10)
    np.testing.assert_allclose(point_velocity(tree, q, v, link, POINT), exact, rtol=TOLERANCE, atol=TOLERANCE * 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_angular_rows_of_jacobian_give_the_link_angular_velocity(seed):
    tree = random_tree(seed)
    q, v, _ = random_state(tree, seed)
    link = len(tree.links) - 1

    omega_world = link_poses(tree, q)[link].R @ link_velocities(tree, q, v)[link][0]

    np.testing.assert_allclose(
        geometric_jacobian(tree, q, link, POINT)[:3] @ v, omega_world, rtol=TOLERANCE, atol=TOLERANCE * 10
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_outer_wrenches_load_joints_by_the_transposed_jacobian(seed):
    tree = random_tree(seed)
    q, v, a = random_state(tree, seed)
    wrenches = random_wrenches(tree, seed)

    difference = inverse_dynamics(tree, q, v, a) - inverse_dynamics(tree, q, v, a, wrenches)
    expected = sum(
        geometric_jacobian(tree, q, link, np.zeros(3)).T @ np.concatenate([torque, force])
        for link, (force, torque) in wrenches.items()
    )

    # The loads of the motion, up to some 1e3 N m, cancel in the difference.
    np.testing.assert_allclose(difference, expected, rtol=TOLERANCE, atol=TOLERANCE * 1e3)


@pytest.mark.parametrize("seed", SEEDS)
def test_point_position_agrees_with_link_pose(seed):
    tree = random_tree(seed)
    q, _, _ = random_state(tree, seed)
    for link, pose in enumerate(link_poses(tree, q)):
        np.testing.assert_allclose(
            point_position(tree, q, link, POINT), pose.apply(POINT), rtol=TOLERANCE, atol=TOLERANCE * 10
        )
