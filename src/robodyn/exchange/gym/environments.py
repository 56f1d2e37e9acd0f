"""Environments of Gymnasium: one robot, or many of one task at once, that are acted on from step to step."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from robodyn.base.errors import FlawList
from robodyn.computation.engine.pack import Pack
from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation.batch import make_pack, why_no_lanes
from robodyn.computation.simulation.python_calls import calls_python
from robodyn.computation.simulation.stepping import SteppedRun, advance_together
from robodyn.exchange.gym.task import Task

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
