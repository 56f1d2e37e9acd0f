"""Runs minus a reference over time: exact differences, no spikes at jumps, both scales."""

import numpy as np
import pytest

from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.presentation.reporting import draw_difference
from robodyn.presentation.reporting.runs import difference

pytest.importorskip("matplotlib")


def step_at(time):
    """A run of a signal that jumps from 0 to 1."""
    end = Outcome(OutcomeKind.FINISHED, "", 2.0)
    times, values = np.array([0.0, time, time, 2.0]), np.array([[0.0], [0.0], [1.0], [1.0]])
    return Run(times, values, (SignalInfo("u.value", "V"),), end, Provenance("step"))


def test_the_line_is_the_run_minus_the_reference(make_run):
    figure = draw_difference(make_run(scale=3.0), make_run(), ["elbow.torque"])
    time, values = figure.axes[0].get_lines()[0].get_data()
    # 3 * 7 t - 7 t; a few operations of numbers up to 21.
    np.testing.assert_allclose(values, 14 * time, rtol=0, atol=1e-14)
    assert figure.axes[0].get_ylabel() == "\u0394 elbow torque [N m]"
    assert figure.get_suptitle() == "arm (1): difference from arm (2)"


def test_a_logarithmic_picture_shows_magnitudes(make_run):
    ax = draw_difference(make_run(scale=0.5), make_run(), ["elbow.torque"], scale="log").axes[0]
    assert ax.get_yscale() == "log"
    assert np.all(ax.get_lines()[0].get_ydata() > 0)
    assert ax.get_ylabel() == "|\u0394 elbow torque| [N m]"


def test_equal_runs_are_drawn_as_zero_even_where_powers_of_ten_were_asked_for(make_run):
    ax = draw_difference(make_run(), make_run(), ["elbow.torque"], scale="log").axes[0]
    assert ax.get_yscale() == "linear"
    assert not np.any(ax.get_lines()[0].get_ydata())


def test_jumps_located_to_rounding_leave_no_spike():
    _, values = difference(step_at(1.0), step_at(1.0 + 1e-13), "u.value", (0.0, 2.0))
    assert values.size > 1
    assert not np.any(values)


def test_jumps_at_different_times_are_seen():
    time, values = difference(step_at(1.0), step_at(1.5), "u.value", (0.0, 2.0))
    assert {1.0} == set(values[(time > 1.0) & (time < 1.5)])
    assert {0.0} == set(values[(time < 1.0) | (time > 1.5)])


def test_only_the_time_of_both_is_compared(make_run):
    ax = draw_difference([make_run(end=0.5), make_run(end=3.0)], make_run(), ["elbow.torque"]).axes[0]
    short, whole = (line.get_xdata() for line in ax.get_lines())
    assert short.max() < 0.5
    assert 0.75 < whole.max() < 1.0


def test_every_run_has_its_colour_and_the_legend_tells_the_reference(make_run, texts):
    runs = [make_run(scenario=name) for name in "ab"]
    figure = draw_difference(runs, make_run(scenario="exact"), ["*.position"])
    assert len(figure.axes) == 3
    assert texts(figure.legends[0]) == ["a", "b"]
    assert figure.legends[0].get_title().get_text() == "difference from exact"


def test_what_cannot_be_compared_is_refused(make_run):
    with pytest.raises(ValueError, match="'linear' or 'log'"):
        draw_difference(make_run(), make_run(), None, scale="cubic")
    with pytest.raises(ValueError, match="cannot be compared"):
        draw_difference(make_run({"a.position": "m"}), make_run({"a.position": "mm"}), None)
    with pytest.raises(KeyError, match=r"elbow\.torque"):
        draw_difference(make_run({"a.position": "m"}), make_run(), ["elbow.torque"])
