"""SCARA equations of motion: do the implicit, the explicit and the form made from bodies and joints agree? (task a)

implicit: A(x) x' = g(x), solved numerically      explicit: M inverted by hand      generic: the traced mechanism
"""

from __future__ import annotations

import numpy as np

from robodyn.assembly import assemble
from robodyn.catalog import scara_ptp
from robodyn.catalog.scara import (
    AXES,
    INDUCTANCE,
    LENGTH_1,
    LENGTH_2,
    MASS_1,
    MASS_2,
    MASS_Z_MOVING,
    MASS_Z_UNIT,
    RESISTANCE,
    ROTOR_3,
)
from robodyn.native import compile_kernels

GRAVITY = 9.81
THETA_1 = (MASS_1 / 3 + MASS_2 + MASS_Z_UNIT) * LENGTH_1**2
THETA_2 = (MASS_2 / 2 + MASS_Z_UNIT) * LENGTH_1 * LENGTH_2
THETA_3 = (MASS_2 / 3 + MASS_Z_UNIT) * LENGTH_2**2


def mass_entries(q2: float) -> tuple[float, float, float, float]:
    """m11, m12, m22, m33 of the mass matrix."""
    m12 = THETA_2 * np.cos(q2) + THETA_3
    return THETA_1 + 2 * THETA_2 * np.cos(q2) + THETA_3, m12, THETA_3, MASS_Z_MOVING + ROTOR_3 * AXES[2].gear ** 2


def right_sides(q: np.ndarray, v: np.ndarray, current: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """b of M a = b, and the rates of the currents, limits aside."""
    gear, constant = (np.array([getattr(axis, key) for axis in AXES]) for key in ("gear", "torque_constant"))
    torque = gear * np.sqrt(3) / 2 * constant * current
    coupling = THETA_2 * np.sin(q[1])
    b = torque + [coupling * (2 * v[0] * v[1] + v[1] ** 2), -coupling * v[0] ** 2, -MASS_Z_MOVING * GRAVITY]
    gains = [np.array([getattr(axis, key) for axis in AXES]) for key in ("proportional", "derivative", "target")]
    limit = np.array([axis.voltage_limit for axis in AXES])
    voltage = np.clip(gains[0] * (gains[2] - q) - gains[1] * v, -limit, limit)
    return b, (voltage - constant * gear * v - RESISTANCE * current) / INDUCTANCE


def implicit_rates(q: np.ndarray, v: np.ndarray, current: np.ndarray) -> np.ndarray:
    """x' of A(x) x' = g(x) by a numerical solution, x = (v, q, current)."""
    m11, m12, m22, m33 = mass_entries(q[1])
    A = np.eye(9)
    A[:3, :3] = [[m11, m12, 0], [m12, m22, 0], [0, 0, m33]]
    b, current_dot = right_sides(q, v, current)
    return np.linalg.solve(A, np.concatenate([b, v, current_dot]))


def explicit_rates(q: np.ndarray, v: np.ndarray, current: np.ndarray) -> np.ndarray:
    """The same with the mass matrix inverted by hand."""
    m11, m12, m22, m33 = mass_entries(q[1])
    b, current_dot = right_sides(q, v, current)
    determinant = m11 * m22 - m12 * m12
    a = [(m22 * b[0] - m12 * b[1]) / determinant, (m11 * b[1] - m12 * b[0]) / determinant, b[2] / m33]
    return np.concatenate([a, v, current_dot])


def largest_disagreement(samples: int = 200) -> float:
    """Largest relative difference of any rate between the three forms at random states within the limits."""
    system = assemble(scara_ptp())
    rates = compile_kernels({"rhs": system.function(system.expressions.rhs)}).kernels["rhs"]
    p = np.array([number.value for number in system.parameters])
    generator = np.random.default_rng(11)
    largest = 0.0
    for _ in range(samples):
        q, v, current = generator.uniform(-2, 2, 3), generator.uniform(-2, 2, 3), generator.uniform(-4, 4, 3)
        x = np.concatenate([q, v, current, [0.0]])
        position_dot, velocity_dot, current_dot = np.split(rates(np.zeros(1), x, np.zeros(0), np.zeros(0), p)[:9], 3)
        generic = np.concatenate([velocity_dot, position_dot, current_dot])
        for form in (implicit_rates(q, v, current), explicit_rates(q, v, current)):
            largest = max(largest, float(np.max(np.abs(form - generic) / (1 + np.abs(generic)))))
    return largest
