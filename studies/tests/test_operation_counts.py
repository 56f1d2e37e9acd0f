import casadi as ca
import numpy as np
import pytest
from support.epaas_arm import epaas_system
from support.random_trees import random_state, random_tree

from robodyn.base.spatial import Inertia, Pose
from robodyn.computation.dynamics import Link, Tree, forward_dynamics, inverse_dynamics
from robodyn_studies.lagrange import lagrange_inverse_dynamics
from robodyn_studies.operation_counts import (
    ALGORITHMS,
    OperationCount,
    compare_algorithms,
    count_operations,
    generalise,
    trace_algorithm,
)

Z = np.array([0.0, 0.0, 1.0])


def chain(n):
    """Revolute joints, each on the one before, on links of any shape."""
    links = [Link(f"l{k}", f"j{k}", "revolute", k - 1, Pose.identity(), Z, Inertia.massless()) for k in range(n)]
    return generalise(Tree(tuple(links)))


def count(expression, *symbols):
    return count_operations(ca.Function("counted", list(symbols), [expression]))


def test_every_operation_is_counted_by_its_kind():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")

    found = count(ca.sin(x) * y - x / y + ca.exp(-x) + x * x, x, y)

    # x * x is one multiplication, the minus in the exponent is free.
    assert found == OperationCount(multiplications=2, additions=3, divisions=1, trigonometric=1, others=1)
    assert found.total == 8


def test_functions_of_matrices_are_expanded_first():
    x = ca.MX.sym("x", 3)

    assert count(ca.dot(x, x), x) == OperationCount(multiplications=3, additions=2)


def test_shared_code_costs_less_than_folded_code_and_that_less_than_the_general_algorithm():
    for ways in compare_algorithms(epaas_system().motion.mechanics.tree).values():
        assert ways["shared"].total <= ways["folded"].total < ways["general"].total


def test_newton_euler_grows_by_equal_steps_with_the_joints_and_uicker_kahn_faster_than_their_cube():
    sizes = (3, 6, 9)
    linear, steep = (
        [count_operations(trace_algorithm(algorithm, chain(n))).multiplications for n in sizes]
        for algorithm in (inverse_dynamics, lagrange_inverse_dynamics)
    )

    assert linear[2] - linear[1] == linear[1] - linear[0]
    # The fourth power leads, lower ones still count at nine joints.
    assert steep[2] / steep[1] > (9 / 6) ** 3


def test_newton_euler_needs_fewer_operations_than_its_published_count():
    # The study quotes 746 multiplications and 607 additions for 5 joints, from Hollerbach (1980).
    found = compare_algorithms(epaas_system().motion.mechanics.tree)["inverse, Newton-Euler"]["general"]

    assert found.multiplications < 746
    assert found.additions < 607


@pytest.mark.parametrize("name", ALGORITHMS)
def test_traced_algorithms_compute_what_they_are_called(name):
    tree = random_tree(5)
    q, v, u = random_state(tree, 5)
    algorithm = inverse_dynamics if name.startswith("inverse") else forward_dynamics

    found = trace_algorithm(ALGORITHMS[name], tree)(q, v, u, [])

    expected = algorithm(tree, q, v, u)
    np.testing.assert_allclose(np.array(found).ravel(), expected, rtol=1e-8, atol=1e-8)
