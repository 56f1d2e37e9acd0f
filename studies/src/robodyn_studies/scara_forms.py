"""SCARA equations of motion: do the implicit, the explicit and the form made from bodies and joints agree? (task a)

implicit: A(x) x' = g(x), solved numerically      explicit: M inverted by hand      generic: the traced mechanism
"""

from __future__ import annotations

from functools import cache

import numpy as np

from robodyn.computation.assembly import assemble
from robodyn.computation.native import compile_kernels
from robodyn.description.catalog import scara_ptp
from robodyn.description.catalog.scara import (
    AXES,
    LENGTH_1,
    LENGTH_2,
    MASS_1,
    MASS_2,
    MASS_Z_MOVING,
    MASS_Z_UNIT,
    ROTOR_3,
)

GRAVITY = 9.81
THETA_1 = (MASS_1 / 3 + MASS_2 + MASS_Z_UNIT) * LENGTH_1**2
THETA_2 = (MASS_2 / 2 + MASS_Z_UNIT) * LENGTH_1 * LENGTH_2
THETA_3 = (MASS_2 / 3 + MASS_Z_UNIT) * LENGTH_2**2


def mass_entries(q2: float) -> tuple[float, float, float, float]:
    """m11, m12, m22, m33 of the mass matrix."""
    m12 = THETA_2 * np.cos(q2) + THETA_3
    return THETA_1 + 2 * THETA_2 * np.cos(q2) + THETA_3, m12, THETA_3, MASS_Z_MOVING + ROTOR_3 * AXES[2].gear ** 2


@cache
def axis_values(key: str) -> np.ndarray:
    """A number of each axis, (3,)."""
    return np.array([getattr(axis, key) for axis in AXES])


def voltages(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What the controllers give the motors, limited [V]."""
    limit = axis_values("voltage_limit")
    wanted = axis_values("proportional") * (axis_values("target") - q) - axis_values("derivative") * v
    return np.clip(wanted, -limit, limit)


def current_rates(v: np.ndarray, current: np.ndarray, voltage: np.ndarray) -> np.ndarray:
    """I' of the armatures [A/s]."""
    back_emf = axis_values("torque_constant") * axis_values("gear") * v
    return (voltage - back_emf - axis_values("resistance") * current) / axis_values("inductance")


def loads(q: np.ndarray, v: np.ndarray, current: np.ndarray, squared: float | None = None) -> np.ndarray:
    """b of M a = b; squared: a speed in place of that of joint 2 where it is squared."""
    torque = axis_values("gear") * np.sqrt(3) / 2 * axis_values("torque_constant") * current
    coupling = THETA_2 * np.sin(q[1])
    square = (v[1] if squared is None else squared) ** 2
    return torque + [coupling * (2 * v[0] * v[1] + square), -coupling * v[0] ** 2, -MASS_Z_MOVING * GRAVITY]


def accelerations(
    q: np.ndarray,
    v: np.ndarray,
    current: np.ndarray,
    *,
    mass_at: np.ndarray | None = None,
    squared: float | None = None,
) -> np.ndarray:
    """a = M^-1 b with the mass matrix inverted by hand, at q or where `mass_at` says."""
    m11, m12, m22, m33 = mass_entries((q if mass_at is None else mass_at)[1])
    b = loads(q, v, current, squared)
    determinant = m11 * m22 - m12 * m12
    return np.array([(m22 * b[0] - m12 * b[1]) / determinant, (m11 * b[1] - m12 * b[0]) / determinant, b[2] / m33])


def implicit_rates(q: np.ndarray, v: np.ndarray, current: np.ndarray) -> np.ndarray:
    """x' of A(x) x' = g(x) by a numerical solution, x = (v, q, current)."""
    m11, m12, m22, m33 = mass_entries(q[1])
    A = np.eye(9)
    A[:3, :3] = [[m11, m12, 0], [m12, m22, 0], [0, 0, m33]]
    right = np.concatenate([loads(q, v, current), v, current_rates(v, current, voltages(q, v))])
    return np.linalg.solve(A, right)


def explicit_rates(q: np.ndarray, v: np.ndarray, current: np.ndarray) -> np.ndarray:
    """The same with the mass matrix inverted by hand."""
    return np.concatenate([accelerations(q, v, current), v, current_rates(v, current, voltages(q, v))])


def plain_euler(step: float, steps: int) -> np.ndarray:
    """Positions of task b by explicit Euler steps, currents limited after each, (steps + 1, 3)."""
    limit = axis_values("current_limit")
    q, v, current = np.zeros((3, 3))
    rows = [q]
    for _ in range(steps):
        rate = current_rates(v, current, voltages(q, v))
        q, v, current = q + step * v, v + step * accelerations(q, v, current), current + step * rate
        current = np.clip(current, -limit, limit)
        rows.append(q)
    return np.array(rows)


def largest_disagreement(samples: int = 200) -> float:
    """Largest relative difference of any rate between the three forms at random states within the limits."""
    system = assemble(scara_ptp())
    rates = compile_kernels({"rhs": system.function(system.expressions.rhs)}).kernels["rhs"]
    p = np.array([number.value for number in system.parameters])
    generator = np.random.default_rng(11)
    largest = 0.0
    for _ in range(samples):
        q, v = generator.uniform(-2, 2, 3), generator.uniform(-2, 2, 3)
        current = axis_values("current_limit") * generator.uniform(-1, 1, 3)
        x = np.concatenate([q, v, current, [0.0]])
        position_dot, velocity_dot, current_dot = np.split(rates(np.zeros(1), x, np.zeros(0), np.zeros(0), p)[:9], 3)
        generic = np.concatenate([velocity_dot, position_dot, current_dot])
        for form in (implicit_rates(q, v, current), explicit_rates(q, v, current)):
            largest = max(largest, float(np.max(np.abs(form - generic) / (1 + np.abs(generic)))))
    return largest
