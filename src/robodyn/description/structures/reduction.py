"""Craig-Bampton reduction: which few modes stand for a structure of many degrees of freedom?

Craig and Bampton (1968): the structure is clamped where its joint holds it; its shapes are the static ones of unit
motions of the interface nodes (constraint modes), and vibrations with these nodes held (fixed-interface modes). They
are then made orthogonal, so that each has one mass and one stiffness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.description.model.description import Description
from robodyn.description.model.fields import flag, quantity, texts, whole_number
from robodyn.description.model.numbers import LARGEST
from robodyn.description.structures.checks import check_modes_count

ALIKE = 1e-9
"""Relative difference below which squares of frequencies count as equal."""
DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
DEFAULT_MODES = 2


class Reduction(Description):
    """How a structure is reduced; to two vibrations where neither their number nor a frequency is given."""

    NOUN = "reduction"

    interfaces: tuple[str, ...] = texts(
        "node", default=("tip",), doc="nodes whose static motions are kept exactly: where joints and loads are"
    )
    modes: int | None = whole_number(
        default=None, doc="number of vibrations that are kept, with the interfaces held", absent="required, or:"
    )
    frequency: float | None = quantity("Hz", positive=True, default=None, doc="those up to this one")
    highest: float | None = quantity(
        "Hz", positive=True, default=None, doc="what is faster in the end is left out", absent="nothing is"
    )
    directions: tuple[str, ...] = texts(
        "direction", default=DIRECTIONS, doc="how nodes can move; in the others they are held"
    )
    stiffening: bool = flag(default=False, doc="whether bent beams get shorter, and so stiffer where they spin or hang")

    def check(self, flaws: FlawList) -> None:
        if not flaws.concern("directions"):
            self._check_directions(flaws)
        if self.modes is not None and self.frequency is not None:
            flaws.add("modes", "give either modes or frequency", "leave one of them out")
        if self.modes is None and self.frequency is None:
            self.set_fields(modes=DEFAULT_MODES)

    def _check_directions(self, flaws: FlawList) -> None:
        if not self.directions:
            flaws.add("directions", "there is none", nearest("", DIRECTIONS))
        for direction, count in Counter(self.directions).items():
            if count > 1:
                flaws.add("directions", f"'{direction}' is there twice")
            if direction not in DIRECTIONS:
                flaws.add("directions", f"'{direction}' is unknown", nearest(direction, DIRECTIONS))

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
