"""Scales of a task's Jacobian: how large are its entries, when lengths are measured by the machine's size?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.model_checks import free_mobilities
from robodyn.computation.assembly.model_functions import ModelFunctions
from robodyn.computation.assembly.system import System
from robodyn.computation.dynamics import link_poses
from robodyn.description.model.numbers import XYZ
from robodyn.description.model.task import TaskRows


@dataclass(frozen=True, eq=False)
class Scales:
    """Units of the task's rows and of the axes: 1 rad, or the machine's size [m]."""

    rows: np.ndarray
    axes: np.ndarray

    def apply(self, J: Any) -> Any:
        """J without units."""
        return J * (self.axes[None, :] / self.rows[:, None])


def find_scales(system: System, axes: Sequence[str], rows: TaskRows, functions: ModelFunctions) -> Scales:
    """Of a machine at its start; of more axes than motions those of forces, by what moves without constraints."""
    if functions.is_overactuated:
        start = np.array([info.start for info in system.states[: system.n_q]])
        root = np.sqrt(free_mobilities(functions, start))
        return Scales(root[len(axes) :], 1 / root[: len(axes)])
    size = machine_size(system)
    units = {info.name: size if info.unit == "m" else 1.0 for info in system.signals}
    return Scales(
        np.array([1.0 if row.rotates else units[row.name] for row in rows.all]),
        np.array([units[f"{axis}.position"] for axis in axes]),
    )


def machine_size(system: System) -> float:
    """Diagonal of the box around all joints and points at the start [m]."""
    assert system.motion.mechanics is not None
    poses = link_poses(system.motion.mechanics.tree, ca.vertsplit(system.q))
    joints = _at_start(system, ca.vertcat(*(ca.SX(pose.p) for pose in poses)))
    places = np.vstack([joints, *point_places(system).values()])
    return float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0


def point_places(system: System) -> dict[str, np.ndarray]:
    """Where all points are at the start [m]."""
    mechanism = system.scenario.machine.mechanism
    assert mechanism is not None
    outputs = dict(zip(system.signal_names, ca.vertsplit(system.expressions.outputs), strict=True))
    names = [point.name for point in mechanism.points]
    column = ca.vertcat(ca.SX(0, 1), *(outputs[f"{name}.position.{axis}"] for name in names for axis in XYZ))
    return dict(zip(names, _at_start(system, column), strict=True))


def _at_start(system: System, column: ca.SX) -> np.ndarray:
    x, memory = [info.start for info in system.states], [info.start for info in system.memory]
    numbers = [number.value for number in system.parameters]
    return np.array(spell_out(system.function(column))(0.0, x, [], memory, numbers)).reshape(-1, 3)
