"""Does the co-simulation study measure what it says: a cut that fits, errors against the monolithic run, limits?"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from computed_figures import flawed_figures

from robodyn.analysis.coupling.limits import Limit
from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import macro_steps, read_cosimulation
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Interface
from robodyn_studies import STUDIES
from robodyn_studies.catalog import space_case_sides
from robodyn_studies.catalog.space_case import AWAY, CORNER, HEIGHT, TIP, WALL, solve_plane, wrist_height
from robodyn_studies.cosimulation_case import ACCURATE, RIGID_MODELS, Way, couple, whole
from robodyn_studies.cosimulation_limits import Row, write_row
from robodyn_studies.cosimulation_parts import beam_figures
from robodyn_studies.cosimulation_singular import (
    HIT,
    effective_masses,
    rolling_error,
    singular_time,
    wrist_above_roll_axis,
)
from robodyn_studies.cosimulation_untuned import Trial


@pytest.fixture(scope="module")
def coupled():
    """The rigid arm, the beginning of the manoeuvre."""
    return couple(RIGID_MODELS, 0.05, 2.0)


PREFIX = "space-case-"
ROLLING = "Reduced interface models, a shoulder that rolls"
UNTUNED = "Reduced interface models, rigid arm at untuned steps"
"""Long parts, most of which tests below try."""


def test_every_figure_comes_out():
    assert flawed_figures("cosimulation", (ROLLING, UNTUNED)) == []
    assert {ROLLING, UNTUNED} <= set(STUDIES["cosimulation"].parts())


def test_the_rigid_model_is_ill_conditioned_at_an_untuned_step_and_no_worse_than_the_flexible_one():
    trial = Trial(HEIGHT, "none", 0.05)

    assert trial.case.finished
    assert trial.case.condition > 1e9
    assert trial.flexible.condition < 1e4
    assert 0.5 < trial.case.error / trial.flexible.error < 1.5
    assert not trial.failed


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
    again = couple.__wrapped__(RIGID_MODELS, 0.05, 2.0)

    assert again.error == coupled.error


def test_macro_steps_in_the_engine_are_those_of_python_in_six_rows(coupled, monkeypatch):
    monkeypatch.setattr(macro_steps, "runs_natively", lambda exchange: False)
    python = couple.__wrapped__(RIGID_MODELS, 0.05, 2.0).run

    for name in ("arm", "payload"):
        ours, theirs = coupled.run[name], python[name]
        scale = np.maximum(np.abs(theirs.values).max(axis=0), 1e-6)
        # Other eliminations of the same equations; where nothing moves, out of the plane, rounding.
        assert np.max(np.abs(ours.values - theirs.values) / scale) < 1e-8


def test_sides_that_keep_their_own_motion_drift_apart_with_the_macro_step():
    errors = [couple(Way("model-model", False, join="none"), step, 4.0).error for step in (0.02, 0.01)]
    joined = couple(RIGID_MODELS, 0.01, 4.0).error

    # Held models are of first order, and nothing corrects what they miss.
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)
    assert errors[1] > 5 * joined


def test_the_case_runs_from_its_file(coupled):
    file = read_cosimulation(Path(__file__).parents[1] / "space_case.toml")
    arm, payload = file.subsystems
    rigid = dataclasses.replace(arm, scenario=dataclasses.replace(find_scenario(f"{PREFIX}arm-rigid"), duration=2.0))
    rigid = dataclasses.replace(rigid, scenario=with_port(rigid.scenario, "centre"))
    held = tuple(dataclasses.replace(connection, order=0) for connection in file.connections)
    run = dataclasses.replace(file, subsystems=(rigid, payload), connections=held).simulate()

    assert arm.scenario.name == f"{PREFIX}arm-flexible"
    assert run.outcome.time == 2.0
    assert run["payload"]["touch.gap"].final == coupled.run["payload"]["touch.gap"].final
    assert "40 macro steps of 0.05 s" in run.summary()


def with_port(scenario, point):
    port = Interface("port", "model", point=point, rotates=True)
    return dataclasses.replace(scenario, machine=dataclasses.replace(scenario.machine, interfaces=(port,)))


def test_a_row_of_the_table_says_what_was_and_was_not_reached():
    row = Row("way", Limit(0.05, 0.052), Limit(0.0, 0.001), {0.01: 1.2e-3, 0.1: None})

    assert write_row(row) == "| way | 50 | below 1 | 1.2 | unstable |"


def test_the_rigid_arm_has_no_bound_to_its_mass_where_its_wrist_crosses_the_roll_axis():
    instant = singular_time(False, 0.0)
    heights = wrist_above_roll_axis(whole(False))
    time, masses = effective_masses(False)

    # The effector points down at the start.
    assert heights[0] == pytest.approx(HEIGHT + TIP[0] + CORNER[0], abs=1e-6)
    # Sampled at 50 Hz: within a sample of the instant.
    assert time[np.argmax(masses)] == pytest.approx(instant, abs=0.02)
    assert np.max(masses) > 1e6 * masses[0]


def test_a_singular_arm_is_thrown_where_sides_meet_halfway_and_not_where_they_meet_by_inertia():
    # 0.2 m and 3 mm: halfway, the shoulder makes up for a small gap over a height that is nearly nothing.
    assert rolling_error(False, "mean") > 0.03
    assert rolling_error(False, "inertia", HIT[:1]) < 0.005


def test_beams_have_the_closed_forms():
    assert [figure.ok for figure in beam_figures()] == [True] * 3


def test_an_unknown_coupling_is_told_with_the_nearest():
    with pytest.raises(ModelError, match="model-model"):
        space_case_sides("model-modl")
