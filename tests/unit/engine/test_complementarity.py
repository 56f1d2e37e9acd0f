"""Mixed complementarity problems: modes do not contradict themselves, and are found wherever there are any."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls
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


@pytest.mark.parametrize("angle", [1e-2, 1e-3, 2e-4])
def test_a_wedge_between_two_surfaces_that_all_but_oppose_each_other_holds(angle):
    """Two normals at nearly 180 degrees: f = b / (2 sin(angle / 2)), and what little gives way is taken back."""
    problem = make_problem(np.random.default_rng(1), "independent", 0, 2, 2)
    K = np.array([[1.0, np.sin(angle / 2)], [-1.0, np.sin(angle / 2)]])
    pushed = {"K": K, "W": K.T, "b": K @ [0.0, -1.0], "compliance": np.full(2, 1e-7), "initial": np.zeros(2)}
    problem = replace(problem, **pushed)
    unsettled, modes = problem.solve()
    assert unsettled == 0
    assert problem.forces(modes) == pytest.approx(1 / (2 * np.sin(angle / 2)), rel=1e-6)


def test_a_contact_whose_friction_pulls_it_in_finds_no_force():
    """Painleve: K W < 0, and it would sink without a force."""
    problem = make_problem(np.random.default_rng(1), "independent", 0, 1, 1)
    problem = replace(problem, K=np.array([[1.0]]), W=np.array([[-0.5]]), b=np.array([-1.0]), initial=np.zeros(1))
    unsettled, modes = problem.solve()
    assert unsettled == 1
    assert modes[0] == 2


def test_a_contact_point_in_space_without_forces_is_marked():
    """The same beside a second one that has some: a solution is never made up."""
    problem = cone_problem(np.random.default_rng(1), 2, 6)
    W = problem.W.copy()
    W[:, 0] *= -1.0
    unsettled, modes = replace(problem, W=W, b=problem.K @ np.linalg.lstsq(problem.K[:2], [-1.0, -1.0])[0]).solve()
    assert unsettled >= 1
    assert modes[0] == 2


def test_a_row_that_only_follows_takes_the_direction_of_its_motion():
    problem = make_problem(np.random.default_rng(2), "independent", 1, 0, 1)
    free = {"lower": np.zeros(1), "upper": np.zeros(1), "below": np.zeros(1), "above": np.zeros(1)}
    for b in (-1.0, 1.0):
        moved = replace(problem, b=np.array([b]), allowed=np.array([2.0]), initial=np.ones(1), **free)
        assert moved.solve()[1][0] == b


@pytest.mark.parametrize("kind", ["independent", "dependent", "impact", "sliding"])
def test_friction_that_slides_for_certain_keeps_its_direction_beside_what_may_change(kind):
    generator = np.random.default_rng(KINDS.index(kind))
    settled = 0
    for _ in range(100):
        sticks, contacts = int(generator.integers(1, 5)), int(generator.integers(1, 5))
        problem = make_problem(generator, kind, sticks, contacts, int(generator.integers(2, 8)))
        slides = (problem.upper < NO_BOUND) & (generator.random(len(problem.b)) < 0.5)
        given = np.where(slides, generator.choice([-1.0, 1.0], len(slides)), problem.initial)
        problem = replace(problem, allowed=np.where(slides, 0.0, 1.0), initial=given)
        unsettled, modes = problem.solve()
        if unsettled:
            continue
        settled += 1
        assert np.array_equal(modes[slides], given[slides])
        assert problem.contradiction(modes) < CLOSE
    assert settled > 60


def cone_problem(generator: np.random.Generator, contacts: int, joints: int) -> Problem:
    """Contact points in space: a normal and two tangents each."""
    problem, k = make_problem(generator, "independent", 0, 3 * contacts, joints), 3 * contacts
    root, K = generator.normal(size=(joints, joints)), generator.normal(size=(k, joints))
    W = (root @ root.T + 0.05 * np.eye(joints)) @ K.T
    b = K @ generator.normal(size=joints) * generator.choice([0.1, 1.0, 10.0])
    own, slack = np.sum(K * W.T, axis=1), 1e-9 * max(1.0, float(np.max(np.abs(b))))
    normals, zero = np.arange(k) < contacts, np.zeros(k)
    mu = np.repeat(generator.uniform(0.1, 1.2, contacts), 2)
    return replace(
        problem,
        K=K,
        W=W,
        b=b,
        compliance=np.full(k, 1e-7 * np.mean(own)),
        tolerance=np.full(k, slack),
        lower=np.where(normals, slack / own, 0.0),
        upper=np.where(normals, problem.upper, 0.0),
        coefficient=np.concatenate([zero[:contacts], mu]),
        partner=np.concatenate([zero[:contacts] - 1, np.repeat(np.arange(contacts), 2)]),
        initial=np.where(normals, np.where(b < -slack, 0.0, 1.0), 0.0),
    )


def cone_error(problem: Problem, contacts: int, modes: np.ndarray) -> float:
    """How far the best forces of given modes are from a solution, however shared: non-negative least squares.

    A contact that sticks has any sum of forces on the edge of its cone, one that slides the one against its slip.
    """
    A, pushes, directions = problem.K @ problem.W, modes[:contacts] == 0, modes[contacts:].reshape(-1, 2)
    circle = np.linspace(0, 2 * np.pi, 768, endpoint=False)
    edge, held, columns = np.stack([np.cos(circle), np.sin(circle)], axis=1), [], []
    for i in np.flatnonzero(pushes):
        slides, tangents = np.linalg.norm(directions[i]) > 0.5, [contacts + 2 * i, contacts + 2 * i + 1]
        held += [i] if slides else [i, *tangents]
        for direction in -directions[i : i + 1] if slides else edge:
            column = np.zeros(3 * contacts)
            column[[i, *tangents]] = 1.0, *(problem.coefficient[tangents] * direction)
            columns.append(column)
    f, errors = np.zeros(3 * contacts), [0.0]
    if held:
        shares, left = nnls(A[held] @ np.array(columns).T, -problem.b[held], maxiter=5000)
        f, errors = np.array(columns).T @ shares, [left]
    w = problem.b + A @ f
    for i, direction in enumerate(directions):
        if not pushes[i]:
            errors.append(-w[i] * problem.allowed[i])
        elif np.linalg.norm(direction) > 0.5:
            # Along its direction only, and forward.
            tangents = w[contacts + 2 * i : contacts + 2 * i + 2]
            errors += [-direction @ tangents, np.linalg.norm(tangents - direction @ tangents * direction)]
    return max(errors) / problem.scale


@pytest.mark.parametrize("dependent", [False, True])
def test_contact_points_in_space_slip_along_their_cones(dependent):
    generator = np.random.default_rng(4)
    slid = 0
    for _ in range(200):
        contacts = int(generator.integers(2, 6))
        joints = int(generator.integers(2, 3 * contacts)) if dependent else 3 * contacts + int(generator.integers(0, 4))
        problem = cone_problem(generator, contacts, joints)
        if generator.random() < 0.3:
            # The last one is apart for certain: neither what its gap does nor the mode of its friction means anything.
            apart, gap = problem.partner == contacts - 1, np.arange(3 * contacts) == contacts - 1
            initial = np.where(apart, generator.integers(-1, 2), np.where(gap, 1.0, problem.initial))
            problem = replace(problem, allowed=np.where(apart | gap, 0.0, 1.0), initial=initial)
        unsettled, modes = problem.solve()
        slid += np.any((modes[:contacts] == 0) & (np.hypot(*modes[contacts:].reshape(-1, 2).T) > 0.5))
        assert unsettled == 0
        assert cone_error(problem, contacts, modes) < CLOSE
    assert slid > 100
