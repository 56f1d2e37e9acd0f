"""Standing start: where are joints, drives and integrators of a controlled machine that stands still under its load?

    q = q_ref - tau(q) / k,   theta = q_ref

with tau the torques that hold the machine: drives stand where encoders want them, elastic gears let the joints sag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.commissioning.axis import Axis, Gains
from robodyn.laws.sensors import nearest_multiple
from robodyn.model.fields import EMPTY

ROUNDS = 30


def find_standing(
    dynamics: MachineDynamics, axes: Sequence[Axis], places: Mapping[str, float], gains: Mapping[str, Gains] = EMPTY
) -> dict[str, float]:
    """Start values of states and memory, so that nothing moves but what the encoders' steps leave."""
    torques = dict.fromkeys((axis.name for axis in axes), 0.0)
    positions = dict(places)
    for _ in range(ROUNDS):
        q = dynamics.positions_at({f"{name}.position": value for name, value in positions.items()})
        held = dict(zip(dynamics.velocities, dynamics.holding_forces(q), strict=True))
        torques = {name: float(held[f"{name}.velocity"]) for name in torques}
        sagged = dict(places)
        for axis in axes:
            if axis.gear is not None:
                sagged[axis.name] = places[axis.name] - torques[axis.name] / axis.gear.stiffness
        if np.allclose([sagged[k] for k in sagged], [positions[k] for k in sagged], rtol=0.0, atol=1e-15):
            break
        positions = sagged
    initial = {f"{name}.position": value for name, value in positions.items() if value}
    for axis in axes:
        initial |= _of_axis(axis, places[axis.name], torques[axis.name], gains.get(axis.name))
    return {name: value for name, value in initial.items() if value}


def _of_axis(axis: Axis, place: float, torque: float, gains: Gains | None) -> dict[str, float]:
    """The drive at its reference, its encoder read before, a cascade's integral and the current as they hold it."""
    drive = {f"{axis.gear.drive}.position": place} if axis.gear is not None else {}
    integral = {f"{axis.name}.velocity_loop.error_sum": torque / gains.integral} if gains is not None else {}
    return (
        drive
        | integral
        | {
            f"{axis.name}.encoder.previous": float(nearest_multiple(place, axis.resolution)),
            f"{axis.name}.motor.current": torque / axis.torque_constant,
        }
    )
