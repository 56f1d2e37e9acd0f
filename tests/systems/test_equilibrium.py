"""A run can begin at rest: standing still under its load with all controllers settled, whatever its numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.machines import MOVE, servo

from robodyn import (
    Block,
    Body,
    Delay,
    Joint,
    Machine,
    Mechanism,
    ModelError,
    Recording,
    Scenario,
    Solver,
    assemble,
    simulate,
)
from robodyn.analysis.fitting.fit import fit_parameters
from robodyn.base.symbolic import table
from robodyn.computation.results import Run
from robodyn.computation.simulation import compile_system, find_equilibrium, simulate_many
from robodyn.computation.simulation.equilibrium import _least_squares


def pendulum(*blocks, delays=(), initialisation="at_rest", initial=None):
    body = Body("bob", 2.0, com=(0.5, 0, 0), inertia=(0.01, 0.01, 0.01, 0, 0, 0))
    mechanism = Mechanism("pendulum", [body], [Joint("hinge", "revolute", "ground", "bob", axis=(0, 1, 0))])
    machine = Machine("pendulum", mechanism, blocks=blocks, delays=delays)
    return Scenario(
        "pendulum",
        machine,
        1.0,
        initial or {},
        initialisation=initialisation,
        solver=Solver("dopri5", rtol=1e-9, atol=1e-12),
    )


SPRING = Block("spring", "spring", on="hinge", parameters={"stiffness": 50.0})


def test_a_sprung_pendulum_rests_where_spring_and_weight_balance():
    run = simulate(pendulum(SPRING))
    angle = run["hinge.position"].values
    assert 50.0 * angle[0] == pytest.approx(2.0 * 9.81 * 0.5 * math.cos(angle[0]), rel=1e-12)
    assert np.ptp(angle) < 1e-12
    assert np.max(np.abs(run["hinge.velocity"].values)) < 1e-11


def test_badly_scaled_equations_of_rest_are_not_taken_for_singular_ones():
    """Stiff gears beside fast sampling: magnitudes of rows differ by 1e18, and least squares would leave out some."""
    random = np.random.default_rng(5)
    rows, columns = 10.0 ** np.linspace(-6, 12, 12), 10.0 ** np.linspace(3, -6, 12)
    well = random.normal(size=(12, 12)) + 4 * np.eye(12)
    solution = random.normal(size=12) / columns
    J = rows[:, None] * well * columns
    step = _least_squares(J, J @ solution, 1e-13)
    assert step == pytest.approx(solution, rel=1e-9)
    # What is singular stays so: the shortest of all steps.
    half = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert _least_squares(half, np.array([2.0, 2.0]), 1e-13) == pytest.approx([1.0, 1.0])


def test_without_the_word_it_starts_as_given():
    run = simulate(pendulum(SPRING, initialisation="given"))
    assert run["hinge.position"].values[0] == 0.0
    assert np.ptp(run["hinge.position"].values) > 0.1


def test_the_nearest_of_several_rests_is_found():
    system = assemble(pendulum())
    for guess, rest in ((1.2, math.pi / 2), (-1.4, -math.pi / 2)):
        found = find_equilibrium(system, guess={"hinge.position": guess})
        assert found.x[0] == pytest.approx(rest, abs=1e-10)


def test_a_guess_or_a_number_that_the_system_does_not_have_is_refused():
    system = assemble(pendulum())
    with pytest.raises(ModelError, match=r"guess\.hinge\.angle: there is no such state .*hinge\.position"):
        find_equilibrium(system, guess={"hinge.angle": 1.2})
    with pytest.raises(ModelError, match=r"hinge\.gain: is not tunable in this system"):
        find_equilibrium(system, parameters={"hinge.gain": 1.2})


def test_a_delayed_feedback_is_at_rest_with_its_delay():
    def push(seen, *, gain, target):
        return {"torque": gain * (target - seen)}

    block = Block("drive", push, on="hinge", inputs={"seen": "late.output"}, parameters={"gain": 80.0, "target": 0.2})
    found = simulate(pendulum(block, delays=[Delay("late", "hinge.position", 0.002)]))
    assert np.ptp(found["hinge.position"].values) < 1e-11


def test_play_in_a_valve_does_not_stop_the_search():
    """A flow that is zero about zero opening makes the equations singular where the search begins."""

    def circuit(position, velocity, force, *, gain, stiffness):
        speed = table(-gain * position, (-1.0, -0.1, 0.1, 1.0), (-0.9, 0.0, 0.0, 0.9))
        return {"torque": force, "force_dot": stiffness * (speed - velocity - 1e-3 * force)}

    block = Block("circuit", circuit, on="hinge", states={"force": 0.0}, parameters={"gain": 5.0, "stiffness": 1e4})
    run = simulate(pendulum(block))
    assert run["circuit.force"].values[0] == pytest.approx(-9.81 * math.cos(run["hinge.position"].values[0]), rel=1e-9)
    assert np.ptp(run["hinge.position"].values) < 1e-9


def test_a_sampled_integrator_is_at_rest_with_its_sum():
    def integrate(position, total, *, gain, target):
        return {"command": gain * total, "total_next": total + 0.001 * (target - position)}

    def apply(command, velocity):
        return {"torque": command - 0.5 * velocity}

    blocks = [
        Block(
            "control",
            integrate,
            inputs={"position": "hinge.position"},
            memory={"total": 0.0},
            parameters={"gain": 3.0, "target": 0.4},
            period=0.001,
        ),
        Block("drive", apply, on="hinge", inputs={"command": "control.command"}),
    ]
    run = simulate(pendulum(*blocks))
    assert run["hinge.position"].values[0] == pytest.approx(0.4, abs=1e-10)
    assert np.ptp(run["hinge.position"].values) < 1e-9


def test_friction_that_sticks_is_left_out_of_the_search_and_holds_afterwards():
    friction = Block("friction", "stick_friction", on="hinge", parameters={"coulomb": 1.0})
    run = simulate(pendulum(SPRING, friction))
    free = simulate(pendulum(SPRING))
    assert run["hinge.position"].values[0] == pytest.approx(free["hinge.position"].values[0], rel=1e-12)
    assert np.ptp(run["hinge.position"].values) == 0.0


def test_no_rest_is_an_error_that_names_what_moves():
    def drive():
        return {"torque": 100.0}

    with pytest.raises(ModelError, match=r"hinge\.\w+\' still changes by"):
        simulate(pendulum(Block("drive", drive, on="hinge")))


def test_a_python_block_cannot_be_at_rest():
    def control(position):
        return {"command": 0.0}

    block = Block(
        "control", control, inputs={"position": "hinge.position"}, period=0.01, native=False, hold={"command": 0.0}
    )
    with pytest.raises(ModelError, match="Python"):
        simulate(pendulum(SPRING, block))


def test_parameters_of_a_run_move_the_rest():
    scenario = pendulum(SPRING)
    stiff = simulate(scenario, parameters={"spring.stiffness": 500.0})["hinge.position"].values[0]
    assert 500.0 * stiff == pytest.approx(2.0 * 9.81 * 0.5 * math.cos(stiff), rel=1e-12)


def load_at(angle):
    """What holds the arm: gravity along -z, lever 0.4 m, positive angles down."""
    return -3.0 * 9.81 * 0.4 * math.cos(angle)


def test_a_servo_stands_where_its_gear_sags_with_sums_currents_and_readings_settled():
    run = simulate(servo())
    arm, motor = run["arm.position"](0.0), run["motor.position"](0.0)
    assert motor == pytest.approx(0.3, abs=1e-12)
    assert 2000.0 * (motor - arm) == pytest.approx(load_at(arm), rel=1e-9)
    assert run["drive.current"](0.0) == pytest.approx(load_at(arm), rel=1e-9)
    # Until it moves, it stands but for what the encoder's steps leave: half a step of it by all gains is 0.03 N m.
    standing = run.time < 0.1
    assert np.ptp(run["arm.position"].values[standing]) < 1e-4
    assert np.max(np.abs(run["motor.velocity"].values[standing])) < 5e-3
    ideal = simulate(servo(resolution=0.0))
    assert np.ptp(ideal["arm.position"].values[ideal.time < 0.1]) < 1e-11


@pytest.mark.parametrize("delay", [0.5e-3, 1e-3, 3e-3])
def test_what_a_delay_holds_back_is_what_it_lets_through(delay):
    run = simulate(servo(resolution=0.0, delay=delay))
    before = run.time < 0.1
    torque = run["velocity_loop.torque_command"].values[before]
    assert np.ptp(torque) < 1e-9
    assert torque[0] == pytest.approx(load_at(run["arm.position"](0.0)), rel=1e-9)
    assert np.max(np.abs(run["motor.velocity"].values[before])) < 1e-10


def test_every_changed_number_has_its_own_start_one_by_one_and_many_at_once():
    stiffnesses = np.array([500.0, 2000.0, 8000.0])
    compiled = compile_system(assemble(servo()), signals=("arm.position", "drive.current"))
    runs = [simulate(compiled, parameters={"gear.stiffness": k}) for k in stiffnesses]
    again = [simulate(servo(stiffness=k), recording=compiled.recording) for k in stiffnesses]
    for stiffness, run, other in zip(stiffnesses, runs, again, strict=True):
        arm = run["arm.position"](0.0)
        assert stiffness * (0.3 - arm) == pytest.approx(load_at(arm), rel=1e-9)
        assert np.array_equal(run["arm.position"].values, other["arm.position"].values)
    table = simulate_many(compiled, {"gear.stiffness": stiffnesses}, measures=["final:arm.position"])
    assert [run["arm.position"].final for run in runs] == list(table["final:arm.position"])


def test_a_fit_looks_for_the_rest_of_every_number_it_tries():
    """The sag of the gear says most of its stiffness: 0.4 mm of 4 mm, in noise of 10 um at 200 samples."""
    recording = Recording(rate=1000.0, signals=("arm.position",))
    truth = simulate(servo(stiffness=3000.0), recording=recording)
    noise = np.random.default_rng(0).normal(0, 1e-5, truth.values.shape)
    infos = tuple(replace(info, rate=None) for info in truth.infos)
    data = Run(truth.time, truth.values + noise, infos, truth.outcome, truth.provenance)
    assert fit_parameters(servo(), data, ["gear.stiffness"]).values["gear.stiffness"] == pytest.approx(3000.0, rel=2e-3)


@pytest.mark.parametrize("law", ["lugre_friction", "stick_friction", "coulomb_friction"])
def test_friction_carries_nothing_of_the_load(law):
    bristles = {"static": 4.0, "stiffness": 1e5, "damping": 300.0, "viscous": 0.1, "stribeck_velocity": 0.01}
    own = {"lugre_friction": bristles, "coulomb_friction": {"smoothing_velocity": 1e-3}}.get(law, {})
    friction = Block("friction", law, on="motor", parameters={"coulomb": 3.0} | own)
    run = simulate(servo(friction=(friction,)))
    assert run["drive.current"](0.0) == pytest.approx(load_at(run["arm.position"](0.0)), rel=1e-9)
    assert np.max(np.abs(run["motor.velocity"].values[run.time < 0.1])) < 5e-3


def test_a_reference_that_begins_at_the_start_has_stood_still_until_then():
    at_once = {key: value for key, value in MOVE.items() if key != "top_jerk"} | {"begin": 0.0}
    accelerated = Block("goal", "trapezoid_reference", parameters=at_once, unit="rad")
    blocks = tuple(accelerated if block.name == "goal" else block for block in servo().machine.blocks)
    forward = Block("inertia", "torque_source", on="motor", inputs={"command": "forward.output"})
    scale = Block("forward", "amplifier", inputs={"value": "goal.acceleration"}, parameters={"gain": 0.5}, unit="N m")
    scenario = servo().replaced(machine=servo().machine.replaced(blocks=(*blocks, forward, scale)))
    run = simulate(scenario)
    assert run["goal.acceleration"](0.0) == 5.0
    assert run["drive.current"](0.0) == pytest.approx(load_at(run["arm.position"](0.0)), rel=1e-9)


def test_a_reference_that_is_under_way_is_refused():
    wave = Block("goal", "sine_reference", parameters={"amplitude": 0.1, "frequency": 1.0, "offset": 0.3}, unit="rad")
    inputs = {"target": "goal.value", "feed_forward": "goal.rate", "position": "encoder.measured"}
    blocks = [wave if block.name == "goal" else block for block in servo().machine.blocks]
    blocks = tuple(block.replaced(inputs=inputs) if block.name == "position_loop" else block for block in blocks)
    with pytest.raises(ModelError, match=r"blocks.goal: moves before the start, 'goal.rate' is 0.628.*begin later"):
        simulate(servo().replaced(machine=servo().machine.replaced(blocks=blocks)))


def test_what_a_start_at_rest_cannot_keep_is_refused():
    with pytest.raises(ModelError) as caught:
        pendulum(SPRING, delays=[Delay("late", "hinge.position", 0.1, before=0.2)], initial={"hinge.velocity": 1.0})
    problems = "\n".join(map(str, caught.value.flaws))
    assert "initial.hinge.velocity: has no effect: the start is searched for at rest" in problems
    assert "delays.late.before: has no effect" in problems


def test_what_friction_alone_holds_is_not_found_and_the_remedy_says_so():
    friction = Block("friction", "stick_friction", on="x", parameters={"coulomb": 30.0})
    slope = Mechanism("slope", [Body("box", 2.0)], [Joint("x", "prismatic", "ground", "box", axis=(0.8, 0, 0.6))])
    machine = Machine("slope", slope, blocks=(friction,))
    with pytest.raises(ModelError, match="'friction'.* carries nothing here: where it holds the machine, give start"):
        simulate(Scenario("slope", machine, 0.1, initialisation="at_rest"))


def test_what_is_free_stays_where_it_is_given():
    cart = Mechanism("cart", [Body("cart", 2.0)], [Joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0))])
    run = simulate(Scenario("cart", Machine("cart", cart), 0.1, {"x.position": 0.7}, initialisation="at_rest"))
    assert run["x.position"].values[0] == run["x.position"].final == 0.7


def test_a_rest_away_from_end_stops_is_found_and_one_beyond_them_refused():
    hinge = Joint("hinge", "revolute", "ground", "bob", axis=(0, 1, 0), upper_limit=0.5, stop_restitution=0.2)
    scenario = pendulum(SPRING)
    stopped = scenario.machine.mechanism.replaced(joints=(hinge,))
    run = simulate(scenario.replaced(machine=scenario.machine.replaced(mechanism=stopped)))
    assert np.ptp(run["hinge.position"].values) < 1e-12
    near = stopped.replaced(joints=(hinge.replaced(upper_limit=0.1),))
    with pytest.raises(ModelError, match="an equilibrium on a rigid contact or end stop is not searched for"):
        simulate(scenario.replaced(machine=scenario.machine.replaced(mechanism=near)))


def test_a_start_that_does_not_fit_its_controller_is_said():
    """Given starts: an encoder that knows no reading, a delay that holds nothing, a load that nothing carries."""
    system = assemble(servo())
    rest = find_equilibrium(system)
    names = [info.name for info in (*system.states, *system.memory)]
    values = dict(zip(names, [*rest.x.tolist(), *rest.m.tolist()], strict=True))
    known = [info.name for info in system.states] + ["velocity_loop.error_sum", "encoder.previous"]
    start = {name: values[name] for name in known if name != "energy.work"}
    given = servo(initialisation="given").replaced(initial=start)

    def warnings_of(scenario):
        """On the start alone: these short runs leave their reference unfinished, and the loop is too fast."""
        return [sentence for sentence in simulate(scenario).warnings if sentence.startswith("the start")]

    assert not warnings_of(given)
    (unread,) = warnings_of(given.replaced(initial=start | {"encoder.previous": 0.0}))
    assert "for 1 ms 'encoder.measured_rate' 300" in unread
    late = servo(initialisation="given", delay=2e-3).replaced(initial=start)
    (held,) = warnings_of(late)
    assert "for 2 ms 'velocity_loop.torque_command' 0 instead of -11" in held
    (sagging,) = warnings_of(given.with_numbers({"gear.stiffness": 4000.0}))
    assert "the start does not balance, though references stand still: forces on 'motor' are 11" in sagging
    assert all("initialisation = 'at_rest'" in one for one in (unread, held, sagging))
    step = given.replaced(initial=start).with_numbers({"goal.start": 0.2, "goal.target": 0.2})
    assert not warnings_of(step)


def test_an_unknown_start_is_refused():
    with pytest.raises(ModelError, match="at_rest"):
        pendulum(initialisation="at_rets")
