"""Do delays, limits, references and events behave in a running system as described?"""

import numpy as np
import pytest
from support.machines import cart, signals_only

from robodyn import Solver, simulate
from robodyn.description.model import Block, Delay, Event, Recording

TIGHT = Solver("dopri5", rtol=1e-10, atol=1e-12)


def ramp(rate=1.0, **times) -> Block:
    return Block("ramp", "ramp_reference", parameters={"rate": rate, **times})


def test_a_delayed_ramp_is_the_ramp_shifted():
    run = simulate(signals_only(ramp(), delays=(Delay("late", "ramp.value", 0.3),)), TIGHT)
    times = np.linspace(0, 1, 41)
    np.testing.assert_allclose(run["late.output"](times), np.maximum(times - 0.3, 0), atol=1e-12)


def test_a_delayed_step_jumps_exactly_late():
    """The integral of a delayed step is exact only if the jump is met exactly."""
    step = Block("step", "step_reference", parameters={"after": 2.0, "at": 0.25})
    area = Block(
        "area", lambda value, total: {"total_dot": value}, inputs={"value": "late.output"}, states={"total": 0.0}
    )
    run = simulate(signals_only(step, area, delays=(Delay("late", "step.value", 0.4),)), Solver("dopri5", rtol=1e-4))
    assert run["area.total"].final == pytest.approx(2.0 * (1 - 0.65), abs=1e-12)


def test_a_given_history_stands_before_the_first_value():
    run = simulate(signals_only(ramp(), delays=(Delay("late", "ramp.value", 0.3, before=-7.0),)), TIGHT)
    assert run["late.output"](0.1) == -7.0


def test_delayed_feedback_follows_the_method_of_steps():
    """x' = -x(t - 1), x = 1 before: x = 1 - t on [0, 1], then 1 - t + (t - 1)^2 / 2 on [1, 2]."""
    decay = Block("decay", lambda x, past: {"x_dot": -past}, inputs={"past": "late.output"}, states={"x": 1.0})
    run = simulate(signals_only(decay, delays=(Delay("late", "decay.x", 1.0),), duration=2.0), TIGHT)
    assert run["decay.x"](1.0) == pytest.approx(0.0, abs=1e-10)
    assert run["decay.x"](2.0) == pytest.approx(-0.5, abs=1e-10)


@pytest.mark.parametrize("half", [0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.14])
@pytest.mark.parametrize("solver", [TIGHT, Solver("rodas4"), Solver("rk4", step=0.002)], ids=lambda s: s.method)
def test_roots_of_a_delayed_signal_are_met_once_also_where_steps_of_its_past_end(half, solver):
    """Events of a sine delayed by 0.1 s, twice 0.05 s, end steps at its roots, which the delays bring back later."""
    sine = Block("sine", "sine_reference", parameters={"amplitude": 1.0, "frequency": 0.5 / half})
    count = Block("count", lambda number: {"number_dot": 0.0 * number}, states={"number": 0.0})
    for delays in (
        (Delay("late", "sine.value", 0.1),),
        (Delay("mid", "sine.value", 0.05), Delay("late", "mid.output", 0.05)),
    ):
        events = [
            Event(
                way,
                lambda late: late,
                direction=way,
                inputs={"late": "late.output", "number": "count.number"},
                action=lambda number: {"count.number": number + 1},
            )
            for way in ("rising", "falling")
        ]
        run = simulate(signals_only(sine, count, delays=delays, events=events, duration=0.996), solver)
        seen = [event for event in run.events if event.time > 0.1 + 1e-6]
        expected = np.arange(0.1 + half, 0.996, half)
        # The past is kept to the accuracy of the steps, which no state asks to be short.
        np.testing.assert_allclose([event.time for event in seen], expected, atol=2e-5)
        assert [event.name for event in seen[:2]] == ["falling", "rising"][: len(expected)]
        assert run["count.number"].final == len(run.events)


@pytest.mark.parametrize("solver", [TIGHT, Solver("rodas4", rtol=1e-9, atol=1e-11)], ids=lambda s: s.method)
def test_a_limited_integrator_does_not_wind_up(solver):
    """Driven by sin: rises to its limit, stays, and leaves it the moment the rate turns negative."""
    rate = Block("rate", "sine_reference", parameters={"amplitude": 1.0, "frequency": 1 / (2 * np.pi)})
    limited = Block(
        "level", "limited_integrator", inputs={"rate": "rate.value"}, parameters={"lower": -1.0, "upper": 1.5}
    )
    run = simulate(signals_only(rate, limited, duration=2 * np.pi), solver)
    level = run["level.output"]
    t = np.linspace(0, 2 * np.pi, 200)
    # 1 - cos t until it reaches 1.5 at t = 2 pi / 3; held until sin turns negative at pi; then 1.5 - (1 + cos t).
    exact = np.where(t < 2 * np.pi / 3, 1 - np.cos(t), np.where(t < np.pi, 1.5, 0.5 - np.cos(t)))
    np.testing.assert_allclose(level(t), exact, atol=2e-6)
    assert level.values.max() <= 1.5 + 1e-9


def test_fixed_steps_clip_a_limited_state():
    rate = Block("rate", "constant_reference", parameters={"constant": 1.0})
    limited = Block("level", "limited_integrator", inputs={"rate": "rate.value"}, parameters={"upper": 0.35})
    run = simulate(signals_only(rate, limited), Solver("euler", step=0.1))
    assert run["level.output"].final == 0.35
    assert run.statistics.steps == 10


def bouncing(restitution=0.8) -> Event:
    return Event(
        "bounce",
        lambda height: height,
        {"height": "rail.position", "speed": "rail.velocity"},
        {"restitution": restitution},
        direction="falling",
        action=lambda speed, restitution: {"rail.velocity": -restitution * speed},
    )


def test_a_bouncing_ball_bounces_at_the_exact_times():
    scenario = cart(gravity=-10.0, initial={"rail.position": 5.0}, duration=4.0, events=(bouncing(),))
    run = simulate(scenario, Solver("dopri5", rtol=1e-9))
    # Falls 1 s, then flies 2 * 0.8^k s: parabolas are integrated without error.
    expected = [1.0, 2.6, 3.88]
    np.testing.assert_allclose([event.time for event in run.events], expected, rtol=1e-12)
    assert np.all(run["rail.position"].values > -1e-12)


def test_a_ball_that_bounces_ever_faster_ends_with_a_clear_outcome():
    scenario = cart(gravity=-10.0, initial={"rail.position": 5.0}, duration=40.0, events=(bouncing(0.5),))
    run = simulate(scenario)
    assert run.outcome.kind.name == "CHATTERING"
    assert "bounce" in run.outcome.sentence
    assert run.outcome.time == pytest.approx(3.0, abs=1e-6)
    assert run["rail.position"].final == pytest.approx(0.0, abs=1e-9)


def test_a_python_action_does_as_a_native_one():
    def scenario(native):
        event = bouncing()
        event = Event(event.name, event.guard, event.inputs, event.parameters, "falling", event.action, native=native)
        return cart(gravity=-10.0, initial={"rail.position": 5.0}, duration=4.0, events=(event,))

    first, second = (simulate(scenario(native)) for native in (True, False))
    assert np.array_equal(first.values, second.values)


def test_an_event_that_only_logs_leaves_the_steps_alone():
    watch = Event("half", lambda x: x - 0.5, {"x": "rail.position"})
    plain = simulate(cart(initial={"rail.velocity": 1.0}), Solver("euler", step=0.03))
    watched = simulate(cart(initial={"rail.velocity": 1.0}, events=(watch,)), Solver("euler", step=0.03))
    assert np.array_equal(plain.time, watched.time)
    assert [event.time for event in watched.events] == [pytest.approx(0.5, abs=1e-12)]


def test_memory_set_by_an_event_changes_a_continuous_law():
    def thrust(mode):
        return {"force": 2.0 - 4.0 * mode}

    engine = Block("engine", thrust, on="rail", memory={"mode": 0.0})
    turn = Event(
        "turn", lambda x: x - 0.5, {"x": "rail.position"}, direction="rising", action=lambda: {"engine.mode": 1.0}
    )
    run = simulate(cart(engine, events=(turn,), duration=3.0), TIGHT)
    # a = 1 until x = 0.5 at t = 1, then a = -1.
    assert run.events[0].time == pytest.approx(1.0, abs=1e-10)
    assert run["rail.velocity"](2.5) == pytest.approx(1.0 - 1.5, abs=1e-9)


def test_a_reference_step_is_met_exactly():
    step = Block("step", "step_reference", parameters={"after": 3.0, "at": 0.123456})
    push = Block("push", "torque_source", on="rail", inputs={"command": "step.value"})
    run = simulate(cart(step, push), Solver("dopri5", rtol=1e-3))
    assert run["rail.velocity"].final == pytest.approx(1.5 * (1 - 0.123456), rel=1e-12)


def test_parameters_change_without_compiling_again():
    from robodyn import assemble, compile_system

    brake = Block("brake", "viscous_friction", on="rail", parameters={"viscous": 1.0})
    compiled = compile_system(assemble(cart(brake, initial={"rail.velocity": 1.0})), TIGHT)
    for viscous in (0.5, 1.0, 4.0):
        run = simulate(compiled, TIGHT, parameters={"brake.viscous": viscous})
        assert run["rail.velocity"].final == pytest.approx(np.exp(-viscous / 2.0), rel=1e-8)
        assert run.provenance.parameters["brake.viscous"]["value"] == viscous


def test_recording_at_given_times_keeps_just_those():
    times = (0.0, 0.1, 0.55, 1.0)
    run = simulate(cart(initial={"rail.velocity": 1.0}), TIGHT, recording=Recording(times=times, signals=("rail.*",)))
    assert tuple(run.time) == times
    assert all(name.startswith("rail.") for name in run.names)
    np.testing.assert_allclose(run["rail.position"].values, times, atol=1e-12)
