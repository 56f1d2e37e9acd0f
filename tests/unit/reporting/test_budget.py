"""Does the picture of an error budget stack the parts it should, in micrometres, along the path?"""

import numpy as np
import pytest

from robodyn.analysis import Budget, BudgetPart
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo
from robodyn.presentation.reporting import draw_budget, plot_budget
from robodyn.presentation.reporting.causes import choose_areas, choose_rows


def budget(count=9):
    """A path that stands, goes and stands; part k is k micrometres, the total one more than their sum."""
    way = np.array([0.0, 0.0, 0.1, 0.2, 0.3, 0.3])
    sizes = 1e-6 * np.arange(1, count + 1)
    values = np.tile(sizes[None, :, None], (1, 1, way.size))
    total = np.full(way.size, sizes.sum() + 1e-6)
    infos = (SignalInfo("deviation.vertical", "m"), SignalInfo("path.s", "m"))
    outcome = Outcome(OutcomeKind.FINISHED, "", 1.0)
    run = Run(np.linspace(0, 1, way.size), np.column_stack([total, way]), infos, outcome, Provenance("weld"))
    parts = tuple(BudgetPart(f"part{k}", "force", "cause") for k in range(1, count + 1))
    return Budget(run, ("deviation.vertical",), "path.s", parts, values, total[None])


def test_the_largest_parts_are_shown_and_the_others_are_one_area():
    areas = choose_areas(budget())
    assert list(areas) == ["part5", "part6", "part7", "part8", "part9", "4 smaller parts", "remainder"]
    # Micrometres, to rounding.
    np.testing.assert_allclose(areas["4 smaller parts"], 10e-6, rtol=1e-12)
    np.testing.assert_allclose(sum(areas.values()), budget().total, rtol=1e-12)


def test_few_parts_are_all_shown():
    assert list(choose_areas(budget(3))) == ["part1", "part2", "part3", "remainder"]


def test_a_path_is_drawn_where_it_goes_on():
    way = np.array([0.0, 0.0, 1.0, 0.5, 2.0, 2.0])
    np.testing.assert_array_equal(choose_rows(way), [0, 2, 4])
    np.testing.assert_array_equal(choose_rows(-way), [4, 2, 0])


def test_the_total_is_a_line_along_the_path_whose_axes_are_in_micrometres_and_millimetres():
    (ax,) = draw_budget(budget()).axes
    (line,) = [line for line in ax.lines if line.get_gid() == "total"]
    np.testing.assert_allclose(line.get_xdata(), [0.0, 0.1, 0.2, 0.3])
    np.testing.assert_allclose(line.get_ydata(), 46e-6, rtol=1e-12)
    assert ax.get_ylabel() == "deviation.vertical [µm]"
    assert ax.get_xlabel() == "path.s [mm]"


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture_is_written(tmp_path, ending):
    path = tmp_path / f"budget.{ending}"
    plot_budget(budget(), path)
    assert path.stat().st_size > 0
