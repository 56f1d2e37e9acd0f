"""Does the EPAAS study hold what it promises: names, tolerances from the data, a sign that explains, a page?"""

from dataclasses import replace

import numpy as np
import pytest
from computed_figures import figures_of, flawed_figures

from robodyn import MachineDynamics, ModelError, simulate
from robodyn.analysis import MeasuredResponse
from robodyn.analysis.linear.linear_model import Variable
from robodyn.analysis.step_response import measure_step
from robodyn.base.plain import to_plain
from robodyn.cli import export
from robodyn.computation.assembly import assemble
from robodyn.computation.results.signal import Signal
from robodyn.description.catalog import find_scenario
from robodyn.description.model import Body, Machine, Scenario
from robodyn.presentation.studies import Kind, PublishedValue, write_page
from robodyn_studies import STUDIES, epaas_forces, epaas_rounding
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog.epaas_arm import GRIPPERS, LENGTH, epaas_cylinders, epaas_mechanism
from robodyn_studies.catalog.epaas_cartesian import WristPlace, joints_at, pistons_at
from robodyn_studies.catalog.epaas_elastic import STIFFNESS
from robodyn_studies.epaas_estimation import LAST_DIGITS, estimate_with_rounding
from robodyn_studies.epaas_flexible import elastic_modes
from robodyn_studies.epaas_forces import path_motion
from robodyn_studies.epaas_hammer import swings
from robodyn_studies.epaas_noise import read_peak
from robodyn_studies.epaas_runs import arm_system, centred, read_step, unexplained
from robodyn_studies.force_components import effective_inertia, force_components
from robodyn_studies.hydraulic_estimation import estimate_resonator

PROMISED = {
    *("J11", "J22", "J33", "J44", "J55", "J23"),
    *("CJA11", "CJA22", "CJA33", "CJA44", "CJA55"),
    *(f"coupling_J_{k}" for k in range(2, 6)),
    *(f"torque_total_{k}" for k in range(1, 5)),
    *("rig_extend_2.7kg_peak_time", "rig_extend_5.1kg_peak_time", "rig_retract_5.1kg_peak_time"),
    *("robot_l4_peak_time", "robot_l4_oscillation_time", "robot_l3_peak_time", "robot_l1_oscillation_time"),
    *("mass_L1_greatest", "mass_L1_greatest_4kg", "mass_ratio_L2"),
    *("force_speed_squared_L4", "force_fast_speed_squared_L4", "force_inertial_L4", "force_fast_inertial_L4"),
    *("rig_met_8.1", "state_decimals_largest", "varied_more_gain_overshoot", "varied_less_mass_oscillation_time"),
    *("mode_L3", "mode_L4", "c0_estimate", "ch_inverse_estimate", "B_estimate"),
}


@pytest.fixture(scope="module")
def found():
    return figures_of("epaas")


def test_every_figure_comes_out():
    assert flawed_figures("epaas") == []


def test_all_promised_figures_are_there_and_reproduced(found):
    assert found.keys() >= PROMISED
    assert {name: found[name].ok for name in PROMISED} == dict.fromkeys(PROMISED, True)


def test_what_comes_out_otherwise_has_a_printed_value_and_a_reason(found):
    open_ones = [figure for figure in found.values() if figure.verdict == "different"]
    assert open_ones
    assert all(figure.published is not None and figure.reason for figure in open_ones)
    assert not [figure for figure in found.values() if figure.verdict == "not reproducible"]


def test_the_rig_s_measurements_stand_beside_its_simulations(found):
    rig = [figure for name, figure in found.items() if name.startswith(("rig_extend", "rig_retract"))]
    assert len(rig) == 12
    assert all(figure.measured is not None for figure in rig)
    assert found["rig_extend_5.1kg_overshoot"].measured == 29


def with_gripper_at(y):
    """J25 with the gripper's centre of mass at a y [m]."""
    mass, (x, _, z), inertia = GRIPPERS["vertical"]
    arm = epaas_mechanism()
    gripper = Body.about_origin("link5", mass, (x, y, z), inertia, physical=False)
    arm = replace(arm, bodies=(*(body for body in arm.bodies if body.name != "link5"), gripper))
    system = assemble(Scenario("arm", Machine("epaas", arm, (), epaas_cylinders()), 1.0, start_angles()))
    return effective_inertia(system, centred()).matrix[1, 4]


def start_angles():
    return {state.name: state.start for state in arm_system().states if state.name.endswith(".position")}


def test_the_sign_of_the_gripper_s_centre_decides_over_J25_as_a_lever_does():
    printed, turned = with_gripper_at(0.0024), with_gripper_at(-0.0024)
    # Joint 2 moves the wrist by the upper arm's length, joint 5 the centre by y: m a y. The angles are 1.1 deg off.
    mass = GRIPPERS["vertical"][0]
    assert turned - printed == pytest.approx(2 * mass * 0.0024 * LENGTH[1], rel=2e-3)
    assert turned == pytest.approx(published.JOINT_INERTIA[1][4], abs=1e-6)
    assert abs(printed - published.JOINT_INERTIA[1][4]) > 1e-3


def test_the_published_inertia_matrices_are_symmetric_as_typed():
    for matrix in (published.JOINT_INERTIA, published.ACTUATOR_INERTIA):
        np.testing.assert_array_equal(matrix, np.transpose(matrix))


@pytest.mark.parametrize("speed", ["normal", "fast"])
def test_the_published_components_add_up_to_their_totals_as_typed(speed):
    # Six rounded numbers; the study's own sums are up to 0.003 off.
    for row in published.TORQUES_BY_ORIGIN[speed]:
        assert sum(row[:-1]) == pytest.approx(row[-1], abs=0.004)
    for row in published.FORCES_BY_ROLE[speed]:
        assert sum(row[:-1]) == pytest.approx(row[-1], abs=0.011)
    by_role = zip(published.TORQUES_BY_ORIGIN[speed], published.TORQUES_BY_ROLE[speed], strict=True)
    for origin, role in by_role:
        assert origin[0] + sum(role) == pytest.approx(origin[-1], abs=0.004)


def test_the_reading_with_weight_meets_53_of_57_and_11_of_12_values(found):
    assert found["rig_met_8.1"].value == 53
    assert found["robot_met_loaded_each_height"].value == 11
    assert found["robot_met_balanced_each_height"].value < 11
    values = [figure for name, figure in found.items() if name.startswith("varied_")]
    assert sum(figure.ok is True for figure in values) == 53
    assert all("without weight, 0.4 V: " in figure.reason for figure in values)


def test_decimals_are_found_again_from_tables_that_are_rounded_as_the_study_s(monkeypatch):
    """A state of known decimals, its torques rounded to a thousandth: the positions come back, others follow."""
    true = np.array([0, 0.3, -0.2, 0.4, -0.1, *[0.2, -0.3] * 5])
    state = epaas_forces._state("fast", true)
    rows = force_components(epaas_rounding.arm_kinetics(False), *state)
    table = np.column_stack([*(part[0] for part in rows.components.values()), rows.total[0]]).round(3)
    tables = {**published.TORQUES_BY_ORIGIN, "fast": table}
    monkeypatch.setattr(published, "TORQUES_BY_ORIGIN", tables)
    decimals, covariance = epaas_forces.solved_decimals.__wrapped__()
    deviation = np.sqrt(np.diag(covariance))
    # Of joints 2 and 3, whose weight is felt most, more than half of what was open is known.
    assert (deviation[1:3] < 0.6 * epaas_forces.UNIFORM).all()
    assert (np.abs(decimals - true)[1:] < 3 * deviation[1:]).all()


def test_dry_friction_holds_a_loop_up_to_the_speed_of_its_describing_function(found):
    """A step that swings slower than the first harmonic says dies, a faster one grows."""
    figure = found["describing_largest_speed"]
    assert figure.ok
    assert swings(0.45)[1] is False
    assert swings(0.6)[1] is True


def test_a_blow_in_the_plane_of_the_arm_hardly_moves_it_sideways(found):
    assert found["hammer_coupling_of_plane_and_phi"].ok
    assert found["hammer_plane_59.2Hz"].value == pytest.approx(59.2, rel=0.05)
    assert found["hammer_phi_83.2Hz"].value == pytest.approx(83.2, rel=0.02)


def test_what_is_as_small_as_its_tolerance_is_counted_apart(found):
    wide = [figure for figure in found.values() if figure.wide]
    assert wide
    assert {figure.verdict for figure in wide} <= {"too small to compare", "given"}


def test_the_catalogue_s_steps_are_those_of_the_page(found):
    for name, figure, signal in (
        ("epaas-rig-extend", "rig_extend_5.1kg_overshoot", "piston.measured.output"),
        ("epaas-rig-retract", "rig_retract_5.1kg_overshoot", "piston.measured.output"),
    ):
        response = measure_step(simulate(find_scenario(name))[signal], 0.01)
        assert 100 * response.overshoot == pytest.approx(found[figure].value, abs=1e-6)


def test_rounding_moves_a_linear_estimate_by_half_the_digits_times_its_weights():
    data = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    weights = np.array([2.0, -3.0, 5.0])
    values, moved = estimate_with_rounding(data, lambda table: np.array([np.sum(table @ weights)]))
    assert values == pytest.approx([2 * 5.0 - 3 * 7.0 + 5 * 9.0])
    assert moved == pytest.approx([np.sum(np.abs(weights) * LAST_DIGITS)])


def test_the_path_turns_the_vane_motor_as_fast_as_the_study_s_state_and_five_times_that():
    for faster in (1.0, 5.0):
        motion, _ = path_motion(faster)
        fastest = np.degrees(np.abs(motion.velocity[:, motion.names.index("joint1")]).max())
        assert fastest == pytest.approx(138 * faster)


def test_the_study_s_gain_sensitivity_is_a_slip_of_its_own_arithmetic():
    varied = published.VARIATIONS["piston.control.gain"]
    change = varied.overshoot[1] - varied.overshoot[0]
    assert change / (200 * varied.change) == pytest.approx(1.35)
    assert change / 50 == pytest.approx(0.54)


def test_a_step_is_read_in_milliseconds_and_percent():
    time = np.linspace(0.0, 0.2, 4001)
    w, decay = 2 * np.pi * 50, 40.0
    values = 1 - np.exp(-decay * time) * (np.cos(w * time) + decay / w * np.sin(w * time))
    read = read_step(measure_step(Signal("y", "V", time, values), final=1.0))
    # A damped oscillation peaks at half its period and passes its level by exp(-decay t) there.
    assert read == pytest.approx({"peak_time": 10, "oscillation_time": 20, "overshoot": 100 * np.exp(-0.4)}, rel=1e-3)


def test_a_soft_gripper_leaves_no_mode_where_the_rigid_one_has_that_of_L1():
    """Above 14.8 Hz the gripper's mass no longer takes part: the rigid model's 140 Hz were not measured either."""
    assert not [mode for mode in elastic_modes(STIFFNESS).moving if 90 < mode.frequency < 300]


def test_a_peak_is_read_from_a_response_as_a_resonator_has_it():
    f, f0, damping = np.arange(4.0, 400.0, 4.0), 90.0, 0.25
    s = 1j * f / f0
    values = 3.0 / (s**2 + 2 * damping * s + 1)
    sure = np.ones_like(f)
    made = MeasuredResponse(Variable("u", "A"), Variable("v", "m/s"), f, values, sure, 0 * sure, 20.0)
    found = estimate_resonator(*read_peak(made))
    # A parabola over a fifth of the frequency to both sides.
    assert (found.frequency, found.damping) == pytest.approx((f0, damping), rel=0.03)


def test_a_gap_is_never_counted_as_reproduced():
    figure = unexplained("f", 2.0, 2.0, "s", "why", "where", 1.9)
    assert figure.ok is None
    assert to_plain(figure)["measured"] == 1.9


def test_a_page_has_a_table_for_each_part_and_a_column_for_measurements_where_there_are(tmp_path):
    study = replace(STUDIES["epaas"], pictures=lambda: ())
    plain = PublishedValue("plain", 2.0, 2.1, "s", 0.2, "why", "there", part="First")
    seen = PublishedValue("seen", 3.0, 3.1, "s", 0.2, "why", "there", Kind.RESULT, measured=3.5, part="Second")
    text = write_page(study, [plain, seen], tmp_path).read_text()
    assert "### First\n\n| figure | kind | expected | ours | unit |" in text
    assert "| `plain` | own check | 2 within 0.2 | 2.1 | s | holds | why | there |" in text
    assert "### Second\n\n| figure | kind | expected | ours | measured | unit |" in text
    assert "| `seen` | published result | 3 within 0.2 | 3.1 | 3.5 | s | reproduced | why | there |" in text


def test_the_command_prints_what_was_measured():
    figures = [PublishedValue("seen", 3.0, 3.1, "s", 0.2, "why", "there", measured=3.5)]
    figures.append(PublishedValue("plain", 3.0, 3.1, "s", 0.2, "why", "there"))
    first, _, second, *_ = export.show_figures(figures).parts
    assert first.endswith("measured 3.5")
    assert "measured" not in second


@pytest.mark.parametrize("name", ["rig-steps", "workspace"])
def test_a_picture_is_drawn(tmp_path, name):
    picture = next(picture for picture in STUDIES["epaas"].pictures() if picture.name == name)
    picture.draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_pictures_have_different_names():
    names = [picture.name for picture in STUDIES["epaas"].pictures()]
    assert len(set(names)) == len(names) == 27


def test_a_place_of_the_wrist_is_where_the_mechanism_has_it():
    place = WristPlace(0.36, 0.25, 0.3, 0.15, 0.1)
    joints = joints_at(place)
    arm = MachineDynamics(Machine("epaas", epaas_mechanism(), ()))
    x, y, z = arm.position("wrist", np.array(list(joints.values())))
    assert (np.hypot(x, y), z, np.arctan2(y, x)) == pytest.approx((place.r, place.z, place.phi), abs=1e-12)


def test_a_place_out_of_reach_is_refused():
    with pytest.raises(ModelError, match="r = 0.6 m, z = 0.3 m is out of reach"):
        pistons_at(WristPlace(0.6, 0.3))
