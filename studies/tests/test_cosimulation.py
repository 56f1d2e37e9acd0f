"""Does the co-simulation study measure what it says: a cut that fits, errors against the monolithic run, limits?"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from computed_figures import flawed_figures

from robodyn.analysis.coupling import StepLimit
from robodyn.base.errors import ModelError
from robodyn.computation.cosimulation import ScenarioUnit, read_cosimulation
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Interface
from robodyn_studies import STUDIES
from robodyn_studies.catalog import space_case_sides
from robodyn_studies.catalog.space_case import (
    AWAY,
    CORNER,
    HEIGHT,
    PITCH,
    PORT,
    TIP,
    WALL,
    YAW,
    hinge_angles,
    place_joints,
    read_manoeuvre,
    solve_plane,
    wrist_height,
)
from robodyn_studies.cosimulation_case import ACCURATE, RIGID_MODELS, Way, couple, whole
from robodyn_studies.cosimulation_headline import MOBILITY_STEPS, Trial
from robodyn_studies.cosimulation_limits import Row, write_row
from robodyn_studies.cosimulation_parts import beam_figures
from robodyn_studies.cosimulation_singular import (
    HIT,
    effective_masses,
    rolling_error,
    singular_time,
    wrist_above_roll_axis,
)


@pytest.fixture(scope="module")
def coupled():
    """The rigid arm, the beginning of the manoeuvre."""
    return couple(RIGID_MODELS, 0.05, 2.0)


PREFIX = "space-case-"
ROLLING = "Reduced interface models, a shoulder that rolls"
UNTUNED = "Reduced interface models, both arms at untuned steps"
PLANE = "Reduced interface models, a turn in a plane"
"""Long parts, most of which tests below try."""


def test_every_figure_comes_out():
    assert flawed_figures("cosimulation", (ROLLING, UNTUNED, PLANE)) == []
    assert {ROLLING, UNTUNED, PLANE} <= set(STUDIES["cosimulation"].parts())


def test_turned_in_a_plane_the_rigid_model_is_no_worse_than_the_flexible_one():
    trial = Trial(PITCH, "none", 0.05, limited=False)

    assert trial.rigid.finished
    assert trial.rigid.condition > 1e9
    assert trial.flexible.condition < 1e4
    assert 0.5 < trial.rigid.error / trial.flexible.error < 1.5
    assert not trial.failed


@pytest.mark.parametrize("join", ["none", "inertia"])
def test_the_rigid_model_ends_by_singularity_at_the_wall_and_the_flexible_one_does_not(join):
    trial = Trial(YAW, join, 0.05)

    assert trial.rigid.singular
    assert 30 < trial.rigid.run.outcome.time < 36
    assert trial.flexible.run.outcome.time == 60.0
    assert trial.flexible.condition < 1e4
    assert trial.failed
    # Without any limit the mobility loses its rank to rounding.
    assert Trial(YAW, join, 0.05, limited=False).rigid.singular


def test_the_flexible_arms_models_are_accurate_in_space_too():
    case = Trial(YAW, "inertia", 0.05).flexible

    assert case.finished
    assert case.error < 2e-3
    assert case.error < case.displacement < 3e-3


def test_the_rigid_arm_goes_on_by_its_mobility_where_its_inertia_ceases_to_exist():
    case = couple(Way("mobility-mobility", False), MOBILITY_STEPS[-1])

    assert case.run.outcome.ok
    assert case.run.outcome.time == 60.0
    assert case.condition > 1e12
    assert case.displacement < 5e-4


def test_the_rigid_arm_does_not_fail_short_of_its_singular_posture_nor_with_all_joints(tmp_path):
    for text in ('[end]\nwrist_yaw = "80 deg"\n', 'locked = ""\n'):
        (tmp_path / "other.toml").write_text(f'duration = "36 s"\n{text}')
        way = Way("model-model", False, manoeuvre=read_manoeuvre(tmp_path / "other.toml"))
        case = couple(way, 0.05)
        assert case.finished
        assert case.condition < 1e5


def test_the_manoeuvres_file_is_the_studys_manoeuvre():
    read = read_manoeuvre(Path(__file__).parents[1] / "space_manoeuvre.toml")

    assert dataclasses.replace(read, name="yaw") == YAW


def test_every_problem_of_a_manoeuvres_file_is_reported(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text('locked = "shoulder_jaw"\nwall = [0, 2, 0]\n[end]\nwrist_yow = 1\n[payload]\nmass = "2 m"\n')
    with pytest.raises(ModelError) as error:
        read_manoeuvre(path)
    for part in ("bad.toml", "locked: there is no joint 'shoulder_jaw'", "end.wrist_yow", "wall: must", "payload.mass"):
        assert part in str(error.value)


def test_hinges_of_any_order_give_the_rotation():
    _, R = place_joints({"shoulder_roll": 0.4, "elbow_pitch": -0.7, "wrist_yaw": 0.9, "wrist_roll": 0.2})
    for order in ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx"):
        product = np.eye(3)
        for axis, angle in zip(order, hinge_angles(R, order), strict=True):
            x, y, z = (float(axis == name) for name in "xyz")
            K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            product = product @ (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)
        np.testing.assert_allclose(product, R, atol=1e-14)


def test_the_joint_angles_bring_point_a_where_it_should_be():
    run = whole(False, PITCH)

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
    # The payload has begun to move; models are held for 50 ms.
    start = coupled.run["payload"]["touch.gap"].values[0]
    assert coupled.run["payload"]["touch.gap"].final < start - 0.002
    assert 0 < coupled.error < ACCURATE


def test_a_unit_can_be_used_again_and_gives_the_same(coupled):
    again = couple.__wrapped__(RIGID_MODELS, 0.05, 2.0)

    assert again.error == coupled.error


class CalledInPython(ScenarioUnit):
    """A scenario that the engine does not know as one."""


def test_a_unit_that_is_called_in_python_moves_alike_in_six_rows(coupled, monkeypatch):
    renew = ScenarioUnit.renew

    def renew_foreign(self):
        unit = renew(self)
        unit.__class__ = CalledInPython
        return unit

    monkeypatch.setattr(ScenarioUnit, "renew", renew_foreign)
    python = couple.__wrapped__(RIGID_MODELS, 0.05, 2.0).run

    for name in ("arm", "payload"):
        assert type(python[name]) is type(coupled.run[name])
        ours, theirs = coupled.run[name], python[name]
        scale = np.maximum(np.abs(theirs.values).max(axis=0), 1e-6)
        # The same equations in the same order; where nothing moves, out of the plane, rounding.
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
    row = Row("way", StepLimit(0.05, 0.052), StepLimit(0.0, 0.001), {0.01: 1.2e-3, 0.1: None})

    assert write_row(row) == "| way | 50 | below 1 | 1.2 | unstable |"


def test_the_rigid_arm_has_no_bound_to_its_mass_where_its_wrist_crosses_the_roll_axis():
    instant = singular_time(False, 0.0)
    heights = wrist_above_roll_axis(whole(False, PITCH))
    time, masses = effective_masses(False, PITCH)

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


class JoinsFirst(ScenarioUnit):
    """A unit that takes the model of its partner again after both have been joined, and keeps that one."""

    def advance(self, time, step):
        for unit, other in ((self, self.partner), (self.partner, self)) if self.leads else ():
            ScenarioUnit.attach_model(unit, PORT, ScenarioUnit.reduced_model(other, PORT), None)
        return super().advance(time, step)


def test_models_are_taken_before_the_sides_are_joined(monkeypatch):
    """Joining strains the booms: models that were taken after it would hold that force over the macro step."""
    right = couple.__wrapped__(Way("model-model"), 0.05, 2.5)
    renewed = []
    renew = ScenarioUnit.renew

    def renew_wrong(self):
        unit = renew(self)
        unit.__class__ = JoinsFirst
        unit.leads = not renewed
        renewed.append(unit)
        if len(renewed) == 2:
            renewed[0].partner, renewed[1].partner = renewed[1], renewed[0]
        return unit

    monkeypatch.setattr(ScenarioUnit, "renew", renew_wrong)
    wrong = couple.__wrapped__(Way("model-model"), 0.05, 2.5)

    assert len(renewed) == 2
    assert right.error < 1e-3
    assert wrong.run.outcome.kind.name == "DIVERGED"


def test_a_manoeuvres_file_is_an_option_of_the_catalogues_scenarios(tmp_path):
    (tmp_path / "light.toml").write_text('[payload]\nmass = "500 kg"\n')
    payload = find_scenario(f"{PREFIX}payload:manoeuvre={tmp_path / 'light.toml'}")
    assert payload.machine.mechanism.body("payload").mass == 500.0
    with pytest.raises(ModelError, match="none.toml"):
        find_scenario(f"{PREFIX}payload:manoeuvre=none.toml")
