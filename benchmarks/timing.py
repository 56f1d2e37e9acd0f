"""Timing: how long does each contender take, on a machine whose speed changes from moment to moment?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from benchmarks.findings import Row
from robodyn.computation.assembly import SignalInfo, System
from robodyn.computation.engine import EngineProblem, EngineRecording, Integration, Trajectory, set_up
from robodyn.computation.simulation import CompiledSystem, compile_system
from robodyn.computation.simulation.problem import build_problem
from robodyn.computation.simulation.starting import find_start
from robodyn.description.model import Solver


@dataclass(frozen=True)
class Timings:
    """Seconds of every contender in every round, (n_rounds,) each."""

    seconds: Mapping[str, tuple[float, ...]]

    def median(self, name: str) -> float:
        """Median time of a contender [s]."""
        return median(self.seconds[name])

    def ratio(self, ours: str, rival: str) -> float:
        """Median over the rounds of ours / rival: a slow moment of the machine hits both."""
        return median(self.ratios(ours, rival))

    def ratios(self, ours: str, rival: str) -> list[float]:
        """ours / rival, round by round."""
        return [a / b for a, b in zip(self.seconds[ours], self.seconds[rival], strict=True)]

    def row(
        self,
        name: str,
        ours: str,
        unit: str,
        scale: float,
        *,
        rival: str = "",
        rival_name: str = "",
        rival_scale: float | None = None,
        goal: float | None = None,
        **details: Any,
    ) -> Row:
        """The row of a contender, beside a rival if one is named.

        Args:
            scale, rival_scale: what makes the seconds of each the `unit` of the row; the rival's is ours by default.
            goal: of the ratio where a rival is named: without effect where that was not timed, being not installed.
            details: `note` and `holds` of the row.
        """
        cost = self.median(ours) * scale
        if not rival:
            return Row(name, cost, unit, goal=goal, **details)
        if rival not in self.seconds:
            return Row(name, cost, unit, **details)
        rival_scale = scale if rival_scale is None else rival_scale
        ratios = [ratio * scale / rival_scale for ratio in self.ratios(ours, rival)]
        times = {"rival": self.median(rival) * rival_scale, "rival_name": rival_name}
        spread = min(ratios), max(ratios)
        return Row(name, cost, unit, goal=goal, ratio=median(ratios), spread=spread, **times, **details)


def time_interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> Timings:
    """Run all contenders in turn, `rounds` times, in alternating order; a first round does not count."""
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for k in range(rounds + 1):
        for name in names if k % 2 else reversed(names):
            begun = time.perf_counter()
            contenders[name]()
            elapsed = time.perf_counter() - begun
            if k > 0:
                seconds[name].append(elapsed)
    return Timings({name: tuple(values) for name, values in seconds.items()})


@dataclass(frozen=True)
class Prepared:
    """A compiled system with its start values: run again and again, nothing but the integration is timed.

    Attributes:
        runs: those of before, whose memory and settings serve again, as `simulate` does with a compiled system.
    """

    problem: EngineProblem
    x: np.ndarray
    m: np.ndarray
    p: np.ndarray
    compiled: CompiledSystem
    runs: dict[Any, Integration] = field(default_factory=dict, repr=False)

    @property
    def recorded(self) -> tuple[SignalInfo, ...]:
        """The signals behind the columns of a trajectory's y."""
        return self.compiled.recorded

    def run(self, solver: Solver, duration: float, times: np.ndarray | None = None) -> Trajectory:
        """Integrate from 0 to the duration [s]; outputs are kept at the given times, or only at both ends."""
        key = solver, duration, None if times is None else times.tobytes()
        run = self.runs.get(key)
        # A run that was given derivatives on its way would not have to ask for them again.
        if run is None or run.derivatives is not None:
            recording = EngineRecording("none") if times is None else EngineRecording("times", times=times)
            setup = set_up(self.problem, solver, recording)
            run = self.runs[key] = Integration(setup, 0.0, duration, self.x, self.m, self.p)
        else:
            run.restart(self.x, self.m, self.p)
        return run.complete()


def prepare(system: System, solver: Solver, signals: tuple[str, ...]) -> Prepared:
    """Compile what a family of solvers needs; the outputs are the signals that match the patterns."""
    compiled = compile_system(system, solver, signals=signals)
    values = compiled.system.described_values
    numbers = {name: number.value for name, number in system.scenario.numbers().items()}
    p = compiled.module.prepare(values)
    start = find_start(compiled, values)
    return Prepared(build_problem(compiled, p, numbers, start), start.x, start.m, p, compiled)
