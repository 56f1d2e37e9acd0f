"""The tables of the methods satisfy the order conditions they were published with."""

import numpy as np
import pytest

from robodyn.computation.engine.tableaus import METHODS

EXPLICIT_ORDERS = {"euler": 1, "heun": 2, "heun_euler": 2, "rk4": 4, "dopri5": 4, "trbdf2": 2}
# The published Rosenbrock coefficients have 16 digits, and up to 34 in size: sums of products keep about 13
# digits.
ROSENBROCK_ROUNDING = 1e-12


def conditions(weights, a, c):
    """Residuals of the conditions of order 1 to 4 by order: Hairer, Norsett, Wanner (1993), II.2."""
    return [
        [weights.sum() - 1],
        [weights @ c - 1 / 2],
        [weights @ c**2 - 1 / 3, weights @ a @ c - 1 / 6],
        [
            weights @ c**3 - 1 / 4,
            weights @ (c * (a @ c)) - 1 / 8,
            weights @ a @ c**2 - 1 / 12,
            weights @ a @ a @ c - 1 / 24,
        ],
    ]


def order_of(weights, a, c):
    """Highest order, up to 4, whose conditions all hold."""
    order = 0
    for residuals in conditions(weights, a, c):
        if np.max(np.abs(residuals)) > 1e-14:
            break
        order += 1
    return order


@pytest.mark.parametrize(("name", "order"), EXPLICIT_ORDERS.items())
def test_runge_kutta_weights_have_their_order(name, order):
    method = METHODS[name]()
    assert order_of(method.b, method.a, method.c) == order
    np.testing.assert_allclose(method.a.sum(axis=1), method.c, atol=1e-15)


@pytest.mark.parametrize(("name", "order"), [("heun_euler", 1), ("dopri5", 4), ("trbdf2", 3)])
def test_error_estimates_compare_with_a_method_of_the_other_order(name, order):
    method = METHODS[name]()
    assert order_of(method.b - method.e, method.a, method.c) == order


def test_dormand_prince_satisfies_the_bushy_condition_of_order_five():
    method = METHODS["dopri5"]()
    assert method.b @ method.c**4 == pytest.approx(1 / 5, abs=1e-15)
    assert method.b @ method.a @ method.c**3 == pytest.approx(1 / 20, abs=1e-15)


def untransformed(name):
    """alpha, beta = alpha + Gamma and the weights from the transformed table: Hairer and Wanner (1996),
    IV.7."""
    method = METHODS[name]()
    a, C, m = method.a[1:, 1:], method.C[1:, 1:], method.b[1:]
    Gamma = np.linalg.inv(np.eye(6) / method.gamma - C)
    alpha = a @ Gamma
    return alpha, alpha + Gamma, m @ Gamma, (m - method.e[1:]) @ Gamma, Gamma, method


def rosenbrock_residuals(alpha, beta, b):
    """Conditions of order 1 to 4: Hairer and Wanner (1996), table IV.7.1, with the diagonal kept in beta."""
    c, s = alpha.sum(axis=1), beta.sum(axis=1)
    return [
        [b.sum() - 1],
        [b @ s - 1 / 2],
        [b @ c**2 - 1 / 3, b @ beta @ s - 1 / 6],
        [
            b @ c**3 - 1 / 4,
            b @ (c * (alpha @ s)) - 1 / 8,
            b @ beta @ c**2 - 1 / 12,
            b @ beta @ beta @ s - 1 / 24,
        ],
    ]


@pytest.mark.parametrize("name", ["rodas4", "rodas4p"])
def test_rosenbrock_weights_have_order_four_and_their_estimate_three(name):
    alpha, beta, b, b_embedded, Gamma, method = untransformed(name)
    assert max(abs(r) for group in rosenbrock_residuals(alpha, beta, b) for r in group) < ROSENBROCK_ROUNDING
    embedded = rosenbrock_residuals(alpha, beta, b_embedded)
    assert max(abs(r) for group in embedded[:3] for r in group) < ROSENBROCK_ROUNDING
    assert max(abs(r) for r in embedded[3]) > 1e-3
    np.testing.assert_allclose(alpha.sum(axis=1), method.c[1:], atol=ROSENBROCK_ROUNDING)
    np.testing.assert_allclose(Gamma.sum(axis=1), method.time_weights[1:], atol=ROSENBROCK_ROUNDING)


@pytest.mark.parametrize("name", ["rodas4", "rodas4p"])
def test_rosenbrock_methods_forget_infinitely_stiff_parts(name):
    _, beta, b, _, _, _ = untransformed(name)
    z = -1e9
    growth = 1 + z * b @ np.linalg.solve(np.eye(6) - z * beta, np.ones(6))
    # L-stable: R(z) goes to 0 as 1/z; the rounding of the table leaves about 1e-12.
    assert abs(growth) < 1e-7


def test_trbdf2_forgets_infinitely_stiff_parts():
    method = METHODS["trbdf2"]()
    z = -1e9
    growth = 1 + z * method.b @ np.linalg.solve(np.eye(3) - z * method.a, np.ones(3))
    assert abs(growth) < 1e-7


@pytest.mark.parametrize("name", METHODS)
def test_polynomials_end_where_the_step_ends(name):
    method = METHODS[name]()
    ends = method.P.sum(axis=1)
    np.testing.assert_allclose(ends[: method.stages], method.b, atol=ROSENBROCK_ROUNDING)
    assert np.all(ends[method.stages :] == 0)
