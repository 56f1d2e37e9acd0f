"""Frozen descriptions that check themselves: what a machine and a scenario are."""

from robodyn.description.model.block import Block
from robodyn.description.model.body import (
    Ball,
    Body,
    BodyNode,
    Box,
    BoxLook,
    CapsuleLook,
    CylinderLook,
    FlexibleBody,
    HeightField,
    MeshLook,
    ModalInertia,
    Plane,
    Rim,
    SphereLook,
)
from robodyn.description.model.constraint import (
    Constraint,
    ConstraintFunction,
    ConstraintMethod,
    LinearConstraint,
    LoopJoint,
    PrescribedMotion,
    Rod,
    Wheel,
)
from robodyn.description.model.contact import Contact, Obstacle, RigidContact
from robodyn.description.model.control_model import ControlModel, StateController
from robodyn.description.model.coordinate import (
    Coordinate,
    Distance,
    FunctionCoordinate,
    LinearCombination,
    PointCoordinate,
    TriangleLength,
)
from robodyn.description.model.description import Description, describe, digest
from robodyn.description.model.event import Delay, Event, SetValues
from robodyn.description.model.fields import ZERO, quantity, vector
from robodyn.description.model.formula import FormulaSignal
from robodyn.description.model.interface import Interface
from robodyn.description.model.joint import GROUND, Freedom, Joint, Mimic, Point
from robodyn.description.model.machine import ElasticGear, Load, Machine, combine, with_elastic_joints
from robodyn.description.model.mechanism import Mechanism
from robodyn.description.model.numbers import Floats, Number, check_finite, check_vector
from robodyn.description.model.scenario import Recording, Scenario, ScenarioSequence
from robodyn.description.model.solver import Solver

__all__ = [
    "Ball",
    "Block",
    "Body",
    "BodyNode",
    "Box",
    "BoxLook",
    "CapsuleLook",
    "Constraint",
    "ConstraintFunction",
    "ConstraintMethod",
    "Contact",
    "ControlModel",
    "Coordinate",
    "CylinderLook",
    "Delay",
    "Description",
    "Distance",
    "ElasticGear",
    "Event",
    "FlexibleBody",
    "Floats",
    "FormulaSignal",
    "Freedom",
    "FunctionCoordinate",
    "GROUND",
    "HeightField",
    "Interface",
    "Joint",
    "LinearCombination",
    "LinearConstraint",
    "Load",
    "LoopJoint",
    "Machine",
    "Mechanism",
    "MeshLook",
    "Mimic",
    "ModalInertia",
    "Number",
    "Obstacle",
    "Plane",
    "Point",
    "PointCoordinate",
    "PrescribedMotion",
    "Recording",
    "RigidContact",
    "Rim",
    "Rod",
    "Scenario",
    "ScenarioSequence",
    "SetValues",
    "Solver",
    "SphereLook",
    "StateController",
    "TriangleLength",
    "Wheel",
    "ZERO",
    "check_finite",
    "check_vector",
    "combine",
    "describe",
    "digest",
    "quantity",
    "vector",
    "with_elastic_joints",
]
