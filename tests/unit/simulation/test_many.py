"""Are many runs at once those of `simulate` one by one, to the last bit?"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from support.coupled import held_pendulum

import robodyn as rd
from robodyn.base.symbolic import exp
from robodyn.computation.engine.slices import take_measure
from robodyn.computation.simulation import many
from robodyn.computation.simulation.batch import Worker, find_runner
from robodyn.description.catalog import bouncing_ball, pendulum, two_link_loop
from robodyn.description.model import Block

COULOMB, STATIC = "shoulder.friction.coulomb", "shoulder.friction.static"
ANGLE = "hinge.position"


@pytest.fixture(scope="module")
def arm():
    return rd.compile_system(rd.assemble(replace(two_link_loop(), duration=0.05)))


@pytest.fixture(scope="module")
def swing():
    scenario = replace(pendulum(), duration=0.5, solver=rd.Solver("dopri5", rtol=1e-8))
    return rd.compile_system(rd.assemble(replace(scenario, machine=replace(scenario.machine, tunable=("bob.mass",)))))


@pytest.mark.parametrize("threads", [1, 3])
def test_measures_and_curves_are_those_of_single_runs(arm, threads):
    values = np.linspace(2.0, 9.0, 7)
    record = rd.Recording(rate=400.0, signals=("shoulder.*", "elbow.velocity"))
    table = rd.simulate_many(
        arm,
        {COULOMB: values},
        measures=["rms:elbow.velocity", "time_of_peak:*.position"],
        record=record,
        threads=threads,
    )
    for k, value in enumerate(values):
        run = rd.simulate(arm, parameters={COULOMB: value}, recording=rd.Recording(rate=400.0))
        velocity = run["elbow.velocity"]
        assert np.array_equal(table.curves.values["elbow.velocity"][k], velocity.values)
        assert np.array_equal(table.curves.places, run.time)
        angle = run["shoulder.position"]
        assert table["time_of_peak:shoulder.position"][k] == angle.time[np.argmax(np.abs(angle.values))]
        assert table["rms:elbow.velocity"][k] == take_measure("rms", run.time, velocity.values.copy())
        assert (table.outcomes[k], table.sentences[k]) == ("finished", run.outcome.sentence)
    assert "shoulder.friction.coulomb" in table.to_pandas().columns
    assert table.units[COULOMB] == table.to_pandas().attrs["units"][COULOMB] == "N m"
    assert len(np.unique(table["rms:elbow.velocity"])) == len(values)


def test_start_values_are_those_of_a_scenario_with_them(swing):
    angles = np.array([0.2, 1.0, 2.5])
    table = rd.simulate_many(swing, initial={ANGLE: angles}, measures=[f"final:{ANGLE}"])
    for k, angle in enumerate(angles):
        scenario = swing.system.scenario
        other = replace(scenario, initial={**scenario.initial, ANGLE: angle})
        assert table[f"final:{ANGLE}"][k] == rd.simulate(other)[ANGLE].final
    assert table["initial.hinge.position"].tolist() == angles.tolist()


def test_drives_are_looked_at_anew_where_their_numbers_change():
    """Runs in the same memory: steps are as short as each one's own force asks for, not as the one's before it."""
    scenario = replace(pendulum(angle=0.0), duration=2.0, solver=rd.Solver("dopri5", rtol=1e-4))
    wave = Block("wave", "sine_reference", parameters={"amplitude": 1e-6, "frequency": 1.0}, unit="N m")
    push = Block("push", lambda value: {"torque": value}, "hinge", {"value": "wave.value"})
    machine = replace(scenario.machine, blocks=(wave, push))
    pushed = rd.compile_system(rd.assemble(replace(scenario, machine=machine)))
    assert pushed.module.deciding
    runner = find_runner(pushed, pushed.solver, None, 0.0, 2.0)
    inputs = [runner.read({"wave.frequency": each}) for each in (1.0, 40.0, 40.0, 1.0)]

    def count_steps(fresh):
        steps = []
        for each in inputs:
            if fresh:
                runner.idle.clear()
            steps.append(Worker(runner).carry_out([each])[0][0].counters.steps)
        return steps

    assert count_steps(fresh=False) == (alone := count_steps(fresh=True))
    assert alone[1] > 2 * alone[0]


def test_events_happen_in_every_run():
    scenario = replace(bouncing_ball(), duration=1.0)
    compiled = rd.compile_system(rd.assemble(scenario))
    name = next(number.name for number in compiled.system.parameters)
    value = compiled.system.number_values[name]
    signal = compiled.system.signal_names[0]
    table = rd.simulate_many(compiled, {name: value * np.array([0.5, 0.8, 1.0])}, measures=[f"final:{signal}"])
    for k in range(3):
        run = rd.simulate(compiled, parameters={name: table[name][k]})
        assert run.events
        assert (table[f"final:{signal}"][k], table.end_time[k]) == (run[signal].final, run.outcome.time)


def test_a_run_that_ends_early_has_no_values_after_its_end(swing):
    scenario = swing.system.scenario
    passing = rd.Event("passing", lambda angle: angle - 0.95, {"angle": ANGLE}, terminal=True)
    system = rd.assemble(replace(scenario, events=(passing,)))
    table = rd.simulate_many(system, initial={ANGLE: [0.9, 1.0]}, record=rd.Recording(rate=50.0, signals=(ANGLE,)))
    assert table.outcomes == ("finished", "stopped")
    places, early = table.curves.places, table.curves.values[ANGLE][1]
    assert 0 < table.end_time[1] < places[-1]
    assert np.array_equal(np.isfinite(early), places <= table.end_time[1])
    # The last value is that of its own instant, not that of the end between two of them.
    there = np.flatnonzero(np.isfinite(early))[-1]
    assert early[there] > 0.95
    assert np.isfinite(table.curves.values[ANGLE][0]).all()


def test_numbers_that_no_description_accepts_are_the_outcome_of_their_run(arm, swing):
    table = rd.simulate_many(arm, {COULOMB: [5.0, -1.0, 6.0]}, measures=["final:elbow.position"])
    assert table.outcomes == ("finished", "failed", "finished")
    assert "coulomb: must be positive, is -1" in table.sentences[1]
    assert np.isnan(table["final:elbow.position"]).tolist() == [False, True, False]
    heavy = rd.simulate_many(swing, {"bob.mass": [1.0, -2.0]}, measures=[f"final:{ANGLE}"])
    assert heavy.outcomes == ("finished", "failed")
    assert "mass" in heavy.sentences[1]


def test_starts_that_no_scenario_accepts_are_the_outcome_of_their_run(swing):
    table = rd.simulate_many(swing, initial={ANGLE: [0.1, np.inf, 1e40]}, measures=[f"final:{ANGLE}"])
    assert table.outcomes == ("finished", "failed", "failed")
    assert "initial.hinge.position: must be finite" in table.sentences[1]
    bodies, joints = (rd.Body("box", 1.0, inertia=(1.0, 1.0, 1.0)),), (rd.Joint("base", "free", "ground", "box"),)
    mechanism = rd.Mechanism("box", bodies, joints)
    system = rd.assemble(rd.Scenario("falling", rd.Machine("box", mechanism), duration=0.01))
    turned = {f"base.orientation.{part}": values for part, values in (("w", [0.8, 0.8]), ("x", [0.6, 0.1]))}
    table = rd.simulate_many(system, initial=turned, measures=["final:base.orientation.x"])
    assert table.outcomes == ("finished", "failed")
    assert "has length 0.806225775, must have 1" in table.sentences[1]


def test_rules_between_two_numbers_are_checked_in_each_run(swing):
    """Bounds that cross in no run, though the largest lower one is above the smallest upper one."""

    @rd.law(checks={"upper": "above lower"})
    def saturate(angle, *, lower, upper):
        return {"torque": lower + 0.0 * upper * angle}

    scenario = swing.system.scenario
    block = rd.Block("spring", saturate, inputs={"angle": ANGLE}, parameters={"lower": 0.0, "upper": 1.0})
    system = rd.assemble(replace(scenario, machine=replace(scenario.machine, blocks=(block,))))
    lower, upper = np.array([0.0, 2.0, 5.0]), np.array([1.0, 3.0, 4.0])
    table = rd.simulate_many(system, {"spring.lower": lower, "spring.upper": upper}, measures=[f"final:{ANGLE}"])
    assert table.outcomes == ("finished", "finished", "failed")


def test_runs_that_violate_a_check_are_suspect_and_counted(swing):
    solver = rd.Solver("euler", step=0.05)
    compiled = rd.compile_system(swing.system, solver)
    table = rd.simulate_many(compiled, initial={ANGLE: [0.0, 2.0]}, measures=[f"final:{ANGLE}"])
    assert table.outcomes == ("finished", "suspect")
    assert table.violated == {"energy balance": 1}
    other = replace(swing.system.scenario, initial={ANGLE: 2.0}, solver=solver)
    assert table.sentences[1] == rd.simulate(other).outcome.sentence


def test_runs_judged_at_once_are_those_judged_one_by_one(arm):
    damping = {"shoulder.friction.damping": np.array([20.0, 30.0, 2.3e4, 40.0])}
    few, measures = replace(arm.solver, max_steps=230), ["rms:elbow.velocity", "min:elbow.position"]
    found = set()
    for solver in (arm.solver, few):
        table = rd.simulate_many(arm, damping, measures=measures, solver=solver)
        worker = Worker(find_runner(arm, solver, None, 0.0, arm.system.scenario.duration))
        single = worker.run([({"shoulder.friction.damping": one}, {}) for one in damping["shoulder.friction.damping"]])
        assert list(table.sentences) == [each.outcome.sentence for each in single]
        assert table.violated == Counter(name for each in single for name in each.violated)
        for name, k in (("min:elbow.position", 1), ("rms:elbow.velocity", 3)):
            kind, signal = name.split(":")
            alone = np.nan
            if single[k].outcome.carried_through:
                alone = take_measure(kind, single[k].time, single[k].signals[signal])
            assert np.array_equal(table[name][k], alone, equal_nan=True)
        found |= {*table.outcomes}
    assert found == {"finished", "suspect", "step_limit"}


def test_all_flaws_of_the_arrays_are_told_at_once(arm):
    with pytest.raises(rd.ModelError) as refused:
        rd.simulate_many(
            arm,
            {COULOMB: [1.0, 2.0], STATIC: [1.0, 2.0, 3.0], "upper_arm.mass": [1.0], "duration": 1.0,
             "shoulder.friction.colomb": 1.0,
             "elbow.friction.static": [], "elbow.friction.coulomb": [1.0, np.nan]},
            initial={"wrist.position": 0.0},
            measures=["peak:nowhere"],
        )  # fmt: skip
    message = str(refused.value)
    for words in (
        f"'{COULOMB}' has 2, '{STATIC}' has 3",
        "Machine(..., tunable=['upper_arm.mass'])",
        "duration: is a constant of the native code, not tunable (vary it in a sweep",
        f"did you mean '{COULOMB}'?",
        "elbow.friction.static: has no value",
        "elbow.friction.coulomb[1]: must be a number, is nan",
        "initial.wrist.position: there is no such state",
        "no signal 'nowhere'",
    ):
        assert words in message


def test_curves_need_common_times_and_memory(arm, monkeypatch):
    values = {COULOMB: np.linspace(1.0, 2.0, 100)}
    with pytest.raises(rd.ModelError, match="give a rate or times"):
        rd.simulate_many(arm, values, record=rd.Recording())
    monkeypatch.setattr(many, "memory_size", lambda: 1e6)
    with pytest.raises(rd.ModelError, match=r"100 runs of 2 signals at 5001 times take .* GB .* fewer signals"):
        rd.simulate_many(arm, values, record=rd.Recording(rate=1e5, signals=("elbow.position", "elbow.velocity")))


def test_a_signal_that_is_not_compiled_is_told(arm):
    compiled = rd.compile_system(arm.system, signals=("elbow.position",))
    with pytest.raises(rd.ModelError, match="compile the system for it"):
        rd.simulate_many(compiled, {COULOMB: [1.0]}, measures=["peak:shoulder.position"])
    curves = rd.Recording(rate=100.0, signals=("elbow.*", "wrist.*"))
    with pytest.raises(rd.ModelError, match=r"'wrist\.\*' matches no signal"):
        rd.simulate_many(compiled, {COULOMB: [1.0]}, measures=["peak:elbow.position"], record=curves)


def test_an_error_of_a_law_in_python_is_the_outcome_of_its_run(swing):
    calls = []

    def push(angle, *, gain):
        calls.append(gain)
        return {"torque": 1.0 / (gain - 2.0)}

    scenario = swing.system.scenario
    block = rd.Block("motor", push, inputs={"angle": ANGLE}, parameters={"gain": 1.0}, period=0.1, native=False,
                     hold={"torque": 0.0}, acts={"torque": "hinge"})  # fmt: skip
    system = rd.assemble(replace(scenario, machine=replace(scenario.machine, blocks=(block,))))
    table = rd.simulate_many(system, {"motor.gain": [1.0, 2.0, 3.0]}, measures=[f"final:{ANGLE}"], threads=4)
    assert table.outcomes == ("finished", "failed", "finished")
    assert "ZeroDivisionError" in table.sentences[1]
    assert calls == sorted(calls)


def test_an_interrupt_ends_the_batch_not_a_single_run(swing):
    pushed = []

    def push(angle, *, gain):
        pushed.append(gain)
        if gain == 2.0:
            raise KeyboardInterrupt
        return {"torque": gain}

    scenario = swing.system.scenario
    block = rd.Block("motor", push, inputs={"angle": ANGLE}, parameters={"gain": 1.0}, period=0.1, native=False,
                     hold={"torque": 0.0}, acts={"torque": "hinge"})  # fmt: skip
    system = rd.assemble(replace(scenario, machine=replace(scenario.machine, blocks=(block,))))
    with pytest.raises(KeyboardInterrupt):
        rd.simulate_many(system, {"motor.gain": [1.0, 2.0, 3.0]}, measures=[f"final:{ANGLE}"])
    assert set(pushed) == {1.0, 2.0}


def test_arguments_of_the_wrong_kind_are_refused_with_an_example(arm):
    with pytest.raises(TypeError) as refused:
        rd.simulate_many(arm, [5.0, 6.0], measures="peak:elbow.velocity", record=100.0, threads=1.5, lanes="yes")
    for words in (
        "parameters: must not be a list, for example {'",
        "measures: must not be a str",
        "record: must not be",
    ):
        assert words in str(refused.value)
    assert "threads: must not be a float, for example 4; lanes: must not be a str" in str(refused.value)
    with pytest.raises(TypeError, match=r"what: must not be a Scenario, for example assemble\(scenario\)"):
        rd.simulate_many(two_link_loop(), {"elbow.friction.coulomb": [2.0]})


def test_a_pulse_is_felt_in_each_run_whenever_it_comes():
    """What the clock drives is looked at once for each time that it comes at: its impulse is w sqrt(pi)."""
    slide = rd.Joint("slide", "prismatic", rd.GROUND, "mass", axis=(1, 0, 0))
    mechanism = rd.Mechanism("sliding", (rd.Body("mass", 1.0),), (slide,), gravity=(0, 0, 0))
    pulse = Block(
        "pulse", lambda time, *, at: {"force": exp(-(((time - at) / 0.01) ** 2))}, "slide", parameters={"at": 1.0}
    )
    system = rd.assemble(rd.Scenario("pulsed", rd.Machine("pulsed", mechanism, (pulse,)), 10.0))
    table = rd.simulate_many(
        system, {"pulse.at": [2.0, 2.0, 7.3, 5.1, 2.0]}, measures=["final:slide.velocity"], threads=1
    )
    np.testing.assert_allclose(table["final:slide.velocity"], 0.01 * np.pi**0.5, rtol=1e-5)


def test_delays_are_those_of_single_runs():
    """A loop that hears its speed late holds a pendulum: the delay and what was before are told to every run anew."""
    scenario = held_pendulum()
    machine = replace(scenario.machine, tunable=("rod.mass",))
    compiled = rd.compile_system(rd.assemble(replace(scenario, machine=machine)))
    masses = np.linspace(0.8, 1.6, 6)
    table = rd.simulate_many(
        compiled, {"rod.mass": masses}, measures=[f"final:{ANGLE}", "final:heard.output"], threads=1
    )
    for k, mass in enumerate(masses):
        run = rd.simulate(compiled, parameters={"rod.mass": mass})
        assert run.outcome.ok
        assert table[f"final:{ANGLE}"][k] == run[ANGLE].final
        assert table["final:heard.output"][k] == run["heard.output"].final
