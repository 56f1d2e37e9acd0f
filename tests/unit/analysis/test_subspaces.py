"""Are states found that inputs do not reach and outputs do not see?"""

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.poles import find_hidden_poles, find_minimal, truncate


def hidden_states(seed=3):
    """Kalman's form of 4 seen and reached, 2 not reached, 3 not seen, mixed by a random change of states."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((9, 9)) - 3 * np.eye(9)
    # Not seen (3), both (4), not reached (2): the first act on no others, on the last no others act.
    A[3:, :3] = 0.0
    A[7:, :7] = 0.0
    B, C = generator.standard_normal((9, 2)), generator.standard_normal((2, 9))
    B[7:], C[:, :3] = 0.0, 0.0
    T = generator.standard_normal((9, 9))
    core = LinearModel(A[3:7, 3:7], B[3:7], C[:, 3:7])
    mixed = LinearModel(T @ A @ np.linalg.inv(T), T @ B, C @ np.linalg.inv(T))
    return mixed, core, np.linalg.eigvals(A[7:, 7:]), np.linalg.eigvals(A[:3, :3])


def test_the_minimal_model_has_what_is_reached_and_seen():
    mixed, core, _, _ = hidden_states()
    found = find_minimal(mixed)
    assert found.order == 4
    np.testing.assert_allclose(np.sort_complex(found.poles()), np.sort_complex(core.poles()), rtol=1e-8)
    omega = np.logspace(-2, 2, 40)
    np.testing.assert_allclose(found.frequency_response(omega), core.frequency_response(omega), atol=1e-11)


def test_staircase_and_balanced_truncation_agree():
    mixed, _, _, _ = hidden_states()
    balanced = truncate(mixed).model
    assert balanced.order == find_minimal(mixed).order
    omega = np.logspace(-2, 2, 40)
    np.testing.assert_allclose(
        balanced.frequency_response(omega), find_minimal(mixed).frequency_response(omega), atol=1e-8
    )


def test_hidden_poles_are_told_by_what_hides_them():
    mixed, _, unreached, unseen = hidden_states()
    found = find_hidden_poles(mixed)
    np.testing.assert_allclose(np.sort_complex(found.uncontrollable), np.sort_complex(unreached), rtol=1e-8)
    np.testing.assert_allclose(np.sort_complex(found.unobservable), np.sort_complex(unseen), rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_states_and_channels_do_not_count(scale):
    mixed, _, _, _ = hidden_states()
    units = np.diag(scale ** np.linspace(-1, 1, 9))
    other = LinearModel(units @ mixed.A @ np.linalg.inv(units), units @ mixed.B * scale, mixed.C @ np.linalg.inv(units))
    assert find_minimal(other).order == 4


def test_a_minimal_model_stays_as_large_as_it_is():
    _, core, _, _ = hidden_states()
    found = find_hidden_poles(core)
    assert (find_minimal(core).order, found.uncontrollable.size, found.unobservable.size) == (4, 0, 0)
