"""Reinforcement learning: a scenario as an environment of Gymnasium (extra `gymnasium`)."""

from robodyn.exchange.gym.environment import ScenarioEnv
from robodyn.exchange.gym.task import Task
from robodyn.exchange.gym.vector_environment import ScenarioVectorEnv

__all__ = ["ScenarioEnv", "ScenarioVectorEnv", "Task"]
