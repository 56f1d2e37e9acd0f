"""Reinforcement learning: a scenario as an environment of Gymnasium (extra `gymnasium`)."""

from robodyn.gym.environment import ScenarioEnv
from robodyn.gym.task import Task
from robodyn.gym.vector_environment import ScenarioVectorEnv

__all__ = ["ScenarioEnv", "ScenarioVectorEnv", "Task"]
