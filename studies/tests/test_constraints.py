"""Does the constraints study hold what it promises: names, closed forms that are right, readings that measure?"""

import numpy as np
import pytest
from computed_figures import figures_of, flawed_figures
from scipy.integrate import quad, solve_ivp

from robodyn.analysis.mechanics.parallel_kinematics import WorkspaceMap
from robodyn.presentation.reporting import draw_workspace
from robodyn.presentation.studies import fill_numbers
from robodyn_studies import STUDIES
from robodyn_studies.catalog.delta_parameters import FITTED
from robodyn_studies.constraints_appendix import generated_arms, off_by, typed_arm
from robodyn_studies.constraints_cable import CONTROL
from robodyn_studies.constraints_control import settling_time
from robodyn_studies.constraints_delta import workspace
from robodyn_studies.constraints_linear import UNROUNDED
from robodyn_studies.constraints_linkages import FOUR_BARS, PENDULUM
from robodyn_studies.constraints_pendulum import initialisation_figures
from robodyn_studies.constraints_runs import GRAVITY, STRENGTH, break_exactly, breaking_run, pendulum_run, swing_exactly
from robodyn_studies.constraints_speed import count_baumgarte, count_dummy_derivatives

LONG = ("Its sway in a building that keeps swaying", "More than 200 links")
"""Half a minute of computing: `test_cable` has the like of a small cable."""
PROMISED = {
    *("pendulum_drift_rtol_1e-4", "pendulum_drift_rtol_1e-8"),
    *("delta_cancelled_pairs", "delta_reduced_order", "delta_fk_iterations"),
}


@pytest.fixture(scope="module")
def found():
    return figures_of("constraints", LONG)


def test_every_figure_comes_out():
    assert flawed_figures("constraints", LONG) == []


def test_the_promised_figures_are_there_and_reproduced(found):
    assert found.keys() >= PROMISED
    assert {name: found[name].verdict for name in PROMISED} == dict.fromkeys(PROMISED, "reproduced")


def test_the_study_s_factors_of_speed_come_out_at_its_tolerance(found):
    """Times are those of this machine: an order of magnitude is a wide word, a factor of about 5 less so."""
    assert found["delta_speed"].ok
    assert found["pendulum_speed"].published == 5.0
    assert found["pendulum_evaluations_ratio"].value > 1.5
    assert found["delta_evaluations_ratio"].value > 2.5


def test_two_ways_to_count_a_multistep_method_s_work_are_the_pendulum_s():
    quick, slow = count_baumgarte(1e-6), count_dummy_derivatives(1e-6)
    assert quick.evaluations < slow.evaluations < slow.evaluations + slow.solves
    # Two changes of coordinates in each quarter of a turn, of which 10 s have 10.2: T = 4 K(4 g / v^2) / v.
    assert 4 * 10.1 < slow.restarts - 1 < 4 * 10.3


def test_what_a_compensator_was_designed_for_proves_nothing(found):
    assert found["cable_attenuation_at_resonance"].verdict == "given"
    assert "6 %" in found["cable_attenuation_at_resonance"].fitted


def test_poles_that_parameters_were_fitted_to_prove_nothing(found):
    poles = [found[f"delta_pole_{name}"] for name in ("unstable", "fast", "pair_real", "pair_imag")]
    assert {(pole.verdict, pole.ok) for pole in poles} == {("given", None)}
    assert all("masses" in pole.fitted for pole in poles)


def test_counts_are_exact_and_cannot_pass_by_a_tolerance(found):
    for name, count in (("delta_cancelled_pairs", 12), ("delta_reduced_order", 6)):
        assert (found[name].published, found[name].tolerance) == (count, 0)


def test_what_is_not_reproduced_has_our_value_and_a_reason(found):
    gap = found["delta_unobservable"]
    assert gap.ok is None
    assert (gap.published, gap.value) == (12, 6)
    assert "unobservable" in gap.reason


def test_drift_is_the_study_s_own_constraint_and_falls_by_four_orders(found):
    coarse, fine = (found[f"pendulum_drift_rtol_{name}"].value for name in ("1e-4", "1e-8"))
    # h = x^2 + z^2 - 1 is twice the error of the length, which the run tells of itself.
    assert coarse == pytest.approx(2 * pendulum_run(1e-4).statistics.extra["constraint_position_error"], rel=1e-3)
    assert 1e3 < coarse / fine < 1e6


def test_relaxation_and_newton_both_make_a_start_consistent():
    figures = {figure.name: figure for figure in initialisation_figures()}
    assert {name: figure.ok for name, figure in figures.items()} == dict.fromkeys(figures, True)
    # It starts far off: what is left is not there from the beginning.
    assert figures["relaxation_error_left_delta"].value > 1e-8


def fall(_, state):
    return state[1], -GRAVITY * np.sin(state[0])


def test_the_pendulum_by_elliptic_functions_solves_its_equation():
    times = np.linspace(0, 3, 31)
    swing = solve_ivp(fall, (0, 3), (np.pi / 2, 0.0), "DOP853", times, rtol=1e-12, atol=1e-12)
    # From hanging, let go at x = -1.
    np.testing.assert_allclose(swing_exactly(times), (-np.sin(swing.y[0]), -np.cos(swing.y[0])), atol=1e-10)


def test_the_instant_of_fracture_is_the_time_that_the_fall_takes():
    time, x, z = break_exactly()
    # Energy: depth' = sqrt(2 g sin(depth)); with depth = s^2 nothing is singular at the start.
    depth = np.arcsin(STRENGTH / (3 * GRAVITY))
    exact, _ = quad(lambda s: 2 * s / np.sqrt(2 * GRAVITY * np.sin(s * s)), 1e-12, np.sqrt(depth), epsabs=1e-12)
    assert time == pytest.approx(exact, abs=1e-9)
    assert (x, z) == pytest.approx((-np.cos(depth), -np.sin(depth)))
    assert [event.name for event in breaking_run().events] == ["fracture"]


def test_the_least_gain_is_the_same_for_continuous_and_sampled_loops(found):
    names = ("delta_least_gain_continuous", "delta_least_gain_sampled")
    values = [found[name].value for name in names]
    # A pole counts as growing from 1e-9 of the largest on.
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_the_fit_before_rounding_differs_from_the_catalogue_s_by_its_digits():
    for name in ("proximal_length", "distal_length", "platform_mass", "proximal_mass"):
        assert getattr(UNROUNDED, name) == pytest.approx(getattr(FITTED, name), abs=6e-4)
        assert getattr(UNROUNDED, name) != getattr(FITTED, name)


def test_the_appendix_as_printed_is_off_where_corrected_it_is_not():
    assert off_by() < 1e-10 < 1e-3 < off_by(as_printed=True)
    assert off_by(third=1.0) > 1e-3
    phi, _ = generated_arms()[0]
    corrected, printed = (typed_arm(phi, as_printed=way) for way in (False, True))
    different = [bool(np.any(a != b)) for a, b in zip(corrected, printed, strict=True)]
    assert different == [False, True, False]


class Moving:
    """A run of which the platform moves along x alone."""

    def __init__(self, time, x):
        self.time, self.x = time, x

    def __getitem__(self, name):
        return type("S", (), {"values": self.x if name.endswith(".x") else np.zeros_like(self.x)})


def test_settling_ends_when_the_platform_was_last_outside():
    time = np.linspace(0, 2, 2001)
    x = 0.1 + 0.1 * np.exp(-5 * time) * np.cos(20 * time)
    settled = settling_time(Moving(time, x), (0.1, 0.0, 0.0), 0.5, near=0.01)
    outside = time[np.abs(x - 0.1) > 0.01]
    assert settled == pytest.approx(outside.max() - 0.5)
    assert 0.0 > settled > -0.2


def test_reference_motions_lie_on_their_circles():
    for x, z in PENDULUM.values():
        assert np.hypot(x, z) == pytest.approx(1.0, abs=2e-8)
    for x, z, vx, vz in FOUR_BARS.values():
        assert np.hypot(x, z) == pytest.approx(1.0, abs=2e-8)
        assert x * vx + z * vz == pytest.approx(0.0, abs=1e-7)


def test_the_control_of_the_cable_is_engaged_as_the_study_tells():
    assert (CONTROL.begin, CONTROL.end - CONTROL.begin) == (50.0, 300.0)


def test_a_workspace_is_drawn_with_what_is_out_of_reach_left_blank():
    found = workspace(9)
    figure = draw_workspace(found)
    shown = next(child for child in figure.axes[0].get_children() if child.get_gid() == "condition")
    blank = np.ma.getmaskarray(shown.get_array()).ravel()
    assert 0 < blank.sum() < blank.size
    np.testing.assert_array_equal(blank, ~found.reachable.squeeze().T.ravel())


def test_only_a_plane_of_a_workspace_is_drawn():
    cube = np.ones((2, 2, 2))
    grid = WorkspaceMap("tip", (), ("x", "y", "z"), (np.arange(2.0),) * 3, cube > 0, cube, cube, cube, cube)
    with pytest.raises(ValueError, match="3 axes"):
        draw_workspace(grid)


@pytest.mark.parametrize("name", ["drift", "fracture", "poles", "workspace"])
def test_a_picture_is_drawn(tmp_path, name):
    picture = next(picture for picture in STUDIES["constraints"].pictures() if picture.name == name)
    picture.draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_pictures_have_different_names():
    names = [picture.name for picture in STUDIES["constraints"].pictures()]
    assert len(set(names)) == len(names)


def test_the_headline_is_said_with_figures(found):
    said = fill_numbers(STUDIES["constraints"].headline.ours, found.values())
    assert "not computed" not in said
    assert "(12 pairs" in said
    assert "order 6" in said
