"""EPAAS study: do an elastic gripper and upper arm explain what it measured beyond its rigid model? (section 7.3)

Four springs are fitted to the four measured modes of gripper (13.6, 14.8 Hz) and upper arm (59.2, 83.2 Hz). What then
follows was not fitted: the oil's modes beside them, and how a load of 2.5 kg in the gripper moves them. The study
measured that the vane motor's mode rises from 25 to 33 Hz with that load, which no rigid body does, and suspects the
gripper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from robodyn.analysis import Mode, ModeSet, OperatingPoint, find_modes
from robodyn.computation.assembly import System, assemble
from robodyn.presentation.studies import Kind, PublishedValue, above
from robodyn_studies.catalog.epaas import CIRCUITS
from robodyn_studies.catalog.epaas_drives import CYLINDER
from robodyn_studies.catalog.epaas_elastic import STIFFNESS, epaas_elastic
from robodyn_studies.epaas_arm_figures import inertia_matrices
from robodyn_studies.epaas_modes import oil_mode

SOURCE, OWN = "section 7.3", "this project's own"
MEASURED = {"gripper_pitch": 13.6, "gripper_yaw": 14.8, "upper_arm_stretch": 59.2, "upper_arm_bend": 83.2}
"""Joint that gives way -> mode that the study measured and calls its own [Hz]."""
HELD_LOAD = 2.5
STILL = {f"{circuit.name}.control.gain": 0.0 for circuit in CIRCUITS}


@cache
def elastic_system() -> System:
    """The robot that gives way, without dry friction, with a load that may be taken away."""
    return assemble(epaas_elastic(friction="none", payload=HELD_LOAD))


@cache
def _rest() -> OperatingPoint:
    """Where it holds itself: without weight the springs are slack there, whatever they and the load are."""
    point = find_modes(elastic_system()).model.point
    if point is None:
        raise ValueError("the modes of a system have an operating point")
    return point


def elastic_modes(stiffness: Mapping[str, float], payload: float = 0.0) -> ModeSet:
    """Modes with the valves shut."""
    numbers = {f"{name}.spring.stiffness": k for name, k in stiffness.items()} | {"payload.mass": payload}
    return find_modes(elastic_system(), at=_rest(), parameters=numbers | STILL)


def mode_of(modes: ModeSet, joint: str) -> Mode:
    """Of the modes in which a joint takes a large part, the one nearest to what was measured."""
    name = f"{joint}.velocity"
    most = max(mode.participation.get(name, 0.0) for mode in modes.moving)
    parts = [mode for mode in modes.moving if mode.participation.get(name, 0.0) > 0.4 * most]
    return min(parts, key=lambda mode: abs(np.log(mode.frequency / MEASURED[joint])))


@cache
def fitted_stiffness() -> dict[str, float]:
    """Springs with which the measured modes come out: k <- k (f_measured / f)^2, until nothing changes."""
    stiffness = dict(STIFFNESS)
    for _ in range(4):
        modes = elastic_modes(stiffness)
        shares = {name: (wanted / mode_of(modes, name).frequency) ** 2 for name, wanted in MEASURED.items()}
        stiffness = {name: k * shares[name] for name, k in stiffness.items()}
        if max(abs(share - 1) for share in shares.values()) < 1e-3:
            return stiffness
    raise ValueError(f"no springs give the measured modes: {shares}")


def vane_mode(payload: float) -> Mode:
    """The mode of the vane motor's oil, with the springs that were fitted."""
    modes = elastic_modes(fitted_stiffness(), payload)
    return max(modes.moving, key=lambda mode: mode.participation.get("vane.actuator.oil_force", 0.0))


def flexible_figures() -> Iterator[PublishedValue]:
    """Fitted springs, then what follows from them."""
    springs = fitted_stiffness()
    modes = elastic_modes(springs)
    for name, measured in MEASURED.items():
        fitted = (
            f"spring of the {name.replace('_', ' ')}, {springs[name]:.3g} {'N/m' if 'stretch' in name else 'N m/rad'}"
        )
        value = mode_of(modes, name).frequency
        figure = (f"elastic_{name}", measured, value, "Hz", 0.05, "printed to 0.1 Hz", SOURCE, Kind.INPUT)
        yield PublishedValue(*figure, fitted=fitted)
    for axis, printed in (("l3", 35.9), ("l4", 40.2)):
        force = f"{axis}.actuator.oil_force"
        value = max(modes.moving, key=lambda mode: mode.participation.get(force, 0.0)).frequency
        reason = f"measured; rigid {oil_mode(axis).frequency:.1f} Hz. The oil's numbers are those of the rig"
        yield PublishedValue(f"elastic_mode_{axis.upper()}", None, value, "Hz", None, f"{printed} Hz {reason}", OWN)
    yield from _load_figures()
    yield _in_plane_figure()


def _load_figures() -> Iterator[PublishedValue]:
    """How a load moves the vane motor's mode: rigid, elastic, measured."""
    rigid = oil_mode("vane", HELD_LOAD).frequency / oil_mode("vane").frequency
    elastic = vane_mode(HELD_LOAD).frequency / vane_mode(0.0).frequency
    reason = (
        f"mode of the vane motor with {HELD_LOAD:g} kg over that without; measured 33/25 = 1.3; rigid {rigid:.2f}: "
    )
    reason += "the load hangs on a soft gripper and does not take part"
    yield above("elastic_vane_mode_with_load_over_without", elastic, rigid, "", reason, OWN)


def _in_plane_figure() -> PublishedValue:
    """A spring that bends the upper arm in its plane stands between the oil of L3 and the arm.

    The mode that it adds moves what is on the cylinder's side, J, against the oil alone at least: J >= lever^2/(c w^2).
    """
    J, CJA = inertia_matrices()
    lever = J.matrix[1, 1] / CJA.effective["l3"]
    needed = lever / CYLINDER["oil_compliance"] / (2 * np.pi * MEASURED["upper_arm_stretch"]) ** 2
    share = float(needed / J.matrix[1, 1])
    reason = (
        "of J22 on the cylinder's side of the bend, for a mode as slow as 59.2 Hz: more than the root of an arm has, "
    )
    return above("elastic_bend_in_plane_needs", share, 0.3, "", reason + "so it stretches here", OWN)
