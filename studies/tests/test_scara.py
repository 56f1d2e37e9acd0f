"""Does the SCARA study come out, and is its mass matrix inverted by hand the right one?"""

import numpy as np
from computed_figures import flawed_figures

from robodyn_studies.scara import SPREADSHEET
from robodyn_studies.scara_forms import explicit_rates, implicit_rates
from robodyn_studies.scara_printed import euler_rows, off_by
from robodyn_studies.scara_runs import motion


def test_every_figure_comes_out():
    """But for whole workbooks: tests/references/test_workbook_libreoffice.py recalculates shorter ones."""
    assert flawed_figures("scara", without=[SPREADSHEET]) == []


def test_the_mass_matrix_inverted_by_hand_equals_a_numerical_solution():
    q, v, current = np.array([0.3, -1.2, 0.1]), np.array([1.0, -2.0, 0.2]), np.array([3.0, -1.0, 2.0])
    np.testing.assert_allclose(explicit_rates(q, v, current), implicit_rates(q, v, current), rtol=1e-12)


def test_rounding_parts_sheets_that_limit_currents_where_they_are_used():
    """Beyond the critical step: 1e-15 rad become 1e-4 in a second one way, and stay what they are the other."""
    for output, least, most in ((True, 1e-6, 1e-2), (False, 0.0, 1e-14)):
        plain, moved = (euler_rows(2e-3, output, start) for start in (0.0, 1e-15))
        assert least <= np.abs(moved - plain)[500].max() <= most
    # At 1 ms neither grows.
    plain, moved = (euler_rows(1e-3, True, start) for start in (0.0, 1e-15))
    assert np.abs(moved - plain).max() < 1e-12


def test_sheets_written_out_row_by_row_are_the_native_runs():
    for output, task in ((False, "b"), (True, "b, output limited")):
        rows = euler_rows(1e-3, output)[:2000]
        assert off_by(rows, 1e-3, motion(task, "euler", 1e-3)) < 1e-10
