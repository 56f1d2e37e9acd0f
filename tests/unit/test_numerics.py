"""Are equations met where Newton's method ends, and is a change found between neighbouring places?"""

import math

import numpy as np
import pytest

from robodyn.base.numerics import bisect, limit_step, solve_newton


def arctangent(z):
    return np.arctan(z), np.diag(1 / (1 + z**2))


def newton_step(z, residual, slopes):
    return -np.linalg.solve(slopes, residual)


def test_halved_steps_converge_where_whole_ones_run_away():
    z = np.array([3.0])
    for _ in range(4):
        z = z + newton_step(z, *arctangent(z))
    assert abs(z[0]) > 1e6, "undamped"
    found = solve_newton(arctangent, newton_step, np.array([3.0]), most_steps=20, still=1e-12)
    assert found.solved
    assert abs(found.z[0]) <= 1e-12
    assert 3 <= found.steps <= 10


def test_the_last_step_is_taken_where_steps_have_to_settle():
    found = solve_newton(arctangent, newton_step, np.array([0.5]), most_steps=20, still=1.0, settled=1e-3)
    assert found.solved
    assert abs(found.residual[0]) > 1e-15
    assert abs(found.z[0]) < abs(found.residual[0])


def test_equations_without_a_solution_are_given_up_or_left_for_elsewhere():
    def parabola(z):
        return z**2 + 1.0, np.diag(2 * z)

    start = np.array([1e-9])
    stuck = solve_newton(parabola, newton_step, start, most_steps=50, still=1e-9, shorten=limit_step(0.5))
    moved = solve_newton(parabola, newton_step, start, most_steps=3, still=1e-9, least=0.4, uphill=True)
    assert not stuck.solved
    assert stuck.steps < 50
    assert np.array_equal(stuck.residual, stuck.z**2 + 1.0)
    assert not moved.solved
    assert moved.steps == 3
    assert abs(moved.z[0]) > 1.0
    assert not solve_newton(lambda z: (z * np.nan, None), newton_step, start, most_steps=9, still=1.0).solved


def test_bisection_ends_at_neighbouring_floats():
    before, beyond = bisect(lambda x: x * x >= 2.0, 0.0, 2.0)
    assert math.nextafter(before, 2.0) == beyond
    assert before**2 < 2.0 <= beyond**2


def test_bisection_of_arrays_narrows_each_by_itself():
    roots = np.array([0.3, 0.7])
    before, beyond = bisect(lambda x: x >= roots, np.zeros(2), np.ones(2), 30)
    assert beyond - before == pytest.approx(2.0**-30)
    assert np.all((before < roots) & (roots <= beyond))


def test_bisection_ends_where_places_are_near_enough_and_halves_as_asked():
    before, beyond = bisect(lambda x: x >= 0.3, 0.0, 1.0, within=0.01)
    assert before < 0.3 <= beyond
    assert beyond - before == 2.0**-7
    below, above = bisect(lambda x: x >= 50.0, 1e-2, 1e4, 10, halve=lambda a, b: math.sqrt(a * b))
    assert below < 50.0 <= above
    assert above / below == pytest.approx(1e6 ** (2.0**-10))
