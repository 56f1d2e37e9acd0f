"""Environment of Gymnasium: one robot that is acted on from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.computation.results.signal import Floats
from robodyn.exchange.gym.episode import Episode
from robodyn.exchange.gym.gymnasium_names import Box, Env
from robodyn.exchange.gym.task import Task


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
