"""Scales of a task's Jacobian: how large are its entries, when lengths are measured by the machine's size?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly.system import System
from robodyn.dynamics import link_poses
from robodyn.model.task import TaskRows


@dataclass(frozen=True, eq=False)
class Scales:
    """Units of the task's rows and of the axes: 1 rad, or the machine's size [m]."""

    rows: np.ndarray
    axes: np.ndarray

    def apply(self, J: Any) -> Any:
        """J without units."""
        return J * (self.axes[None, :] / self.rows[:, None])


def find_scales(system: System, axes: Sequence[str], rows: TaskRows) -> Scales:
    """Of a machine at its start."""
    size = machine_size(system)
    units = {info.name: size if info.unit == "m" else 1.0 for info in system.signals}
    return Scales(
        np.array([1.0 if row.rotates else units[row.name] for row in rows.all]),
        np.array([units[f"{axis}.position"] for axis in axes]),
    )


def machine_size(system: System) -> float:
    """Diagonal of the box around all joints and points at the start [m]."""
    mechanism, mechanics = system.scenario.machine.mechanism, system.motion.mechanics
    assert mechanism is not None
    assert mechanics is not None
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    points = [outputs[f"{point.name}.position.{axis}"] for point in mechanism.points for axis in "xyz"]
    column = ca.vertcat(*(ca.SX(pose.p) for pose in link_poses(mechanics.tree, ca.vertsplit(system.q))), *points)
    x = [info.start for info in system.states]
    numbers = [number.value for number in system.parameters]
    places = np.array(system.function(column)(0.0, x, [], [info.start for info in system.memory], numbers))
    return float(np.linalg.norm(np.ptp(places.reshape(-1, 3), axis=0))) or 1.0
