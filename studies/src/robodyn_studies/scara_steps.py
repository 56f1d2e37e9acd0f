"""SCARA study, critical step sizes: up to which step are Euler and Heun stable, and why is it the same one?

A step of length h multiplies the part of the motion that belongs to a pole s by R(h s):

    Euler: R(z) = 1 + z        Heun: R(z) = 1 + z + z^2/2

On the real axis both have |R| <= 1 down to z = -2; Heun's region is larger only off that axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
from scipy.optimize import brentq

from robodyn.analysis import linearise
from robodyn.computation.assembly import assemble
from robodyn.description.catalog import scara_ptp
from robodyn.description.catalog.scara import AXES
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.scara_runs import ELBOW, METHODS, OWN, PAPER, POSITIONS, largest_difference, motion

GROWTH: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "euler": lambda z: np.abs(1 + z),
    "heun": lambda z: np.abs(1 + z + z**2 / 2),
}
BELOW, ABOVE = 1.02e-3, 1.05e-3
"""Steps on both sides of the critical one [s]."""


@cache
def poles_at_target() -> np.ndarray:
    """Poles of the robot with its motors and loops about its target."""
    return linearise(assemble(scara_ptp())).poles()


def critical_step(method: str) -> float:
    """Longest step at which no part of the motion about the target grows [s]."""
    poles = poles_at_target()
    return float(brentq(lambda h: GROWTH[method](h * poles).max() - 1, 1e-4, 5e-3, xtol=1e-12))


def step_figures() -> Iterator[PublishedValue]:
    """Critical steps from the poles, runs on both sides of them, and which joint breaks out."""
    where = f"{PAPER}, section 4.1"
    digits = "half a unit of its digit; from the poles about the target"
    chosen = "the choice of the set of values, of which it is the only sign that they are the paper's"
    for method in METHODS:
        value = critical_step(method)
        name = f"critical_step_{method}"
        yield PublishedValue(name, 1e-3, value, "s", 5e-4, digits, where, Kind.INPUT, fitted=chosen)
        errors = [_error(method, step) for step in (BELOW, ABOVE)]
        reason = f"largest deviation at {1e3 * ABOVE:g} ms over that at {1e3 * BELOW:g} ms, beyond and within it"
        yield above(f"critical_step_{method}_shown_by_runs", errors[1] / errors[0], 3.0, "", reason, OWN)
    pole = max(poles_at_target(), key=abs)
    alike = abs(pole.imag) < 1e-9 and bool(np.isclose(critical_step("euler"), critical_step("heun"), rtol=1e-9))
    reason = "the fastest pole is real: there Heun's region is as long as Euler's, as the paper says; both are 2/|s|"
    figure = ("critical_steps_alike", None, 2 / abs(pole), "s", None, reason, where, Kind.RESULT)
    yield PublishedValue(*figure, holds=alike)
    elbow = AXES[1]
    own = 2 * elbow.inductance / elbow.resistance
    reason = "2 L/R of the second axis alone; the back-EMF and the other poles move it by 3 %"
    yield PublishedValue("critical_step_of_the_second_motor", own, critical_step("euler"), "s", 0.03 * own, reason, OWN)
    for method in METHODS:
        apart = {name: _error(method, 2e-3, (name,)) for name in POSITIONS}
        worst = max(apart, key=lambda name: apart[name])
        reason = "at 2 ms q2 is worst; ours deviates by this much"
        holds = worst == ELBOW
        yield PublishedValue(
            f"worst_joint_{method}_0.002", None, apart[worst], "rad", None, reason, where, Kind.RESULT, holds=holds
        )
    ratio = _error("heun", 2e-3) / _error("euler", 2e-3)
    reason = "at 2 ms Heun is no better than Euler: its error over Euler's"
    yield above("heun_over_euler_at_0.002", ratio, 1.0, "", reason, where, Kind.RESULT)
    ratio = _error("heun", 1e-3) / _error("euler", 1e-3)
    reason = "at 1 ms, where both are stable, the higher order pays: its error over Euler's"
    yield below("heun_over_euler_at_0.001", ratio, 0.5, "", reason, OWN)


def _error(method: str, step: float, names: tuple[str, ...] = POSITIONS) -> float:
    return largest_difference(motion("b", method, step), motion("b"), names)
