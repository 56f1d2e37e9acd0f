"""Error estimate by a second solution: how far may a run be off? Another, tighter method is compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from robodyn.computation.assembly import System
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.results import Run, compare_solutions
from robodyn.computation.simulation.compiled import Phases
from robodyn.description.model import ConstraintMethod, Recording, Scenario, ScenarioSequence, Solver

TIGHTER, TIGHTEST = 1e-2, (1e-10, 1e-12)
"""How much tighter the second solution is, and the tightest tolerances that arithmetic can hope for."""
FIXED_TOLERANCES = (1e-8, 1e-10)
"""Tolerances of the second solution of a run in fixed steps."""
LONGEST_PART = (5.0**0.5 - 1.0) / 20.0
"""Longest step of the second solution as part of the run: other steps than the first, on purpose, and no multiple of
them. Where the motion is a polynomial, both would otherwise grow their steps over the same things."""
FINER = 4.0
"""How much finer its steps are where its method must stay the same."""

Target = Scenario | ScenarioSequence | System | Phases
Simulate = Callable[[Target, Solver, Recording], Run]


def add_errors(run: Run, what: Target, solver: Solver, signals: tuple[str, ...], simulate: Simulate) -> Run:
    """A run with the errors that a second solution shows; one that was not carried through stays as it is.

    Args:
        signals: patterns of those recorded; simulate: makes the second run.
    """
    if not run.outcome.carried_through:
        return run
    # What is no longer as its scenario describes it keeps its constraints as it does.
    changed = isinstance(what, System) and bool(what.motion.momenta or what.motion.terms or what.inputs)
    second = other_solver(solver, retreated=not changed)
    span = float(run.time[-1] - run.time[0])
    if second.adaptive and span > 0:
        second = dataclasses.replace(second, max_step=min(second.max_step, LONGEST_PART * span))
    # Where the first has rows, the second has them too: nothing is interpolated.
    times = None if isinstance(what, (ScenarioSequence, Phases)) else tuple(np.unique(run.time))
    found = simulate(what if changed else _treat_otherwise(what), second, Recording(signals=signals, times=times))
    against = f"{second.method} at rtol {second.rtol:g}" if second.adaptive else f"{second.method} in finer steps"
    if not found.outcome.ok:
        against = f"{against}, which {found.outcome.sentence}"
    return dataclasses.replace(run, errors=compare_solutions(run, found, against))


def other_solver(solver: Solver, retreated: bool = True) -> Solver:
    """A method of another kind with tighter tolerances; stiff, so that it can follow whatever the first could.

    Args:
        retreated: whether constraints may be kept another way; a method with them in its steps otherwise stays.
    """
    if solver.implicit_step and not retreated:
        return dataclasses.replace(solver, step=(solver.step or DEFAULT_FIXED_STEP) / FINER)
    rtol, atol = FIXED_TOLERANCES
    if solver.adaptive:
        rtol, atol = (
            max(TIGHTER * own, least) for own, least in zip((solver.rtol, solver.atol), TIGHTEST, strict=True)
        )
    method = "rodas4p" if solver.method == "rodas4" else "rodas4"
    return Solver(method, rtol=rtol, atol=atol, max_wall_time=solver.max_wall_time)


def _treat_otherwise(what: Target) -> Target:
    """Constraints kept another way; without any, what was traced before serves again."""
    if isinstance(what, Phases):
        constrained = any(phase.scenario.machine.all_constraints for phase in what.systems)
        return _treat_otherwise(what.sequence) if constrained else what
    if isinstance(what, System):
        return _treat_scenario(what.scenario) if what.scenario.machine.all_constraints else what
    if isinstance(what, ScenarioSequence):
        return dataclasses.replace(what, phases=tuple(_treat_scenario(phase) for phase in what.phases))
    return _treat_scenario(what)


def _treat_scenario(scenario: Scenario) -> Scenario:
    if not scenario.machine.all_constraints:
        return scenario
    other = "baumgarte" if scenario.constraint_method.method == "projection" else "projection"
    return dataclasses.replace(scenario, constraint_method=ConstraintMethod(other))
