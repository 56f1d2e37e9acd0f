"""Events are marked in every panel and named where names can be read."""

import pytest

from robodyn.computation.results import EventRecord
from robodyn.presentation.reporting import draw_signals

pytest.importorskip("matplotlib")

SIGNALS = ["elbow.torque", "elbow.current"]


def marks(ax):
    """Times and heights of the event lines in a panel."""
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) == 2]
    return [(line.get_xdata()[0], line.get_ydata()[1]) for line in lines]


def names(ax):
    return [text.get_text().strip() for text in ax.texts]


def crowd(count, start=0.0, gap=0.02, name="hit"):
    return tuple(EventRecord(f"{name}{'' if name == 'hit' else k}", start + gap * k) for k in range(count))


def test_events_are_named_vertical_lines_in_every_panel(make_run):
    figure = draw_signals(make_run(events=(EventRecord("impact", 0.25),)), SIGNALS)
    assert [marks(ax) for ax in figure.axes] == [[(0.25, 1.0)]] * 2
    assert [names(ax) for ax in figure.axes] == [["impact"], []]


def test_many_events_are_ticks_at_the_bottom_and_named_once_with_their_number(make_run):
    ax = draw_signals(make_run(events=crowd(40)), ["elbow.torque"]).axes[0]
    assert len(marks(ax)) == 40
    assert max(height for _, height in marks(ax)) < 0.1
    assert names(ax) == ["hit (40 times)"]


def test_many_different_events_are_drawn_without_names(make_run):
    ax = draw_signals(make_run(events=crowd(20, name="stop")), ["elbow.torque"]).axes[0]
    assert len(marks(ax)) == 20
    assert names(ax) == []


def test_the_same_event_of_several_runs_is_named_once_and_drawn_in_their_colours(make_run):
    runs = [make_run(events=(EventRecord("impact", 0.25 + shift),)) for shift in (0.0, 0.01)]
    ax = draw_signals(runs, ["elbow.torque"]).axes[0]
    assert names(ax) == ["impact"]
    curves, lines = ax.get_lines()[:2], ax.get_lines()[2:]
    assert [line.get_color() for line in lines] == [curve.get_color() for curve in curves]


def test_events_outside_the_window_are_not_drawn(make_run):
    run = make_run(events=(EventRecord("early", 0.1), EventRecord("late", 0.9)))
    ax = draw_signals(run, ["elbow.torque"], window=(0.5, None)).axes[0]
    assert names(ax) == ["late"]
    assert [time for time, _ in marks(ax)] == [0.9]


def text_box(note):
    """Where the text of a note is, without its stem."""
    return type(note).__mro__[1].get_window_extent(note)


@pytest.mark.parametrize("start", [0.0, 0.4, 0.93])
def test_names_cover_neither_each_other_nor_the_panel_and_stay_in_the_figure(make_run, overlaps, start):
    events = crowd(8, start, 0.008, "event_with_a_long_name_")
    figure = draw_signals(make_run(events=events), ["*.position"])
    figure.draw_without_rendering()
    notes = [text_box(note) for note in figure.axes[0].texts]
    assert len(notes) == 8
    assert not overlaps(notes)
    assert all(note.y0 >= figure.axes[0].bbox.y1 for note in notes)
    assert all(note.x1 <= figure.bbox.x1 and note.y1 <= figure.bbox.y1 for note in notes)


def test_a_name_does_not_cover_the_power_of_ten_over_the_axis(make_run, overlaps):
    figure = draw_signals(make_run(events=(EventRecord("impact", 0.0),), scale=1e-9), ["elbow.torque"])
    figure.draw_without_rendering()
    ax = figure.axes[0]
    assert ax.yaxis.get_offset_text().get_text()
    assert not overlaps([text_box(ax.texts[0]), ax.yaxis.get_offset_text().get_window_extent()])
