"""SDF files as Pinocchio models, by another way than the reader's: all frames parallel to the model's at the start."""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin


def _numbers(element, path, count, default=0.0):
    found = element.find(path)
    return np.array(found.text.split(), float) if found is not None and found.text.strip() else np.full(count, default)


def _pose(element):
    x = _numbers(element, "pose", 6)
    return pin.SE3(pin.rpy.rpyToMatrix(*x[3:]), x[:3])


class SdfTree:
    """The tree of the first joints of each link of a model; further joints of a link are left out.

    Attributes:
        turns: rotation of each link's own axes at the start, by the joint that carries it.
    """

    def __init__(self, path, name=None):
        models = list(ElementTree.parse(path).getroot().iter("model"))
        self.root = next(model for model in models if name in (None, model.get("name")))
        self.frames = {frame.get("name"): _pose(frame) for frame in self.root.findall("frame")}
        self.links = {link.get("name"): link for link in self.root.findall("link")}
        self.model, self.turns, self.ids = pin.Model(), {}, {"world": 0}
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        self.origins = {"world": self.place().inverse().translation}
        self.model.gravity.linear = self.place().rotation.T @ self.model.gravity.linear
        joints = self._first_joints()
        for link in self.links.keys() - {joint.findtext("child") for joint in joints}:
            # A root link stands still.
            self.ids[link], self.origins[link] = 0, np.zeros(3)
        # Pinocchio wants its joints depth first.
        waiting = [joint for joint in joints if joint.findtext("parent") in self.ids]
        while waiting:
            joint = waiting.pop()
            self._add(joint)
            waiting += [inner for inner in joints if inner.findtext("parent") == joint.findtext("child")]

    def place(self):
        return _pose(self.root)

    def pose(self, link):
        """Of a link in the model."""
        element = self.links[link].find("pose")
        within = self.frames.get(element.get("relative_to", "") if element is not None else "", pin.SE3.Identity())
        return within * _pose(self.links[link])

    def _first_joints(self):
        found = {}
        for joint in self.root.findall("joint"):
            if joint.get("type") != "gearbox":
                found.setdefault(joint.findtext("child"), joint)
        return list(found.values())

    def _axis(self, joint, tag, turn):
        axis = joint.find(tag)
        xyz = _numbers(axis, "xyz", 3)
        in_model = axis.findtext("use_parent_model_frame") == "1" or axis.find("xyz").get("expressed_in") == "__model__"
        direction = xyz if in_model else turn @ xyz
        return direction / np.linalg.norm(direction)

    def _add(self, joint):
        child, kind, name = joint.findtext("child"), joint.get("type"), joint.get("name")
        link = self.pose(child)
        at = link * _pose(joint)
        parent, before = self.ids[joint.findtext("parent")], self.origins[joint.findtext("parent")]
        place = pin.SE3(np.eye(3), at.translation - before)
        turn = at.rotation
        if kind == "ball":
            made = pin.JointModelSpherical()
        elif kind == "universal":
            made = pin.JointModelUniversal(self._axis(joint, "axis", turn), self._axis(joint, "axis2", turn))
        elif kind == "screw":
            pitch = float(joint.findtext("screw_thread_pitch")) / (2 * np.pi)
            made = pin.JointModelHelicalUnaligned(self._axis(joint, "axis", turn), pitch)
        else:
            make = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}[kind]
            made = make(self._axis(joint, "axis", turn))
        number = self.model.addJoint(parent, made, place, name)
        com = link * _pose(self.links[child].find("inertial"))
        xx, xy, xz, yy, yz, zz = (
            float(self.links[child].findtext(f"inertial/inertia/{key}"))
            for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(
            float(self.links[child].findtext("inertial/mass")), com.translation - at.translation,
            com.rotation @ tensor @ com.rotation.T,
        )  # fmt: skip
        self.model.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        self.ids[child], self.origins[child], self.turns[name] = number, at.translation, link.rotation
