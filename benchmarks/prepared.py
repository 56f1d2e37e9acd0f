"""How is a system run again and again without anything but the integration being timed?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.assembly import SignalInfo, System
from robodyn.engine import Problem, Recording, Trajectory, integrate
from robodyn.model import Solver
from robodyn.simulation import CompiledSystem, compile_system
from robodyn.simulation.problem import build_problem
from robodyn.simulation.starting import find_start


@dataclass(frozen=True)
class Prepared:
    """A compiled system with its start values, ready to be integrated."""

    problem: Problem
    x: np.ndarray
    m: np.ndarray
    p: np.ndarray
    compiled: CompiledSystem

    @property
    def recorded(self) -> tuple[SignalInfo, ...]:
        """The signals behind the columns of a trajectory's y."""
        return self.compiled.recorded

    def run(self, solver: Solver, duration: float, times: np.ndarray | None = None) -> Trajectory:
        """Integrate from 0 to the duration [s]; outputs are kept at the given times, or only at both ends."""
        recording = Recording("none") if times is None else Recording("times", times=times)
        return integrate(self.problem, solver, 0.0, duration, self.x, self.m, self.p, recording)


def prepare(system: System, solver: Solver, signals: tuple[str, ...]) -> Prepared:
    """Compile what a family of solvers needs; the outputs are the signals that match the patterns."""
    compiled = compile_system(system, solver, signals=signals)
    values = compiled.parameter_values({})
    numbers = {name: number.value for name, number in system.scenario.numbers().items()}
    p = compiled.module.prepare(values)
    start = find_start(compiled, values)
    return Prepared(build_problem(compiled, p, numbers, start), start.x, start.m, p, compiled)
