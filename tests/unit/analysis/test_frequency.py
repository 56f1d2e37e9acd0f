"""Are responses over frequency the closed ones, without jumps of phase, on grids that show the poles?"""

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.analysis.linear.responses import choose_frequencies, respond
from robodyn.base.errors import ModelError

OMEGA, RATIO = 20.0, 0.02


def oscillator(ratio=RATIO, tau=None):
    """y'' + 2 b w y' + w^2 y = w^2 u(t - tau)."""
    A, column = [[0.0, 1.0], [-(OMEGA**2), -2 * ratio * OMEGA]], [[0.0], [OMEGA**2]]
    names = {"inputs": (Variable("u", "V"),), "outputs": (Variable("y", "m/s"),)}
    if tau is None:
        return LinearModel(A, B=column, C=[[1.0, 0.0]], **names)
    return LinearModel(A, C=[[1.0, 0.0]], E=column, G=[[1.0]], delays=(DelayedSignal("late", tau),), **names)


def test_the_response_is_the_closed_form():
    found = respond(oscillator(tau=0.01), frequency=[0.5, 3.0, 12.0])
    s = 2j * np.pi * found.frequency
    expected = OMEGA**2 * np.exp(-0.01 * s) / (s**2 + 2 * RATIO * OMEGA * s + OMEGA**2)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    np.testing.assert_allclose(found.magnitude, np.abs(expected), rtol=1e-12)


def test_the_default_grid_shows_the_resonance():
    found = respond(oscillator())
    peak = 1 / (2 * RATIO * np.sqrt(1 - RATIO**2))
    # A grid point lies on the damped frequency, b^2 / 2 beside the peak.
    assert found.magnitude.max() == pytest.approx(peak, rel=RATIO)
    assert found.frequency[0] < OMEGA / (2 * np.pi) / 5 < 5 * OMEGA / (2 * np.pi) < found.frequency[-1]


def test_the_phase_of_a_delay_falls_without_jumps():
    found = respond(oscillator(tau=0.5), frequency=np.linspace(0.01, 30, 2000))
    assert found.phase[-1] == pytest.approx(-180 - 360 * 30 * 0.5, abs=2.0)
    assert np.abs(np.diff(found.phase)).max() < 90


def test_units_of_the_magnitude_are_told():
    assert respond(oscillator(), frequency=[1.0]).unit == "m/s/V"
    model = LinearModel([[-1.0]], B=[[1.0]], C=[[1.0]], inputs=(Variable("u", "N m"),), outputs=(Variable("y", "N m"),))
    assert respond(model, frequency=[1.0]).unit == ""


def test_undamped_models_and_pure_integrators_have_a_grid_too():
    for model in (oscillator(ratio=0.0), LinearModel([[0.0]], B=[[1.0]], C=[[1.0]])):
        found = respond(model)
        assert np.isfinite(found.values).all()


def test_a_grid_for_several_models_shows_the_poles_of_all():
    slow, fast = LinearModel([[-0.1]]), LinearModel([[-1e4]])
    grid = choose_frequencies([slow, fast])
    assert grid[0] < 0.1 / (2 * np.pi) < 1e4 / (2 * np.pi) < grid[-1]
    assert np.all(np.diff(grid) > 0)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"input": "v"}, "inputs.v: is not one of the inputs"),
        ({"output": "v"}, "outputs.v: is not one of the outputs"),
        ({"frequency": [2.0, 1.0]}, "must be increasing"),
        ({"frequency": [-1.0]}, "of at least 0 Hz"),
        ({"frequency": []}, "must be increasing"),
    ],
)
def test_what_has_no_response_is_told(options, complaint):
    with pytest.raises(ModelError, match=complaint):
        respond(oscillator(), **options)


def test_a_channel_must_be_named_where_there_are_several():
    with pytest.raises(ModelError, match="the model has 2: u1, u2"):
        respond(LinearModel(-np.eye(2), B=np.eye(2), C=[[1.0, 1.0]]))
