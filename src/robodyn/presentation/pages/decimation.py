"""Mesh decimation: how does a mesh get along with fewer triangles?

Vertex clustering with quadrics (Lindstrom, Out-of-core simplification of large polygonal models, SIGGRAPH 2000): all
corners in a cell of a grid become one, which stands where it is nearest to the planes of the triangles around:

    A x = b,   A = sum n n^T,   b = sum n (n . r),   n: normal of a triangle times twice its area, r: a corner of it

so that edges stay sharp. What A leaves open stays at the mean of the corners.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from .meshes import Mesh, distinct_faces

# Directions in which the planes say little, by this share of A's trace, stay at the mean.
_VAGUE = 1e-3
_CELLS = 24
"""Cells tried, from a 2000th of the largest extent to all of it."""


def decimate(mesh: Mesh, cell: float) -> Mesh:
    """The mesh with one corner in each cube of this edge length [m]."""
    cluster, count = _clusters(mesh, cell)
    sums = np.column_stack([np.bincount(cluster, axis, count) for axis in mesh.corners.T])
    mean = sums / np.bincount(cluster, minlength=count)[:, None]
    corners = np.clip(mean + _towards_planes(mesh, cluster, mean), mean - cell, mean + cell)
    faces = distinct_faces(cluster[mesh.faces])
    used, index = np.unique(faces, return_inverse=True)
    return dataclasses.replace(mesh, corners=corners[used], faces=index.reshape(-1, 3))


def _clusters(mesh: Mesh, cell: float) -> tuple[np.ndarray, int]:
    """The cell that each corner is in, and how many cells there are."""
    steps = np.floor((mesh.corners - mesh.corners.min(axis=0)) / cell).astype(np.int64)
    found, index = np.unique(steps @ (1, 1 << 20, 1 << 40), return_inverse=True)
    return index.ravel(), len(found)


def _towards_planes(mesh: Mesh, cluster: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """How far from its mean each cluster's corner stands."""
    A, b = np.zeros((len(mean), 3, 3)), np.zeros((len(mean), 3))
    a, second, third = (mesh.corners[mesh.faces[:, k]] for k in range(3))
    n = np.cross(second - a, third - a)
    n /= np.sqrt(np.maximum(np.linalg.norm(n, axis=1), 1e-30))[:, None]
    for corner in mesh.faces.T:
        where = cluster[corner]
        np.add.at(A, where, n[:, :, None] * n[:, None, :])
        np.add.at(b, where, n * np.sum(n * (a - mean[where]), axis=1)[:, None])
    trace = np.trace(A, axis1=1, axis2=2)
    A += np.maximum(_VAGUE * trace, 1e-30)[:, None, None] * np.eye(3)
    return np.linalg.solve(A, b[:, :, None])[:, :, 0]


def fit_budget(meshes: Sequence[Mesh], most: int) -> tuple[list[Mesh], float]:
    """The meshes, as fine as they fit into so many bytes together, and the edge length of their cells, 0 for none."""
    if sum(size_of(mesh) for mesh in meshes) <= most:
        return list(meshes), 0.0
    extent = max(float(np.ptp(mesh.corners, axis=0).max()) for mesh in meshes)
    cells = np.geomspace(extent / 2000, extent, _CELLS)
    low, high = -1, _CELLS - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _coarse_size(meshes, cells[middle]) <= most else (middle, high)
    return [decimate(mesh, cells[high]) for mesh in meshes], float(cells[high])


def size_of(mesh: Mesh) -> int:
    """Bytes of a mesh in a page: three numbers of two bytes a corner, of two or four a triangle, in base 64."""
    return _size(len(mesh.corners), len(mesh.faces))


def _size(corners: int, faces: int) -> int:
    return (6 * corners + (6 if corners <= 1 << 16 else 12) * faces) * 4 // 3


def _coarse_size(meshes: Sequence[Mesh], cell: float) -> int:
    total = 0
    for mesh in meshes:
        cluster, count = _clusters(mesh, cell)
        total += _size(count, len(distinct_faces(cluster[mesh.faces])))
    return total
