"""Are prediction errors those that were put in, ahead and in free runs, by measured inputs and by inverse dynamics?"""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import Recording, simulate
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.analysis.identification.identify import identify
from robodyn.analysis.measurement.measured import drive_by_data, without
from robodyn.analysis.validation import _Predictor, runs_beside, validate
from robodyn.base.errors import ModelError
from robodyn.computation.results import Run, SignalInfo
from robodyn.description.laws import law
from robodyn.description.model import (
    Block,
    Body,
    Delay,
    FormulaSignal,
    Joint,
    Load,
    Machine,
    Mechanism,
    Point,
    PrescribedMotion,
    Scenario,
)
from robodyn.presentation.reporting import describe


@pytest.fixture(scope="module")
def slide():
    """A slide under a chirped force and viscous friction."""
    rail = Joint("rail", "prismatic", "ground", "mass", axis=(1.0, 0.0, 0.0))
    mechanism = Mechanism("slide", (Body("mass", 2.0),), (rail,))
    chirp = {"amplitude": 5.0, "start_frequency": 0.5, "end_frequency": 3.0, "duration": 4.0}
    blocks = (
        Block("rail.wave", "chirp_reference", parameters=chirp),
        Block("rail.drive", "torque_source", "rail", {"command": "rail.wave.value"}),
        Block("rail.friction", "viscous_friction", "rail", parameters={"viscous": 1.5}),
    )
    return Scenario("slide", Machine("slide", mechanism, blocks), 4.0)


@pytest.fixture(scope="module")
def data(slide):
    signals = ("rail.position", "rail.velocity", "rail.drive.torque")
    run = simulate(slide, recording=Recording(rate=500.0, signals=signals))
    infos = tuple(replace(info, rate=None) for info in run.infos)
    return Run(run.time, run.values, infos, run.outcome, run.provenance)


def test_errors_of_the_right_model_are_those_of_the_data(slide, data):
    offset = data.values + np.where(np.array(data.names) == "rail.velocity", 0.01, 0.0)
    found = validate(slide, replace(data, values=offset), method="simulation")
    speed = next(error for error in found.signals if error.name == "rail.velocity")
    assert (speed.rms, speed.bias) == (pytest.approx(0.01, rel=1e-4), pytest.approx(-0.01, rel=1e-4))
    assert speed.percent == pytest.approx(100 * 0.01 / np.std(data["rail.velocity"].values), rel=1e-4)
    assert "rail.velocity" in describe(found)


def test_measured_forces_drive_the_model_in_place_of_its_own(slide, data):
    other = slide.with_numbers({"rail.wave.amplitude": 1.0})
    own, driven = (validate(other, data, inputs, method="simulation") for inputs in ((), ["rail.drive.torque"]))
    errors = [next(e.percent for e in found.signals if e.name == "rail.position") for found in (own, driven)]
    assert errors[0] > 50
    # Straight lines between samples of 2 ms of a force of 3 Hz: (w h)^2 / 12 of it.
    assert errors[1] < 0.1
    assert "rail.drive.torque" not in [error.name for error in driven.signals]


def test_efforts_drive_a_robot_without_drives_and_joints_that_it_has_fixed_are_named(slide, data):
    """As a robot's file has it: no drives, and a gripper that is locked."""
    mechanism = slide.machine.mechanism
    grip = Joint("grip", "fixed", "mass", "finger")
    mechanism = mechanism.replaced(bodies=(*mechanism.bodies, Body("finger", 0.5)), joints=(*mechanism.joints, grip))
    bare = slide.replaced(machine=Machine("slide", mechanism, slide.machine.blocks[2:], tunable=("mass.mass",)))
    right = bare.with_numbers({"mass.mass": 1.5})
    opening = 0.02 + np.random.default_rng(0).choice([0.0, 1e-5], data.time.size)
    infos = [replace(i, name=i.name.replace("drive.torque", "effort")) for i in data.infos]
    infos = (*infos, SignalInfo("grip.position", "m"))
    log = replace(data, infos=infos, values=np.column_stack([data.values, opening]))
    found = validate(right, log)
    assert found.inputs == ("rail.drive.torque",)
    assert {row.signal for row in found.predictions} == {"rail.position", "rail.velocity"}
    assert all(row.percent < 0.1 for row in found.predictions)
    assert any("no drive on rail" in note for note in found.notes)
    assert any("grip stands at 0.02001 m in the data" in note for note in found.notes)
    moved = replace(log, values=np.column_stack([data.values, np.sin(data.time)]))
    assert any("grip moves by 1.757 m in the data" in warning for warning in identify(right, moved).warnings)


def test_inverse_dynamics_tells_a_wrong_mass(slide, data):
    scenarios = (slide, slide.with_numbers({"mass.mass": 2.5}))
    right, heavy = (validate(scenario, data, method="inverse").efforts[0] for scenario in scenarios)
    assert right.percent < 1
    # 25 % of the inertial part of the force.
    assert 10 < heavy.percent < 30


def test_a_fit_with_a_measured_input_is_proved_on_what_it_has_not_seen(slide, data):
    guess = slide.with_numbers({"mass.mass": 3.0, "rail.friction.viscous": 0.5, "rail.wave.amplitude": 0.0})
    noisy = replace(data, values=data.values + np.random.default_rng(0).normal(0, [1e-4, 1e-3, 0.0], data.values.shape))
    free = ["mass.mass", "rail.friction.viscous"]
    fit = fit_parameters(guess, noisy, free, inputs=["rail.drive.torque"], held_out=0.25)
    assert fit.values["mass.mass"] == pytest.approx(2.0, rel=1e-3)
    assert sum(np.isfinite(fit.recordings[0].residuals[:, 0])) == 1501
    proof = {error.name: error for error in fit.recordings[0].held_out}
    assert proof["rail.position"].rows == 500
    assert proof["rail.position"].rms == pytest.approx(1e-4, rel=0.2)


def driven_cart(reference, **parts):
    rail = Joint("rail", "prismatic", "ground", "mass", axis=(1.0, 0.0, 0.0))
    mechanism = Mechanism("cart", (Body("mass", 1.0),), (rail,), points=(Point("tip", "mass"),), gravity=(0, 0, 0))
    return Scenario("cart", Machine("cart", mechanism, (reference, *parts.pop("blocks", ())), **parts), 2.0)


STILL = Block("reference", "constant_reference", unit="m", parameters={"constant": 0.0})
WAVE = Block("reference", "sine_reference", unit="m", parameters={"amplitude": 0.1, "frequency": 0.5})
EVERY_CENTISECOND = Recording(times=tuple(np.linspace(0, 2, 201).tolist()))


def test_a_measured_signal_reaches_formulas_delays_and_loads():
    parts = {
        "delays": (Delay("late", "reference.value", 0.1),),
        "signals": (FormulaSignal("error", "reference.value - rail.position"),),
        "loads": (Load("push", "tip", force=(10.0, 0.0, 0.0), times="reference.value"),),
    }
    truth = simulate(driven_cart(WAVE, **parts), recording=EVERY_CENTISECOND)
    scenario = drive_by_data(driven_cart(STILL, **parts), truth, ["reference.value"])
    driven = simulate(scenario, recording=EVERY_CENTISECOND)
    for name in ("error", "late.output", "rail.position"):
        # Straight lines between samples of a sine: (w h)^2 / 8 of its amplitude, and what that does to the cart.
        np.testing.assert_allclose(driven[name].values, truth[name].values, atol=1e-3 * np.ptp(truth[name].values))


def test_a_measured_position_prescribes_a_motion_with_the_rates_that_belong_to_it():
    still = {"position": "reference.value", "velocity": 0.0, "acceleration": 0.0}
    rates = {"velocity": "reference.rate", "acceleration": "reference.acceleration"}
    wave = driven_cart(WAVE, constraints=(PrescribedMotion("feed", "rail", **still | rates),))
    truth = simulate(wave.replaced(initialisation="assembled"), recording=EVERY_CENTISECOND)
    standing = driven_cart(STILL, constraints=(PrescribedMotion("feed", "rail", **still),))
    held = standing.replaced(initialisation="assembled")
    driven = simulate(drive_by_data(held, truth, ["reference.value"]), recording=EVERY_CENTISECOND)
    np.testing.assert_allclose(driven["rail.position"].values, truth["rail.position"].values, atol=1e-5)
    # In the middle: at its ends a natural spline has no acceleration.
    np.testing.assert_allclose(driven["rail.velocity"](1.0), truth["rail.velocity"](1.0), rtol=1e-3)
    steps = replace(truth, infos=tuple(replace(info, kind="held", rate=None) for info in truth.infos))
    with pytest.raises(ModelError, match="'feed' would jump"):
        drive_by_data(held, steps, ["reference.value"])


def test_what_cannot_drive_or_be_compared_is_refused(slide, data):
    with pytest.raises(ModelError, match=r"rail.position: is not computed by a block"):
        validate(slide, data, ["rail.position"])
    gap = data.values.copy()
    gap[7] = np.nan
    with pytest.raises(ModelError, match=r"rail.drive.torque: is missing at row 8"):
        validate(slide, replace(data, values=gap), ["rail.drive.torque"])


def test_a_current_that_a_drive_gives_beside_its_force_is_its_effort(slide, data):
    """A current source computes its current from a command: what is measured of it says the force, k i."""
    blocks = list(slide.machine.blocks)
    blocks[1] = Block("rail.drive", "current_source", "rail", {"current_command": "rail.wave.value"},
                      {"torque_constant": 0.5, "gear": 4.0})  # fmt: skip
    driven = slide.replaced(machine=slide.machine.replaced(blocks=tuple(blocks)))
    columns = [data.names.index(name) for name in ("rail.position", "rail.drive.torque")]
    infos = (data.infos[columns[0]], replace(data.infos[columns[1]], name="rail.drive.current", unit="A"))
    amperes = replace(data, values=data.values[:, columns] / [1.0, 2.0], infos=infos)
    found = identify(driven.with_numbers({"mass.mass": 3.0}), amperes)
    assert found.numbers["mass.mass"] == pytest.approx(2.0, rel=1e-3)
    with pytest.raises(ModelError, match=r"rail.drive.current: is read by nothing: it would drive nothing"):
        validate(driven, amperes, ["rail.drive.current"])
    # Whatever stands in for the command in the model is of no account.
    blocks[0] = Block("rail.wave", "constant_reference", unit="A", parameters={"constant": 0.0})
    idle = slide.replaced(machine=slide.machine.replaced(blocks=tuple(blocks)))
    assert identify(idle, amperes).numbers["mass.mass"] == pytest.approx(found.numbers["mass.mass"], rel=1e-9)


@law(position="m", force="N")
def tether(position, *, stiffness):
    """A spring of one's own, of which no regressor knows."""
    return {"force": -stiffness * position}


@law(velocity="m/s", force="N")
def brake(velocity, *, damping):
    return {"force": -damping * velocity}


def test_a_measured_force_counts_beside_blocks_of_ones_own_or_it_is_told(slide, data):
    """The pull of the tether is computed from the measured position, that of the brake from a speed: if measured."""
    pull = 40.0 * data["rail.position"].values + 6.0 * data["rail.velocity"].values
    torque = np.array(data.names) == "rail.drive.torque"
    loaded = replace(data, values=data.values + np.outer(pull, torque))
    own = (Block("tether", tether, "rail", parameters={"stiffness": 40.0}),
           Block("brake", brake, "rail", parameters={"damping": 6.0}))  # fmt: skip
    held = slide.replaced(machine=slide.machine.replaced(blocks=(*slide.machine.blocks, *own)))
    found = identify(held.with_numbers({"mass.mass": 3.0}), loaded)
    assert found.numbers["mass.mass"] == pytest.approx(2.0, rel=1e-3)
    assert "rail.drive.torque as measured and tether.force, brake.force by the model's law" in found.warnings[0]
    checked = validate(held, loaded, method="inverse")
    assert checked.efforts[0].percent < 1
    assert checked.notes == found.warnings[:1]
    with pytest.raises(ModelError, match=r"rail.drive.torque is not used: brake.force acts on rail too"):
        identify(held, without(loaded, ["rail.velocity"]))


@pytest.mark.parametrize("early", [2e-8, -2e-8])
def test_rows_a_few_nanoseconds_off_a_tick_are_compared_with_its_sample(slide, early):
    """A loop of 100 Hz whose log is stamped beside its ticks, also before the start, is met as if at them."""
    gains = {"proportional": 300.0, "derivative": 30.0}
    inputs = {"target": "rail.wave.value", "position": "rail.position", "velocity": "rail.velocity"}
    blocks = (Block("rail.wave", "chirp_reference", parameters=slide.machine.blocks[0].parameters, unit="m"),
              Block("loop", "pd_control", inputs=inputs, parameters=gains, period=0.01, unit="N"),
              Block("rail.drive", "torque_source", "rail", {"command": "loop.command"}))  # fmt: skip
    looped = slide.replaced(machine=slide.machine.replaced(blocks=blocks))
    log = simulate(looped, recording=Recording(rate=100.0, signals=("rail.position", "rail.drive.torque")))
    log = replace(log, infos=tuple(replace(info, kind="continuous", rate=None) for info in log.infos))
    for shifted in (log.time - early, np.maximum(log.time - early, 0.0)):
        errors = validate(looped, replace(log, time=shifted), method="simulation").signals
        assert max(error.percent for error in errors) < 1e-3
    fit = fit_parameters(looped.with_numbers({"mass.mass": 2.2}), replace(log, time=log.time - early), ["mass.mass"])
    assert fit.values["mass.mass"] == pytest.approx(2.0, rel=1e-6)


# A linear drive with the numbers of a public data set, its log with noise of an encoder and a force.


SINES = Block("reference", "multisine_reference", unit="m",
              parameters={"sines": [0.05, 0.02], "cosines": [0.0, 0.01], "frequency": 0.5, "offset": 0.0})  # fmt: skip
STAND_IN = Block("reference", "constant_reference", unit="m", parameters={"constant": 0.1})


def linear_drive(reference, mass=94.9, coulomb=20.5, viscous=202.0):
    rail = Joint("axis", "prismatic", "ground", "slide", axis=(1.0, 0.0, 0.0))
    inputs = {"target": "reference.value", "position": "axis.position", "velocity": "axis.velocity"}
    friction = {"coulomb": coulomb, "viscous": viscous, "smoothing_velocity": 1e-3}
    blocks = (
        reference,
        Block("loop", "pd_control", inputs=inputs, parameters={"proportional": 4e5, "derivative": 8e3},
              period=2e-3, unit="N"),
        Block("axis.drive", "torque_source", "axis", {"command": "loop.command"}),
        Block("axis.friction", "coulomb_friction", "axis", parameters=friction),
    )  # fmt: skip
    mechanism = Mechanism("linear-drive", (Body("slide", mass),), (rail,))
    return Scenario("linear-drive", Machine("linear-drive", mechanism, blocks), 3.0)


@pytest.fixture(scope="module")
def drive_log():
    signals = ("axis.position", "axis.drive.torque", "reference.value")
    run = simulate(linear_drive(SINES), recording=Recording(rate=500.0, signals=signals))
    infos = tuple(replace(info, rate=None, kind="continuous") for info in run.infos)
    noise = np.random.default_rng(0).normal(0, 1, run.values.shape) * [{"m": 5e-7}.get(i.unit, 3.0) for i in infos]
    noise[:, run.names.index("reference.value")] = 0.0
    return Run(run.time, run.values + noise, infos, run.outcome, run.provenance)


def rows_of(found, signal="axis.position"):
    return {row.kind: row for row in found.predictions if row.signal == signal}


def test_a_measured_reference_takes_the_place_of_the_constant_that_stands_for_it(drive_log):
    nominal = linear_drive(STAND_IN, 60.0, 0.0, 0.0)
    found = validate(linear_drive(STAND_IN), drive_log, method="simulation", nominal=nominal, held_out=0.5)
    assert found.inputs == ("reference.value",)
    step, ahead, free = rows_of(found).values()
    assert (step.kind, ahead.kind, free.kind) == ("one step", "0.5 s ahead", "free run")
    assert (step.ahead, ahead.ahead, ahead.count) == (pytest.approx(2e-3), pytest.approx(0.5), 200)
    # The right model leaves the noise of the encoder, and some of that of the speed it starts with.
    for row in (ahead, free):
        assert row.rms < 1.5e-6
        assert row.lower < row.rms < row.upper
        assert (row.than_line, row.than_nominal) == ("better than", "better than")
        assert row.nominal > 20 * row.rms
    force = rows_of(found, "axis.drive.torque")["free run"]
    assert force.rms == pytest.approx(3.0, rel=0.1)
    assert {"axis.position", "axis.drive.torque"} == set(found.growth)
    assert "better than line, better than nominal" in describe(found)


def test_without_a_reference_the_measured_effort_drives_the_model(drive_log):
    found = validate(linear_drive(STAND_IN), without(drive_log, ["reference.value"]), method="simulation")
    assert found.inputs == ("axis.drive.torque",)
    assert not found.notes
    # The force is in straight lines between samples that were held: late by half of one.
    assert rows_of(found)["0.5 s ahead"].percent < 5
    own = validate(linear_drive(SINES), without(drive_log, ["reference.value"]), method="simulation")
    assert own.inputs == ()
    assert "as in the scenario, since the data lack what they follow: axis.drive.torque" in own.notes[0]
    assert rows_of(own)["free run"].rms == pytest.approx(5e-7, rel=0.1)


def test_a_current_that_was_measured_drives_the_model_by_the_law_of_its_drive(slide, data):
    blocks = list(slide.machine.blocks)
    blocks[0] = Block("rail.wave", "constant_reference", unit="A", parameters={"constant": 0.0})
    constants = {"torque_constant": 0.5, "gear": 4.0}
    blocks[1] = Block("rail.drive", "current_source", "rail", {"current_command": "rail.wave.value"}, constants)
    driven = slide.replaced(machine=slide.machine.replaced(blocks=tuple(blocks)))
    columns = [data.names.index(name) for name in ("rail.position", "rail.drive.torque")]
    infos = (data.infos[columns[0]], replace(data.infos[columns[1]], name="rail.drive.current", unit="A"))
    amperes = replace(data, values=data.values[:, columns] / [1.0, 2.0], infos=infos)
    found = validate(driven, amperes, method="simulation")
    assert found.inputs == ("rail.drive.torque",)
    assert rows_of(found, "rail.position")["0.5 s ahead"].percent < 1


def test_a_log_of_another_machine_and_a_wrong_sign_are_named(drive_log):
    position = np.array(drive_log.names) == "axis.position"
    turned = replace(drive_log, values=drive_log.values * np.where(position, -1.0, 1.0))
    notes = validate(linear_drive(STAND_IN), without(turned, ["reference.value"]), method="simulation").notes
    assert any("axis.position moves opposite to the prediction" in note for note in notes)
    foreign = 0.05 * np.sin(2 * np.pi * 1.7 * drive_log.time)[:, None]
    other = replace(drive_log, values=np.where(position, foreign, drive_log.values))
    notes = validate(linear_drive(STAND_IN), other, ["axis.drive.torque"], method="simulation").notes
    assert any("axis.position is not predicted 0.5 s ahead" in note for note in notes)


def test_too_few_rows_and_missing_signals_are_named(drive_log):
    short = replace(drive_log, time=drive_log.time[:30], values=drive_log.values[:30])
    notes = validate(linear_drive(STAND_IN), short, method="simulation").notes
    assert any("30 rows are too few, 50 are needed" in note for note in notes)
    notes = validate(linear_drive(STAND_IN), without(drive_log, ["axis.position"]), method="simulation").notes
    assert any("no predictions from measured states: data: lack axis.position" in note for note in notes)
    with pytest.raises(ModelError, match="none of the data is a signal of the model") as raised:
        validate(linear_drive(STAND_IN), without(drive_log, drive_log.names[:2]), method="simulation")
    assert "the model" in str(raised.value)
    with pytest.raises(ModelError, match="held_out: must be above 0 and at most 1"):
        validate(linear_drive(STAND_IN), drive_log, held_out=0.0)


def test_an_integrator_goes_on_from_what_it_has_summed_up(drive_log):
    """A hidden state of the controller, which settles on the way."""

    def integrating(reference):
        scenario = linear_drive(reference)
        inputs = {"target": "reference.value", "position": "axis.position", "velocity": "axis.velocity"}
        gains = {"proportional": 4e5, "derivative": 8e3, "integral": 2e6}
        loop = Block("loop", "sampled_pid", inputs=inputs, parameters=gains, period=2e-3, unit="N")
        blocks = [loop if block.name == "loop" else block for block in scenario.machine.blocks]
        return scenario.replaced(machine=scenario.machine.replaced(blocks=tuple(blocks)))

    run = simulate(integrating(SINES), recording=Recording(rate=500.0, signals=tuple(drive_log.names)))
    infos = tuple(replace(info, rate=None, kind="continuous") for info in run.infos)
    found = validate(integrating(STAND_IN), replace(run, infos=infos), method="simulation", held_out=0.5)
    # Speeds from positions without noise leave little at the start, and the integrator nothing.
    assert rows_of(found)["0.5 s ahead"].percent < 1e-3


def test_a_measured_motion_is_a_run_of_the_same_machine(drive_log):
    log = without(drive_log, ["axis.position"])
    simulated, measured = runs_beside(validate(linear_drive(STAND_IN), log, method="simulation"))
    left = simulated["axis.drive.torque.residual"]
    assert left.unit == "N"
    np.testing.assert_allclose(left.values, log["axis.drive.torque"].values - simulated["axis.drive.torque"].values)
    np.testing.assert_array_equal(measured["axis.drive.torque"].values, log["axis.drive.torque"].values)
    # A position that was not measured is drawn where it was simulated.
    np.testing.assert_array_equal(measured["axis.position"].values, simulated["axis.position"].values)
    assert measured.provenance.description["machine"] == simulated.provenance.description["machine"]


def spoiled(log, kind):
    """A log as loggers write it."""
    time, values, position = log.time.copy(), log.values.copy(), log.names.index("axis.position")
    if kind == "gap":
        kept = np.ones(time.size, bool)
        kept[600:800] = False
        time, values = time[kept], values[kept]
    elif kind == "missing rows":
        kept = np.random.default_rng(1).permutation(time.size) > 40
        kept[:2] = True
        time, values = time[kept], values[kept]
    elif kind == "missing positions":
        values[500:650, position] = np.nan
        values[700, position] = np.inf
    elif kind == "missing references":
        values[500:650, log.names.index("reference.value")] = np.nan
    elif kind == "rows twice":
        time, values = (np.repeat(each, np.arange(time.size) % 50 // 49 + 1, axis=0) for each in (time, values))
    elif kind == "uneven times":
        time = time + np.random.default_rng(1).normal(0, 1e-4, time.size) * (time > 0)
    elif kind == "clock of the day":
        time = time + 1731958421.0
    return replace(log, time=time, values=values)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("gap", "inputs are not known for 0.402 s at 1.198 s"),
        ("missing rows", ""),
        ("missing positions", ""),
        ("missing references", "inputs are not known for 0.302 s at 0.998 s"),
        ("rows twice", "30 rows at the time of the row before are left out"),
        ("uneven times", "samples are evenly spaced, their times are not"),
        ("clock of the day", "times are counted from the first row, which is at 1731958421 s"),
    ],
)
def test_predictions_from_spoiled_logs_are_as_good_as_from_clean_ones(drive_log, kind, said):
    """A speed or an input from across a gap would spoil them by tens of per cent."""
    found = validate(linear_drive(STAND_IN), spoiled(drive_log, kind), method="simulation", horizon=0.1)
    position, force = (rows_of(found, name) for name in ("axis.position", "axis.drive.torque"))
    assert force["one step"].percent < 4
    assert position["0.1 s ahead"].percent < (0.1 if kind == "missing rows" else 0.01)
    assert any(said in note for note in found.notes) if said else not found.notes


def test_units_of_a_mapping_and_dead_signals_are_named(drive_log):
    factors = np.where(np.array(drive_log.names) == "axis.position", 1000.0, 1.0)
    notes = validate(linear_drive(STAND_IN), replace(drive_log, values=drive_log.values * factors), horizon=0.1).notes
    assert any("axis.position moves 1e+03 times as far as in the free run, in the same way" in note for note in notes)
    dead = np.where(np.array(drive_log.names) == "axis.drive.torque", 0.0, drive_log.values)
    found = validate(linear_drive(STAND_IN), replace(drive_log, values=dead), method="simulation", horizon=0.1)
    assert rows_of(found, "axis.drive.torque")["free run"].percent is None
    assert "e+30" not in describe(found)


def test_a_second_baseline_that_cannot_be_driven_is_left_out(drive_log):
    found = validate(linear_drive(STAND_IN), drive_log, method="simulation", nominal=driven_cart(STILL), horizon=0.1)
    assert any(note.startswith("no second baseline: reference.value") for note in found.notes)
    assert rows_of(found)["0.1 s ahead"].nominal is None


def test_a_log_from_the_middle_of_a_motion_says_what_is_not_known_of_its_start(drive_log):
    late = drive_log.time >= 0.7
    log = replace(drive_log, time=drive_log.time[late] - 0.7, values=drive_log.values[late])
    found = validate(linear_drive(STAND_IN), log, method="simulation", horizon=0.1)
    assert "the free run starts as measured at 0 s" in found.notes[0]
    assert rows_of(found)["free run"].percent < 0.1


def test_a_perfect_log_raises_no_alarm():
    """Speeds from positions are wrong where the reference jumps, and so is the first step of the effort."""
    long = linear_drive(SINES).replaced(duration=24.0)
    run = simulate(long, recording=Recording(rate=500.0, signals=("axis.position", "axis.drive.torque")))
    infos = tuple(replace(info, rate=None, kind="continuous") for info in run.infos)
    found = validate(long, replace(run, infos=infos), method="simulation", horizon=0.1)
    assert rows_of(found, "axis.drive.torque")["one step"].correlation < -0.5
    assert not any("look at" in note for note in found.notes)
    assert rows_of(found)["free run"].percent < 1e-9


def test_a_validation_that_was_interrupted_goes_on_where_it_stopped(slide, data, monkeypatch, tmp_path):
    whole, made = validate(slide, data, method="simulation"), []
    predict, free_run = _Predictor.predict, _Predictor._run_from

    def stop_at_third(*arguments):
        made.append("predictions")
        if len(made) == 4:
            raise KeyboardInterrupt
        return predict(*arguments)

    monkeypatch.setattr(_Predictor, "predict", stop_at_third)
    monkeypatch.setattr(_Predictor, "_run_from", lambda *arguments: made.append("run") or free_run(*arguments))
    state = tmp_path / "state.json"
    part = validate(slide, data, method="simulation", state=state)
    assert any("stopped after 40 of 200 predictions" in note for note in part.notes)
    again = validate(slide, data, method="simulation", state=state)
    assert again.predictions == whole.predictions
    assert again.notes == whole.notes
    assert made.count("predictions") == 3 + 8
    assert made.count("run") == 2
    with pytest.raises(ModelError, match="another validation"):
        validate(slide.with_numbers({"mass.mass": 2.1}), data, method="simulation", state=state)


def test_a_model_with_other_motions_than_those_measured_is_stopped_early(slide, data):
    """A spring that swings at 10 kHz takes millions of steps for the four seconds."""
    stiffness = 2.0 * (2 * np.pi * 1e4) ** 2
    spring = Block("rail.spring", "spring", "rail", parameters={"stiffness": stiffness, "rest": 0.1})
    blocks = (*slide.machine.blocks, spring)
    fast = slide.replaced(machine=slide.machine.replaced(blocks=blocks))
    found = validate(fast, data, method="simulation", horizon=0.01)
    assert any("the model diverges" in note for note in found.notes)
    assert 0 < found.run.outcome.time < 4.0
    assert found.run.statistics.steps < 55_000
    assert found.predictions
