"""Links of URDF: which inertia and looks do they have, where, and in which colours?"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.spatial import Pose, from_rpy
from robodyn.description.robots.draft import LinkDraft, rotated_inertia
from robodyn.description.robots.mesh_files import SHAPES, MeshFiles, colour_of, distinct, make_look
from robodyn.description.robots.names import usable_name
from robodyn.description.robots.xml_tree import CHOICE, CONVERTED, READ, UNUSED, Element, floats_of

RPY = "R = Rz(yaw) Ry(pitch) Rx(roll) [rad]"
TEXTURE = "textures are not drawn"
REASONS = {
    "contact": "contacts are not imported: say [contacts] in the scenario's file",
    "collision_checking": "collisions are not checked",
}


class LinkReader:
    """Reads the links of a file, with the materials that they share."""

    def __init__(self, root: Element, meshes: MeshFiles, flaws: FlawList) -> None:
        self.meshes, self.flaws = meshes, flaws
        self.colours: dict[str, str] = {}
        for material in root.walk():
            if material.tag == "material" and material.one("color") is not None:
                self.colours.setdefault(material.attributes.get("name", ""), self.colour(material))

    def read(self, element: Element) -> LinkDraft:
        element.mark(READ)
        link = LinkDraft(name_of(element, self.flaws), element)
        for tag in ("contact", "collision_checking"):
            for child in element.all(tag):
                child.drop(REASONS[tag])
        inertial = element.one("inertial")
        if inertial is not None:
            self.inertia(link, inertial)
        for shape in [*element.all("visual"), *element.all("collision")]:
            self.shape(link, shape)
        return link

    def inertia(self, link: LinkDraft, inertial: Element) -> None:
        place = origin_of(inertial, self.flaws)
        mass, tensor = inertial.one("mass"), inertial.one("inertia")
        link.inertial = tensor if tensor is not None else inertial
        if mass is None or tensor is None:
            missing = "mass" if mass is None else "inertia"
            inertial.mark(CHOICE, f"has no <{missing}>: taken as 0; give it in `bodies.{link.name}`")
        link.mass = floats_of(mass, "value", 1, (0.0,), self.flaws)[0]
        xx, xy, xz, yy, yz, zz = (
            floats_of(tensor, key, 1, (0.0,), self.flaws)[0] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        tensor_c = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        link.com = place.p
        link.inertia = rotated_inertia(place.R, tensor_c)
        if tensor is not None and not np.array_equal(place.R, np.eye(3)):
            tensor.mark(CONVERTED, "I = R I_file R^T [kg m^2], R of <origin>", *tensor.attributes)

    def shape(self, link: LinkDraft, element: Element) -> None:
        """A <visual> or <collision> as a look."""
        element.mark(READ)
        geometry = element.one("geometry")
        shapes = [] if geometry is None else [child for child in geometry.children if child.tag in SHAPES]
        if not shapes:
            element.drop("has no shape that can be drawn")
            element.mark(UNUSED, "has no shape that can be drawn")
            return
        name = distinct(usable_name(element.take("name") or element.tag, "look"), [look.name for look in link.looks])
        look = make_look(
            shapes[0].tag,
            name,
            origin_of(element, self.flaws),
            self.material(element),
            self.meshes,
            self.sizes(shapes[0]) | {"collision": element.tag == "collision"},
        )
        if isinstance(look, str):
            shapes[0].mark(UNUSED, look, "", *shapes[0].attributes)
        else:
            link.looks.append(look)

    def sizes(self, shape: Element) -> dict[str, Any]:
        shape.mark(READ)
        if shape.tag == "mesh":
            scale = floats_of(shape, "scale", 3, (1.0, 1.0, 1.0), self.flaws)
            return {"file": shape.take("filename", CONVERTED, "the file's full path") or "", "scale": tuple(scale)}
        if shape.tag == "box":
            return {"size": tuple(floats_of(shape, "size", 3, (0.0, 0.0, 0.0), self.flaws))}
        keys = ("radius",) if shape.tag == "sphere" else ("radius", "length")
        return {key: floats_of(shape, key, 1, (0.0,), self.flaws)[0] for key in keys}

    def material(self, element: Element) -> str | None:
        """The colour of a shape: its own, or that of the material of its name."""
        material = element.one("material")
        if material is None:
            return None
        for texture in material.all("texture"):
            texture.drop(TEXTURE)
        name = material.take("name") or ""
        if material.one("color") is not None:
            return self.colour(material)
        if name and name not in self.colours:
            material.mark(UNUSED, f"there is no colour of this name ({nearest(name, self.colours)})", "name")
        return self.colours.get(name)

    def colour(self, material: Element) -> str:
        material.take("name")
        for texture in material.all("texture"):
            texture.drop(TEXTURE)
        note = "#rrggbb: 255 times each, rounded; opacity is not drawn"
        return colour_of(floats_of(material.one("color"), "rgba", 4, (0.5, 0.5, 0.5, 1.0), self.flaws, note))


def name_of(element: Element, flaws: FlawList) -> str:
    """The name that a part must have."""
    name = element.take("name")
    if not name:
        flaws.add(element.place, "has no name", f'say <{element.tag} name="...">')
    return name or f"{element.tag}_{element.line}"


def origin_of(element: Element, flaws: FlawList) -> Pose:
    """The <origin> of an element."""
    origin = element.one("origin")
    p = floats_of(origin, "xyz", 3, (0.0, 0.0, 0.0), flaws)
    rpy = floats_of(origin, "rpy", 3, (0.0, 0.0, 0.0), flaws, RPY)
    return Pose(from_rpy(*rpy), np.array(p))
