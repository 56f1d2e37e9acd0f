"""Frame of beams as one structure: its stiffness, its particles, and how it gets shorter where it bends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.base.records import dataclass
from robodyn.description.structures.elements import Element, element_axes, shapes, stiffness
from robodyn.description.structures.sections import Section

GAUSS = np.polynomial.legendre.leggauss(4)
"""Exact to degree 7: products of two cubic shape functions have degree 6."""


@dataclass(frozen=True, eq=False)
class Beam:
    """One element: its nodes, axes (columns), length and section."""

    nodes: tuple[int, int]
    axes: np.ndarray
    length: float
    section: Section

    @property
    def freedoms(self) -> np.ndarray:
        """Numbers of its freedoms among those of the structure, (12,)."""
        return np.concatenate([6 * node + np.arange(6) for node in self.nodes])

    @property
    def turned(self) -> np.ndarray:
        """From the body's axes to the element's own, (12, 12)."""
        return np.kron(np.eye(4), self.axes.T)


@dataclass(frozen=True, eq=False)
class Structure:
    """Nodes [m, (N, 3)] with names, and the beams between them."""

    names: tuple[str, ...]
    positions: np.ndarray
    beams: tuple[Beam, ...]

    @property
    def K(self) -> np.ndarray:
        """Stiffness, (6 N, 6 N)."""
        total = np.zeros((6 * len(self.names),) * 2)
        for beam in self.beams:
            T = beam.turned
            total[np.ix_(beam.freedoms, beam.freedoms)] += T.T @ stiffness(beam.section, beam.length) @ T
        return total

    def stations(self) -> list[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """At each Gauss point: mass, place, tensor, and the matrices (3, 6 N) of displacement and rotation."""
        found = []
        for beam in self.beams:
            for xi, weight in zip(0.5 * (GAUSS[0] + 1), 0.5 * GAUSS[1], strict=True):
                moves, turns, _ = shapes(beam.section, beam.length, xi)
                spread = np.zeros((12, 6 * len(self.names)))
                spread[np.arange(12), beam.freedoms] = 1.0
                local = beam.turned @ spread
                start, end = self.positions[list(beam.nodes)]
                found.append(
                    (
                        beam.section.density * beam.section.area * beam.length * weight,
                        start + xi * (end - start),
                        beam.length * weight * beam.axes @ beam.section.tensor @ beam.axes.T,
                        beam.axes @ moves @ local,
                        beam.axes @ turns @ local,
                    )
                )
        return found

    def shorten(self, modes: np.ndarray, root: int) -> np.ndarray:
        """Second-order displacements of all freedoms, (6 N, n, n): bending takes away length.

            strain_ij = -(v_i' v_j' + w_i' w_j'),  then linear statics, clamped at the root

        Args:
            modes: shapes over all freedoms, (6 N, n).
        """
        n, size = modes.shape[1], 6 * len(self.names)
        loads = np.zeros((size, n * n))
        for beam in self.beams:
            strain = -self._slopes(beam, modes)
            pull = np.zeros(12)
            pull[[0, 6]] = -1.0, 1.0
            rows = beam.turned.T @ pull * beam.section.young * beam.section.area
            loads[beam.freedoms] += np.outer(rows, strain.ravel())
        free = np.array([k for k in range(size) if k // 6 != root])
        found = np.zeros((size, n * n))
        found[free] = np.linalg.solve(self.K[np.ix_(free, free)], loads[free])
        return found.reshape(size, n, n)

    def _slopes(self, beam: Beam, modes: np.ndarray) -> np.ndarray:
        """Mean over an element of v_i' v_j' + w_i' w_j', (n, n)."""
        local = beam.turned @ modes[beam.freedoms]
        total = np.zeros((modes.shape[1],) * 2)
        for xi, weight in zip(0.5 * (GAUSS[0] + 1), 0.5 * GAUSS[1], strict=True):
            slopes = shapes(beam.section, beam.length, xi)[2] @ local
            total += weight * slopes.T @ slopes
        return total


def assemble_structure(nodes: Mapping[str, Sequence[float]], elements: Sequence[Element]) -> Structure:
    """Divide elements into parts and number all nodes: the named ones first."""
    names, positions = list(nodes), [np.asarray(place, float) for place in nodes.values()]
    beams = []
    for element in elements:
        start, end = names.index(element.start), names.index(element.end)
        inner = []
        for k in range(1, element.parts):
            inner.append(len(names))
            names.append(f"{element.start}_{element.end}{k}")
            positions.append(positions[start] + k / element.parts * (positions[end] - positions[start]))
        chain = [start, *inner, end]
        along = positions[end] - positions[start]
        axes, length = element_axes(along, np.asarray(element.up, float)), float(np.linalg.norm(along))
        beams += [
            Beam(pair, axes, length / element.parts, element.section)
            for pair in zip(chain[:-1], chain[1:], strict=True)
        ]
    return Structure(tuple(names), np.array(positions), tuple(beams))
