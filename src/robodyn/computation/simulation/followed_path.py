"""Followed path: where does a law that makes errors linear move a machine, by its reference and its start alone?

    y(q(t), r(t)) = -e(t)   of a task,   s(q(t)) - s_ref(t) = -e(t)   of axes,   h(q(t)) = 0,   e'' + kd e' + kp e = 0

which Newton's method solves from instant to instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.model_info import ModelInfo
from robodyn.computation.assembly.model_target import list_target
from robodyn.description.model import Block

MOVING = ("target", "target_velocity", "target_acceleration")
TURNING = ("target_orientation", "target_angular_velocity", "target_angular_acceleration")
NEWTON_STEPS, CLOSE = 20, 1e-8
LEAST = 0.01
"""Smallest singular value that is not reported, where the law does not say it."""
ALIKE = 1e-4
"""Size of w t up to which roots count as one: then (w t)^4 / 120 is rounding."""
Motions = Sequence[tuple[np.ndarray, np.ndarray]]
"""Times and values of each of several signals."""


def decay(t: float, kp: np.ndarray, kd: np.ndarray, e: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """What is left at t of errors e with e'' + kd e' + kp e = 0, by the roots s + w and s - w, s = -kd/2.

    e(t) = c e(0) + b (e'(0) - s e(0)),   c = (E1 + E2) / 2,   b = (E1 - E2) / 2w,   E1, E2 = exp((s +- w) t)
    """
    s = -kd / 2
    w = np.sqrt(s**2 - kp + 0j)
    first, second = np.exp((s + w) * t), np.exp((s - w) * t)
    # Roots that are nearly one: exp(s t) sinh(w t) / w, whose series has more digits.
    alike = np.abs(w * t) < ALIKE
    spread = np.where(alike, t * np.exp(s * t) * (1 + (w * t) ** 2 / 6), (first - second) / np.where(alike, 1.0, 2 * w))
    return ((first + second) / 2 * e + spread * (rate - s * e)).real


@dataclass(frozen=True)
class Following:
    """A machine that follows what is wanted.

    Attributes:
        given: inputs of the law, by name: times and values of each signal; states: at the start, where they are other
            than described.
    """

    info: ModelInfo
    block: Block
    values: Mapping[str, float]
    given: Mapping[str, Motions]
    states: Mapping[str, float]

    @property
    def q(self) -> np.ndarray:
        """Positions at the start."""
        return np.array([self.states.get(name, value) for name, value in self.info.positions.items()])

    @property
    def v(self) -> np.ndarray:
        """Velocities at the start."""
        return np.array([self.states.get(name, value) for name, value in self.info.velocities.items()])

    @property
    def n(self) -> int:
        """Axes, and directions of the task where there is one."""
        return len(self.info.axes)

    @property
    def least(self) -> float:
        return self.values.get(f"{self.block.name}.least_independence", LEAST)

    def wanted(self, name: str, t: float) -> tuple[float, ...]:
        return tuple(float(np.interp(t, *motion)) for motion in self.given.get(name, ()))

    def call(self, name: str, q: np.ndarray, t: float, v: np.ndarray | None = None) -> np.ndarray:
        """A function of the model, with what is wanted at a time."""
        functions, rows = self.info.functions, self.info.rows
        moving, turning = ([self.wanted(name, t) for name in names] for names in (MOVING, TURNING))
        target = np.array(list(list_target(rows, moving, turning))) if rows.all else np.zeros(0)
        given: list[Any] = [0.0, q, np.zeros(functions.n_v) if v is None else v, functions.numbers, target]
        return np.array(self._spelled[name](*given))

    @cached_property
    def _spelled(self) -> dict[str, Any]:
        """Functions that CasADi itself evaluates."""
        names = ("positions", "position_slopes", "position_rates", "rates", "slopes", "deviation", "deviation_rate")
        return {name: spell_out(self.info.functions.named[name]) for name in names}

    def deviation(self, q: np.ndarray, t: float) -> np.ndarray:
        """y, or s - s_ref; then h."""
        positions = self.call("positions", q, t).ravel()
        if self.info.rows.all:
            return np.concatenate([self.call("deviation", q, t).ravel(), positions[self.n :]])
        return np.concatenate([positions[: self.n] - self.wanted("target", t), positions[self.n :]])

    @cached_property
    def start(self) -> np.ndarray:
        """Deviation and its rate, (n, 2)."""
        q, v = self.q, self.v
        away = self.deviation(q, 0.0)[: self.n]
        if self.info.rows.all:
            return np.array([away, self.call("deviation_rate", q, 0.0, v).ravel()]).T
        rate = self.call("rates", q, 0.0, v).ravel()[: self.n]
        return np.array([away, rate - np.array(self.wanted("target_velocity", 0.0) or 0.0)]).T

    def error(self, t: float) -> np.ndarray:
        """-e."""
        return decay(t, self._stiffness, self._damping, *self.start.T)

    @cached_property
    def _stiffness(self) -> np.ndarray:
        return np.array(self._gains("stiffness"))

    @cached_property
    def _damping(self) -> np.ndarray:
        return np.array(self._gains("damping"))

    def _gains(self, name: str) -> list[float]:
        given, path = self.block.parameters[name], f"{self.block.name}.{name}"
        return [self.values[f"{path}.{k}" if isinstance(given, tuple) else path] for k in range(self.n)]

    def slopes(self, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """By the joints: of axes and constraints, and of what is followed and constraints."""
        held, own = self.call("position_slopes", q, t), self.call("slopes", q, t)
        return held, np.vstack([own[self.n :], held[self.n :]]) if self.info.rows.all else held

    def solve(self, q: np.ndarray, t: float) -> np.ndarray | None:
        """Positions in which the deviation is as it will be; None where there are none near."""
        goal = self.error(t)
        for _ in range(NEWTON_STEPS):
            missed = self.deviation(q, t)
            missed[: self.n] -= goal
            if np.max(np.abs(missed)) < CLOSE:
                return q
            step = np.linalg.lstsq(self.slopes(q, t)[1], missed, rcond=None)[0]
            q = q - self.call("position_rates", q, t) @ step
        return None

    def jacobian(self, q: np.ndarray, t: float) -> np.ndarray:
        """J, or the axes by the joints that follow them."""
        held, _ = self.slopes(q, t)
        T = np.linalg.lstsq(held, np.eye(len(held))[:, : self.n], rcond=None)[0]
        scales = self.info.scales
        return scales.apply(self.call("slopes", q, t)[self.n :] @ T) if self.info.rows.all else np.linalg.pinv(T)
