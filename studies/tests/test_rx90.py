"""Does the RX90B study hold what it promises: names, readings that measure, starts that balance?"""

import dataclasses

import numpy as np
import pytest
from computed_figures import figures_of, flawed_figures, wrong_numbers

from robodyn.computation.results import SignalInfo
from robodyn_studies import STUDIES
from robodyn_studies.catalog import rx90_hold, rx90_weld_stiction
from robodyn_studies.catalog.rx90_parameters import FRICTIONS, JOINTS
from robodyn_studies.rx90_agreement import COUNTS, convergence
from robodyn_studies.rx90_budget import GROUPS, weld_budget
from robodyn_studies.rx90_identification import identified
from robodyn_studies.rx90_measured import unseen
from robodyn_studies.rx90_rest import SHARES, drift, holding_run, preload
from robodyn_studies.rx90_runs import DEVIATIONS, apart, jump_at, perturbed_run, share_below, weld, weld_run
from robodyn_studies.rx90_spread import FACTORS, plan_spread
from robodyn_studies.rx90_task import calm_run, rate_of, reversal

PROMISED = {
    *("perturbation_max_difference_um", "perturbation_share_below_2um", "nonlinear_step_halving_um"),
    *("deviation_jump_at_reversal_um", "times_real_time_nonlinear", "times_real_time_perturbation"),
    *("budget_remainder_share", "stick_drift_rad"),
}
"""Judged figures."""


@pytest.fixture(scope="module")
def found():
    return figures_of("rx90")


def test_the_promised_figures_are_there_and_reproduced(found):
    assert found.keys() >= PROMISED
    assert {name: found[name].ok for name in PROMISED} == dict.fromkeys(PROMISED, True)


def test_every_figure_comes_out():
    assert flawed_figures("rx90") == []


def test_numbers_of_its_page_are_those_of_its_figures():
    assert wrong_numbers("rx90", "rx90.md") == []


def test_counts_are_exact_and_cannot_pass_by_a_tolerance(found):
    names = ("position_loop_rate_khz", "velocity_loop_rate_khz", "friction_places", "linearisation_points")
    assert [found[name].tolerance for name in names] == [0.0] * 4


def test_measurements_that_are_not_public_are_called_not_reproducible(found):
    for name in ("deviation_apart_from_measured_um", "current_joint3_measured"):
        assert found[name].ok is None
        assert found[name].value is None
        assert "not public" in found[name].reason


def test_the_published_speed_up_is_told_beside_ours_and_not_claimed(found):
    speedup = found["speedup_perturbation"]
    assert (speedup.published, speedup.ok) == (10.0, None)
    # A ratio of two measured times, whatever it is.
    assert speedup.value > 0


def recorded(**signals):
    """A run that holds given signals."""
    run = weld_run()
    infos = tuple(SignalInfo(name.replace("__", "."), "") for name in signals)
    time = np.arange(len(next(iter(signals.values()))), dtype=float)
    values = np.column_stack(list(signals.values()))
    return dataclasses.replace(run, time=time, values=values, infos=infos, knots=None, probes=None)


def test_a_joint_turns_back_where_its_speed_crosses_zero():
    way = np.array([0.0, 0.1, 0.3, 0.4])
    assert reversal(recorded(path__velocity2=np.array([1.0, 1.0, -3.0, -3.0]), path__s=way), 2) == pytest.approx(150.0)
    assert reversal(recorded(path__velocity2=np.array([1.0, 0.0, -3.0, -3.0]), path__s=way), 2) == pytest.approx(100.0)
    assert np.isnan(reversal(recorded(path__velocity2=np.array([0.0, 1.0, 1.0, 0.0]), path__s=way), 2))


def test_a_jump_is_what_a_deviation_changes_near_a_place():
    run = recorded(path__s=np.array([0.5, 0.58, 0.6, 0.62, 0.7]), deviation__vertical=np.array([9.0, -1, 2, 0, 9]))
    assert jump_at(run, 0.6, "vertical") == 3.0


def test_the_share_below_a_bound_counts_instants():
    assert share_below(np.array([0.0, 1.0, 2.0, 3.0]), 2.0) == 0.5


def test_tips_apart_are_a_distance_in_space():
    run = weld_run()
    shift = (3e-6, 4e-6, 12e-6)
    places = [run.names.index(f"tool.position.{axis}") for axis in "xyz"]
    values = run.values.copy()
    values[:, places] += shift
    moved = dataclasses.replace(run, values=values)
    # Places of 0.6 m are known to 1e-16 m.
    np.testing.assert_allclose(apart(run, moved), 13e-6, rtol=1e-8)


def test_fewer_points_are_further_from_the_nonlinear_motion(found):
    assert list(convergence()) == sorted(convergence(), reverse=True)
    assert found[f"perturbation_difference_{COUNTS[0]}_points_um"].value > 100 * convergence()[-1]


def test_both_simulations_differ_in_what_they_compute():
    # Equal numbers would mean that one run was compared with itself.
    assert np.max(apart(weld_run(), perturbed_run())) > 0


def test_grouped_parts_of_the_budget_are_all_parts():
    budget = weld_budget()
    grouped = budget.grouped(GROUPS)
    # Sums in another order: rounding of parts of 200 um.
    np.testing.assert_allclose(grouped.sum, budget.sum, atol=1e-15)
    assert {part.name for part in grouped.parts} == {*GROUPS, "dynamics not fed forward"}


def test_the_budget_splits_the_study_s_own_run():
    # Native code that records less rounds otherwise, and flips counts of encoders: 0.1 to 0.2 um each.
    np.testing.assert_allclose(weld_budget().total[0], weld_run()[DEVIATIONS[0]].values, atol=1e-6)


def test_encoders_that_round_nothing_see_the_tip_of_a_rigid_robot():
    # Rounding of 1e-13 rad and of the kinematics; what elastic gears hide is 1e5 times more.
    assert max(np.max(np.abs(part)) for part in unseen(weld_run(smooth=True)).values()) < 1e-9


def test_bristles_of_tenths_of_a_microradian_are_unstable_at_the_step_of_the_loops():
    assert weld_run(stiff=True).outcome.kind.name in ("NOT_A_NUMBER", "OVERFLOW")
    assert rx90_weld_stiction().solver.step < weld().solver.step


def test_rates_are_those_of_all_axes():
    assert (rate_of("position_loop"), rate_of("encoder")) == (1.0, 4.0)
    assert np.isnan(rate_of("unknown"))


def test_without_friction_the_weld_still_runs_along_the_line():
    assert calm_run().outcome.ok
    assert max(np.max(np.abs(calm_run()[name].values)) for name in DEVIATIONS) < 1e-4


def test_a_preload_bends_every_joint_s_bristles_by_its_share_of_static_friction():
    scenario = rx90_hold(0.1)
    numbers, start = scenario.numbers(), preload(scenario, SHARES[0])
    for joint in JOINTS:
        bent = start[f"initial.{joint}.friction.bristle"] * numbers[f"{joint}.friction.stiffness"].value
        assert bent == pytest.approx(SHARES[0] * numbers[f"{joint}.friction.static_back"].value)


def test_preloads_are_balanced_by_currents():
    run = holding_run(SHARES[-1], controlled=False)
    # Unbalanced, bristles would give way by nine tenths of their range: 6 urad and more.
    assert max(drift(run, joint) for joint in JOINTS) < 1e-9
    assert np.ptp(run["joint2.position"].values) < 1e-8


def test_levels_of_friction_at_a_place_are_drawn_together():
    plan = plan_spread(5)
    numbers = weld().numbers()
    for place in FRICTIONS:
        names = [f"{place}.friction.{level}" for level in ("coulomb", "static", "coulomb_back", "static_back")]
        factors = [plan.inputs[:, plan.names.index(name)] / numbers[name].value for name in names]
        np.testing.assert_allclose(factors, np.broadcast_to(factors[0], (4, 5)))
        assert np.all((FACTORS.arguments[0] <= factors[0]) & (factors[0] <= FACTORS.arguments[1]))


@pytest.mark.parametrize(
    "name", ["task", "joint-speeds", "deviation", "current-3", "perturbation", "convergence", "measured"]
)
def test_a_picture_is_drawn(tmp_path, name):
    picture = next(picture for picture in STUDIES["rx90"].pictures() if picture.name == name)
    picture.draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_pictures_have_different_names():
    names = [picture.name for picture in STUDIES["rx90"].pictures()]
    assert len(set(names)) == len(names)


def test_a_difference_of_two_friction_levels_is_no_wrong_sign():
    # The wrist's levels of both directions are told by their difference alone, which may be negative.
    assert [w for w in identified().warnings if "comes out negative" in w] == []
