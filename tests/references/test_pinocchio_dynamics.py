"""Does Pinocchio (Carpentier et al. 2019), an independent implementation, find the same dynamics?"""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.random_trees import SEEDS, random_state, random_tree, random_wrenches

from robodyn.computation.dynamics import (
    Tree,
    bias,
    forward_dynamics,
    geometric_jacobian,
    inverse_dynamics,
    kinetic_energy,
    link_poses,
    mass_matrix,
    potential_energy,
)

pin = pytest.importorskip("pinocchio")

from tests.support.pinocchio_trees import build_twin  # noqa: E402

# Both round about 1e-16 a step; accelerations also feel the condition of M, up to some 1e5 on these trees.
TOLERANCE = 1e-9


@pytest.fixture(params=SEEDS)
def case(request):
    """A tree and its state, with Pinocchio's twin of it and its coordinates there."""
    tree = random_tree(request.param)
    q, v, a = random_state(tree, request.param)
    twin = build_twin(tree)

    return tree, q, v, a, twin, q[twin.q_order]


def assert_close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE * np.abs(theirs).max())


def prove(proof, what, ours, theirs):
    """Pinocchio's numbers of random trees with every kind of joint."""
    source = f"Pinocchio {pin.__version__}"
    proof(
        f"{what} of random trees",
        kind="program",
        source=source,
        ours=ours,
        reference=theirs,
        within=TOLERANCE,
        relative=True,
    )


def test_link_poses_agree(case):
    tree, q, _, _, twin, q_pin = case
    pin.forwardKinematics(twin.model, twin.data, q_pin)

    for pose, joint in zip(link_poses(tree, q), twin.joints, strict=True):
        np.testing.assert_allclose(pose.R, twin.data.oMi[joint].rotation, atol=TOLERANCE)
        np.testing.assert_allclose(pose.p, twin.data.oMi[joint].translation, atol=TOLERANCE)


def test_centre_of_mass_agrees(case):
    tree, q, _, _, twin, q_pin = case
    bodies = [link.inertia.moved(pose) for link, pose in zip(tree.links, link_poses(tree, q), strict=True)]
    total = sum(bodies[1:], bodies[0])

    assert_close(total.com, pin.centerOfMass(twin.model, twin.data, q_pin))


def test_mass_matrices_agree(case, proof):
    tree, q, _, _, twin, q_pin = case

    prove(proof, "mass matrix", mass_matrix(tree, q), twin.matrix_from(pin.crba(twin.model, twin.data, q_pin)))


def test_biases_agree(case):
    tree, q, v, _, twin, q_pin = case
    theirs = pin.nonLinearEffects(twin.model, twin.data, q_pin, v[twin.v_order])

    assert_close(bias(tree, q, v), twin.column_from(theirs))


def test_inverse_dynamics_agree(case, proof):
    tree, q, v, a, twin, q_pin = case
    theirs = pin.rnea(twin.model, twin.data, q_pin, v[twin.v_order], a[twin.v_order])

    prove(proof, "inverse dynamics", inverse_dynamics(tree, q, v, a), twin.column_from(theirs))


def test_inverse_dynamics_agree_under_outer_wrenches(case):
    tree, q, v, a, twin, q_pin = case
    wrenches = random_wrenches(tree, tree.n_v)
    pin.forwardKinematics(twin.model, twin.data, q_pin)
    forces = [pin.Force.Zero() for _ in range(twin.model.njoints)]
    for link, (force, torque) in wrenches.items():
        turn = twin.data.oMi[twin.joints[link]].rotation.T
        forces[twin.joints[link]] = pin.Force(turn @ force, turn @ torque)
    theirs = pin.rnea(twin.model, twin.data, q_pin, v[twin.v_order], a[twin.v_order], forces)

    assert_close(inverse_dynamics(tree, q, v, a, wrenches), twin.column_from(theirs))


@pytest.mark.parametrize("method", ["composite", "articulated"])
def test_forward_dynamics_agree(case, method, proof):
    tree, q, v, tau, twin, q_pin = case
    theirs = pin.aba(twin.model, twin.data, q_pin, v[twin.v_order], tau[twin.v_order])

    ours = forward_dynamics(tree, q, v, tau, method=method)
    prove(proof, "forward dynamics, composite and articulated,", ours, twin.column_from(theirs))


def test_jacobians_agree(case):
    tree, q, _, _, twin, q_pin = case
    link = len(tree.links) - 1
    pin.computeJointJacobians(twin.model, twin.data, q_pin)
    J = pin.getJointJacobian(twin.model, twin.data, twin.joints[link], pin.LOCAL_WORLD_ALIGNED)
    J = J.reshape(6, tree.n_v)  # Pinocchio gives a single column flat
    theirs = np.array([twin.column_from(row) for row in (*J[3:], *J[:3])])

    assert_close(geometric_jacobian(tree, q, link, np.zeros(3)), theirs)


def test_energies_agree(case):
    tree, q, v, _, _, _ = case
    # Pinocchio 4.1 counts the armature's energy for some kinds of joints only, so it is left out here.
    bare = Tree(tuple(replace(link, armature=0.0) for link in tree.links), tree.gravity)
    twin = build_twin(bare)
    q_pin, v_pin = q[twin.q_order], v[twin.v_order]

    assert_close(kinetic_energy(bare, q, v), pin.computeKineticEnergy(twin.model, twin.data, q_pin, v_pin))
    assert_close(potential_energy(bare, q), pin.computePotentialEnergy(twin.model, twin.data, q_pin))
