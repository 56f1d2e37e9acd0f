"""URDF: what does a robot description of ROS say? Links and joints; the root link stands on the ground as asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robodyn.base import Array, FlawList, nearest
from robodyn.base.spatial import Pose, to_rpy
from robodyn.description.model import GROUND, CapsuleLook, Joint, Look

from .building import JointDraft, LinkDraft, MimicDraft, RobotDraft
from .links import (
    COLOUR,
    INERTIA,
    LIMITS,
    LinkReader,
    MeshFiles,
    colour_of,
    rgb_of,
    rotation_of,
)
from .writing import (
    PLACE,
    UNLIMITED,
    LinkWriter,
    address_of_file,
    is_identity,
    number_text,
    pose_of,
)
from .xml_tree import (
    CHOICE,
    CONVERTED,
    READ,
    UNUSED,
    XmlElement,
    floats_of,
    load_xml,
    read_floats,
)

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
REASONS = {
    "transmission": "drives belong to the machine: describe gear, rotor and control in the scenario file",
    "gazebo": "is an extension of Gazebo",
    "ros2_control": "is an extension of ros2_control: describe control in the scenario file",
    "sensor": "sensors belong to the machine: describe them as blocks in the scenario file",
    "safety_controller": "soft limits belong to a controller, not to the mechanism",
    "calibration": "places of reference switches have no effect on the motion",
    "contact": "contacts are not imported: describe them in [contacts] of the scenario file",
    "collision_checking": "collisions are not checked",
}
QUATERNION = "R of the unit quaternion x, y, z, w"
RPY = "R = Rz(yaw) Ry(pitch) Rx(roll) [rad]"
BOUNDS = LIMITS | {"acceleration": "acceleration_limit"}
VERSIONS = ("1.0", "1.1", "1.2")
NEWER = {"quat_xyzw": "1.1", "capsule": "1.1", "acceleration": "1.2", "deceleration": "1.2", "jerk": "1.2"}
"""Version that first has an attribute or a shape."""


def read_urdf(root: XmlElement, meshes: MeshFiles, base: str | None) -> RobotDraft:
    """The draft of a URDF file; what is wrong with it is noted in its flaws."""
    return UrdfReader(root, meshes).read(base)


class UrdfLinks(LinkReader):
    """Links of URDF, with the materials that they share; numbers are attributes."""

    def __init__(self, root: XmlElement, meshes: MeshFiles, flaws: FlawList) -> None:
        super().__init__(meshes, flaws)
        self.colours: dict[str, str] = {}
        for material in root.walk():
            if material.tag == "material" and material.one("color") is not None:
                self.colours.setdefault(material.attributes.get("name", ""), self.own_colour(material))

    def numbers(self, element: XmlElement | None, key: str, default: tuple[float, ...]) -> list[float]:
        return floats_of(element, key, len(default), default, self.flaws)

    def pose(self, element: XmlElement) -> Pose:
        return origin_of(element, self.flaws)

    def mesh_file(self, shape: XmlElement) -> str:
        return shape.take("filename", CONVERTED, "the file's full path") or ""

    def read(self, element: XmlElement) -> LinkDraft:
        element.mark(READ)
        link = LinkDraft(name_of(element, self.flaws), element)
        for tag in ("contact", "collision_checking"):
            for child in element.all(tag):
                child.drop(REASONS[tag])
        inertial = element.one("inertial")
        if inertial is not None:
            mass, tensor = inertial.one("mass"), inertial.one("inertia")
            link.inertial = tensor if tensor is not None else inertial
            owners = {"value": mass, **dict.fromkeys(INERTIA, tensor)}
            missing = [f"<{tag}>" for tag, owner in (("mass", mass), ("inertia", tensor)) if owner is None]
            missing += [key for key, owner in owners.items() if owner is not None and key not in owner.attributes]
            if missing:
                what = f"has no {' and no '.join(missing)}: taken as 0"
                inertial.mark(CHOICE, f"{what}; give it in `bodies.{link.name}`")
            link.mass = self.numbers(mass, "value", (0.0,))[0]
            self.read_inertia(link, tensor, self.pose(inertial), "I = R I_file R^T [kg m^2], R of <origin>")
        for shape in [*element.all("visual"), *element.all("collision")]:
            self.read_look(link, shape)
        return link

    def colour(self, shape: XmlElement) -> str | None:
        """Its own, or that of the material of its name."""
        material = shape.one("material")
        if material is None:
            return None
        if material.one("color") is not None:
            return self.own_colour(material)
        name = self._take_name(material)
        if name and name not in self.colours:
            material.mark(UNUSED, f"there is no colour of this name ({nearest(name, self.colours)})", "name")
        return self.colours.get(name)

    def own_colour(self, material: XmlElement) -> str:
        self._take_name(material)
        rgba = floats_of(material.one("color"), "rgba", 4, (0.5, 0.5, 0.5, 1.0), self.flaws, COLOUR)
        return colour_of(rgba)

    def _take_name(self, material: XmlElement) -> str:
        for texture in material.all("texture"):
            texture.drop("textures are not drawn")
        return material.take("name") or ""


class UrdfReader:
    def __init__(self, root: XmlElement, meshes: MeshFiles) -> None:
        self.root = root
        self.draft = RobotDraft(root.take("name") or "robot")
        self.flaws = self.draft.flaws
        self.links = UrdfLinks(root, meshes, self.flaws)

    def read(self, base: str | None) -> RobotDraft:
        self.root.mark(READ)
        version = self.root.take("version") or "1.0"
        if version not in VERSIONS:
            self.flaws.add(f"{self.root.place}@version", f"'{version}' is unknown", f"known: {', '.join(VERSIONS)}")
        for tag, reason in REASONS.items():
            for element in self.root.all(tag):
                element.drop(reason)
        self.draft.links = [self.links.read(element) for element in self.root.all("link")]
        self.draft.joints = [joint for element in self.root.all("joint") if (joint := self.joint(element))]
        if not self.draft.links:
            self.flaws.add(self.root.place, "has no <link>", "a robot has one at least")
        moves = any(joint.kind != "fixed" for joint in self.draft.joints)
        # What has no joint that moves flies or swims.
        self.stand(base or ("fixed" if moves else "free"))
        for element in self.root.walk():
            for key in {element.tag, *element.attributes} & NEWER.keys():
                if NEWER[key] > version and element.tag in ("capsule", "origin", "limit"):
                    note = f"is read, although version {version} has none and others skip it: give version {NEWER[key]}"
                    element.mark(CHOICE, note, "" if key == element.tag else key)
        return self.draft

    def stand(self, base: str) -> None:
        """The links that no joint carries: one is the base, others are connected to nothing."""
        carried = {joint.child for joint in self.draft.joints}
        roots = [link for link in self.draft.links if link.name not in carried]
        for link in roots[:1]:
            self.draft.bases[link.name] = (base, Pose.identity())
            self.draft.stands_as_asked = True
            kinds = [other for other in ("fixed", "free", "planar") if other != base]
            note = f"the root link stands on the ground by a {base} joint; base = '{kinds[0]}' or '{kinds[1]}'"
            link.element.mark(CHOICE, f"{note} to change it")

    def joint(self, element: XmlElement) -> JointDraft | None:
        element.mark(READ)
        name, given = name_of(element, self.flaws), element.take("type")
        for tag in ("safety_controller", "calibration"):
            for child in element.all(tag):
                child.drop(REASONS[tag])
        ends = [self.end(element, tag) for tag in ("parent", "child")]
        if given not in KINDS:
            self.flaws.add(f"{element.place}@type", f"'{given}' is unknown", nearest(str(given), KINDS))
            return None
        if None in ends:
            return None
        if KINDS[given] != given:
            note = "a revolute joint without limits" if given == "continuous" else f"a {KINDS[given]} joint"
            element.mark(CONVERTED, note, "type")
        draft = JointDraft(name, element, KINDS[given], str(ends[0]), str(ends[1]), origin_of(element, self.flaws))
        self.axis(draft)
        if draft.kind in ("revolute", "prismatic"):
            self.limits(draft, given)
            self.links.read_losses(draft, draft.element.one("dynamics"))
            self.mimic(draft)
        else:
            reason = "does not move" if draft.kind == "fixed" else "has several axes: not supported in robodyn"
            for tag in ("axis", "limit", "dynamics", "mimic"):
                for child in element.all(tag):
                    child.drop(f"a {given} joint {reason}")
        return draft

    def end(self, element: XmlElement, tag: str) -> str | None:
        child = element.one(tag)
        name = None if child is None else child.take("link")
        if not name:
            self.flaws.add(element.place, f"has no {tag} link", f'write <{tag} link="..."/>')
        return name or None

    def axis(self, draft: JointDraft) -> None:
        if draft.kind in ("fixed", "free"):
            return
        element = draft.element.one("axis")
        axis = floats_of(element, "xyz", 3, (1.0, 0.0, 0.0), self.flaws)
        size = float(np.linalg.norm(axis))
        if size < 1e-9:
            self.flaws.add(element.place if element else draft.element.place, "the axis must not be zero")
            return
        if element is not None and abs(size - 1.0) > 1e-12:
            element.mark(CONVERTED, "axis / |axis|", "xyz")
        draft.fields["axis"] = tuple(axis)

    def limits(self, draft: JointDraft, given: str) -> None:
        element = draft.element.one("limit")
        if element is None:
            if given != "continuous":
                draft.element.mark(CHOICE, f"has no <limit>: it has none; `joints.{draft.name}` takes them", "type")
            return
        bounds = {field: self.limit(element, key) for key, field in BOUNDS.items()}
        self.slow(element, bounds)
        if given == "continuous":
            element.mark(UNUSED, "a continuous joint has no limits of position", "lower", "upper")
            bounds |= {"lower_limit": None, "upper_limit": None}
        else:
            self.order(element, bounds)
        draft.fields |= {field: value for field, value in bounds.items() if value is not None}

    def limit(self, element: XmlElement, key: str) -> float | None:
        """A limit; without a number it is none, and a speed or effort of 0 would let nothing move."""
        text = element.take(key)
        if text is None:
            return None
        try:
            value = float("inf") if "inf" in text.lower() else read_floats(text, 1)[0]
        except ValueError as error:
            self.flaws.add(f"{element.place}@{key}", str(error))
            return None
        if abs(value) >= UNLIMITED:
            element.mark(CONVERTED, "no limit", key)
            return None
        if key not in ("lower", "upper") and value <= 0.0:
            field = BOUNDS.get(key, "acceleration_limit")
            element.mark(CHOICE, f"{value:g} would allow no motion: taken as no limit; `{field}` gives one", key)
            return None
        return value

    def slow(self, element: XmlElement, bounds: dict[str, float | None]) -> None:
        """A deceleration of its own: of two different limits the smaller one holds both ways."""
        down, up = self.limit(element, "deceleration"), bounds["acceleration_limit"]
        if down is not None and down != up:
            element.mark(CHOICE, "robodyn has one limit both ways: the smaller of both", "acceleration", "deceleration")
            bounds["acceleration_limit"] = down if up is None else min(down, up)
        element.mark(UNUSED, "joints have no limit of jerk: `top_jerk` of an s_curve_reference has", "jerk")

    def order(self, element: XmlElement, bounds: dict[str, float | None]) -> None:
        """Positions that are not said are 0; where that leaves no room there is no limit."""
        if "lower" not in element.attributes and "upper" not in element.attributes:
            element.mark(CHOICE, "has no lower and upper: taken as none; `lower_limit`, `upper_limit` give them")
            return
        for key, field in (("lower", "lower_limit"), ("upper", "upper_limit")):
            if key not in element.attributes:
                bounds[field] = 0.0
        lower, upper = bounds["lower_limit"], bounds["upper_limit"]
        if lower is not None and upper is not None and lower >= upper:
            note = f"{lower:g} to {upper:g} leaves no room: taken as no limits; `lower_limit`, `upper_limit` give them"
            element.mark(CHOICE, note, "lower", "upper")
            bounds |= {"lower_limit": None, "upper_limit": None}

    def mimic(self, draft: JointDraft) -> None:
        element = draft.element.one("mimic")
        if element is None:
            return
        leader = element.take("joint")
        if not leader:
            self.flaws.add(element.place, "names no joint", 'write <mimic joint="..."/>')
            return
        ratio = floats_of(element, "multiplier", 1, (1.0,), self.flaws)[0]
        offset = floats_of(element, "offset", 1, (0.0,), self.flaws)[0]
        element.mark(CONVERTED, "`mimic`: position = multiplier * position of the joint + offset")
        draft.mimic = MimicDraft(leader, ratio, offset, element)


def name_of(element: XmlElement, flaws: FlawList) -> str:
    """The name that a part must have."""
    name = element.take("name")
    if not name:
        flaws.add(element.place, "has no name", f'write <{element.tag} name="...">')
    return name or f"{element.tag}_{element.line}"


def origin_of(element: XmlElement, flaws: FlawList) -> Pose:
    """The <origin> of an element."""
    origin = element.one("origin")
    p = floats_of(origin, "xyz", 3, (0.0, 0.0, 0.0), flaws)
    if origin is not None and "quat_xyzw" in origin.attributes:
        if "rpy" in origin.attributes:
            flaws.add(origin.place, "has both rpy and quat_xyzw", "leave one of them out")
        turn = floats_of(origin, "quat_xyzw", 4, (0.0, 0.0, 0.0, 1.0), flaws, QUATERNION)
    else:
        turn = floats_of(origin, "rpy", 3, (0.0, 0.0, 0.0), flaws, RPY)
    try:
        return Pose(rotation_of(turn), np.array(p))
    except ValueError as error:
        flaws.add(f"{element.place}/origin@quat_xyzw", str(error))
        return Pose.identity()


def origin_element(pose: Pose) -> Element:
    """Where something stands, as URDF says it; the last digit of computed angles is rounding."""
    angles = [float(f"{angle:.15g}") for angle in to_rpy(pose.R)]
    return Element("origin", xyz=number_text(pose.p), rpy=number_text(angles))


class UrdfWriter(LinkWriter):
    """Writes URDF, of the oldest version that holds what there is; a fixed root link needs no joint."""

    FORMAT = "URDF"
    KINDS = {kind: word for word, kind in KINDS.items() if word != "continuous"}
    MESHES = (".stl", ".dae", ".obj", ".glb", ".gltf")
    INSTEAD = "MJCF and SDF have more kinds of joints, and loops: --to mjcf or --to sdf"
    has_springs = False

    def put(self, element: Element, key: str, text: str) -> None:
        element.set(key, text)

    def put_mass(self, inertial: Element, mass: float) -> None:
        SubElement(inertial, "mass", value=number_text(mass))

    def place(self, element: Element, pose: Pose) -> None:
        if not is_identity(pose):
            element.append(origin_element(pose))

    def put_mesh(self, shape: Element, file: str) -> None:
        shape.set("filename", address_of_file(file))

    def put_colour(self, visual: Element, look: Look) -> None:
        material = SubElement(visual, "material", name=f"colour_{str(look.colour)[1:].lower()}")
        SubElement(material, "color", rgba=number_text([*rgb_of(str(look.colour)), 1.0]))

    def refusal_of_loop(self, constraint: Any) -> str:
        return "its tree has no loops"

    def build(self) -> Element:
        root = Element("robot", name=self.machine.name)
        looks = [look for body in self.mechanism.bodies for look in body.looks]
        if any(joint.acceleration_limit is not None for joint in self.joints):
            root.set("version", "1.2")
        elif any(isinstance(look, CapsuleLook) for look in looks):
            root.set("version", "1.1")
        self.taken += [*(body.name for body in self.mechanism.bodies), *(joint.name for joint in self.joints)]
        points = self.points()
        # A single link that is fixed where the world is needs no joint; all else hangs on a link of its own.
        roots = [joint for joint in self.joints if joint.parent == GROUND]
        moves = any(joint.kind != "fixed" for joint in self.joints)
        bare = len(roots) == 1 and moves and roots[0].kind == "fixed" and is_identity(pose_of(roots[0]))
        bare = bare and all(point.body != GROUND for point in points)
        self.links = {body.name: body.name for body in self.mechanism.bodies}
        if not bare:
            self.links[GROUND] = self.own_name("world")
            SubElement(root, "link", name=self.links[GROUND])
            if not moves:
                note = "no joint of the file moves, so that it is read as free: read it with base = fixed"
                self.say("joint", roots[0].name, note=note, column=CHOICE)
        for body in self.mechanism.bodies:
            self.put_link(root, body)
        self.followers = self.find_followers()
        for joint in self.joints:
            if bare and joint is roots[0]:
                self.say_all("joint", joint.name, "the root link stands on the ground: read with base = fixed")
                continue
            self.put_joint(root, joint)
        for point in points:
            link = self.own_name(point.name)
            SubElement(root, "link", name=link)
            frame = self.own_name(f"{point.name}_frame")
            self.put_bare_joint(root, frame, "fixed", point.body, link, Pose.translation(np.array(point.origin)))
            self.say_all("point", point.name, "a massless link, fixed")
        if tuple(self.mechanism.gravity) == (0.0, 0.0, -9.81):
            self.account.mark(CONVERTED, "that of the simulator, by custom", "gravity")
        return root

    def put_joint(self, root: Element, joint: Joint) -> None:
        if joint.kind not in self.KINDS or (joint.kind == "planar" and joint.second_axis is not None):
            for freedom, element in self.put_chain(root, joint):
                if freedom.kind == "revolute":
                    element.set("type", "continuous")
                else:
                    bounds = {"lower": -UNLIMITED, **dict.fromkeys(("upper", "effort", "velocity"), UNLIMITED)}
                    SubElement(element, "limit", {key: number_text(value) for key, value in bounds.items()})
            self.say("joint", joint.name, *PLACE)
            return
        bounded = joint.lower_limit is not None or joint.upper_limit is not None
        kind = "continuous" if joint.kind == "revolute" and not bounded else self.KINDS[joint.kind]
        element = self.put_bare_joint(root, joint.name, kind, joint.parent, joint.child, pose_of(joint))
        self.say("joint", joint.name, "", *PLACE)
        if joint.kind not in ("fixed", "free"):
            SubElement(element, "axis", xyz=number_text(joint.axis))
        if joint.kind not in ("revolute", "prismatic"):
            return
        if kind != "continuous" or joint.limits:
            self.put_limits(element, joint, kind)
        self.put_effects(element, joint)

    def put_limits(self, element: Element, joint: Joint, kind: str) -> None:
        """Limits, as URDF wants them: effort and velocity of every limited joint, 1e30 where there are none."""
        limit = SubElement(element, "limit")
        for key, field in BOUNDS.items():
            value = getattr(joint, field)
            if key == "acceleration" and value is None or kind == "continuous" and key in ("lower", "upper"):
                continue
            limit.set(key, number_text((-UNLIMITED if key == "lower" else UNLIMITED) if value is None else value))
            self.say("joint", joint.name, field)

    def put_bare_joint(self, root: Element, name: str, kind: str, parent: str, child: str, place: Pose) -> Element:
        joint = SubElement(root, "joint", name=name, type=kind)
        self.place(joint, place)
        SubElement(joint, "parent", link=self.links.get(parent, parent))
        SubElement(joint, "child", link=self.links.get(child, child))
        return joint


def write_origins(path: Path, origins: Mapping[str, tuple[Array, Array]]) -> str:
    """The text of a URDF file with other origins of its joints; all else stays as it is written.

    Args:
        origins: joint -> its place [m] and its rotation matrix in the parent.

    Raises:
        ModelError: when the file cannot be read, or has no joint of a name.
    """
    load_xml(path)
    text = path.read_text(encoding="utf-8")
    # Joints of comments, transmissions and simulators' tags are none of the robot's: they are blanked, not cut, so that
    # places in the text stay.
    blanked = r"<!--.*?-->|<(transmission|gazebo)\b.*?</\1\s*>"
    bare = re.sub(blanked, lambda part: " " * len(part[0]), text, flags=re.DOTALL)
    joints = {}
    for joint in re.finditer(r"<joint\b((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)(?<!/)>(.*?)</joint\s*>", bare, re.DOTALL):
        name_entry = re.search(r"\bname\s*=\s*([\"'])(.*?)\1", joint[1])
        if name_entry:
            joints[name_entry[2]] = joint
    flaws = FlawList()
    for name in origins.keys() - joints.keys():
        flaws.add(f"joint[{name}]", "is not in the file", nearest(name, joints))
    flaws.raise_if_any(str(path))
    edits = []
    for name, (p, R) in origins.items():
        entry = ElementTree.tostring(origin_element(Pose(R, p)), "unicode")
        begin = joints[name].start(2)
        old = re.search(r"<origin\b[^>]*/>|<origin\b[^>]*>\s*</origin\s*>", joints[name][2])
        edits.append((begin + old.start(), begin + old.end(), entry) if old else (begin, begin, entry))
    for first, last, entry in sorted(edits, reverse=True):
        text = text[:first] + entry + text[last:]
    return text
