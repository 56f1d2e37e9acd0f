"""Force components: of what parts is the force of each joint or cylinder made, at a state and along a motion?

Two ways to group the terms of F_i = sum_j D_ij a_j + sum_jk D_ijk v_j v_k + D_i, in the joints or in coordinates:

    origin   inertial D_ii a_i, coupling sum_{j != i} D_ij a_j, centripetal sum_j D_ijj v_j^2,
             coriolis sum_{j != k} D_ijk v_j v_k, gravity D_i
    role     as a drive on its own sees them: inertial D_ii a_i, viscous 2 v_i sum_{j != i} D_iij v_j (it grows with
             the own speed), speed_squared D_iii v_i^2 (none in joints), external: all the rest

They belong to the mechanism alone: friction, drives and outer loads are not in them.

The inertia that each drive feels is the mass matrix M(q), or G^-T M G^-1 in coordinates s with G = ds/dq.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.analysis import ForceComponents
from robodyn.base.errors import refuse_unknown, refuse_word
from robodyn.computation.assembly import System
from robodyn_studies.kinetics import Kinetics, MotionCoefficients, start_positions

FORCE = {"rad": "N m", "m": "N"}
"""Unit of the force on a joint or coordinate, by the unit of its position."""

Grouping = Callable[[MotionCoefficients, np.ndarray, np.ndarray], dict[str, np.ndarray]]


def group_by_origin(D: MotionCoefficients, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """Components by where they come from, (n,) each."""
    inertial = np.diag(D.inertial) * a
    centripetal = np.einsum("ijj,j->i", D.velocity, v**2)

    return {
        "inertial": inertial,
        "coupling": D.inertial @ a - inertial,
        "centripetal": centripetal,
        "coriolis": D.velocity @ v @ v - centripetal,
        "gravity": D.gravity,
    }


def group_by_role(D: MotionCoefficients, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """Components by what they are to the drive of each axis alone, (n,) each."""
    inertial = np.diag(D.inertial) * a
    squared = np.einsum("iii,i->i", D.velocity, v**2)
    viscous = 2.0 * (np.einsum("iij,i,j->i", D.velocity, v, v) - squared)

    return {
        "inertial": inertial,
        "external": D.force(v, a) - inertial - squared - viscous,
        "viscous": viscous,
        "speed_squared": squared,
    }


GROUPINGS: Mapping[str, Grouping] = MappingProxyType({"origin": group_by_origin, "role": group_by_role})


def force_components(
    system: System | Kinetics,
    q: Any,
    v: Any,
    a: Any,
    *,
    grouping: str = "origin",
    coordinates: Sequence[str] | None = None,
    time: Any = None,
) -> ForceComponents:
    """Force components at one state or along a motion.

    Args:
        system: with a mechanism, or its `Kinetics` in the coordinates, traced before.
        q, v, a: positions, speeds and accelerations of the joints, (n,) or (n_time, n).
        grouping: a key of `GROUPINGS`.
        coordinates: the forces in these coordinates, one for each joint; in the joints by default.
        time: of each row [s]; 0, 1, 2, ... by default.

    Raises:
        ModelError: for unknown names, and where the coordinates do not determine the joints.
    """
    refuse_word("grouping", grouping, GROUPINGS)
    kinetics = system if isinstance(system, Kinetics) else Kinetics(system, coordinates)
    rows = [np.atleast_2d(np.asarray(values, float)) for values in (q, v, a)]
    instants = np.arange(len(rows[0]), dtype=float) if time is None else np.atleast_1d(np.asarray(time, float))
    _check_shapes(len(kinetics.joints), rows, instants)
    found = [_components_at(kinetics, GROUPINGS[grouping], *state) for state in zip(*rows, strict=True)]
    components = {name: np.array([parts[name] for parts in found]) for name in found[0]}

    return ForceComponents(
        instants, kinetics.names, tuple(FORCE[unit] for unit in kinetics.units), MappingProxyType(components)
    )


def _components_at(
    kinetics: Kinetics, group: Grouping, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> dict[str, np.ndarray]:
    rates = (v, a) if kinetics.in_joints else kinetics.map_at(q).rates(v, a)

    return group(kinetics.coefficients_at(q), *rates)


def _check_shapes(n: int, rows: Sequence[np.ndarray], instants: np.ndarray) -> None:
    if not len(instants):
        raise ValueError("there is no state to take forces at")
    for name, values in zip("qva", rows, strict=True):
        if values.shape != (len(instants), n):
            raise ValueError(f"{name} has shape {values.shape}, needed is ({len(instants)}, {n})")


@dataclass(frozen=True, eq=False)
class InertiaMatrix:
    """Symmetric inertia matrix of some joints or coordinates, (n, n) [kg m^2, kg m or kg by their kinds]."""

    names: tuple[str, ...]
    matrix: np.ndarray

    @property
    def effective(self) -> dict[str, float]:
        """What each feels alone while the others do not accelerate: the diagonal."""
        return dict(zip(self.names, np.diag(self.matrix).tolist(), strict=True))

    @property
    def coupling(self) -> dict[str, float]:
        """Coupling factor of each, a ratio; see `coupling_factors`."""
        return dict(zip(self.names, coupling_factors(self.matrix).tolist(), strict=True))

    def among(self, *names: str) -> InertiaMatrix:
        """The part of some only, such as those of one unit: factors across units compare metres with radians."""
        refuse_unknown(names, self.names, "is not in this matrix", "inertia matrix")
        kept = [self.names.index(name) for name in names]

        return InertiaMatrix(names, self.matrix[np.ix_(kept, kept)])


def coupling_factors(matrix: Any) -> np.ndarray:
    """Inertial coupling of each row with all others, (n,).

    sqrt(sum over j != i of D_ij^2) / D_ii
    """
    D = np.asarray(matrix, float)
    off = D - np.diag(np.diag(D))

    return np.sqrt((off**2).sum(axis=1)) / np.diag(D)


def effective_inertia(system: System, q: Any = None, coordinates: Sequence[str] | None = None) -> InertiaMatrix:
    """Inertia matrix at a position, in the joints or in as many coordinates.

    Args:
        q: joint positions [rad or m], (n,); the scenario's start by default.
        coordinates: names of coordinates or joints, one for each joint; all joints by default.
    """
    kinetics = Kinetics(system, coordinates)
    position = start_positions(system) if q is None else q

    return InertiaMatrix(kinetics.names, kinetics.coefficients_at(position).inertial)


def effective_inertia_along(system: System, q: Any, coordinates: Sequence[str] | None = None) -> np.ndarray:
    """Diagonal of the inertia matrix at each of many positions, (n_positions, n).

    Args:
        q: joint positions [rad or m], (n_positions, n).
    """
    kinetics = Kinetics(system, coordinates)

    return np.array([np.diag(kinetics.coefficients_at(row).inertial) for row in np.asarray(q, float)])
