"""Stepped runs: how do runs go on from step to step, with other numbers in each, as a controller outside has it?

Numbers act from the beginning of a step to its end. Sampled blocks whose tick falls on the end of a step have seen
those of that step: what is set there reaches them at their next tick, as a command that arrives just after a sample.

There are two ways. The engine carries out any run (`SteppedRun`). Robots of a solver with fixed steps in which nothing
happens but ticks and terminal events go through these steps together (`SteppedBatch`): one call computes a step of
several robots, and Python does nothing for a single one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.symbolic import tables
from robodyn.base.waiting import report_progress
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
from robodyn.computation.results.signal import Booleans, Floats
from robodyn.computation.simulation.batch import BatchRunner, RunInputs, calls_python, make_pack, why_no_lanes
from robodyn.computation.simulation.compiled import CompiledSystem, Tick
from robodyn.computation.simulation.outcomes import describe_failure, describe_outcome, describe_stop
from robodyn.computation.simulation.rollout import STEPS
from robodyn.computation.simulation.run_functions import LANES, MORE_LANES, choose_signals, plan_ticks
from robodyn.computation.simulation.step_equations import FUSED_STEPS
from robodyn.description.model import Solver

# --------------------------------------------------------------------------------------------------
# By the engine, one run after the other or in lanes.


def check_changing(runner: BatchRunner, changing: Sequence[str]) -> None:
    """Refuse numbers that cannot change from step to step."""
    flaws = FlawList()
    for name in changing:
        if name in runner.deciding:
            what = "decides when references jump or how long signals are delayed, which is settled before a run"
            flaws.add(name, what, "set another number, such as that of a constant_reference")
    flaws.raise_if_any(f"steps of '{runner.compiled.system.scenario.name}'")


class SteppedRun:
    """Runs of a compiled system, one after the other, each in steps; nothing is recorded.

    Args:
        changing: tunable numbers that are set at each step.
    """

    def __init__(self, compiled: CompiledSystem, changing: Sequence[str], solver: Solver | None = None) -> None:
        scenario, self.compiled, self.solver = compiled.system.scenario, compiled, solver or compiled.solver
        self.duration = scenario.duration
        self.runner = BatchRunner(compiled, self.solver, EngineRecording(kind="none"), 0.0, self.duration)
        check_changing(self.runner, changing)
        self.changing = np.array([compiled.system.places[name] for name in changing], int)
        self.outputs = compiled.module.kernels["outputs"]

    def begin(self, inputs: RunInputs) -> None:
        """Start anew; what is due at the start happens."""
        self.values = inputs.values
        integration, self.calls = self.runner.begin(inputs)
        integration.call_back(self.calls.run_task, self.calls.run_action, None)
        self.run = ResumableRun(integration)
        self.run.go_on(0.0)

    @property
    def time(self) -> float:
        return self.run.time

    def read(self) -> np.ndarray:
        """The recorded signals at the present time, in the order of `compiled.recorded`."""
        run = self.run
        return self.outputs(np.array([run.time]), run.x, run.d, run.m, self.calls.p)

    def advance(self, t_end: float, numbers: Sequence[float]) -> Outcome | None:
        """Go on with these numbers, in the order of `changing`; how the run ended, where it did before t_end."""
        self.change(numbers)
        try:
            self.run.go_on(t_end)
        except Exception as error:  # noqa: BLE001  a Python block or action may raise anything
            return describe_failure(self.run.finish(Status.FAILED), self.calls.running, error)
        return self.outcome()

    def change(self, numbers: Sequence[float]) -> None:
        """Set the numbers that change."""
        self.values[self.changing] = numbers
        self.calls.p = self.compiled.module.prepare(self.values)
        self.run.change(self.calls.p)

    def outcome(self) -> Outcome | None:
        """How the run ended, where it did before the time that it was to reach."""
        status = self.run.status
        if status is Status.FINISHED:
            return None
        return describe_outcome(self.compiled, self.solver, self.run.finish(status))


Columns = Mapping[str, Floats]
"""Values by name, one a run."""


def read_each(runner: BatchRunner, parameters: Columns, initial: Columns, count: int) -> Iterator[RunInputs]:
    """What each of so many runs begins with."""
    for k in range(count):
        numbers, starts = ({name: float(column[k]) for name, column in part.items()} for part in (parameters, initial))
        yield runner.read(numbers, starts)


class SteppedRuns:
    """Runs of one system that the engine carries from step to step, each with numbers of its own.

    Args:
        changing: tunable numbers that are set at each step; step: its length [s]; threads: that share the runs.
        lanes: whether each thread computes several at once, see `simulate_many`; by default where it can.

    Attributes:
        steps: of each run (n,); most_steps: no run has made more. time: of each [s]; signals: the recorded ones at
            that time (n, n_signals). outcomes: how the runs ended
            that ended in the last step, by their number.
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
        self.runs = [SteppedRun(compiled, changing, solver) for _ in range(count)]
        self.step, self.duration, self.runner = step, self.runs[0].duration, self.runs[0].runner
        self.time, self.signals = np.zeros(count), np.zeros((count, len(compiled.recorded)))
        self.most_steps, self.steps, self.outcomes = 0, np.zeros(count, int), dict[int, Outcome]()
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.shares = [range(k, count, threads) for k in range(threads)]
        reason = why_no_lanes(compiled, self.runs[0].solver)
        if lanes and reason:
            warnings.warn(f"no lanes: {reason}; robots take their steps one by one, to the same states", stacklevel=3)
        usable = lanes is not False and count >= 2 * threads and not reason
        self.packs = [make_pack(compiled) if usable else None for _ in self.shares]

    def begin(self, rows: Sequence[int], parameters: Columns, initial: Columns) -> None:
        """Start some runs anew with these numbers, a column each; what is due at the start happens.

        Raises:
            ModelError: where a description refuses them.
        """
        self.steps[rows] = 0
        self.most_steps = int(self.steps.max())
        for k, inputs in zip(rows, read_each(self.runner, parameters, initial, len(rows)), strict=True):
            self.runs[k].begin(inputs)
            self._note(k)

    def advance(self, numbers: Floats, going: Booleans) -> None:
        """One step of the runs that are going, with these numbers (n, n_changing)."""
        self.outcomes = {}
        self.steps[going] += 1
        self.most_steps += 1
        # The last step may be shorter.
        ends = np.minimum(self.steps * self.step, self.duration)

        def work(share: range, pack: Pack | None) -> None:
            self._advance_some([k for k in share if going[k]], numbers, ends, pack)

        if self.pool is None:
            work(self.shares[0], self.packs[0])
        else:
            list(self.pool.map(work, self.shares, self.packs))

    def _advance_some(self, some: list[int], numbers: Floats, ends: Floats, pack: Pack | None) -> None:
        """Some runs, one after the other or in lanes."""
        if pack is None or len(some) < 2:
            ended = [self.runs[k].advance(float(ends[k]), numbers[k]) for k in some]
        else:
            for k in some:
                self.runs[k].change(numbers[k])
                self.runs[k].run.open(float(ends[k]))
            integrations = [self.runs[k].run.integration for k in some]
            for integration, reason in zip(integrations, pack.advance(integrations), strict=True):
                if not has_ended(reason):
                    integration.loop()
            ended = [self.runs[k].outcome() for k in some]
        for k, outcome in zip(some, ended, strict=True):
            self._note(k)
            if outcome is not None:
                self.outcomes[k] = outcome

    def _note(self, k: int) -> None:
        self.time[k], self.signals[k] = self.runs[k].time, self.runs[k].read()[: self.signals.shape[1]]

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()


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
    due = [tuple(str(tick.function) for tick in planned if _is_due(tick, k)) for k in range(1, 3 * count + 1)]
    if due[:count] != due[count : 2 * count] or due[:count] != due[2 * count :]:
        return ()
    return tuple(Leg(k * period, period / parts, parts, ticks) for k, ticks in enumerate(due[:count]))


def _is_due(tick: Tick, number: int) -> bool:
    return number >= tick.offset and (number - tick.offset) % tick.period == 0


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
        return "the duration is no whole number of steps: the last one is shorter"
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
    seen = [*picked, *(own.guards[k] for k in ends), *(rates[k] for k in ends)]
    columns = {"step": end, "seen": ca.vertcat(*seen)}
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

    def __init__(self, code: tuple[KernelModule, LaneModule], *rows: Floats) -> None:
        self.x, self.m, self.p, self.held, self.seen = rows
        module, self.vectors = code
        self.calls = {name: self._bind(name, module.data) for name in self.vectors.addresses}

    def _bind(self, name: str, data: Floats) -> ManyCall:
        out = {"step": self.x, "seen": self.seen}.get(name, self.m)
        return ManyCall(self.vectors, name, [self.x, self.held, self.m, self.p, out], data)

    def look(self, time: float) -> None:
        """Find signals, guards and their rates, so long after the start of the step."""
        self.calls["seen"](time)

    def sample(self, leg: Leg) -> None:
        """What is sampled at the end of a leg."""
        for name in leg.ticks:
            self.calls[name](leg.begin + leg.n * leg.h)


class SteppedBatch:
    """Many robots of one system that go through fixed steps together, each with numbers and a time of its own.

    Args:
        changing: tunable numbers that are set at each step; step: its length [s].
        threads: that share the robots.

    Attributes:
        steps, most_steps, time, signals, outcomes: as of `SteppedRuns`.

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
        self.compiled, self.system, self.solver, self.step = compiled, compiled.system, solver or compiled.solver, step
        if reason := why_not_together(compiled, self.solver, step):
            raise ValueError(f"no steps together: {reason}")
        self.duration = self.system.scenario.duration
        self.runner = BatchRunner(compiled, self.solver, EngineRecording(kind="none"), 0.0, self.duration)
        check_changing(self.runner, changing)
        self.changing = np.array([self.system.places[name] for name in changing], int)
        self.legs = plan_legs(self.system, self.solver, step)
        self.code = compile_steps(compiled, self.solver, changing, self.legs)
        module = self.code[0]
        shape = {"x": len(self.system.states), "m": len(self.system.memory), "held": len(changing) + 2}
        shape["p"] = module.n_parameters + module.n_prelude
        self.x, self.m, self.held, self.p = (np.zeros((count, shape[name])) for name in ("x", "m", "held", "p"))
        self.seen = np.zeros((count, module.kernels["seen"].out_sizes[0]))
        self.numbers, self.clock = self.held[:, :-2], self.held[:, -2]
        self.most_steps, self.steps, self.zeros = 0, np.zeros(count, int), np.zeros(self.x.shape)
        self.outcomes: dict[int, Outcome] = {}
        edges = np.linspace(0, count, min(threads, count) + 1).astype(int)
        self.shares = [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]
        self.robots = [self._robots(share) for share in self.shares]
        self.pool = ThreadPoolExecutor(len(self.shares)) if len(self.shares) > 1 else None
        ends, self.n_y = _terminal(self.system), len(compiled.recorded)
        self.guards = [self.system.discrete.guards[k] for k in ends]

    def _robots(self, rows: Any) -> Robots:
        """Some robots: those of a slice where they stand, others as copies."""
        return Robots(self.code, *(table[rows] for table in (self.x, self.m, self.p, self.held, self.seen)))

    @property
    def time(self) -> Floats:
        return self.steps * self.step

    @property
    def signals(self) -> Floats:
        """The recorded signals of each robot (n, n_signals), in the order of `compiled.recorded`."""
        return self.seen[:, : self.n_y]

    def begin(self, rows: Sequence[int], parameters: Columns, initial: Columns) -> None:
        """See `SteppedRuns.begin`."""
        columns: Any = self.runner.read_rows(parameters, initial, len(rows))
        if columns is None:
            each = list(read_each(self.runner, parameters, initial, len(rows)))
            triples = zip(*((one.values, one.start.x, one.start.m) for one in each), strict=True)
            columns = tuple(np.array(part) for part in triples)
        values, self.x[rows], self.m[rows] = columns
        self.p[rows] = self.code[0].prepare_rows(values)
        lengths = np.full(len(rows), self.legs[0].h)
        self.held[rows] = np.column_stack([values[:, self.changing], np.zeros(len(rows)), lengths])
        self.steps[rows] = 0
        self.most_steps = int(self.steps.max())
        some, (ticks, _) = self._robots(rows), plan_ticks(self.system)
        some.sample(Leg(0.0, 0.0, 0, tuple(str(tick.function) for tick in ticks if _is_due(tick, 0))))
        some.look(0.0)
        self.m[rows], self.seen[rows] = some.m, some.seen

    def advance(self, numbers: Floats, going: Booleans) -> None:
        """One step with these numbers (n, n_changing); what becomes of robots that are not going means nothing."""
        self.numbers[:] = numbers
        np.multiply(self.steps, self.step, out=self.clock)
        work = self._advance_watched if self.guards else self._advance_share
        if self.pool is None:
            ended = work(0)
        else:
            ended = {k: end for part in self.pool.map(work, range(len(self.shares))) for k, end in part.items()}
        self.steps += 1
        self.most_steps += 1
        self.outcomes = {k: end for k, end in ended.items() if going[k]} if ended else ended
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
        """The same, where events may end runs.

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

    def _find_ends(self, rows: Floats, x: Floats, m: Floats) -> dict[int, Outcome]:
        """The robots that meet a terminal event within the step from x and m on, left there."""
        some = Robots(self.code, x, m, self.p[rows], self.held[rows], self.seen[rows])
        trial = Robots(self.code, x.copy(), m, some.p, some.held.copy(), some.seen)
        n, going = len(self.guards), np.ones(len(rows), bool)
        ended: dict[int, Outcome] = {}
        for begin, h, leg in self._single_steps():

            def look_after(length: Any, begin: float = begin) -> Floats:
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
            if not going.any():
                break
            some.held[:, -1] = h
            some.calls["step"](begin)
            if leg is not None:
                some.sample(leg)
        return ended

    def _locate(
        self, look_after: Callable[[Any], Floats], before: Floats, beyond: Floats, fired: Booleans
    ) -> tuple[Floats, np.ndarray]:
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

    def _cross(self, before: Floats, after: Floats) -> Booleans:
        """Which guards pass zero in their direction between two looks at them."""
        n, directions = len(self.guards), np.array([guard.direction for guard in self.guards])
        g, g_after = before[:, :n], after[:, :n]
        rises, falls = (g < 0) & (g_after >= 0), (g > 0) & (g_after <= 0)
        return (rises & (directions >= 0)) | (falls & (directions <= 0))

    def _bracket(
        self, look_after: Callable[[Any], Floats], h: float, going: Booleans
    ) -> tuple[Booleans, Floats, Floats, Booleans]:
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

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()


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
