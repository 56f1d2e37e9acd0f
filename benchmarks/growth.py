"""How does the cost of a robot grow with their number, with links and with threads? Numbers, and a picture of them.

    python -m benchmarks.growth docs/images/growth.png

Times are of processors, summed over threads, so that other work on the machine hardly counts: where they stay the same
with more threads, these do not hinder each other.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import robodyn as rd
from benchmarks.many import COULOMB, SIGNAL, draw
from benchmarks.rows import Table, align
from robodyn.catalog import two_link_loop
from robodyn.simulation.many import count_cores

ROBOTS = (1, 10, 100, 1000, 10_000, 100_000)
LINKS = (6, 12, 25, 50, 100)
SHORT, RUNS, ARMS, STEPS = 0.005, 400, 64, 20
REPEATS = 3
ONCE = 3.0
"""Seconds beyond which nothing is repeated."""


def measure() -> tuple[Table, Table, Table]:
    """Core time a robot over robots, links and threads."""
    arm = rd.compile_system(rd.assemble(replace(two_link_loop(), duration=SHORT)), signals=(SIGNAL,))
    values = draw(arm.system.scenario, [COULOMB], max(ROBOTS))[COULOMB]

    def run(count: int, threads: int | None = None) -> object:
        return rd.simulate_many(arm, {COULOMB: values[:count]}, measures=[f"max:{SIGNAL}"], threads=threads)

    run(2)
    lines = [(count, 1e6 * _least(lambda n=count: run(n), time.process_time) / count) for count in ROBOTS]
    robots = Table(f"two-link loop of {1e3 * SHORT:g} ms", ("robots", "core time a robot, us"), tuple(lines))
    links = Table("free chains, a step of rk4", ("links", "core time a robot, us"), tuple(map(_chain, LINKS)))
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= 2 * count_cores()]
    costs = [(n, 1e6 * _least(lambda k=n: run(RUNS, k), time.process_time) / RUNS) for n in counts]
    threads = Table(f"{RUNS} loops of {1e3 * SHORT:g} ms", ("threads", "core time a robot, us"), tuple(costs))
    return robots, links, threads


def _least(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Seconds of the fastest of a few repetitions."""
    best = np.inf
    for _ in range(REPEATS):
        begun = clock()
        work()
        best = min(best, clock() - begun)
        if best > ONCE:
            break
    return float(best)


def _chain(count: int) -> tuple[int, float]:
    """A step of one link after the other that turn about axes across each other."""
    names = [f"link{k}" for k in range(count)]
    bodies = tuple(rd.Body(name, 1.0, com=(0.1, 0.0, 0.0), inertia=(1e-3, 4e-3, 4e-3)) for name in names)
    joints = tuple(
        rd.Joint(f"joint{k}", "revolute", names[k - 1] if k else "ground", names[k],
                 origin=(0.2 if k else 0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0) if k % 2 else (0.0, 0.0, 1.0))
        for k in range(count)
    )  # fmt: skip
    machine = rd.Machine("chain", rd.Mechanism("chain", bodies, joints))
    rollout = rd.compile_rollout(rd.assemble(rd.Scenario("chain", machine, duration=1.0)), "rk4")
    states = np.random.default_rng(1).uniform(-0.5, 0.5, (ARMS, 2 * count))
    four = _least(lambda: rollout.roll(states, STEPS, 1e-3), time.thread_time) / (ARMS * STEPS)
    return count, 1e6 * four


def draw_tables(tables: tuple[Table, Table, Table], path: Path) -> None:
    """Three panels, logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for panel, table in zip(axes, tables, strict=True):
        columns = list(zip(*table.lines, strict=True))
        for name, values in zip(table.columns[1:], columns[1:], strict=True):
            panel.loglog(columns[0], values, "o-", label=name)
        panel.set(xlabel=table.columns[0], title=table.title)
        panel.grid(True, which="both", alpha=0.3)
        panel.legend(fontsize="small")
        panel.set_ylim(0.5 * min(columns[1]), 2.0 * max(columns[1]))
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter("")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    found = measure()
    for each in found:
        print(f"\n{each.title}\n{align(each.columns, each.cells())}")
    if len(sys.argv) > 1:
        draw_tables(found, Path(sys.argv[1]))
