"""Meshes of STL files, binary or text: which corners and triangles has one?"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.untrusted import read_bytes

MOST_TRIANGLES = 5000
"""Beyond these, a page shows the box around a mesh: it is drawn anew at every instant."""
_HEAD, _RECORD = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
_BOX = ((3, 2, 1, 0), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))


def read_mesh(path: str, scale: Any) -> tuple[list[list[float]], list[list[int]]]:
    """Corners [m] and faces, each a ring of corners anticlockwise seen from outside.

    Raises:
        OSError, ValueError: for a file that is not there or is no STL.
    """
    corners = _read_triangles(read_bytes(Path(path))) * np.asarray(scale, float)
    if not len(corners) or not np.isfinite(corners).all():
        raise ValueError("it has no triangles of finite numbers")
    if np.prod(scale) < 0:
        corners = corners[:, ::-1]
    if len(corners) > MOST_TRIANGLES:
        return _box_around(corners.reshape(-1, 3))
    places, index = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return places.tolist(), index.reshape(-1, 3).tolist()


def _read_triangles(data: bytes) -> np.ndarray:
    """Three corners a triangle, (n, 3, 3); a binary file may begin with the word of text files, so its size decides."""
    count = int.from_bytes(data[80:_HEAD], "little") if len(data) >= _HEAD else -1
    if len(data) == _HEAD + count * _RECORD.itemsize:
        return np.frombuffer(data, _RECORD, count, _HEAD)["corners"].astype(float)
    if not data.lstrip().startswith(b"solid"):
        raise ValueError("it is no STL file, or cut off")
    numbers = np.array(_VERTEX.findall(data), float)
    if len(numbers) % 3:
        raise ValueError("it is cut off: a triangle has three corners")
    return numbers.reshape(-1, 3, 3)


def _box_around(places: np.ndarray) -> tuple[list[list[float]], list[list[int]]]:
    (x0, y0, z0), (x1, y1, z1) = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    ring = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    return [[x, y, z] for z in (z0, z1) for x, y in ring], [list(face) for face in _BOX]
