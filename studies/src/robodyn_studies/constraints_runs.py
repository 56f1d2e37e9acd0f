"""Constraints study, runs: which do published values and pictures share, and what is read from them?"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import ellipj, ellipk, ellipkinc

from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import breaking_pendulum, cartesian_pendulum
from robodyn.description.model import ConstraintMethod, Solver
from robodyn_studies.catalog.delta_robot import delta_hold

STUDY = "study of Baumgarte's method in Modelica"
OWN = "own"
POLE = 5.0
"""Of Baumgarte's method in the study's delta robot [1/s]; it prints none for the pendulum."""
GRAVITY = 9.81
STRENGTH = 0.8 * 3 * GRAVITY
"""Tension at which the rod breaks [N], this project's own choice: 0.8 of the largest of a pendulum from horizontal."""
FINE = Solver("dopri5", rtol=1e-11, atol=1e-13)
AXES = ("x", "y", "z")


@cache
def pendulum_run(tolerance: float, method: str = "baumgarte") -> Run:
    """The pendulum in Cartesian coordinates for 10 s, with relative and absolute tolerance alike."""
    constraint_method = ConstraintMethod(pole=POLE) if method == "baumgarte" else ConstraintMethod(method)
    return simulate(
        cartesian_pendulum(constraint_method=constraint_method), Solver("dopri5", rtol=tolerance, atol=tolerance)
    )


def drift_of(run: Run) -> np.ndarray:
    """The study's constraint h = x^2 + z^2 - L^2 at all recorded instants [m^2]."""
    return run["x.position"].values ** 2 + run["z.position"].values ** 2 - 1.0


@cache
def breaking_run() -> Run:
    """The pendulum whose rod breaks."""
    return simulate(breaking_pendulum(STRENGTH), FINE)


def swing_exactly(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place of a pendulum of 1 m let go at (-1, 0), by elliptic functions.

    sin(a / 2) = k sn(K - w t),  a from hanging, k = sin(45 deg), w^2 = g / L
    """
    k = np.sin(np.pi / 4)
    sn = ellipj(ellipk(k**2) - np.sqrt(GRAVITY) * np.asarray(times), k**2)[0]
    angle = 2 * np.arcsin(k * sn)
    return -np.sin(angle), -np.cos(angle)


def break_exactly() -> tuple[float, float, float]:
    """Instant [s] and place [m] at which the rod's tension 3 m g sin(depth) reaches its strength."""
    depth = np.arcsin(STRENGTH / (3 * GRAVITY))
    k = np.sin(np.pi / 4)
    share = np.arcsin(np.sin((np.pi / 2 - depth) / 2) / k)
    time = (ellipk(k**2) - ellipkinc(share, k**2)) / np.sqrt(GRAVITY)
    return float(time), float(-np.cos(depth)), float(-np.sin(depth))


@cache
def held_delta() -> System:
    """The delta robot held at horizontal proximal links."""
    return assemble(delta_hold())


def distance(run: Run, other: Run, names: tuple[str, ...], times: np.ndarray) -> float:
    """Largest difference of signals of two runs at given times."""
    return float(max(np.max(np.abs(run[name](times) - other[name](times))) for name in names))
