"""Does the SCARA study come out, and is its mass matrix inverted by hand the right one?"""

import numpy as np
from computed_figures import flawed_figures

from robodyn_studies.scara import SPREADSHEET
from robodyn_studies.scara_forms import explicit_rates, implicit_rates


def test_every_figure_comes_out():
    """But for whole workbooks: tests/references/test_workbook_libreoffice.py recalculates shorter ones."""
    assert flawed_figures("scara", without=[SPREADSHEET]) == []


def test_the_mass_matrix_inverted_by_hand_equals_a_numerical_solution():
    q, v, current = np.array([0.3, -1.2, 0.1]), np.array([1.0, -2.0, 0.2]), np.array([3.0, -1.0, 2.0])
    np.testing.assert_allclose(explicit_rates(q, v, current), implicit_rates(q, v, current), rtol=1e-12)
