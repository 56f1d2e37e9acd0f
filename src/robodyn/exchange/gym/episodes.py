"""Episodes of a task: what may be done to a scenario, what is seen of it, and what is it worth, robot by robot?

Plain arrays in and out, a row a robot; `environments.py` has the same in the words of Gymnasium.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robodyn.base import Array, FlawList, frozen
from robodyn.computation.assembly import assemble
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.computation.results.signal import Booleans
from robodyn.computation.simulation import CompiledSystem, compile_system
from robodyn.computation.simulation.batch import calls_python
from robodyn.computation.simulation.many import INITIAL, read_columns, split_starts
from robodyn.computation.simulation.stepping import open_robots
from robodyn.description.model import FormulaSignal, Scenario, Solver

REWARD = "reward"
Range = tuple[float, float]


@frozen
class Task:
    """A scenario with actions and observations. Its terminal events terminate an episode, its duration truncates one.

    Attributes:
        actions: tunable number -> lowest and highest value; set at the beginning of each step and held.
        observations: signals, read at the end of each step.
        reward: at the end of each step: a formula of signals, `"1 - (pole.position / 0.2)^2"`; a `FormulaSignal`, whose
            parameters have units, where it brings together several; or a function of the observations by name.
        step: time of a step [s].
        random: tunable number or `initial.<state>` -> range it is drawn from at each reset, uniformly.
        solver: the scenario's own by default.
    """

    scenario: Scenario
    actions: Mapping[str, Range]
    observations: Sequence[str]
    reward: str | FormulaSignal | Callable[[Mapping[str, float]], float]
    step: float
    random: Mapping[str, Range] = field(default_factory=dict)
    solver: Solver | None = None

    @cached_property
    def compiled(self) -> CompiledSystem:
        """Native code of the scenario, the reward among its signals.

        Raises:
            ModelError: with every problem of the task.
        """
        scenario, machine = self.scenario, self.scenario.machine
        if self.formula is not None:
            scenario = replace(scenario, machine=replace(machine, signals=(*machine.signals, self.formula)))
        system = assemble(scenario)
        flaws = FlawList()
        # What names and ranges say by themselves.
        duration, known = system.scenario.duration, system.signal_names
        if not 0 < self.step <= duration:
            flaws.add("step", f"must be positive and at most the duration of {duration:g} s, is {self.step:g}")
        for path, names in (("actions", self.actions), ("observations", self.observations)):
            if not names:
                flaws.add(path, "is empty", "name at least one")
        flaws.add_unknown(self.observations, known, "there is no such signal", "observations")
        for name in self.actions:
            if name.startswith(INITIAL):
                flaws.add(f"actions.{name}", "is a start value, no number that acts during a run", "draw it: random")
            if name in self.random:
                flaws.add(f"random.{name}", "has no effect: it is an action, set at each step", "leave it out")
        for path, given in (("actions", self.actions), ("random", self.random)):
            for name, limits in given.items():
                if len(limits) != 2 or not np.all(np.isfinite(limits)) or limits[0] > limits[1]:
                    flaws.add(f"{path}.{name}", f"must have a lowest and a highest value, has {limits}")
        # Both ends of every range, as two runs of a batch would have them.
        ranges = {**self.actions, **self.random}
        parameters, initial = split_starts(ranges)
        if ranges:
            read_columns(flaws, system, parameters, initial)
        flaws.raise_if_any(f"task of '{scenario.name}'")
        signals = [*self.observations, *([self.formula.name] if self.formula else [])]
        compiled = compile_system(system, self.solver, signals=tuple(dict.fromkeys(signals)))
        for end in (0, 1):
            compiled.check_numbers({name: limits[end] for name, limits in parameters.items()})
        return compiled

    @cached_property
    def formula(self) -> FormulaSignal | None:
        """The reward as a signal of the scenario, where it is none of Python's."""
        reward = FormulaSignal(REWARD, self.reward) if isinstance(self.reward, str) else self.reward
        return reward if isinstance(reward, FormulaSignal) else None

    @cached_property
    def columns(self) -> Array:
        """Where the observations are among the recorded signals."""
        names = [info.name for info in self.compiled.recorded]
        return np.array([names.index(name) for name in self.observations], int)

    @cached_property
    def reward_column(self) -> int | None:
        """Where the reward is among the recorded signals."""
        names = [info.name for info in self.compiled.recorded]
        return names.index(self.formula.name) if self.formula else None

    def find_rewards(self, signals: Array) -> Array:
        """Rewards of the present signals, a row a robot."""
        if self.reward_column is not None:
            return signals[:, self.reward_column].copy()
        function: Any = self.reward
        rows = signals[:, self.columns].tolist()
        return np.array([float(function(dict(zip(self.observations, row, strict=True)))) for row in rows])

    def draw(self, generators: Sequence[np.random.Generator]) -> dict[str, Array]:
        """Tunable numbers and start values, `initial.<state>`, of an episode of each generator."""
        rows = [[random.uniform(*limits) for limits in self.random.values()] for random in generators]
        return dict(zip(self.random, np.array(rows, float).reshape(len(rows), -1).T, strict=True))


# --------------------------------------------------------------------------------------------------
# Episodes of many robots at once.


ROUNDING = 1e-9
"""Part of a step by which the last one may be shorter and still be whole."""


class Step(NamedTuple):
    """The result of a step, a row a robot.

    Attributes:
        terminated: by an event; truncated: at the end of the duration, or because the run cannot go on.
        outcomes: how the runs ended that ended before the step did, by number of the robot.
    """

    observations: Array
    rewards: Array
    terminated: Booleans
    truncated: Booleans
    outcomes: Mapping[int, Outcome]


class Episodes:
    """Episodes of one task, each of a robot with numbers of its own. One that has ended begins anew with the next step,
    whose action it does not use.

    Where nothing happens to a robot but ticks and terminal events, and steps are fixed, all go through them together,
    several to a call and without Python for a single one; else the engine carries out each run.

    Args:
        threads: that share the robots.
        lanes: whether the engine computes several robots at once, see `simulate_many`; by default where they can be.
            States are the same.

    Attributes:
        ended: robots whose episode has ended (n,).
    """

    def __init__(self, task: Task, num_envs: int = 1, threads: int = 1, lanes: bool | None = None) -> None:
        flaws = FlawList()
        for name, number in (("num_envs", num_envs), ("threads", threads)):
            if number < 1:
                flaws.add(name, f"must be at least 1, is {number}")
        if threads > 1 and calls_python(task.compiled.system):
            what = "laws in plain Python may keep something between calls and run in one thread"
            flaws.add("threads", what, "leave it out, or let them be native")
        flaws.raise_if_any("episodes")
        self.task, self.count = task, num_envs
        self.robots = open_robots(task.compiled, tuple(task.actions), task.step, num_envs, task.solver, threads, lanes)
        limits = np.array(list(task.actions.values()), float)
        self.limits = limits.T
        # Those of single precision may lie beside the ones that were given.
        self.low, self.high = limits.T.astype(np.float32)
        self.exact = bool((self.low >= self.limits[0]).all() and (self.high <= self.limits[1]).all())
        self.allowed = list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        # The last step may be shorter.
        self.last = int(np.ceil(self.robots.duration / task.step - ROUNDING))
        self.ended, self.all = np.zeros(num_envs, bool), np.ones(num_envs, bool)
        self.some_ended = False
        self.generators: list[np.random.Generator] = []

    def reset(
        self, seed: int | Sequence[int | None] | None = None, changes: Mapping[str, float] | None = None
    ) -> Array:
        """Begin anew; what is seen then.

        Args:
            seed: robot k draws its numbers with `seed + k`; by default they go on drawing as before.
            changes: tunable numbers and `initial.<state>` of these episodes, in the place of what is drawn.

        Raises:
            ModelError: where a description refuses numbers.
        """
        if seed is not None or not self.generators:
            self.generators = [np.random.Generator(np.random.PCG64(one)) for one in self._spread(seed)]
        self.ended[:] = self.some_ended = False
        self._begin(range(self.count), changes or {})
        return self.robots.signals[:, self.task.columns]

    def _spread(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if isinstance(seed, int):
            return [seed + k for k in range(self.count)]
        if seed is not None and len(seed) != self.count:
            raise ValueError(f"seed: must be a number or {self.count} of them, has {len(seed)}")
        return [None] * self.count if seed is None else seed

    def _begin(self, rows: Sequence[int], changes: Mapping[str, float]) -> None:
        drawn = self.task.draw([self.generators[k] for k in rows])
        drawn |= {name: np.full(len(rows), value) for name, value in changes.items()}
        self.robots.begin(list(rows), *split_starts(drawn))

    def step(self, actions: Any) -> Step:
        """Hold actions (n, n_actions) for one step.

        Raises:
            ValueError: where one is not within its range.
        """
        robots, started = self.robots, self.ended.nonzero()[0].tolist() if self.some_ended else []
        robots.advance(self.read_actions(actions), ~self.ended if self.some_ended else self.all)
        terminated, truncated, outcomes = np.zeros(self.count, bool), np.zeros(self.count, bool), robots.outcomes
        observations, rewards = robots.signals[:, self.task.columns], self.task.find_rewards(robots.signals)
        self.some_ended = bool(outcomes) or robots.most_steps >= self.last
        if self.some_ended:
            truncated = robots.steps >= self.last
            for k, outcome in outcomes.items():
                terminated[k] = outcome.kind is OutcomeKind.STOPPED
                truncated[k] = not terminated[k]
        if started:
            self._begin(started, {})
            observations[started] = robots.signals[started][:, self.task.columns]
            truncated[started], rewards[started] = False, 0.0
        if self.some_ended:
            self.ended = terminated | truncated
            self.some_ended = bool(self.ended.any())
        elif started:
            self.ended = np.zeros(self.count, bool)
        return Step(observations, rewards, terminated, truncated, outcomes)

    def read_actions(self, actions: Any) -> Array:
        """The numbers to hold."""
        values = np.asarray(actions, np.float32)
        if values.shape == (self.count, len(self.low)):
            # Of one robot, Python compares a few numbers faster than arrays are made.
            if self.count == 1:
                pairs = zip(values[0].tolist(), self.allowed, strict=True)
                fits = all(low <= value <= high for value, (low, high) in pairs)
            else:
                fits = bool(((values >= self.low) & (values <= self.high)).all())
            if fits:
                return values if self.exact else np.clip(values, *self.limits)
            values = values[int(np.argmin(((values >= self.low) & (values <= self.high)).all(axis=1)))]
        elif self.count == 1 and values.shape[:1] == (1,):
            values = values[0]
        ranges = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in self.task.actions.items())
        raise ValueError(f"action: must be within {ranges}, is {values.tolist()}: clip it (numpy.clip, ClipAction)")

    def close(self) -> None:
        """Let threads go."""
        self.robots.close()
