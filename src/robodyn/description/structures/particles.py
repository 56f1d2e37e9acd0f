"""Inertia integrals by particles: what do the particles of a body sum up to in its modes?

A body is a cloud of particles with mass, tensor, and for each mode a displacement and a rotation. Those of beams are
at Gauss points, which makes their sums the exact integrals over the elements' shape functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.records import dataclass
from robodyn.description.model import ModalInertia
from robodyn.description.structures.checks import check_modes_count, check_particles


@dataclass(frozen=True, eq=False)
class Particles:
    """N particles and their motion in n modes, all in the body's axes.

    Attributes:
        mass: [kg], (N,); position: at rest [m], (N, 3); tensor: inertia about themselves [kg m^2], (N, 3, 3).
        shift: displacement (N, n, 3); turn: rotation vector (N, n, 3); shortening: Gamma (N, n, n, 3).
    """

    mass: np.ndarray
    position: np.ndarray
    tensor: np.ndarray
    shift: np.ndarray
    turn: np.ndarray
    shortening: np.ndarray

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_particles(flaws, self)
        flaws.raise_if_any("particles")

    @classmethod
    def lumped(cls, mass: Any, position: Any, shift: Any, tensor: Any = None, turn: Any = None) -> Particles:
        """Particles without inertia of their own unless it is given, and without foreshortening."""
        mass, position, shift = (np.asarray(value, float) for value in (mass, position, shift))
        N, n = mass.size, shift.shape[1] if shift.ndim == 3 else 0
        flaws = FlawList()
        check_modes_count(flaws, "shift", n, N)
        flaws.raise_if_any("particles")
        tensor = np.zeros((N, 3, 3)) if tensor is None else np.asarray(tensor, float)
        turn = np.zeros((N, n, 3)) if turn is None else np.asarray(turn, float)
        return cls(mass, position, tensor, shift, turn, np.zeros((N, n, n, 3)))

    @property
    def rigid(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre of mass, and tensor about it, at rest."""
        total = float(self.mass.sum())
        com = self.mass @ self.position / total
        r = self.position - com
        second = np.einsum("p,pi,pj->ij", self.mass, r, r)
        tensor = np.trace(second) * np.eye(3) - second + self.tensor.sum(axis=0)
        return total, com, 0.5 * (tensor + tensor.T)

    @property
    def modal_mass(self) -> np.ndarray:
        """sum m Phi_i.Phi_j + turn_i.I turn_j, (n, n)."""
        moving = np.einsum("p,pix,pjx->ij", self.mass, self.shift, self.shift)
        return moving + np.einsum("pix,pxy,pjy->ij", self.turn, self.tensor, self.turn)

    def sum_up(self) -> ModalInertia:
        """The sums that the kinetic energy needs, to second order in the modes."""
        m, r, phi, bend = self.mass, self.position, self.shift, self.shortening
        once = np.einsum("p,pix,py->ixy", m, phi, r)
        twice = np.einsum("p,pix,pjy->ijxy", m, phi, phi) + np.einsum("p,pijx,py->ijxy", m, bend, r)
        crossed = np.cross(phi[:, None], phi[:, :, None]) + np.cross(r[:, None, None], bend)
        spin = np.einsum("pxy,piy->ix", self.tensor, self.turn)
        return ModalInertia(
            first=np.einsum("p,pix->ix", m, phi),
            first_bend=np.einsum("p,pijx->ijx", m, bend),
            second=_clean(once + once.transpose(0, 2, 1)),
            second_bend=_clean(twice + twice.transpose(0, 1, 3, 2)),
            turning=_clean(np.einsum("p,pix->ix", m, np.cross(r[:, None], phi)) + spin),
            turning_bend=_clean(np.einsum("p,pijx->ijx", m, crossed)),
        )


def _clean(sums: np.ndarray) -> np.ndarray:
    """Sums without rounding errors in place of zeros, so that traced graphs stay small."""
    return np.where(np.abs(sums) > 1e-13 * np.max(np.abs(sums), initial=0.0), sums, 0.0)
