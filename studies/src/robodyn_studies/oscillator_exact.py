"""Coupled oscillator, exact solution: where are both masses at a time, and which energy have they?"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from robodyn.description.catalog import Oscillator


def exact_matrix(numbers: Oscillator) -> np.ndarray:
    """F of the whole oscillator, d/dt (x1, v1, x2, v2) = F (x1, v1, x2, v2)."""
    (m1, m2), (k1, k, k2), (c1, c, c2) = numbers.masses, numbers.stiffness, numbers.damping
    return np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [-(k1 + k) / m1, -(c1 + c) / m1, k / m1, c / m1],
            [0.0, 0.0, 0.0, 1.0],
            [k / m2, c / m2, -(k2 + k) / m2, -(c2 + c) / m2],
        ]
    )


def solve_exactly(numbers: Oscillator, time: float) -> np.ndarray:
    """(x1, v1, x2, v2) at a time, without any coupling error."""
    start = np.array([0.0, numbers.velocities[0], 0.0, numbers.velocities[1]])
    return expm(exact_matrix(numbers) * time) @ start


def energy_of(numbers: Oscillator, state: np.ndarray) -> float:
    """Energy of both masses and of all three springs at (x1, v1, x2, v2) [J]."""
    x1, v1, x2, v2 = state
    kinetic = numbers.masses[0] * v1**2 + numbers.masses[1] * v2**2
    k1, k, k2 = numbers.stiffness
    return float(kinetic + k1 * x1**2 + k * (x2 - x1) ** 2 + k2 * x2**2) / 2
