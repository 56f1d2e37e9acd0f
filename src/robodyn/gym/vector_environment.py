"""Vector environment of Gymnasium: many robots of one task at once, each as it would be alone."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.random import Generator

from robodyn.errors import FlawList
from robodyn.gym.environment import action_space, observation_space
from robodyn.gym.episode import Episode, StepResult
from robodyn.gym.gymnasium_names import AutoresetMode, VectorEnv, batch_space
from robodyn.gym.task import Task
from robodyn.results.signal import Floats
from robodyn.simulation.python_calls import calls_python

Stepped = tuple[Floats, Floats, np.ndarray, np.ndarray, dict[str, Any]]


class ScenarioVectorEnv(VectorEnv):
    """Episodes of one task, which share its native code; one that has ended is reset by the next step.

    Args:
        threads: that share them. The engine needs no interpreter: worth it where a step takes it longer than the 30 us
            that Python does.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, num_envs: int, threads: int = 1) -> None:
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
        found: list[StepResult] = [None] * self.num_envs  # type: ignore[list-item]

        def work(share: range) -> None:
            for k in share:
                found[k] = self._step_one(k, actions[k])

        if self.pool is None:
            work(self.shares[0])
        else:
            list(self.pool.map(work, self.shares))
        terminated, truncated = (
            np.array([getattr(one, name) for one in found]) for name in ("terminated", "truncated")
        )
        self.ended = terminated | truncated
        infos: dict[str, Any] = {}
        for k in np.flatnonzero(self.ended):
            infos = self._add_info(infos, found[k].info, int(k))
        rewards = np.array([one.reward for one in found])
        return np.array([one.observation for one in found]), rewards, terminated, truncated, infos

    def _step_one(self, k: int, action: Any) -> StepResult:
        if self.ended[k]:
            return StepResult(self.episodes[k].reset(self.generators[k]), 0.0, False, False, {})
        return self.episodes[k].step(action)

    def close_extras(self, **_: Any) -> None:
        if self.pool is not None:
            self.pool.shutdown()
