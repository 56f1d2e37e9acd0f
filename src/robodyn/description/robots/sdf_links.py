"""Links of SDF: which inertia and looks do they have, in a frame that stands at their joint?"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.spatial import Pose
from robodyn.description.robots.draft import LinkDraft, rotated_inertia
from robodyn.description.robots.mesh_files import MeshFiles
from robodyn.description.robots.names import usable_name
from robodyn.description.robots.sdf_frames import pose_of, text_floats, text_of
from robodyn.description.robots.shapes import SHAPES, colour_of, distinct, make_look
from robodyn.description.robots.xml_tree import CHOICE, CONVERTED, READ, UNUSED, Element


class LinkReader:
    """Reads the links of a file."""

    def __init__(self, meshes: MeshFiles, flaws: FlawList) -> None:
        self.meshes, self.flaws = meshes, flaws

    def read(self, name: str, element: Element, anchor: np.ndarray) -> LinkDraft:
        element.mark(READ)
        link = LinkDraft(name, element)
        inertial = element.one("inertial")
        if inertial is None:
            element.mark(CHOICE, f"has no <inertial>: taken as massless; give it in `bodies.{name}`")
        else:
            place = pose_of(inertial, self.flaws)[0]
            link.mass = text_floats(inertial, "mass", 1, [0.0], self.flaws)[0]
            tensor = inertial.one("inertia")
            link.inertial = tensor or inertial
            keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            xx, xy, xz, yy, yz, zz = (text_floats(tensor, key, 1, [0.0], self.flaws)[0] for key in keys)
            I_c = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            link.com, link.inertia = place.p - anchor, rotated_inertia(place.R, I_c)
            if tensor is not None and not np.array_equal(place.R, np.eye(3)):
                for child in tensor.children:
                    child.mark(CONVERTED, "I = R I_file R^T [kg m^2], R of <pose>")
        for shape in [*element.all("visual"), *element.all("collision")]:
            self.shape(link, shape, anchor)
        if text_of(element, "gravity") in ("0", "false"):
            element.all("gravity")[0].mark(UNUSED, "gravity acts on all bodies; a load can hold this one")
        return link

    def shape(self, link: LinkDraft, element: Element, anchor: np.ndarray) -> None:
        element.mark(READ)
        geometry = element.one("geometry")
        shapes = [] if geometry is None else [child for child in geometry.children if child.tag in SHAPES]
        name = distinct(usable_name(element.take("name") or element.tag, "look"), [look.name for look in link.looks])
        place = Pose.translation(-anchor) @ pose_of(element, self.flaws)[0]
        look: Any = "has no shape that can be drawn"
        if shapes:
            shapes[0].mark(READ)
            sizes = self.sizes(shapes[0]) | {"collision": element.tag == "collision"}
            look = make_look(shapes[0].tag, name, place, self.colour(element), self.meshes, sizes)
        if isinstance(look, str):
            (shapes[0] if shapes else element).mark(UNUSED, look)
        else:
            link.looks.append(look)

    def sizes(self, shape: Element) -> dict[str, Any]:
        if shape.tag == "mesh":
            uri = text_of(shape, "uri") or ""
            for child in shape.all("uri")[:1]:
                child.mark(CONVERTED, "the file's full path")
            return {"file": uri, "scale": tuple(text_floats(shape, "scale", 3, [1.0, 1.0, 1.0], self.flaws))}
        if shape.tag == "box":
            return {"size": tuple(text_floats(shape, "size", 3, [0.0, 0.0, 0.0], self.flaws))}
        keys = ("radius",) if shape.tag == "sphere" else ("radius", "length")
        return {key: text_floats(shape, key, 1, [0.0], self.flaws)[0] for key in keys}

    def colour(self, element: Element) -> str | None:
        material = element.one("material")
        for tag in ("diffuse", "ambient"):
            child = None if material is None else material.one(tag)
            if child is not None:
                child.mark(CONVERTED, "#rrggbb: 255 times each, rounded; opacity is not drawn")
                numbers = child.text.split()
                try:
                    return colour_of([float(number) for number in numbers[:3]]) if len(numbers) >= 3 else None
                except (ValueError, OverflowError):
                    self.flaws.add(child.place, f"'{child.text.strip()[:80]}' is no colour")
        return None
