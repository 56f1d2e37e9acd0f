"""Do pictures of sampled loops show the gain of each?"""

import numpy as np
import pytest
from support.sampled_loops import cascade

from robodyn.analysis.linear.loop_table import LoopTable, loop_table
from robodyn.presentation.reporting import display, draw_loops, draw_nyquist

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def table():
    return loop_table(cascade())


def _curves(ax):
    """Lines that are not marks of a margin."""
    return [line for line in ax.get_lines() if len(line.get_xdata()) > 2]


def test_magnitude_and_phase_are_those_of_the_loops(table, texts):
    figure = draw_loops(table)
    upper, lower, closed = figure.axes
    for row, line in zip(table.rows, _curves(upper), strict=True):
        np.testing.assert_allclose(line.get_ydata(), 20 * np.log10(row.gain.magnitude), rtol=1e-12)
    for row, line in zip(table.rows, _curves(closed), strict=True):
        size = np.abs(row.gain.values / (1 + row.gain.values))
        np.testing.assert_allclose(line.get_ydata(), 20 * np.log10(size), atol=1e-9)
    for row, line in zip(table.rows, _curves(lower), strict=True):
        turns = (line.get_ydata() - row.gain.phase) / 360
        np.testing.assert_allclose(turns, np.round(turns[0]), atol=1e-9)
        assert -360 < line.get_ydata()[0] <= 0
    named = zip(table.rows, texts(figure.legends[0]), strict=True)
    assert all(text.startswith(f"{row.name}: ") and f", {row.margins.phase:.3g} deg" in text for row, text in named)


def test_margins_are_marked_where_they_are_read(table):
    upper, lower, _ = draw_loops(table).axes
    dots = [line for line in lower.get_lines() if line.get_marker() == "o"]
    for row, dot in zip(table.rows, dots, strict=True):
        # The dot is at a point of the grid beside the crossing.
        assert dot.get_ydata()[0] % 360 - 180 == pytest.approx(row.margins.phase, abs=3.0)
    gains = [20 * np.log10(row.margins.gain_to) for row in table.rows if np.isfinite(row.margins.gain_to)]
    for line in upper.get_lines():
        if line.get_marker() == "o":
            assert min(abs(line.get_ydata()[0] + gain) for gain in gains) < 0.5


def test_the_plane_shows_the_gains_and_the_point_they_must_not_go_round(table):
    lines = draw_nyquist(table).axes[0].get_lines()
    np.testing.assert_array_equal(lines[0].get_xdata(), table.rows[0].gain.values.real)
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in lines if line.get_marker() == "+"] == [(-1.0, 0.0)]


def test_more_loops_than_colours_are_refused(table):
    with pytest.raises(ValueError, match="from 1 to 8 loops"):
        draw_loops(LoopTable(table.rows * 5, table.model))


def test_of_more_loops_than_colours_a_page_draws_those_with_the_smallest_margins(table, texts):
    worst = min(table.rows, key=lambda row: row.margins.phase)
    shown = display(LoopTable((*table.rows, *[worst] * 8), table.model))
    (picture,) = shown.pictures
    assert picture.title == "Loop gains of the 8 with the smallest phase margins"
    assert {text.partition(":")[0] for text in texts(picture.draw().legends[0])} == {worst.name}
    assert len(shown.tables[0].rows) == len(table.rows) + 8
