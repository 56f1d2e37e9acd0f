"""Several runs in threads at once, without the interpreter's lock, give the bits of each alone."""

import threading

import numpy as np
import pytest

import robodyn as rd
from robodyn.computation.engine import EngineRecording, integrate
from robodyn.computation.simulation.problem import build_problem
from robodyn.computation.simulation.starting import find_start
from robodyn.description.catalog import two_link_loop
from robodyn_studies.catalog.scara_avoid import scara_avoid

THREADS = 4


def together(call):
    """Results of call(k) for all k, begun at the same time in threads of their own."""
    barrier, results = threading.Barrier(THREADS), [None] * THREADS

    def work(k):
        barrier.wait()
        results[k] = call(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


@pytest.mark.parametrize(
    ("make", "number", "solver"),
    [
        (two_link_loop, "shoulder.friction.coulomb", rd.Solver("rodas4", rtol=1e-7)),
        (scara_avoid, "shoulder.motor.resistance", rd.Solver("dopri5", rtol=1e-9)),
    ],
)
def test_runs_in_threads_are_those_one_by_one(make, number, solver):
    compiled = rd.compile_system(rd.assemble(make()), solver)
    value = next(p.value for p in compiled.system.parameters if p.name == number)

    def run(k):
        return rd.simulate(compiled, solver, parameters={number: value * (1 + 0.01 * k)})

    alone = [run(k) for k in range(THREADS)]
    for one, other in zip(alone, together(run), strict=True):
        assert np.array_equal(one.time, other.time)
        assert np.array_equal(one.values, other.values, equal_nan=True)
        assert one.events == other.events
    assert not np.array_equal(alone[0].values, alone[1].values)


def test_other_threads_go_on_while_the_engine_computes():
    """One long call of the engine leaves the interpreter to others: with its lock held, nobody would count."""
    solver = rd.Solver("rk4", step=1e-5)
    compiled = rd.compile_system(rd.assemble(two_link_loop()), solver)
    begin = find_start(compiled, compiled.system.described_values)
    p = compiled.module.prepare(compiled.system.described_values)
    numbers = {name: number.value for name, number in compiled.system.numbers.items()}
    problem = build_problem(compiled, p, numbers, begin)
    options = {"recording": EngineRecording(kind="none"), "budget": 10**12}
    worker = threading.Thread(target=integrate, args=(problem, solver, 0.0, 2.0, begin.x, begin.m, p), kwargs=options)
    worker.start()
    count = 0
    while worker.is_alive():
        count += 1
    # 200,000 steps are many times what these few turns of a loop take.
    assert count > 1000
