"""MJCF sources: which elements do a file and those it includes hold, and what does MuJoCo's compiler make of them?"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.untrusted import Unreadable
from robodyn.description.robots.mesh_files import MeshFiles
from robodyn.description.robots.xml_tree import READ, Element, load_xml

MOST_FILES = 50
MASSES = ("body_mass", "body_inertia", "body_ipos", "body_iquat")
STAND_INS = (".obj", ".stl")
FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
FOLDERS = ("meshdir", "texturedir", "assetdir")
TRANSPARENT = ("include", "mujocoinclude", "mujoco")
"""Elements whose children count as those of the element around them."""


def load_includes(root: Element, file: Path, folders: MeshFiles) -> None:
    """Put the elements of included files below their <include>; files outside of the robot's folder are refused.

    Raises:
        Unreadable, OSError: for a file that cannot be read.
    """
    waiting, count = [(root, file)], 0
    while waiting:
        top, source = waiting.pop()
        for element in [element for element in top.walk() if element.tag == "include"]:
            name = element.take("file", READ, "its elements stand in its place")
            count += 1
            if count > MOST_FILES:
                raise Unreadable(f"includes more than {MOST_FILES} files, or itself (line {element.line})")
            target = _find_include(name or "", source, file, folders, element)
            inner = load_xml(target)
            inner.parent = element
            inner.mark(READ)
            element.children.append(inner)
            waiting.append((inner, target))
    _check_files(root, file, folders)


def _find_include(name: str, source: Path, file: Path, folders: MeshFiles, element: Element) -> Path:
    """An included file: from the folder of the whole model, as MuJoCo does, or of the one that includes it."""
    for folder in (file.parent, source.parent):
        target = (folder / name).resolve()
        if name and "\0" not in name and target.is_file():
            if not folders.allows(target):
                raise Unreadable(f"includes '{name}' from outside of the robot's folder (line {element.line})")
            return target
    raise Unreadable(f"includes '{name[:200]}' in line {element.line}, which is no file")


def _check_files(root: Element, file: Path, folders: MeshFiles) -> None:
    """Meshes and other files of a model stand in the robot's folder, or in one that is allowed."""
    elements = list(root.walk())
    inner = {"", *(element.attributes.get(key, "") for element in elements for key in FOLDERS)}
    for element in elements:
        for key, value in element.attributes.items():
            if not key.startswith("file") or element.tag == "include" or "\0" in value:
                continue
            for folder in inner:
                target = (file.parent / folder / value).resolve()
                if target.is_file() and not folders.allows(target):
                    what = f"'{value}' in line {element.line} lies outside of the robot's folder"
                    raise Unreadable(f"{what}; allow its folder with `search`")


def compile_model(file: Path, root: Element | None = None) -> Any:
    """The model that MuJoCo's own compiler makes of a file.

    Args:
        root: its elements: a mesh that is missing, and from which nothing but looks is made, is then replaced.

    Raises:
        Unreadable: where it refuses, or is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise Unreadable("is MJCF, which needs MuJoCo: pip install 'robodyn[mujoco]'") from error
    previous = mujoco.get_mju_user_warning()
    # By itself MuJoCo prints what it warns of, and writes it to a file in the current folder.
    mujoco.set_mju_user_warning(lambda text: warnings.warn(f"MuJoCo: {text}", stacklevel=2))
    missing = find_missing(root, file) if root else {}
    try:
        # Two sizes of what replaces meshes: where masses are the same, the meshes are looks alone.
        sizes = (1.0, 0.5) if missing else (1.0,)
        models = [mujoco.MjModel.from_xml_path(str(file), stand_ins(missing, size)) for size in sizes]
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        raise Unreadable(f"MuJoCo's compiler refuses it: {str(error).strip()}") from error
    finally:
        mujoco.set_mju_user_warning(previous)
    if any(np.any(getattr(models[0], table) != getattr(models[-1], table)) for table in MASSES):
        lines = ", ".join(f"'{name}' (line {line})" for name, line in missing.items())
        raise Unreadable(f"makes inertias of meshes that are not there: {lines}; put them there")
    return models[0]


def find_missing(root: Element, file: Path) -> dict[str, int]:
    """Files of meshes that are not there, with their lines."""
    elements = list(root.walk())
    inner = {"", *(element.attributes.get(key, "") for element in elements for key in FOLDERS)}
    given = {
        element.attributes["file"]: element.line
        for element in elements
        if element.tag == "mesh" and Path(element.attributes.get("file", "")).suffix.lower() in STAND_INS
    }
    there = {name for name in given if any((file.parent / folder / name).is_file() for folder in inner)}
    return {name: line for name, line in given.items() if name not in there}


def stand_ins(missing: Mapping[str, int], size: float) -> dict[str, bytes]:
    """A tetrahedron in place of each mesh."""
    corners = np.vstack([np.zeros(3), size * np.eye(3)])
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(
        f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES
    )
    stl = bytes(80) + struct.pack("<I", len(FACES))
    for face in FACES:
        stl += struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0)
    contents = {".obj": obj.encode(), ".stl": stl}
    return {Path(name).name: contents[Path(name).suffix.lower()] for name in missing}


def row_of(model: Any, table: str, number: int) -> Any:
    """A row of a table of the model, 0 where this version of MuJoCo does not have it."""
    found = getattr(model, table, None)
    return np.zeros(1) if found is None else np.asarray(found[number])


def members(element: Element) -> Iterator[Element]:
    """Children of an element, those of included files among them."""
    for child in element.children:
        if child.tag in TRANSPARENT:
            yield from members(child)
        else:
            yield child


def sections(root: Element, tag: str) -> list[Element]:
    """All members of the sections of a tag, in the order of the file."""
    return [member for section in members(root) if section.tag == tag for member in members(section)]


def bodies_of(element: Element) -> Iterator[Element]:
    """Bodies below an element in MuJoCo's order, depth first; frames are transparent."""
    for child in members(element):
        if child.tag == "body":
            yield child
            yield from bodies_of(child)
        elif child.tag == "frame":
            yield from bodies_of(child)


def parts_of(body: Element, tags: tuple[str, ...]) -> Iterator[Element]:
    """Joints, geoms or sites of a body itself."""
    for child in members(body):
        if child.tag in tags:
            yield child
        elif child.tag == "frame":
            yield from parts_of(child, tags)
