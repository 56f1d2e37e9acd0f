"""Pictures of couplings hold what they are given."""

import numpy as np

from robodyn_studies.oscillator_drawings import draw_coupling_errors, draw_stability
from robodyn_studies.oscillator_errors import CouplingErrors
from robodyn_studies.oscillator_stability import map_stability


def test_errors_are_drawn_as_a_line_a_coupling():
    steps = np.array([1e-3, 1e-2])
    values = {"one": np.array([1.0, 2.0]), "other": np.array([3.0, 4.0])}
    figure = draw_coupling_errors(CouplingErrors(steps, values, values, "parallel", 0))
    lines = {line.get_gid(): line for line in figure.axes[0].lines}
    assert set(lines) == {"one", "other"}
    np.testing.assert_array_equal(lines["other"].get_ydata(), [3.0, 4.0])


def test_a_stability_map_has_a_panel_a_coupling():
    found = map_stability([1e-3, 1e-2, 1e-1], [1.0, 1e4])
    figure = draw_stability([found, found])
    assert [ax.get_title() for ax in figure.axes[:3]] == list(found.growth)
    mesh = figure.axes[2].collections[0]
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).reshape(2, 3), found.growth["model-model"])
