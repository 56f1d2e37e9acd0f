"""Orientation of a tool on its path: how is it turned from where it should be?

The commanded orientation is where nominal kinematics put the tool with the joints at their references.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.model import Scenario
from robodyn.paths import PathReference, SerialArm, build_arm
from robodyn.paths.timed_reference import TimedReference
from robodyn.results.signal import Floats
from robodyn.results.table import Curves


@dataclass(frozen=True)
class Turned:
    """Signals of an attained orientation (quaternion w, x, y, z), and references of the joints of the tool's arm."""

    attained: tuple[str, ...]
    references: tuple[str, ...]
    arm: SerialArm

    @property
    def signals(self) -> tuple[str, ...]:
        return (*self.attained, *self.references)


def find_turned(scenario: Scenario, point: str, way: str) -> Turned | None:
    """What says how a tool is turned; None where its joints follow no path of theirs.

    Args:
        way: output of the block that gives the joints' references.
    """
    mechanism = scenario.machine.mechanism
    bodies = {one.name: one.body for one in mechanism.points} if mechanism else {}
    block = next((one for one in scenario.machine.blocks if way == f"{one.name}.s"), None)
    law = block.law if block else None
    if mechanism is None or point not in bodies or not isinstance(law, (PathReference, TimedReference)):
        return None
    assert block is not None
    joints = law.joints
    arm = build_arm(mechanism, point)
    if set(arm.joints) != set(joints):
        return None
    attained = tuple(f"{bodies[point]}.orientation.{part}" for part in "wxyz")
    return Turned(attained, tuple(f"{block.name}.position{1 + joints.index(name)}" for name in arm.joints), arm)


def measure_turns(curves: Curves, turned: Turned) -> Floats:
    """Rotation vectors [rad], world axes, from the commanded orientation to the attained one, (n, m, 3)."""
    w, *xyz = (curves.values[name] for name in turned.attained)
    attained = Rotation.from_quat(np.stack([*xyz, w], axis=-1).reshape(-1, 4))
    q = np.stack([curves.values[name] for name in turned.references], axis=-1)
    commanded = Rotation.from_matrix(turned.arm.place(q.reshape(-1, q.shape[-1])).R)
    return np.asarray((attained * commanded.inv()).as_rotvec()).reshape(*w.shape, 3)
