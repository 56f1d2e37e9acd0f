"""Are zeros those of the numerators, and do pole-zero pairs that cancel show?"""

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.poles import find_cancelled_pairs, find_minimal, find_zeros

control = pytest.importorskip("control")


def ordered(values):
    return np.sort_complex(np.round(np.asarray(values, complex), 6))


@pytest.mark.parametrize(
    ("zeros", "poles"),
    [
        ((-2, -3), (-1, -4, -5)),
        ((-1 + 2j, -1 - 2j), (-1, -2, -3, -4)),
        ((2, -3), (-1, -4)),
        ((), (-1, -2, -3)),
        ((0,), (0, 0, 1)),
    ],
)
def test_zeros_of_one_channel_are_roots_of_its_numerator(zeros, poles):
    model = LinearModel.from_control(control.ss(control.zpk(zeros, poles, 7.0)))
    np.testing.assert_allclose(ordered(find_zeros(model)), ordered(zeros), atol=1e-6)


@pytest.mark.parametrize("through", [0.0, 1.0])
@pytest.mark.parametrize("channels", [(2, 2), (3, 3)])
def test_the_system_matrix_loses_rank_at_each_zero_of_several_channels(channels, through):
    generator = np.random.default_rng(5)
    A, B, C = (generator.standard_normal(shape) for shape in ((7, 7), (7, channels[0]), (channels[1], 7)))
    D = through * generator.standard_normal(channels[::-1])
    zeros = find_zeros(LinearModel(A, B, C, D))
    # A general D leaves as many zeros as states, none leaves one less for each channel.
    assert zeros.size == (7 if through else 7 - channels[0])
    for s in zeros:
        sizes = np.linalg.svd(np.block([[A - s * np.eye(7), B], [C, D]]), compute_uv=False)
        assert sizes[-1] < 1e-12 * sizes[0]


def test_a_general_model_with_more_outputs_than_inputs_has_no_zeros():
    generator = np.random.default_rng(6)
    assert not find_zeros(LinearModel(*(generator.standard_normal(s) for s in ((6, 6), (6, 2), (3, 6))))).size


def test_a_common_zero_of_all_outputs_is_found_though_there_are_more_outputs_than_inputs():
    """y1 = (s + 2) g u and y2 = (s + 2) g u / (s + 5) vanish together."""
    s = control.tf("s")
    g = (s + 2) / ((s + 1) * (s + 3))
    stacked = control.append(control.ss(g), control.ss(g / (s + 5)))
    model = LinearModel(stacked.A, stacked.B @ np.ones((2, 1)), stacked.C, stacked.D @ np.ones((2, 1)))
    found = find_zeros(find_minimal(model))
    np.testing.assert_allclose(found, [-2.0], rtol=1e-6)


def test_units_of_channels_do_not_move_zeros():
    model = LinearModel.from_control(control.ss(control.zpk([-2, -3], [-1, -4, -5], 1.0)))
    other = LinearModel(model.A, 1e7 * model.B, 1e-9 * model.C)
    np.testing.assert_allclose(find_zeros(other), find_zeros(model), rtol=1e-8)


def test_a_pole_that_a_zero_hides_is_told_with_it():
    model = LinearModel.from_control(control.ss(control.zpk([-2, -7], [-1, -2, -5], 1.0)))
    (pair,) = find_cancelled_pairs(model)
    assert pair.pole == pytest.approx(-2.0, abs=1e-6)
    assert pair.zero == pytest.approx(-2.0, abs=1e-6)
    assert find_cancelled_pairs(find_minimal(model)) == ()


def test_a_model_without_inputs_has_no_zeros():
    assert not find_zeros(LinearModel([[-1.0]], C=[[1.0]])).size
