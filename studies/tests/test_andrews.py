"""Andrews' squeezing mechanism: test set for initial value problem solvers, University of Bari, problem II-10.

Built from bodies, joints, loop joints and a spring; the published end values are by PSIDE with tolerance 1e-14.
"""

import numpy as np
import pytest

from robodyn import ConstraintMethod, Solver, assemble, simulate
from robodyn.computation.simulation import close_constraints
from robodyn_studies.catalog import andrews, andrews_max_error

VELOCITIES = {
    "beta": 1139.920302151208,
    "theta": -1424.379294994111,
    "gamma": 11.03291221937134,
    "phi": 19.29337464421385,
    "delta": 0.5735699284790808,
    "omega": -19.29337464421385,
    "epsilon": 0.3231791658026955,
}
START_ACCELERATIONS = {"beta": 14222.4439199541139, "theta": -10666.8329399655854}
# Published multipliers act on the other body of each loop.
START_FORCES = {"loop_gamma.force.x": -98.5668703962410896, "loop_gamma.force.y": 6.12268834425566266}
END_FORCES = {
    "loop_gamma.force.x": -199.1753333731910,
    "loop_gamma.force.y": 29.75531228015052,
    "loop_phi.force.x": -23.06654119098399,
    "loop_phi.force.y": -31.45271365475927,
    "loop_omega.force.x": -22.64249232082739,
    "loop_omega.force.y": -11.61740700019673,
}
TREATMENTS = [ConstraintMethod(), ConstraintMethod(pole=50.0), ConstraintMethod("projection")]


@pytest.mark.parametrize("constraint_method", TREATMENTS, ids=["own pole", "pole 50", "projection"])
def test_the_end_angles_are_the_published_ones(constraint_method):
    run = simulate(andrews(constraint_method))
    # Asked for is 1e-7 of turns of up to 16 rad; measured 6e-10.
    assert andrews_max_error(run.final) < 1e-8
    assert run.statistics.energy_error < 1e-8


def test_a_stiff_method_gives_the_same():
    run = simulate(andrews(), Solver("rodas4p", rtol=1e-9, atol=1e-11))
    assert andrews_max_error(run.final) < 1e-8


def test_the_end_velocities_and_forces_are_the_published_ones():
    run = simulate(andrews())
    for angle, velocity in VELOCITIES.items():
        assert run.final[f"{angle}.velocity"] == pytest.approx(velocity, rel=1e-6)
    for name, force in END_FORCES.items():
        assert run.final[name] == pytest.approx(force, rel=1e-5)


def test_accelerations_and_forces_at_the_start_are_the_published_ones():
    run = simulate(andrews())
    for angle in VELOCITIES:
        expected = START_ACCELERATIONS.get(angle, 0.0)
        # Of accelerations of 1e4.
        assert run[f"{angle}.acceleration"].values[0] == pytest.approx(expected, abs=1e-6)
    for name in END_FORCES:
        assert run[name].values[0] == pytest.approx(START_FORCES.get(name, 0.0), abs=1e-8)


def test_the_error_falls_with_the_tolerance():
    errors = [
        andrews_max_error(simulate(andrews(), Solver("dopri5", rtol=t, atol=t / 100)).final) for t in (1e-5, 1e-8)
    ]
    assert errors[1] < 1e-2 * errors[0]


def test_the_equations_across_the_plane_are_named_as_idle():
    run = simulate(andrews())
    assert "3 of 9 constraint equations follow from the others" in run.warnings[0]
    assert np.all(run["loop_phi.force.z"].values == 0.0)


def test_the_published_start_of_andrews_mechanism_is_assembled():
    found = close_constraints(assemble(andrews()))
    assert found.iterations <= 1
    assert found.residual < 1e-14
