"""LQR, Kalman filter, observers and their block, against python-control, summed costs and a machine's own poles."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import cont2discrete
from typer.testing import CliRunner

from robodyn import ModelError, Solver, assemble, read_scenario, simulate
from robodyn.analysis import (
    LinearModel,
    Variable,
    design_kalman_filter,
    design_observer,
    design_regulator,
    linearise,
    linearise_sampled,
    sample_plant,
    state_controller,
)
from robodyn.cli.application import app
from robodyn.computation.assembly.control.state_design import find_designs
from robodyn.description.model import GROUND, Block, Body, Joint, Machine, Mechanism, Scenario

T = 0.01
STATES = ("rail.position", "hinge.position", "rail.velocity", "hinge.velocity")


def balanced(*blocks, **fields):
    """A pole upright on a cart."""
    bodies = (Body("cart", 2.0), Body("pole", 0.5, (0.0, 0.0, 0.4), (0.02, 0.02, 0.001)))
    joints = (
        Joint("rail", "prismatic", GROUND, "cart", axis=(1, 0, 0)),
        Joint("hinge", "revolute", "cart", "pole", axis=(0, 1, 0)),
    )
    drive = Block("drive", "constant_force", "rail", parameters={"value": 0.0})
    machine = Machine("balance", Mechanism("balance", bodies, joints), blocks or (drive,))
    return Scenario("balance", machine, 3.0, solver=Solver("dopri5", rtol=1e-9, atol=1e-11), **fields)


@pytest.fixture(scope="module")
def upright():
    outputs = ("rail.position", "hinge.position")
    return linearise(assemble(balanced()), "start", inputs=("drive.value",), outputs=outputs)


def step_by_pieces(model, u, delay):
    """States at the samples under held inputs that take effect late: from one switch to the next."""
    times = [round(k * T + late, 12) for k in range(len(u)) for late in (0.0, delay)]
    switches = sorted(set(times))
    x, found = np.array([0.1, -0.2, 0.3, 0.05]), []
    for begin, end in zip(switches, [*switches[1:], math.inf], strict=True):
        if abs(begin / T - round(begin / T)) < 1e-9 and round(begin / T) < len(u):
            found.append(x)
        k = math.floor((begin - delay) / T + 1e-9)
        if end == math.inf or begin >= (len(u) - 1) * T - 1e-12:
            break
        F, G, *_ = cont2discrete((model.A, model.B, model.C, model.D), end - begin)
        x = F @ x + G[:, 0] * (u[k] if k >= 0 else 0.0)
    return np.array(found)


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.01, 0.0217])
def test_a_sampled_plant_goes_on_as_its_model_does_between_all_switches(upright, delay):
    plant, u = sample_plant(upright, T, delay), np.random.default_rng(3).normal(size=12)
    expected = step_by_pieces(upright, u, delay)
    x = expected[0]
    for k in range(len(expected) - 1):
        assert x == pytest.approx(expected[k], rel=1e-9, abs=1e-12)
        x = plant.F @ x + sum(G[:, 0] * (u[k - j] if k >= j else 0.0) for j, G in enumerate(plant.G))


def test_gains_are_those_of_python_control(upright, proof):
    control = pytest.importorskip("control")
    plant = sample_plant(upright, T)
    Q, R, W, V = np.diag([10.0, 1.0, 0.0, 0.0]), [[0.1]], np.diag([0.0, 0.0, 1e-4, 1e-3]), np.diag([1e-6, 4e-6])
    found = design_regulator(plant, {"rail.position": 10.0, "hinge.position": 1.0}, {"drive.value": 0.1})
    K, P, poles = control.dlqr(plant.F, plant.G[0], Q, R)
    what, source = "gains of a linear-quadratic regulator", f"python-control {control.__version__}"
    proof(what, kind="program", source=source, ours=found.K, reference=K, within=1e-8, relative=True)
    np.testing.assert_allclose(found.cost, P, rtol=1e-6)
    assert np.sort_complex(found.multipliers) == pytest.approx(np.sort_complex(poles), abs=1e-8)
    filtered = design_kalman_filter(plant, W, V)
    gain, covariance, _ = control.dlqe(plant.F, np.eye(4), plant.C, W, V)
    np.testing.assert_allclose(filtered.covariance, covariance, rtol=1e-6)
    # python-control's gain leads to the estimate of the next sample.
    np.testing.assert_allclose(plant.F @ filtered.L, gain, rtol=1e-6)


def test_the_cost_of_a_late_regulator_is_the_sum_that_it_says_and_the_least(upright):
    """z^T P z summed up sample by sample; gains beside it cost more."""
    plant = sample_plant(upright, T, 0.017)
    regulator = design_regulator(plant, dict.fromkeys(STATES, 1.0), {"drive.value": 0.01})
    A, B = plant.augmented
    assert A.shape == (6, 6)

    def cost(K):
        z, total = np.array([0.1, 0.05, 0.0, 0.0, 0.0, 0.0]), 0.0
        for _ in range(4000):
            u = -K @ z
            total += z[:4] @ z[:4] + 0.01 * u @ u
            z = A @ z + B @ u
        return total

    z = np.array([0.1, 0.05, 0.0, 0.0, 0.0, 0.0])
    least = z @ regulator.cost @ z
    assert cost(regulator.K) == pytest.approx(least, rel=1e-9)
    for k in range(6):
        beside = regulator.K * (1 + 0.03 * (np.arange(6) == k))
        assert cost(beside) > least


def test_an_observer_has_the_poles_that_were_asked_for(upright):
    poles = (-20.0, -25.0, -22 + 8j, -22 - 8j)
    observer = design_observer(sample_plant(upright, T), poles)
    assert np.sort_complex(np.log(observer.multipliers) / T) == pytest.approx(np.sort_complex(poles), rel=1e-6)


def test_the_machine_under_lqg_has_the_poles_of_regulator_and_filter_together(upright):
    """Separation: in a run the pole comes upright, and the sampled machine's own multipliers are those designed."""
    plant = sample_plant(upright, T, 0.004)
    regulator = design_regulator(plant, {"rail.position": 20.0, "hinge.position": 5.0}, {"drive.value": 0.01})
    observer = design_kalman_filter(plant, dict.fromkeys(STATES, 1e-5), dict.fromkeys(STATES[:2], 1e-6))
    block = state_controller("control", regulator, observer, {"command": ("rail",)})
    closed = balanced(block, initial={"hinge.position": 0.1})
    run = simulate(replace(closed, duration=8.0))
    assert abs(run["hinge.position"].final) < 1e-4
    assert abs(run["rail.position"].final) < 1e-3
    found = linearise_sampled(replace(closed, initial={})).multipliers
    for mu in (*regulator.multipliers, *observer.multipliers):
        if abs(mu) > 1e-3:
            assert np.min(np.abs(found - mu)) < 1e-6


def test_state_feedback_reads_the_states_themselves(upright):
    plant = sample_plant(upright, T)
    regulator = design_regulator(plant, dict.fromkeys(STATES, 1.0), {"drive.value": 0.01})
    block = state_controller("control", regulator, acts={"command": ("rail",)})
    found = linearise_sampled(balanced(block)).multipliers
    for mu in regulator.multipliers:
        assert np.min(np.abs(found - mu)) < 1e-8


LIFT = """
duration = "1 s"
[bodies]
lift = {{ mass = 3 }}
other = {{ mass = 1 }}
[joints]
slide = {{ kind = "prismatic", parent = "ground", child = "lift", axis = [0, 0, 1] }}
loose = {{ kind = "prismatic", parent = "ground", child = "other", axis = [1, 0, 0] }}
[blocks]
spring = {{ law = "spring", on = "loose", parameters = {{ stiffness = {stiffness}, damping = {damping} }} }}
[controllers.hold]
period = "10 ms"
{hold}
"""
SEEN = 'measured = ["slide.position"]\npoles = [-30, -35, -40, -45]\n'
REGULATED = 'states = { "slide.position" = 100, "slide.velocity" = 1 }\ncommands = [0.02]\nacts = ["slide"]\n'


def read_lift(folder, hold, stiffness=50, damping=2):
    file = folder / "lift.toml"
    file.write_text(LIFT.format(hold=hold, stiffness=stiffness, damping=damping))
    return read_scenario(file)


def test_a_lift_described_in_a_file_has_the_gains_of_python_control_and_carries_its_weight(tmp_path):
    control = pytest.importorskip("control")
    scenario = read_lift(tmp_path, REGULATED + 'at = { "slide.position" = 0.2 }')
    (found,) = find_designs(scenario)
    F, G, *_ = cont2discrete((np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1 / 3]]), np.eye(2), 0), T)
    K, _, poles = control.dlqr(F, G, np.diag([100.0, 1.0]), [[0.02]])
    places = [[variable.name for variable in found.plant.states].index(f"slide.{q}") for q in ("position", "velocity")]
    # What moves beside it is none of its business.
    assert found.regulator.K.shape == (1, 2)
    np.testing.assert_allclose(found.regulator.K[:, places], K, rtol=1e-8)
    assert found.plant.inputs[0].value == pytest.approx(3 * 9.81, rel=1e-12)
    own = linearise_sampled(scenario, {"slide.position": 0.2}).multipliers
    assert all(np.min(np.abs(own - pole)) < 1e-8 for pole in poles)
    # From 0 to the operating point.
    x = np.linalg.matrix_power(F - G @ K, 100) @ [-0.2, 0.0]
    assert simulate(scenario)["slide.position"].final == pytest.approx(0.2 + x[0], abs=1e-7)


def test_an_observer_alone_finds_the_speed_of_what_another_controller_moves(tmp_path):
    pushed = '[blocks.push]\nlaw = "sine_reference"\nparameters = { amplitude = 20, frequency = 2 }\nperiod = "10 ms"\n'
    pushed += '[blocks.drive]\nlaw = "torque_source"\non = "slide"\ninputs = { command = "push.value" }\n'
    hold = 'measured = ["slide.position", "loose.position"]\npoles = [-30, -35, -40, -45]\napplied = ["push.value"]\n'
    scenario = read_lift(tmp_path, hold + pushed)
    run = simulate(scenario)
    time = np.arange(60, 100) * T
    index = [variable.name for variable in find_designs(scenario)[0].plant.states].index("slide.velocity")
    error = run[f"hold.estimate.{index}"](time + 1e-6) - run["slide.velocity"](time)
    # Poles of 30 / s leave exp(-18) of the first error, the weight at the start.
    assert np.max(np.abs(error)) < 1e-5 * np.max(np.abs(run["slide.velocity"].values))


def test_a_file_is_told_what_cannot_be_controlled_seen_or_held(tmp_path):
    def complaint(*arguments, **numbers):
        with pytest.raises(ModelError) as refused:
            assemble(read_lift(tmp_path, *arguments, **numbers))
        return str(refused.value)

    both = REGULATED.replace('"slide.velocity"', '"loose.position"')
    told = complaint(both, damping=0)
    assert "controllers.hold.plant: the motion of" in told
    assert "loose.velocity does not decay and cannot be controlled by the inputs" in told
    assert "cannot be seen in the outputs" in complaint(both + SEEN, 0, 0)
    told = complaint(both + 'at = { "loose.position" = 0.1 }')
    assert "controllers.hold.at: is not an equilibrium: loose.velocity changes by -5 a second" in told
    assert "is not a state of the machine (did you mean 'slide.position'?)" in complaint(
        REGULATED + 'at = { "slide.positon" = 1 }'
    )
    assert "acts: names 1, there are 2 commands" in complaint(REGULATED.replace("[0.02]", "[0.02, 0.1]"))
    assert "poles: has no effect without measured" in complaint(REGULATED + "poles = [-1]")


def test_the_command_prints_gains_and_poles(tmp_path):
    read_lift(tmp_path, REGULATED + SEEN.replace(", -40, -45", ""))
    result = CliRunner().invoke(app, ["design", str(tmp_path / "lift.toml"), "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)["hold"]
    assert sorted(real for real, _ in told["observer_poles"]) == pytest.approx([-35, -30], rel=1e-6)
    assert all(real < 0 for real, _ in told["regulator_poles"])
    assert "observer" in CliRunner().invoke(app, ["design", str(tmp_path / "lift.toml")]).stdout
    assert CliRunner().invoke(app, ["design", "pendulum"]).exit_code == 2


def test_what_cannot_be_controlled_or_seen_is_told(upright):
    drifting = LinearModel(
        np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.3]]),
        np.array([[0.0], [1.0], [0.0]]),
        np.array([[1.0, 0.0, 0.0]]),
        states=(Variable("x"), Variable("v"), Variable("other")),
    )
    plant = sample_plant(drifting, T)
    with pytest.raises(ModelError, match="the motion of 1 other does not decay and cannot be controlled by the inputs"):
        design_regulator(plant, np.eye(3), np.eye(1))
    with pytest.raises(ModelError, match="the motion of 1 other does not decay and cannot be seen in the outputs"):
        design_kalman_filter(plant, np.eye(3), np.eye(1))
    good = sample_plant(upright, T)
    with pytest.raises(
        ModelError, match=r"states.rail.positio: is not part of the plant \(did you mean 'rail.position'"
    ):
        design_regulator(good, {"rail.positio": 1.0}, {"drive.value": 1.0})
    with pytest.raises(ModelError, match="inputs: weights must be positive"):
        design_regulator(good, {"rail.position": 1.0}, {})
    with pytest.raises(ModelError, match="are 2, the plant has 4 states"):
        design_observer(good, (-1.0, -2.0))
    with pytest.raises(ModelError, match="period: must be positive"):
        sample_plant(upright, 0.0)


LATE_AXIS = """
duration = 0.4
[bodies.load]
mass = 5.0
[joints.piston]
kind = "prismatic"
parent = "ground"
child = "load"
axis = [1, 0, 0]
[blocks.actuator]
law = "hydraulic_actuator"
on = "piston"
inputs = {{ opening = "late.output" }}
parameters = {{ oil_compliance = 1e-6, leakage = 7.5e-5, openings = {openings}, speeds = {speeds} }}
[blocks.friction]
law = "viscous_friction"
on = "piston"
parameters = {{ viscous = 500 }}
[delays.late]
signal = "lqg.command.0"
time = "4 ms"
[delays.seen]
signal = "piston.position"
time = "2 ms"
[initial]
piston.position = "1 mm"
[controllers.lqg]
period = "1 ms"
states = {{ "piston.position" = 1e5 }}
commands = [1.0]
{measured}
at = {{ "piston.position" = 0, "actuator.oil_force" = {force} }}
"""
SEEN_LATE = """measured = ["seen.output"]
noise = { "piston.velocity" = 1e-6, "actuator.oil_force" = 1.0 }
measured_noise = [1e-10]"""
STRAIGHT = {"openings": [-0.3, 0.3], "speeds": [-1.0, 1.0]}


def read_late_axis(folder, measured=SEEN_LATE, force=0.0, **tables):
    file = folder / "axis.toml"
    file.write_text(LATE_AXIS.format(measured=measured, force=force, **(STRAIGHT | tables)))
    return read_scenario(file)


def test_a_controller_of_a_machine_with_delays_is_designed_by_pade_and_settles_it(tmp_path):
    scenario = read_late_axis(tmp_path)
    (design,) = find_designs(scenario)
    names = [variable.name for variable in design.plant.states]
    assert {"late.output.pade1", "late.output.pade2", "seen.output.pade1"} < set(names)
    # The machine itself, delays exact: it settles as fast as the slowest pole of the design says.
    slowest = np.log(np.abs([*design.regulator.multipliers, *design.observer.multipliers]).max()) / 1e-3
    run = simulate(scenario)
    assert np.abs(run["piston.position"](np.linspace(0.3, 0.4, 50))).max() < 1e-3 * 5 * np.exp(0.3 * slowest)
    printed = CliRunner().invoke(app, ["design", str(tmp_path / "axis.toml")])
    assert "delays as Padé approximations: late.output, seen.output" in printed.stdout


def test_delays_without_an_observer_are_refused(tmp_path):
    with pytest.raises(ModelError, match="whose content cannot be measured"):
        find_designs(read_late_axis(tmp_path, measured=""))


@pytest.mark.parametrize(
    ("openings", "speeds", "held"),
    [
        # Leakage under 40 N asks for 3 mm/s: on the table's own slope.
        ([-0.3, -0.1, 0.1, 0.3], [-1.0, -0.5, 0.5, 1.0], 0.003 / 5),
        # Beyond a dead band, at whose inside nothing follows the command.
        ([-0.3, -0.01, 0.01, 0.3], [-1.0, 0.0, 0.0, 1.0], 0.01 + 0.003 * 0.29),
    ],
)
def test_a_command_holds_a_load_through_a_table(tmp_path, openings, speeds, held):
    file = tmp_path / "axis.toml"
    text = LATE_AXIS.format(measured=SEEN_LATE, force=40.0, openings=openings, speeds=speeds)
    file.write_text(text.replace("axis = [1, 0, 0]", "axis = [0, 0, 1]").replace("mass = 5.0", f"mass = {40 / 9.81}"))
    (design,) = find_designs(read_scenario(file))
    assert design.plant.inputs[0].value == pytest.approx(held, rel=1e-6)
