"""Certificate of a run: what must hold, and does it? From what the engine watched; limits that were passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robodyn.base import FlawList, bisect, frozen, number_units
from robodyn.computation.assembly import SignalInfo, System
from robodyn.computation.assembly.declarations import Invariant, Watched
from robodyn.computation.assembly.machine_size import size_machine
from robodyn.computation.engine import Trajectory
from robodyn.computation.engine.slices import CheckForm, CheckTable, RowReading, WatchedCheck
from robodyn.computation.results import Certificate, Check, Outcome, OutcomeKind, PassedLimit, Run
from robodyn.description.model import PrescribedMotion, Solver
from robodyn.description.model.joint import BOUNDED, excess, value_beyond

from .compiled import CompiledSystem

ENERGY, RESIDUALS = "energy balance", ("constraints, positions", "constraints, velocities")
BETWEEN, BETWEEN_LIMIT, BETWEEN_SHARE = "signals between rows", 0.05, 0.95
"""Error of signals between rows as part of their size, beyond that of the solution, and part of the probes that must
stay below it, since some lie where a signal jumps; this project's own choices."""
LARGEST_ENERGY, SMALLEST_ENERGY, OF_TOLERANCE = 0.05, 1e-3, 1e3
"""Energy that may appear or vanish, as part of what moved: in fixed steps, in adaptive ones at the least, and times the
relative tolerance."""
CLOSED_LIMITS = (1e-3, 0.1)
"""Residuals [rad, m of a machine of 1 m or more; and a second] that constraints may have; twice those of the start,
where that is given so."""
MOST_LONG_STEPS = 3.0
"""How many fixed steps in a row may be too long for what drives the machine: a jump or a bend is seen so."""
LARGEST, LARGEST_AT, POSITIVE_AT = 3, 4, 5
"""Places of the largest value, its time, and when one was first positive, among the extremes."""


@frozen
class CheckKind:
    """How an invariant is reported and judged.

    Attributes:
        relative: whether the value is divided by the size that it is measured by.
    """

    name: str
    limit: float
    relative: bool
    remedy: str


TIGHTER = "tighten the tolerances"
TIGHTEN = "tighten the tolerances or shorten the step"
MISSED = "an event was missed or located inaccurately: tighten the tolerances, shorten max_step, and report the model"
INSIDE = f"changed numbers may make them start inside each other: see the gap at the start; else {MISSED}"
UNSEEN = "no condition change was missed"
KINDS = {
    Invariant.PASSIVE: CheckKind("passive elements give no energy", 1e-6, True, TIGHTEN),
    Invariant.HOLDS: CheckKind("friction holds within its limit", 1e-6, True, MISSED),
    Invariant.SLIDES: CheckKind("friction opposes sliding", 2e-6, False, MISSED),
    Invariant.SIDE: CheckKind("conditions are as recorded", 1e-6, True, MISSED),
    Invariant.LIMIT: CheckKind("states keep their limits", 1e-9, True, MISSED),
    Invariant.RANGE: CheckKind("laws are within their range", 1e-9, True, "start within it"),
    Invariant.APART: CheckKind("rigid bodies do not overlap", 1e-4, False, INSIDE),
    Invariant.PUSHES: CheckKind("rigid contacts only push", 1e-6, True, MISSED),
}


class Words(NamedTuple):
    """How a check is reported; a second remedy is that of runs in which time passed."""

    name: str
    subject: str
    unit: str
    remedies: tuple[str, str]


class CheckPlan(NamedTuple):
    """The checks of all runs of a system by a solver, in the order in which it is watched."""

    table: CheckTable
    words: tuple[Words, ...]


def plan_checks(compiled: CompiledSystem, solver: Solver) -> CheckPlan:
    """The checks of all runs, kept with the compiled system for the next ones."""
    key = "checks", solver
    plan: CheckPlan | None = compiled.prepared.get(key)
    if plan is None:
        plan = compiled.prepared[key] = _plan_checks(compiled.system, solver)
    return plan


def _plan_checks(system: System, solver: Solver) -> CheckPlan:
    planned: list[tuple[WatchedCheck, Words]] = []
    for watched, rows in system.watched_rows():
        row = rows.start
        if watched.invariant is Invariant.BALANCE:
            limit = LARGEST_ENERGY
            if solver.adaptive:
                limit = min(max(OF_TOLERANCE * solver.rtol, SMALLEST_ENERGY), LARGEST_ENERGY)
            check = WatchedCheck(CheckForm.BALANCE, row, row, False, limit)
            planned.append((check, Words(ENERGY, "", "", (TIGHTEN, TIGHTEN))))
        elif watched.invariant is Invariant.CLOSED:
            planned += _plan_residuals(system, watched, row)
        elif watched.invariant is not Invariant.WITHIN:
            planned.append(_plan_invariant(system, watched, row))
    return CheckPlan(CheckTable([check for check, _ in planned]), tuple(words for _, words in planned))


def _plan_residuals(system: System, watched: Watched, row: int) -> list[tuple[WatchedCheck, Words]]:
    """Positions and velocities of one constraint, against limits of its size."""
    constraint = next(c for c in system.scenario.machine.all_constraints if c.name == watched.subject)
    remedy = "shorten the step or tighten the tolerances"
    if system.scenario.constraint_method.method != "projection":
        remedy += ", or use the constraint method projection"
    if isinstance(constraint, PrescribedMotion):
        remedy = f"give it the rates of its position as velocity and acceleration; else {remedy}"
    planned: list[tuple[WatchedCheck, Words]] = []
    for k, (name, limit, suffix) in enumerate(zip(RESIDUALS, CLOSED_LIMITS, ("", "/s"), strict=True)):
        unit = watched.unit + suffix if watched.unit else ""
        words = Words(name, watched.subject, unit, (remedy, remedy))
        planned.append((WatchedCheck(CheckForm.CLOSED, row + k, row + 2, False, limit), words))
    return planned


def _plan_invariant(system: System, watched: Watched, row: int) -> tuple[WatchedCheck, Words]:
    kind, passive = KINDS[watched.invariant], watched.invariant is Invariant.PASSIVE
    form = CheckForm.PASSIVE if passive else CheckForm.INVARIANT
    gives = system.gives.get(watched.subject, "") if passive else ""
    # Overlaps and speeds are limited by parts of the machine's size.
    unit, size = ("", 1.0) if kind.relative else (watched.unit, size_machine(system.scenario).of(watched.unit))
    words = Words(kind.name, watched.subject, unit, (kind.remedy, gives or kind.remedy))
    return WatchedCheck(form, row, row + 1, kind.relative, kind.limit * size), words


def certify(
    compiled: CompiledSystem, solver: Solver, trajectory: Trajectory, duration: float, unbalanced: str = ""
) -> Certificate:
    """The checks of a run.

    Args:
        duration: simulated time [s]; unbalanced: why energies do not balance, if they do not.
    """
    if not len(trajectory.time):
        return Certificate(unchecked=("the run recorded no rows",))
    # What the engine watched, in the order in which it is watched; then what it has proven, and how it stepped.
    plan = plan_checks(compiled, solver)
    values = plan.table.values(trajectory, duration, solver.atol)
    checks = [
        Check(words.name, value, limit, words.subject, words.unit, time, words.remedies[duration > 0])
        for words, (value, limit, time) in zip(plan.words, values, strict=True)
        if not (unbalanced and words.name == ENERGY)
    ]
    checks += _check_conditions(compiled, trajectory)
    checks += [] if solver.adaptive else _check_steps(trajectory)
    checks.sort(key=lambda check: check.name not in (ENERGY, *RESIDUALS))
    balanced = any(watched.invariant is Invariant.BALANCE for watched in compiled.system.watched)
    unchecked = (f"{ENERGY}: {unbalanced}",) if unbalanced and balanced else ()
    return Certificate(tuple(checks), (*unchecked, *_describe_undecided(compiled, trajectory)))


def check_rows(certificate: Certificate, compiled: CompiledSystem, trajectory: Trajectory, chosen: bool) -> Certificate:
    """The certificate of a run with what can be said of its signals between rows.

    Where the rows were asked for and not chosen, they may be too few to read all signals between them: that is
    reported.
    """
    worst = find_worst_between(compiled, trajectory)
    if worst is None:
        return certificate
    if chosen:
        return Certificate((*certificate.checks, worst), certificate.unchecked)
    if worst.value <= BETWEEN_LIMIT:
        return certificate
    off = f"'{worst.subject}' may be off by {100 * worst.value:.2g} % of its size there"
    return Certificate(
        certificate.checks, (*certificate.unchecked, f"{BETWEEN}: {off}: read it at recorded rows, or record more")
    )


def find_worst_between(compiled: CompiledSystem, trajectory: Trajectory) -> Check | None:
    """The check of signals between rows; None where there is nothing to read."""
    reading = row_reading(compiled)
    if reading is None or not len(trajectory.time):
        return None
    errors = reading.errors(trajectory.time, trajectory.y, trajectory.knots, trajectory.probes, BETWEEN_SHARE)
    worst = int(errors.argmax()) if errors.any() else compiled.recorded.index(_smooth(compiled)[0])
    return Check(BETWEEN, float(errors[worst]), BETWEEN_LIMIT, compiled.recorded[worst].name, remedy=TIGHTER)


def _smooth(compiled: CompiledSystem) -> list[SignalInfo]:
    return [info for info in compiled.recorded if info.kind != "held"]


def row_reading(compiled: CompiledSystem) -> RowReading | None:
    """How signals are read between rows, kept with the compiled system; None where all of them hold."""
    prepared = compiled.prepared
    if BETWEEN not in prepared:
        prepared[BETWEEN] = _make_reading(compiled.recorded) if _smooth(compiled) else None
    reading: RowReading | None = prepared[BETWEEN]
    return reading


def _make_reading(infos: Sequence[SignalInfo]) -> RowReading:
    place, rates = {info.name: k for k, info in enumerate(infos)}, {info.rate for info in infos}
    second = {info.rate for info in infos if info.name in rates}
    degree = [(info.name in rates) + (info.name in second) for info in infos]
    return RowReading(number_units(infos), [place.get(info.rate or "", -1) for info in infos], degree)


def interpolation_errors(run: Run, share: float = 1.0) -> dict[str, float]:
    """Largest error of each signal between rows, at the probes of the run, relative to the signal's size.

        error = |interpolated - probe| - 4 * error of the step,  not below 0
        size = largest magnitude of the signal + 0.02 * largest magnitude of any signal of its unit + rounding

    With a share below 1 it is what that part of the probes stay below: a probe may lie where a signal jumps, which no
    row can show. Signals that hold are left out; a run without probes (measured data) has none.
    """
    probes = run.probes
    if probes is None or not run.time.size:
        return {}
    knots = np.ones(run.time.size) if run.knots is None else run.knots
    table = probes.time, probes.values, probes.errors
    errors = _make_reading(run.infos).errors(run.time, run.values, knots, table, share)
    return {info.name: float(errors[k]) for k, info in enumerate(run.infos) if info.kind != "held"}


def judge(outcome: Outcome, certificate: Certificate) -> Outcome:
    """The outcome of a run in the light of its certificate: one that ended well may still be wrong."""
    if not outcome.ok or certificate.ok:
        return outcome
    sentences = "; ".join(check.sentence for check in certificate.violated[:3])
    more = len(certificate.violated) - 3
    sentences += f"; and {more} more" if more > 0 else ""
    return Outcome(OutcomeKind.SUSPECT, f"{outcome.sentence}, but its results are suspect: {sentences}", outcome.time)


def constraint_errors(system: System, trajectory: Trajectory) -> dict[str, float]:
    """Largest residuals of the constraints, on the level of positions and of velocities; nothing without any."""
    constraints = system.watched_rows(Invariant.CLOSED)
    if not constraints or not len(trajectory.time):
        return {}
    residuals = np.array([trajectory.extremes[rows, LARGEST] for _, rows in constraints])
    levels = enumerate(("position", "velocity"))
    return {f"constraint_{level}_error": float(residuals[:, k].max()) for k, level in levels}


def describe_action(system: System, trajectory: Trajectory) -> str:
    """The first event that changed states by an action whose work nobody knows, if there was one."""
    guards = (system.discrete.guards[guard] for _, guard in trajectory.events)
    return next((f"event '{guard.name}' changes states" for guard in guards if guard.moves), "")


def _check_conditions(compiled: CompiledSystem, trajectory: Trajectory) -> list[Check]:
    """Guards, limits and conditions keep their levels within the steps, or a step ends where one changes."""
    proof, steps = trajectory.proof, trajectory.counters.steps
    if not (proof.proven or proof.undecided or proof.passed_over):
        return []
    proven = f"proven on {proof.proven} of {steps} steps"
    if not proof.passed_over:
        return [Check(UNSEEN, 0.0, 0.0, proven, "steps", None, MISSED)]
    name = _name_condition(compiled, proof.first_passed)
    remedy = "shorten the step, or use an adaptive method, whose steps end there"
    return [Check(UNSEEN, float(proof.passed_over), 0.0, name, "steps", proof.passed_at, remedy)]


def _describe_undecided(compiled: CompiledSystem, trajectory: Trajectory) -> tuple[str, ...]:
    """Steps of which nothing could be proven, if there are any."""
    proof, steps, module = trajectory.proof, trajectory.counters.steps, compiled.module
    left = steps - proof.proven - proof.passed_over
    sentences = (
        [f"{UNSEEN}: {module.omitted} conditions of the rates are too long to be bounded"] if module.omitted else []
    )
    if left and module.entries:
        name = _name_condition(compiled, proof.first_undecided)
        why = f"first at {proof.undecided_at:.6g} s for {name}, whose bounds were too wide or would have cost too much"
        if not proof.undecided:
            marched = trajectory.counters.marched > 0
            why = "most of which propagators took" if marched else "which were made in lanes beside other runs"
        sentences.append(f"{UNSEEN}: not proven on {left} of {steps} steps, {why}")
    return tuple(sentences)


def _name_condition(compiled: CompiledSystem, number: int) -> str:
    """A guard, a limit of a state, or a condition, by the number that the engine gives it."""
    system = compiled.system
    watched = [f"'{guard.name}'" for guard in system.discrete.guards]
    watched += [f"'{system.states[k].name}' at its {end} limit" for end in ("upper", "lower") for k in system.limited]
    return watched[number] if number < len(watched) else f"condition {number - len(watched) + 1} of the rates"


def _check_steps(trajectory: Trajectory) -> list[Check]:
    """Fixed steps are the user's choice; they must still see what drives the machine."""
    counters = trajectory.counters
    if not counters.steps:
        return []
    remedy = f"shorten the step of {counters.largest_step:.3g} s: a period of the inputs has fewer than four steps"
    longest = float(counters.steps_too_long)
    return [Check("step size resolves the inputs", longest, MOST_LONG_STEPS, "", "steps", None, remedy)]


HALVINGS = 60


def find_passed_limits(system: System, trajectory: Trajectory, run: Run, rows_chosen: bool) -> tuple[PassedLimit, ...]:
    """Every limit that was passed, in the order of the joints.

    Looked at where rows are and within every step.

    Args:
        rows_chosen: whether signals can be read between rows, which makes the first time exact.
    """
    if not len(trajectory.time):
        return ()
    passed = []
    for watched, rows in system.watched_rows(Invariant.WITHIN):
        extremes = trajectory.extremes[rows.start]
        if not extremes[LARGEST] > 0:
            continue
        joint, _, field = watched.subject.rpartition(".")
        limit = float(run.provenance.parameters[watched.subject]["value"])
        first = float(extremes[POSITIVE_AT])
        first = _first_time(run, joint, field, limit, first) if rows_chosen else first
        worst = value_beyond(field, float(extremes[LARGEST]), limit)
        passed.append(PassedLimit(joint, field, limit, watched.unit, first, worst, float(extremes[LARGEST_AT])))
    return tuple(passed)


def _first_time(run: Run, joint: str, field: str, limit: float, seen: float) -> float:
    """When a limit was passed, between the row before it was seen and that instant."""
    name = f"{joint}.{BOUNDED[field][0]}"
    before = run.time[run.time < seen]
    if name not in run or not before.size or not run.time[0] <= seen <= run.time[-1]:
        return seen
    signal, low, high = run[name], float(before[-1]), seen
    if excess(field, float(signal(low)), limit) > 0 or not excess(field, float(signal(high)), limit) > 0:
        return seen
    _, first = bisect(lambda time: excess(field, float(signal(time)), limit) > 0, low, high, HALVINGS)
    return float(first)


def check_start_limits(system: System, states: Mapping[str, float], numbers: Mapping[str, Any]) -> None:
    """A start beyond a joint's limits of position or speed is refused; one found at rest may lie in an end stop.

    Args:
        states: values at the start; numbers: of the scenario, as used.
    """
    mechanism = system.scenario.machine.mechanism
    flaws = FlawList()
    is_described = system.scenario.initialisation != "at_rest"
    for joint in mechanism.limited_joints if mechanism and is_described else ():
        for field in joint.limits:
            name, limit = f"{joint.name}.{BOUNDED[field][0]}", numbers[f"{joint.name}.{field}"]
            if name in states and excess(field, states[name], limit) > 0:
                what = f"the start at {states[name]:.6g} is beyond the joint's {field} of {limit:g}"
                flaws.add(f"initial.{name}", what, "give a start within it, or change the limit")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")
