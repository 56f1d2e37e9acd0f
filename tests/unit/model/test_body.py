"""Is a body checked to be one that can exist, and are all its problems reported at once?"""

import math

import numpy as np
import pytest

from robodyn import Body, ModelError


def paths_of(error):
    return [flaw.path for flaw in error.value.flaws]


def test_inertia_may_be_three_moments_six_numbers_or_a_matrix():
    matrix = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    assert Body("a", 1, inertia=matrix).inertia == (2.0, 3.0, 4.0, 0.1, 0.2, 0.3)
    assert Body("a", 1, inertia=(2, 3, 4)) == Body("a", 1.0, inertia=(2.0, 3.0, 4.0, 0.0, 0.0, 0.0))


def test_numbers_of_numpy_are_numbers():
    plain = Body("a", 2.0, (1.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    assert Body("a", np.int64(2), np.array([1, 0, 0]), np.ones(3, np.float32)) == plain


@pytest.mark.parametrize("mass", [-1.0, math.nan, math.inf, "3", True, None])
def test_an_impossible_mass_is_refused(mass):
    with pytest.raises(ModelError) as error:
        Body("a", mass)
    assert paths_of(error) == ["mass"]


def test_a_negative_mass_comes_with_a_remedy():
    with pytest.raises(ModelError, match="0 makes a massless link"):
        Body("a", -1.0)


@pytest.mark.parametrize(
    ("inertia", "complaint"),
    [
        ((1.0, 1.0, 2.1), "triangle inequality"),
        ((-1.0, 1.0, 1.0), "negative principal moment"),
        ((1.0, 1.0, 1.0, 3.0, 0.0, 0.0), "negative principal moment"),
        ((1.0, 1.0), "3 or 6 numbers"),
        (((1.0, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), "symmetric"),
        ((1.0, 1.0, math.nan), "finite"),
        (("a", "b", "c"), "3 or 6 numbers"),
        (((1.0, 0.0), (0.0,)), "3 or 6 numbers"),
        (3.0, "3 or 6 numbers"),
    ],
)
def test_an_impossible_inertia_is_refused(inertia, complaint):
    with pytest.raises(ModelError, match=complaint) as error:
        Body("a", 1.0, inertia=inertia)
    assert all(path.startswith("inertia") for path in paths_of(error))


def test_the_largest_possible_moment_is_accepted():
    """A flat body: the moment about its normal is the sum of the other two."""
    assert Body("disc", 1.0, inertia=(1.0, 1.0, 2.0)).inertia[2] == 2.0


def test_published_data_that_cannot_be_are_accepted_when_said_so():
    assert Body("a", 1.0, inertia=(1.0, 1.0, 9.0), physical=False).inertia[2] == 9.0


def test_every_problem_of_a_body_is_told_at_once():
    with pytest.raises(ModelError) as error:
        Body("2nd", -1.0, (0.0, math.nan, 0.0), (1.0, 1.0, 9.0))
    assert paths_of(error) == ["name", "mass", "com[1]", "inertia"]


def test_inertia_about_the_origin_is_moved_to_the_centre_of_mass():
    """A point mass has none about itself; a rod m l^2 / 3 about its end has m l^2 / 12 about its middle."""
    point = Body.about_origin("a", 2.0, (0.0, 0.0, 3.0), (18.0, 18.0, 0.0))
    np.testing.assert_allclose(point.inertia, np.zeros(6), atol=1e-14)
    rod = Body.about_origin("rod", 3.0, (1.0, 0.0, 0.0), (0.0, 3.0 * 4 / 3, 3.0 * 4 / 3))
    np.testing.assert_allclose(rod.inertia, (0.0, 1.0, 1.0, 0.0, 0.0, 0.0), atol=1e-14)


def test_flawed_inertia_about_the_origin_is_told_like_any_other():
    with pytest.raises(ModelError) as error:
        Body.about_origin("a", -1.0, (0.0, 0.0), (1.0, 2.0, 3.0, 4.0))
    assert paths_of(error) == ["mass", "com", "inertia"]


def test_a_body_cannot_be_changed():
    with pytest.raises(AttributeError):
        Body("a", 1.0).mass = 2.0
