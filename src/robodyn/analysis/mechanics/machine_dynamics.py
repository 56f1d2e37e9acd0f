"""Rigid-body dynamics by name: mass matrix, inverse dynamics, Jacobians and holding forces of any machine.

    M(q) a + c(q, v) = tau + loads + H^T lam,   H v = 0

of a mechanism with its rotors, constant loads and constraints, fixed to the ground or floating; drives, friction and
springs are no part of it. Positions q and velocities v are in the order of `positions` and `velocities`; an orientation
has four positions and three velocities. Native code, traced and compiled once for many positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg import null_space

from robodyn.analysis.point_functions import PointFunctions, described_point
from robodyn.base import Array, Flaw, FlawList, ModelError, refuse, refuse_unknown
from robodyn.computation.assembly import System, assemble
from robodyn.computation.dynamics import geometric_jacobian
from robodyn.description.model import Machine, Scenario

REACHED = 1e-9
"""Part of the forces asked for that may be left where some joints are to give them."""
TINY = 1e-30


class MachineDynamics:
    """The mechanics of a machine as functions of its positions and velocities, its numbers as described.

    Raises:
        ModelError: where the machine has no mechanism.
    """

    def __init__(self, machine: Machine) -> None:
        if machine.mechanism is None:
            refuse("machine.mechanism", "there is none", "give it bodies and joints", machine.name)
        # The machine without what drives, brakes or measures it.
        left_out: dict[str, Any] = dict.fromkeys(("delays", "signals", "contacts", "interfaces", "tunable"), ())
        self._system = assemble(Scenario(machine.name, replace(machine.with_all_blocks(()), **left_out), 1.0))
        # There are no delays, and memory says that constraints hold.
        self._point = described_point(self._system)
        freedoms = machine.mechanism.freedoms
        self.positions = tuple(name for freedom in freedoms for name in freedom.positions)
        self.velocities = tuple(name for freedom in freedoms for name in freedom.velocities)
        self.forces = tuple(name for freedom in freedoms for name in freedom.forces)

    def mass_matrix(self, q: Any) -> Array:
        """M, (n_v, n_v)."""
        return self._call("mass_matrix", q).reshape(self._n_v, self._n_v, order="F")

    def bias(self, q: Any, v: Any) -> Array:
        """c: Coriolis and centrifugal forces, gravity and gyroscopic moments, less constant loads, (n_v,)."""
        return self._call("bias", q, v)

    def holding_forces(self, q: Any, joints: Sequence[str] | None = None) -> Array:
        """Forces that hold the machine at rest: see `inverse_dynamics`."""
        return self.inverse_dynamics(q, np.zeros(self._n_v), np.zeros(self._n_v), joints)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, joints: Sequence[str] | None = None) -> Array:
        """Forces and torques that accelerate the machine so, in the order of `forces` or of `joints`.

        Without constraints they are M a + c. With constraints, or where `joints` (names of axes: `elbow`, `base.x`)
        are to give all of them, they are those of the least sum of squares, beside the forces of the constraints.

        Raises:
            ModelError: where these joints cannot do it.
        """
        torques = self.mass_matrix(q) @ np.asarray(a, float) + self.bias(q, v)
        H = self.constraint_gradients(q)
        if joints is None and not len(H):
            return torques
        names = [velocity.removesuffix(".velocity") for velocity in self.velocities]
        refuse_unknown(joints or (), names, "there is no such axis", under="joints")
        chosen = [names.index(joint) for joint in (names if joints is None else joints)]
        # Along the motions Z that the constraints leave free, these have no part: Z^T u = Z^T (M a + c).
        Z = null_space(H) if len(H) else np.eye(self._n_v)
        forces = np.linalg.lstsq(Z[chosen].T, Z.T @ torques)[0]
        residual = np.abs(Z @ (Z[chosen].T @ forces - Z.T @ torques))
        if np.max(residual, initial=0.0) > REACHED * max(float(np.max(np.abs(torques), initial=0.0)), TINY):
            worst = self.forces[int(np.argmax(residual))]
            what = f"cannot produce these forces: {np.max(residual):.3g} of {worst} is left"
            refuse("joints", what, "name other joints, or more of them")
        return np.asarray(forces)

    def jacobian(self, point: str, q: Any) -> Array:
        """J of a named point, (6, n_v): angular velocity of its body, then velocity of the point, in world axes."""
        refuse_unknown([point], self._points, "there is no such point")
        return self._call(f"jacobian {point}", q).reshape(6, self._n_v, order="F")

    def position(self, point: str, q: Any) -> Array:
        """Where a named point is in the world [m], (3,)."""
        refuse_unknown([point], self._points, "there is no such point")
        return self._call(f"position {point}", q)

    def constraint_gradients(self, q: Any) -> Array:
        """H of all constraint equations that do not follow from others, (k, n_v)."""
        k = len(self._system.motion.constraint_forces)
        return self._call("constraint_gradients", q).reshape(k, self._n_v, order="F") if k else np.zeros((0, self._n_v))

    def positions_at(self, values: Mapping[str, float]) -> Array:
        """q from positions by name; what is not named is zero, orientations are not rotated."""
        refuse_unknown(values, self.positions, "is not a position of this machine", "positions")
        freedoms = self._system.scenario.machine.any_mechanism.freedoms
        origin = {name: value for freedom in freedoms for name, value in freedom.origin.items()}
        return np.array([values.get(name, origin[name]) for name in self.positions], float)

    @property
    def _n_v(self) -> int:
        return len(self.velocities)

    @property
    def _points(self) -> tuple[str, ...]:
        return tuple(point.name for point in self._system.scenario.machine.any_mechanism.points)

    def _call(self, name: str, q: Any, v: Any = None) -> Array:
        flaws = FlawList()
        x = self._point.x.copy()
        for letter, given, begin, names in (
            ("q", q, 0, self.positions),
            ("v", v, len(self.positions), self.velocities),
        ):
            if given is None:
                continue
            values = np.asarray(given, float)
            if values.shape != (len(names),):
                flaws.add(letter, f"has shape {values.shape}, needs ({len(names)},): {', '.join(names)}")
            else:
                x[begin : begin + len(names)] = values
        flaws.raise_if_any("machine dynamics")
        return self._functions(name, replace(self._point, x=x))

    @cached_property
    def _functions(self) -> PointFunctions:
        system = self._system
        columns = {"mass_matrix": system.mass_matrix, "bias": system.bias - system.motion.loads}
        if k := len(system.motion.constraint_forces):
            columns["constraint_gradients"] = ca.jacobian(system.expressions.constraints[k:], system.v)
        columns |= {f"jacobian {name}": _jacobian(system, name) for name in self._points}
        outputs = system.signal_expressions
        for name in self._points:
            columns[f"position {name}"] = ca.vertcat(*(outputs[f"{name}.position.{axis}"] for axis in "xyz"))
        return PointFunctions(system, columns)


def compare_mechanics(first: Machine, second: Machine) -> float:
    """Largest difference of M and c at three random states, over the largest entry; joints are paired by their names.

    Raises:
        ModelError: where the joints of the two are not the same.
    """
    # Bare trees: loads belong to c, gravity too; constraints are none of either.
    trees = [
        MachineDynamics(Machine(machine.name, mechanism.replaced(points=()), loads=()))
        for machine in (first, second)
        if (mechanism := machine.mechanism) is not None
    ]
    a, b = trees
    flaws = FlawList()
    flaws.add_unknown(a.positions, b.positions, "is not a position of the other machine")
    flaws.add_unknown(b.positions, a.positions, "is not a position of the first machine")
    flaws.raise_if_any(f"{first.name} and {second.name}")
    # The second machine has the same positions and velocities in another order.
    generator, difference = np.random.default_rng(1), 0.0
    q_pairs = [b.positions.index(name) for name in a.positions]
    v_pairs = [b.velocities.index(name) for name in a.velocities]
    orientations = {name.rpartition(".")[0] for name in a.positions if ".orientation." in name}
    for _ in range(3):
        q = generator.uniform(-1, 1, len(a.positions))
        v = generator.uniform(-1, 1, len(a.velocities))
        # Quaternions have length one.
        for head in orientations:
            parts = [a.positions.index(f"{head}.{part}") for part in "wxyz"]
            q[parts] /= np.linalg.norm(q[parts])
        q_other, v_other = np.empty_like(q), np.empty_like(v)
        q_other[q_pairs], v_other[v_pairs] = q, v
        M = a.mass_matrix(q)
        size = float(np.abs(M).max(initial=TINY))
        M_other = b.mass_matrix(q_other)[np.ix_(v_pairs, v_pairs)]
        difference = max(difference, float(np.abs(M - M_other).max(initial=0.0)) / size)
        # c(q, v), and gravity alone: c(q, 0).
        for rates, rates_other in ((v, v_other), (0 * v, 0 * v)):
            c = a.bias(q, rates)
            apart = np.abs(c - b.bias(q_other, rates_other)[v_pairs]).max(initial=0.0)
            difference = max(difference, float(apart) / max(size, float(np.abs(c).max(initial=0.0))))
    return difference


def joint_names(system: System) -> tuple[str, ...]:
    """Moving joints, then modes, in the order of q; a ModelError without a mechanism."""
    mechanism = system.scenario.machine.mechanism
    if mechanism is None:
        flaw = Flaw("machine.mechanism", "there is none", "forces and inertias belong to a mechanism")
        raise ModelError([flaw], f"scenario '{system.scenario.name}'")

    return tuple(freedom.name for freedom in mechanism.freedoms)


def _jacobian(system: System, point: str) -> ca.SX:
    mechanism, mechanics = system.scenario.machine.any_mechanism, system.motion.mechanics
    assert mechanics is not None
    described = next(part for part in mechanism.points if part.name == point)
    place = mechanics.locate(described, mechanism, np.array(described.origin))
    q: Any = system.q
    return ca.SX(geometric_jacobian(mechanics.tree, q, place.link, place.pose.p))
