"""A picture over time shows the right signals in the right panels, as lines of their kind."""

import math
import re

import numpy as np
import pytest

from robodyn.presentation.reporting import draw_signals

pytest.importorskip("matplotlib")


def test_axes_are_labelled_with_quantity_and_unit_and_lines_with_their_joint(make_run, texts):
    figure = draw_signals(make_run(), ["*.velocity"])
    alone, shared = figure.axes
    assert shared.get_ylabel() == "velocity [deg/s]"
    assert texts(shared.get_legend()) == ["elbow", "wrist"]
    assert alone.get_ylabel() == "slide velocity [m/s]"
    assert alone.get_legend() is None
    assert figure.axes[-1].get_xlabel() == "time [s]"


def test_the_lines_are_the_signals(make_run):
    run = make_run()
    (line,) = draw_signals(run, ["elbow.torque"]).axes[0].get_lines()
    np.testing.assert_array_equal(run["elbow.torque"](line.get_xdata()), line.get_ydata())


def test_a_joint_keeps_its_colour_from_panel_to_panel(make_run):
    figure = draw_signals(make_run(), ["elbow.current", "wrist.position", "elbow.position"])
    (current,), (wrist, elbow) = (ax.get_lines() for ax in figure.axes)
    assert current.get_color() == elbow.get_color() != wrist.get_color()


def test_a_held_signal_has_only_its_samples_as_values(make_run):
    run = make_run(held={"elbow.torque"})
    held, sloped = (ax.get_lines()[0] for ax in draw_signals(run, ["elbow.torque", "elbow.current"]).axes)
    assert set(held.get_ydata()) == set(run["elbow.torque"].values)
    assert set(sloped.get_ydata()) > set(run["elbow.current"].values)


def test_runs_have_colours_and_styles_of_their_own_and_share_a_panel_a_signal(make_run, texts):
    runs = [make_run(), make_run(scale=2.0)]
    figure = draw_signals(runs, ["*.position"], labels=["rigid", "elastic"])
    assert [ax.get_ylabel() for ax in figure.axes] == [f"{j} position [{u}]" for j, u in _JOINTS]
    for ax in figure.axes:
        first, second = ax.get_lines()
        assert first.get_color() != second.get_color()
        assert first.get_linestyle() != second.get_linestyle()
    assert texts(figure.legends[0]) == ["rigid", "elastic"]


_JOINTS = (("slide", "m"), ("elbow", "deg"), ("wrist", "deg"))


def test_a_signal_that_one_run_lacks_is_drawn_of_the_other(make_run):
    figure = draw_signals([make_run(), make_run({"elbow.torque": "N m"})], ["elbow.torque", "elbow.current"])
    assert [len(ax.get_lines()) for ax in figure.axes] == [2, 1]


def test_a_window_shows_only_its_time_and_fits_the_values_in_it(make_run):
    (line,) = draw_signals(make_run(), ["elbow.torque"], window=(0.3, 0.6)).axes[0].get_lines()
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0.3, 0.6)
    # The signal is 7 t; two products of numbers below 5.
    np.testing.assert_allclose(line.get_ydata()[[0, -1]], [2.1, 4.2], rtol=0, atol=1e-14)


def test_the_name_of_one_run_is_the_title(make_run):
    assert draw_signals(make_run(), ["elbow.torque"]).get_suptitle() == "arm"


def test_legends_cover_no_data(make_run):
    units = {f"left_arm.shoulder_pitch_joint.loop{k}.torque_command": "N m" for k in range(7)}
    runs = [make_run(units | {"other.force": "N m"}), make_run(units)]
    for figure in (draw_signals(runs[0], ["*"]), draw_signals(runs, ["*loop1*"], labels=["a long name" * 5, "b" * 60])):
        figure.draw_without_rendering()
        legends = [ax.get_legend() for ax in figure.axes if ax.get_legend()] + figure.legends
        assert legends
        for legend in legends:
            box = legend.get_window_extent()
            assert not any(ax.bbox.x0 < box.x1 - 1 and box.x0 + 1 < ax.bbox.x1 and box.y0 + 1 < ax.bbox.y1
                           and ax.bbox.y0 < box.y1 - 1 for ax in figure.axes)  # fmt: skip
            assert figure.bbox.x0 <= box.x0
            assert box.x1 <= figure.bbox.x1 + 1


@pytest.mark.parametrize("count", [1, 5, 8, 12])
def test_long_labels_of_neighbouring_panels_keep_apart(make_run, overlaps, count):
    units = {f"left_arm.shoulder_pitch_joint{k}.torque_command": "N m" for k in range(count)}
    figure = draw_signals([make_run(units), make_run(units)], ["*"])
    figure.draw_without_rendering()
    assert len(figure.axes) == count
    assert not overlaps([ax.yaxis.label.get_window_extent() for ax in figure.axes])


def test_every_column_of_panels_has_a_time_axis(make_run):
    units = {f"joint{k}.position": "rad" for k in range(9)}
    figure = draw_signals([make_run(units), make_run(units)], ["*"])
    assert sum(ax.get_xlabel() == "time [s]" for ax in figure.axes) == 2


def test_too_many_panels_are_refused(make_run):
    units = {f"joint{k}.position": "rad" for k in range(30)}
    with pytest.raises(ValueError, match="30 panels do not fit"):
        draw_signals([make_run(units), make_run(units)], ["*"])


@pytest.mark.parametrize(("scale", "power"), [(1e-12, "-9"), (1e300, "300"), (1.0, "")])
def test_tiny_and_huge_numbers_are_powers_of_ten(make_run, scale, power):
    # The smallest prefix of a current is milli, so 8e-12 A is 8e-9 of its unit.
    ax = draw_signals(make_run(scale=scale), ["elbow.current"]).axes[0]
    ax.figure.draw_without_rendering()
    shown = ax.yaxis.get_offset_text().get_text().replace("\N{MINUS SIGN}", "-")
    assert re.findall(r"10\^\{(?:\\mathdefault\{)?(-?\d+)", shown) == ([power] if power else [])


def test_a_single_sample_is_a_dot(make_run):
    run = make_run(end=0.0)
    first = type(run)(run.time[:1], run.values[:1], run.infos, run.outcome, run.provenance)
    assert draw_signals(first, ["elbow.torque"]).axes[0].get_lines()[0].get_marker() == "o"


@pytest.mark.parametrize(
    ("scale", "units", "label", "size"),
    [
        (3e-5, (), "elbow position [µrad]", 1e-6),
        (3e-3, (), "elbow position [mrad]", 1e-3),
        (3.0, (), "elbow position [deg]", math.pi / 180),
        (3.0, ("rad",), "elbow position [rad]", 1.0),
        (0.0, (), "elbow position [rad]", 1.0),
        (3e-5, ("um", "arcsec"), None, None),
    ],
)
def test_axes_are_in_the_unit_that_is_asked_for_or_that_suits_the_size(make_run, scale, units, label, size):
    run = make_run({"elbow.position": "rad"}, scale=scale)
    if label is None:
        with pytest.raises(ValueError, match="unit 'um': nothing that is drawn"):
            draw_signals(run, units=units)
        return
    (ax,) = draw_signals(run, units=units).axes
    assert ax.get_ylabel() == label
    ax.figure.draw_without_rendering()
    # The line is in SI; what its ticks are called times the unit is where they stand.
    np.testing.assert_array_equal(ax.lines[0].get_ydata()[-1], run["elbow.position"].values[-1])
    named = [float(text.get_text().replace("\N{MINUS SIGN}", "-")) for text in ax.get_yticklabels()]
    np.testing.assert_allclose(size * np.array(named), ax.get_yticks(), rtol=1e-9, atol=1e-9 * size)
