"""Has the space arm the frequencies that its masses and joints give, and do flexible booms only add to it?"""

import dataclasses

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import eigh

from robodyn import Body, Scenario, assemble, simulate
from robodyn.description.structures import Reduction
from robodyn_studies.catalog.space_arm import BODIES, space_arm_machine, space_arm_swing, split_boom


def frequencies(machine):
    """Natural frequencies of the straight arm without damping [Hz], lowest first."""
    system = assemble(Scenario("straight", machine, 1.0))
    x, p = np.zeros(len(system.states)), [number.value for number in system.parameters]
    columns = [*system.symbols]
    stiffness = ca.densify(-ca.jacobian(system.expressions.applied, system.q))
    M, K = ca.Function("both", columns, [ca.densify(system.mass_matrix), stiffness])(0, x, [], [], p)
    return np.sqrt(eigh(np.array(K), np.array(M), eigvals_only=True)) / (2 * np.pi)


# Computed beforehand for rigid booms and these joint springs, by another program.
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0.389, 0.428)),
        ({"stiffness": 5e5}, (0.275, 0.302)),
        ({"payload": Body("cube", 2000.0, (1.0, 0, 0), (1333.3,) * 3)}, (0.166, 0.190)),
        ({"payload": Body("cube", 20000.0, (2.0, 0, 0), (53333.0,) * 3)}, (0.053, 0.062)),
    ],
)
def test_straight_rigid_arm_has_known_frequencies(options, expected):
    # Three digits are given.
    assert frequencies(space_arm_machine(**options))[:2] == pytest.approx(expected, abs=6e-4)


def test_stiff_booms_are_the_rigid_arm_and_soft_ones_lower_its_frequencies():
    rigid, soft = space_arm_machine(), space_arm_machine(True)
    factors = {f"{boom}_boom.stiffness": 1e6 for boom in ("upper", "lower")}
    stiff = dataclasses.replace(soft, mechanism=soft.mechanism.with_numbers(factors))

    assert frequencies(stiff)[:7] == pytest.approx(frequencies(rigid), rel=1e-5)
    # Fourteen modes a boom give the same four digits.
    assert frequencies(soft)[:2] == pytest.approx([0.2949, 0.3117], abs=6e-5)


@pytest.mark.parametrize("boom", BODIES[3:5], ids=lambda body: body.name)
def test_tube_and_housings_have_the_published_inertia(boom):
    parts = split_boom(boom)
    placed = [(parts.tube, 0.0), (parts.root, 0.0), (parts.end, 7.11)]
    mass = sum(part.mass for part, _ in placed)
    com = sum(part.mass * (np.array(part.com) + (x, 0, 0)) for part, x in placed) / mass
    total = np.zeros((3, 3))
    for part, x in placed:
        r = np.array(part.com) + (x, 0, 0) - com
        xx, yy, zz, xy, xz, yz = part.inertia
        total += np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + part.mass * (r @ r * np.eye(3) - np.outer(r, r))

    assert mass == pytest.approx(boom.mass)
    assert com == pytest.approx(boom.com)
    assert total[[0, 1, 2, 0], [0, 1, 2, 1]] == pytest.approx(boom.inertia[:4], rel=1e-9)


def test_flexible_arm_swings_and_its_energy_is_accounted_for():
    run = simulate(space_arm_swing(how=Reduction(modes=0, highest=20.0), duration=2.0))

    assert run.outcome.ok
    # 14 J swing; steps of 2 ms of second order, with modes up to 60 Hz.
    np.testing.assert_allclose(run["energy.balance"].values, run["energy.balance"].values[0], atol=1e-2)
    assert np.ptp(run["lower_boom.mode1.position"].values) > 1e-3
