"""Certificate of a run: what must hold, and does it? Checks of a trajectory, from what the engine watched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from robodyn.assembly import System
from robodyn.assembly.invariants import Invariant, Watched
from robodyn.engine import Trajectory
from robodyn.model import PrescribedMotion, Solver
from robodyn.results import Certificate, Check, Outcome, OutcomeKind, Probes, Run, interpolation_errors
from robodyn.results.probing import Rows
from robodyn.simulation.compiled import CompiledSystem

ENERGY, RESIDUALS = "energy balance", ("constraints, positions", "constraints, velocities")
BETWEEN, BETWEEN_LIMIT, BETWEEN_SHARE = "signals between rows", 0.05, 0.95
"""Error of signals between rows as part of their size, beyond that of the solution, and part of the probes that must
stay below it, since some lie where a signal jumps; this project's own choices."""
STILL_ENERGY = 1e-9
"""Part of the potential energy below which energy that moved is rounding."""
LARGEST_ENERGY, SMALLEST_ENERGY, OF_TOLERANCE = 0.05, 1e-3, 1e3
"""Energy that may appear or vanish, as part of what moved: in fixed steps, in adaptive ones at the least, and times the
relative tolerance."""
OF_DISTANCE = 10.0
"""Energy that may appear or vanish in any case, by the sum of all torques and the absolute tolerance: steps add up."""
STILL_POWER = 1e-3
"""Power, as part of the energy that moved in a run's time, that no element is measured by less than."""
CLOSED_LIMITS = (1e-3, 0.1)
"""Residuals [rad, m of a machine of 1 m or more; and a second] that constraints may have; twice those of the start,
where that is given so."""
HASTY_STEPS = 3.0
"""How many fixed steps in a row may be too long for what drives the machine: a jump or a bend is seen so."""
FIRST, SMALLEST, _, LARGEST, LARGEST_AT, _ = range(6)


@dataclass(frozen=True)
class Kind:
    """How an invariant is reported and judged.

    Attributes:
        relative: whether the value is divided by the size that it is measured by.
    """

    name: str
    limit: float
    relative: bool
    remedy: str


TIGHTEN = "tighten the tolerances or shorten the step"
MISSED = "an event was missed or is located badly: tighten the tolerances, shorten max_step, and report the model"
NO_EVENT = "no event is passed over"
KINDS = {
    Invariant.PASSIVE: Kind("passive elements give no energy", 1e-6, True, TIGHTEN),
    Invariant.HOLDS: Kind("friction holds within its limit", 1e-6, True, MISSED),
    Invariant.SLIDES: Kind("friction slides against its force", 2e-6, False, MISSED),
    Invariant.SIDE: Kind("sides are as noted", 1e-6, True, MISSED),
    Invariant.LIMIT: Kind("states keep their limits", 1e-9, True, MISSED),
    Invariant.RANGE: Kind("laws are within their range", 1e-9, True, "start within it"),
    Invariant.APART: Kind("rigid bodies do not overlap", 1e-4, False, MISSED),
    Invariant.PUSHES: Kind("rigid contacts only push", 1e-6, True, MISSED),
}


class Planned(NamedTuple):
    """A check to be made of what was watched from one column to another; how it is reported, of most invariants."""

    watched: Watched
    begin: int
    end: int
    kind: Kind | None


Finding = tuple[str, float, float, str, str, float | None, str]
"""The fields of a check, in their order."""


def plan_checks(system: System) -> tuple[Planned, ...]:
    """The checks of all runs of a system."""
    ends = list(accumulate(watched.count for watched in system.watched))
    return tuple(
        Planned(watched, end - watched.count, end, KINDS.get(watched.invariant))
        for watched, end in zip(system.watched, ends, strict=True)
        if watched.invariant is not Invariant.WITHIN
    )


def certify(
    system: System, solver: Solver, trajectory: Trajectory, duration: float, unbalanced: str = ""
) -> Certificate:
    """The checks of a run.

    Args:
        duration: simulated time [s]; unbalanced: why energies do not balance, if they do not.
    """
    if not len(trajectory.time):
        return Certificate(unchecked=("the run has no rows",))
    plan = plan_checks(system)
    checks = [Check(*finding) for finding in find_values(system, plan, solver, trajectory, duration, unbalanced)]
    checks.sort(key=lambda check: check.name not in (ENERGY, *RESIDUALS))
    balanced = any(watched.invariant is Invariant.BALANCE for watched in system.watched)
    return Certificate(tuple(checks), (f"{ENERGY}: {unbalanced}",) if unbalanced and balanced else ())


def find_values(
    system: System, plan: Iterable[Planned], solver: Solver, trajectory: Trajectory, duration: float, unbalanced: str
) -> list[Finding]:
    """What the planned checks of a run with rows have found, in the order in which it was watched."""
    found: list[Finding] = []
    # Plain numbers: of a few of them, arrays would take longer than a short run.
    kept = trajectory.extremes.tolist()
    balance = next((kept[begin:end] for watched, begin, end, _ in plan if watched.invariant is Invariant.BALANCE), None)
    moved = energy_moved(solver, balance, trajectory) if balance else 0.0
    # Neither a force nor a speed of the size of the tolerance is seen.
    still = max(STILL_POWER * moved / duration, solver.atol**2) if duration > 0 else 0.0
    for watched, begin, end, kind in plan:
        if kind is not None:
            passive = watched.invariant is Invariant.PASSIVE and duration > 0
            remedy = system.gives.get(watched.subject, "") if passive else ""
            found.append(_check_invariant(kind, watched, kept[begin:end], still if passive else 0.0, remedy))
        elif watched.invariant is Invariant.CLOSED:
            found += _check_residuals(system, watched, kept[begin:end])
        elif not unbalanced:
            found.append(_check_energy(solver, kept[begin], moved))
    found += _check_events(system, trajectory)
    return found if solver.adaptive else found + _check_steps(trajectory)


def check_rows(run: Run, chosen: bool) -> Certificate:
    """The certificate of a run with what can be said of its signals between rows.

    Where the rows were asked for and not chosen, they may be too few to read all signals between them: that is
    reported.
    """
    errors = interpolation_errors(run, BETWEEN_SHARE)
    if not errors:
        return run.certificate
    worst = max(errors, key=lambda name: errors[name])
    if chosen:
        return Certificate((*run.certificate.checks, _check_worst(errors)), run.certificate.unchecked)
    if errors[worst] <= BETWEEN_LIMIT:
        return run.certificate
    what = f"'{worst}' may be off by {100 * errors[worst]:.2g} % of its size there: read it at rows, or record more"
    return Certificate(run.certificate.checks, (*run.certificate.unchecked, f"{BETWEEN}: {what}"))


def judge(outcome: Outcome, certificate: Certificate) -> Outcome:
    """The outcome of a run in the light of its certificate: one that ended well may still be wrong."""
    if not outcome.ok or certificate.ok:
        return outcome
    said = "; ".join(check.sentence for check in certificate.violated[:3])
    more = len(certificate.violated) - 3
    said += f"; and {more} more" if more > 0 else ""
    return Outcome(OutcomeKind.SUSPECT, f"{outcome.sentence}, but its numbers are suspect: {said}", outcome.time)


def energy_error(system: System, solver: Solver, trajectory: Trajectory) -> float | None:
    """Largest change of `E - W` relative to the energies that moved, None where nothing has energy."""
    watched = _extremes_of(Invariant.BALANCE, system, trajectory)
    if not watched:
        return None
    extremes = watched[0].tolist()
    return _relative_error(extremes[0], energy_moved(solver, extremes, trajectory))


def constraint_errors(system: System, trajectory: Trajectory) -> dict[str, float]:
    """Largest residuals of the constraints, on the level of positions and of velocities; nothing without any."""
    watched = _extremes_of(Invariant.CLOSED, system, trajectory)
    if not watched:
        return {}
    levels = enumerate(("position", "velocity"))
    return {f"constraint_{level}_error": max(float(one[k, LARGEST]) for one in watched) for k, level in levels}


def check_between(compiled: CompiledSystem, trajectory: Trajectory) -> list[Check]:
    """The same of a trajectory whose rows were chosen, without the words that a run has."""
    probes = Probes(*trajectory.probes)
    rows = Rows(trajectory.time, trajectory.y, compiled.recorded, trajectory.knots, probes)
    errors = interpolation_errors(rows, BETWEEN_SHARE)
    return [_check_worst(errors)] if errors else []


def _check_worst(errors: Mapping[str, float]) -> Check:
    worst = max(errors, key=lambda name: errors[name])
    return Check(BETWEEN, errors[worst], BETWEEN_LIMIT, worst, remedy="tighten the tolerances")


def _extremes_of(invariant: Invariant, system: System, trajectory: Trajectory) -> list[np.ndarray]:
    """All that was watched for an invariant; nothing without rows."""
    begin, found = 0, []
    for watched in system.watched if len(trajectory.time) else ():
        if watched.invariant is invariant:
            found.append(trajectory.extremes[begin : begin + watched.count])
        begin += watched.count
    return found


def energy_moved(solver: Solver, extremes: list[list[float]], trajectory: Trajectory) -> float:
    """How much energy changed place: kinetic, potential since the start, and what forces pass on within one step.

    A massless part passes on all that it gets: its own energy says nothing of how much that is. At rest only the last
    digits of the potential energy move. What all torques do over a distance that the absolute tolerance does not see
    may appear or vanish.
    """
    _, kinetic, potential, passing, effort = extremes
    lifted = max(abs(potential[LARGEST] - potential[FIRST]), abs(potential[SMALLEST] - potential[FIRST]))
    largest = max(abs(potential[LARGEST]), abs(potential[SMALLEST]))
    passed = abs(passing[LARGEST]) * trajectory.counters.largest_step
    unseen = OF_DISTANCE * solver.atol * effort[LARGEST] / SMALLEST_ENERGY
    return float(max(abs(kinetic[LARGEST]) + lifted + passed, STILL_ENERGY * largest, unseen))


def _relative_error(balance: list[float], moved: float) -> float:
    change = max(balance[LARGEST] - balance[FIRST], balance[FIRST] - balance[SMALLEST])
    return change / moved if moved > 0 else change


def describe_action(system: System, trajectory: Trajectory) -> str:
    """The first event that changed states by an action whose work nobody knows, if there was one."""
    guards = (system.discrete.guards[guard] for _, guard in trajectory.events)
    return next((f"event '{guard.name}' changes states" for guard in guards if guard.moves), "")


def _check_energy(solver: Solver, balance: list[float], moved: float) -> Finding:
    limit = LARGEST_ENERGY
    if solver.adaptive:
        limit = min(max(OF_TOLERANCE * solver.rtol, SMALLEST_ENERGY), LARGEST_ENERGY)
    rises = balance[LARGEST] - balance[FIRST] >= balance[FIRST] - balance[SMALLEST]
    time = balance[LARGEST_AT if rises else SMALLEST + 1]
    return ENERGY, _relative_error(balance, moved), limit, "", "", time, TIGHTEN


def _check_residuals(system: System, watched: Watched, extremes: list[list[float]]) -> list[Finding]:
    """Positions and velocities of one constraint, against limits of its size."""
    constraint = next(c for c in system.scenario.machine.all_constraints if c.name == watched.subject)
    remedy = "shorten the step or tighten the tolerances"
    if system.scenario.constraint_method.method != "projection":
        remedy += ", or take the constraint method projection"
    if isinstance(constraint, PrescribedMotion):
        remedy = f"give it the rates of its position as velocity and acceleration; else {remedy}"
    size = extremes[2][LARGEST]
    checks: list[Finding] = []
    for name, limit, found, suffix in zip(RESIDUALS, CLOSED_LIMITS, extremes[:2], ("", "/s"), strict=True):
        allowed = max(limit * size, 2.0 * found[FIRST])
        unit = watched.unit + suffix if watched.unit else ""
        checks.append((name, found[LARGEST], allowed, watched.subject, unit, found[LARGEST_AT], remedy))
    return checks


def _check_invariant(kind: Kind, watched: Watched, extremes: list[list[float]], least: float, remedy: str) -> Finding:
    unit, (broken, size), time = watched.unit, extremes, extremes[0][LARGEST_AT]
    value = max(0.0, broken[LARGEST]) if broken[LARGEST] == broken[LARGEST] else np.nan
    if kind.relative:
        size_there = max(size[LARGEST], least)
        value, unit = (value / size_there if size_there > 0 else value), ""
    return kind.name, value, kind.limit, watched.subject, unit, time, remedy or kind.remedy


def _check_events(system: System, trajectory: Trajectory) -> list[Finding]:
    """Guards, and limits of states behind them, have the signs that the steps say, wherever one looks within these."""
    looks, count, guard, time = trajectory.missed
    if not looks:
        return []
    if not count:
        return [(NO_EVENT, 0.0, 0.0, "", "events", None, MISSED)]
    watched = [guard.name for guard in system.discrete.guards]
    watched += [f"{system.states[k].name} at its {end} limit" for end in ("upper", "lower") for k in system.limited]
    return [(NO_EVENT, float(count), 0.0, watched[guard], "events", time, MISSED)]


def _check_steps(trajectory: Trajectory) -> list[Finding]:
    """Fixed steps are the user's choice; they must still see what drives the machine."""
    counters = trajectory.counters
    if not counters.steps:
        return []
    remedy = f"shorten the step of {counters.largest_step:.3g} s: a period of what drives takes less than four of them"
    return [("steps follow what drives", float(counters.hasty), HASTY_STEPS, "", "steps", None, remedy)]
