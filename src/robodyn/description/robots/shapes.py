"""Shapes of robot files: which look is drawn for a box, cylinder, sphere, capsule or mesh?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn.base.errors import ModelError
from robodyn.base.spatial import Pose
from robodyn.description.model.look import BoxLook, CapsuleLook, CylinderLook, Look, MeshLook, SphereLook
from robodyn.description.model.numbers import as_floats
from robodyn.description.robots.balance_sheet import NOT_DRAWN
from robodyn.description.robots.mesh_files import MeshError, MeshFiles

SHAPES: dict[str, type[Look]] = {
    "box": BoxLook,
    "cylinder": CylinderLook,
    "sphere": SphereLook,
    "capsule": CapsuleLook,
    "mesh": MeshLook,
}


def colour_of(rgba: Sequence[float]) -> str:
    """Red, green and blue from 0 to 1 as "#rrggbb"."""
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in rgba[:3])


def make_look(
    kind: str, name: str, place: Pose, colour: str | None, meshes: MeshFiles, sizes: dict[str, Any]
) -> Look | str:
    """A look, or the reason why there is none."""
    try:
        if kind == "mesh":
            sizes = sizes | {"file": str(meshes.find(sizes["file"]))}
        return SHAPES[kind](name=name, origin=as_floats(place.p), rotation=as_floats(place.R), colour=colour, **sizes)
    except MeshError as error:
        return f"{NOT_DRAWN}{error}"
    except ModelError as error:
        return f"{NOT_DRAWN}{'; '.join(str(flaw) for flaw in error.flaws)}"


def distinct(name: str, taken: Sequence[str]) -> str:
    """A name that is not taken yet: with a number behind it where it is."""
    number, fresh = 2, name
    while fresh in taken:
        fresh, number = f"{name}_{number}", number + 1
    return fresh
