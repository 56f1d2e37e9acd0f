"""Do the pictures of a sweep show its table?"""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import assemble, simulate_many
from robodyn.analysis.sweeps.table import SweepTable, Varied
from robodyn.analysis.sweeps.uncertainty import find_yield
from robodyn.computation.results.table import Curves
from robodyn.description.catalog import pendulum
from robodyn.presentation.reporting import describe
from robodyn.presentation.reporting.sweeps import (
    draw_bands,
    draw_grid_curves,
    draw_histogram,
    draw_influence,
    draw_measure,
    draw_yield,
    plot_sweep,
    rank_influences,
)

pytest.importorskip("matplotlib")


def test_runs_of_arrays_are_drawn_as_those_of_a_sweep(tmp_path):
    system = assemble(pendulum())
    line = simulate_many(system, {"gravity.z": np.linspace(-12, -2, 5)}, measures=["final:hinge.position"])
    assert [path.name for path in plot_sweep(line, tmp_path)] == ["final-hinge.position.png"]
    assert len(repr(line)) < 120
    grid = {"gravity.z": [-9.0, -9.0, -8.0, -8.0], "gravity.x": [0.0, 1.0, 0.0, 1.0]}
    table = SweepTable.of(simulate_many(system, grid, measures=["final:hinge.position"]))
    assert [axis.label for axis in table.axes] == ["gravity.z", "gravity.x"]
    rows = describe(table).splitlines()[-4:]
    assert [row.split()[:3] for row in rows[:2]] == [["0", "-9", "0"], ["1", "-9", "1"]]
    draws = {"gravity.z": [-9.0, -8.5, -8.0], "gravity.x": [0.3, 0.1, 0.2]}
    assert SweepTable.of(simulate_many(system, draws)).drawn == ("gravity.z", "gravity.x")


def make_table(places, outcome, drawn=(), curves=None):
    """A table over a grid, whose measure is a function of the places of each run."""
    shape = [len(column) for column in places.values()]
    index = np.indices(shape).reshape(len(shape), -1) if shape else []
    axes = [
        Varied(name, "kg", np.array(column, float), k) for (name, column), k in zip(places.items(), index, strict=True)
    ]
    inputs = {axis.label: axis.places[axis.index] for axis in axes} | dict(drawn)
    n = len(next(iter(inputs.values())))
    measures = {"peak:y": outcome(*inputs.values())}
    units = dict.fromkeys(inputs, "kg") | {"peak:y": "m"}
    ends = np.ones(n)
    return SweepTable(
        scenario="test",
        axes=tuple(axes),
        drawn=tuple(name for name, _ in drawn),
        inputs=inputs,
        measures=measures,
        units=units,
        outcomes=tuple(["finished"] * n),
        sentences=tuple([""] * n),
        end_time=ends,
        wall_time=ends,
        curves=curves,
        simulated=1.0,
        elapsed=1.0,
    )


def test_one_axis_is_a_line_through_the_measure_in_the_order_of_its_places():
    figure = draw_measure(make_table({"a": [3, 1, 2]}, lambda a: a**2), "peak:y")
    (line,) = figure.axes[0].get_lines()
    assert line.get_xydata().tolist() == [[1, 1], [2, 4], [3, 9]]
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("a [kg]", "peak:y [m]")


def test_places_spaced_by_factors_have_an_axis_by_factors():
    table = make_table({"a": [1, 10, 100]}, lambda a: a)
    assert draw_measure(table, "peak:y").axes[0].get_xscale() == "log"


def test_two_axes_are_a_map():
    figure = draw_measure(make_table({"a": [2, 1], "b": [10, 20, 30]}, lambda a, b: a * b), "peak:y")
    (cells,) = [artist for artist in figure.axes[0].collections if artist.get_gid() == "peak:y"]
    assert cells.get_array().tolist() == [[10, 20], [20, 40], [30, 60]]


def test_more_axes_are_a_cloud_each():
    figure = draw_measure(make_table({"a": [1, 2], "b": [1, 2], "c": [1, 2]}, lambda a, b, c: a + b + c), "peak:y")
    assert [ax.get_xlabel() for ax in figure.axes] == ["a [kg]", "b [kg]", "c [kg]"]
    assert len(figure.axes[0].get_lines()[0].get_xdata()) == 8


def test_a_histogram_counts_every_run_that_was_carried_through():
    values = np.random.default_rng(1).normal(size=500)
    values[:3] = np.nan
    figure = draw_histogram(make_table({}, lambda a: a, drawn=[("a", values)]), "peak:y")
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 497


def test_influences_are_rank_correlations_the_largest_first():
    random = np.random.default_rng(1)
    a, b = random.uniform(1, 2, 400), random.uniform(1, 2, 400)
    table = make_table({}, lambda a, b: np.exp(-5 * a) + 1e-6 * b, drawn=[("b", a), ("a", b)])
    (first, strong), (second, weak) = rank_influences(table, "peak:y")
    assert (first, second) == ("b", "a")
    assert strong == pytest.approx(-1.0, abs=0.01)
    # Four standard errors of the correlation of 400 independent pairs.
    assert abs(weak) < 4 / 20
    labels = [label.get_text() for label in draw_influence(table, "peak:y").axes[0].get_yticklabels()]
    assert labels == ["a", "b"]


def test_ties_have_their_mean_rank():
    table = make_table({"a": [1, 2], "b": [1, 2]}, lambda a, b: a)
    assert dict(rank_influences(table, "peak:y")) == pytest.approx({"a": 1.0, "b": 0.0})


def test_bands_and_median_are_those_of_the_curves():
    values = np.arange(101.0)[:, None] * np.array([1.0, 2.0])
    figure = draw_bands(Curves("path.s", "m", np.array([0.0, 1.0]), {"y": values}, {"y": "m"}))
    (line,) = figure.axes[0].get_lines()
    assert line.get_ydata().tolist() == [50, 100]
    band = next(artist for artist in figure.axes[0].collections if artist.get_gid() == "y 5 to 95 %")
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (5, 190)
    assert figure.axes[0].get_xlabel() == "path.s [m]"


def test_a_sweep_leaves_a_picture_of_everything_it_has(tmp_path):
    curves = Curves("time", "s", np.arange(3.0), {"y": np.ones((4, 3))}, {"y": "m"})
    table = make_table({"a": [1, 2], "b": [1, 2]}, lambda a, b: a * b, curves=curves)
    names = [path.name for path in plot_sweep(table, tmp_path)]
    assert names == ["peak-y.png", "peak-y-influence.png", "curves.png"]
    assert all((tmp_path / name).stat().st_size > 0 for name in names)


def test_unstable_and_suspect_runs_are_marked():
    table = make_table({"a": [1, 2, 3]}, lambda a: np.where(a == 3, np.nan, a))
    table = replace(table, outcomes=("finished", "suspect", "overflow"))
    marks = {line.get_gid(): line.get_xydata().tolist() for line in draw_measure(table, "peak:y").axes[0].get_lines()}
    assert marks["suspect"] == [[2, 2]]
    # A run without a value is marked at the foot of the picture.
    assert marks["unstable"] == [[3, pytest.approx(0.02)]]


def test_a_yield_shows_who_keeps_the_limit_and_the_number_that_breaks_it(tmp_path):
    random = np.random.default_rng(1)
    a, b = random.uniform(1, 2, 300), random.uniform(1, 2, 300)
    table = make_table({}, lambda a, b: a, drawn=[("a", a), ("b", b)])
    table = replace(table, outcomes=("suspect", *table.outcomes[1:]))
    figure = draw_yield(table, find_yield(table, "peak:y", 1.8))
    top, below = figure.axes
    count = int(np.sum(a[1:] <= 1.8))
    legend = [text.get_text() for text in top.get_legend().get_texts()]
    assert set(legend) == {"limit", f"{count} keep it", f"{300 - count} do not", "1 suspect"}
    assert "of 300 runs keep peak:y within 1.8 m" in top.get_title(loc="left").replace("\n", " ")
    # Bars end where the values that keep it do: at 1.8, but for the suspect run.
    kept = [bar for bar in below.containers[0] if bar.get_height() > 0]
    assert max(bar.get_x() for bar in kept) <= 1.8 < min(bar.get_x() for bar in below.containers[1][-4:])
    assert below.get_xlabel() == "a [kg]"
    assert plot_sweep(table, tmp_path, {"peak:y": 1.8})[-1].name == "peak-y-yield.png"


def test_curves_of_a_grid_are_a_line_a_run():
    curves = Curves("time", "s", np.arange(3.0), {"y": np.arange(12.0).reshape(4, 3)}, {"y": "m"})
    table = make_table({"a": [1, 2], "b": [1, 2]}, lambda a, b: a * b, curves=curves)
    lines = draw_grid_curves(table).axes[0].get_lines()
    assert [line.get_ydata().tolist() for line in lines] == curves.values["y"].tolist()
    first, second, third, _ = [line.get_color() for line in lines]
    assert first == second != third
