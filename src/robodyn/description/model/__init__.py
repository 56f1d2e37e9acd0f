"""Frozen descriptions that check themselves: what a machine and a scenario are."""

from robodyn.description.model.block import Block
from robodyn.description.model.body import Body
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
from robodyn.description.model.contact import Contact, RigidContact
from robodyn.description.model.control_model import ControlModel
from robodyn.description.model.coordinate import (
    Coordinate,
    Distance,
    FunctionCoordinate,
    LinearCombination,
    PointCoordinate,
    TriangleLength,
)
from robodyn.description.model.delay import Delay
from robodyn.description.model.describe import describe, digest
from robodyn.description.model.description import Description
from robodyn.description.model.elastic import ElasticGear, with_elastic_joints
from robodyn.description.model.event import Event, SetValues
from robodyn.description.model.fields import ZERO, quantity, vector
from robodyn.description.model.flexible import BodyNode, FlexibleBody, ModalInertia
from robodyn.description.model.formula_signal import FormulaSignal
from robodyn.description.model.freedom import Freedom
from robodyn.description.model.interface import Interface
from robodyn.description.model.joint import GROUND, Joint, Mimic, Point
from robodyn.description.model.look import BoxLook, CapsuleLook, CylinderLook, MeshLook, SphereLook
from robodyn.description.model.machine import Load, Machine
from robodyn.description.model.mechanism import Mechanism
from robodyn.description.model.numbers import Floats, Number, check_finite, check_vector
from robodyn.description.model.obstacle import Obstacle
from robodyn.description.model.recording import Recording
from robodyn.description.model.scenario import Scenario
from robodyn.description.model.scenario_sequence import ScenarioSequence
from robodyn.description.model.shape import Ball, Box, HeightField, Plane, Rim
from robodyn.description.model.solver import Solver
from robodyn.description.model.state_controller import StateController
from robodyn.description.model.workcell import combine

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
