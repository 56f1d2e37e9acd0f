"""How many robots are simulated a second where only numbers differ, and what does a run cost beside the engine?

The old way is `simulate` run after run of one compiled system. Both ways do the same in one process, one right after
the other; results are compared bit by bit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

import robodyn as rd
from benchmarks.findings import Findings, Row, require
from benchmarks.rx90 import WHOLE, assembled, shorten
from robodyn.computation.engine import binding
from robodyn.computation.simulation import CompiledSystem
from robodyn.computation.simulation.batch import count_cores
from robodyn.description.catalog import two_link_loop
from robodyn.description.model import Scenario

ALL_RUNS = 10_000
FRICTION = ("friction.coulomb", "friction.coulomb_back", "friction.viscous")
SPREAD = 0.2
SIGNAL, COULOMB = "shoulder.position", "shoulder.friction.coulomb"
DEVIATION = "deviation.horizontal"


@dataclass(frozen=True)
class Size:
    """Numbers of runs, and the duration of a weld [s]."""

    runs: int = 400
    singles: int = 100
    short_runs: int = 1000
    welds: int = 32
    weld: float = WHOLE
    rounds: int = 5


SIZES = {
    "smallest": Size(runs=8, singles=4, short_runs=8, welds=4, weld=0.35, rounds=1),
    "usual": Size(),
    "full": Size(runs=ALL_RUNS, welds=1000),
}


def measure(size: Size) -> Findings:
    """The two-link loop and a weld, and the time beside the engine of runs that hardly last."""
    arm = rd.compile_system(rd.assemble(replace(two_link_loop(), duration=0.2)), signals=(SIGNAL,))
    loop, equal_loops = _measure_loop(arm, size)
    weld, equal_welds = _measure_weld(size)
    return Findings((loop, _measure_beside(shorten(arm, 0.0008), size), weld), agreements=(equal_loops, equal_welds))


def draw(scenario: Scenario, names: list[str], runs: int) -> dict[str, np.ndarray]:
    random, known = np.random.default_rng(1), scenario.numbers()
    return {name: known[name].value * np.exp(SPREAD * random.standard_normal(runs)) for name in names}


def _measure_loop(arm: CompiledSystem, size: Size) -> tuple[Row, str]:
    runs, few = size.runs, size.singles
    values = draw(arm.system.scenario, [COULOMB], runs)
    record = rd.Recording(signals=(SIGNAL,), refine=1)
    # In lanes, as 10,000 runs are by themselves.
    many = partial(rd.simulate_many, arm, measures=[f"final:{SIGNAL}"], lanes=True)
    many({COULOMB: values[COULOMB][:2]})
    begun, spent = time.perf_counter(), time.process_time()
    table = many(values)
    ours, spent = (time.perf_counter() - begun) / runs, (time.process_time() - spent) / runs
    begun = time.perf_counter()
    single = [rd.simulate(arm, parameters={COULOMB: one}, recording=record) for one in values[COULOMB][:few]]
    rival = (time.perf_counter() - begun) / few
    equal = table[f"final:{SIGNAL}"][:few].tolist() == [run[SIGNAL].final for run in single]
    row = Row(
        f"two-link loop, {ALL_RUNS} runs of 0.2 s",
        ours * ALL_RUNS,
        "s",
        f"from {runs} runs on {count_cores()} cores, {1e3 * spent:.3g} ms of a core each, {ours / rival:.2g} of the "
        f"time of single ones",
        goal=2.0,
    )
    return row, require(f"the first {few} of {runs} two-link loops are bit-equal to single ones", equal)


def _measure_beside(arm: CompiledSystem, size: Size) -> Row:
    """Runs of four ticks in one thread: processor time less what the engine took."""
    values = draw(arm.system.scenario, [COULOMB], size.short_runs)
    best = {"many": np.inf, "simulate": np.inf}
    with _engine_time() as spent:
        for _ in range(size.rounds):
            begun, before = time.thread_time(), spent[0]
            rd.simulate_many(arm, values, measures=[f"peak:{SIGNAL}"], threads=1)
            best["many"] = min(best["many"], (time.thread_time() - begun - spent[0] + before) / size.short_runs)
            begun, before = time.thread_time(), spent[0]
            for one in values[COULOMB][: size.singles]:
                rd.simulate(arm, parameters={COULOMB: one})
            best["simulate"] = min(best["simulate"], (time.thread_time() - begun - spent[0] + before) / size.singles)
    said = f"one call of simulate takes {1e6 * best['simulate']:.0f} us beside the engine (goal 300)"
    return Row("beside the engine, a run of simulate_many", 1e6 * best["many"], "us", said, goal=30.0)


@contextmanager
def _engine_time() -> Iterator[list[float]]:
    """Processor time of this thread within the engine, summed up."""
    library: Any = binding.functions()
    advance, spent = library.run_advance, [0.0]

    def timed(address: int) -> int:
        begun = time.thread_time()
        reason: int = advance(address)
        spent[0] += time.thread_time() - begun
        return reason

    library.run_advance = timed
    try:
        yield spent
    finally:
        library.run_advance = advance


@cache
def compiled_weld() -> CompiledSystem:
    """The weld with one signal, for the catalogue's solver."""
    return rd.compile_system(assembled(), signals=(DEVIATION,))


def draw_friction(runs: int) -> dict[str, np.ndarray]:
    """Coulomb and viscous friction of the weld's seven places."""
    system = compiled_weld().system
    names = [number.name for number in system.parameters if number.name.endswith(FRICTION)]
    return draw(system.scenario, names, runs)


def _measure_weld(size: Size) -> tuple[Row, str]:
    """In lanes, beside a run of `simulate`; the goal is of the wall clock, which other work on the machine slows."""
    compiled, runs = shorten(compiled_weld(), size.weld), size.welds
    values, record = draw_friction(runs), rd.Recording(rate=1000.0, signals=(DEVIATION,))
    many = partial(rd.simulate_many, compiled, measures=[f"peak:{DEVIATION}"], record=record, lanes=True)
    many({name: one[:4] for name, one in values.items()})
    begun, spent = time.perf_counter(), time.process_time()
    table = many(values)
    spent, simulated = time.process_time() - spent, float(table.end_time.sum())
    rate = simulated / (time.perf_counter() - begun)
    begun = time.process_time()
    run = rd.simulate(compiled, parameters={name: one[0] for name, one in values.items()}, recording=record)
    alone = (time.process_time() - begun) / size.weld
    equal = np.array_equal(table.curves.values[DEVIATION][0], run[DEVIATION].values)
    row = Row(
        f"RX90B weld, {runs} runs with {len(values)} numbers of friction drawn",
        1e3 / rate,
        "ms/s",
        f"{rate:.0f} robots x seconds per second on {count_cores()} cores, {1e3 * spent / simulated:.3g} ms of a core "
        f"for each ({1e3 * alone:.3g} alone)",
        goal=1.0,
    )
    whole = equal and int(table.done.sum()) == runs
    return row, require(f"all of {runs} welds are carried through and the first is bit-equal to a single one", whole)
