"""Certificate of a run: what must hold, and does it? Checks of a trajectory, from what the engine watched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.assembly import System
from robodyn.assembly.invariants import Invariant, Watched
from robodyn.engine import Trajectory
from robodyn.model import PrescribedMotion, Solver
from robodyn.results import Certificate, Check, Outcome, OutcomeKind, Run, interpolation_errors

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


def certify(
    system: System, solver: Solver, trajectory: Trajectory, duration: float, unbalanced: str = ""
) -> Certificate:
    """The checks of a run.

    Args:
        duration: simulated time [s]; unbalanced: why energies do not balance, if they do not.
    """
    if not len(trajectory.time):
        return Certificate(unchecked=("the run has no rows",))
    checks: list[Check] = []
    unchecked: list[str] = []
    giving = {block.name: block.info.gives for block in system.scenario.machine.all_blocks}
    balance, begin = _extremes_of(Invariant.BALANCE, system, trajectory), 0
    moved = energy_moved(solver, balance[0], trajectory) if balance else 0.0
    for watched in system.watched:
        extremes = trajectory.extremes[begin : begin + watched.count]
        begin += watched.count
        if watched.invariant is Invariant.BALANCE:
            if unbalanced:
                unchecked.append(f"{ENERGY}: {unbalanced}")
            else:
                checks.append(_check_energy(solver, extremes, trajectory))
        elif watched.invariant is Invariant.CLOSED:
            checks += _check_residuals(system, watched, extremes)
        elif watched.invariant is Invariant.WITHIN:
            continue
        else:
            passive = watched.invariant is Invariant.PASSIVE and duration > 0
            # Neither a force nor a speed of the size of the tolerance is seen.
            least = max(STILL_POWER * moved / duration, solver.atol**2) if passive else 0.0
            remedy = giving.get(watched.subject, "") if passive else ""
            checks.append(_check_invariant(watched, extremes, least, remedy))
    checks += _check_events(system, trajectory)
    if not solver.adaptive:
        checks += _check_steps(trajectory)
    checks.sort(key=lambda check: check.name not in (ENERGY, *RESIDUALS))
    return Certificate(tuple(checks), tuple(unchecked))


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
        check = Check(BETWEEN, errors[worst], BETWEEN_LIMIT, worst, remedy="tighten the tolerances")
        return Certificate((*run.certificate.checks, check), run.certificate.unchecked)
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
    return _relative_error(solver, watched[0], trajectory) if watched else None


def constraint_errors(system: System, trajectory: Trajectory) -> dict[str, float]:
    """Largest residuals of the constraints, on the level of positions and of velocities; nothing without any."""
    watched = _extremes_of(Invariant.CLOSED, system, trajectory)
    if not watched:
        return {}
    levels = enumerate(("position", "velocity"))
    return {f"constraint_{level}_error": max(float(one[k, LARGEST]) for one in watched) for k, level in levels}


def _extremes_of(invariant: Invariant, system: System, trajectory: Trajectory) -> list[np.ndarray]:
    """All that was watched for an invariant; nothing without rows."""
    begin, found = 0, []
    for watched in system.watched if len(trajectory.time) else ():
        if watched.invariant is invariant:
            found.append(trajectory.extremes[begin : begin + watched.count])
        begin += watched.count
    return found


def energy_moved(solver: Solver, extremes: np.ndarray, trajectory: Trajectory) -> float:
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


def _relative_error(solver: Solver, extremes: np.ndarray, trajectory: Trajectory) -> float:
    balance = extremes[0]
    change = float(max(balance[LARGEST] - balance[FIRST], balance[FIRST] - balance[SMALLEST]))
    moved = energy_moved(solver, extremes, trajectory)
    return change / moved if moved > 0 else change


def describe_action(system: System, trajectory: Trajectory) -> str:
    """The first event that changed states by an action whose work nobody knows, if there was one."""
    guards = (system.discrete.guards[guard] for _, guard in trajectory.events)
    return next((f"event '{guard.name}' changes states" for guard in guards if guard.moves), "")


def _check_energy(solver: Solver, extremes: np.ndarray, trajectory: Trajectory) -> Check:
    limit = LARGEST_ENERGY
    if solver.adaptive:
        limit = float(np.clip(OF_TOLERANCE * solver.rtol, SMALLEST_ENERGY, LARGEST_ENERGY))
    balance = extremes[0]
    rises = balance[LARGEST] - balance[FIRST] >= balance[FIRST] - balance[SMALLEST]
    time = float(balance[LARGEST_AT if rises else SMALLEST + 1])
    return Check(ENERGY, _relative_error(solver, extremes, trajectory), limit, time=time, remedy=TIGHTEN)


def _check_residuals(system: System, watched: Watched, extremes: np.ndarray) -> list[Check]:
    """Positions and velocities of one constraint, against limits of its size."""
    constraint = next(c for c in system.scenario.machine.all_constraints if c.name == watched.subject)
    remedy = "shorten the step or tighten the tolerances"
    if system.scenario.constraint_method.method != "projection":
        remedy += ", or take the constraint method projection"
    if isinstance(constraint, PrescribedMotion):
        remedy = f"give it the rates of its position as velocity and acceleration; else {remedy}"
    size, checks = float(extremes[2][LARGEST]), []
    for name, limit, found, suffix in zip(RESIDUALS, CLOSED_LIMITS, extremes[:2], ("", "/s"), strict=True):
        allowed = max(limit * size, 2.0 * float(found[FIRST]))
        unit, time = watched.unit + suffix if watched.unit else "", float(found[LARGEST_AT])
        checks.append(Check(name, float(found[LARGEST]), allowed, watched.subject, unit, time, remedy))
    return checks


def _check_invariant(watched: Watched, extremes: np.ndarray, least: float, remedy: str) -> Check:
    kind, unit = KINDS[watched.invariant], watched.unit
    (broken, size), time = extremes, float(extremes[0][LARGEST_AT])
    value = max(0.0, float(broken[LARGEST])) if broken[LARGEST] == broken[LARGEST] else np.nan
    if kind.relative:
        size_there = max(float(size[LARGEST]), least)
        value, unit = (value / size_there if size_there > 0 else value), ""
    return Check(kind.name, value, kind.limit, watched.subject, unit, time, remedy or kind.remedy)


def _check_events(system: System, trajectory: Trajectory) -> list[Check]:
    """Guards, and limits of states behind them, have the signs that the steps say, wherever one looks within these."""
    watched = [guard.name for guard in system.discrete.guards]
    watched += [f"{system.states[k].name} at its {end} limit" for end in ("upper", "lower") for k in system.limited]
    looks, count, guard, time = trajectory.missed
    if not looks:
        return []
    name, when = (watched[guard], time) if count else ("", None)
    return [Check("no event is passed over", float(count), 0.0, name, "events", when, MISSED)]


def _check_steps(trajectory: Trajectory) -> list[Check]:
    """Fixed steps are the user's choice; they must still see what drives the machine."""
    counters = trajectory.counters
    if not counters.steps:
        return []
    remedy = f"shorten the step of {counters.largest_step:.3g} s: a period of what drives takes less than four of them"
    return [Check("steps follow what drives", float(counters.hasty), HASTY_STEPS, unit="steps", remedy=remedy)]
