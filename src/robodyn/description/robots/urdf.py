"""URDF: what does a robot description of ROS say? Links and joints; the root link stands on the ground as asked."""

from __future__ import annotations

import numpy as np

from robodyn.base.errors import nearest
from robodyn.base.spatial import Pose
from robodyn.description.robots.draft import JointDraft, Mimic, RobotDraft
from robodyn.description.robots.mesh_files import MeshFiles
from robodyn.description.robots.urdf_links import LinkReader, name_of, origin_of
from robodyn.description.robots.xml_tree import CHOICE, CONVERTED, READ, UNUSED, Element, floats_of, read_floats

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
REASONS = {
    "transmission": "drives are added to the machine: say gear, rotor and control in the scenario's file",
    "gazebo": "is an extension of Gazebo",
    "ros2_control": "is an extension of ros2_control: say control in the scenario's file",
    "sensor": "sensors are added to the machine: say blocks in the scenario's file",
    "safety_controller": "soft limits belong to a controller, not to the mechanism",
    "calibration": "places of reference switches have no effect on the motion",
}
LIMITS = {"lower": "lower_limit", "upper": "upper_limit", "velocity": "speed_limit", "effort": "effort_limit"}
HUGE = 1e30


def read_urdf(root: Element, meshes: MeshFiles, base: str | None) -> RobotDraft:
    """The draft of a URDF file; what is wrong with it is noted in its flaws."""
    return _Reader(root, meshes).read(base)


class _Reader:
    def __init__(self, root: Element, meshes: MeshFiles) -> None:
        self.root, self.meshes = root, meshes
        self.draft = RobotDraft(root.take("name") or "robot")
        self.flaws = self.draft.flaws

    def read(self, base: str | None) -> RobotDraft:
        self.root.mark(READ)
        for tag, reason in REASONS.items():
            for element in self.root.all(tag):
                element.drop(reason)
        links = LinkReader(self.root, self.meshes, self.flaws)
        self.draft.links = [links.read(element) for element in self.root.all("link")]
        self.draft.joints = [joint for element in self.root.all("joint") if (joint := self.joint(element))]
        if not self.draft.links:
            self.flaws.add(self.root.place, "has no <link>", "a robot has one at least")
        moves = any(joint.kind != "fixed" for joint in self.draft.joints)
        # What has no joint that moves flies or swims.
        self.stand(base or ("fixed" if moves else "free"))
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

    def joint(self, element: Element) -> JointDraft | None:
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
            self.losses(draft)
            self.mimic(draft)
        else:
            reason = "does not move" if draft.kind == "fixed" else "moves along several axes: it has none in robodyn"
            for tag in ("axis", "limit", "dynamics", "mimic"):
                for child in element.all(tag):
                    child.drop(f"a {given} joint {reason}")
        return draft

    def end(self, element: Element, tag: str) -> str | None:
        child = element.one(tag)
        name = None if child is None else child.take("link")
        if not name:
            self.flaws.add(element.place, f"has no {tag} link", f'say <{tag} link="..."/>')
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
        found = {field: self.limit(element, key) for key, field in LIMITS.items()}
        if given == "continuous":
            element.mark(UNUSED, "a continuous joint has no limits of position", "lower", "upper")
            found |= {"lower_limit": None, "upper_limit": None}
        else:
            self.order(element, found)
        draft.fields |= {field: value for field, value in found.items() if value is not None}

    def limit(self, element: Element, key: str) -> float | None:
        """A limit; without a number it is none, and a speed or effort of 0 would let nothing move."""
        text = element.take(key)
        if text is None:
            return None
        try:
            value = float("inf") if "inf" in text.lower() else read_floats(text, 1)[0]
        except ValueError as error:
            self.flaws.add(f"{element.place}@{key}", str(error))
            return None
        if abs(value) >= HUGE:
            element.mark(CONVERTED, "no limit", key)
            return None
        if key in ("velocity", "effort") and value <= 0.0:
            element.mark(CHOICE, f"{value:g} would let nothing move: taken as no limit; `{LIMITS[key]}` gives one", key)
            return None
        return value

    def order(self, element: Element, found: dict[str, float | None]) -> None:
        """Positions that are not said are 0; where that leaves no room there is no limit."""
        if "lower" not in element.attributes and "upper" not in element.attributes:
            element.mark(CHOICE, "has no lower and upper: taken as none; `lower_limit`, `upper_limit` give them")
            return
        lower, upper = (found[field] for field in ("lower_limit", "upper_limit"))
        for key, field in (("lower", "lower_limit"), ("upper", "upper_limit")):
            if key not in element.attributes:
                found[field] = 0.0
        lower, upper = found["lower_limit"], found["upper_limit"]
        if lower is not None and upper is not None and lower >= upper:
            note = f"{lower:g} to {upper:g} leaves no room: taken as no limits; `lower_limit`, `upper_limit` give them"
            element.mark(CHOICE, note, "lower", "upper")
            found |= {"lower_limit": None, "upper_limit": None}

    def losses(self, draft: JointDraft) -> None:
        element = draft.element.one("dynamics")
        for key in ("damping", "friction"):
            value = floats_of(element, key, 1, (0.0,), self.flaws)[0]
            if value > 0.0:
                draft.fields[key] = value
            elif value < 0.0 and element is not None:
                self.flaws.add(f"{element.place}@{key}", f"must not be negative, is {value:g}")

    def mimic(self, draft: JointDraft) -> None:
        element = draft.element.one("mimic")
        if element is None:
            return
        leader = element.take("joint")
        if not leader:
            self.flaws.add(element.place, "names no joint", 'say <mimic joint="..."/>')
            return
        ratio = floats_of(element, "multiplier", 1, (1.0,), self.flaws)[0]
        offset = floats_of(element, "offset", 1, (0.0,), self.flaws)[0]
        element.mark(CONVERTED, "`mimic`: position = multiplier * position of the joint + offset")
        draft.mimic = Mimic(leader, ratio, offset, element)
