"""Outcome of a run: how did it end, when, where and probably why, what can be done, and which numbers are doubtful?

The engine's status becomes a kind and a sentence. Where joints have become parallel with nothing heavy between them, so
that the mass matrix M(q) is singular and nothing says how they share their motion, that is the cause.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from robodyn.base import Array, frozen
from robodyn.computation.assembly.declarations import SETTLE, Guard
from robodyn.computation.assembly.system import System
from robodyn.computation.engine import Status, Trajectory
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.engine.trajectory import Stiffness
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.description.model import Solver

from .compiled import CompiledSystem
from .propagators import NOT_LINEAR

MANY_STEPS = 50_000
"""Steps beyond which a run of an explicit method is suspected to be stiff."""
GROWN = 1e4
"""How many times its nominal size a state has in a run that is suspected to be unstable."""
LAST_EVENTS = 100
"""How far back to look for the contact that settles without end."""


@frozen
class _End:
    """The end of a run: the sentence of each kind of outcome, with its probable cause and what can be done."""

    compiled: CompiledSystem
    solver: Solver
    trajectory: Trajectory

    def describe(self, kind: OutcomeKind) -> str:
        """The sentence of a kind."""
        trajectory, solver, at = self.trajectory, self.solver, f"{self.trajectory.at_time:.6g} s"
        match kind:
            case OutcomeKind.FINISHED:
                return f"reached the end time {at}"
            case OutcomeKind.STOPPED:
                return describe_stop(self.guard, self.trajectory.at_time).sentence
            case OutcomeKind.INTERRUPTED:
                return f"interrupted at {at} of simulated time; the run so far is kept"
            case OutcomeKind.STEP_LIMIT:
                advice = self._blame_short_steps() or "raise max_steps or loosen the tolerances"
                return f"used all {solver.max_steps} steps by {at}; {advice}"
            case OutcomeKind.WALL_TIME:
                advice = self._blame_short_steps()
                where = f"used all {solver.max_wall_time:g} s of computing time by {at} of simulated time"
                return f"{where}; {advice}" if advice else where
            case OutcomeKind.NOT_A_NUMBER:
                where = f"'{self.state}' stopped being a finite number at {at}"
                last = trajectory.y[-1:]
                # Recorded signals that are not finite in the last row kept say more than the state.
                broken = (
                    [self.compiled.recorded[k].name for k in np.flatnonzero(~np.isfinite(last[0]))[:4]]
                    if len(last)
                    else []
                )
                if not broken:
                    return f"{where}; {self.cause}"
                cause = "check for a division by zero or a square root of a negative number"
                return f"{where}; not finite there: {', '.join(broken)}: {cause}"
            case OutcomeKind.OVERFLOW:
                return f"'{self.state}' grew without bound by {at}; {self.cause}"
            case OutcomeKind.STEP_TOO_SMALL:
                advice = "a law that jumps there needs an event or smoothing"
                growth = self._blame_growth()
                if solver.pair:
                    advice = f"with {' and with '.join(solver.pair)}: {growth or advice}"
                elif growth:
                    advice = growth
                elif np.isfinite(trajectory.stiffness.since):
                    advice = f"{describe_stiffness(trajectory)}; use method auto or rodas4p"
                elif not solver.stiff:
                    advice = f"the system may be stiff (try method auto or rodas4p), or {advice}"
                return f"the step became too small at {at}; largest error in '{self.state}': {advice}"
            case OutcomeKind.CHATTERING:
                advice = "give the decision hysteresis, or end the run there"
                if self.contact:
                    advice = (
                        f"'{self.contact}' bounces, rattles or locks without end: raise its rest_speed, lower its "
                        "friction, or use a compliant Contact"
                    )
                where = f"event '{self.guard.name}' chatters at {at}"
                return f"{where}: very many events in almost no time; {advice}"
            case OutcomeKind.JAMMED:
                return (
                    f"at {at} no forces were found that keep the bodies of the rigid contact '{self.contact}' from "
                    "sinking into each other: lower its friction, or use a compliant Contact"
                )
            case OutcomeKind.RECORD_FULL:
                advice = self._blame_short_steps() or "record fewer signals, or at a rate (recording.rate)"
                what = f"with {trajectory.n_rows or len(trajectory.time)} rows of {len(self.compiled.recorded)} signals"
                # The event that happened most often may be what filled it.
                for k, most in Counter(guard for _, guard in trajectory.events).most_common(1):
                    often = self.compiled.system.discrete.guards[k].name
                    what += f"; of {len(trajectory.events)} events {most} are '{often}'"
                return f"the recording was full at {at}, {what}: {advice}"
            case OutcomeKind.NO_MEMORY:
                return (
                    f"out of memory at {at}, with {len(trajectory.time)} rows and "
                    f"{len(trajectory.events)} events: record fewer signals, or at given times, or shorten delays"
                )
            case OutcomeKind.NOT_SOLVED:
                return (
                    f"the equations of the step at {at} could not be solved: shorten the step; if that does not help, "
                    "the mechanism is in a singular position, or a law jumps there"
                )
            case OutcomeKind.SINGULAR:
                return (
                    f"at {at} the chosen independent joints no longer determine the others: choose other ones, or the "
                    "constraint method baumgarte"
                )
            case _:
                assert kind is OutcomeKind.OUT_OF_REACH, kind
                return self._describe_reach(at)

    def _describe_reach(self, at: str) -> str:
        """A coordinate that left its range, or a law that left its own."""
        system, guard = self.compiled.system, self.guard
        if guard.block:
            block = next(b for b in system.scenario.machine.blocks if b.name == guard.block)
            remedy = block.info.positive[guard.name.removeprefix(f"{block.name}.")]
            return f"'{guard.name}' reached zero at {at}: {remedy}"
        name = str(guard.coordinate)
        coordinate = next(c for c in system.scenario.machine.coordinates if c.name == name)
        lower, upper = coordinate.range or (-np.inf, np.inf)
        # Where it is at the end, with the described parameters.
        position = float(system.evaluate(system.motion.coordinates[name], x=self.trajectory.x).item())
        end = "upper" if position > (lower + upper) / 2 else "lower"
        where = f"{position:.6g} is at its {end} end, allowed is {lower:g} to {upper:g}"
        return f"'{name}' left its range at {at}: {where}"

    def _blame_short_steps(self) -> str:
        """Advice where an explicit method took very short steps that neither events nor ticks asked for."""
        trajectory, solver, counters = self.trajectory, self.solver, self.trajectory.counters
        interruptions = counters.events + counters.ticks
        if solver.stiff or not solver.adaptive or counters.steps < MANY_STEPS or interruptions > 0.1 * counters.steps:
            return ""
        mean = (trajectory.at_time - trajectory.time[0]) / counters.steps if len(trajectory.time) else 0.0
        if mean > self.compiled.system.scenario.duration / MANY_STEPS:
            return ""
        return self._blame_growth() or (
            f"its {counters.steps} steps are {mean:.1g} s long on average, so the system is probably too stiff for "
            f"{solver.method}: choose rodas4 or trbdf2"
        )

    def _blame_growth(self) -> str:
        """A state that has grown beyond its size: it needs ever shorter steps, a symptom then, not the cause."""
        x, states, k = self.trajectory.x, self.compiled.system.states, self._largest_state()
        if not states or not abs(x[k]) > GROWN * states[k].nominal:
            return ""
        return f"'{states[k].name}' is {x[k]:.2g}, implausibly large: {self.cause}"

    @property
    def cause(self) -> str:
        """Why numbers grow."""
        if not self.solver.adaptive:
            step = f"the step of {self.solver.step or DEFAULT_FIXED_STEP:g} s is probably beyond the method's stability"
            return f"{step}: shorten it or choose an adaptive method"
        return "the motion itself is probably unstable: check the signs of feedback and springs"

    @property
    def state(self) -> str:
        """The state that is the cause: the engine's, or the largest one where that is mere book-keeping."""
        system, offender = self.compiled.system, self.trajectory.offender
        if not 0 <= offender < len(system.states):
            return "a state"
        moves = offender < system.n_moving or system.n_moving == 0
        return system.states[offender if moves else self._largest_state()].name

    def _largest_state(self) -> int:
        """The state that is largest at the end beside its nominal size, book-keeping aside."""
        system = self.compiled.system
        states = system.states[: system.n_moving]
        sizes = [abs(x) / state.nominal for x, state in zip(self.trajectory.x, states, strict=False)]
        return int(np.nanargmax(sizes)) if sizes else 0

    @property
    def guard(self) -> Guard:
        return self.compiled.system.discrete.guards[self.trajectory.offender]

    @property
    def contact(self) -> str:
        """The contact whose event is the cause, if it is one; where all contacts settle together, the last before."""
        guards = [self.guard]
        if guards[0].name == SETTLE:
            last = reversed(self.trajectory.events[-LAST_EVENTS:])
            guards += [self.compiled.system.discrete.guards[k] for _, k in last]
        return next((guard.contact for guard in guards if guard.contact), "")


SINGULAR, ROUNDING, LESS = 1e-4, 1e-12, 0.01
"""Smallest eigenvalue of the mass matrix, scaled to ones on its diagonal, of joints that are independent: the square of
an angle of 10 mrad between axes, own choice. Also a light body between heavy ones makes it small: it must be next to
nothing, or that much less than at the start."""
TAKES_PART, MOST = 0.03, 3
"""Least part of a joint in the motion that moves nothing, and how many joints make it up; in the stiffest motion of a
long chain, which moves little, many take part."""


def find_dependent_joints(system: System, x: Array) -> list[str]:
    """Joints that can move against each other without moving any mass; the parameters as described."""
    if system.motion.mechanics is None or system.motion.momenta:
        return []
    least, motion = _least_inertia(system, x)
    start, _ = _least_inertia(system, system.described.x)
    if not (least <= ROUNDING or least <= min(SINGULAR, LESS * start)):
        return []
    names = [state.name.removesuffix(".velocity") for state in system.states[system.n_q : system.n_q + system.n_v]]
    joints = [name for name, part in zip(names, motion, strict=True) if abs(part) > TAKES_PART]
    return joints if len(joints) <= MOST else []


def find_carried_points(system: System, joints: Sequence[str]) -> list[str]:
    """Bodies on joints that are points, a mass without inertia: what turns about them moves nothing."""
    mechanism = system.scenario.machine.mechanism
    carried = {joint.child for joint in mechanism.joints if joint.name in joints} if mechanism else set()
    bodies = mechanism.bodies if mechanism else ()
    return [f"'{body.name}'" for body in bodies if body.name in carried and body.mass and not np.any(body.inertia)]


def _least_inertia(system: System, x: Array) -> tuple[float, Array]:
    """Smallest eigenvalue of the scaled mass matrix and its direction; infinite where there is none to be had."""
    M = system.evaluate(system.mass_matrix, x=x)
    scale = np.sqrt(np.abs(np.diag(M)))
    if not np.all(np.isfinite(M)) or not np.all(scale > 0):
        return np.inf, np.zeros(system.n_v)
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    return float(values[0]), vectors[:, 0]


LIMITED_STEPS = 3000
LIMITED_PART = 0.5
"""Steps limited by stability, and part of all steps, from which on a method chosen by hand is doubtful; own choice:
fewer steps take milliseconds, and a stiff method is hardly faster."""


def describe_march(compiled: CompiledSystem, trajectory: Trajectory) -> dict[str, str]:
    """How many steps of a run near its nominal motion propagators took, or why none; nothing for other runs."""
    if compiled.propagation.reason == NOT_LINEAR:
        return {}
    counters, reason = trajectory.counters, compiled.propagation.reason or trajectory.no_march
    if counters.marched:
        return {"propagators": f"{counters.marched} of {counters.steps} steps"}
    return {"propagators": f"none: {reason or 'numbers that they depend on have other values in this run'}"}


def describe_choice(solver: Solver, trajectory: Trajectory, simulated_time: float) -> dict[str, str]:
    """The method of a run whose solver chose it, with the reason; nothing where the user chose it."""
    if solver.pair is None:
        return {}
    explicit, stiff = solver.pair
    stiffness = trajectory.stiffness
    if stiffness.stiff_phases:
        share = min(stiffness.stiff_time / simulated_time, 1.0) if simulated_time > 0 else 1.0
        phases = f" in {stiffness.stiff_phases} phases" if stiffness.stiff_phases > 1 else ""
        return {"method": f"{stiff} for {share:.3g} of the time{phases}, {explicit} otherwise: {_reason(stiffness)}"}
    if stiffness.trials:
        trials = f"steps of {stiff} that would pay, tried {stiffness.trials} times, were not accurate"
        return {"method": f"{explicit}: {trials}"}
    if math.isinf(stiffness.since):
        return {"method": f"{explicit}: accuracy limited its steps"}
    limited = f"from {stiffness.since:.6g} s stability limited its steps (to {stiffness.step:.3g} s)"
    return {"method": f"{explicit}: {limited}, but none of {stiff} that would pay fits between two instants"}


def _reason(stiffness: Stiffness) -> str:
    if not stiffness.replaced_step:
        return f"explicit steps became too small at {stiffness.replaced_at:.6g} s"
    shortest = f"to {stiffness.replaced_step:.3g} s at {stiffness.replaced_at:.6g} s"
    return f"a fast-decaying (stiff) part limited the explicit steps ({shortest})"


def report_stiffness(solver: Solver, trajectory: Trajectory) -> list[str]:
    """A sentence where an explicit method that the user chose was limited by stability."""
    stiffness, steps = trajectory.stiffness, trajectory.counters.steps
    if solver.pair or math.isinf(stiffness.since) or stiffness.limited_steps < max(LIMITED_STEPS, LIMITED_PART * steps):
        return []
    return [f"{describe_stiffness(trajectory)}; use method auto or rodas4p"]


def describe_stiffness(trajectory: Trajectory) -> str:
    stiffness = trajectory.stiffness
    limited = f"explicit steps are limited by stability (h = {stiffness.step:.3g} s), not accuracy"
    return f"stiff from t = {stiffness.since:.6g} s: {limited}"


# Residual of constraints at the start [m, rad, m/s or rad/s] that a run's solver would hardly notice.
START_LIMIT = 1e-5
# Part of its largest speed below which a joint stands still; part of the duration that is waiting, own choice.
STILL, WAITED = 1e-4, 0.4
# Rotation of a node [rad] up to which deformations may be taken as linear, own choice: its cosine is 12 % off 1.
BEND_LIMIT = 0.5


def find_doubts(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> list[str]:
    """What whoever uses the numbers should know."""
    column = {info.name: k for k, info in enumerate(compiled.recorded)}
    return [
        *_describe_start(column, trajectory),
        *_describe_bends(compiled, column, trajectory),
        *_describe_waiting(compiled, column, trajectory),
        *report_stiffness(solver, trajectory),
    ]


def _describe_waiting(compiled: CompiledSystem, column: dict[str, int], trajectory: Trajectory) -> list[str]:
    """A sentence where a machine stands still for most of a run that waits for an event which does not come."""
    scenario = compiled.system.scenario
    ends = [event.name for event in scenario.events if event.terminal]
    speeds = [k for name, k in column.items() if name.endswith(".velocity") and name.count(".") == 1]
    # An excerpt does not show when something moved last.
    if not ends or not speeds or not len(trajectory.y) or trajectory.n_rows:
        return []
    begin, passed = trajectory.time[0], trajectory.at_time - trajectory.time[0]
    if passed < (1 - 1e-9) * scenario.duration:
        return []
    sizes = np.abs(trajectory.y[:, speeds])
    moving = np.flatnonzero(np.any(sizes > STILL * (sizes.max(axis=0) + 1e-12), axis=1))
    since = float(trajectory.time[moving[-1]]) if moving.size else begin
    if since - begin > (1 - WAITED) * passed:
        return []
    names = ", ".join(f"'{name}'" for name in ends)
    what = f"nothing has moved since {since:.4g} s, and the run has waited for {names} in vain"
    return [f"{what}: targets, levels or conditions of the events do not fit each other"]


def _describe_start(column: dict[str, int], trajectory: Trajectory) -> list[str]:
    """A sentence where a run begins off its constraints: what follows is partly the correction of that."""
    names = [f"constraints.{level}_error" for level in ("position", "velocity")]
    if not set(names) <= column.keys() or not len(trajectory.y):
        return []
    position, velocity = (float(trajectory.y[0, column[name]]) for name in names)
    if max(position, velocity) <= START_LIMIT:
        return []
    off = f"{position:.3g} (positions) and {velocity:.3g} (velocities)"
    return [
        f"the start is off the constraints by {off}: initialisation = 'assembled' keeps what is given, finds the rest"
    ]


def _describe_bends(compiled: CompiledSystem, column: dict[str, int], trajectory: Trajectory) -> list[str]:
    """A sentence for each flexible body that is bent or twisted further than linear deformations go."""
    mechanism = compiled.system.scenario.machine.mechanism
    sentences = []
    for body in mechanism.flexible_bodies if mechanism else ():
        names = [f"{mode.name}.position" for mode in body.modes]
        if not set(names) <= column.keys():
            continue
        modal = trajectory.y[:, [column[name] for name in names]]
        turns = np.concatenate([np.array(node.turn) for node in body.nodes], axis=1)
        largest = float(np.max(np.abs(modal @ turns), initial=0.0))
        if largest > BEND_LIMIT:
            bent = f"flexible body '{body.name}' is bent by {largest:.3g} rad, beyond the range of linear deformations"
            sentences.append(f"{bent}: divide it into several on fixed joints")
    return sentences


KINDS = {Status.TERMINAL: OutcomeKind.STOPPED, Status.OVERFLOWN: OutcomeKind.OVERFLOW}
"""Kinds of outcome that do not have the name of the engine's status."""
BROKEN = (
    OutcomeKind.NOT_A_NUMBER,
    OutcomeKind.OVERFLOW,
    OutcomeKind.STEP_TOO_SMALL,
    OutcomeKind.NOT_SOLVED,
    OutcomeKind.STEP_LIMIT,
    OutcomeKind.RECORD_FULL,
)
"""Ends that joints which have become dependent may be behind."""


def describe_outcome(compiled: CompiledSystem, solver: Solver, trajectory: Trajectory) -> Outcome:
    """The outcome of a trajectory with its sentence."""
    kind = KINDS.get(trajectory.status) or OutcomeKind[trajectory.status.name]
    end = _End(compiled, solver, trajectory)
    if kind is OutcomeKind.STOPPED and end.guard.ending:
        kind = OutcomeKind[end.guard.ending.name]
    if kind in (OutcomeKind.FINISHED, OutcomeKind.STOPPED) and (broken := _first_broken(compiled, trajectory)):
        return Outcome(OutcomeKind.NOT_A_NUMBER, broken, trajectory.at_time)
    parallel = _describe_parallel(compiled, trajectory) if kind in BROKEN else ""
    return Outcome(kind, parallel or end.describe(kind), trajectory.at_time)


def describe_end(time: float) -> Outcome:
    """The outcome of a run that reached its end."""
    return Outcome(OutcomeKind.FINISHED, f"reached the end time {time:.6g} s", time)


def describe_stop(guard: Guard, time: float) -> Outcome:
    """The outcome of a run that a terminal event ended."""
    return Outcome(OutcomeKind.STOPPED, f"event '{guard.name}' ended the run at {time:.6g} s", time)


def _describe_parallel(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """The true cause of a broken run, where it is that joints have become dependent."""
    names = find_dependent_joints(compiled.system, trajectory.x)
    joints = " and ".join(f"'{name}'" for name in names)
    if points := find_carried_points(compiled.system, names):
        return (
            f"at {trajectory.at_time:.6g} s {joints} can rotate without moving anything that has inertia, since "
            f"{' and '.join(points)} {'has' if len(points) == 1 else 'have'} mass but no inertia: "
            "give them one, give a joint an armature, or fix one"
        )
    return joints and (
        f"at {trajectory.at_time:.6g} s {joints} have parallel axes with nothing heavy between them, so that nothing "
        "says how they share their motion: put these joints in another order, or keep the motion away from there"
    )


def describe_failure(trajectory: Trajectory, name: str, error: Exception) -> Outcome:
    """The outcome of a run in which a Python block or action raised an error."""
    sentence = f"'{name}' raised {type(error).__name__} at {trajectory.at_time:.6g} s: {error}"
    return Outcome(OutcomeKind.FAILED, sentence, trajectory.at_time)


def _first_broken(compiled: CompiledSystem, trajectory: Trajectory) -> str:
    """A sentence on the first recorded signal that is not finite; empty where all are."""
    finite = np.isfinite(trajectory.y)
    if finite.all():
        return ""
    row = int(np.argmin(finite.all(axis=1)))
    names = ", ".join(f"'{compiled.recorded[k].name}'" for k in np.flatnonzero(~finite[row])[:4])
    ended = f"reached {trajectory.at_time:.6g} s, but from {trajectory.time[row]:.6g} s on these are not finite numbers"
    return f"{ended}: {names}; look for a division by zero, a root of a negative number, or a number too large"
