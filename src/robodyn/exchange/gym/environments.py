"""Environments of Gymnasium: one robot, or many of one task at once, that are acted on from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.base import Array

from .episodes import Episodes, Task

try:
    from gymnasium import Env
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    message = "environments of robodyn.exchange.gym need gymnasium: pip install 'robodyn[gymnasium]'"
    raise ImportError(message, name="gymnasium") from error


def _spaces(episodes: Episodes) -> tuple[Box, Box]:
    """The spaces of the actions and of the observations of one robot."""
    observation_space = Box(-np.inf, np.inf, (len(episodes.task.observations),), np.float64)
    return Box(episodes.low, episodes.high, dtype=np.float32), observation_space


def _read_options(options: dict[str, Any] | None) -> dict[str, float]:
    """Numbers that an episode begins with."""
    if options and options.keys() != {"changes"}:
        raise ValueError(f"options: there is only 'changes' (tunable numbers and initial.<state>), given are {options}")
    return options["changes"] if options else {}


class ScenarioEnv(Env):
    """A task as a `gymnasium.Env`: the same seed and actions, the same episode to the last bit.

    An episode is truncated at the end of the scenario's duration, or where the run cannot go on: `info["outcome"]` then
    says why. It is terminated by a terminal event. `reset(options={"changes": {"initial.pole.position": 0.1}})` begins
    with numbers of your own.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, task: Task) -> None:
        self.episodes = Episodes(task)
        self.action_space, self.observation_space = _spaces(self.episodes)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        changes = _read_options(options)
        super().reset(seed=seed)
        self.episodes.generators = [self.np_random]
        return self.episodes.reset(changes=changes)[0], {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        episodes = self.episodes
        # An episode that has ended is not begun again by itself.
        episodes.some_ended = False
        observations, rewards, terminated, truncated, outcomes = episodes.step([action])
        info: dict[str, Any] = {"time": float(episodes.robots.time[0])}
        if outcomes:
            info = {"time": outcomes[0].time, "outcome": outcomes[0].sentence}
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def close(self) -> None:
        self.episodes.close()


Stepped = tuple[Array, Array, Array, Array, dict[str, Any]]


class ScenarioVectorEnv(VectorEnv):
    """Episodes of one task, which share its native code; one that has ended is reset by the next step.

    Args:
        threads, lanes: see `Episodes`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, num_envs: int, threads: int = 1, lanes: bool | None = None) -> None:
        self.episodes = Episodes(task, num_envs, threads, lanes)
        self.num_envs = num_envs
        self.single_action_space, self.single_observation_space = _spaces(self.episodes)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin anew; with a seed, robot k has that of a single environment with `seed + k`."""
        return self.episodes.reset(seed, _read_options(options)), {}

    def step(self, actions: Any) -> Stepped:
        observations, rewards, terminated, truncated, outcomes = self.episodes.step(actions)
        infos: dict[str, Any] = {}
        if self.episodes.some_ended:
            times = self.episodes.robots.time
            for k in np.flatnonzero(self.episodes.ended).tolist():
                end = outcomes.get(k)
                info = {"time": end.time, "outcome": end.sentence} if end else {"time": float(times[k])}
                infos = self._add_info(infos, info, k)
        return observations, rewards, terminated, truncated, infos

    def close_extras(self, **_: Any) -> None:
        self.episodes.close()
