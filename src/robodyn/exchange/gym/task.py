"""Task of an environment: what may be done to a scenario, what is seen of it, and what is it worth?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results.signal import Floats
from robodyn.computation.simulation import CompiledSystem, compile_system
from robodyn.computation.simulation.many import INITIAL, read_columns
from robodyn.description.model import FormulaSignal, Scenario, Solver

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
