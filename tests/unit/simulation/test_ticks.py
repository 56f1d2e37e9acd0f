"""Sampled work done at once is the sampled work done one by one."""

import dataclasses

import numpy as np
import pytest

from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import compile_system, run_functions, simulate
from robodyn.computation.simulation.run_functions import ONCE, plan_ticks
from robodyn.description.catalog.two_link import two_link_loop
from robodyn.description.model import Event, Recording, Solver

RECORDING = Recording(rate=500.0, signals=("*.position", "*.torque_command"))


def delayed_loop(delay):
    """The two-link arm whose velocity loops take a while to compute."""
    scenario = two_link_loop(0.3)
    blocks = [
        dataclasses.replace(block, delay=delay) if block.name.endswith("velocity_loop") else block
        for block in scenario.machine.blocks
    ]
    machine = dataclasses.replace(scenario.machine, blocks=tuple(blocks))
    return dataclasses.replace(scenario, machine=machine, recording=RECORDING)


def run_of(scenario, method="rk4", **settings):
    return simulate(compile_system(assemble(scenario), Solver(method, **settings)), Solver(method, **settings))


@pytest.mark.parametrize("delay", [0.0, 0.25e-3, 0.6e-3])
def test_tasks_run_together_do_what_tasks_run_in_turn_do(delay, monkeypatch):
    scenario = delayed_loop(delay)
    together = run_of(scenario, step=50e-6)
    monkeypatch.setattr(run_functions, "MOST_FUNCTIONS", 0)
    in_turn = run_of(scenario, step=50e-6)
    for name in together.names:
        # Products and sums of two tasks may become one multiply-add: last digits differ.
        assert together[name].values == pytest.approx(in_turn[name].values, rel=1e-9, abs=1e-11), name


def test_ticks_passed_on_the_way_give_the_bits_of_whole_instants():
    """An event that never happens makes every tick an instant with all its parts."""
    plain = delayed_loop(0.0)
    event = Event("never", lambda elbow: elbow - 100.0, {"elbow": "elbow.position"})
    watched = dataclasses.replace(plain, events=(event,))
    first, second = run_of(plain, step=50e-6), run_of(watched, step=50e-6)
    for name in first.names:
        assert np.array_equal(first[name].values, second[name].values), name


def test_there_is_one_function_for_each_set_of_tasks():
    schedule, functions = plan_ticks(assemble(delayed_loop(0.0)))
    assert set(functions) == {"tick_0", "tick_1"}
    assert [(tick.function, tick.period, tick.offset) for tick in schedule] == [
        ("tick_0", 4, 0), ("tick_1", 4, 1), ("tick_1", 4, 2), ("tick_1", 4, 3),
    ]  # fmt: skip


def test_outputs_that_arrive_later_make_the_first_ticks_their_own():
    schedule, _ = plan_ticks(assemble(delayed_loop(0.25e-3)))
    assert [tick.period for tick in schedule] == [ONCE] * 4 + [4] * 4
    assert schedule[0].function != schedule[4].function
