"""Reinforcement learning: a scenario as episodes of plain arrays, and as environments of Gymnasium (extra
`gymnasium`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.exchange.gym.environments import ScenarioEnv, ScenarioVectorEnv
    from robodyn.exchange.gym.episodes import Episodes, Step, Task

__all__ = ["Episodes", "ScenarioEnv", "ScenarioVectorEnv", "Step", "Task"]

# Plain arrays need no Gymnasium.
__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.exchange.gym.environments": "ScenarioEnv ScenarioVectorEnv",
        "robodyn.exchange.gym.episodes": "Episodes Step Task",
    },
)
