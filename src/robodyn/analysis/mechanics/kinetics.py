"""Equations of motion as coefficients, in the joints or in other coordinates such as cylinders' lengths.

In any coordinates s that determine the joints they have one form, D_lm symmetric and D_lmn symmetric in m and n:

    F_l = sum_m D_lm s''_m + sum_mn D_lmn s'_m s'_n + D_l

Symbols: q, v, a of the joints; G = ds/dq, A = G^-1; K_m the matrix of second derivatives of s_m; M, D, g in the joints.

    s' = G v,  s'' = G a + v^T K v,  F = A^T tau
    D_lm' = A^T M A,  D_l' = A^T g,  D_lmn' = sum_i A_il A^T (D_i - sum_m (M A)_im K_m) A
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError, refuse_unknown
from robodyn.computation.assembly import System

SINGULAR = 1e10
"""Condition of ds/dq beyond which the coordinates no longer determine how the joints move."""


@dataclass(frozen=True, eq=False)
class MotionCoefficients:
    """Coefficients of the equations of motion at one position, of n joints or coordinates in the order of `names`.

    Attributes:
        inertial: D_lm, (n, n); velocity: D_lmn, (n, n, n); gravity: D_l, (n,).
    """

    names: tuple[str, ...]
    inertial: np.ndarray
    velocity: np.ndarray
    gravity: np.ndarray

    def force(self, velocity: Any, acceleration: Any) -> np.ndarray:
        """Force or torque on each coordinate that moves it so, (n,)."""
        return self.inertial @ acceleration + self.velocity @ velocity @ velocity + self.gravity


@dataclass(frozen=True, eq=False)
class CoordinateMap:
    """Coordinates at one position: s (n,), G = ds/dq (n, n) and second derivatives K (n, n, n)."""

    position: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray

    def rates(self, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """s' = G v and s'' = G a + v^T K v."""
        return self.gradient @ v, self.gradient @ a + self.curvature @ v @ v

    def joint_rates(self, velocity: np.ndarray, acceleration: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v and a of the joints from s' and s''."""
        v = np.linalg.solve(self.gradient, velocity)

        return v, np.linalg.solve(self.gradient, acceleration - self.curvature @ v @ v)


class Kinetics:
    """The mechanism of a system in its joints, or in as many coordinates named, traced once for many positions.

    Its tunable numbers are as described, or as `changed`; blocks, friction and loads are no part of it.

    Raises:
        ModelError: without a mechanism, for unknown or repeated names, for more or fewer of them than joints.
    """

    def __init__(self, system: System, coordinates: Sequence[str] | None = None) -> None:
        self.joints = joint_names(system)
        self.in_joints = coordinates is None
        self.names = self.joints if coordinates is None else tuple(coordinates)
        _check_names(system, self.joints, self.names)
        self.units = tuple(position_unit(system, name) for name in self.names)
        self._numbers = {number.name: number.value for number in system.parameters}
        self._parameters = np.array(list(self._numbers.values()))
        s = ca.vertcat(*(system.motion.coordinates[name] for name in self.names))
        self._map = _function(system, [s, *_derivatives(s, system.q)])
        self._motion = _function(system, _motion_terms(system))

    def changed(self, parameters: Mapping[str, float]) -> Kinetics:
        """The same with other tunable numbers, not traced anew."""
        refuse_unknown(parameters, self._numbers, "is not tunable", under="parameters")
        other = copy(self)
        other._parameters = np.array(list({**self._numbers, **parameters}.values()), float)

        return other

    def map_at(self, q: Any) -> CoordinateMap:
        """Position and derivatives of the coordinates at joint positions q, (n,)."""
        s, G, K = self._evaluate(self._map, q)

        return CoordinateMap(s.ravel(), G, _cube(K))

    def coefficients_at(self, q: Any) -> MotionCoefficients:
        """Coefficients of the equations of motion at joint positions q, (n,)."""
        M, D, g = self._evaluate(self._motion, q)
        own = MotionCoefficients(self.joints, M, _cube(D), g.ravel())

        return own if self.in_joints else _transform(own, self.names, self.invertible_map_at(q))

    def invertible_map_at(self, q: Any) -> CoordinateMap:
        """The coordinates at q; a ModelError where they do not determine how the joints move."""
        found = self.map_at(q)
        if not np.linalg.cond(found.gradient) < SINGULAR:
            place = ", ".join(f"{name} {value:.6g}" for name, value in zip(self.joints, q, strict=True))
            what = f"{', '.join(self.names)} do not determine the motion of the joints at {place}"
            raise ModelError([Flaw("coordinates", what, "it is a dead centre, or one of them follows from the others")])

        return found

    def _evaluate(self, function: ca.Function, q: Any) -> tuple[np.ndarray, ...]:
        q = np.asarray(q, float)
        if q.shape != (len(self.joints),):
            raise ValueError(f"q has shape {q.shape}, there are {len(self.joints)} joints: {', '.join(self.joints)}")

        return tuple(np.array(value) for value in function(q, self._parameters))


def joint_names(system: System) -> tuple[str, ...]:
    """Moving joints, then modes, in the order of q; a ModelError without a mechanism."""
    mechanism = system.scenario.machine.mechanism
    if mechanism is None:
        flaw = Flaw("machine.mechanism", "there is none", "forces and inertias belong to a mechanism")
        raise ModelError([flaw], f"scenario '{system.scenario.name}'")

    return tuple(freedom.name for freedom in mechanism.freedoms)


def start_positions(system: System) -> np.ndarray:
    """Joint positions at the described start of the scenario, (n,)."""
    return np.array([state.start for state in system.states[: system.n_q]])


def _check_names(system: System, joints: Sequence[str], names: Sequence[str]) -> None:
    flaws = FlawList()
    flaws.add_unknown(names, system.motion.coordinates, "there is no such joint or coordinate", "coordinates")
    for name in {name for name in names if names.count(name) > 1}:
        flaws.add(f"coordinates.{name}", "is named more than once")
    if len(names) != len(joints):
        what = f"{len(names)} are named for {len(joints)} joints ({', '.join(joints)})"
        flaws.add("coordinates", what, "name one for each joint; a joint is a coordinate too")
    flaws.raise_if_any(f"scenario '{system.scenario.name}'")


def position_unit(system: System, name: str) -> str:
    """Unit of a joint's or coordinate's position."""
    return next(info.unit for info in system.signals if info.name == f"{name}.position")


def _motion_terms(system: System) -> list[ca.SX]:
    """M; half the second derivatives of the bias by the speeds, in which it is quadratic; the bias at rest."""
    return [system.mass_matrix, 0.5 * _derivatives(system.bias, system.v)[1], system.gravity]


def _derivatives(y: ca.SX, x: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Jacobian (n, m) and the Hessians of all entries one below the other, (n m, m)."""
    jacobian = ca.jacobian(y, x)

    return jacobian, ca.vertcat(*(ca.jacobian(jacobian[k, :], x) for k in range(y.numel())))


def _function(system: System, outputs: Sequence[ca.SX]) -> ca.Function:
    dense = ca.cse([ca.densify(output) for output in outputs])

    return ca.Function("kinetics", [system.q, system.symbols.p], dense)


def _cube(stacked: np.ndarray) -> np.ndarray:
    """Square matrices one below the other as (n, m, m)."""
    m = stacked.shape[1]

    return stacked.reshape(-1, m, m)


def _transform(own: MotionCoefficients, names: tuple[str, ...], to: CoordinateMap) -> MotionCoefficients:
    """Equations of motion in the joints written in other coordinates."""
    A = np.linalg.inv(to.gradient)
    MA = own.inertial @ A
    velocity = own.velocity - np.tensordot(MA, to.curvature, axes=1)
    inertial = A.T @ MA

    return MotionCoefficients(
        names, 0.5 * (inertial + inertial.T), np.einsum("il,ijk,jm,kn->lmn", A, velocity, A, A), A.T @ own.gravity
    )
