"""Constraints are kept in different ways, and the motion is the same."""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.special import ellipk
from support.constrained import cartesian_pendulum, four_bar, sampled_drive

from robodyn.analysis.sensitivity.ranking import rank_parameters
from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.results import OutcomeKind
from robodyn.computation.simulation import close_constraints, find_equilibrium, simulate
from robodyn.description.model import Block, ConstraintMethod, Event, PrescribedMotion, Solver

FINE = Solver("dopri5", rtol=1e-9, atol=1e-9)
ALPHA = Solver("generalised_alpha", step=5e-4)
WAYS = {
    "projection": (ConstraintMethod("projection"), FINE),
    "index3": (ConstraintMethod("index3"), ALPHA),
    "minimal": (ConstraintMethod("minimal"), FINE),
    "minimal, crank named": (ConstraintMethod("minimal", independent=("crank",)), FINE),
    "minimal, stiff method": (ConstraintMethod("minimal"), replace(FINE, method="rodas4")),
}
# The second-order method leaves about h^2 = 2.5e-7 of accelerations of some 100 rad/s^2; the others their tolerance.
ACCURACY = {"index3": 1e-4}


def drive_along(time):
    return {"position": -1 + 6 * time, "velocity": 6 + 0 * time, "acceleration": 0 * time}


def extras(kind):
    """Blocks and further constraints on the four-bar."""
    if kind == "sampled drive":
        return {"blocks": sampled_drive()}
    if kind == "friction that sticks":
        return {"blocks": (Block("rub", "stick_friction", on="crank", parameters={"coulomb": 2.0, "static": 3.0}),)}
    if kind == "prescribed crank":
        message = PrescribedMotion("drive", "crank", "ref.position", "ref.velocity", "ref.acceleration")
        return {"blocks": (Block("ref", drive_along),), "constraints": (message,)}
    return {}


@cache
def exact_motion(kind):
    """By Baumgarte's method with small tolerances."""
    return simulate(four_bar(ConstraintMethod(pole=50.0), replace(FINE, rtol=1e-11, atol=1e-11), **extras(kind)))


@pytest.mark.parametrize("kind", ["free", "sampled drive", "friction that sticks", "prescribed crank"])
@pytest.mark.parametrize("way", WAYS)
def test_every_constraint_method_moves_the_four_bar_as_baumgarte_does(way, kind):
    constraint_method, solver = WAYS[way]
    if kind == "prescribed crank" and constraint_method.independent:
        constraint_method = ConstraintMethod("minimal", independent=())
    run, exact = simulate(four_bar(constraint_method, solver, **extras(kind))), exact_motion(kind)
    assert run.outcome.ok, run.outcome.sentence
    for name in ("crank.position", "rocker.position", "rocker.velocity", "pin.force.z"):
        assert float(run[name](1.0)) == pytest.approx(float(exact[name](1.0)), abs=ACCURACY.get(way, 1e-6)), name


def test_minimal_coordinates_do_not_drift_even_at_a_coarse_tolerance():
    run = simulate(four_bar(ConstraintMethod("minimal"), Solver(rtol=1e-4, atol=1e-4), 5.0))
    # Two Newton steps leave the third power of what a step predicted, about 1e-4, of lengths of 1 m and of 10 m/s.
    assert run.statistics.extra["constraint_position_error"] < 1e-12
    assert run.statistics.extra["constraint_velocity_error"] < 1e-11
    drifting = simulate(four_bar(ConstraintMethod(pole=5.0), Solver(rtol=1e-4, atol=1e-4), 5.0))
    assert drifting.statistics.extra["constraint_position_error"] > 1e-6


def test_accelerations_are_those_of_the_projected_equations():
    """R^T M R a_i = R^T (tau - c - M r), with v = R v_i and a = R a_i + r."""
    system = assemble(four_bar(ConstraintMethod("minimal", independent=("crank",)), FINE))
    at = find_place(system)
    n, k = system.n_q, len(system.motion.constraint_forces)
    h = system.expressions.constraints
    H, drift = ca.jacobian(h[:k], system.q), ca.jtimes(h[k:], system.q, system.v)
    M, c = system.function(system.mass_matrix), system.function(system.bias)
    columns = [*system.symbols]
    H, drift = (np.array(value) for value in ca.Function("H", columns, [H, drift])(*at))
    M, c = np.array(M(*at)), np.array(c(*at)).ravel()
    R = np.vstack([np.eye(1), -np.linalg.solve(H[:, 1:], H[:, :1])])
    r = np.concatenate([[0.0], -np.linalg.solve(H[:, 1:], drift.ravel())])
    a_crank = np.linalg.solve(R.T @ M @ R, R.T @ (-c - M @ r))
    expected = R @ a_crank + r
    found = np.array(system.function(system.expressions.rhs)(*at)).ravel()[n : 2 * n]
    # The compliance of 1e-12 in the constraints' equations is the largest difference between the two.
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def find_place(system):
    """Inputs (t, x, d, m, p) at a moving place on the constraints."""
    run = simulate(system)
    return [0.0, list(run.end.values())[: len(system.states)], [], [1.0] * len(system.memory), []]


def test_a_pendulum_in_minimal_cartesian_coordinates_passes_full_turns():
    """x and z take turns in following; three turns of an overturning pendulum last 3 (4 L/v) K(4 g L/v^2)."""
    speed, gravity = 8.0, 9.81
    turns = 3 * 4 / speed * ellipk(4 * gravity / speed**2)
    method = ConstraintMethod("minimal")
    start = {"x.position": 0.0, "z.position": -1.0, "x.velocity": speed}
    run = simulate(replace(cartesian_pendulum(method, FINE), initial=start, duration=turns))
    assert run["z.position"].max > 0.999
    assert sum(event.name == "constraints.chart" for event in run.events) >= 12
    assert run.statistics.extra["constraint_position_error"] < 1e-14
    # Solved at 1e-9, a third of it lost in what follows at the most slanting.
    assert run["x.position"].final == pytest.approx(0.0, abs=1e-5)
    assert run["x.velocity"].final == pytest.approx(speed, rel=1e-6)


def test_a_pendulum_in_named_minimal_coordinates_ends_where_they_do():
    run = simulate(cartesian_pendulum(ConstraintMethod("minimal", independent=("z",)), FINE))
    assert run.outcome.kind is OutcomeKind.SINGULAR
    assert "independent joints" in run.outcome.sentence
    # x follows from z until it is 1 % of the rod: this project's own choice of a margin.
    assert abs(run["x.position"].values[-1]) == pytest.approx(0.01, abs=1e-6)


def test_a_step_whose_constraints_cannot_be_met_is_told():
    def pull(time):
        return {"position": -1.6 + 0.5 * time, "velocity": 0.5 + 0 * time, "acceleration": 0 * time}

    # The rocker is pulled beyond what the crank lets it swing.
    message = PrescribedMotion("pull", "rocker", "ref.position", "ref.velocity", "ref.acceleration")
    blocks = (Block("ref", pull),)
    run = simulate(four_bar(ConstraintMethod("index3"), ALPHA, 4.0, blocks, constraints=(message,), keep=()))
    assert run.outcome.kind is OutcomeKind.NOT_SOLVED
    assert "shorten the step" in run.outcome.sentence
    assert run.statistics.extra["constraint_position_error"] < 1e-9


@pytest.mark.parametrize("method", ["projection", "index3", "minimal"])
def test_every_constraint_method_finds_the_same_rest(method):
    start = {"crank.position": -1.0, "knee.position": 0.5, "rocker.position": -1.5}
    rests = [
        find_equilibrium(assemble(four_bar(ConstraintMethod(way), FINE, initial=start))).x[:3]
        for way in ("baumgarte", method)
    ]
    np.testing.assert_allclose(rests[1], rests[0], atol=1e-9)


@pytest.mark.parametrize("way", ["projection", "index3", "minimal"])
def test_exact_sensitivities_are_those_of_finite_changes(way):
    constraint_method, solver = WAYS[way]
    closed = close_constraints(assemble(four_bar(constraint_method, solver))).x
    names = [state.name for state in assemble(four_bar(constraint_method, solver)).states]
    start = {"initial": dict(zip(names, closed.tolist(), strict=True)), "initialisation": "given"}
    measures = {"end": lambda run: run["crank.position"].final}
    table = rank_parameters(four_bar(constraint_method, solver, 0.5, **start), measures, ["last.mass"], change=0.0)
    ends = [
        simulate(four_bar(ConstraintMethod(pole=50.0), FINE, 0.5, **start).with_numbers({"last.mass": mass}))
        for mass in (1.49, 1.51)
    ]
    difference = (ends[1]["crank.position"].final - ends[0]["crank.position"].final) / 0.02
    # Central differences of 0.01 kg leave about 1e-6, the method of order 2 about 1e-6 too.
    assert table.rows[0].slope == pytest.approx(difference, abs=5e-6)


def flaws_of(make):
    with pytest.raises(ModelError) as caught:
        make()
    return str(caught.value)


def test_methods_and_constraint_methods_that_do_not_fit_are_refused():
    message = flaws_of(lambda: simulate(four_bar(ConstraintMethod("index3"), FINE)))
    assert "solver.method" in message
    assert "generalised_alpha" in message
    assert "constraint_method.method" in flaws_of(lambda: simulate(four_bar(ConstraintMethod(), ALPHA)))
    message = flaws_of(lambda: simulate(four_bar(ConstraintMethod("index3"), Solver("rattle"))))
    assert "hamiltonian_system" in message


def test_the_spectral_radius_is_refused_where_it_has_no_effect():
    with pytest.raises(ValueError, match="spectral_radius"):
        Solver("rk4", spectral_radius=0.5)
    with pytest.raises(ValueError, match="below 1"):
        Solver("generalised_alpha", spectral_radius=1.0)


@pytest.mark.parametrize(
    ("independent", "words"),
    [(("krank",), "krank"), (("crank", "rocker"), "leave 1 free"), ((), "leave 1 free")],
)
def test_independent_joints_are_checked(independent, words):
    constraint_method = ConstraintMethod("minimal", independent=independent)
    assert words in flaws_of(lambda: assemble(four_bar(constraint_method, FINE)))


def test_independent_joints_belong_to_minimal_coordinates():
    assert "no effect" in flaws_of(lambda: ConstraintMethod("projection", independent=("crank",)))


def test_minimal_coordinates_are_refused_for_constraints_that_can_break():
    event = Event("late", lambda time: time - 0.5, {"time": "time"}, action=lambda: {"rod.active": 0.0})
    scenario = cartesian_pendulum(ConstraintMethod("minimal"), FINE, events=(event,))
    assert "always hold" in flaws_of(lambda: assemble(scenario))
