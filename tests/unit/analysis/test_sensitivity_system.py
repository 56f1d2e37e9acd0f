"""Are the exact sensitivities those that runs with slightly other numbers show?

The reference is the central difference of two runs with p (1 + 1e-4) and p (1 - 1e-4). Its own error is 1e-8 from the
curvature and about 1e-10 / 1e-4 = 1e-6 from runs with rtol 1e-10: tolerances are 1e-5 unless said otherwise, relative
to the largest value of the signal's sensitivity.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.machines import cart, servo, signals_only

from robodyn.analysis.sensitivity.system import sensitivity_system, unit_of_ratio
from robodyn.base import symbolic as sym
from robodyn.base.errors import ModelError
from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, Delay, Event, Recording, Solver

FINE = Solver("dopri5", rtol=1e-10, atol=1e-12)
CHANGE = 1e-4
MOTION = ("rail.position", "rail.velocity")

SPRING = Block("spring", "spring", on="rail", parameters={"stiffness": 100.0, "damping": 0.4})
BRISTLES = Block(
    "friction",
    "lugre_friction",
    on="motor",
    parameters={
        "coulomb": 1.0,
        "static": 1.2,
        "stiffness": 2e3,
        "damping": 20.0,
        "viscous": 0.1,
        "stribeck_velocity": 0.05,
    },
)
VISCOUS = Block("drag", "viscous_friction", on="rail", parameters={"viscous": 3.0})


def sensitivities(scenario, parameters, signals, times, solver):
    extended = sensitivity_system(assemble(scenario), parameters, signals)
    run = simulate(extended, solver, recording=Recording(times=times))
    assert run.outcome.ok, run.outcome
    return run


def difference(scenario, name, signals, times, solver):
    """Central difference of all signals, (n_times, n_signals)."""
    known = scenario.numbers()
    value = known[name].value if name in known else 0.0
    step = CHANGE * (abs(value) or 1.0)
    recording = Recording(times=times, signals=tuple(signals))
    runs = [simulate(scenario.with_numbers({name: value + s * step}), solver, recording=recording) for s in (1, -1)]
    columns = [np.column_stack([run[signal].values for signal in signals]) for run in runs]
    return (columns[0] - columns[1]) / (2 * step)


def compare(scenario, parameters, signals=MOTION, times=(0.3, 0.7, 1.0), solver=FINE, tolerance=1e-5, finer=1.0):
    """`finer`: part of the tolerances with which the differences are computed, where their own noise is too large."""
    run = sensitivities(scenario, parameters, signals, times, solver)
    reference = replace(solver, rtol=finer * solver.rtol, atol=finer * solver.atol)
    for name in parameters:
        expected = difference(scenario, name, signals, times, reference)
        for k, signal in enumerate(signals):
            found = run[f"d({signal})/d({name})"].values
            scale = max(np.abs(expected[:, k]).max(), 1e-12)
            np.testing.assert_allclose(
                found, expected[:, k], rtol=0, atol=tolerance * scale, err_msg=f"{signal} {name}"
            )
    return run


def test_sensitivities_of_a_decay_are_those_of_its_exponential():
    decay = Block("lag", "low_pass", inputs={"value": 0.0}, parameters={"time_constant": 0.5}, states={"filtered": 2.0})
    names = ["lag.time_constant", "initial.lag.filtered"]
    times = (0.0, 0.4, 1.0)
    run = sensitivities(signals_only(decay), names, ["lag.filtered"], times, FINE)
    t = np.array(times)
    # x = x0 exp(-t/T): rtol 1e-10 a step, some ten steps.
    by_time = 2.0 * np.exp(-t / 0.5) * t / 0.5**2
    np.testing.assert_allclose(run["d(lag.filtered)/d(lag.time_constant)"].values, by_time, atol=1e-8)
    np.testing.assert_allclose(run["d(lag.filtered)/d(initial.lag.filtered)"].values, np.exp(-t / 0.5), atol=1e-8)


def test_a_rubbed_oscillator_by_its_mass_spring_friction_and_start():
    rub = {"coulomb": 0.5, "smoothing_velocity": 0.05, "viscous": 0.3}
    friction = Block("rub", "coulomb_friction", on="rail", parameters=rub)
    scenario = cart(SPRING, friction, initial={"rail.position": 0.1}, tunable=("cart.mass",))
    names = ["cart.mass", "spring.stiffness", "rub.coulomb", "rub.viscous", "initial.rail.position"]
    compare(scenario, [*names, "initial.rail.velocity"], (*MOTION, "rail.acceleration"))


def test_the_sensitivity_of_a_rate_is_the_rate_of_the_sensitivity():
    scenario = cart(SPRING, VISCOUS, initial={"rail.position": 0.1}, tunable=("cart.mass",))
    system = sensitivity_system(assemble(scenario), ["cart.mass"], MOTION)
    infos = {info.name: info for info in system.signals}
    assert infos["d(rail.position)/d(cart.mass)"].rate == "d(rail.velocity)/d(cart.mass)"
    assert infos["d(rail.velocity)/d(cart.mass)"].unit == "m/s/kg"


def late(time, before=None):
    pull = Block(
        "pull", lambda y, *, gain: -gain * y, on="rail", inputs={"y": "late.output"}, parameters={"gain": 20.0}
    )
    delays = (Delay("late", "rail.position", time, before=before),)
    return cart(VISCOUS, pull, initial={"rail.position": 0.1}, delays=delays, tunable=("cart.mass",))


def test_delayed_feedback_by_its_gain_time_and_start():
    names = ["pull.gain", "late.time", "initial.rail.position", "cart.mass"]
    compare(late(0.07), names, (*MOTION, "late.output"), times=(0.05, 0.1, 0.5, 1.0))


def test_the_time_of_a_delay_whose_signal_jumps_at_the_start():
    compare(late(0.07, before=0.0), ["pull.gain", "late.time", "initial.rail.position"], times=(0.05, 0.1, 0.5, 1.0))


def step_through_two_delays():
    """A step reaches the cart late; its position reaches the controller late, and that one the cart again."""
    step = Block("step", "step_reference", parameters={"after": 0.3, "at": 0.05}, unit="m")
    control = Block(
        "control",
        lambda wanted, y, *, gain: {"u": gain * (wanted - y)},
        inputs={"wanted": "step.value", "y": "measured.output"},
        parameters={"gain": 5.0},
    )
    push = Block("push", lambda u, *, k: k * sym.tanh(u), on="rail", inputs={"u": "late.output"}, parameters={"k": 2.0})
    delays = (Delay("measured", "rail.position", 0.011), Delay("late", "control.u", 0.023))
    return cart(VISCOUS, step, control, push, delays=delays)


def test_times_of_delays_in_a_chain_that_carries_a_step():
    names = ["control.gain", "push.k", "measured.time", "late.time", "step.after"]
    compare(step_through_two_delays(), names, times=(0.08, 0.1, 0.5, 1.0))


def test_delay_times_can_be_changed_for_a_run_of_the_sensitivities():
    extended = sensitivity_system(assemble(late(0.07)), ["late.time"], ["rail.position"])
    recording = Recording(times=(1.0,))
    changed = simulate(extended, FINE, parameters={"late.time": 0.09}, recording=recording)
    expected = difference(late(0.09), "late.time", ["rail.position"], (1.0,), FINE)
    assert changed["d(rail.position)/d(late.time)"].values[0] == pytest.approx(expected[0, 0], rel=1e-5)


def test_a_sampled_loop_with_a_computing_delay_by_gains_plant_and_memory():
    sine = Block("sine", "sine_reference", parameters={"amplitude": 0.3, "frequency": 1.5}, unit="m/s")
    loop = Block(
        "loop",
        "sampled_velocity_loop",
        on="rail",
        period=0.01,
        delay=0.013,
        inputs={"velocity_command": "sine.value"},
        parameters={"proportional": 10.0, "integral": 30.0},
    )
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "loop.torque_command"})
    start = {"loop.torque_command": 0.5}
    scenario = cart(VISCOUS, sine, loop, drive, tunable=("cart.mass",), initial=start)
    names = ["loop.proportional", "loop.integral", "drag.viscous", "cart.mass", "initial.loop.error_sum"]
    names += ["initial.loop.torque_command", "sine.frequency"]
    compare(scenario, names, (*MOTION, "loop.torque_command"), times=(0.021, 0.5, 1.0))


def bouncing(**fields):
    bounce = Event(
        "bounce",
        lambda position, *, floor: position - floor,
        inputs={"position": "rail.position", "velocity": "rail.velocity"},
        parameters={"restitution": 0.8, "floor": 0.05},
        direction="falling",
        action=lambda velocity, *, restitution: {"rail.velocity": -restitution * velocity},
    )
    tunable = ("cart.mass", "gravity.x")
    start = {"rail.position": 1.0}
    return cart(VISCOUS, duration=1.5, gravity=-9.81, initial=start, events=(bounce,), tunable=tunable, **fields)


def test_a_bouncing_cart_by_restitution_floor_gravity_and_start():
    names = ["bounce.restitution", "bounce.floor", "gravity.x", "drag.viscous", "initial.rail.position"]
    run = compare(bouncing(), names, times=(0.3, 0.6, 1.0, 1.5))
    assert len(run.events) == 3


def test_an_event_made_by_the_action_of_another_happens_at_its_instant():
    lag = Block("lag", "low_pass", inputs={"value": 0.0}, parameters={"time_constant": 0.5})
    first = Event(
        "first",
        lambda position, *, level: position - level,
        inputs={"position": "rail.position"},
        parameters={"level": 0.5},
        direction="falling",
        action=lambda: {"lag.filtered": 1.0},
    )
    second = Event(
        "second",
        lambda y, *, half: y - half,
        inputs={"y": "lag.output", "velocity": "rail.velocity"},
        parameters={"half": 0.5},
        direction="rising",
        action=lambda velocity, *, share=0.7: {"rail.velocity": -share * velocity},
    )
    start = {"rail.position": 1.0}
    scenario = cart(VISCOUS, lag, gravity=-9.81, initial=start, events=(first, second), tunable=("gravity.x",))
    run = compare(scenario, ["first.level", "second.half", "gravity.x", "drag.viscous"], times=(0.2, 0.7, 1.0))
    first_two = run.events[:2]
    assert [event.name for event in first_two] == ["first", "second"]
    assert first_two[0].time == first_two[1].time


def test_bristles_of_lugre_friction():
    values = {
        "stiffness": 1e4,
        "damping": 50.0,
        "viscous": 0.4,
        "coulomb": 1.0,
        "static": 1.5,
        "stribeck_velocity": 0.1,
    }
    friction = Block("lugre", "lugre_friction", on="rail", parameters=values)
    scenario = cart(friction, SPRING, duration=0.6, initial={"rail.position": 0.1})
    # Bristles make the runs stiff: those of a Rosenbrock method at 1e-9 differ by some 1e-8, over a change of 1e-4.
    stiff = Solver("rodas4", rtol=1e-9, atol=1e-11)
    names = [f"lugre.{name}" for name in values]
    compare(scenario, names, (*MOTION, "lugre.torque"), (0.2, 0.4, 0.6), stiff, tolerance=3e-4, finer=0.1)


def test_a_current_at_its_limits():
    values = {"resistance": 1.0, "inductance": 0.01, "torque_constant": 0.5, "gear": 10.0, "current_limit": 2.0}
    motor = Block("motor", "dc_motor", on="rail", inputs={"voltage": "sine.value"}, parameters=values)
    sine = Block("sine", "sine_reference", parameters={"amplitude": 20.0, "frequency": 1.0}, unit="V")
    scenario = cart(VISCOUS, motor, sine, duration=1.2)
    names = ["motor.resistance", "motor.inductance", "motor.current_limit", "sine.amplitude"]
    # Where a current reaches its limit its rate jumps, which steps of the differences see by their tolerances only.
    run = compare(scenario, names, (*MOTION, "motor.current"), (0.1, 0.25, 0.6, 0.75, 1.2), finer=0.01)
    assert {event.name for event in run.events} == {f"motor.current at its {side} limit" for side in ("lower", "upper")}


def test_friction_that_sticks():
    stick = {"coulomb": 1.0, "static": 1.6, "viscous": 0.4}
    push = Block("push", "sine_reference", parameters={"amplitude": 3.0, "frequency": 1.0}, unit="N")
    blocks = (
        Block("stick", "stick_friction", on="rail", parameters=stick),
        Block("spring", "spring", on="rail", parameters={"stiffness": 100.0}),
        push,
        Block("drive", "torque_source", on="rail", inputs={"command": "push.value"}),
    )
    scenario = cart(*blocks, duration=2.0, initial={"rail.position": 0.1}, tunable=("cart.mass",))
    names = ["stick.coulomb", "stick.static", "stick.viscous", "spring.stiffness", "cart.mass", "initial.rail.position"]
    run = compare(scenario, names, (*MOTION, "stick.torque"), (0.2, 0.7, 1.1, 1.5, 2.0))
    assert {"stick.stops", "stick.slips"} <= {event.name for event in run.events}


def test_tables_also_after_an_action_that_sets_their_input_to_a_constant():
    def valve(u, *, k):
        return k * sym.table(u, [-1.0, -0.2, 0.1, 0.9], [-2.0, -0.1, 0.05, 3.0])

    sine = Block("sine", "sine_reference", parameters={"amplitude": 1.2, "frequency": 1.0}, unit="V")
    lag = Block("lag", "low_pass", inputs={"value": "sine.value"}, parameters={"time_constant": 0.1})
    push = Block("push", valve, on="rail", inputs={"u": "lag.output"}, parameters={"k": 2.0})
    reset = Event(
        "reset",
        lambda v, *, level: v - level,
        inputs={"v": "rail.velocity"},
        parameters={"level": 0.1},
        direction="rising",
        action=lambda: {"lag.filtered": 0.5},
    )
    scenario = cart(VISCOUS, sine, lag, push, events=(reset,))
    # Kinks of the table are met by short steps only: each leaves 1e-9 in a run, 1e-5 in the difference.
    short = Solver("dopri5", rtol=1e-12, atol=1e-14, max_step=2e-5)
    names = ["push.k", "sine.amplitude", "lag.time_constant", "reset.level"]
    compare(scenario, names, times=(0.2, 0.5, 1.0), solver=short, tolerance=5e-5)


def test_a_run_from_equilibrium_starts_with_the_sensitivities_of_the_equilibrium():
    """At rest k s = m g: ds/dk = -m g / k^2, ds/dm = g / k."""
    scenario = cart(SPRING, VISCOUS, gravity=9.81, initialisation="at_rest", tunable=("cart.mass",))
    run = sensitivities(scenario, ["spring.stiffness", "cart.mass"], MOTION, (0.0, 1.0), FINE)
    # Newton's method ends at steps of 1e-10.
    by_stiffness = run["d(rail.position)/d(spring.stiffness)"].values
    np.testing.assert_allclose(by_stiffness, -2.0 * 9.81 / 100.0**2, rtol=1e-8)
    np.testing.assert_allclose(run["d(rail.position)/d(cart.mass)"].values, 9.81 / 100.0, rtol=1e-8)


@pytest.mark.parametrize("friction", [(), (BRISTLES,)], ids=["frictionless", "bristles"])
def test_a_servo_at_rest_starts_with_the_sensitivities_of_its_settled_controllers(friction):
    """A stiffer gear sags less at once; the current that carries the arm knows of it, bristles do not."""
    scenario = servo(resolution=0.0, delay=2e-3, friction=friction)
    signals, times = ("arm.position", "drive.current", "velocity_loop.error_sum"), (0.0, 0.05, 0.15)
    run = compare(scenario, ["gear.stiffness", "velocity_loop.integral"], signals, times, finer=1e-2)
    arm = run["arm.position"].values[0]
    torque, slope = -3.0 * 9.81 * 0.4 * math.cos(arm), 3.0 * 9.81 * 0.4 * math.sin(arm)
    # k (0.3 - q) = T(q): dq/dk = (0.3 - q) / (k + T'(q)), with (0.3 - q) = T / k.
    expected = torque / 2000.0 / (2000.0 + slope)
    assert run["d(arm.position)/d(gear.stiffness)"].values[0] == pytest.approx(expected, rel=1e-8)


def refused(scenario, *names):
    with pytest.raises(ModelError) as caught:
        sensitivity_system(assemble(scenario), names)
    return {flaw.path: flaw.what for flaw in caught.value.flaws}


def test_python_blocks_are_refused_by_name():
    block = Block("python", lambda *, k: {"y": k}, parameters={"k": 1.0}, period=0.1, native=False, hold={"y": 0.0})
    assert "called in Python" in refused(cart(VISCOUS, block), "drag.viscous")["blocks.python"]


def test_python_actions_are_refused_by_name():
    event = Event("hit", lambda q: q, {"q": "rail.position"}, action=lambda: {"rail.velocity": 0.0}, native=False)
    assert "called in Python" in refused(cart(VISCOUS, events=(event,)), "drag.viscous")["events.hit"]


def test_the_time_of_a_step_is_refused_its_height_is_not():
    step = Block("step", "step_reference", parameters={"after": 0.3, "at": 0.05}, unit="m")
    push = Block("push", "torque_source", on="rail", inputs={"command": "step.value"})
    scenario = cart(VISCOUS, step, push)
    assert "jump" in refused(scenario, "step.at")["step.at"]
    compare(scenario, ["step.after"])


def test_constants_of_the_code_and_unknown_names_are_told_at_once():
    flaws = refused(cart(VISCOUS), "cart.mass", "drag.viscos", "duration", "initial.rail.speed", "drag.viscous")
    assert set(flaws) == {"cart.mass", "drag.viscos", "duration", "initial.rail.speed"}
    assert "constant" in flaws["cart.mass"]


def test_a_name_given_twice_is_refused():
    assert "twice" in refused(cart(VISCOUS), "drag.viscous", "drag.viscous")["drag.viscous"]


def test_start_values_that_are_only_a_guess_are_refused():
    scenario = cart(SPRING, initialisation="at_rest")
    assert "guess" in refused(scenario, "initial.rail.position")["initial.rail.position"]


def test_an_event_that_makes_a_delayed_signal_jump_is_refused():
    delays = (Delay("late", "rail.velocity", 0.1),)
    brake = Block("brake", lambda w, *, k: -k * w, on="rail", inputs={"w": "late.output"}, parameters={"k": 0.1})
    base = bouncing(delays=delays)
    machine = base.machine.__class__("cart", base.machine.mechanism, (*base.machine.blocks, brake), delays=delays)
    scenario = base.__class__("cart", machine, 1.0, base.initial, base.events)
    assert "delayed signal jump" in refused(scenario, "brake.k")["events.bounce"]


def test_laws_that_jump_with_a_state_are_warned_of():
    dry = Block("dry", lambda velocity, *, level: -level * sym.sign(velocity), on="rail", parameters={"level": 0.1})
    system = sensitivity_system(assemble(cart(dry)), ["dry.level"])
    assert any("sign()" in warning for warning in system.warnings)


@pytest.mark.parametrize(
    ("above", "below", "unit"), [("m", "kg", "m/kg"), ("m", "", "m"), ("m", "m", ""), ("", "N s/m", "1/(N s/m)")]
)
def test_units_of_sensitivities(above, below, unit):
    assert unit_of_ratio(above, below) == unit


def test_book_keeping_does_not_shorten_steps():
    system = sensitivity_system(assemble(cart(SPRING)), ["spring.stiffness"])
    nominal = {state.name: state.nominal for state in system.states}
    assert all(math.isfinite(value) for value in nominal.values())
    assert nominal["d(energy.work)/d(spring.stiffness)"] > 1e20
