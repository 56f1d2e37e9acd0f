"""Does the widget of a notebook show the run that its sliders ask for?"""

import numpy as np
import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import find_scenario

widget = pytest.importorskip("robodyn.presentation.studio.widget", reason="anywidget is missing", exc_type=ImportError)


def test_a_slider_moved_gives_the_run_of_that_number():
    pendulum = find_scenario("pendulum")
    shown = widget.explore(pendulum, ["gravity.z"], ["hinge.position"])
    (curve,) = shown.curves
    assert curve["before"] == curve["now"]
    shown.numbers = {"gravity.z": -2.0}
    expected = simulate(pendulum.with_numbers({"gravity.z": -2.0}))
    np.testing.assert_array_equal(shown.run["hinge.position"].values, expected["hinge.position"].values)
    (curve,) = shown.curves
    assert curve["unit"] == "deg"
    assert curve["now"][1][-1] == pytest.approx(np.degrees(expected["hinge.position"].values[-1]), rel=1e-12)
    assert curve["now"][1][-1] != curve["before"][1][-1]
    assert "simulated in" in shown.told


def test_what_a_scenario_refuses_is_told_and_the_curves_stay():
    shown = widget.explore(find_scenario("pendulum"), ["bob.mass"], ["hinge.position"])
    before = shown.curves
    shown.numbers = {"bob.mass": -1.0}
    assert "bob.mass" in shown.told or "mass" in shown.told
    assert shown.curves == before


def test_a_pattern_that_matches_nothing_is_refused():
    with pytest.raises(ModelError, match=r"numbers: 'bob.masss' matches no number"):
        widget.explore(find_scenario("pendulum"), ["bob.masss"])
