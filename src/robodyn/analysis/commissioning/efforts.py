"""Efforts of a planned motion by inverse dynamics: which drive would have to give more than it can, and where?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
from robodyn.base import Array, FlawList
from robodyn.description.model import LinearCombination, Machine


def drives_of(machine: Machine) -> dict[str, str]:
    """Elastic joints and the drives behind their gears, by the twist between them."""
    twists = [part for part in machine.coordinates if isinstance(part, LinearCombination)]
    found = {}
    for twist in twists:
        signs = {weight: name for name, weight in twist.of.items()}
        if len(twist.of) == 2 and set(signs) == {1.0, -1.0} and twist.name == f"{signs[-1.0]}_twist":
            found[signs[1.0]] = signs[-1.0]
    return found


class InverseDynamics:
    """Torques and forces of joints' drives from their motion: tau = M(q) a + c(q, v), friction aside.

    A drive behind an elastic gear is taken to turn as its joint, whose torque it gives beside its own rotor's.
    """

    def __init__(self, machine: Machine, joints: Sequence[str], places: Mapping[str, float]) -> None:
        self.dynamics, drives = MachineDynamics(machine), drives_of(machine)
        rests = {f"{name}.position": q for name, q in places.items()}
        rests |= {f"{drive}.position": places.get(joint, 0.0) for joint, drive in drives.items()}
        self.rest = self.dynamics.positions_at(rests)
        self.columns = [[name, *([drives[name]] if name in drives else [])] for name in joints]

    def __call__(self, position: Array, velocity: Array, acceleration: Array) -> Array:
        """The efforts of the moving joints, (n,) each."""
        dynamics = self.dynamics
        q, v, a = self.rest.copy(), np.zeros(len(dynamics.velocities)), np.zeros(len(dynamics.velocities))
        for j, names in enumerate(self.columns):
            for name in names:
                q[dynamics.positions.index(f"{name}.position")] = position[j]
                at = dynamics.velocities.index(f"{name}.velocity")
                v[at], a[at] = velocity[j], acceleration[j]
        forces = dict(zip(dynamics.velocities, dynamics.mass_matrix(q) @ a + dynamics.bias(q, v), strict=True))
        return np.array([sum(forces[f"{name}.velocity"] for name in names) for names in self.columns])


def check_unconstrained(flaws: FlawList, dynamics: MachineDynamics, q: Array, joints: Sequence[str]) -> None:
    """Report joints that constraints hold: what they move, and who helps them, is not known joint by joint."""
    H = dynamics.constraint_gradients(q)
    for name in joints if len(H) else ():
        if np.any(np.abs(H[:, dynamics.velocities.index(f"{name}.velocity")]) > 1e-12):
            flaws.add(f"joints.{name}", "is held by a constraint", "only joints without constraints are taken")


def check_efforts(
    flaws: FlawList,
    machine: Machine,
    joints: Sequence[str],
    places: Mapping[str, float],
    time: Array,
    position: Array,
    velocity: Array,
    acceleration: Array,
    place: Callable[[int], str],
) -> Array:
    """Torques and forces of the joints' drives along a motion (k, n), friction aside; what is too much is reported.

    Args:
        places: positions of the joints that stay; place: text that says where sample k is.
    """
    inverse = InverseDynamics(machine, joints, places)
    check_unconstrained(flaws, inverse.dynamics, inverse.rest, joints)
    if flaws.found:
        return np.zeros_like(position)
    effort = np.array([inverse(*rows) for rows in zip(position, velocity, acceleration, strict=True)])
    columns = inverse.columns
    _report(flaws, machine, columns, effort, place)
    return effort


def _report(
    flaws: FlawList, machine: Machine, columns: list[list[str]], effort: Array, place: Callable[[int], str]
) -> None:
    own = {joint.name: joint for joint in machine.any_mechanism.joints}
    for j, names in enumerate(columns):
        limits = [own[name].effort_limit for name in names if name in own]
        limit = min((value for value in limits if value is not None), default=np.inf)
        worst = int(np.argmax(np.abs(effort[:, j])))
        if abs(effort[worst, j]) > limit:
            unit = own[names[0]].effort_unit
            what = f"must give {abs(effort[worst, j]):.4g} {unit} at {place(worst)}"
            remedy = "go slower, reduce the load, or use a larger drive"
            flaws.add(f"joints.{names[0]}", f"{what}, its effort limit is {limit:.4g} {unit}", remedy)
