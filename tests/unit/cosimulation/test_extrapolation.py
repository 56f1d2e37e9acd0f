"""Polynomials go through the last values of a signal, or have its last means."""

import numpy as np
import pytest

from robodyn.computation.cosimulation.exchange import Trend


@pytest.mark.parametrize("mean", [False, True])
def test_a_quadratic_is_found_again_from_values_and_from_means(mean):
    c = np.array([2.0, -3.0, 5.0])
    trend = Trend(2)
    for begin, end in ((-0.7, -0.5), (-0.5, -0.1), (-0.1, 0.0)):
        begin = begin if mean else end
        whole = [np.polyval(np.polyint(c[::-1]), t) for t in (begin, end)]
        value = (whole[1] - whole[0]) / (end - begin) if mean else np.polyval(c[::-1], end)
        trend.add((begin, end), np.array([value]))
    # Three equations, condition some tens.
    np.testing.assert_allclose(trend.fit(0.0)[:, 0], c, atol=1e-12)
