"""The way of a point in space: its line, shadow, marks, obstacles and scale."""

import numpy as np
import pytest

from robodyn.computation.results import EventRecord, Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.presentation.reporting import draw_path
from robodyn.presentation.reporting.space import ObstacleBox, fit_space

pytest.importorskip("matplotlib")
from mpl_toolkits.mplot3d.proj3d import proj_transform

POST = {"name": "post", "center": [0.0, 0.0, 0.5], "size": [0.2, 0.4, 1.0]}


def lines(ax):
    return {line.get_gid(): np.array(line.get_data_3d()) for line in ax.get_lines()}


def edges(ax):
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    return np.diff(limits, axis=1)[:, 0]


def test_the_line_goes_where_the_point_went(make_arc):
    ax = draw_path(make_arc(), "tool").axes[0]
    x, y, z = lines(ax)["tool"]
    # Chords of 100 samples on half a circle are inside it by (pi/100)^2/8 = 1.2e-4.
    np.testing.assert_allclose(np.hypot(x, y), 1.0, rtol=0, atol=1.3e-4)
    assert (z[0], z[-1]) == (0.0, 1.0)
    assert [ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()] == ["x [m]", "y [m]", "z [m]"]


def test_the_shadow_lies_on_the_floor_below_the_line(make_arc):
    ax = draw_path(make_arc(), "tool").axes[0]
    shadow, way = lines(ax)["shadow"], lines(ax)["tool"]
    np.testing.assert_array_equal(shadow[:2], way[:2])
    assert set(shadow[2]) == {ax.get_zlim()[0]}


def test_start_end_and_events_are_marked_on_the_path(make_arc, texts):
    figure = draw_path(make_arc(events=(EventRecord("top", 0.5),)), "tool")
    found = lines(figure.axes[0])
    expected = {"start": [1.0, 0.0, 0.0], "top": [0.0, 1.0, 0.5], "end": [-1.0, 0.0, 1.0]}
    for name, place in expected.items():
        # Sine and cosine of multiples of pi, rounded.
        np.testing.assert_allclose(found[name][:, 0], place, rtol=0, atol=1e-15)
    assert texts(figure.legends[0]) == ["start", "end", "top"]
    assert figure.legends[0].get_title().get_text() == "turn: path of tool"


@pytest.mark.parametrize("planar", [True, False])
def test_all_axes_have_one_scale_and_hold_the_path(make_arc, planar):
    ax = draw_path(make_arc(planar=planar), "tool").axes[0]
    shape = np.array(ax.get_box_aspect())
    # Both are floats of size 1 that went through a few products.
    np.testing.assert_allclose(edges(ax) / edges(ax).max(), shape / shape.max(), rtol=1e-12)
    for values, (low, high) in zip(lines(ax)["tool"], (ax.get_xlim(), ax.get_ylim(), ax.get_zlim()), strict=True):
        assert low < values.min() <= values.max() < high


def test_a_box_has_its_size_around_its_centre():
    corners = ObstacleBox(**POST).corners
    assert len(np.unique(corners, axis=0)) == 8
    # Halves and sums of decimal fractions.
    np.testing.assert_allclose(corners.min(axis=0), [-0.1, -0.2, 0.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(corners.max(axis=0), [0.1, 0.2, 1.0], rtol=0, atol=1e-15)


def test_obstacles_are_boxes_of_six_faces_named_once(make_arc, texts):
    figure = draw_path([make_arc(obstacles=[POST]), make_arc(0.5, obstacles=[POST])], "tool", labels=["a", "b"])
    ax = figure.axes[0]
    (box,) = ax.collections
    x, y, _ = proj_transform(*ObstacleBox(**POST).corners.T, ax.get_proj())
    drawn = np.unique(np.concatenate([path.vertices for path in box.get_paths()]).round(12), axis=0)
    np.testing.assert_array_equal(drawn, np.unique(np.column_stack([x, y]).round(12), axis=0))
    assert len(box.get_paths()) == 6
    assert texts(figure.legends[0]) == ["a", "b", "start", "end", "post"]


def test_the_axes_hold_the_obstacles(make_arc):
    far = {"name": "wall", "center": [4.0, 0.0, 0.0], "size": [1.0, 1.0, 1.0]}
    low, high = draw_path(make_arc(obstacles=[far]), "tool").axes[0].get_xlim()
    assert low < -1.0
    assert high > 4.5


@pytest.mark.parametrize(("size", "unit", "factor"), [(1e-6, "µm", 1e6), (0.01, "mm", 1e3), (1e6, "km", 1e-3)])
def test_the_unit_of_length_fits_the_path(make_arc, size, unit, factor):
    ax = draw_path(make_arc(size), "tool").axes[0]
    assert ax.get_xlabel() == f"x [{unit}]"
    # Two products of the largest coordinate.
    assert lines(ax)["tool"][0].max() == pytest.approx(size * factor, rel=1e-12)
    assert lines(ax)["start"][0, 0] == pytest.approx(size * factor, rel=1e-12)


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("names", [["a"], ["euler, step 0.0004 s", "b" * 40, "c", "d"]])
def test_labels_and_box_stay_inside_the_figure_and_below_the_legend(make_arc, planar, names):
    runs = [make_arc(planar=planar, events=(EventRecord("top", 0.5),)) for _ in names]
    figure = draw_path(runs, "tool", labels=names)
    figure.draw_without_rendering()
    ax, legend = figure.axes[0], figure.legends[0].get_window_extent()
    boxes = [axis.get_tightbbox(figure.canvas.get_renderer()) for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
    assert all(figure.bbox.y0 <= box.y0 and box.y1 <= legend.y0 for box in boxes)
    # The fit is to a few pixels of the free edge of 2 % on both sides.
    assert max(box.x1 for box in boxes) - min(box.x0 for box in boxes) > 0.85 * figure.bbox.width or (
        figure.get_figheight() == 7.5
    )


def test_a_point_that_rests_is_shown_in_a_box_around_it():
    space = fit_space(np.array([[1.0], [2.0], [3.0]]))
    np.testing.assert_allclose((space.low + space.high) / 2, [1.0, 2.0, 3.0], rtol=1e-15)
    assert np.all(space.high > space.low)


def test_a_path_without_numbers_is_refused():
    with pytest.raises(ValueError, match="no finite point"):
        fit_space(np.full((3, 2), np.nan))


def test_an_unknown_point_is_an_error_with_a_suggestion(make_arc, make_run):
    with pytest.raises(KeyError, match="did you mean 'tool'"):
        draw_path(make_arc(), "tol")
    with pytest.raises(KeyError, match="none are defined"):
        draw_path(make_run(), "tool")


def follow(offset, name="deviation"):
    """A run in which a tool goes along x for 1 m, off to its left by an offset [m] that grows from zero."""
    time = np.linspace(0.0, 1.0, 11)
    off = offset * time
    columns = {"tool.position.x": time, "tool.position.y": off, "tool.position.z": 0 * time, "path.s": time}
    columns |= {"deviation.horizontal": off, "deviation.vertical": 0 * time, "deviation.distance": abs(off)}
    law = {"type": "PathDeviation", "knots": [0.0, 1.0], "place": [[0.0] * 3, [1.0, 0.0, 0.0]]}
    law["tangent"] = [[1.0, 0.0, 0.0]] * 2
    inputs = {axis: f"tool.position.{axis}" for axis in "xyz"} | {"s": "path.s"}
    description = {"machine": {"blocks": [{"name": name, "law": law, "inputs": inputs}]}}
    infos = tuple(SignalInfo(column, "m") for column in columns)
    outcome = Outcome(OutcomeKind.FINISHED, "", 1.0)
    return Run(time, np.column_stack(list(columns.values())), infos, outcome, Provenance("line", description))


@pytest.mark.parametrize(("wanted", "factor"), [(None, 1000.0), (300.0, 300.0)])
def test_a_deviation_is_drawn_too_large_by_a_factor_that_is_stated(wanted, factor):
    figure = draw_path(follow(8e-5), "tool", exaggerate=wanted)
    found = lines(figure.axes[0])
    # Products of numbers of size 1.
    np.testing.assert_allclose(found["tool"][1], factor * 8e-5 * found["tool"][0], rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found["nominal"][1:], 0.0)
    np.testing.assert_allclose(found["end"][:, 0], found["tool"][:, -1], rtol=1e-12)
    title = figure.legends[0].get_title().get_text()
    assert title.endswith(f"deviates by at most 80 µm at 1 s; deviation drawn at {factor:g} times its size")


def test_a_point_off_by_much_is_drawn_where_it_was():
    figure = draw_path(follow(0.3), "tool")
    np.testing.assert_allclose(lines(figure.axes[0])["tool"][1], 0.3 * lines(figure.axes[0])["tool"][0], rtol=1e-12)
    assert "too large" not in figure.legends[0].get_title().get_text()


def test_only_what_is_measured_can_be_exaggerated(make_arc):
    with pytest.raises(ValueError, match="nothing to exaggerate"):
        draw_path(make_arc(), "tool", exaggerate=10.0)
    with pytest.raises(ValueError, match="nothing to exaggerate"):
        draw_path(follow(1e-4, name="other"), "tool", exaggerate=10.0)
    with pytest.raises(ValueError, match="must be positive, not -1"):
        draw_path(follow(1e-4), "tool", exaggerate=-1.0)
