"""Limits along a path: which speeds and accelerations along it do drives, joints and currents allow?

    tau_j = m_j(s) s'' + h_j(s) s'^2 + g_j(s) + sign(q_j') (coulomb_j + viscous_j |q_j'| s')
    |(1 +- loss_j) (tau_j without friction) + friction| <= effort_j,   |q_j'| s' <= speed_j,   |q_j''| <= acceleration_j

with the true inverse dynamics of the machine, payload included. A current limit is one of effort: i = tau / k_t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.analysis.commissioning.efforts import InverseDynamics, check_unconstrained
from robodyn.base.errors import FlawList
from robodyn.description.model import Machine
from robodyn.description.paths import JointPath


@dataclass(frozen=True, eq=False)
class PathLimits:
    """Coefficients at ways s (k,) of all moving joints, (k, n), and their limits (n,).

    Attributes:
        inertia, centrifugal, gravity: m, h, g; slope, bend: q', q''.
        coulomb: sliding friction in the direction of the motion, (k, n); viscous, loss: of friction and gears.
        effort, speed, acceleration: limits, inf where there is none.
    """

    joints: tuple[str, ...]
    s: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    inertia: np.ndarray
    centrifugal: np.ndarray
    gravity: np.ndarray
    coulomb: np.ndarray
    viscous: np.ndarray
    loss: np.ndarray
    effort: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray

    def rows(self, k: Any, v: Any, a: Any) -> list[tuple[Any, float]]:
        """What must stay between -limit and limit at the ways k, for a speed v and an acceleration a along the path.

        Works on numbers and CasADi's symbols alike.
        """
        found = []
        for j in range(len(self.joints)):
            slope, bend = self.slope[k, j], self.bend[k, j]
            if np.isfinite(self.effort[j]):
                driven = self.inertia[k, j] * a + self.centrifugal[k, j] * v**2 + self.gravity[k, j]
                rubbing = np.sign(slope) * (self.coulomb[k, j] + self.viscous[j] * np.abs(slope) * v)
                shares = (1 + self.loss[j], 1 - self.loss[j]) if self.loss[j] else (1.0,)
                found += [(share * driven + rubbing, float(self.effort[j])) for share in shares]
            if np.isfinite(self.speed[j]):
                found.append((slope * v, float(self.speed[j])))
            if np.isfinite(self.acceleration[j]):
                found.append((bend * v**2 + slope * a, float(self.acceleration[j])))
        return found

    def use(self, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Largest share of any limit at each way, (k,)."""
        every = np.arange(len(self.s))
        return np.max([np.abs(row) / limit for row, limit in self.rows(every, v, a)], axis=0)


def find_limits(
    flaws: FlawList,
    machine: Machine,
    plan: JointPath,
    places: Mapping[str, float],
    s: np.ndarray,
    current: Mapping[str, float],
) -> PathLimits:
    """The limits of a machine along a planned path.

    Args:
        places: positions of the joints that stay; current: limits of motors' currents by joint [A].
    """
    assert machine.mechanism is not None
    inverse = InverseDynamics(machine, plan.joints, places)
    check_unconstrained(flaws, inverse.dynamics, inverse.rest, plan.joints)
    flaws.raise_if_any("fast path")
    q, slope, bend = plan.at(s)
    still = np.zeros(len(plan.joints))
    gravity = np.array([inverse(row, still, still) for row in q])
    inertia = np.array([inverse(row, still, d) for row, d in zip(q, slope, strict=True)]) - gravity
    centrifugal = np.array([inverse(*rows) for rows in zip(q, slope, bend, strict=True)]) - gravity
    own = {joint.name: joint for joint in machine.mechanism.joints}
    columns = [[own[name] for name in names if name in own] for names in inverse.columns]
    forward, back, viscous, loss = _friction(machine, inverse.columns)
    coulomb = np.where(slope < 0, back, forward)
    effort = np.array([_least(joint.effort_limit for joint in joints) for joints in columns])
    effort = np.minimum(effort, _by_current(flaws, machine, plan.joints, inverse.columns, current))
    speed = np.array([_least(joint.speed_limit for joint in joints) for joints in columns])
    acceleration = np.array([_least(joint.acceleration_limit for joint in joints) for joints in columns])
    if not np.isfinite(effort).any():
        flaws.add("joints", "none has an effort limit", "give the joints effort_limit, or dress the robot")
    flaws.raise_if_any("fast path")
    return PathLimits(
        plan.joints, s, slope, bend, inertia, centrifugal, gravity, coulomb, viscous, loss, effort, speed, acceleration
    )


def _least(limits: Any) -> float:
    return min((value for value in limits if value is not None), default=np.inf)


def _friction(machine: Machine, columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Coulomb forward and back, viscous and loss of each joint, (4, n): sums over what rubs on it or on its drive."""
    found = np.zeros((4, len(columns)))
    for block in machine.all_blocks:
        j = next((j for j, names in enumerate(columns) if block.on in names), None)
        if j is not None and block.info.disturbance:
            numbers = {key: value for key, value in block.parameters.items() if isinstance(value, float)}
            coulomb = numbers.get("coulomb", 0.0)
            back = numbers.get("coulomb_back", coulomb)
            found[:, j] += coulomb, back, numbers.get("viscous", 0.0), numbers.get("load_loss", 0.0)
    return found


def _by_current(
    flaws: FlawList,
    machine: Machine,
    joints: Sequence[str],
    columns: Sequence[Sequence[str]],
    current: Mapping[str, float],
) -> np.ndarray:
    """Efforts that currents allow, by the torque constants of the motors."""
    found = np.full(len(joints), np.inf)
    flaws.add_unknown(current, joints, "is no joint of the path", "current")
    for name, limit in ((name, limit) for name, limit in current.items() if name in joints):
        j = joints.index(name)
        motors = [block for block in machine.blocks if block.on in columns[j] and "torque_constant" in block.parameters]
        if not motors:
            flaws.add(f"current.{name}", "the joint has no motor with a torque_constant", "leave it out")
        elif not limit > 0:
            flaws.add(f"current.{name}", f"must be positive, is {limit:g}")
        else:
            numbers = motors[0].parameters
            found[j] = float(str(numbers["torque_constant"])) * float(str(numbers.get("gear", 1.0))) * limit
    return found
