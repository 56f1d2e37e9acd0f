"""Do tasks that run as one function give the same run, to the last digit?"""

import numpy as np
import pytest
from support.machines import signals_only

from robodyn import Block, assemble, simulate
from robodyn.catalog.two_link import two_link_loop
from robodyn.simulation import fusion
from robodyn.simulation.fusion import fuse_tasks


def counter(count, *, factor):
    """Memory that grows."""
    return {"count_next": count + factor, "value": 0.1 * count * factor}


def follower(value, *, factor):
    """A product of what another task wrote, which must be rounded before it is added to."""
    return {"value": value * factor + value}


def sampled(name, law, period, offset=0.0, delay=0.0, native=True, **fields):
    hold = {"hold": {"value": 0.0}} if not native else {}
    timing = {"period": period, "offset": offset, "delay": delay, "native": native}
    return Block(name, law, parameters={"factor": 0.3}, **timing, **hold, **fields)


def three_rates(**fields):
    return signals_only(
        sampled("fast", counter, 1e-3, memory={"count": 0.0}),
        sampled("late", follower, 2e-3, offset=1e-3, inputs={"value": "fast.value"}),
        sampled("slow", follower, 3e-3, delay=1e-3, inputs={"value": "late.value"}, **fields),
        duration=0.1,
    )


@pytest.mark.parametrize("make", [three_rates, lambda: two_link_loop(0.3)])
def test_a_run_is_the_same_with_tasks_one_by_one(make, monkeypatch):
    scenario = make()
    together = simulate(scenario)
    monkeypatch.setattr(fusion, "LONGEST", 0)
    one_by_one = simulate(scenario)
    assert np.array_equal(together.time, one_by_one.time)
    assert np.array_equal(together.values, one_by_one.values)


def test_there_is_one_function_for_each_set_that_is_due_together():
    fused = fuse_tasks(assemble(three_rates()))
    # Six ticks until all repeats; at 0 fast and slow, at 1 fast, late and what slow gave, at 2 fast alone, ...
    assert [task.offset for task in fused.tasks] == [0, 1, 2, 3, 4, 5]
    assert [len(fused.functions[task.function].functions) for task in fused.tasks] == [2, 3, 1, 3, 2, 2]


def test_tasks_in_python_stay_as_they_are():
    system = assemble(three_rates(native=False))
    assert fuse_tasks(system).tasks == system.tasks


def test_outputs_later_than_a_period_stay_as_they_are():
    scenario = signals_only(
        sampled("fast", counter, 1e-3, memory={"count": 0.0}),
        sampled("slow", follower, 2e-3, delay=5e-3, inputs={"value": "fast.value"}),
        duration=0.1,
    )
    system = assemble(scenario)
    assert fuse_tasks(system).tasks == system.tasks
