"""Does the co-simulation study measure what it says: a cut that fits, errors against the monolithic run, limits?"""

import dataclasses

import numpy as np
import pytest
from support.figures import flawed_figures

from robodyn.catalog import space_case_sides
from robodyn.catalog.space_case import AWAY, CORNER, HEIGHT, TIP, WALL, solve_plane, wrist_height
from robodyn.errors import ModelError
from robodyn.studies.cosimulation_case import ACCURATE, Case, couple, longest, whole
from robodyn.studies.cosimulation_parts import beam_figures


@pytest.fixture(scope="module")
def coupled():
    """The rigid arm, the beginning of the manoeuvre."""
    return couple("model-model", False, 0.05, duration=2.0)


def test_every_figure_comes_out():
    assert flawed_figures("cosimulation") == []


def test_the_joint_angles_bring_point_a_where_it_should_be():
    run = whole(False)

    assert run["A.position.x"].values[0] == pytest.approx(WALL - AWAY, abs=1e-12)
    assert run["A.position.z"].values[0] == pytest.approx(HEIGHT, abs=1e-12)
    elevation = np.array([-0.4])
    upper, elbow, wrist = (
        solve_plane(np.array([14.0]), np.array([0.7]), elevation)[f"{name}_pitch"]
        for name in ("shoulder", "elbow", "wrist")
    )
    assert -(upper + elbow + wrist) == pytest.approx(elevation, abs=1e-12)


def test_the_wrist_crosses_the_shoulders_axis_once_while_it_turns():
    heights = wrist_height(np.linspace(-np.pi / 2, 0.0, 200))

    assert heights[0] == pytest.approx(HEIGHT + TIP[0] + CORNER[0])
    assert heights[0] > 0 > heights[-1]
    assert np.sum(np.diff(np.sign(heights)) != 0) == 1


def test_reduced_models_follow_the_monolithic_run(coupled):
    assert coupled.finished
    # The payload has gone seven centimetres; models are held for 50 ms.
    assert coupled.run["payload"]["touch.gap"].final < AWAY - 0.05
    assert 0 < coupled.error < ACCURATE


def test_a_unit_can_be_used_again_and_gives_the_same(coupled):
    again = couple.__wrapped__("model-model", False, 0.05, duration=2.0)

    assert again.error == coupled.error


def test_limits_end_at_the_first_macro_step_that_fails(coupled):
    good, bad = coupled, dataclasses.replace(coupled, error=np.inf)

    assert longest({0.1: good, 0.2: bad, 0.3: good}) == 0.1
    assert longest({0.1: bad}) == 0.0
    assert longest({0.1: Case(good.run, 2 * ACCURATE, 1.0)}, accurate=True) == 0.0


def test_beams_have_the_closed_forms():
    assert [figure.ok for figure in beam_figures()] == [True] * 3


def test_an_unknown_coupling_is_told_with_the_nearest():
    with pytest.raises(ModelError, match="model-model"):
        space_case_sides("model-modl")
