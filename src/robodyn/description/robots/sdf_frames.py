"""Frames of SDF: where do links, joints and frames of a model stand, each given relative to another?"""

from __future__ import annotations

from math import radians

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.spatial import Pose, from_quaternion, from_rpy
from robodyn.description.robots.xml_tree import CONVERTED, READ, Element, read_floats

ROTATION = "R = Rz(yaw) Ry(pitch) Rx(roll), p [m]"
MODEL, WORLD = "__model__", "world"


def scoped(scope: str, name: str) -> str:
    """The name of a part of a model within another one; a model by itself is its frame, "" the outermost."""
    if name == WORLD or not name:
        return name
    return scope.removesuffix(".") if name == MODEL else scope + name.replace("::", ".")


def text_floats(element: Element | None, tag: str, count: int, default: list[float], flaws: FlawList) -> list[float]:
    """Numbers of a child's text; the default where it is not there or wrong, which is noted."""
    child = None if element is None else element.one(tag)
    if child is None:
        return default
    try:
        return read_floats(child.text, count)
    except ValueError as error:
        flaws.add(child.place, str(error))
        return default


def text_of(element: Element | None, tag: str) -> str | None:
    child = None if element is None else element.one(tag)
    return None if child is None else child.text.strip()


def pose_of(element: Element, flaws: FlawList) -> tuple[Pose, str]:
    """The <pose> of an element, and the name of the frame that it is given in, "" by default."""
    child = element.one("pose")
    if child is None or not child.text.strip():
        return Pose.identity(), "" if child is None else child.take("relative_to") or child.take("frame") or ""
    child.mark(CONVERTED, ROTATION)
    relative = child.take("relative_to") or child.take("frame") or ""
    quaternion = child.take("rotation_format") == "quat_xyzw"
    degrees = child.take("degrees") in ("true", "1")
    try:
        numbers = read_floats(child.text, 7 if quaternion else 6)
        if quaternion:
            x, y, z, w = numbers[3:]
            if not (w or x or y or z):
                raise ValueError("the quaternion must not be zero")
            return Pose(from_quaternion(w, x, y, z), np.array(numbers[:3])), relative
        angles = [radians(angle) for angle in numbers[3:]] if degrees else numbers[3:]
        return Pose(from_rpy(*angles), np.array(numbers[:3])), relative
    except ValueError as error:
        flaws.add(child.place, str(error))
        return Pose.identity(), relative


class Frames:
    """The named frames of one model, seen from it.

    Attributes:
        attached: parts that frames are fixed to; known: poses that have been found.
    """

    def __init__(self, flaws: FlawList) -> None:
        self.flaws = flaws
        self.given: dict[str, tuple[Pose, str, Element]] = {}
        self.attached: dict[str, str] = {}
        self.known: dict[str, Pose] = {}

    def add(self, name: str, element: Element, scope: str, default: str = "") -> None:
        """A frame of a model within the outermost one; by default it is given in that model's own frame."""
        pose, relative = pose_of(element, self.flaws)
        within = scoped(scope, relative) if relative else default or scoped(scope, MODEL)
        self.given.setdefault(name, (pose, within, element))

    def pose(self, name: str) -> Pose:
        """A frame's pose in the model."""
        waiting: list[str] = []
        while name and name not in self.known:
            if name not in self.given or name in waiting:
                what = "is given relative to itself" if name in waiting else "there is no such frame"
                remedy = "break the ring of relative_to" if name in waiting else nearest(name, self.given)
                place = self.given[waiting[-1]][2].place if waiting else "model"
                self.flaws.add(place, f"'{name}': {what}", remedy)
                self.known[name] = Pose.identity()
                break
            waiting.append(name)
            name = self.given[name][1]
        found = self.known[name] if name else Pose.identity()
        for inner in reversed(waiting):
            found = self.known.setdefault(inner, found @ self.given[inner][0])
        return found

    def link(self, name: str) -> str:
        """The link that a name means: itself, or what a frame is attached to."""
        for _ in range(len(self.attached) + 1):
            if name not in self.attached:
                break
            name = self.attached[name]
        return name


def mark_frame(element: Element) -> None:
    element.mark(READ)
    element.take("name")
    element.take("attached_to")
