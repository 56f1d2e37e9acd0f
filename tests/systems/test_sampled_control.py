"""Do sampled blocks run exactly at their ticks, with their memory and delay, native or in Python?"""

import itertools

import numpy as np
import pytest
from support.machines import cart, signals_only

from robodyn import Solver, assemble, simulate
from robodyn.analysis.linear.loop_table import loop_table
from robodyn.description.laws.recorded import RecordedReference
from robodyn.description.model import Block, Recording


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


def follow(value):
    return {"value": value}


def follower(name, signal, native=True, **fields) -> Block:
    hold = {} if native else {"hold": {"value": 0.0}, "native": False}
    return Block(name, follow, inputs={"value": signal}, **{"period": 0.1} | hold | fields)


@pytest.mark.parametrize("native", [True, False])
def test_blocks_due_together_run_in_the_order_in_which_they_read_each_other(native):
    blocks = [follower("last", "middle.value", native), follower("middle", "counter.value"), counter()]
    for declared in itertools.permutations(blocks):
        run = simulate(signals_only(*declared, duration=0.55))
        assert [run[f"{name}.value"](0.51) for name in ("counter", "middle", "last")] == [5, 5, 5]


def test_a_formula_between_two_samples_is_no_delay():
    def twice(value):
        return {"value": 2 * value}

    between = Block("between", twice, inputs={"value": "counter.value"})
    run = simulate(signals_only(follower("reader", "between.value"), between, counter(), duration=0.55))
    assert run["reader.value"](0.51) == 10


def test_a_slow_reader_of_a_fast_block_sees_its_sample_of_the_common_tick():
    run = simulate(signals_only(follower("slow", "counter.value", period=0.2), counter(), duration=0.55))
    assert run["slow.value"](0.41) == 4
    late = simulate(signals_only(follower("slow", "counter.value", period=0.2, offset=0.05), counter(), duration=0.55))
    assert late["slow.value"](0.46) == 4


def test_a_delay_of_one_period_is_a_value_of_the_sample_before_whatever_the_order():
    reader, written = follower("reader", "counter.value"), counter(delay=0.1)
    for declared in ((reader, written), (written, reader)):
        scenario = signals_only(*declared, duration=0.55)
        assert simulate(scenario)["reader.value"](0.51) == 4
        assert not assemble(scenario).discrete.late_reads


def test_a_circle_is_cut_by_the_order_of_declaration_and_that_is_said():
    def more(value, *, step):
        return {"value": value + step}

    def adder(name, other, step):
        return Block(name, more, inputs={"value": f"{other}.value"}, parameters={"step": step}, period=0.1)

    tens, ones, reader = adder("tens", "ones", 10.0), adder("ones", "tens", 1.0), follower("reader", "ones.value")
    # Each adds to what the other gave; the one that is first starts from what was held before.
    for declared, first, at_start in (((reader, tens, ones), "tens", 11.0), ((ones, reader, tens), "ones", 1.0)):
        system = assemble(signals_only(*declared, duration=0.05))
        (late,) = system.discrete.late_reads
        assert late.block == first
        assert "of the sample before" in str(late)
        run = simulate(system)
        assert run["ones.value"](0.01) == run["reader.value"](0.01) == at_start


def test_memory_of_another_block_is_read_as_declared_and_that_is_said():
    reader, written = follower("reader", "counter.count"), counter()
    before, after = (assemble(signals_only(*two, duration=0.55)) for two in ((reader, written), (written, reader)))
    (late,) = before.discrete.late_reads
    assert "'reader' reads 'counter.count' of the sample before: it is memory of a block" in str(late)
    assert not after.discrete.late_reads
    assert [simulate(system)["reader.value"](0.51) for system in (before, after)] == [5.0, 6.0]


def test_a_circle_reads_first_what_stands_before_it():
    def add(value, other):
        return {"value": value + other}

    back = Block("back", add, inputs={"value": "forth.value", "other": "counter.value"}, period=0.1)
    system = assemble(signals_only(back, follower("forth", "back.value"), counter(), duration=0.05))
    assert [task.name for task in system.discrete.tasks] == ["counter", "back", "forth"]


def test_margins_do_not_depend_on_the_order_of_tables():
    fine = {"resolution": 1e-6}
    encoder = Block("encoder", "sampled_encoder", inputs={"value": "rail.position"}, parameters=fine, period=1e-3)
    loop = Block(
        "loop",
        "sampled_velocity_loop",
        inputs={"velocity_command": "goal.rate", "velocity": "encoder.measured_rate"},
        parameters={"proportional": 200.0, "integral": 2000.0},
        period=1e-3,
        unit="m",
    )
    drive = Block("drive", "torque_source", on="rail", inputs={"command": "loop.torque_command"})
    before, after = (loop_table(assemble(cart(GOAL, *two, drive))) for two in ((encoder, loop), (loop, encoder)))
    for figure in ("gain_to", "phase", "delay"):
        first, second = (getattr(table.rows[0].margins, figure) for table in (before, after))
        assert first == pytest.approx(second, rel=1e-5)


ROWS = np.arange(500) % 7.0


@pytest.mark.parametrize(
    "clock",
    [
        np.arange(500) / 1000,
        np.arange(500) * 0.001,
        np.cumsum(np.full(500, 0.001)) - 0.001,
        # Other clocks: 20 ns a sample fast, and rounded to tenths of a microsecond after a shift of half of them.
        np.arange(500) * 0.00099999998,
        np.round(np.arange(500) * 0.001 + 5.1e-8, 7),
    ],
    ids=["divided", "multiplied", "summed", "fast", "rounded"],
)
def test_a_held_recording_is_seen_at_the_tick_that_its_row_belongs_to(clock):
    log = RecordedReference(tuple(clock.tolist()), tuple(ROWS.tolist()), "held", unit="m")
    run = simulate(signals_only(follower("reader", "log.value", period=1e-3), Block("log", log), duration=0.499))
    assert np.array_equal(run["reader.value"]((np.arange(499) + 0.5) * 1e-3), ROWS[:499])


def test_rows_between_ticks_stay_where_they_are():
    # Within a hundredth of a period of a tick after it, and before one; at a tick, and next to that row.
    times = (0.0, 0.03009, 0.04991, 0.06, 0.06003)
    log = RecordedReference(times, (0.0, 1.0, 2.0, 3.0, 4.0), "held", unit="m")
    run = simulate(signals_only(follower("reader", "log.value", period=0.01), Block("log", log), duration=0.08))
    seen = [run["reader.value"](t) for t in (0.029, 0.031, 0.049, 0.051, 0.061, 0.071)]
    assert seen == [0.0, 1.0, 1.0, 2.0, 3.0, 4.0]
    far = RecordedReference((0.0, 0.032), (0.0, 1.0), "held", unit="m")
    run = simulate(signals_only(follower("reader", "log.value", period=0.01), Block("log", far), duration=0.08))
    assert [run["reader.value"](t) for t in (0.031, 0.039, 0.041)] == [0.0, 0.0, 1.0]


def test_a_jump_that_only_rounding_tells_from_a_tick_is_seen_there():
    """Ticks count from where a run begins: 0.1 + 2 * 0.1 is one rounding above 0.3, 0.7 + 0.1 below 0.8."""
    first = simulate(signals_only(counter(), duration=0.7))
    for at in (0.3, 0.1 + 0.2, 0.8, 0.7999999999999999):
        step = Block("step", "step_reference", parameters={"after": 1.0, "at": at}, unit="m")
        scenario = signals_only(follower("reader", "step.value"), step, counter(), duration=0.9)
        whole = simulate(scenario)
        assert whole["reader.value"](at + 0.05) == 1.0
        assert whole["reader.value"](at - 0.05) == 0.0
        if at > 0.7:
            assert simulate(scenario, start=first)["reader.value"](at + 0.05) == 1.0


def test_a_held_signal_is_read_at_its_tick_whatever_the_rounding_of_the_time():
    run = simulate(signals_only(counter(period=0.001), duration=1.0))
    times = np.arange(1000) * 0.001
    assert np.array_equal(run["counter.value"](times), np.arange(1000))
    assert np.array_equal(run["counter.value"](times[1:] - 1e-12), np.arange(999))


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
