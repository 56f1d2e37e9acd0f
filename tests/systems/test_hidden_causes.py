"""Does one drive with all hidden causes run alike in C and in lanes, and has each cause a bar of its own?"""

import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.budget import split_deviation
from robodyn.analysis.commissioning import dress, endurance_of, find_drive, robot_endurance
from robodyn.analysis.commissioning.endurance import path_of
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.computation.engine.pack import lanes_are_there
from robodyn.exchange.codegen import write_c
from robodyn.exchange.fmi import write_fmu

CAUSES = (
    "cogging", "ripple", "saturation", "uneven_friction", "transmission_error", "transmission_reaction", "dead_time",
    "eccentricity", "interpolation", "current_error", "gear_loss", "iron_loss", "warm_magnets", "encoder",
)  # fmt: skip


def one_joint(mass=4.0):
    body = rd.Body("arm", mass, (0.3, 0.0, 0.0), (0.01, 0.1, 0.1))
    joint = rd.Joint("elbow", "revolute", rd.GROUND, "arm", axis=(0, -1, 0))
    limits = {"effort_limit": 50.0, "speed_limit": 2.0}
    mechanism = rd.Mechanism("arm", (body,), (joint.replaced(**limits),), points=(rd.Point("tip", "arm", (0.5, 0, 0)),))
    return rd.Machine("arm", mechanism)


@cache
def dressed(**more):
    drives = {"friction": "elasto-plastic", "errors": "typical", "heat": True, "iron_hysteresis": 0.3, "iron_eddy": 0.1}
    return dress(one_joint(), {"all": drives | more}, start={"elbow": 0.3})


@cache
def moving():
    moved = rd.move(dressed().scenario, {"elbow": 0.35}, speed=0.5)
    return moved.scenario.replaced(duration=0.05)


def test_it_starts_at_rest_and_every_cause_is_there():
    found = dressed()
    assert not found.notes
    blocks = {block.name for block in found.machine.blocks}
    assert {f"elbow.{cause}" for cause in CAUSES} <= blocks
    assert "supply" in blocks


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
def test_the_program_in_c_gives_the_run_to_the_last_bit(tmp_path):
    assert write_c(moving(), tmp_path).agreement.equal


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
def test_the_unit_of_the_functional_mock_up_interface_gives_the_run(tmp_path):
    laws = {block.law_name for block in moving().machine.blocks}
    assert {"two_way_gear_loss", "uneven_friction", "elasto_plastic_friction", "sagging_supply", "inverter"} <= laws
    assert write_fmu(moving(), tmp_path / "arm.fmu").agreement.error < 1e-12


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
def test_an_identified_servo_that_sticks_is_the_same_in_c(tmp_path):
    found = dress(one_joint(0.5), {"all": {"name": "MX-64", "friction": "m6"}}, start={"elbow": 0.3})
    moved = rd.move(found.scenario, {"elbow": 0.32}, speed=0.5).scenario
    assert write_c(moved.replaced(duration=0.05), tmp_path).agreement.equal


@pytest.mark.skipif(not lanes_are_there(), reason="this processor has no lanes")
def test_lanes_give_the_runs_one_by_one_to_the_last_bit():
    values = {"elbow.cogging.amplitude": np.linspace(0.1, 0.5, 5)}
    system, measures = rd.assemble(moving()), ["rms:elbow.velocity", "max:elbow.heat.winding"]
    alone, together = (
        rd.simulate_many(system, values, measures=measures, lanes=lanes, threads=1) for lanes in (False, True)
    )
    for name in alone.measures:
        np.testing.assert_array_equal(alone.measures[name], together.measures[name])


def test_each_cause_is_a_part_of_the_budget_and_they_add_up():
    budget = split_deviation(moving(), ("elbow.position",), points=50)
    parts = {part.name for part in budget.parts}
    assert {f"elbow.{cause}" for cause in CAUSES if cause != "warm_magnets"} <= parts
    assert budget.remainder_share < 0.05


def test_a_robot_holds_as_long_as_its_drive_alone_and_as_its_simulation_says():
    drives = {"name": "DM-J4340-2EC", "friction": "none", "heat": True, "gap": 0.0, "effort": 60.0, "loss": 0.0}
    found = dress(one_joint(8.0), {"all": drives}, start={"elbow": 0.0})
    (held,) = robot_endurance(found.scenario).drives
    assert held.load.torque == pytest.approx(8.0 * 9.81 * 0.3, rel=1e-3)
    # With play in its gear it does not start at rest, and its weight is what counts.
    loose = robot_endurance(found.scenario.replaced(initialisation="given")).drives[0]
    assert loose.load.torque == pytest.approx(held.load.torque, rel=1e-3)
    (alone,) = endurance_of([find_drive("DM-J4340-2EC")], held.load.torque).drives
    assert held.load.time == pytest.approx(alone.load.time, rel=1e-6)
    assert 1.0 < held.load.time < 600.0
    # The whole robot simulated for two seconds: its winding is as warm as that of the drive alone.
    run = rd.simulate(found.scenario.replaced(duration=2.0))
    after = path_of(find_drive("DM-J4340-2EC")).hold(held.load.torque)
    assert after.time == alone.load.time
    rate = (run.final["elbow.heat.winding"] - 298.15) / 2.0
    block = next(block for block in found.machine.blocks if block.name == "elbow.heat")
    current = held.load.torque / (40 * 0.10185)
    expected = block.parameters["resistance"] * current**2 * block.parameters["winding_resistance"] / 35.0
    assert rate == pytest.approx(expected, rel=0.1)


# The sensitivities of a rigid gear have no spring that holds them, and the book-keeping of their work no equation.
@pytest.mark.parametrize("elastic", [True, False])
def test_amplitudes_of_hidden_causes_are_fitted_to_a_recorded_motion(elastic):
    plain = {"friction": "none", "cogging": 0.003, "cogging_order": 24.0, "transmission_error": 2e-4}
    found = dress(one_joint(), {"all": plain | {"elastic": elastic}}, start={"elbow": 0.3})
    scenario = rd.move(found.scenario, {"elbow": 0.35}, speed=0.5).scenario.replaced(duration=0.15)
    times = np.linspace(0.0, 0.15, 300)
    run = rd.simulate(scenario.replaced(recording=rd.Recording(times=tuple(times))))
    names = ("elbow.position", "elbow.motor.current")
    infos = tuple(replace(info, rate=None) for name in names for info in run.infos if info.name == name)
    recorded = replace(run, values=np.column_stack([run[name].values for name in names]), infos=infos, probes=None)
    true = {"elbow.cogging.amplitude": 0.3, "elbow.transmission_error.amplitude": 2e-4}
    guess = scenario.with_numbers({"elbow.cogging.amplitude": 0.2, "elbow.transmission_error.amplitude": 1.5e-4})
    fit = fit_parameters(guess, recorded, tuple(true))
    for name, value in true.items():
        assert fit.values[name] == pytest.approx(value, rel=0.01)


@pytest.mark.parametrize("cause", ["dead_time", "supply_resistance"])
def test_a_cause_that_lacks_the_voltage_it_acts_by_says_so(cause):
    with pytest.raises(rd.ModelError, match='has no voltage: give them, take errors = "typical"'):
        dress(one_joint(), {"all": {cause: 1e-6}}, start={"elbow": 0.3})


def test_the_pitch_error_of_a_screw_is_a_part_of_the_budget():
    """A slide that starts at rest on the nominal motion, whose table is among the parameters."""
    machine = one_joint()
    (joint,) = machine.mechanism.joints
    slide = joint.replaced(kind="prismatic", axis=(1.0, 0.0, 0.0), effort_limit=500.0)
    machine = machine.replaced(mechanism=machine.mechanism.replaced(joints=(slide,)))
    drives = {"family": "ball-screw", "friction": "none", "pitch_error": 2e-5}
    found = dress(machine, {"all": drives}, start={"elbow": 0.3})
    scenario = rd.move(found.scenario, {"elbow": 0.35}, speed=0.5).scenario.replaced(duration=0.05)
    budget = split_deviation(scenario, ("elbow.position",), points=50)
    (k,) = [k for k, part in enumerate(budget.parts) if part.name == "elbow.pitch_error"]
    assert 1e-6 < np.abs(budget.values[0, k]).max() < 1e-4
    assert budget.remainder_share < 0.05
