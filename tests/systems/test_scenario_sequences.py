"""Do scenarios in sequence hand over everything and make one run?"""

import numpy as np
import pytest
from support.machines import cart

from robodyn import ModelError, ScenarioSequence, Solver, compare, load, save, simulate
from robodyn.description.catalog import scara_phases
from robodyn.description.model import Block, Delay, Event, Recording
from robodyn_studies.catalog.scara_avoid import scara_avoid

TIGHT = Solver("dopri5", rtol=1e-10, atol=1e-12)


def push(value: float) -> Block:
    return Block("push", "constant_force", on="rail", parameters={"value": value})


def phase(name, *blocks, **fields):
    scenario = cart(*blocks, **fields)
    return type(scenario)(name, scenario.machine, scenario.duration, scenario.initial, scenario.events)


def test_a_motion_cut_in_two_is_the_same_motion():
    loop = Block("loop", "pd_control", "rail", {"target": "time"}, {"proportional": 30.0, "derivative": 2.0}, unit="N")
    drive = Block("drive", "torque_source", "rail", {"command": "loop.command"})
    whole = simulate(cart(loop, drive, duration=2.0, initial={"rail.position": 0.3}), TIGHT)
    first = phase("first", loop, drive, duration=0.7, initial={"rail.position": 0.3})
    halves = simulate(ScenarioSequence("halves", (first, phase("second", loop, drive, duration=1.3))), TIGHT)
    assert halves.outcome.time == pytest.approx(2.0)
    found = compare(whole, halves)
    assert found["rail.position"].max_abs < 1e-7
    assert found["energy.work"].max_abs < 1e-6


def test_a_phase_ends_with_its_terminal_event_and_time_runs_on():
    reached = Event("reached", lambda x: x - 0.25, {"x": "rail.position"}, terminal=True)
    run = simulate(
        ScenarioSequence("kick", (phase("go", push(2.0), events=(reached,)), phase("coast", duration=0.5))), TIGHT
    )
    # a = 1: x = 0.25 at t = sqrt(0.5), then constant speed.
    begin = np.sqrt(0.5)
    assert [event.name for event in run.events] == ["reached", "phase coast"]
    assert run.events[1].time == pytest.approx(begin, abs=1e-9)
    assert run.final["rail.position"] == pytest.approx(0.25 + 0.5 * begin, abs=1e-8)
    assert run.outcome.time == pytest.approx(begin + 0.5, abs=1e-9)


def test_a_signal_only_one_phase_has_is_not_a_number_in_the_other():
    run = simulate(
        ScenarioSequence("kick", (phase("go", push(2.0), duration=0.3), phase("coast", duration=0.2))), TIGHT
    )
    force = run["push.force"].values
    assert np.all(force[run.time < 0.3] == 2.0)
    assert np.all(np.isnan(force[run.time > 0.3]))


def test_a_phase_that_fails_is_the_last():
    boom = Block("boom", lambda x: {"x_dot": x * x}, states={"x": 5.0})
    run = simulate(ScenarioSequence("bad", (phase("explodes", boom, duration=3.0), phase("never", duration=1.0))))
    assert run.outcome.failed
    assert "phase never" not in [event.name for event in run.events]


def test_numbers_reach_every_phase_that_has_them():
    chain = ScenarioSequence("two", (phase("a", push(1.0)), phase("b", push(2.0)), phase("c")))
    changed = chain.with_numbers({"push.value": 7.0})
    assert [block.parameters["value"] for part in changed.phases for block in part.machine.blocks] == [7.0, 7.0]
    with pytest.raises(ModelError, match=r"push\.valu: no phase has such a number .*'push\.value'"):
        chain.with_numbers({"push.valu": 7.0})


def test_a_run_can_go_on_from_a_file(tmp_path):
    first = simulate(cart(push(2.0), duration=0.5), TIGHT)
    save(first, tmp_path / "first.run")
    second = simulate(cart(push(2.0), duration=0.5), TIGHT, start=load(tmp_path / "first.run"))
    whole = simulate(cart(push(2.0), duration=1.0), TIGHT)
    assert second.time[0] == 0.5
    assert second.final["rail.position"] == pytest.approx(whole.final["rail.position"], rel=1e-12)


def test_a_chain_can_be_recorded_at_a_rate():
    chain = ScenarioSequence("two", (phase("a", push(1.0), duration=0.25), phase("b", push(2.0), duration=0.25)))
    run = simulate(chain, TIGHT, recording=Recording(rate=20.0))
    assert run.time == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5])


def test_a_delay_starts_its_history_anew_in_each_phase():
    late = {"delays": (Delay("late", "rail.position", 0.2),)}
    chain = ScenarioSequence("two", (phase("a", push(2.0), duration=1.0), phase("b", duration=1.0, **late)))
    run = simulate(chain, TIGHT)
    assert run["late.output"](1.1) == pytest.approx(run["rail.position"](1.0), rel=1e-9)


def test_both_ways_of_avoiding_the_obstacle_are_the_same_motion():
    found = compare(simulate(scara_avoid(), TIGHT), simulate(scara_phases(), TIGHT))
    for joint in ("shoulder", "elbow", "lift"):
        assert found[f"{joint}.position"].max_abs < 1e-8
