"""The two-link arm's closed loop as a user of SciPy would write it: `solve_ivp` from tick to tick.

    M(q) a = tau - c(q, v) - g(q) + friction(v, z),   z_dot = v - c0 |v| z / level(v)

Plain floats and the `math` module: for six states they are several times faster than small arrays.
"""

from __future__ import annotations

from math import cos, exp, sin
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from robodyn.catalog import two_link_loop

NUMBERS = {name: number.value for name, number in two_link_loop().numbers().items()}
JOINTS = ("shoulder", "elbow")


def values(pattern: str) -> list[float]:
    """A number of each joint, by its name with "{}" for the joint."""
    return [NUMBERS[pattern.format(joint)] for joint in JOINTS]


GRAVITY = -NUMBERS["gravity.z"]
TICK = NUMBERS["shoulder.velocity_loop.period"]
TICKS_PER_POSITION_SAMPLE = round(NUMBERS["shoulder.position_loop.period"] / TICK)
POSITION_GAINS = values("{}.position_loop.proportional")
PROPORTIONAL, INTEGRAL = values("{}.velocity_loop.proportional"), values("{}.velocity_loop.integral")
TORQUE_LIMITS = values("{}.velocity_loop.limit")
KNOTS = [NUMBERS[f"shoulder.reference.times.{k}"] for k in range(3)]

M1, M2 = NUMBERS["upper_arm.mass"], NUMBERS["forearm.mass"]
L1, L2 = NUMBERS["elbow.origin.x"], NUMBERS["tool.origin.x"]
B1, B2 = values("{}.armature")
# Moments of slender arms about their ends, and the product that couples them.
J1 = B1 + M1 * L1**2 / 3 + M2 * L1**2
J2 = M2 * L2**2 / 3
COUPLING = M2 * L1 * L2 / 2
WEIGHT1 = GRAVITY * (M1 * L1 / 2 + M2 * L1)
WEIGHT2 = GRAVITY * M2 * L2 / 2
FRICTION_KEYS = ("stiffness", "damping", "viscous", "coulomb", "static", "stribeck_velocity")
FRICTION = list(zip(*(values(f"{{}}.friction.{key}") for key in FRICTION_KEYS), strict=True))
POINTS = zip(*(values(f"{{}}.reference.points.{k}") for k in range(3)), strict=True)
SPLINES = [CubicSpline(KNOTS, points, bc_type="clamped").c[::-1] for points in POINTS]


def friction(v: float, z: float, c0: float, c1: float, c2: float, coulomb: float, static: float, vs: float):
    """LuGre friction: torque on the joint and rate of the bristle."""
    level = coulomb + (static - coulomb) * exp(-((v / vs) ** 2))
    z_dot = v - c0 * abs(v) * z / level
    return -(c0 * z + c1 * z_dot + c2 * v), z_dot


def rates(t: float, x: np.ndarray, tau1: float, tau2: float) -> tuple[float, ...]:
    """x_dot of x = [q1, q2, v1, v2, z1, z2] under held drive torques."""
    q1, q2, v1, v2, z1, z2 = x.tolist()
    f1, z1_dot = friction(v1, z1, *FRICTION[0])
    f2, z2_dot = friction(v2, z2, *FRICTION[1])
    m12 = J2 + COUPLING * cos(q2)
    m11 = J1 + J2 + 2 * COUPLING * cos(q2)
    m22 = J2 + B2
    h = COUPLING * sin(q2)
    weight = WEIGHT2 * cos(q1 + q2)
    r1 = tau1 + f1 + h * v2 * (2 * v1 + v2) - WEIGHT1 * cos(q1) - weight
    r2 = tau2 + f2 - h * v1 * v1 - weight
    d = m11 * m22 - m12 * m12
    return v1, v2, (m22 * r1 - m12 * r2) / d, (m11 * r2 - m12 * r1) / d, z1_dot, z2_dot


def reference(t: float, c: np.ndarray) -> tuple[float, float]:
    """Position and velocity of the cubic spline."""
    k = 0 if t < KNOTS[1] else 1
    s = min(max(t, KNOTS[0]), KNOTS[2]) - KNOTS[k]
    position = c[0, k] + s * (c[1, k] + s * (c[2, k] + s * c[3, k]))
    moving = KNOTS[0] <= t < KNOTS[2]
    return position, c[1, k] + s * (2 * c[2, k] + 3 * s * c[3, k]) if moving else 0.0


class Controller:
    """Position loops at 1 kHz and velocity loops at 4 kHz, with held outputs."""

    def __init__(self) -> None:
        self.commands = [0.0, 0.0]
        self.sums = [0.0, 0.0]

    def sample(self, tick: int, x: np.ndarray) -> list[float]:
        """Drive torques from now to the next tick [N m]."""
        if tick % TICKS_PER_POSITION_SAMPLE == 0:
            for k, spline in enumerate(SPLINES):
                position, velocity = reference(tick * TICK, spline)
                self.commands[k] = velocity + POSITION_GAINS[k] * (position - float(x[k]))
        return [self.torque(k, float(x[2 + k])) for k in range(2)]

    def torque(self, k: int, v: float) -> float:
        """Limited PI control of a joint's velocity, its sum held while it would drive it further beyond."""
        limit = TORQUE_LIMITS[k]
        error = self.commands[k] - v
        wanted = PROPORTIONAL[k] * error + INTEGRAL[k] * self.sums[k]
        if not (abs(wanted) > limit and wanted * INTEGRAL[k] * error > 0):
            self.sums[k] += TICK * error
        return min(max(wanted, -limit), limit)


def simulate(ticks: int, **settings: Any) -> np.ndarray:
    """States at the ticks 0 .. ticks from rest, (ticks + 1, 6); settings are solve_ivp's."""
    x, controller = np.zeros(6), Controller()
    states = [x]
    for tick in range(ticks):
        torques = controller.sample(tick, x)
        x = solve_ivp(rates, (tick * TICK, (tick + 1) * TICK), x, args=tuple(torques), **settings).y[:, -1]
        states.append(x)
    return np.array(states)
