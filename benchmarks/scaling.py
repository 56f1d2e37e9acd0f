"""How do the cost of a step and the time until it can be taken grow with links, loops, contacts and blocks?

    python -m benchmarks.scaling docs/images/scaling.png docs/benchmarks.md

draws the picture and writes the numbers into the page, between two marks. Times are of the processor, so that other
work on the machine counts for little. Slopes are those of straight lines in logarithmic axes over the larger half of
the sizes: 1 where twice the parts take twice the time.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import robodyn as rd
from benchmarks.findings import Findings, Row, Table, largest_difference, require_agreement, show, write_between
from benchmarks.timing import Prepared, prepare
from robodyn.computation.dynamics import inverse_dynamics
from robodyn.description.catalog import four_bars
from robodyn.description.model import GROUND, Ball, Contact, Plane, Solver

STEP, GOAL = 1e-4, 1.1
HEUN = Solver("heun", step=STEP)
ENOUGH = 0.3
"""Seconds of steps that are measured, at least once and at most REPEATS times."""
REPEATS = 9
AGREEMENT = 1e-9


@dataclass(frozen=True)
class Size:
    links: tuple[int, ...] = (10, 32, 100, 320, 1000)
    loops: tuple[int, ...] = (4, 10, 32, 100, 320)
    contacts: tuple[int, ...] = (4, 10, 32, 100, 320)
    blocks: tuple[int, ...] = (10, 32, 100, 320, 1000)
    steps: int = 20


SIZES = {"smallest": Size((3, 6), (2, 3), (2, 4), (2, 4), 3), "usual": Size()}


def measure(size: Size) -> Findings:
    """Steps of Heun's method, and processor time of tracing and compiling without a cache, of growing machines."""
    families: dict[str, Family] = {
        "links": (chain, check_chain),
        "loops": (four_bar_row, check_alike("foot", 1)),
        "contacts": (balls, check_alike("fall", 1)),
        "blocks": (filters, check_filters),
    }
    rows, tables, agreements = [], [], []
    for name, (describe, check) in families.items():
        lines = []
        for count in getattr(size, name):
            ready, seconds = make_ready(describe(count, size.steps * STEP))
            lines.append((count, 1e6 * time_steps(ready, size.steps), seconds))
            difference = check(ready, size.steps)
        agreements.append(require_agreement(f"{count} {name} and what is known of them", difference, AGREEMENT))
        table = Table(f"growth over {name}", (name, "a step [us]", "until it is ready [s]"), tuple(lines))
        tables.append(table)
        rows += [
            Row(f"{what} over {name}: slope", find_slope(table, column), "", goal=GOAL)
            for column, what in enumerate(("a step", "assembly and compilation"), start=1)
        ]
    return Findings(tuple(rows), tuple(tables), tuple(agreements))


def make_ready(scenario: rd.Scenario) -> tuple[Prepared, float]:
    """A scenario ready to be run, and the processor time that took [s]: with a cache of its own, which is empty."""
    before = os.environ.get("ROBODYN_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ROBODYN_CACHE"] = folder
        try:
            begun = time.process_time()
            ready = prepare(rd.assemble(scenario), HEUN, ())
            return ready, time.process_time() - begun
        finally:
            del os.environ["ROBODYN_CACHE"]
            if before is not None:
                os.environ["ROBODYN_CACHE"] = before


def time_steps(ready: Prepared, steps: int) -> float:
    """Processor time of a step [s], the least of some repetitions."""
    ready.run(HEUN, steps * STEP)
    best, spent = np.inf, 0.0
    for _ in range(REPEATS):
        begun = time.thread_time()
        ready.run(HEUN, steps * STEP)
        seconds = time.thread_time() - begun
        best, spent = min(best, seconds), spent + seconds
        if spent > ENOUGH:
            break
    return float(best) / steps


def find_slope(table: Table, column: int) -> float:
    """Slope of the straight line through the larger half of the sizes, in logarithmic axes."""
    half = table.lines[len(table.lines) // 2 :] if len(table.lines) > 2 else table.lines
    sizes, values = (np.log([line[k] for line in half]) for k in (0, column))
    return float(np.polyfit(sizes, values, 1)[0])


# ---------------------------------------------------------------------------------------------------------------- links


Check = Callable[[Prepared, int], float]
Family = tuple[Callable[[int, float], rd.Scenario], Check]


def chain(count: int, duration: float) -> rd.Scenario:
    """One link after the other, which turn about axes across each other."""
    names = [f"link{k}" for k in range(count)]
    bodies = tuple(rd.Body(name, 1.0, com=(0.1, 0.0, 0.0), inertia=(1e-3, 4e-3, 4e-3)) for name in names)
    joints = tuple(
        rd.Joint(f"joint{k}", "revolute", names[k - 1] if k else "ground", names[k],
                 origin=(0.2 if k else 0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0) if k % 2 else (0.0, 0.0, 1.0))
        for k in range(count)
    )  # fmt: skip
    return rd.Scenario("chain", rd.Machine("chain", rd.Mechanism("chain", bodies, joints)), duration=duration)


def check_chain(ready: Prepared, steps: int) -> float:
    """Torques that the accelerations of bent links need, by the recursion of Newton and Euler, beside those of the
    same links held: there are none."""
    system = ready.compiled.system
    assert system.motion.mechanics is not None
    tree, n = system.motion.mechanics.tree, system.motion.n_v
    x = np.zeros(2 * n)
    x[:n] = np.random.default_rng(1).uniform(-0.1, 0.1, n)
    rates = ready.compiled.module.kernels["rhs"](np.zeros(1), x, np.zeros(0), ready.m, ready.p)
    needed, held = (np.array(inverse_dynamics(tree, x[:n], x[n:], a), float) for a in (rates[n : 2 * n], np.zeros(n)))
    return largest_difference([(needed + held, held)])


# -------------------------------------------------------------------------------------- loops, contacts, blocks: alike


def four_bar_row(count: int, duration: float) -> rd.Scenario:
    """Four-bar linkages in a row, each of which shares an upright with the next."""
    return four_bars(count, duration, rd.ConstraintMethod(pole=5.0))


def balls(count: int, duration: float) -> rd.Scenario:
    """Balls that fall on a floor, each along an axis of its own, and begin in it."""
    bodies = tuple(rd.Body(f"ball{k}", 1.0) for k in range(count))
    joints = tuple(
        rd.Joint(f"fall{k}", "prismatic", GROUND, f"ball{k}", origin=(0.3 * k, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        for k in range(count)
    )
    points = (rd.Point("floor", GROUND), *(rd.Point(f"centre{k}", f"ball{k}") for k in range(count)))
    springs = {"stiffness": 1e4, "damping": 10.0}
    contacts = tuple(
        Contact(f"touch{k}", Ball(f"centre{k}", 0.1), Plane("floor"), "kelvin_voigt", springs) for k in range(count)
    )
    machine = rd.Machine("balls", rd.Mechanism("balls", bodies, joints, points), contacts=contacts)
    return rd.Scenario("balls", machine, duration, {f"fall{k}.position": 0.0999 for k in range(count)})


def check_alike(name: str, least: int) -> Check:
    """The difference between joints of one kind, which all move alike."""

    def check(ready: Prepared, steps: int) -> float:
        states = ready.compiled.system.name_states(ready.run(HEUN, steps * STEP).x)
        values = np.array([value for state, value in states.items() if state.startswith(name) and "velocity" in state])
        assert len(values) > least
        assert np.abs(values).min() > 0.0
        return largest_difference([(values, np.full_like(values, values[0]))])

    return check


def filters(count: int, duration: float) -> rd.Scenario:
    """First-order filters one after the other, behind a constant."""
    blocks = [rd.Block("source", "constant_reference", parameters={"constant": 1.0})]
    for k in range(count):
        signal = f"filter{k - 1}.output" if k else "source.value"
        blocks.append(rd.Block(f"filter{k}", "low_pass", inputs={"value": signal}, parameters={"time_constant": 0.01}))
    return rd.Scenario("filters", rd.Machine("filters", blocks=tuple(blocks)), duration)


def check_filters(ready: Prepared, steps: int) -> float:
    """The first filter beside its exact solution for Heun's method, 1 - (1 - z + z^2 / 2)^n with z = h / T."""
    states = ready.compiled.system.name_states(ready.run(HEUN, steps * STEP).x)
    z = STEP / 0.01
    return abs(states["filter0.filtered"] - (1.0 - (1.0 - z + z * z / 2.0) ** steps))


# -------------------------------------------------------------------------------------------------------------- picture


def draw_tables(tables: tuple[Table, ...], path: Path) -> None:
    """The cost of a step and the time until it can be taken, both over the number of parts."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for column, panel in enumerate(axes, start=1):
        for table in tables:
            counts, values = zip(*((line[0], line[column]) for line in table.lines), strict=True)
            panel.loglog(counts, values, "o-", label=f"{table.columns[0]}, slope {find_slope(table, column):.2f}")
        panel.set(xlabel="number of parts", title=tables[0].columns[column])
        panel.grid(True, which="both", alpha=0.3)
        panel.legend(fontsize="small")
    figure.savefig(path, dpi=110)


def write_numbers(findings: Findings, page: Path) -> None:
    """One table of all, in the place of what stands between the marks of a page."""
    lines = ["| parts | number | a step | until it is ready |", "| --- | --- | --- | --- |"]
    for table in findings.tables:
        lines += [f"| {table.columns[0]} | {count} | {us:.3g} us | {s:.3g} s |" for count, us, s in table.lines]
        step, ready = (find_slope(table, column) for column in (1, 2))
        lines.append(f"| | slope of the last three | {step:.2f} | {ready:.2f} |")
    write_between(page, "benchmarks.scaling", "\n".join(lines))


if __name__ == "__main__":
    findings = measure(SIZES["usual"])
    print(show(findings), flush=True)
    draw_tables(findings.tables, Path(sys.argv[1]))
    write_numbers(findings, Path(sys.argv[2]))
