"""The same tree as a Pinocchio model, with the orders of coordinates translated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from robodyn.computation.dynamics import GROUND, Link, Tree
from robodyn.description.model import GROUND as ROOT
from robodyn.description.model import Joint, Mechanism
from robodyn.description.model.body import tensor_of


@dataclass(frozen=True)
class Twin:
    """Pinocchio's model of a tree.

    Args:
        joints: Pinocchio's joint of each link.
        q_order, v_order: where entry k of Pinocchio's q and v stands in ours.
    """

    model: pin.Model
    data: pin.Data
    joints: list[int]
    q_order: list[int]
    v_order: list[int]

    def column_from(self, column: np.ndarray) -> np.ndarray:
        """Pinocchio's column of rates or torques in our order."""
        ours = np.empty_like(column)
        ours[self.v_order] = column

        return ours

    def matrix_from(self, upper: np.ndarray) -> np.ndarray:
        """Pinocchio's symmetric matrix, of which the upper triangle is set, in our order."""
        full = np.triu(upper) + np.triu(upper, 1).T
        ours = np.empty_like(full)
        ours[np.ix_(self.v_order, self.v_order)] = full

        return ours


def build_twin(tree: Tree) -> Twin:
    """Pinocchio's model of a tree of numbers.

    Joints are added depth first: its mass matrix is right only if every subtree is numbered in one run.
    """
    model = pin.Model()
    model.gravity.linear = tree.gravity
    joints = [0] * len(tree.links)
    q_order: list[int] = []
    v_order: list[int] = []
    armatures: list[float] = []
    for index in _depth_first(tree, GROUND):
        link = tree.links[index]
        parent = 0 if link.parent == GROUND else joints[link.parent]
        joints[index] = _add_link(model, link, parent)
        q_order += _coordinate_order(link, tree.q_slices[index])
        v_order += range(tree.n_v)[tree.v_slices[index]]
        armatures += [link.armature] * len(link.subspace)
    model.armature = np.array(armatures)

    return Twin(model, model.createData(), joints, q_order, v_order)


def _depth_first(tree: Tree, parent: int) -> list[int]:
    children = [index for index, link in enumerate(tree.links) if link.parent == parent]

    return [found for child in children for found in [child, *_depth_first(tree, child)]]


def _add_link(model: pin.Model, link: Link, parent: int) -> int:
    joint = model.addJoint(parent, _joint_model(link), pin.SE3(link.frame.R, link.frame.p), link.joint)
    inertia = pin.Inertia(link.inertia.mass, link.inertia.com, link.inertia.tensor)
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())

    return joint


def _joint_model(link: Link):
    makers = {
        "revolute": lambda: pin.JointModelRevoluteUnaligned(*link.axis),
        "prismatic": lambda: pin.JointModelPrismaticUnaligned(*link.axis),
        "screw": lambda: pin.JointModelHelicalUnaligned(*link.axis, link.pitch),
        "ball": pin.JointModelSpherical,
        "free": pin.JointModelFreeFlyer,
    }
    return makers[link.kind]()


def _coordinate_order(link: Link, part: slice) -> list[int]:
    """Our coordinates in Pinocchio's order, which puts a quaternion's real part last."""
    own = list(range(part.start, part.stop))
    if link.kind not in ("ball", "free"):
        return own
    w = own[-4]

    return [*(k for k in own if k != w), w]


def build_mechanism_twin(mechanism: Mechanism) -> tuple[pin.Model, dict[str, tuple[int, pin.SE3]], list[str]]:
    """Pinocchio's model of a mechanism, each joint one of its own kinds or a composite of them.

    Returns:
        the model; of each body Pinocchio's joint and the body's place on it; Pinocchio's joints in the order of its v.
    """
    model = pin.Model()
    model.gravity.linear = np.array(mechanism.gravity)
    places = {ROOT: (0, pin.SE3.Identity())}
    order: list[str] = []
    for joint in _nested(mechanism, ROOT):
        body = mechanism.body(joint.child)
        parent, place = places[joint.parent]
        place = place * pin.SE3(np.array(joint.rotation), np.array(joint.origin))
        if joint.kind != "fixed":
            added = model.addJoint(parent, _model_of(joint), place, joint.name)
            model.armature[model.idx_vs[added] :] = joint.armature
            parent, place = added, pin.SE3.Identity()
            order.append(joint.name)
        places[body.name] = parent, place
        model.appendBodyToJoint(parent, pin.Inertia(body.mass, np.array(body.com), tensor_of(body.inertia)), place)

    return model, places, order


def _nested(mechanism: Mechanism, parent: str) -> list[Joint]:
    found = [joint for joint in mechanism.joints if joint.parent == parent]

    return [inner for joint in found for inner in [joint, *_nested(mechanism, joint.child)]]


def _model_of(joint: Joint):
    axis = np.array(joint.axis)
    revolute, prismatic = pin.JointModelRevoluteUnaligned(*axis), pin.JointModelPrismaticUnaligned(*axis)
    second = np.array(joint.second_axis) if joint.second_axis else np.zeros(3)
    slides = [pin.JointModelPrismaticUnaligned(*along) for along in (second, np.cross(axis, second))]
    makers = {
        "revolute": lambda: revolute,
        "prismatic": lambda: prismatic,
        "screw": lambda: pin.JointModelHelicalUnaligned(*axis, joint.pitch),
        "ball": pin.JointModelSpherical,
        "free": lambda: _composite(pin.JointModelTranslation(), pin.JointModelSpherical()),
        "planar": lambda: _composite(*slides, revolute),
        "universal": lambda: pin.JointModelUniversal(*axis, *second),
        "cylindrical": lambda: _composite(revolute, prismatic),
    }
    return makers[joint.kind]()


def _composite(*parts):
    model = pin.JointModelComposite()
    for part in parts:
        model.addJoint(part)

    return model
