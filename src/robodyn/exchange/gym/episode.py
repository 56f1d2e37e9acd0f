"""Episode: one run of a task from its reset to its end, step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.computation.results import Outcome, OutcomeKind
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation.stepping import SteppedRun
from robodyn.exchange.gym.task import Task

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
