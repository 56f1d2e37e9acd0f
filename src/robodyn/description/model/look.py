"""Looks of bodies: which boxes, cylinders, spheres, capsules and meshes are drawn for one? They have no effect else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Self

from robodyn.base.errors import FlawList
from robodyn.description.model.description import Description
from robodyn.description.model.fields import (
    IDENTITY,
    ZERO,
    choice,
    file,
    flag,
    part_name,
    place,
    quantity,
    rotation_matrix,
    text,
    vector,
)
from robodyn.description.model.kinds import Rename
from robodyn.description.model.numbers import Floats, Rows

COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
MESHES = (".stl", ".obj", ".dae", ".gltf", ".glb")
"""Endings of files of meshes; all but the first are read by trimesh."""


class Look(Description, kw_only=True):
    """What all looks have: a name, their place on the body, a colour."""

    NOUN = "look"

    name: str = part_name()
    origin: Floats = place(default=ZERO, suffixes=(), doc="of its middle, of a mesh of its origin, in the body's frame")
    rotation: Rows = rotation_matrix(default=IDENTITY, doc="R_body_look")
    colour: str | None = text(default=None, doc='as `"#rrggbb"`', absent="a mesh's own, else that of links")
    collision: bool = flag(default=False, doc="a shape for contacts: drawn on wish alone")

    def check(self, flaws: FlawList) -> None:
        if isinstance(self.colour, str) and not COLOUR.fullmatch(self.colour):
            flaws.add("colour", f"'{self.colour}' is no colour", 'red, green and blue as "#cc4422"')

    def renamed(self, rename: Rename) -> Self:
        """Nothing refers to looks: they keep their names."""
        return self


class BoxLook(Look, kw_only=True):
    MARKS = ("kind=box",)
    kind: str = choice(("box",), default="box")
    size: Floats = vector("m", suffixes=(), positive=True, doc="lengths of its edges")


class CylinderLook(Look, kw_only=True):
    MARKS = ("kind=cylinder",)
    kind: str = choice(("cylinder",), default="cylinder")
    radius: float = quantity("m", positive=True, named=False)
    length: float = quantity("m", positive=True, named=False, doc="along its z axis")


class CapsuleLook(Look, kw_only=True):
    MARKS = ("kind=capsule",)
    kind: str = choice(("capsule",), default="capsule")
    radius: float = quantity("m", positive=True, named=False)
    length: float = quantity("m", positive=True, named=False, doc="between the middles of its round ends, along z")


class SphereLook(Look, kw_only=True):
    MARKS = ("kind=sphere",)
    kind: str = choice(("sphere",), default="sphere")
    radius: float = quantity("m", positive=True, named=False)


class MeshLook(Look, kw_only=True):
    MARKS = ("kind=mesh",)
    kind: str = choice(("mesh",), default="mesh")
    file: str = file(doc="STL, OBJ, DAE or glTF file, from the folder of the scenario's file; kept by its full path")
    scale: Floats = vector("", suffixes=(), default=(1.0, 1.0, 1.0), doc="factors along its axes: 0.001 of millimetres")

    def check(self, flaws: FlawList) -> None:
        super().check(flaws)
        if not flaws.concern("scale") and 0.0 in self.scale:
            flaws.add("scale", "must not be 0", "1 leaves a length as it is")
        if flaws.concern("file"):
            return
        path = Path(self.file).absolute()
        if path.suffix.lower() not in MESHES:
            flaws.add("file", f"'{path.name}' is no mesh that can be drawn", f"save it as {' or '.join(MESHES)}")
        elif not path.is_file():
            flaws.add("file", f"there is no file '{path}'", "give its path from the folder of the scenario's file")
        self.set_fields(file=str(path))


LOOKS = (BoxLook, CylinderLook, CapsuleLook, SphereLook, MeshLook)
