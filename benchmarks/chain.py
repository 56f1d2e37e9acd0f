"""How does the cost of a step grow with the length of a chain of links?"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from benchmarks.prepared import Prepared, prepare
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import time_interleaved
from robodyn.assembly import assemble
from robodyn.model import ConstraintMethod, Scenario, Solver
from robodyn_studies.catalog import Cable
from robodyn_studies.catalog.cable import cable_machine

LINKS = (100, 200, 400, 800)
# Links are equally long in all chains, so that all can take the same steps.
PITCH, STEP, STEPS = 0.6, 1e-3, 200
ROUNDS = 9
GOAL = 2.3


def measure() -> Findings:
    """Steps of Heun's method on the travelling cable, closed at the wall; and the time until it is ready."""
    solver = Solver("heun", step=STEP)
    ready, lines = {}, []
    for links in LINKS:
        ready[links], spent = make_ready(links, solver)
        lines.append((links, *spent))
    runs = {str(links): partial(chain.run, solver, STEPS * STEP) for links, chain in ready.items()}
    moved = {links: float(np.max(np.abs(run().x))) for links, run in runs.items()}
    timings = time_interleaved(runs, ROUNDS)
    rows = [
        Row(
            f"a step of a closed chain of {2 * links} links beside {links}",
            timings.median(str(2 * links)) / STEPS * 1e6,
            "us",
            f"largest state after {STEPS} steps {moved[str(2 * links)]:.3g}, finite",
            timings.median(str(links)) / STEPS * 1e6,
            f"{links} links",
            timings.ratio(str(2 * links), str(links)),
            GOAL,
            holds=bool(np.isfinite(moved[str(2 * links)])),
        )
        for links in LINKS[:-1]
    ]
    columns = ("links", "assembly [s]", "compilation [s]")
    return Findings(tuple(rows), (Table("until a chain is ready", columns, tuple(lines)),))


def make_ready(links: int, solver: Solver) -> tuple[Prepared, tuple[float, float]]:
    """A cable that falls into its loop from a guess, and the times to assemble and to compile it [s]."""
    cable = Cable(links, length=PITCH * links)
    scenario = Scenario(
        f"chain-{links}",
        cable_machine(cable),
        STEPS * STEP,
        cable.hanging_angles(),
        initialisation="assembled",
        constraint_method=ConstraintMethod(pole=5.0),
    )
    begun = time.perf_counter()
    system = assemble(scenario)
    assembled = time.perf_counter()
    chain = prepare(system, solver, ("constraints.position_error",))
    return chain, (assembled - begun, time.perf_counter() - assembled)
