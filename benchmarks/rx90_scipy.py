"""The welding robot's sampled loops in plain Python, and `solve_ivp` from tick to tick."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.rx90_plant import AXES, STATES, Plant, gears_of, numbers

# Ticks a second, and ticks of the slow loops.
RATE, SLOW = 4000, 4
QUANTITIES = ("position", "velocity", "acceleration")
SET_POINTS = tuple(f"setpoints.{quantity}{k}" for quantity in QUANTITIES for k in AXES)
FEED = ("inertia", "coulomb", "viscous", "smoothing_velocity", "torque_constant")


@dataclass(frozen=True)
class Window:
    """A piece of the weld from a slow tick on.

    Args:
        first, last: ticks; names: every state and memory just before the samples of the first, by robodyn's names.
        wanted: set points at the slow ticks from the first on, (n, 18), columns SET_POINTS.
        resolution: of the encoders [rad], None for the robot's own.
    """

    first: int
    last: int
    names: Mapping[str, float]
    wanted: np.ndarray
    resolution: float | None = None

    @property
    def times(self) -> np.ndarray:
        """The ticks [s]."""
        return np.arange(self.first, self.last + 1) / RATE


class Axis:
    """Controller of one axis: its numbers, and what it remembers."""

    def __init__(self, k: int, window: Window) -> None:
        N, m, of = numbers(), window.names, f"axis{k}"
        self.gears = gears_of(k)
        self.joints = (4, 5) if k == 6 else (k - 1,)
        self.resolution = N[f"{of}.encoder.resolution"] if window.resolution is None else window.resolution
        self.proportional, self.integral = (N[f"{of}.position_loop.{key}"] for key in ("proportional", "integral"))
        self.derivative, self.limit = (N[f"{of}.velocity_loop.{key}"] for key in ("derivative", "current_limit"))
        self.current_gains = tuple(N[f"{of}.current_loop.{key}"] for key in ("proportional", "integral"))
        self.voltage_limit = N[f"{of}.current_loop.voltage_limit"]
        self.feed = tuple(N[f"{of}.feed_forward.{key}"] for key in FEED)
        self.previous = m[f"{of}.encoder.previous"]
        self.held = m[f"{of}.position_loop.held"]
        slow = ("position_loop.command", "feed_forward.current", "feed_forward.velocity_ref")
        self.slow = tuple(m[f"{of}.{name}"] for name in slow)
        self.pending = tuple(m[f"{of}.{name}.pending.0"] for name in slow)
        self.excess = m[f"{of}.velocity_loop.excess"]
        self.current_held = m[f"{of}.current_loop.held"]
        self.voltage = m[f"{of}.current_loop.voltage"]

    def turn(self, values: list[float], first: int = 0) -> float:
        """Motor side of a quantity of the joints, which begins at an entry."""
        return sum(gear * values[first + j] for gear, j in zip(self.gears, self.joints, strict=True))

    def read(self, joints: list[float]) -> tuple[float, float]:
        """The encoder's position and speed."""
        r, angle = self.resolution, self.turn(joints)
        measured = r * floor(angle / r + 0.5) if r > 0 else angle
        rate = (measured - self.previous) * RATE
        self.previous = measured
        return measured, rate

    def sample_slow(self, wanted: list[float], measured: float) -> None:
        """PI on the position, and feed-forward; both take effect a tick later."""
        error, speed = self.turn(wanted) - measured, self.turn(wanted, 6)
        command = self.proportional * error + self.held
        step = self.integral * (SLOW / RATE) * error
        self.held += 0.0 if self.excess * step > 0 else step
        inertia, coulomb, viscous, smoothing, constant = self.feed
        dry = coulomb * min(max(speed / smoothing, -1.0), 1.0)
        self.pending = command, (inertia * self.turn(wanted, 12) + dry + viscous * speed) / constant, speed

    def sample_fast(self, rate: float, current: float) -> None:
        """D on the speed, then PI on the current: the voltage until the next tick."""
        command, ahead, speed = self.slow
        wanted = command + ahead + self.derivative * (speed - rate)
        limited = min(max(wanted, -self.limit), self.limit)
        self.excess = wanted - limited
        proportional, integral = self.current_gains
        error = limited - current
        asked = proportional * error + self.current_held
        self.voltage = min(max(asked, -self.voltage_limit), self.voltage_limit)
        step = integral / RATE * error
        self.current_held += 0.0 if (asked - self.voltage) * step > 0 else step


class Controller:
    """All axes."""

    def __init__(self, window: Window) -> None:
        self.axes = [Axis(k, window) for k in AXES]
        self.wanted = window.wanted.tolist()

    @property
    def voltages(self) -> list[float]:
        return [axis.voltage for axis in self.axes]

    def sample(self, tick: int, x: np.ndarray) -> None:
        """What is due at a tick, counted from the window's first."""
        joints, currents = x[:6].tolist(), x[19:].tolist()
        for axis, current in zip(self.axes, currents, strict=True):
            if tick % SLOW == 1:
                axis.slow = axis.pending
            measured, rate = axis.read(joints)
            if tick % SLOW == 0:
                axis.sample_slow(self.wanted[tick // SLOW], measured)
            axis.sample_fast(rate, current)


def simulate(plant: Plant, window: Window, **settings: Any) -> np.ndarray:
    """States at the window's ticks, (n, 25); settings are solve_ivp's."""
    controller = Controller(window)
    times = window.times
    x = np.array([window.names[name] for name in STATES])
    states = [x]
    for tick, span in enumerate(itertools.pairwise(times)):
        controller.sample(tick, x)
        x = solve_ivp(plant.rates, span, x, args=(controller.voltages,), **settings).y[:, -1]
        states.append(x)
    return np.array(states)
