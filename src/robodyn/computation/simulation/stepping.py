"""Stepped runs: how do runs go on from step to step, with other numbers in each, as a controller outside has it?

Numbers act from the beginning of a step to its end. Sampled blocks whose tick falls on the end of a step have seen
those of that step: what is set there reaches them at their next tick, as a command that arrives just after a sample.

There are two ways. The engine carries out any run (`SteppedRuns`). Robots of a solver with fixed steps in which nothing
happens but ticks and terminal events go through these steps together (`SteppedBatch`): one call computes a step of
several robots, and Python does nothing for a single one.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import casadi as ca
import numpy as np

from robodyn.base import Array, FlawList, report_progress
from robodyn.base.symbolic import tables
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import Ending
from robodyn.computation.engine import EngineRecording, ResumableRun, Status
from robodyn.computation.engine.pack import ManyCall, Pack, describe_missing_lanes, has_ended
from robodyn.computation.engine.problem import DEFAULT_FIXED_STEP
from robodyn.computation.native import (
    KernelModule,
    LaneModule,
    Options,
    compile_kernels,
    compile_lanes,
    has_wide_vectors,
)
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.computation.results.signal import Booleans
from robodyn.description.model import Solver

from .batch import (
    BatchRunner,
    PythonCalls,
    RunInputs,
    calls_python,
    make_pack,
    why_no_lanes,
)
from .compiled import CompiledSystem
from .outcomes import describe_failure, describe_outcome, describe_stop
from .rollout import STEPS
from .run_functions import LANES, MORE_LANES, choose_signals, is_due, plan_ticks
from .step_equations import FUSED_STEPS

T = TypeVar("T")
Columns = Mapping[str, Array]
"""Values by name, one a run."""


class SteppedRobots(ABC):
    """Robots of one system that are carried from step to step, each with numbers and a time of its own.

    Args:
        changing: tunable numbers that are set at each step; step: its length [s]; threads: that share the robots.

    Attributes:
        steps: of each robot (n,); most_steps: none has made more. outcomes: how the runs ended that ended in the last
            step, by their number.
    """

    def __init__(
        self,
        compiled: CompiledSystem,
        changing: Sequence[str],
        step: float,
        count: int,
        solver: Solver | None = None,
        threads: int = 1,
    ) -> None:
        system, flaws = compiled.system, FlawList()
        self.compiled, self.solver, self.step = compiled, solver or compiled.solver, step
        self.duration = system.scenario.duration
        self.runner = BatchRunner(compiled, self.solver, EngineRecording(kind="none"), 0.0, self.duration)
        for name in changing:
            if name in self.runner.deciding:
                what = "decides when references jump or how long signals are delayed, which is settled before a run"
                flaws.add(name, what, "set another number, such as that of a constant_reference")
        flaws.raise_if_any(f"steps of '{system.scenario.name}'")
        self.changing = np.array([system.places[name] for name in changing], int)
        self.most_steps, self.steps, self.outcomes = 0, np.zeros(count, int), dict[int, Outcome]()
        edges = np.linspace(0, count, min(threads, count) + 1).astype(int)
        self.shares = [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]
        self.pool = ThreadPoolExecutor(len(self.shares)) if len(self.shares) > 1 else None

    @abstractmethod
    def begin(self, rows: Sequence[int], parameters: Columns, initial: Columns) -> None:
        """Start some runs anew with these numbers, a column each; what is due at the start happens.

        Raises:
            ModelError: where a description refuses them.
        """
        self.steps[rows] = 0
        self.most_steps = int(self.steps.max())

    @abstractmethod
    def advance(self, numbers: Array, going: Booleans) -> None:
        """One step of the runs that are going, with these numbers (n, n_changing)."""

    def read_each(self, parameters: Columns, initial: Columns, count: int) -> Iterator[RunInputs]:
        """What each of so many runs begins with."""
        for k in range(count):
            numbers, starts = ({name: float(of[k]) for name, of in part.items()} for part in (parameters, initial))
            yield self.runner.read(numbers, starts)

    def work(self, task: Callable[[int], T]) -> list[T]:
        """Carry out a task for each share of the robots, by its number."""
        numbers = range(len(self.shares))
        return list(map(task, numbers) if self.pool is None else self.pool.map(task, numbers))

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()


# --------------------------------------------------------------------------------------------------
# By the engine, one run after the other or in lanes.


class EngineRobot(NamedTuple):
    """A robot in the engine: its run, its laws in Python, and the values of its tunable parameters."""

    run: ResumableRun
    calls: PythonCalls
    values: Array


class SteppedRuns(SteppedRobots):
    """Robots that the engine carries; nothing is recorded.

    Args:
        lanes: whether each thread computes several at once, see `simulate_many`; by default where it can.

    Attributes:
        time: of each [s]; signals: the recorded ones at that time (n, n_signals).
    """

    def __init__(
        self,
        compiled: CompiledSystem,
        changing: Sequence[str],
        step: float,
        count: int,
        solver: Solver | None = None,
        threads: int = 1,
        lanes: bool | None = None,
    ) -> None:
        super().__init__(compiled, changing, step, count, solver, threads)
        self.robots: dict[int, EngineRobot] = {}
        self.time, self.signals = np.zeros(count), np.zeros((count, len(compiled.recorded)))
        reason = why_no_lanes(compiled, self.solver)
        if lanes and reason:
            warnings.warn(f"no lanes: {reason}; robots take their steps one by one, to the same states", stacklevel=3)
        usable = lanes is not False and count >= 2 * threads and not reason
        self.packs = [make_pack(compiled) if usable else None for _ in self.shares]

    def begin(self, rows: Sequence[int], parameters: Columns, initial: Columns) -> None:
        super().begin(rows, parameters, initial)
        for k, inputs in zip(rows, self.read_each(parameters, initial, len(rows)), strict=True):
            integration, calls = self.runner.begin(inputs)
            integration.call_back(calls.run_task, calls.run_action, None)
            self.robots[k] = EngineRobot(ResumableRun(integration), calls, inputs.values)
            self.robots[k].run.go_on(0.0)
            self._note(k)

    def advance(self, numbers: Array, going: Booleans) -> None:
        self.outcomes = {}
        self.steps[going] += 1
        self.most_steps += 1
        # The last step may be shorter.
        ends = np.minimum(self.steps * self.step, self.duration)

        def advance_share(number: int) -> None:
            share = self.shares[number]
            some = [k for k in range(share.start, share.stop) if going[k]]
            for k in some:
                run, calls, values = self.robots[k]
                values[self.changing] = numbers[k]
                calls.p = self.compiled.module.prepare(values)
                run.change(calls.p)
            self._go_on(some, ends, self.packs[number])

        self.work(advance_share)

    def _go_on(self, some: list[int], ends: Array, pack: Pack | None) -> None:
        """Some runs, one after the other or in lanes; how they ended, where they did before their ends."""
        if pack is None or len(some) < 2:
            for k in some:
                run, calls, _ = self.robots[k]
                try:
                    run.go_on(float(ends[k]))
                except Exception as error:  # noqa: BLE001  a Python block or action may raise anything
                    self.outcomes[k] = describe_failure(run.finish(Status.FAILED), calls.running, error)
        else:
            for k in some:
                self.robots[k].run.open(float(ends[k]))
            integrations = [self.robots[k].run.integration for k in some]
            for integration, reason in zip(integrations, pack.advance(integrations), strict=True):
                if not has_ended(reason):
                    integration.loop()
        for k in some:
            self._note(k)
            run = self.robots[k].run
            if k not in self.outcomes and run.status is not Status.FINISHED:
                self.outcomes[k] = describe_outcome(self.compiled, self.solver, run.finish(run.status))

    def _note(self, k: int) -> None:
        """The time of a robot, and its signals in the order of `compiled.recorded`."""
        run, calls, _ = self.robots[k]
        outputs = self.compiled.module.kernels["outputs"](np.array([run.time]), run.x, run.d, run.m, calls.p)
        self.time[k], self.signals[k] = run.time, outputs[: self.signals.shape[1]]


# --------------------------------------------------------------------------------------------------
# Together: the same fixed steps for many robots. What is set from outside stands in the place of delayed signals, of
# which there are none:
#
#     held = [numbers that are set, time at the start of the step, length of the solver's step]


TOGETHER = 1e-9
"""Part of a step by which its parts may miss its end."""
TURNS = 12
"""Halvings of a step of the solver until a guard that turns near zero is on one side for certain."""
NEWTON_STEPS, SAME_INSTANT = 50, 1e-12
"""Until the instant of an event is known to this part of a step; as a rule three are enough."""


class Leg(NamedTuple):
    """Steps of a solver from one tick to the next, and what is sampled at its end."""

    begin: float
    h: float
    n: int
    ticks: tuple[str, ...]


def plan_legs(system: System, solver: Solver, step: float) -> tuple[Leg, ...]:
    """What happens in every step from outside; nothing where they do not all go alike."""
    period = float(system.discrete.base_period or step) if system.discrete.tasks else step
    length = solver.step or DEFAULT_FIXED_STEP
    count, parts = round(step / period), max(1, int(np.ceil(period / length - TOGETHER)))
    if abs(count * period - step) > TOGETHER * step or (parts > 1 and abs(parts * length - period) > TOGETHER * period):
        return ()
    planned, _ = plan_ticks(system)
    # Ticks from the first step on, and those of the two steps after it.
    due = [tuple(str(tick.function) for tick in planned if is_due(tick, k)) for k in range(1, 3 * count + 1)]
    if due[:count] != due[count : 2 * count] or due[:count] != due[2 * count :]:
        return ()
    return tuple(Leg(k * period, period / parts, parts, ticks) for k, ticks in enumerate(due[:count]))


def why_not_together(compiled: CompiledSystem, solver: Solver, step: float) -> str:
    """What keeps robots from going through fixed steps together; empty where nothing does."""
    system, guards = compiled.system, compiled.system.discrete.guards
    acting = any(guard.action or guard.call or guard.ending not in (None, Ending.STOPPED) for guard in guards)
    reasons = {
        f"{solver.method} chooses its steps": solver.adaptive,
        f"steps by {solver.method} are not traced": solver.method not in {**STEPS, **FUSED_STEPS},
        "laws or actions in plain Python are called one at a time": calls_python(system),
        "signals are delayed": bool(system.delays),
        "states have limits": bool(system.limited),
        "events act": acting or bool(system.discrete.problems or system.discrete.start_action),
        "references jump or bend at times of their own": bool(system.discrete.breaks),
        "states are put back on constraints after each step": system.expressions.projection is not None,
    }
    for reason, holds in reasons.items():
        if holds:
            return reason
    duration = system.scenario.duration
    if abs(round(duration / step) * step - duration) > TOGETHER * duration:
        return "the duration is not a whole number of steps: the last one is shorter"
    if not plan_legs(system, solver, step):
        return "sample times and the solver's steps do not divide the step"
    return describe_missing_lanes()


@report_progress("compiling")
def compile_steps(
    compiled: CompiledSystem, solver: Solver, changing: Sequence[str], legs: Sequence[Leg]
) -> tuple[KernelModule, LaneModule]:
    """Native code of a step of the solver, of what is sampled, and of `seen`: signals, guards and their rates."""
    system = compiled.system
    t, x, d, m, p = system.symbols
    held = ca.SX.sym("held", len(changing) + 2)
    h, places = ca.SX.sym("h"), [system.places[name] for name in changing]
    if solver.method in STEPS:
        end = STEPS[solver.method](system, h)
    else:
        end = FUSED_STEPS[solver.method](system)["fused_step"](t, ca.vertcat(x, h, t + h), d, m, p)
    own = system.expressions
    rates = system.guard_rates()(t, x, ca.vertcat(d, system.delayed_rates), m, p)
    ends = _terminal(system)
    picked = [own.outputs[k] for k in choose_signals(system, compiled.patterns)]
    watched = [*picked, *(own.guards[k] for k in ends), *(rates[k] for k in ends)]
    columns = {"step": end, "seen": ca.vertcat(*watched)}
    planned = {**plan_ticks(system)[1]}
    for name in dict.fromkeys(name for leg in legs for name in leg.ticks):
        columns[name] = planned[name](*system.symbols) if name in planned else own.updates[name]
    # What is set from outside is no parameter of which something could be computed once a run.
    symbols = ca.vertcat(t, h, *(p[k] for k in places))
    values = ca.vertcat(held[-2] + t, held[-1], *(held[k] for k in range(len(places))))
    inputs = [t, x, held, m, p]
    functions = {
        name: ca.Function(f"f{k}", inputs, [ca.densify(tables.substitute([column], symbols, values)[0])])
        for k, (name, column) in enumerate(columns.items())
    }
    options, place = Options(inexact=tuple(functions)), len(inputs) - 1
    module = compile_kernels(functions, place, data=system.data, quick=True, options=options)
    lanes = MORE_LANES if has_wide_vectors() else LANES
    return module, compile_lanes(functions, place, lanes, options)


def _terminal(system: System) -> list[int]:
    """Guards that end a run."""
    return [k for k, guard in enumerate(system.discrete.guards) if guard.ending]


class Robots:
    """The numbers of some robots, each a row, and the functions bound to them.

    Attributes:
        x, m, p: states, memory, parameters with what depends on them alone; held: what is set, see above; seen: their
            signals, guards and rates of these.
    """

    def __init__(self, code: tuple[KernelModule, LaneModule], *rows: Array) -> None:
        self.x, self.m, self.p, self.held, self.seen = rows
        module, self.vectors = code
        self.calls = {name: self._bind(name, module.data) for name in self.vectors.addresses}

    def _bind(self, name: str, data: Array) -> ManyCall:
        out = {"step": self.x, "seen": self.seen}.get(name, self.m)
        return ManyCall(self.vectors, name, [self.x, self.held, self.m, self.p, out], data)

    def look(self, time: float) -> None:
        """Find signals, guards and their rates, so long after the start of the step."""
        self.calls["seen"](time)

    def sample(self, leg: Leg) -> None:
        """What is sampled at the end of a leg."""
        for name in leg.ticks:
            self.calls[name](leg.begin + leg.n * leg.h)


class SteppedBatch(SteppedRobots):
    """Many robots of one system that go through fixed steps together.

    Raises:
        ValueError: where they cannot, see `why_not_together`.
    """

    def __init__(
        self,
        compiled: CompiledSystem,
        changing: Sequence[str],
        step: float,
        count: int,
        solver: Solver | None = None,
        threads: int = 1,
    ) -> None:
        if reason := why_not_together(compiled, solver or compiled.solver, step):
            raise ValueError(f"no steps together: {reason}")
        super().__init__(compiled, changing, step, count, solver, threads)
        self.system = compiled.system
        self.legs = plan_legs(self.system, self.solver, step)
        self.code = compile_steps(compiled, self.solver, changing, self.legs)
        module = self.code[0]
        shape = {"x": len(self.system.states), "m": len(self.system.memory), "held": len(changing) + 2}
        shape["p"] = module.n_parameters + module.n_prelude
        self.x, self.m, self.held, self.p = (np.zeros((count, shape[name])) for name in ("x", "m", "held", "p"))
        self.seen = np.zeros((count, module.kernels["seen"].out_sizes[0]))
        self.numbers, self.clock, self.zeros = self.held[:, :-2], self.held[:, -2], np.zeros(self.x.shape)
        self.robots = [self._robots(share) for share in self.shares]
        ends, self.n_y = _terminal(self.system), len(compiled.recorded)
        self.guards = [self.system.discrete.guards[k] for k in ends]

    def _robots(self, rows: Any) -> Robots:
        """Some robots: those of a slice where they stand, others as copies."""
        return Robots(self.code, *(table[rows] for table in (self.x, self.m, self.p, self.held, self.seen)))

    @property
    def time(self) -> Array:
        return self.steps * self.step

    @property
    def signals(self) -> Array:
        """The recorded signals of each robot (n, n_signals), in the order of `compiled.recorded`."""
        return self.seen[:, : self.n_y]

    def begin(self, rows: Sequence[int], parameters: Columns, initial: Columns) -> None:
        columns: Any = self.runner.read_rows(parameters, initial, len(rows))
        if columns is None:
            each = self.read_each(parameters, initial, len(rows))
            triples = zip(*((one.values, one.start.x, one.start.m) for one in each), strict=True)
            columns = tuple(np.array(part) for part in triples)
        super().begin(rows, parameters, initial)
        values, self.x[rows], self.m[rows] = columns
        self.p[rows] = self.code[0].prepare_rows(values)
        lengths = np.full(len(rows), self.legs[0].h)
        self.held[rows] = np.column_stack([values[:, self.changing], np.zeros(len(rows)), lengths])
        some, (ticks, _) = self._robots(rows), plan_ticks(self.system)
        some.sample(Leg(0.0, 0.0, 0, tuple(str(tick.function) for tick in ticks if is_due(tick, 0))))
        some.look(0.0)
        self.m[rows], self.seen[rows] = some.m, some.seen

    def advance(self, numbers: Array, going: Booleans) -> None:
        """What becomes of robots that are not going means nothing."""
        self.numbers[:] = numbers
        np.multiply(self.steps, self.step, out=self.clock)
        parts = self.work(self._advance_watched if self.guards else self._advance_share)
        self.steps += 1
        self.most_steps += 1
        self.outcomes = {k: end for part in parts for k, end in part.items() if going[k]}
        # 0 times anything else than a finite number is none.
        if math.isnan(np.vdot(self.x, self.zeros)):
            self._note_broken(going)

    def _advance_share(self, number: int) -> dict[int, Outcome]:
        robots = self.robots[number]
        for leg in self.legs:
            robots.calls["step"](leg.begin, leg.h, leg.n)
            robots.sample(leg)
        robots.look(self.step)
        return {}

    def _advance_watched(self, number: int) -> dict[int, Outcome]:
        """Advance all robots where events may end runs.

        A guard g that changes no faster than at both ends of the step cannot have been at zero where it stays farther
        away than that: |g| > step |dg/dt|. All other robots go through the step once more and are looked at closely.
        """
        share, robots, n = self.shares[number], self.robots[number], len(self.guards)
        x, m = robots.x.copy(), robots.m.copy()
        robots.look(0.0)
        before = robots.seen[:, -2 * n :].copy()
        self._advance_share(number)
        after = robots.seen[:, -2 * n :]
        near = np.minimum(np.abs(before[:, :n]), np.abs(after[:, :n]))
        rates = np.maximum(np.abs(before[:, n:]), np.abs(after[:, n:]))
        close = np.flatnonzero(((before[:, :n] * after[:, :n] <= 0) | (near <= self.step * rates)).any(axis=1))
        return self._find_ends(close + share.start, x[close], m[close]) if len(close) else {}

    def _find_ends(self, rows: Array, x: Array, m: Array) -> dict[int, Outcome]:
        """The robots that meet a terminal event within the step from x and m on, left there."""
        # `some` take the step piece by piece; `trial` take parts of a piece, to look for the instant of an event.
        some = Robots(self.code, x, m, self.p[rows], self.held[rows], self.seen[rows])
        trial = Robots(self.code, x.copy(), m, some.p, some.held.copy(), some.seen)
        n, going = len(self.guards), np.ones(len(rows), bool)
        ended: dict[int, Outcome] = {}
        for begin, h, leg in self._single_steps():

            def look_after(length: Any, begin: float = begin) -> Array:
                """Guards and their rates at the end of a step of these lengths [s], of a robot each."""
                trial.x[:], trial.held[:, -1] = some.x, length
                trial.calls["step"](begin)
                trial.held[:, -2] = some.held[:, -2] + length
                trial.look(begin)
                trial.held[:, -2] = some.held[:, -2]
                return trial.seen[:, -2 * n :].copy()

            meets, before, beyond, fired = self._bracket(look_after, h, going)
            if meets.any():
                length, first = self._locate(look_after, before, beyond, fired)
                for k in np.flatnonzero(meets & going).tolist():
                    time, row = float(some.held[k, -2] + begin + length[k]), int(rows[k])
                    ended[row] = describe_stop(self.guards[int(first[k])], time)
                    self.x[row], self.m[row], self.seen[row] = trial.x[k], some.m[k], trial.seen[k]
                going &= ~meets
            # Robots that go on take the whole piece.
            if not going.any():
                break
            some.held[:, -1] = h
            some.calls["step"](begin)
            if leg is not None:
                some.sample(leg)
        return ended

    def _locate(
        self, look_after: Callable[[Any], Array], before: Array, beyond: Array, fired: Booleans
    ) -> tuple[Array, Array]:
        """Where in a step the first of the guards that fire in it does, and which it is; robots are left there.

        Newton's method, length - g / g', kept between the last place known to be before and the first beyond.
        """
        n, start = len(self.guards), look_after(before)
        length = beyond
        for _ in range(NEWTON_STEPS):
            look = look_after(length)
            is_beyond = (self._cross(start, look) & fired).any(axis=1)
            before, beyond = np.where(is_beyond, before, length), np.where(is_beyond, length, beyond)
            with np.errstate(divide="ignore", invalid="ignore"):
                ahead = np.where(fired, length[:, None] - look[:, :n] / look[:, n:], np.inf)
            first = np.argmin(np.where(np.isfinite(ahead), ahead, np.inf), axis=1)
            aim = ahead[np.arange(len(ahead)), first]
            last, length = length, np.where((aim >= before) & (aim <= beyond), aim, 0.5 * (before + beyond))
            if (abs(length - last) <= SAME_INSTANT * self.step).all():
                break
        look_after(length)
        return length, first

    def _cross(self, before: Array, after: Array) -> Booleans:
        """Which guards pass zero in their direction between two looks at them."""
        n, directions = len(self.guards), np.array([guard.direction for guard in self.guards])
        g, g_after = before[:, :n], after[:, :n]
        rises, falls = (g < 0) & (g_after >= 0), (g > 0) & (g_after <= 0)
        return (rises & (directions >= 0)) | (falls & (directions <= 0))

    def _bracket(
        self, look_after: Callable[[Any], Array], h: float, going: Booleans
    ) -> tuple[Booleans, Array, Array, Booleans]:
        """Which robots meet an event within a step of the solver, between which places of it [s], and which guards.

        A guard may pass zero and come back: where it first approaches and then leaves it, the place between is looked
        at, until it is clear that it stays on its side.
        """
        n = len(self.guards)
        places, looks = [0.0, h], [look_after(0.0), look_after(h)]
        for _ in range(TURNS):
            turning = []
            for k in range(len(places) - 1):
                (g, rate), (g_after, rate_after) = ((look[:, :n], look[:, n:]) for look in looks[k : k + 2])
                near = np.minimum(abs(g), abs(g_after)) <= (places[k + 1] - places[k]) * np.maximum(
                    abs(rate), abs(rate_after)
                )
                turns = (g * g_after > 0) & (g * rate < 0) & (g_after * rate_after > 0) & near
                if turns[going].any():
                    turning.append(k)
            if not turning:
                break
            for k in reversed(turning):
                places.insert(k + 1, 0.5 * (places[k] + places[k + 1]))
                looks.insert(k + 1, look_after(places[k + 1]))
        fired = np.zeros((len(going), n), bool)
        before, beyond = np.zeros(len(going)), np.zeros(len(going))
        for k in range(len(places) - 1):
            fresh = self._cross(looks[k], looks[k + 1]) & ~fired.any(axis=1, keepdims=True)
            some = fresh.any(axis=1)
            before[some], beyond[some] = places[k], places[k + 1]
            fired |= fresh
        return fired.any(axis=1) & going, before, beyond, fired

    def _single_steps(self) -> Iterator[tuple[float, float, Leg | None]]:
        """The solver's steps one by one: begin, length, and the leg that one ends."""
        for leg in self.legs:
            for k in range(leg.n):
                yield leg.begin + k * leg.h, leg.h, leg if k == leg.n - 1 else None

    def _note_broken(self, going: Booleans) -> None:
        """The runs whose states are no finite numbers any more."""
        names = self.system.state_names
        for k in np.flatnonzero(going & ~np.isfinite(self.x).all(axis=1)).tolist():
            state = names[int(np.argmax(~np.isfinite(self.x[k])))]
            time = float(self.time[k])
            sentence = f"'{state}' stopped being a finite number by {time:.6g} s"
            self.outcomes.setdefault(k, Outcome(OutcomeKind.NOT_A_NUMBER, sentence, time))


def open_robots(
    compiled: CompiledSystem,
    changing: Sequence[str],
    step: float,
    count: int = 1,
    solver: Solver | None = None,
    threads: int = 1,
    lanes: bool | None = None,
) -> SteppedBatch | SteppedRuns:
    """Robots of a system to be carried from step to step: together where they can, else by the engine."""
    if why_not_together(compiled, solver or compiled.solver, step):
        return SteppedRuns(compiled, changing, step, count, solver, threads, lanes)
    return SteppedBatch(compiled, changing, step, count, solver, threads)
