"""How many robots are simulated a second where only numbers differ, and what does a run cost beside the engine?

The old way is `simulate` run after run of one compiled system. Both ways do the same in one process, one right after
the other; results are compared bit by bit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import robodyn as rd
from benchmarks.agreement import Disagreement
from benchmarks.rows import Findings, Row
from robodyn.catalog import two_link_loop
from robodyn.engine import binding
from robodyn.model import Scenario
from robodyn.simulation import CompiledSystem
from robodyn.simulation.many import count_cores
from robodyn_studies.catalog import rx90_weld

RUNS, ALL_RUNS, WELDS, ALL_WELDS, SHORT_RUNS = 400, 10_000, 32, 1000, 1000
FRICTION = ("friction.coulomb", "friction.coulomb_back", "friction.viscous")
SPREAD = 0.2
SIGNAL, COULOMB = "shoulder.position", "shoulder.friction.coulomb"


def measure(full: bool = False) -> Findings:
    """The two-link loop and a weld, and the time beside the engine of runs that hardly last."""
    arm = rd.compile_system(rd.assemble(replace(two_link_loop(), duration=0.2)), signals=(SIGNAL,))
    return Findings((_measure_loop(arm, ALL_RUNS if full else RUNS), _measure_beside(), _measure_weld(full)))


def draw(scenario: Scenario, names: list[str], runs: int) -> dict[str, np.ndarray]:
    random, known = np.random.default_rng(1), scenario.numbers()
    return {name: known[name].value * np.exp(SPREAD * random.standard_normal(runs)) for name in names}


def _measure_loop(arm: CompiledSystem, runs: int) -> Row:
    values = draw(arm.system.scenario, [COULOMB], runs)
    record, few = rd.Recording(signals=(SIGNAL,), refine=1), min(runs, RUNS // 4)
    # In lanes, as 10,000 runs are by themselves.
    many = partial(rd.simulate_many, arm, measures=[f"final:{SIGNAL}"], lanes=True)
    many({COULOMB: values[COULOMB][:2]})
    begun, spent = time.perf_counter(), time.process_time()
    table = many(values)
    ours, spent = (time.perf_counter() - begun) / runs, (time.process_time() - spent) / runs
    begun = time.perf_counter()
    single = [rd.simulate(arm, parameters={COULOMB: one}, recording=record) for one in values[COULOMB][:few]]
    rival = (time.perf_counter() - begun) / few
    if table[f"final:{SIGNAL}"][:few].tolist() != [run[SIGNAL].final for run in single]:
        raise Disagreement("runs at once are not those one by one")
    return Row(
        f"two-link loop, {ALL_RUNS} runs of 0.2 s",
        ours * ALL_RUNS,
        "s",
        f"from {runs} runs on {count_cores()} cores, {1e3 * spent:.3g} ms of a core each; the first {few} bit-equal "
        f"to single ones, {ours / rival:.2g} of their time",
        goal=2.0,
    )


def _measure_beside() -> Row:
    """Runs of four ticks in one thread: processor time less what the engine took."""
    arm = rd.compile_system(rd.assemble(replace(two_link_loop(), duration=0.0008)), signals=(SIGNAL,))
    values = draw(arm.system.scenario, [COULOMB], SHORT_RUNS)
    best = {"many": np.inf, "simulate": np.inf}
    with _engine_time() as spent:
        for _ in range(5):
            begun, before = time.thread_time(), spent[0]
            rd.simulate_many(arm, values, measures=[f"max:{SIGNAL}"], threads=1)
            best["many"] = min(best["many"], (time.thread_time() - begun - spent[0] + before) / SHORT_RUNS)
            begun, before = time.thread_time(), spent[0]
            for one in values[COULOMB][:100]:
                rd.simulate(arm, parameters={COULOMB: one})
            best["simulate"] = min(best["simulate"], (time.thread_time() - begun - spent[0] + before) / 100)
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


def _measure_weld(full: bool) -> Row:
    """In lanes, beside a run of `simulate`; the goal is of the wall clock, which other work on the machine slows."""
    scenario, runs = rx90_weld(), ALL_WELDS if full else WELDS
    measures = ["max:deviation.horizontal"]
    compiled = rd.compile_system(rd.assemble(scenario), signals=("deviation.horizontal",))
    names = [number.name for number in compiled.system.parameters if number.name.endswith(FRICTION)]
    values, record = draw(scenario, names, runs), rd.Recording(rate=1000.0, signals=("deviation.horizontal",))
    many = partial(rd.simulate_many, compiled, measures=measures, record=record, lanes=True)
    many({name: one[:4] for name, one in values.items()})
    begun, spent = time.perf_counter(), time.process_time()
    table = many(values)
    spent, simulated = time.process_time() - spent, float(table.end_time.sum())
    rate = simulated / (time.perf_counter() - begun)
    begun = time.process_time()
    run = rd.simulate(compiled, parameters={name: one[0] for name, one in values.items()}, recording=record)
    alone = (time.process_time() - begun) / scenario.duration
    if not np.array_equal(table.curves.values["deviation.horizontal"][0], run["deviation.horizontal"].values):
        raise Disagreement("a weld among many is not the single one")
    return Row(
        f"RX90B weld, {runs} runs with {len(names)} numbers of friction drawn",
        1e3 / rate,
        "ms/s",
        f"{rate:.0f} robots x seconds per second on {count_cores()} cores, {1e3 * spent / simulated:.3g} ms of a core "
        f"for each ({1e3 * alone:.3g} alone), {int(table.done.sum())} carried through, the first bit-equal",
        goal=1.0,
    )
