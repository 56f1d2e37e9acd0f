"""The simple pendulum in Cartesian coordinates: library of benchmark problems of IFToMM, A01.

1 kg on 1 m, let go at (-1, 0). Its values are checked against elliptic functions here, so that they are known to more
digits than the published ones.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from robodyn import Block, ConstraintMethod, Solver, simulate
from robodyn.description.catalog import cartesian_pendulum

PUBLISHED = {
    1.0: (0.98629175, -0.16501085),
    5.0: (-0.94230544, -0.33475434),
    9.99: (-0.31643647, -0.94861370),
    10.0: (-0.27508746, -0.96141921),
}
TREATMENTS = [ConstraintMethod(), ConstraintMethod(pole=5.0), ConstraintMethod("projection")]


def exact(times):
    """Place at these times: sin(angle / 2) = k sn(K - omega t), angle from hanging, k = sin(45 deg)."""
    k = np.sin(np.pi / 4)
    sn = ellipj(ellipk(k**2) - np.sqrt(9.81) * np.asarray(times), k**2)[0]
    angle = 2 * np.arcsin(k * sn)
    return -np.sin(angle), -np.cos(angle)


def test_the_published_values_are_those_of_elliptic_functions():
    for time, place in PUBLISHED.items():
        # Published to 8 digits, from a numerical solution.
        assert exact(time) == pytest.approx(place, abs=2e-8)


@pytest.mark.parametrize("constraint_method", TREATMENTS, ids=["own pole", "pole 5", "projection"])
def test_each_constraint_method_gives_the_exact_motion(constraint_method, proof):
    scenario = cartesian_pendulum(constraint_method=constraint_method)
    run = simulate(scenario, Solver("dopri5", rtol=1e-11, atol=1e-13))
    x, z = exact(run.time)
    # Tolerance 1e-11 over ten seconds and some 3000 steps.
    ours = [run["x.position"].values, run["z.position"].values]
    what, source = (
        "pendulum in Cartesian coordinates, 10 s, three constraint methods",
        "IFToMM A01, by elliptic functions",
    )
    proof(what, kind="closed form", source=source, ours=ours, reference=[x, z], within=1e-8, unit="m")


@pytest.mark.parametrize("constraint_method", TREATMENTS, ids=["own pole", "pole 5", "projection"])
def test_drift_is_of_the_order_of_the_tolerance_and_falls_with_it(constraint_method):
    def drift(tolerance):
        run = simulate(
            cartesian_pendulum(constraint_method=constraint_method), Solver("dopri5", rtol=tolerance, atol=tolerance)
        )
        return run.statistics.extra["constraint_position_error"]

    drifts = [drift(tolerance) for tolerance in (1e-4, 1e-6, 1e-8)]
    for tolerance, found in zip((1e-4, 1e-6, 1e-8), drifts, strict=True):
        assert 0 < found < 2 * tolerance
    assert drifts[0] > 30 * drifts[1] > 900 * drifts[2]


def test_without_stabilisation_the_drift_grows_to_a_hundred_times_that():
    """A pole of 1e-9 leaves h'' = 0: what the constraint methods are for."""
    solver = Solver("dopri5", rtol=1e-6, atol=1e-6)
    runs = [
        simulate(cartesian_pendulum(duration=30.0, constraint_method=ConstraintMethod(pole=p)), solver)
        for p in (1e-9, 5.0)
    ]
    loose, kept = (run.statistics.extra["constraint_position_error"] for run in runs)
    assert loose > 100 * kept


def test_the_drift_vanishes_at_rest():
    scenario = cartesian_pendulum(duration=40.0, constraint_method=ConstraintMethod(pole=5.0))
    drag = [Block(f"{axis}_drag", "damper", on=axis, parameters={"damping": 1.0}) for axis in "xz"]
    run = simulate(replace(scenario, machine=replace(scenario.machine, blocks=drag)), Solver("dopri5", rtol=1e-4))
    assert np.max(run["constraints.position_error"].values) > 1e-7
    assert run["constraints.position_error"].values[-1] < 1e-12
    assert run["rod.tension"].values[-1] == pytest.approx(9.81, abs=1e-6)
