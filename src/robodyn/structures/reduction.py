"""Craig-Bampton reduction: which few modes stand for a structure of many degrees of freedom?

Craig and Bampton (1968): the structure is clamped where its joint holds it; its shapes are the static ones of unit
motions of the interface nodes (constraint modes), and vibrations with these nodes held (fixed-interface modes). They
are then made orthogonal, so that each has one mass and one stiffness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.model.numbers import LARGEST, check_finite, check_texts
from robodyn.structures.checks import check_modes_count

ALIKE = 1e-9
"""Relative difference below which squares of frequencies count as equal."""
DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
DEFAULT_MODES = 2


@dataclass(frozen=True)
class Reduction:
    """How a structure is reduced.

    Attributes:
        interfaces: names of nodes whose motions under static loads are kept exactly (a joint or a load acts there).
        modes: number of fixed-interface modes, or all up to `frequency` [Hz]; two where neither is given.
        highest: of the modes found in the end, those beyond this frequency [Hz] are left out; None for none.
        directions: how the nodes can move, in the body's axes; the others are held everywhere.
        stiffening: whether bent beams get shorter, which makes them stiffer under tension and when they spin.
    """

    interfaces: tuple[str, ...] = ("tip",)
    modes: int | None = None
    frequency: float | None = None
    highest: float | None = None
    directions: tuple[str, ...] = DIRECTIONS
    stiffening: bool = False

    def __post_init__(self) -> None:
        flaws = FlawList()
        for name, noun in (("interfaces", "nodes"), ("directions", "directions")):
            check_texts(flaws, name, getattr(self, name), noun)
        flaws.raise_if_any("reduction")
        for direction in dict.fromkeys(self.directions):
            if list(self.directions).count(direction) > 1:
                flaws.add("directions", f"'{direction}' is there twice")
            if direction not in DIRECTIONS:
                flaws.add("directions", f"'{direction}' is unknown", nearest(str(direction), DIRECTIONS))
        if not self.directions:
            flaws.add("directions", "there is none", nearest("", DIRECTIONS))
        if self.modes is not None and self.frequency is not None:
            flaws.add("modes", "give either modes or frequency", "leave one of them out")
        for name in ("frequency", "highest"):
            value = getattr(self, name)
            if value is not None and check_finite(flaws, name, value) and not value > 0:
                flaws.add(name, f"must be positive, is {value:g}")
        if self.modes is not None and (
            isinstance(self.modes, bool) or not isinstance(self.modes, int) or self.modes < 0
        ):
            flaws.add("modes", f"must be a count, is {self.modes!r}")
        flaws.raise_if_any("reduction")
        for name in ("interfaces", "directions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.modes is None and self.frequency is None:
            object.__setattr__(self, "modes", DEFAULT_MODES)

    def free(self, n_nodes: int, root: int) -> np.ndarray:
        """Numbers of the freedoms left: of all nodes but the root, in the directions given."""
        kept = [DIRECTIONS.index(direction) for direction in self.directions]
        return np.array([6 * node + k for node in range(n_nodes) if node != root for k in sorted(kept)], int)


def reduce_structure(K: np.ndarray, M: np.ndarray, free: np.ndarray, held: Sequence[int], how: Reduction) -> np.ndarray:
    """Shapes of the modes, one a column, over all freedoms; mass-orthonormal, lowest frequency first.

    Args:
        K, M: stiffness and mass of all freedoms; free: those not clamped; held: those of the interface nodes.
    """
    outer = np.array([k for k, freedom in enumerate(free) if freedom in set(held)], int)
    inner = np.array([k for k, freedom in enumerate(free) if freedom not in set(held)], int)
    _check_count(len(inner), how)
    stiff, heavy = K[np.ix_(free, free)], M[np.ix_(free, free)]
    basis = np.zeros((len(free), 0))
    if len(outer):
        basis = np.zeros((len(free), len(outer)))
        basis[outer] = np.eye(len(outer))
        if len(inner):
            basis[inner] = -_solve(stiff[np.ix_(inner, inner)], stiff[np.ix_(inner, outer)])
    if len(inner):
        fixed = np.zeros((len(free), len(inner)))
        squares, shapes = find_modes(stiff[np.ix_(inner, inner)], heavy[np.ix_(inner, inner)])
        fixed[inner] = _align(shapes, squares, free[inner] % 6)
        basis = np.hstack([basis, fixed[:, : _count(squares, how)]])
    squares, mixed = find_modes(basis.T @ stiff @ basis, basis.T @ heavy @ basis)
    if how.highest is not None:
        mixed = mixed[:, squares <= (2 * np.pi * how.highest) ** 2]
    if not mixed.shape[1]:
        raise ModelError([Flaw("modes", "none is left", "want more, up to a higher frequency, or name interfaces")])
    flaws = FlawList()
    check_modes_count(flaws, "modes", mixed.shape[1])
    flaws.raise_if_any("reduction")
    shapes = np.zeros((len(K), mixed.shape[1]))
    shapes[free] = _align(basis @ mixed, squares[: mixed.shape[1]], free % 6)
    return shapes


def _align(shapes: np.ndarray, squares: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Rotate modes of equal frequency, of which any mixture is as good, towards single directions of motion.

    Round tubes bend in all planes alike: their modes become those along the axes, and traced graphs stay small.

    Args:
        squares: of the frequencies, ascending; direction: number of each row's direction.
    """
    weight = 1.0 + direction[:, None]
    aligned, first = shapes.copy(), 0
    for last in range(1, len(squares) + 1):
        if last == len(squares) or squares[last] > squares[first] * (1 + ALIKE):
            alike = shapes[:, first:last]
            aligned[:, first:last] = alike @ np.linalg.eigh(alike.T @ (weight * alike))[1]
            first = last
    return aligned


def find_modes(K: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squares of frequencies, ascending, and shapes, one a column: K x = squares M x.

    Raises:
        ModelError: where stiffnesses or masses are so far apart that rounding leaves no such numbers.
    """
    from scipy.linalg import eigh

    try:
        squares, shapes = eigh(K, M)
    except ValueError as error:  # not finite, or LinAlgError: not positive definite
        raise _too_far_apart() from error
    if not (np.isfinite(shapes).all() and np.max(np.abs(squares), initial=0.0) < LARGEST**2):
        raise _too_far_apart()
    return squares, shapes


def _solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError as error:
        raise _too_far_apart() from error


def _too_far_apart() -> ModelError:
    what = "its stiffnesses and masses are too far apart to find modes"
    return ModelError([Flaw("", what, "check the units of lengths, sections and material")], "structure")


def _check_count(n_inner: int, how: Reduction) -> None:
    """There are as many fixed-interface modes as freedoms that are not held."""
    if how.modes is not None and how.modes > n_inner:
        what = f"{how.modes} are wanted with the interfaces held, the structure has {n_inner}"
        raise ModelError([Flaw("modes", what, "divide it into more elements, or want fewer")], "reduction")


def _count(squares: np.ndarray, how: Reduction) -> int:
    if how.modes is not None:
        return how.modes
    return int(np.sum(squares <= (2 * np.pi * (how.frequency or 0.0)) ** 2))
