"""How does the cost of a step grow with the length of a chain of links?"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.findings import Findings, Table, largest_difference, require_agreement
from benchmarks.timing import Prepared, prepare, time_interleaved
from robodyn.computation.assembly import assemble
from robodyn.description.model import ConstraintMethod, Scenario, Solver
from robodyn_studies.catalog import Cable
from robodyn_studies.catalog.cable import cable_machine

# Links are equally long in all chains, so that all can take the same steps.
PITCH, STEP = 0.6, 1e-3
HEUN = Solver("heun", step=STEP)
CONVERGED = Solver("dopri5", rtol=1e-10, atol=1e-12)
GOAL = 2.3
FEW = 10
# Relative to the largest state of the shortest chain: both constraint methods converged, and some of Heun's steps,
# whose error grows; and how far the end is from the wall [m].
SAME_MOTION, FEW_STEPS, CLOSED = 1e-8, 1e-4, 1e-3


@dataclass(frozen=True)
class Size:
    links: tuple[int, ...] = (100, 200, 400, 800)
    steps: int = 200
    rounds: int = 9

    @property
    def duration(self) -> float:
        return self.steps * STEP


SIZES = {"smallest": Size((20, 40), steps=10, rounds=1), "usual": Size()}


def measure(size: Size) -> Findings:
    """Steps of Heun's method on the travelling cable, closed at the wall; and the time until it is ready."""
    ready, lines = {}, []
    for links in size.links:
        ready[links], spent = make_ready(falling_cable(links, size), HEUN)
        lines.append((links, *spent))
    timings = time_interleaved(
        {str(links): partial(chain.run, HEUN, size.duration) for links, chain in ready.items()}, size.rounds
    )
    rows = tuple(
        timings.row(
            f"a step of a closed chain of {2 * links} links beside {links}",
            str(2 * links),
            "us",
            1e6 / size.steps,
            rival=str(links),
            rival_name=f"{links} links",
            goal=GOAL,
        )
        for links in size.links[:-1]
    )
    columns = ("links", "assembly [s]", "compilation [s]")
    table = Table("until a chain is ready", columns, tuple(lines))
    return Findings(rows, (table,), (*check_closed(ready, size), *check_motion(ready[size.links[0]], size)))


def falling_cable(links: int, size: Size) -> Scenario:
    """A cable that falls into its loop from a guess."""
    cable = Cable(links, length=PITCH * links)
    return Scenario(
        f"chain-{links}",
        cable_machine(cable),
        size.duration,
        cable.hanging_angles(),
        initialisation="assembled",
        constraint_method=ConstraintMethod(pole=5.0),
    )


def make_ready(scenario: Scenario, solver: Solver) -> tuple[Prepared, tuple[float, float]]:
    """A chain compiled, and the times to assemble and to compile it [s]."""
    begun = time.perf_counter()
    system = assemble(scenario)
    assembled = time.perf_counter()
    chain = prepare(system, solver, ("constraints.position_error",))
    return chain, (assembled - begun, time.perf_counter() - assembled)


def check_closed(ready: dict[int, Prepared], size: Size) -> list[str]:
    """Every chain stays at the wall; by steps of half the length, for the end of 800 links whips."""
    fine = replace(HEUN, step=STEP / 2)
    instants = np.linspace(0.0, size.duration, 11)
    return [
        require_agreement(
            f"the end of {links} links and the wall",
            float(chain.run(fine, size.duration, instants).y.max()),
            CLOSED,
            "m",
        )
        for links, chain in ready.items()
    ]


def check_motion(chain: Prepared, size: Size) -> list[str]:
    """The chain against one that is projected onto its constraints."""
    scenario = replace(chain.compiled.system.scenario, constraint_method=ConstraintMethod("projection"))
    projected = prepare(assemble(scenario), CONVERGED, ("constraints.position_error",))
    sentences = []
    for what, solver, steps, allowed in (
        (f"converged states after {size.duration:g} s", CONVERGED, size.steps, SAME_MOTION),
        (f"states after {FEW} steps", HEUN, FEW, FEW_STEPS),
    ):
        exact = projected.run(CONVERGED, steps * STEP).x
        difference = largest_difference([(chain.run(solver, steps * STEP).x, exact)])
        sentences.append(require_agreement(f"{what} and those by projection", difference, allowed))
    return sentences
