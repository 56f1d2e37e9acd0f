"""Do ticks, guards, delays and limits meet at exactly the instants they should?"""

import numpy as np
import pytest
from support.machines import cart, signals_only

from robodyn import Solver, simulate
from robodyn.description.model import Block, Delay, Event

TIGHT = Solver("dopri5", rtol=1e-10, atol=1e-12)


def integral(source: str, name: str = "area") -> Block:
    return Block(name, lambda u, total: {"total_dot": u}, inputs={"u": source}, states={"total": 0.0})


@pytest.mark.parametrize(("period", "at"), [(0.03, 0.33), (0.03, 0.45), (0.015, 0.33), (0.1, 0.3), (0.06, 0.42)])
def test_a_tick_sees_a_step_at_its_own_decimal_time(period, at):
    step = Block("step", "step_reference", parameters={"after": 1.0, "at": at})
    held = Block("held", "sample_and_hold", inputs={"value": "step.value"}, period=period)
    run = simulate(signals_only(step, held))
    assert run["held.output"](at + 1e-9) == 1.0
    assert run["held.output"](at) == 1.0
    assert run["held.output"](at - 1e-9) == 0.0


@pytest.mark.parametrize("frequency", [1.0, 1.25, 2.0, 5.0])
def test_events_on_a_delayed_signal_act_once_each(frequency):
    wave = Block("wave", "sine_reference", parameters={"amplitude": 1.0, "frequency": frequency})
    count = Block("count", lambda ups, downs: {"sum": ups + downs}, memory={"ups": 0.0, "downs": 0.0})
    events = tuple(
        Event(name, lambda x: x, {"x": "late.output", "n": name}, {}, direction, action)
        for name, direction, action in (
            ("count.ups", "rising", lambda n: {"count.ups": n + 1}),
            ("count.downs", "falling", lambda n: {"count.downs": n + 1}),
        )
    )
    run = simulate(
        signals_only(wave, count, delays=(Delay("late", "wave.value", 0.1),), events=events, duration=1.05),
        Solver("dopri5", max_step=0.03),
    )
    crossings = [0.1 + k / (2 * frequency) for k in range(1, 40) if 0.1 + k / (2 * frequency) < 1.05]
    np.testing.assert_allclose([event.time for event in run.events], crossings, atol=1e-9)


@pytest.mark.parametrize("solver", [Solver("dopri5"), Solver("rk4", step=0.013), Solver("euler", step=0.013)])
def test_a_held_signal_jumps_exactly_through_two_delays(solver):
    wave = Block("wave", "ramp_reference", parameters={"rate": 1.0})
    held = Block("held", "sample_and_hold", inputs={"value": "wave.value"}, period=0.1)
    delays = (Delay("first", "held.output", 0.123), Delay("second", "first.output", 0.234))
    run = simulate(signals_only(wave, held, integral("second.output"), delays=delays), solver)
    # Held values 0.1 k arrive 0.357 later and act for 0.1 each, the last for what is left of 1 s.
    expected = sum(0.1 * k * min(0.1, 1.0 - (0.1 * k + 0.357)) for k in range(7) if 0.1 * k + 0.357 < 1)
    assert run["area.total"].final == pytest.approx(expected, abs=1e-12)


def test_a_chain_of_many_delays_starts_at_the_signal_itself():
    one = Block("one", "constant_reference", parameters={"constant": 1.0})
    sources = ["one.value", *(f"d{k}.output" for k in range(11))]
    run = simulate(signals_only(one, delays=[Delay(f"d{k}", source, 0.1) for k, source in enumerate(sources)]))
    assert [run[f"d{k}.output"].values[0] for k in range(12)] == [1.0] * 12


def test_outputs_that_arrive_at_a_tick_are_seen_by_every_sample_there():
    counting = Block("n", lambda k: {"value": k, "k_next": k + 1}, memory={"k": 0.0}, period=0.1, delay=0.1)
    reader = Block("reader", "sample_and_hold", inputs={"value": "n.value"}, period=0.1)
    for order in ((counting, reader), (reader, counting)):
        run = simulate(signals_only(*order))
        assert run["reader.output"](0.55) == 4.0


def limited(**fields) -> Block:
    return Block("level", "limited_integrator", None, {"rate": "rate.value"}, {"lower": 0.0, "upper": 1.0}, **fields)


RATE = Block("rate", "constant_reference", parameters={"constant": -1.0})


@pytest.mark.parametrize("solver", [TIGHT, Solver("rk4", step=0.01), Solver("rodas4p")], ids=lambda s: s.method)
def test_an_action_cannot_put_a_state_beyond_its_limit(solver):
    kick = Event("kick", lambda time: time - 0.25, direction="rising", action=lambda: {"level.value": 5.0})
    run = simulate(signals_only(RATE, limited(), events=(kick,), duration=0.75), solver)
    assert run["level.output"].max == 1.0
    assert run["level.output"].final == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("solver", [TIGHT, Solver("rk4", step=0.01)], ids=lambda s: s.method)
def test_a_start_beyond_a_limit_starts_at_the_limit(solver):
    run = simulate(signals_only(RATE, limited(states={"value": 3.0}), duration=0.5), solver)
    assert run["level.output"].values[0] == 1.0
    assert run["level.output"].final == pytest.approx(0.5, abs=1e-9)


def test_watching_is_not_disturbed_by_an_action_later_in_the_step():
    watch = Event("watch", lambda time: (time - 0.3) * (time - 0.6))
    act = Event("act", lambda time: time - 0.8, action=lambda: {"rail.velocity": 2.0})
    run = simulate(cart(initial={"rail.velocity": 1.0}, events=(watch, act)), Solver("dopri5", step=1.0))
    assert [event.name for event in run.events] == ["watch", "watch", "act"]
    assert [event.time for event in run.events] == pytest.approx([0.3, 0.6, 0.8])


def test_a_guard_that_an_action_takes_back_fires_again_at_the_same_instant():
    """Kicked back, turned round and raised to 3, and by that kicked back and turned round once more."""
    kick = Event("kick", lambda time: time - 0.5, action=lambda: {"rail.velocity": -1.0})
    turn = Event(
        "turn",
        lambda v: v,
        {"v": "rail.velocity"},
        direction="falling",
        action=lambda: {"rail.velocity": 1.0, "rail.position": 3.0},
    )
    again = Event("again", lambda x: x - 2.0, {"x": "rail.position"}, action=lambda: {"rail.velocity": -1.0})
    run = simulate(cart(initial={"rail.velocity": 1.0}, events=(kick, turn, again)))
    assert [event.name for event in run.events] == ["kick", "turn", "again", "turn"]
    assert {event.time for event in run.events} == {run.events[0].time}
    assert run["rail.velocity"].final == 1.0


def test_many_watchers_at_one_instant_are_no_chattering():
    events = tuple(Event(f"w{k}", lambda x: x - 0.5, {"x": "rail.position"}) for k in range(150))
    run = simulate(cart(initial={"rail.velocity": 1.0}, events=events))
    assert run.outcome.kind.name == "FINISHED"
    assert len(run.events) == 150


def test_a_held_output_can_be_given_a_start_value():
    block = Block("b", lambda time: {"u": time}, period=0.1, offset=0.05, hold={"u": 0.5})
    assert simulate(signals_only(block, initial={"b.u": 9.0}))["b.u"](0.01) == 9.0
