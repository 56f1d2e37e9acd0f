"""OBJ, DAE and glTF files: which triangles and colours do they have? Read by trimesh, an extra."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from trimesh.resolvers import Resolver

from robodyn.base import Array
from robodyn.base.untrusted import MOST_OF_A_MESH, read_bytes

_BESIDE = (".mtl", ".bin")
_UNIT = re.compile(r"([\d.eE+-]+) \* meters")


def read_scene(file: Path, data: bytes) -> list[tuple[Array, str | None]]:
    """Triangles (n, 3, 3) [m] of each mesh of a file, with its colour; the unit of length is the file's own."""
    kind = file.suffix.lower().removeprefix(".")
    # XML that declares entities can name other files, or unfold without end.
    if kind == "dae" and (b"\0" in data or b"<!DOCTYPE" in data or b"<!ENTITY" in data):
        raise ValueError("it has a document type or entities of its own, which are not read")
    return list(_parts(trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=_Beside(file.parent))))


class _Beside(Resolver):
    """Colours of OBJ and numbers of glTF files that stand beside them; nothing from other folders, no textures."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def get(self, name: str) -> bytes:
        target = (self.folder / str(name)).resolve()
        if not target.is_relative_to(self.folder) or target.suffix.lower() not in _BESIDE:
            raise ValueError(f"it names '{name}': only {' and '.join(_BESIDE)} files of its own folder are read")
        return read_bytes(target, MOST_OF_A_MESH)

    def keys(self) -> list[str]:
        return []

    def namespaced(self, namespace: str) -> Resolver:
        return self

    def write(self, name: str, data: bytes) -> None:
        raise ValueError("meshes are only read")


def _parts(scene: Any) -> Iterator[tuple[Array, str | None]]:
    """Triangles of a scene's meshes where they stand in it, with their colours."""
    for node in scene.graph.nodes_geometry:
        transform, name = scene.graph[node]
        mesh = scene.geometry[name]
        if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
            continue
        unit = _UNIT.match(str(mesh.metadata.get("units") or ""))
        places = mesh.vertices @ transform[:3, :3].T + transform[:3, 3]
        order = -1 if np.linalg.det(transform[:3, :3]) < 0 else 1
        yield places[mesh.faces[:, ::order]] * (float(unit[1]) if unit else 1.0), _colour(mesh.visual)


def _colour(visual: Any) -> str | None:
    """The main colour of a mesh; None where its file says none."""
    if not visual.defined:
        return None
    rgb = visual.material.main_color if visual.kind == "texture" else visual.main_color
    return "#" + "".join(f"{int(part):02x}" for part in rgb[:3])
