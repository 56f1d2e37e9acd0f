"""Constraints kept on the level of positions: observed orders, across ticks and events too."""

import numpy as np
import pytest
from convergence.rates import observed_order
from scipy.optimize import brentq
from support.constrained import cartesian_pendulum, four_bar, pendulum_at, sampled_drive

from robodyn.analysis.mechanics.hamiltonian import simulate_symplectic
from robodyn.computation.assembly import assemble
from robodyn.computation.engine import EngineRecording, integrate
from robodyn.computation.simulation import compile_system, simulate
from robodyn.computation.simulation.problem import build_problem
from robodyn.computation.simulation.starting import find_start
from robodyn.description.catalog import pendulum
from robodyn.description.model import ConstraintMethod, Event, Solver

INDEX3 = ConstraintMethod("index3")
STEPS = np.array([0.004, 0.002, 0.001])
# The next term of the error is about 5 h of the first: it bends the slope by a few hundredths.
SLOPE = 0.05


def alpha(step, **settings):
    return Solver("generalised_alpha", step=float(step), **settings)


SIGNALS = tuple(pendulum_at(0.0))


def largest_error(run, name):
    """Over some instants that all steps meet: at a single one, the leading error may pass through zero."""
    return max(abs(float(run[name](t)) - pendulum_at(t)[name]) for t in (0.4, 0.8, 1.2, 1.6, 2.0))


@pytest.mark.parametrize("radius", [0.0, 0.5, 0.9])
def test_generalised_alpha_has_order_two_on_the_pendulum(radius):
    runs = [simulate(cartesian_pendulum(INDEX3, alpha(h, spectral_radius=radius))) for h in STEPS]
    for name in SIGNALS:
        errors = [largest_error(run, name) for run in runs]
        assert observed_order(STEPS, errors) == pytest.approx(2, abs=SLOPE), name
    for run in runs:
        # Newton leaves 1e-10 of an acceleration of about 30 m/s^2, which moves by at most h^2 that.
        assert run.statistics.extra["constraint_position_error"] < 1e-12


def test_the_forces_it_solves_for_have_order_two():
    # What is recorded as tension follows from positions and velocities; the method's own unknowns are [a, lam].
    errors = []
    for h in STEPS:
        solver = Solver("generalised_alpha", step=float(h))
        compiled = compile_system(assemble(cartesian_pendulum(INDEX3, alpha(h))), solver)
        values = compiled.system.described_values
        start, p = find_start(compiled, values), compiled.module.prepare(values)
        problem = build_problem(compiled, p, {}, start)
        found = integrate(problem, solver, 0.0, 2.0, start.x, start.m, p, EngineRecording("none"))
        errors.append(abs(-found.unknowns[-1] - pendulum_at(2.0)["rod.tension"]))
    assert observed_order(STEPS, errors) == pytest.approx(2, abs=SLOPE)


@pytest.mark.parametrize("steps", [(5e-3, 2.5e-3, 1.25e-3), (3e-3, 1.5e-3, 0.75e-3)])
def test_order_two_holds_across_ticks_and_for_the_states_of_drives(steps):
    # The second triple does not divide the period of 50 ms: steps are then a little shorter.
    exact = simulate(four_bar(ConstraintMethod(pole=50.0), Solver(rtol=1e-11, atol=1e-11), blocks=sampled_drive()))
    runs = [simulate(four_bar(INDEX3, alpha(h), blocks=sampled_drive())) for h in steps]
    for name in ("crank.position", "rocker.position", "motor.drive", "pin.force.x"):
        errors = [abs(float(run[name](1.0) - exact[name](1.0))) for run in runs]
        assert observed_order(steps, errors) == pytest.approx(2, abs=2 * SLOPE), name


def test_order_two_holds_across_the_fracture_of_the_rod():
    def beyond(tension, *, limit):
        return tension - limit

    def fracture():
        return {"rod.active": 0.0}

    limit = 2 * 9.81
    event = Event("fracture", beyond, {"tension": "rod.tension"}, {"limit": limit}, "rising", fracture)
    runs = [simulate(cartesian_pendulum(INDEX3, alpha(h), 1.0, events=(event,))) for h in STEPS]
    # 3 g cos(angle) = limit at the fracture; after it the bob flies.
    broken = brentq(lambda t: pendulum_at(t)["rod.tension"] - limit, 0.0, 0.5, xtol=1e-14)
    before = pendulum_at(broken)
    flight = 1.0 - broken
    landing = before["x.position"] + flight * before["x.velocity"]
    errors = [abs(float(run["x.position"](1.0)) - landing) for run in runs]
    assert observed_order(STEPS, errors) == pytest.approx(2, abs=2 * SLOPE)
    assert all(run["rod.tension"].values[-1] == 0 for run in runs)


def test_rattle_has_order_two_on_the_pendulum():
    runs = [simulate_symplectic(cartesian_pendulum(ConstraintMethod(), Solver()), float(h)) for h in STEPS]
    for name in SIGNALS:
        errors = [largest_error(run, name) for run in runs]
        assert observed_order(STEPS, errors) == pytest.approx(2, abs=SLOPE), name
    # Both levels are met in every step, to Newton's accuracy and to rounding.
    assert all(run.statistics.extra["constraint_position_error"] < 1e-12 for run in runs)
    assert all(run.statistics.extra["constraint_velocity_error"] < 1e-13 for run in runs)


def test_generalised_alpha_moves_a_mechanism_without_constraints_and_other_states():
    exact = simulate(pendulum(duration=2.0), Solver("dopri5", rtol=1e-11, atol=1e-13))
    errors = []
    for step in STEPS:
        run = simulate(pendulum(duration=2.0), Solver("generalised_alpha", step=float(step)))
        errors.append(
            max(abs(float(run["hinge.position"](t)) - float(exact["hinge.position"](t))) for t in (1.0, 1.5, 2.0))
        )
    assert observed_order(STEPS, errors) == pytest.approx(2, abs=SLOPE)
