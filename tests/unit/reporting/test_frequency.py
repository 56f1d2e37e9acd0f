"""Do pictures over frequency show magnitude and phase of each model?"""

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.base.errors import ModelError
from robodyn.presentation.reporting import draw_frequency, plot_frequency

pytest.importorskip("matplotlib")

NAMES = {"inputs": (Variable("u", "V"),), "outputs": (Variable("y", "m"),)}


def lag(rate=1.0):
    return LinearModel([[-rate]], B=[[rate]], C=[[1.0]], **NAMES)


def late(tau=0.2):
    return LinearModel([[-1.0]], C=[[1.0]], E=[[1.0]], G=[[1.0]], delays=(DelayedSignal("late", tau),), **NAMES)


def test_magnitude_and_phase_are_those_of_the_model():
    frequency = np.logspace(-2, 1, 50)
    upper, lower = draw_frequency(late(), frequency=frequency).axes
    s = 2j * np.pi * frequency
    np.testing.assert_allclose(upper.get_lines()[0].get_ydata(), np.abs(1 / (1 + s)), rtol=1e-12)
    expected = np.degrees(np.angle(1 / (1 + s)) - 2 * np.pi * frequency * 0.2)
    np.testing.assert_allclose(lower.get_lines()[0].get_ydata(), expected, atol=1e-9)
    assert (upper.get_xscale(), upper.get_yscale(), lower.get_xscale()) == ("log", "log", "log")
    assert upper.get_ylabel() == "magnitude [m/V]"
    assert lower.get_xlabel() == "frequency [Hz]"


def test_several_models_share_the_frequencies_and_have_a_legend(texts):
    figure = draw_frequency([lag(), lag(30.0)], labels=["slow", "fast"])
    upper = figure.axes[0]
    one, two = (line.get_xdata() for line in upper.get_lines())
    np.testing.assert_array_equal(one, two)
    assert one[0] < 1 / (2 * np.pi) < 30 / (2 * np.pi) < one[-1]
    assert texts(figure.legends[0]) == ["slow", "fast"]
    assert figure.legends[0].get_title().get_text() == "y over u"


def test_what_has_no_channel_or_no_label_is_refused():
    with pytest.raises(ModelError, match="outputs.z: is not one of the outputs"):
        draw_frequency(lag(), output="z")
    with pytest.raises(ValueError, match="2 labels for 1 models"):
        draw_frequency(lag(), labels=["a", "b"])


def test_the_picture_is_written(tmp_path):
    plot_frequency([lag(), late()], tmp_path / "bode.png")
    assert (tmp_path / "bode.png").read_bytes().startswith(b"\x89PNG")
