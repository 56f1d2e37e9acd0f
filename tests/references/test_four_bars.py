"""Rows of four-bars through their singular positions: library of benchmark problems of IFToMM, A02.

All upright rods stay parallel, so that N loops with 2 N + 1 joints move as one:

    ((N + 1) / 3 + N) theta'' = -g ((N + 1) / 2 + N) cos(theta),    theta(0) = pi / 2,    theta'(0) = -1

Whenever the row lies flat, all loops are singular at once: there they could go on crossed as well.
"""

from math import cos, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robodyn import ConstraintMethod, Solver, simulate
from robodyn.description.catalog import four_bars

# Place and velocity of the first upright's end after 10 s: x, z, and their rates.
PUBLISHED = {
    1: (0.47838506, 0.87815018, 1.72726408, -0.94095218),
    2: (0.32845811, 0.94451854, 1.42305147, -0.49486885),
    10: (0.20435356, 0.97889715, 1.18668002, -0.24773010),
    40: (0.18051223, 0.98357274, 1.14844128, -0.21077007),
}
SIGNALS = ("position.x", "position.z", "velocity.x", "velocity.z")


def end_of(run):
    return [run.final[f"top0.{signal}"] for signal in SIGNALS]


@pytest.mark.parametrize("count", PUBLISHED)
def test_the_published_values_solve_the_reduced_equation(count):
    ratio = 9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    motion = solve_ivp(
        lambda t, y: (y[1], -ratio * cos(y[0])), (0, 10), (np.pi / 2, -1.0), "DOP853", rtol=1e-13, atol=1e-13
    )
    angle, rate = motion.y[:, -1]
    found = (cos(angle), sin(angle), -rate * sin(angle), rate * cos(angle))
    # Published to 8 digits.
    assert found == pytest.approx(PUBLISHED[count], abs=1e-8)


@pytest.mark.parametrize(
    ("count", "constraint_method"),
    [
        (1, ConstraintMethod("projection")),
        (1, ConstraintMethod(pole=20.0)),
        (2, ConstraintMethod("projection")),
        (2, ConstraintMethod(pole=20.0)),
        (10, ConstraintMethod("projection")),
        (40, ConstraintMethod("projection")),
    ],
    ids=lambda given: getattr(given, "method", given),
)
def test_a_row_of_four_bars_moves_as_one_rod(count, constraint_method, proof):
    run = simulate(four_bars(count, constraint_method=constraint_method), Solver("dopri5", rtol=1e-9, atol=1e-11))
    assert run.outcome.ok
    # Measured up to 6e-7: the tolerance 1e-9, multiplied by a fall from upright and several passages.
    what = "place and velocity of rows of 1 to 40 four-bars after 10 s, through their singular positions"
    source = "IFToMM library of benchmark problems, A02"
    proof(
        what, kind="published", source=source, ours=end_of(run), reference=PUBLISHED[count], within=3e-6, unit="m, m/s"
    )
    assert run.statistics.energy_error < 1e-8
    assert run.statistics.extra["constraint_position_error"] < 2e-8


def test_it_passes_its_singular_positions_several_times():
    run = simulate(four_bars(1))
    flat = np.diff(np.sign(np.sin(run["foot0.position"].values)))
    assert np.count_nonzero(flat) >= 4
    assert np.ptp(run["foot0.position"].values - run["foot1.position"].values) < 1e-5


def test_the_error_falls_with_the_tolerance_across_singular_positions():
    errors = []
    for rtol in (1e-6, 1e-8, 1e-10):
        run = simulate(four_bars(2), Solver("dopri5", rtol=rtol, atol=rtol * 1e-2))
        errors.append(np.max(np.abs(np.array(end_of(run)) - PUBLISHED[2])))
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-7
