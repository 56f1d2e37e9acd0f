"""Is the delta robot, linearised, the one that was published: its poles, the twelve pairs that cancel, the crossing?"""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from robodyn import assemble
from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.linearisation import linearise, reduce_constraints
from robodyn.analysis.linear.poles import find_cancelled_pairs, find_hidden_poles, find_minimal, find_zeros, truncate
from robodyn.analysis.linear.stability import find_stability_limit, follow_poles
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS, delta_hold

TORQUES, ANGLES = [f"{arm}.motor.value" for arm in ARMS], [f"{motor}.position" for motor in MOTORS]
OMEGA = np.logspace(-1, 2, 60)


@pytest.fixture(scope="module")
def system():
    return assemble(delta_hold())


@pytest.fixture(scope="module")
def full(system):
    return linearise(system, inputs=TORQUES, outputs=ANGLES)


def match(found, expected):
    """The poles found, in the order of those nearest to them."""
    rows, columns = linear_sum_assignment(np.abs(np.subtract.outer(expected, found)))
    return found[columns[np.argsort(rows)]]


def test_the_robot_has_the_published_poles(full, system):
    """Four near -2 +- j, one at -6.5, one at +5.2, read from a picture; of the fitted set three more digits."""
    poles = reduce_constraints(full, system).poles()
    published = np.array([-6.5, -2 + 1j, -2 - 1j, -2 + 1j, -2 - 1j, 5.2])
    np.testing.assert_allclose(match(poles, published), published, atol=0.15)
    fitted = np.array([-6.473, -1.990 + 1.136j, -1.990 - 1.136j, -1.990 + 1.136j, -1.990 - 1.136j, 5.176])
    np.testing.assert_allclose(match(poles, fitted), fitted, atol=1e-3)


def test_twelve_pairs_of_poles_and_zeros_cancel_at_baumgartes_pole(full):
    pairs = find_cancelled_pairs(full)
    assert len(pairs) == 12
    # Six double roots, known to half the digits.
    assert max(abs(root + 5.0) for pair in pairs for root in (pair.pole, pair.zero)) < 1e-3


def test_errors_of_constraints_are_not_controllable_but_half_of_them_are_seen(full):
    """The study calls them unobservable too: in the motors' angles six of twelve are not, in all angles none is."""
    hidden = find_hidden_poles(full)
    assert (hidden.uncontrollable.size, hidden.unobservable.size) == (12, 6)
    all_angles = LinearModel(full.A, full.B, np.eye(9, 18))
    assert find_hidden_poles(all_angles).unobservable.size == 0


def test_balanced_staircase_and_free_coordinates_give_one_model_of_order_six(full, system):
    reduced = reduce_constraints(full, system, MOTORS)
    models = [reduced, truncate(full).model, find_minimal(full)]
    assert [model.order for model in models] == [6, 6, 6]
    wanted = full.frequency_response(OMEGA)
    for model in models:
        assert np.abs(model.frequency_response(OMEGA) - wanted).max() < 1e-8 * np.abs(wanted).max()
    assert not find_zeros(reduced).size


def test_the_unstable_pole_crosses_zero_at_the_published_angle(system):
    found = find_stability_limit(system, ANGLES, 0.0, 0.7, by=TORQUES)
    # Published: about 22 deg; of the fitted set 21.998.
    assert np.degrees(found.value) == pytest.approx(21.998, abs=1e-3)
    assert found.stable_above
    assert found.pole.imag == 0.0


def test_poles_are_followed_through_the_crossing(system):
    path = follow_poles(system, ANGLES, np.radians(np.arange(0.0, 41.0, 2.0)), by=TORQUES)
    assert path.poles.shape == (21, 6)
    assert np.all((path.rightmost > 0) == (np.degrees(path.values) < 21.998))
    # Neighbours on a branch are near each other, except where two real poles meet and part.
    jumps = np.abs(np.diff(path.poles, axis=0)).max(axis=0)
    assert jumps.max() < 2.0
