"""Do rankings and fits show the numbers they are made of?"""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from robodyn.analysis.sensitivity.ranking import Sensitivity
from robodyn.presentation.reporting import draw_fit, draw_tornado, plot_fit, plot_tornado

pytest.importorskip("matplotlib")

WEAK = Sensitivity("overshoot", "valve.damping", "", 42.0, 0.38, 5.0, 0.25, 41.6, 42.5)
STRONG = Sensitivity("overshoot", "control.gain", "A/V", 42.0, 0.231, 580.0, 0.1, 29.0, 56.0)
EXACT = dataclasses.replace(STRONG, parameter="load.mass", change=0.0, lower=None, upper=None)


def bars(figure, parameter):
    return [bar for bar in figure.axes[0].patches if bar.get_gid() == parameter]


def test_bars_reach_from_the_value_to_that_of_less_and_more():
    figure = draw_tornado([WEAK, STRONG], unit="%")
    less, more = bars(figure, "control.gain")
    assert [bar.get_x() for bar in (less, more)] == [42.0, 42.0]
    assert [bar.get_width() for bar in (less, more)] == pytest.approx([-13.0, 14.0])
    assert figure.axes[0].get_xlabel() == "overshoot [%]"


def test_the_longest_bar_is_on_top_with_its_name_and_change():
    labels = [label.get_text() for label in draw_tornado([WEAK, STRONG]).axes[0].get_yticklabels()]
    assert labels == ["valve.damping ±25 %", "control.gain ±10 %"]


def test_the_exact_slope_is_drawn_over_the_same_change():
    (line,) = [line for line in draw_tornado([STRONG]).axes[0].get_lines() if line.get_gid()]
    half = 580.0 * 0.231 * 0.1
    assert line.get_xdata() == pytest.approx([42.0 - half, 42.0 + half])


def test_without_finite_changes_bars_are_those_of_one_percent():
    less, more = bars(draw_tornado([EXACT]), "load.mass")
    assert more.get_width() == pytest.approx(580.0 * 0.231 / 100)
    assert less.get_width() == -more.get_width()


def test_two_measures_or_none_are_refused():
    with pytest.raises(ValueError, match="one measure"):
        draw_tornado([STRONG, dataclasses.replace(STRONG, measure="peak")])
    with pytest.raises(ValueError, match="one measure"):
        draw_tornado([])
    with pytest.raises(ValueError, match="too many"):
        draw_tornado([STRONG] * 40)


@pytest.fixture
def fit():
    """What a figure reads of a fit."""
    time = np.linspace(0.0, 1.0, 5)
    measured = {"a": SimpleNamespace(values=np.array([0.0, 1.0, np.nan, 3.0, 4.0]))}
    run = {"a": SimpleNamespace(values=np.array([0.1, 0.9, 2.0, 3.1, 3.9]))}
    signal = SimpleNamespace(name="a", unit="m", noise=0.1)
    residuals = (measured["a"].values - run["a"].values)[:, None]

    class Measured(dict):
        names = ("a",)

    samples = Measured(measured)
    samples.time = time
    recording = SimpleNamespace(measured=samples, run=run, residuals=residuals)
    return SimpleNamespace(signals=(signal,), recordings=(recording,))


def test_a_fit_shows_samples_simulation_and_what_is_left(fit):
    above, below = draw_fit(fit).axes
    lines = {line.get_gid(): line for line in above.get_lines()}
    np.testing.assert_array_equal(lines["measured"].get_ydata(), fit.recordings[0].measured["a"].values)
    np.testing.assert_array_equal(lines["simulated"].get_ydata(), fit.recordings[0].run["a"].values)
    (left,) = [line for line in below.get_lines() if line.get_gid() == "residual"]
    np.testing.assert_array_equal(left.get_ydata(), fit.recordings[0].residuals[:, 0])
    assert [ax.get_ylabel() for ax in (above, below)] == ["a [m]", "residual [mm]"]


def test_both_are_written_to_files(tmp_path, fit):
    plot_tornado([WEAK, STRONG], tmp_path / "tornado.svg", unit="%")
    plot_fit(fit, tmp_path / "fit.png")
    assert (tmp_path / "tornado.svg").stat().st_size > 1000
    assert (tmp_path / "fit.png").stat().st_size > 1000
