"""A picture shows the right signals in the right panels, as lines of their kind."""

import os
import subprocess
import sys

import numpy as np
import pytest

from robodyn.reporting import draw_signals, plot_signals
from robodyn.reporting.panels import arrange
from robodyn.reporting.timeseries import trace
from robodyn.results import EventRecord, Outcome, OutcomeKind, Provenance, Run, Signal, SignalInfo

pytest.importorskip("matplotlib")

UNITS = {
    "slide.position": "m",
    "slide.velocity": "m/s",
    "elbow.position": "rad",
    "elbow.velocity": "rad/s",
    "wrist.position": "rad",
    "wrist.velocity": "rad/s",
    "elbow.torque": "N m",
    "elbow.current": "A",
}


def make_run(units=UNITS, held=(), events=()):
    time = np.linspace(0.0, 1.0, 5)
    infos = tuple(SignalInfo(n, u, "held" if n in held else "continuous") for n, u in units.items())
    values = np.outer(time, np.arange(1.0, len(units) + 1))
    outcome = Outcome(OutcomeKind.FINISHED, "Reached the end time.", 1.0)
    return Run(time, values, infos, outcome, Provenance("arm"), events=events)


def test_a_first_look_shows_positions_and_velocities_in_one_panel_a_unit():
    panels = arrange([make_run()], None)
    assert [panel.unit for panel in panels] == ["m", "rad", "m/s", "rad/s"]
    assert panels[1].names == ("elbow.position", "wrist.position")


def test_a_first_look_fills_up_with_other_quantities():
    without_slide = {name: unit for name, unit in UNITS.items() if not name.startswith("slide")}
    assert [panel.unit for panel in arrange([make_run(without_slide)], None)] == ["rad", "rad/s", "N m", "A"]


def test_patterns_choose_signals_in_their_order():
    (torque, velocity) = arrange([make_run()], ["*.torque", "wrist.velocity", "*.velocity"])[:2]
    assert torque.names == ("elbow.torque",)
    assert velocity.names == ("wrist.velocity", "elbow.velocity")


def test_a_name_that_fits_nothing_is_an_error_with_a_suggestion():
    with pytest.raises(KeyError, match=r"elbow\.torque"):
        arrange([make_run()], ["elbow.torqe"])


def test_axes_are_labelled_with_quantity_and_unit_and_lines_with_their_joint():
    figure = draw_signals(make_run(), ["*.velocity"])
    shared, alone = figure.axes[1], figure.axes[0]
    assert shared.get_ylabel() == "velocity [rad/s]"
    assert [text.get_text() for text in shared.get_legend().get_texts()] == ["elbow", "wrist"]
    assert alone.get_ylabel() == "slide velocity [m/s]"
    assert figure.axes[-1].get_xlabel() == "time [s]"


def test_a_joint_keeps_its_colour_from_panel_to_panel():
    figure = draw_signals(make_run(), ["elbow.current", "wrist.position", "elbow.position"])
    (current,), (wrist, elbow) = (ax.get_lines() for ax in figure.axes)
    assert current.get_color() == elbow.get_color() != wrist.get_color()


def test_a_held_signal_is_drawn_in_steps():
    figure = draw_signals(make_run(held={"elbow.torque"}), ["elbow.torque", "elbow.current"])
    styles = [ax.get_lines()[0].get_drawstyle() for ax in figure.axes]
    assert styles == ["steps-post", "default"]


def test_runs_share_colours_and_differ_in_line_style():
    figure = draw_signals([make_run(), make_run()], ["elbow.torque"], labels=["rigid", "elastic"])
    first, second = figure.axes[0].get_lines()
    assert first.get_color() == second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["rigid", "elastic"]


def test_events_are_named_vertical_lines_in_every_panel():
    run = make_run(events=(EventRecord("impact", 0.25),))
    figure = draw_signals(run, ["elbow.torque", "elbow.current"])
    for ax in figure.axes:
        assert [line.get_xdata()[0] for line in ax.get_lines()].count(0.25) == 1
    assert [text.get_text() for text in figure.axes[0].texts] == ["impact"]


def test_many_events_are_drawn_without_names():
    run = make_run(events=tuple(EventRecord(f"stop {i}", i / 50) for i in range(40)))
    ax = draw_signals(run, ["elbow.torque"]).axes[0]
    assert len(ax.get_lines()) == 1 + 40
    assert len(ax.texts) == 0


def test_a_coarse_record_with_rates_is_drawn_as_its_cubic_and_keeps_jumps():
    time = np.array([0.0, 1.0, 1.0, 2.0])
    cubic = Signal("x", "m", time, np.array([0.0, 1.0, 5.0, 6.0]), rate_values=np.array([0.0, 3.0, 1.0, 1.0]))
    drawn_time, drawn = trace(cubic)
    before = drawn_time < 1.0
    # The first piece is t^3; a few rounded operations of numbers up to 1.
    np.testing.assert_allclose(drawn[before], drawn_time[before] ** 3, rtol=0, atol=1e-15)
    assert {1.0, 5.0} <= set(drawn[drawn_time == 1.0])
    assert np.all(np.diff(drawn_time) >= 0)


@pytest.mark.parametrize(("name", "magic"), [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")])
def test_the_ending_of_the_path_chooses_the_kind_of_picture(tmp_path, name, magic):
    path = plot_signals(make_run(), None, tmp_path / "new" / name)
    assert path.read_bytes().startswith(magic)


@pytest.mark.parametrize("count", [0, 5])
def test_too_few_or_too_many_runs_are_refused(count):
    with pytest.raises(ValueError, match="runs can be drawn"):
        draw_signals([make_run()] * count)


def test_labels_must_be_as_many_as_runs():
    with pytest.raises(ValueError, match="2 labels for 1 runs"):
        draw_signals(make_run(), labels=["a", "b"])


def test_reporting_is_imported_without_the_plotting_library():
    code = (
        "import sys, robodyn.reporting\n"
        "print([name for name in ('matplotlib', 'xarray', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_with_path())
    assert done.stdout.strip() == "[]"


def test_pyplot_and_its_global_state_are_not_touched(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from robodyn.reporting import plot_signals\n"
        "from robodyn.results import *\n"
        "run = Run(np.zeros(1), np.zeros((1, 1)), (SignalInfo('x', 'm'),),\n"
        "          Outcome(OutcomeKind.FINISHED, '', 0.0), Provenance('a'))\n"
        f"plot_signals(run, None, {str(tmp_path / 'a.png')!r})\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_with_path())
    assert done.stdout.strip() == "False"


def _with_path():
    """The environment in which a child finds the package where this process found it."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
