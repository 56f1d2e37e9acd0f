"""Mesh files: which corners, triangles and colours has an STL, OBJ, DAE or glTF file?

STL is read here; the others by trimesh, an extra. A file brings nothing in but what stands in its own folder, and what
is wrong with it is a ValueError or an OSError, whatever its reader raises.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robodyn.base.untrusted import MOST_OF_A_MESH, read_bytes

FINEST = 65535
"""Steps of the grid on which corners are kept, along each axis of the box around a mesh."""
_HEAD, _RECORD = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour.

    Attributes:
        corners: places [m], (n, 3), each once; faces: numbers of corners, anticlockwise seen from outside, (m, 3).
        colour: "#rrggbb", None where the file has none.
    """

    corners: np.ndarray
    faces: np.ndarray
    colour: str | None = None


def read_meshes(path: str, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> list[Mesh]:
    """The meshes of a file, one of each colour, in metres.

    Raises:
        OSError, ValueError: for a file that is not there, or cannot be read.
    """
    file = Path(path)
    data = read_bytes(file, MOST_OF_A_MESH)
    found = [_read_stl(data)] if file.suffix.lower() == ".stl" else _read_other(file, data)
    triangles: dict[str | None, list[np.ndarray]] = {}
    for corners, colour in found:
        triangles.setdefault(colour, []).append(corners)
    factors = np.asarray(scale, float)
    order = -1 if np.prod(factors) < 0 else 1
    meshes = [_weld(np.concatenate(parts)[:, ::order] * factors, colour) for colour, parts in triangles.items()]
    if not any(len(mesh.faces) for mesh in meshes):
        raise ValueError("it has no triangles")
    return [mesh for mesh in meshes if len(mesh.faces)]


def _weld(triangles: np.ndarray, colour: str | None) -> Mesh:
    """A mesh of triangles (n, 3, 3): corners at the same place, to a fine grid, are one."""
    places = triangles.reshape(-1, 3)
    if not np.isfinite(places).all() or np.abs(places).max(initial=0.0) > 1e6:
        raise ValueError("it has corners that are no finite places within 1000 km")
    low = places.min(axis=0, initial=np.inf)
    step = np.maximum(np.ptp(places, axis=0) if len(places) else np.ones(3), 1e-9) / FINEST
    keys = np.round((places - low) / step).astype(np.int64) @ (1, 1 << 16, 1 << 32)
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return Mesh(places[first], distinct_faces(index.reshape(-1, 3)), colour)


def distinct_faces(faces: np.ndarray) -> np.ndarray:
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
        _, kept = np.unique(turned @ (n * n, n, 1), return_index=True)
        turned = turned[np.sort(kept)]
    return turned


def _read_stl(data: bytes) -> tuple[np.ndarray, None]:
    """Three corners a triangle, (n, 3, 3); a binary file may begin with the word of text files, so its size decides."""
    count = int.from_bytes(data[80:_HEAD], "little") if len(data) >= _HEAD else -1
    if len(data) == _HEAD + count * _RECORD.itemsize:
        return np.frombuffer(data, _RECORD, count, _HEAD)["corners"].astype(float), None
    if not data.lstrip().startswith(b"solid"):
        raise ValueError("it is no STL file, or cut off")
    numbers = np.array(_VERTEX.findall(data), float)
    if len(numbers) % 3:
        raise ValueError("it is cut off: a triangle has three corners")
    return numbers.reshape(-1, 3, 3), None


def _read_other(file: Path, data: bytes) -> list[tuple[np.ndarray, str | None]]:
    try:
        from .trimesh_files import read_scene

        return read_scene(file, data)
    except ImportError as error:
        raise ValueError(f"{file.suffix} needs {error.name}: pip install 'robodyn[meshes]'") from error
    except Exception as error:  # readers of damaged files raise whatever they stumble over
        raise ValueError(f"it cannot be read ({type(error).__name__}: {str(error)[:200]})") from error
