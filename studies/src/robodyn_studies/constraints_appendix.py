"""Constraints study: is the appendix's typed arm the one that the description gives, and where is it misprinted?

Symbols as in the study: phi its three angles of an arm, m inertia, c coefficients of products of speeds, G gravity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from robodyn.computation.assembly import assemble
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import cartesian_pendulum
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog.delta_parameters import FITTED, GRAVITY
from robodyn_studies.catalog.delta_robot import ARMS, delta_fall
from robodyn_studies.constraints_runs import OWN, STUDY
from robodyn_studies.kinetics import Kinetics

APPENDIX = f"{STUDY}, appendix"
Arm = tuple[np.ndarray, np.ndarray, np.ndarray]
WHERE = {"weight": f"{STUDY}, equation 1d"}
SHOWN = 1e-3
"""Difference from which a misprint is no rounding, in SI units: of coefficients from 0.01 to 1."""


def typed_arm(phi: np.ndarray, *, third: float = 1 / 3, as_printed: bool = False) -> Arm:
    """Inertia (3, 3), coefficients of speeds (3, 3, 3) and gravity (3,) as the appendix types them; the fitted robot.

    Args:
        third: part of the platform's mass that its M3 stands for.
        as_printed: with the centrifugal coefficient of phi3 on phi2 as printed, otherwise half of dm33/dphi2.
    """
    r = FITTED
    (s1, s2, s3), (c1, c2, c3) = np.sin(phi), np.cos(phi)
    l1, l2, lc2, m2, m3 = r.proximal_length, r.distal_length, r.distal_com, r.distal_mass, third * r.platform_mass
    moment = lc2 * m2 + l2 * m3
    swing = r.distal_inertia + m2 * lc2**2 + m3 * l2**2
    m12, m13 = l1 * moment * (c1 * c2 * c3 + s1 * s2), -l1 * moment * c1 * s2 * s3
    first = r.proximal_inertia + r.proximal_com**2 * r.proximal_mass + l1**2 * (m2 + m3)
    m = np.array([[first, m12, m13], [m12, swing, 0.0], [m13, 0.0, swing * s2**2]])
    centrifugal = -l2 * (lc2**2 * m2 + l2**2 * m3) if as_printed else -swing
    c = np.zeros((3, 3, 3))
    c[:, 0, 0] = 0.0, l1 * moment * (c1 * s2 - c2 * c3 * s1), l1 * moment * s1 * s2 * s3
    c[:, 1, 1] = l1 * moment * (c2 * s1 - c1 * c3 * s2), 0.0, 0.0
    c[:, 2, 2] = -l1 * moment * c3 * c1 * s2, centrifugal * c2 * s2, 0.0
    c[:, 1, 2] = c[:, 2, 1] = -l1 * moment * c1 * c2 * s3, 0.0, swing * np.sin(2 * phi[1]) / 2
    weight = r.proximal_com * r.proximal_mass + l1 * (m2 + m3)
    G = GRAVITY * np.array([-weight * c1, -moment * c2 * c3, moment * s2 * s3])
    return m, c, G


@cache
def generated_arms() -> tuple[tuple[np.ndarray, Arm], ...]:
    """phi and the coefficients of each arm as the description gives them, at random positions."""
    names = [f"{arm}.{angle}" for arm in ARMS for angle in ("q1", "phi2", "phi3")]
    kinetics = Kinetics(assemble(delta_fall()), names)
    generator = np.random.default_rng(4)
    found = []
    for _ in range(5):
        q = np.tile([0.2, 2.4, 0.0], 3) + generator.uniform(-0.5, 0.5, 9)
        here, phi = kinetics.coefficients_at(q), kinetics.map_at(q).position
        for at in (slice(0, 3), slice(3, 6), slice(6, 9)):
            found.append((phi[at], (here.inertial[at, at], here.velocity[at, at, at], here.gravity[at])))
    return tuple(found)


def off_by(third: float = 1 / 3, as_printed: bool = False) -> float:
    """Largest difference between typed and generated coefficients."""
    readings = ((typed_arm(phi, third=third, as_printed=as_printed), own) for phi, own in generated_arms())
    return float(max(np.abs(a - b).max() for typed, own in readings for a, b in zip(typed, own, strict=True)))


def rod_off_by(offset: float) -> float:
    """How far the distal link is from its length where the loop joint has an offset in place of l0 - l3 [m]."""
    r = FITTED
    phi2 = np.arccos(-(offset + r.proximal_length) / r.distal_length)
    across = r.base_radius + r.proximal_length - r.platform_radius
    return float(abs(np.hypot(across, r.distal_length * np.sin(phi2)) - r.distal_length))


def hanging_tension(mass: float) -> float:
    """What the rod of a pendulum at rest carries [N]."""
    scenario = replace(cartesian_pendulum(mass, duration=0.01), initial={"z.position": -1.0})
    return float(simulate(scenario)["rod.tension"].final)


def appendix_figures() -> Iterator[PublishedValue]:
    """The typed arm against the generated one, and each misprint that a number shows."""
    reason = "15 arms at random angles; rounding of sums of ten products"
    yield below("appendix_corrected_disagreement", off_by(), 1e-10, "SI", reason, APPENDIX, Kind.RESULT)
    right = FITTED.base_radius - FITTED.platform_radius
    reason = "rod length with the offset l0 - l3 of equation 9, rounding"
    yield below("appendix_rod_off_by_l0_minus_l3", rod_off_by(right), 1e-12, "m", reason, f"{STUDY}, equation 9")
    shown = {
        "coefficient": (off_by(as_printed=True), "SI", "c[3,2] lacks J2 and has a factor L2 too many"),
        "platform_mass": (off_by(third=1.0), "SI", "M3 must be a third of the platform's mass, as in equations 6, 10"),
        "offset": (rod_off_by(-right), "m", "psi[2] has L3 - L0 where equation 9 has l0 - l3"),
        "weight": (abs(hanging_tension(3.0) - GRAVITY), "N", "equation 1d has g where its code has M g; a bob of 3 kg"),
    }
    for name, (value, unit, what) in shown.items():
        reason = f"{what}: how far the printed version is off"
        yield above(f"appendix_misprint_{name}", value, SHOWN, unit, reason, WHERE.get(name, APPENDIX))
    count = sum(value > SHOWN for value, _, _ in shown.values())
    reason = "misprints that change a number; slips of notation (17, 26, 29a, 36 and four lost letters) are not counted"
    yield PublishedValue("appendix_misprints", None, count, "", None, reason, OWN, holds=count == len(shown))
