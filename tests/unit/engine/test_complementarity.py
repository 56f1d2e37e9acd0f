"""Mixed complementarity problems: modes do not contradict themselves, and are found wherever there are any."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.complementarity import KINDS, NO_BOUND, Problem, make_problem

CLOSE = 1e-6
"""Part of the largest motion that is left to rounding where rows are nearly dependent."""


@pytest.mark.parametrize("kind", KINDS)
def test_modes_agree_with_forces_and_motions_wherever_trying_all_finds_any(kind):
    generator = np.random.default_rng(KINDS.index(kind))
    for _ in range(100):
        contacts = generator.integers(0, 4)
        sticks = generator.integers(0 if contacts else 1, 4)
        problem = make_problem(generator, kind, sticks, contacts, generator.integers(1, 6))
        unsettled, modes = problem.solve()
        if unsettled:
            assert not problem.is_solvable()
        else:
            assert problem.contradiction(modes) < CLOSE


@pytest.mark.parametrize("size", [8, 16, 30])
@pytest.mark.parametrize("kind", ["independent", "dependent"])
def test_large_symmetric_problems_have_the_solution_of_a_quadratic_programme(kind, size):
    """min f^T A f / 2 + b^T f within the bounds: |R f + z| with R^T R = A, R^T z = b, by a solver of scipy."""
    generator = np.random.default_rng(size)
    for _ in range(10):
        problem = make_problem(generator, kind, size // 2, size - size // 2, size if kind == "independent" else 6)
        problem = replace(problem, lower=np.where(problem.upper < NO_BOUND, problem.below, problem.lower))
        problem = replace(problem, upper=np.where(problem.upper < NO_BOUND, problem.above, problem.upper))
        unsettled, modes = problem.solve()
        assert unsettled == 0
        A = problem.K @ problem.W
        values, vectors = np.linalg.eigh(A)
        roots = np.sqrt(np.maximum(values, 0.0))
        R = roots[:, None] * vectors.T
        z = np.where(values > 1e-9 * values[-1], (vectors.T @ problem.b) / np.maximum(roots, 1e-300), 0.0)
        bounds = problem.below - 1e-12, np.where(problem.upper < NO_BOUND, problem.above + 1e-12, np.inf)
        expected = lsq_linear(R, -z, bounds, method="bvls", tol=1e-14, max_iter=10_000).x
        costs = [0.5 * f @ A @ f + problem.b @ f for f in (problem.forces(modes), expected)]
        assert problem.contradiction(modes) < CLOSE
        # Of nearly dependent rows the programme stops a little above the least cost.
        assert costs[0] <= costs[1] + CLOSE * abs(costs[1])


def test_large_impacts_with_friction_have_modes():
    """As Stewart and Trinkle (1996) prove; some of them are found by Lemke's method alone."""
    generator = np.random.default_rng(12)
    for _ in range(100):
        problem = make_problem(generator, "impact", 2, 8, 9)
        unsettled, modes = problem.solve()
        assert unsettled == 0
        assert problem.contradiction(modes) < CLOSE


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("ratio", [1.0, 1.5])
@pytest.mark.parametrize("back", [1.0, 4.0, 0.0])
def test_friction_that_sticks_holds_more_than_it_slides_with(k, ratio, back):
    """Also where friction back is another than forth, or none as in a one-way clutch."""
    generator = np.random.default_rng(k)
    for _ in range(100):
        problem = make_problem(generator, "independent", k, 0, k)
        sliding = generator.uniform(0.1, 3.0, (k, 1)) * [1.0, back]
        levels = {"below": -sliding[:, 0], "above": sliding[:, 1]}
        problem = replace(problem, lower=-ratio * sliding[:, 0], upper=ratio * sliding[:, 1], **levels)
        unsettled, modes = problem.solve()
        assert unsettled == 0
        assert problem.contradiction(modes) < CLOSE


def test_a_contact_whose_friction_pulls_it_in_finds_no_force():
    """Painleve: K W < 0, and it would sink without a force."""
    problem = make_problem(np.random.default_rng(1), "independent", 0, 1, 1)
    problem = replace(problem, K=np.array([[1.0]]), W=np.array([[-0.5]]), b=np.array([-1.0]), initial=np.zeros(1))
    unsettled, modes = problem.solve()
    assert unsettled == 1
    assert modes[0] == 2


def test_a_row_that_only_follows_takes_the_direction_of_its_motion():
    problem = make_problem(np.random.default_rng(2), "independent", 1, 0, 1)
    free = {"lower": np.zeros(1), "upper": np.zeros(1), "below": np.zeros(1), "above": np.zeros(1)}
    for b in (-1.0, 1.0):
        moved = replace(problem, b=np.array([b]), allowed=np.array([2.0]), initial=np.ones(1), **free)
        assert moved.solve()[1][0] == b


def cone_problem(generator: np.random.Generator, contacts: int, joints: int) -> Problem:
    """Contact points in space: a normal and two tangents each."""
    problem = make_problem(generator, "independent", 0, 3 * contacts, joints)
    slack, k = problem.tolerance[0], 3 * contacts
    normals, zero = np.arange(k) < contacts, np.zeros(k)
    mu = np.repeat(generator.uniform(0.1, 1.2, contacts), 2)
    return replace(
        problem,
        compliance=np.full(k, 1e-7 * np.mean(np.diag(problem.K @ problem.W))),
        lower=np.where(normals, problem.lower, 0.0),
        upper=np.where(normals, problem.upper, 0.0),
        coefficient=np.concatenate([zero[:contacts], mu]),
        partner=np.concatenate([zero[:contacts] - 1, np.repeat(np.arange(contacts), 2)]),
        initial=np.where(normals, np.where(problem.b < -slack, 0.0, 1.0), 0.0),
    )


def cone_error(problem: Problem, contacts: int, modes: np.ndarray, refinements: int = 30) -> float:
    """By how much forces and motions of given modes are no solution: modes of tangents are directions of slip."""
    A, k = problem.K @ problem.W, len(problem.b)
    pushes, directions = modes[:contacts] == 0, modes[contacts:].reshape(-1, 2)
    slides = pushes & (np.linalg.norm(directions, axis=1) > 0.5)
    mu = problem.coefficient[contacts::2]
    # f = E of the forces that hold; a point that slides has its friction beside its normal force.
    E = np.eye(k)
    for i in np.flatnonzero(slides):
        E[contacts + 2 * i : contacts + 2 * i + 2, i] = -mu[i] * directions[i]
    held = np.concatenate([pushes, np.repeat(pushes & ~slides, 2)])
    f = np.zeros(k)
    if held.any():
        E, S, lam = E[:, held], A[held] @ E[:, held], np.zeros(int(held.sum()))
        for _ in range(refinements):
            lam += np.linalg.solve(S + np.diag(problem.compliance[held]), -problem.b[held] - S @ lam)
        f = E @ lam
    w, errors = problem.b + A @ f, []
    for i in range(contacts):
        tangents = slice(contacts + 2 * i, contacts + 2 * i + 2)
        if not pushes[i]:
            errors.append(-w[i])
            continue
        errors += [-f[i] * A[i, i], abs(w[i])]
        if slides[i]:
            # Along its direction only, and forward.
            along = directions[i] @ w[tangents]
            errors += [-along, np.linalg.norm(w[tangents] - along * directions[i])]
        else:
            errors.append((np.linalg.norm(f[tangents]) - mu[i] * f[i]) * A[i, i])
    return max(errors) / problem.scale


def test_contact_points_in_space_slip_along_their_cones():
    generator = np.random.default_rng(4)
    slid = failed = count = 0
    while count < 250:
        contacts = int(generator.integers(1, 4))
        problem = cone_problem(generator, contacts, 3 * contacts + int(generator.integers(0, 4)))
        if np.linalg.cond(problem.K @ problem.W) > 1e6:
            continue
        count += 1
        unsettled, modes = problem.solve()
        slid += not unsettled and np.any((modes[:contacts] == 0) & (np.hypot(*modes[contacts:].reshape(-1, 2).T) > 0.5))
        failed += bool(unsettled) or cone_error(problem, contacts, modes) > 1e-5
    assert slid > 100
    # Cones with much friction may turn each other round without end: their directions are then those of the last turn.
    assert failed <= 0.02 * count
