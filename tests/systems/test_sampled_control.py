"""Do sampled blocks run exactly at their ticks, with their memory and delay, native or in Python?"""

import numpy as np
import pytest
from support.machines import cart, signals_only

from robodyn import Solver, simulate
from robodyn.model import Block, Recording


def counting(count, step):
    return {"value": count, "count_next": count + step}


def counter(name="counter", period=0.1, **fields) -> Block:
    return Block(name, counting, memory={"count": 0.0}, parameters={"step": 1.0}, period=period, **fields)


def test_a_counter_counts_its_ticks():
    run = simulate(signals_only(counter(), duration=1.05))
    signal = run["counter.value"]
    assert [signal(k * 0.1 + 1e-9) for k in range(11)] == list(range(11))
    assert [signal(k * 0.1 + 0.0999) for k in range(10)] == list(range(10))


def test_a_computation_delay_shifts_the_output_only():
    run = simulate(signals_only(counter(period=0.1, delay=0.03), duration=1.0))
    assert run["counter.value"](0.529) == 4
    assert run["counter.value"](0.531) == 5
    assert run["counter.count"](0.501) == 6


@pytest.mark.parametrize("delay", [0.1, 0.2, 0.25, 0.31])
@pytest.mark.parametrize("native", [True, False])
def test_a_delay_longer_than_the_period_keeps_every_sample(delay, native):
    hold = {} if native else {"hold": {"value": 0.0}}
    run = simulate(signals_only(counter(delay=delay, native=native, **hold), duration=2.0))
    for k in range(12):
        just_after = k * 0.1 + delay + 1e-6
        assert run["counter.value"](just_after) == k


def test_an_offset_moves_the_first_sample():
    run = simulate(signals_only(counter(offset=0.05), duration=1.0))
    assert run["counter.count"](0.049) == 0
    assert run["counter.count"](0.051) == 1


def test_blocks_due_together_run_in_order_of_declaration():
    def follow(value):
        return {"value": value}

    first = counter()
    after = Block("after", follow, inputs={"value": "counter.value"}, period=0.1)
    before = Block("before", follow, inputs={"value": "counter.value"}, period=0.1)
    run = simulate(signals_only(before, first, after, duration=0.55))
    assert run["after.value"](0.51) == 5
    assert run["before.value"](0.51) == 4


def hold_position(target, position, velocity, total, period):
    error = target - position
    return {"force": 40 * error - 12 * velocity + 30 * total, "total_next": total + period * error}


def held_cart(native: bool) -> Block:
    return Block(
        "loop",
        hold_position,
        on="rail",
        inputs={"target": "goal.value"},
        memory={"total": 0.0},
        period=0.01,
        native=native,
        hold={"force": 0.0},
    )


GOAL = Block("goal", "sine_reference", parameters={"amplitude": 0.3, "frequency": 0.7}, unit="m")


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_python_block_gives_the_same_run_as_a_native_one(method):
    first, second = (
        simulate(cart(GOAL, held_cart(native), duration=1.0), Solver(method, step=0.004)) for native in (True, False)
    )
    assert np.array_equal(first.time, second.time)
    # Native code fuses multiplications and additions, which rounds once instead of twice.
    np.testing.assert_allclose(second.values, first.values, rtol=1e-12, atol=1e-13)


def test_a_sampled_loop_equals_the_exact_discrete_solution():
    """A force held over each sample moves the cart exactly: x += T v + T^2 u / (2 m), v += T u / m."""
    scenario = cart(held_cart(True), Block("goal", "constant_reference", parameters={"constant": 0.2}), duration=1.0)
    run = simulate(scenario, Solver("dopri5", rtol=1e-12, atol=1e-14))
    x = v = total = 0.0
    T, m = 0.01, 2.0
    for k in range(100):
        assert run["rail.position"](k * T) == pytest.approx(x, abs=1e-13)
        u = 40 * (0.2 - x) - 12 * v + 30 * total
        total += T * (0.2 - x)
        x, v = x + T * v + T * T * u / (2 * m), v + T * u / m


def test_a_quantised_sensor_reports_multiples_of_its_resolution():
    sensor = Block("encoder", "quantised", inputs={"value": "rail.position"}, parameters={"resolution": 0.01})
    run = simulate(cart(sensor, initial={"rail.velocity": 0.3}), Solver("rk4", step=1e-3))
    measured = run["encoder.measured"].values
    np.testing.assert_allclose(measured / 0.01, np.round(measured / 0.01), atol=1e-9)
    assert np.max(np.abs(measured - run["rail.position"].values)) <= 0.005 + 1e-12


def test_two_rates_meet_at_every_common_tick_for_a_long_time():
    slow, fast = counter("slow", period=1e-3), counter("fast", period=0.25e-3)
    run = simulate(signals_only(slow, fast, duration=20.0), recording=Recording(rate=100.0))
    assert np.array_equal(run["fast.value"].values, 4 * run["slow.value"].values)
    assert run["slow.value"].final == 20_000
