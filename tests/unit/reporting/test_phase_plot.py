"""One signal over another: the curve, its marks, its scale."""

import numpy as np
import pytest

from robodyn.computation.results import EventRecord
from robodyn.presentation.reporting import draw_phase

pytest.importorskip("matplotlib")


def marks(ax):
    return {line.get_gid(): line.get_xydata()[0] for line in ax.get_lines() if len(line.get_xdata()) == 1}


def test_the_curve_is_one_signal_over_the_other_with_both_units(make_arc):
    ax = draw_phase(make_arc(), "tool.position.x", ["tool.position.y"]).axes[0]
    x, y = ax.get_lines()[0].get_data()
    # Chords of 100 samples on half a circle are inside it by (pi/100)^2/8 = 1.2e-4.
    np.testing.assert_allclose(np.hypot(x, y), 1.0, rtol=0, atol=1.3e-4)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("tool position x [m]", "tool position y [m]")


def test_start_end_and_events_are_marked_on_the_curve_and_in_the_legend(make_arc, texts):
    figure = draw_phase(make_arc(events=(EventRecord("top", 0.5),)), "tool.position.x", ["tool.position.y"])
    found = marks(figure.axes[0])
    # Sine and cosine of multiples of pi, rounded.
    np.testing.assert_allclose(found["start"], [1.0, 0.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(found["end"], [-1.0, 0.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(found["top"], [0.0, 1.0], rtol=0, atol=1e-15)
    assert texts(figure.legends[0]) == ["start", "end", "top"]
    assert figure.legends[0].get_title().get_text() == "turn"


def test_coordinates_of_a_point_have_one_scale_and_others_their_own(make_arc, make_run):
    assert draw_phase(make_arc(), "tool.position.x", ["tool.position.y"]).axes[0].get_aspect() == 1.0
    assert draw_phase(make_run(), "elbow.position", ["elbow.velocity"]).axes[0].get_aspect() == "auto"
    assert draw_phase(make_run(), "elbow.position", ["wrist.position"]).axes[0].get_aspect() == "auto"


def test_a_window_cuts_curve_and_marks(make_arc):
    ax = draw_phase(make_arc(), "tool.position.x", ["tool.position.y"], window=(0.25, 0.5)).axes[0]
    x, _ = ax.get_lines()[0].get_data()
    # Samples at both times: cosines of pi/4 and pi/2, rounded.
    np.testing.assert_allclose([x[0], x[-1]], [np.sqrt(0.5), 0.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(marks(ax)["end"], [0.0, 1.0], rtol=0, atol=1e-15)


def test_held_and_continuous_signals_can_be_drawn_against_each_other(make_run):
    run = make_run(held={"elbow.torque"})
    x, y = draw_phase(run, "elbow.torque", ["elbow.current"]).axes[0].get_lines()[0].get_data()
    assert len(x) == len(y)
    assert set(x) == set(run["elbow.torque"].values)


def test_runs_are_told_apart_by_colour(make_arc, texts):
    figure = draw_phase([make_arc(), make_arc(2.0)], "tool.position.x", ["tool.position.y"], labels=["a", "b"])
    curves = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1]
    assert len({curve.get_color() for curve in curves}) == 2
    assert texts(figure.legends[0]) == ["a", "b", "start", "end"]


def test_an_unknown_horizontal_signal_is_an_error_with_a_suggestion(make_arc):
    with pytest.raises(KeyError, match=r"tool\.position\.x"):
        draw_phase(make_arc(), "tool.positon.x", ["tool.position.y"])
