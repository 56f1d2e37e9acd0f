"""Sampled machine: which linear model do the states that a controller has to do with follow, from sample to sample?

At the operating point, with the commands u that keep it best,

    x' = A (x - x0) + B (u - u0),   y - y0 = C (x - x0)

by exact derivatives of the machine without the controller, sampled with a hold and a delay.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from robodyn.assembly.system import FREE, System
from robodyn.errors import FlawList, nearest
from robodyn.feedback.sampled_plant import SampledPlant, Variable, hold_plant
from robodyn.model.state_controller import StateController

AT_REST = 1e-6
"""Rates left over at an operating point, by the largest without commands, that still count as none."""
ROUNDS = 8


def sample_machine(system: System, controller: StateController, commands: Sequence[str]) -> SampledPlant:
    """The machine at its operating point, from sample to sample."""
    flaws, signals = FlawList(), {info.name: info for info in system.signals}
    n = len(system.states) - system.n_quadratures
    if system.delays:
        flaws.add("", f"the machine has the delay '{system.delays[0].name}'", "leave it out, or design in Python")
    if system.has_balls:
        flaws.add("", "the machine has orientations among its states", "design in Python, with linearise")
    for name in controller.measured:
        if name not in signals:
            flaws.add("measured", f"there is no signal '{name}'", nearest(name, signals))
    known = [state.name for state in system.states[:n]]
    for name in controller.at:
        if name not in known:
            flaws.add(f"at.{name}", "is no state of the machine", nearest(name, known))
    flaws.raise_if_any("state controller")
    point = _Point(system, n, commands, controller.measured)
    x = np.array([controller.at.get(state.name, state.start) for state in system.states], float)
    u = point.hold(x)
    A, B, C, D = point.slopes(x, u)
    rates, y = point.values(x, u)
    if D.any():
        flaws.add("measured", "follows commands at once", "measure positions or velocities")
    weighed = np.isin(known, [*controller.states, *controller.noise]) | (C != 0).any(axis=0)
    kept = _concerned(A != 0, (B != 0).any(axis=1), weighed)
    A, B, C = A[np.ix_(kept, kept)], B[kept], C[:, kept]
    size = np.abs(point.values(x, 0 * u)[0]).max(initial=0.0)
    _check_point(flaws, [known[k] for k in kept], rates[kept], size)
    flaws.raise_if_any("state controller")
    states = tuple(Variable(system.states[k].name, system.states[k].unit, float(x[k])) for k in kept)
    inputs = tuple(Variable(name, signals[name].unit, float(value)) for name, value in zip(commands, u, strict=True))
    outputs = tuple(
        Variable(name, signals[name].unit, float(value)) for name, value in zip(controller.measured, y, strict=True)
    )
    return hold_plant(A, B, C, controller.period, controller.delay, states, inputs, outputs)


def _concerned(coupled: np.ndarray, driven: np.ndarray, weighed: np.ndarray) -> np.ndarray:
    """Places of the states that a controller has to do with: what its inputs move, what is weighed or measured, and
    all that acts on these. Another machine in the same room is none of it.

    Args:
        coupled: whether the rate of a state (row) depends on a state (column).
    """
    moved, found = driven.copy(), np.zeros_like(driven)
    for _ in range(len(driven)):
        moved = moved | coupled[:, moved].any(axis=1)
    found = moved | weighed
    for _ in range(len(driven)):
        found = found | coupled[found].any(axis=0)
    return np.flatnonzero(found)


def _check_point(flaws: FlawList, names: Sequence[str], rates: np.ndarray, size: float) -> None:
    for name, rate in zip(names, rates, strict=True):
        if abs(rate) > AT_REST * max(size, 1.0):
            what = f"is no equilibrium: {name} changes by {rate:.4g} a second, whatever is commanded"
            flaws.add("at", what, "name states at which the machine can rest")


class _Point:
    """Rates of the first n states and outputs, as functions of states and commands."""

    def __init__(self, system: System, n: int, commands: Sequence[str], outputs: Sequence[str]) -> None:
        memory = [info.name for info in system.memory]
        self.places, self.n = [memory.index(name) for name in commands], n
        sticking = {f"{block.name}.direction" for block in system.scenario.machine.all_blocks if block.info.sticks}
        self.m = np.array([FREE if info.name in sticking else info.start for info in system.memory], float)
        self.p = np.array([number.value for number in system.parameters], float)
        rows = [system.expressions.outputs[system.signal_names.index(name)] for name in outputs]
        column = ca.vertcat(system.expressions.rhs[:n], *rows)
        t, x, d, m, p = system.symbols
        by = ca.vertcat(x[:n], *(m[k] for k in self.places))
        self.function = system.function(column, "values")
        self.jacobian = system.function(ca.jacobian(column, by), "slopes")

    def _call(self, function: ca.Function, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        m = self.m.copy()
        m[self.places] = u
        return np.array(function(0.0, x, np.zeros(0), m, self.p), float)

    def values(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rates and outputs."""
        found = self._call(self.function, x, u).ravel()
        return found[: self.n], found[self.n :]

    def slopes(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """A, B, C, D."""
        rows = np.split(self._call(self.jacobian, x, u), [self.n])
        (A, B), (C, D) = (np.split(part, [self.n], axis=1) for part in rows)
        return A, B, C, D

    def hold(self, x: np.ndarray) -> np.ndarray:
        """Commands with which the states change least, by Gauss-Newton."""
        u = np.zeros(len(self.places))
        for _ in range(ROUNDS):
            B = self.slopes(x, u)[1]
            u = u - np.linalg.lstsq(B, self.values(x, u)[0], rcond=None)[0]
        return u
