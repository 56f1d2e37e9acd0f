"""Two coupled masses: the benchmark of F. Gonzalez and others (cosim-benchmarks), whole and co-simulated.

Published: masses of 1 kg, springs of 10, 100 and 1000 N/m, speeds of 100 and -100 m/s; states at 10 s to 8 digits. The
errors of the couplings at macro steps of 1 and 10 ms were computed once by hand with matrix exponentials.
"""

import numpy as np
import pytest

from robodyn import simulate
from robodyn.analysis import MacroSteps, find_limit
from robodyn.computation.cosimulation import Connection, CosimSettings, ScenarioUnit
from robodyn.description.catalog import Oscillator, oscillator, oscillator_sides
from robodyn_studies.oscillator_errors import cosimulate_oscillator, final_state, find_coupling_errors
from robodyn_studies.oscillator_exact import energy_of, solve_exactly
from robodyn_studies.oscillator_stability import map_stability
from robodyn_studies.oscillator_step import map_macro_step, spectral_radius

FREE = Oscillator()
DAMPED = Oscillator(damping=(0.01, 0.01, 0.01))
BEGIN = np.array([0.0, 100.0, 0.0, -100.0])
PUBLISHED = {
    FREE: (-4.46079749, 87.59606084, -0.96493284, -99.87362333),
    DAMPED: (-4.07753193, 79.88069049, -0.87259055, -89.32620153),
}
# Errors of x1 at 10 s [m] and energies by that at the start, parallel scheme, held signals, to two digits.
KNOWN = {
    ("force-displacement", 1e-3): (0.22, None),
    ("displacement-displacement", 1e-3): (0.22, None),
    ("model-model", 1e-3): (9.5e-6, None),
    ("force-displacement", 1e-2): (0.43, 209),
    ("displacement-displacement", 1e-2): (1.8, None),
    ("model-model", 1e-2): (1.0e-2, None),
}
WAYS = [(c, s, o) for c in ("force-displacement", "displacement-displacement") for s in ("parallel", "sequential")
        for o in (0, 1, 2)]  # fmt: skip
WAYS += [("model-model", "parallel", order) for order in (0, 1, 2)]


@pytest.mark.parametrize("numbers", PUBLISHED)
def test_the_exact_solution_is_the_published_one(numbers):
    # The published digits end at 1e-8.
    np.testing.assert_allclose(solve_exactly(numbers, 10.0), PUBLISHED[numbers], atol=6e-9)


def test_the_whole_oscillator_is_simulated_to_its_exact_solution():
    run = simulate(oscillator())
    found = [run[f"{name}.{key}"].final for name in ("first", "second") for key in ("position", "velocity")]
    # The solver's tolerance of 1e-10 over about 50 periods.
    np.testing.assert_allclose(found, solve_exactly(FREE, 10.0), atol=1e-5)


@pytest.mark.parametrize(("coupling", "step"), KNOWN)
def test_exact_macro_steps_have_the_known_errors(coupling, step):
    end = np.linalg.matrix_power(map_macro_step(FREE, coupling, step), round(10.0 / step)) @ BEGIN
    error, energy = KNOWN[coupling, step]
    assert abs(end[0] - solve_exactly(FREE, 10.0)[0]) == pytest.approx(error, rel=0.03)
    if energy:
        assert energy_of(FREE, end) / energy_of(FREE, BEGIN) == pytest.approx(energy, rel=0.01)


def test_the_simulation_has_the_errors_of_exact_macro_steps():
    couplings = ("force-displacement", "displacement-displacement", "model-model")
    found = find_coupling_errors([1e-2], couplings=couplings)
    for coupling in couplings:
        end = np.linalg.matrix_power(map_macro_step(FREE, coupling, 1e-2), 1000) @ BEGIN
        # Micro steps of a tolerance of 1e-10, enlarged with the energy by up to 200.
        assert found.errors[coupling][0] == pytest.approx(abs(end[0] - solve_exactly(FREE, 10.0)[0]), abs=1e-5)


@pytest.mark.parametrize(("coupling", "scheme", "order"), WAYS)
def test_a_simulated_macro_step_is_the_exact_one(coupling, scheme, order):
    step, numbers = 0.02, Oscillator(damping=(0.3, 0.2, 0.1), duration=0.2)
    run = cosimulate_oscillator(coupling, step, numbers=numbers, scheme=scheme, order=order).coupling
    path = np.column_stack([run[f"{u}.port.{k}"].values for u in ("first", "second") for k in ("position", "velocity")])
    gains = np.array([numbers.stiffness[1], numbers.damping[1]])
    pushes = -(path[:, 2:] - path[:, :2]) @ gains
    own = [path[:, 2 * k : 2 * k + 2] @ -np.array([numbers.stiffness[2 * k], numbers.damping[2 * k]]) for k in (0, 1)]
    matrix = map_macro_step(numbers, coupling, step, scheme=scheme, order=order)
    for n in range(order, len(path) - 1):
        before = slice(n - order, n)
        kept = {
            "force-displacement": [path[before, 2:].ravel(), pushes[before]],
            "displacement-displacement": [path[before, :2].ravel(), path[before, 2:].ravel()],
            "model-model": [own[0][before], own[1][before]],
        }[coupling]
        # Micro steps of a tolerance of 1e-10 on speeds of 100 m/s.
        np.testing.assert_allclose(path[n + 1], (matrix @ np.concatenate([path[n], *kept]))[:4], atol=1e-6)


@pytest.mark.parametrize("coupling", ["force-displacement", "displacement-displacement", "model-model"])
def test_the_growth_of_a_simulation_is_the_spectral_radius(coupling):
    step = 0.06
    run = cosimulate_oscillator(coupling, step, numbers=Oscillator(duration=1.2)).coupling
    path = np.column_stack([run[f"{u}.port.{k}"].values for u in ("first", "second") for k in ("position", "velocity")])
    # The map that takes each communication point to the next, found from the simulation alone.
    found = np.linalg.lstsq(path[:-1], path[1:], rcond=None)[0].T
    radius = spectral_radius(FREE, coupling, step)
    assert radius > 1.001
    # Twenty points with the errors of micro steps.
    assert np.max(np.abs(np.linalg.eigvals(found))) == pytest.approx(radius, rel=1e-6)


@pytest.mark.parametrize("coupling", ["force-displacement", "displacement-displacement", "model-force", "model-model"])
@pytest.mark.parametrize("scheme", ["parallel", "sequential"])
def test_the_recorded_energy_error_is_what_the_energy_changes_by(coupling, scheme):
    numbers = Oscillator(duration=0.5)
    run = cosimulate_oscillator(coupling, 1e-2, numbers=numbers, scheme=scheme)
    change = energy_of(numbers, final_state(run)) - energy_of(numbers, BEGIN)
    # Springs are linear and signals held: the book is exact but for the micro steps' errors.
    assert run.energy_error() == pytest.approx(change, abs=1e-3)


def test_reduced_models_are_stable_at_longer_macro_steps():
    found = map_stability(np.geomspace(1e-3, 0.1, 12), [100.0], numbers=DAMPED)
    limits = {coupling: found.limits(coupling)[0] for coupling in found.growth}
    assert limits["model-model"] > 10 * max(limits["force-displacement"], limits["displacement-displacement"], 1e-3)
    # None is unconditionally stable.
    assert limits["model-model"] < 0.1


def macro_steps(coupling, scheme, order, time=0.0):
    pair = zip(oscillator_sides(coupling, DAMPED), ("first", "second"), strict=True)
    units = [ScenarioUnit(side, name=name) for side, name in pair]
    return MacroSteps(
        units, [Connection("first.port", "second.port", order)], settings=CosimSettings(0.01, scheme), time=time
    )


@pytest.mark.parametrize(
    ("coupling", "scheme", "order"),
    [
        ("force-displacement", "parallel", 2),
        ("force-displacement", "sequential", 0),
        ("displacement-displacement", "sequential", 1),
        ("model-model", "parallel", 0),
    ],
)
def test_growth_is_the_spectral_radius_of_the_exact_macro_step(coupling, scheme, order):
    steps = macro_steps(coupling, scheme, order, time=0.05)
    for step in (0.02, 0.1):
        exact = spectral_radius(DAMPED, coupling, step, scheme=scheme, order=order)
        # The units' tolerances are 1e-9 and less of their values.
        assert steps.growth(step) == pytest.approx(exact, abs=1e-6)


def test_the_limit_by_growth_is_that_of_the_exact_macro_step():
    steps = macro_steps("model-model", "parallel", 0)
    limits = [
        find_limit(check, 0.05, shortest=1e-3, longest=0.2)
        for check in (
            lambda step: steps.growth(step) <= 1.0,
            lambda step: spectral_radius(DAMPED, "model-model", step) <= 1.0,
        )
    ]
    assert limits[0] == limits[1]
    assert 0 < limits[0].holds < limits[0].fails <= 1.05 * limits[0].holds
