"""Effective inertia and coupling: how much inertia does each drive feel, how strongly does it shake the others?

In the joints that is the mass matrix M(q); in coordinates s, with G = ds/dq, it is G^-T M G^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.analysis.mechanics.kinetics import Kinetics, start_positions
from robodyn.assembly import System
from robodyn.errors import refuse_unknown


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
