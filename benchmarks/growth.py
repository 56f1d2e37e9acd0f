"""How does the cost of a robot grow with their number, with links and with threads? Numbers, and a picture of them.

    python -m benchmarks.growth docs/images/growth.png

draws the picture.

Times are of processors, summed over threads, so that other work on the machine hardly counts: where they stay the same
with more threads, these do not hinder each other.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import robodyn as rd
from benchmarks.findings import Findings, Table, largest_difference, require, require_agreement, show
from benchmarks.many import COULOMB, SIGNAL, draw
from benchmarks.scaling import chain
from benchmarks.timing import prepare
from robodyn.computation.simulation.batch import count_cores
from robodyn.description.catalog import two_link_loop

SHORT, STEP = 0.005, 1e-3
REPEATS = 3
ONCE = 3.0
"""Seconds beyond which nothing is repeated."""
AGREEMENT = 1e-12


@dataclass(frozen=True)
class Size:
    robots: tuple[int, ...] = (1, 10, 100, 1000, 10_000, 100_000)
    links: tuple[int, ...] = (6, 12, 25, 50, 100)
    threads: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    runs: int = 400
    arms: int = 64
    steps: int = 20


SIZES = {"smallest": Size((1, 4), (3,), (1, 2), 4, 4, 5), "usual": Size()}


def measure(size: Size) -> Findings:
    """Core time a robot over robots, links and threads."""
    arm = rd.compile_system(rd.assemble(replace(two_link_loop(), duration=SHORT)), signals=(SIGNAL,))
    values = draw(arm.system.scenario, [COULOMB], max(size.robots))[COULOMB]

    def run(count: int, threads: int | None = None) -> np.ndarray:
        kept = {"measures": [f"final:{SIGNAL}"], "threads": threads}
        return rd.simulate_many(arm, {COULOMB: values[:count]}, **kept)[f"final:{SIGNAL}"]

    record = rd.Recording(signals=(SIGNAL,), refine=1)
    single = [rd.simulate(arm, parameters={COULOMB: one}, recording=record)[SIGNAL].final for one in values[:4]]
    agreements = [require("loops among many are bit-equal to single ones", run(4, 2).tolist() == single)]
    lines = [(count, 1e6 * _least(lambda n=count: run(n), time.process_time) / count) for count in size.robots]
    robots = Table(f"two-link loop of {1e3 * SHORT:g} ms", ("robots", "core time a robot, us"), tuple(lines))
    chains = [_chain(count, size) for count in size.links]
    links = Table("free chains, a step of rk4", ("links", "core time a robot, us"), tuple(line for line, _ in chains))
    agreements += [sentence for _, sentence in chains]
    counts = [n for n in size.threads if n <= 2 * count_cores()]
    costs = [(n, 1e6 * _least(lambda k=n: run(size.runs, k), time.process_time) / size.runs) for n in counts]
    threads = Table(f"{size.runs} loops of {1e3 * SHORT:g} ms", ("threads", "core time a robot, us"), tuple(costs))
    return Findings(tables=(robots, links, threads), agreements=tuple(agreements))


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


def _chain(count: int, size: Size) -> tuple[tuple[int, float], str]:
    """A step of one link after the other that turn about axes across each other, the same at once and alone."""
    system = rd.assemble(chain(count, size.steps * STEP))
    rollout = rd.compile_rollout(system, "rk4")
    states = np.random.default_rng(1).uniform(-0.5, 0.5, (size.arms, 2 * count))
    alone = prepare(system, rd.Solver("rk4", step=STEP), ("joint0.position",))
    end = replace(alone, x=states[0]).run(rd.Solver("rk4", step=STEP), size.steps * STEP).x
    difference = largest_difference([(rollout.roll(states, size.steps, STEP)[0], end)])
    sentence = require_agreement(f"a chain of {count} links among many and alone", difference, AGREEMENT)
    seconds = _least(lambda: rollout.roll(states, size.steps, STEP), time.thread_time) / (size.arms * size.steps)
    return (count, 1e6 * seconds), sentence


def draw_tables(tables: tuple[Table, ...], path: Path) -> None:
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
    findings = measure(SIZES["usual"])
    print(show(findings))
    draw_tables(findings.tables, Path(sys.argv[1]))
