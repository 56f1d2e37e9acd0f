"""Links of URDF and SDF: which inertia and looks do they have? The two differ in where numbers and poses stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.spatial import Pose
from robodyn.description.robots.draft import LinkDraft, distinct, rotated_inertia, usable_name
from robodyn.description.robots.mesh_files import SHAPES, MeshFiles, make_look
from robodyn.description.robots.xml_tree import CONVERTED, READ, UNUSED, XmlElement

COLOUR = "#rrggbb: 255 times each, rounded; opacity is not drawn"


class LinkReader:
    """Reads the links of a file; the classes of the two formats say how it is written."""

    def __init__(self, meshes: MeshFiles, flaws: FlawList) -> None:
        self.meshes, self.flaws = meshes, flaws

    def numbers(self, element: XmlElement | None, key: str, default: tuple[float, ...]) -> list[float]:
        """As many numbers as the default has; it where there are none, or wrong ones, which is noted."""
        raise NotImplementedError

    def pose(self, element: XmlElement) -> Pose:
        """Where an element stands."""
        raise NotImplementedError

    def colour(self, shape: XmlElement) -> str | None:
        raise NotImplementedError

    def mesh_file(self, shape: XmlElement) -> str:
        raise NotImplementedError

    def read_inertia(self, link: LinkDraft, tensor: XmlElement | None, place: Pose, rotated: str) -> None:
        """Centre of mass and inertia about it.

        Args:
            place: of the tensor's axes in the link; rotated: what is noted where they are not the link's.
        """
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        xx, xy, xz, yy, yz, zz = (self.numbers(tensor, key, (0.0,))[0] for key in keys)
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        link.com, link.inertia = place.p, rotated_inertia(place.R, inertia)
        if tensor is not None and not np.array_equal(place.R, np.eye(3)):
            for child in tensor.children:
                child.mark(CONVERTED, rotated)
            for key in tensor.attributes:
                tensor.mark(CONVERTED, rotated, key)

    def read_look(self, link: LinkDraft, element: XmlElement, frame: Pose | None = None) -> None:
        """A <visual> or <collision> as a look; frame: of the file's link in ours, where it is another one."""
        element.mark(READ)
        geometry = element.one("geometry")
        shapes = [] if geometry is None else [child for child in geometry.children if child.tag in SHAPES]
        if not shapes:
            element.drop("has no shape that can be drawn")
            element.mark(UNUSED, "has no shape that can be drawn")
            return
        shape = shapes[0]
        shape.mark(READ)
        name = distinct(usable_name(element.take("name") or element.tag, "look"), [look.name for look in link.looks])
        sizes = self._sizes(shape) | {"collision": element.tag == "collision"}
        place = self.pose(element)
        place = place if frame is None else frame @ place
        look = make_look(shape.tag, name, place, self.colour(element), self.meshes, sizes)
        if isinstance(look, str):
            shape.mark(UNUSED, look, "", *shape.attributes)
        else:
            link.looks.append(look)

    def _sizes(self, shape: XmlElement) -> dict[str, Any]:
        if shape.tag == "mesh":
            scale = self.numbers(shape, "scale", (1.0, 1.0, 1.0))
            return {"file": self.mesh_file(shape), "scale": tuple(scale)}
        if shape.tag == "box":
            return {"size": tuple(self.numbers(shape, "size", (0.0, 0.0, 0.0)))}
        keys = ("radius",) if shape.tag == "sphere" else ("radius", "length")
        return {key: self.numbers(shape, key, (0.0,))[0] for key in keys}
