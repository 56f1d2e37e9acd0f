"""Reinforcement learning: a scenario as an environment of Gymnasium (extra `gymnasium`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System, assemble
from robodyn.computation.engine.pack import Pack
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation import CompiledSystem, compile_system
from robodyn.computation.simulation.batch import calls_python, make_pack, why_no_lanes
from robodyn.computation.simulation.many import INITIAL, read_columns
from robodyn.computation.simulation.stepping import SteppedRun, advance_together
from robodyn.description.model import FormulaSignal, Scenario, Solver

__all__ = ["ScenarioEnv", "ScenarioVectorEnv", "Task"]

# --------------------------------------------------------------------------------------------------
# Task of an environment: what may be done to a scenario, what is seen of it, and what is it worth?


REWARD = "reward"
Range = tuple[float, float]


@dataclass(frozen=True)
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
        self._check(flaws, system)
        # Both ends of every range, as two runs of a batch would have them.
        ranges = {**self.actions, **self.random}
        parameters = {name: limits for name, limits in ranges.items() if not name.startswith(INITIAL)}
        initial = {name.removeprefix(INITIAL): limits for name, limits in ranges.items() if name.startswith(INITIAL)}
        if ranges:
            read_columns(flaws, system, parameters, initial)
        flaws.raise_if_any(f"task of '{scenario.name}'")
        signals = [*self.observations, *([self.formula.name] if self.formula else [])]
        compiled = compile_system(system, self.solver, signals=tuple(dict.fromkeys(signals)))
        for end in (0, 1):
            compiled.check_numbers({name: limits[end] for name, limits in parameters.items()})
        return compiled

    def _check(self, flaws: FlawList, system: System) -> None:
        """What names and ranges say by themselves."""
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

    @cached_property
    def formula(self) -> FormulaSignal | None:
        """The reward as a signal of the scenario, where it is none of Python's."""
        reward = FormulaSignal(REWARD, self.reward) if isinstance(self.reward, str) else self.reward
        return reward if isinstance(reward, FormulaSignal) else None

    @cached_property
    def columns(self) -> np.ndarray:
        """Where the observations are among the recorded signals."""
        names = [info.name for info in self.compiled.recorded]
        return np.array([names.index(name) for name in self.observations], int)

    @cached_property
    def reward_column(self) -> int | None:
        """Where the reward is among the recorded signals."""
        names = [info.name for info in self.compiled.recorded]
        return names.index(self.formula.name) if self.formula else None

    def find_reward(self, signals: Floats) -> float:
        """What the present signals are worth."""
        if self.reward_column is not None:
            return float(signals[self.reward_column])
        function: Any = self.reward
        return float(function(dict(zip(self.observations, signals[self.columns].tolist(), strict=True))))

    def draw(self, random: np.random.Generator) -> tuple[dict[str, float], dict[str, float]]:
        """Tunable numbers and start values of one episode."""
        drawn = {name: float(random.uniform(*limits)) for name, limits in self.random.items()}
        initial = {name.removeprefix(INITIAL): value for name, value in drawn.items() if name.startswith(INITIAL)}
        return {name: value for name, value in drawn.items() if not name.startswith(INITIAL)}, initial


# --------------------------------------------------------------------------------------------------
# Environments of Gymnasium: one robot, or many of one task at once, that are acted on from step to step.


try:
    from gymnasium import Env
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    message = "robodyn.exchange.gym needs gymnasium: pip install 'robodyn[gymnasium]'"
    raise ImportError(message, name="gymnasium") from error


ROUNDING = 1e-9
"""Part of a step by which the last one may be shorter and still be whole."""


class StepResult(NamedTuple):
    """What a step gives, in the words of Gymnasium; info says how a run ended."""

    observation: Floats
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Episode:
    """The present run of an environment."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.run = SteppedRun(task.compiled, tuple(task.actions), task.solver)
        limits = np.array(list(task.actions.values()), float)
        self.low, self.high = limits.T.astype(np.float32)
        # Those of single precision may lie beside the ones that were given.
        self.allowed = list(zip(self.low.tolist(), self.high.tolist(), *limits.T.tolist(), strict=True))
        # The last step may be shorter.
        self.last = int(np.ceil(self.run.duration / task.step - ROUNDING))
        self.steps = 0

    def reset(self, random: np.random.Generator) -> Floats:
        self.steps = 0
        self.run.begin(*self.task.draw(random))
        return self.run.read()[self.task.columns]

    def step(self, action: Any) -> StepResult:
        """Hold an action for one step.

        Raises:
            ValueError: where it is not within the action space.
        """
        t_end, held = self.begin_step(action)
        return self.end_step(self.run.advance(t_end, held))

    def begin_step(self, action: Any) -> tuple[float, list[float]]:
        """When the step ends, and the numbers held until then."""
        held = self._check(action)
        self.steps += 1
        return min(self.steps * self.task.step, self.run.duration), held

    def end_step(self, outcome: Outcome | None) -> StepResult:
        """What there is at the end of the step."""
        signals = self.run.read()
        terminated = outcome is not None and outcome.kind is OutcomeKind.STOPPED
        truncated = not terminated and (outcome is not None or self.steps >= self.last)
        info = {"time": self.run.time, "outcome": outcome.sentence} if outcome else {"time": self.run.time}
        return StepResult(signals[self.task.columns], self.task.find_reward(signals), terminated, truncated, info)

    def _check(self, action: Any) -> list[float]:
        """The numbers to hold; a few of them are looked at faster one by one than as an array."""
        given = np.asarray(action, np.float32).tolist()
        if isinstance(given, list) and len(given) == len(self.allowed):
            pairs = list(zip(given, self.allowed, strict=True))
            if all(isinstance(value, float) and low <= value <= high for value, (low, high, *_) in pairs):
                return [min(max(value, lower), upper) for value, (*_, lower, upper) in pairs]
        allowed = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in self.task.actions.items())
        raise ValueError(f"action: must be within {allowed}, is {action}: clip it (gymnasium.wrappers.ClipAction)")


def action_space(episode: Episode) -> Any:
    return Box(episode.low, episode.high, dtype=np.float32)


def observation_space(task: Task) -> Any:
    return Box(-np.inf, np.inf, (len(task.observations),), np.float64)


class ScenarioEnv(Env):
    """A task as a `gymnasium.Env`: the same seed and actions, the same episode to the last bit.

    An episode is truncated at the end of the scenario's duration, or where the run cannot go on: `info["outcome"]` then
    says why. It is terminated by a terminal event.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, task: Task) -> None:
        self.episode = Episode(task)
        self.action_space, self.observation_space = action_space(self.episode), observation_space(task)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        if options:
            raise ValueError(f"options: there are none, given are {options}")
        super().reset(seed=seed)
        return self.episode.reset(self.np_random), {}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        return self.episode.step(action)


Stepped = tuple[Floats, Floats, np.ndarray, np.ndarray, dict[str, Any]]


class ScenarioVectorEnv(VectorEnv):
    """Episodes of one task, which share its native code; one that has ended is reset by the next step.

    Args:
        threads: that share them. The engine needs no interpreter: worth it where a step takes it longer than the 30 us
            that Python does.
        lanes: whether robots are computed several at once, see `simulate_many`; by default where they can be. States
            are the same. The first time, their functions are compiled for it.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, num_envs: int, threads: int = 1, lanes: bool | None = None) -> None:
        flaws = FlawList()
        for name, count in (("num_envs", num_envs), ("threads", threads)):
            if count < 1:
                flaws.add(name, f"must be at least 1, is {count}")
        if threads > 1 and (calls_python(task.compiled.system) or task.formula is None):
            what = "laws or a reward in plain Python may keep something between calls and run in one thread"
            flaws.add("threads", what, "leave it out, or let them be native")
        flaws.raise_if_any("vector environment")
        self.task, self.num_envs = task, num_envs
        self.episodes = [Episode(task) for _ in range(num_envs)]
        self.single_action_space = action_space(self.episodes[0])
        self.single_observation_space = observation_space(task)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.ended = np.zeros(num_envs, bool)
        self.generators: list[Generator] = []
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.shares = [range(k, num_envs, threads) for k in range(threads)]
        reason = why_no_lanes(task.compiled, task.compiled.solver)
        if lanes and reason:
            warnings.warn(f"no lanes: {reason}; robots take their steps one by one, to the same states", stacklevel=2)
        usable = lanes is not False and num_envs >= 2 * threads and not reason
        self.packs = [make_pack(task.compiled) if usable else None for _ in self.shares]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin anew; with a seed, robot k has that of a single environment with `seed + k`."""
        if options:
            raise ValueError(f"options: there are none, given are {options}")
        if seed is not None or not self.generators:
            self.generators = [np.random.Generator(np.random.PCG64(one)) for one in self._spread(seed)]
        self.ended[:] = False
        pairs = zip(self.episodes, self.generators, strict=True)
        return np.array([episode.reset(random) for episode, random in pairs]), {}

    def _spread(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if isinstance(seed, int):
            return [seed + k for k in range(self.num_envs)]
        if seed is not None and len(seed) != self.num_envs:
            raise ValueError(f"seed: must be a number or {self.num_envs} of them, has {len(seed)}")
        return [None] * self.num_envs if seed is None else seed

    def step(self, actions: Any) -> Stepped:
        results: list[StepResult] = [None] * self.num_envs  # type: ignore[list-item]

        def work(share: range, pack: Pack | None) -> None:
            going = [k for k in share if not self.ended[k]]
            for k in (k for k in share if self.ended[k]):
                results[k] = StepResult(self.episodes[k].reset(self.generators[k]), 0.0, False, False, {})
            for k, result in zip(going, self._step_some(going, actions, pack), strict=True):
                results[k] = result

        if self.pool is None:
            work(self.shares[0], self.packs[0])
        else:
            list(self.pool.map(work, self.shares, self.packs))
        terminated, truncated = (
            np.array([getattr(one, name) for one in results]) for name in ("terminated", "truncated")
        )
        self.ended = terminated | truncated
        infos: dict[str, Any] = {}
        for k in np.flatnonzero(self.ended):
            infos = self._add_info(infos, results[k].info, int(k))
        rewards = np.array([one.reward for one in results])
        return np.array([one.observation for one in results]), rewards, terminated, truncated, infos

    def _step_some(self, some: list[int], actions: Any, pack: Pack | None) -> list[StepResult]:
        """A step of some robots, one after the other or all at once."""
        episodes = [self.episodes[k] for k in some]
        if pack is None or len(some) < 2:
            return [episode.step(actions[k]) for k, episode in zip(some, episodes, strict=True)]
        begun = [episode.begin_step(actions[k]) for k, episode in zip(some, episodes, strict=True)]
        for episode, (_, held) in zip(episodes, begun, strict=True):
            episode.run.change(held)
        advance_together(pack, [episode.run for episode in episodes], [t_end for t_end, _ in begun])
        return [episode.end_step(episode.run.outcome()) for episode in episodes]

    def close_extras(self, **_: Any) -> None:
        if self.pool is not None:
            self.pool.shutdown()
