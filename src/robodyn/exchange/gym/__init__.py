"""Reinforcement learning: a scenario as an environment of Gymnasium (extra `gymnasium`)."""

from robodyn.exchange.gym.environments import ScenarioEnv, ScenarioVectorEnv
from robodyn.exchange.gym.task import Task

__all__ = ["ScenarioEnv", "ScenarioVectorEnv", "Task"]
