"""Meshes of a page: which corners, triangles and colours has a mesh file, and how do all of them fit into a page?"""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, frozen
from robodyn.base.untrusted import MEGABYTE, MOST_OF_A_MESH, read_bytes

# Mesh files: which corners, triangles and colours has an STL, OBJ, DAE or glTF file?
#
# STL is read here; the others by trimesh, an extra. A file brings nothing in but what stands in its own folder, and
# what is wrong with it is a ValueError or an OSError, whatever its reader raises.

FINEST = 65535
"""Steps of the grid on which corners are kept, along each axis of the box around a mesh."""
_HEAD, _RECORD = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")


@frozen
class Mesh:
    """Triangles of one colour.

    Attributes:
        corners: places [m], (n, 3), each once; faces: numbers of corners, anticlockwise seen from outside, (m, 3).
        colour: "#rrggbb", None where the file has none.
    """

    corners: Array
    faces: Array
    colour: str | None = None


def read_meshes(path: str, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> list[Mesh]:
    """The meshes of a file, one of each colour, in metres.

    Raises:
        OSError, ValueError: for a file that is not there, or cannot be read.
    """
    file = Path(path)
    data = read_bytes(file, MOST_OF_A_MESH)
    found = [_read_stl(data)] if file.suffix.lower() == ".stl" else _read_other(file, data)
    triangles: dict[str | None, list[Array]] = {}
    for corners, colour in found:
        triangles.setdefault(colour, []).append(corners)
    factors = np.asarray(scale, float)
    order = -1 if np.prod(factors) < 0 else 1
    meshes = [_weld(np.concatenate(parts)[:, ::order] * factors, colour) for colour, parts in triangles.items()]
    if not any(len(mesh.faces) for mesh in meshes):
        raise ValueError("it has no triangles")
    return [mesh for mesh in meshes if len(mesh.faces)]


def _weld(triangles: Array, colour: str | None) -> Mesh:
    """A mesh of triangles (n, 3, 3): corners at the same place, to a fine grid, are one."""
    places = triangles.reshape(-1, 3)
    if not np.isfinite(places).all() or np.abs(places).max(initial=0.0) > 1e6:
        raise ValueError("it has vertices that are not finite or are more than 1000 km away")
    low = places.min(axis=0, initial=np.inf)
    step = np.maximum(np.ptp(places, axis=0) if len(places) else np.ones(3), 1e-9) / FINEST
    keys = np.round((places - low) / step).astype(np.int64) @ (1, 1 << 16, 1 << 32)
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return Mesh(places[first], distinct_faces(index.reshape(-1, 3)), colour)


def distinct_faces(faces: Array) -> Array:
    """Triangles of three different corners, each once."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)].astype(np.int64)
    if not len(faces):
        return faces.reshape(0, 3)
    # Begun at the smallest corner, equal triangles are equal rows, and the sense of rotation stays.
    first = faces.argmin(axis=1)[:, None]
    turned = np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)
    n = int(faces.max()) + 1
    if n < 1 << 21:
        _, first_rows = np.unique(turned @ (n * n, n, 1), return_index=True)
        turned = turned[np.sort(first_rows)]
    return turned


def _read_stl(data: bytes) -> tuple[Array, None]:
    """Three corners a triangle, (n, 3, 3); a binary file may begin with the word of text files, so its size decides."""
    count = int.from_bytes(data[80:_HEAD], "little") if len(data) >= _HEAD else -1
    if len(data) == _HEAD + count * _RECORD.itemsize:
        return np.frombuffer(data, _RECORD, count, _HEAD)["corners"].astype(float), None
    if not data.lstrip().startswith(b"solid"):
        raise ValueError("it is not an STL file, or is truncated")
    numbers = np.array(_VERTEX.findall(data), float)
    if len(numbers) % 3:
        raise ValueError("it is truncated: a triangle has three vertices")
    return numbers.reshape(-1, 3, 3), None


def _read_other(file: Path, data: bytes) -> list[tuple[Array, str | None]]:
    try:
        from .trimesh_files import read_scene

        return read_scene(file, data)
    except ImportError as error:
        raise ValueError(f"{file.suffix} needs {error.name}: pip install 'robodyn[meshes]'") from error
    except Exception as error:  # readers of damaged files raise whatever they stumble over
        raise ValueError(f"it cannot be read ({type(error).__name__}: {str(error)[:200]})") from error


# Mesh decimation: how does a mesh get along with fewer triangles?
#
# Vertex clustering with quadrics (Lindstrom, Out-of-core simplification of large polygonal models, SIGGRAPH 2000): all
# corners in a cell of a grid become one, which stands where it is nearest to the planes of the triangles around:
#
#     A x = b,   A = sum n n^T,   b = sum n (n . r),   n: normal of a triangle times twice its area, r: a corner of it
#
# so that edges stay sharp. What A leaves open stays at the mean of the corners.

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


def _clusters(mesh: Mesh, cell: float) -> tuple[Array, int]:
    """The cell that each corner is in, and how many cells there are."""
    steps = np.floor((mesh.corners - mesh.corners.min(axis=0)) / cell).astype(np.int64)
    clusters, index = np.unique(steps @ (1, 1 << 20, 1 << 40), return_inverse=True)
    return index.ravel(), len(clusters)


def _towards_planes(mesh: Mesh, cluster: Array, mean: Array) -> Array:
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


# Meshes of a page: which are on it, each once, and how do they fit into it?

Plain = dict[str, Any]
BUDGET = 2.0
"""Megabytes of a page that meshes may take."""
MOST_BUDGET = 500.0


def check_budget(budget: float) -> None:
    if not 0 < budget <= MOST_BUDGET:
        raise ValueError(f"the budget of meshes is above 0, at most {MOST_BUDGET:g} MB, not {budget:g}")


class MeshStore:
    """Collects the meshes of a page by file and scale."""

    def __init__(self) -> None:
        self.meshes: list[Mesh] = []
        self._numbers: dict[tuple[str, tuple[float, ...]], list[int]] = {}

    def find(self, path: str, scale: Sequence[float]) -> list[int]:
        """Numbers of a file's meshes.

        Raises:
            OSError, ValueError: for a file that cannot be read.
        """
        key = path, tuple(scale)
        if key not in self._numbers:
            meshes = read_meshes(path, scale)
            self._numbers[key] = list(range(len(self.meshes), len(self.meshes) + len(meshes)))
            self.meshes += meshes
        return self._numbers[key]

    def encode(self, budget: float) -> Plain:
        """The meshes as JSON-able values in so many megabytes, and a sentence on what was left out for that."""
        if not self.meshes:
            return {"meshes": [], "mesh_note": ""}
        fitted, cell = fit_budget(self.meshes, int(budget * MEGABYTE))
        before, after = (sum(len(mesh.faces) for mesh in meshes) for meshes in (self.meshes, fitted))
        note = (
            f"Meshes are simplified from {before:,} to {after:,} triangles, without details below {1e3 * cell:.2g} mm, "
            f"to fit into {budget:g} MB; a larger mesh budget shows more detail"
        )
        return {"meshes": [_encode(mesh) for mesh in fitted], "mesh_note": note if cell else ""}


def _encode(mesh: Mesh) -> Plain:
    """Corners as steps from the low end of the box around them, and triangles, each as base64."""
    low = mesh.corners.min(axis=0) if len(mesh.corners) else np.zeros(3)
    step = (np.ptp(mesh.corners, axis=0) if len(mesh.corners) else np.zeros(3)) / FINEST
    steps = np.round((mesh.corners - low) / np.where(step > 0, step, 1.0))
    kind = "<u2" if len(mesh.corners) <= 1 << 16 else "<u4"
    return {
        "low": low.tolist(),
        "step": step.tolist(),
        "corners": _text(steps, "<u2"),
        "faces": _text(mesh.faces, kind),
        "wide": kind == "<u4",
        "colour": mesh.colour,
    }


def _text(values: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")
