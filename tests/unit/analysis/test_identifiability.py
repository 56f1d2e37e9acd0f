"""Is what has no effect, or cannot be distinguished, named, and are deviations those of linear least squares?"""

import numpy as np
import pytest

from robodyn.analysis.fitting.result import describe_correlations, find_unidentifiable

GENERATOR = np.random.default_rng(2)
J = GENERATOR.standard_normal((50, 3))
NAMES = ("mass", "stiffness", "viscous")


def test_independent_columns_have_no_flaw():
    assert find_unidentifiable(J, NAMES) == []


def test_a_column_of_zeros_has_no_effect():
    (flaw,) = find_unidentifiable(J * [1.0, 0.0, 1.0], NAMES)
    assert flaw.path == "stiffness"
    assert "no effect" in flaw.what


def test_a_dependent_column_is_told_with_the_direction_in_which_nothing_changes():
    """J (1, 2, 0) = 0 where the second column is minus half the first."""
    dependent = np.column_stack([J[:, 0], -0.5 * J[:, 0], J[:, 2]])
    (flaw,) = find_unidentifiable(dependent, NAMES)
    assert flaw.path == "mass, stiffness"
    assert "mass +0.5 %, stiffness +1 %" in flaw.what


def test_a_combination_of_three_is_told():
    dependent = np.column_stack([J[:, 0], J[:, 1], J[:, 0] + J[:, 1]])
    (flaw,) = find_unidentifiable(dependent, NAMES)
    assert flaw.path == "mass, stiffness, viscous"


def test_very_different_sizes_are_no_flaw():
    assert find_unidentifiable(J * [1e-3, 1.0, 1e5], NAMES) == []


def test_fewer_samples_than_parameters_are_a_flaw():
    flaws = find_unidentifiable(J[:2], NAMES)
    assert any("2 samples" in flaw.what for flaw in flaws)


@pytest.mark.parametrize(("value", "count"), [(0.98, 0), (-0.995, 1)])
def test_strong_correlations_are_told(value, count):
    correlation = np.array([[1.0, value], [value, 1.0]])
    assert len(describe_correlations(correlation, ("a", "b"))) == count
