"""Frozen descriptions that check themselves: what a machine and a scenario are."""

from robodyn.model.block import Block
from robodyn.model.body import Body
from robodyn.model.constraint import (
    Constraint,
    ConstraintFunction,
    ConstraintMethod,
    LinearConstraint,
    LoopJoint,
    PrescribedMotion,
    Rod,
    Wheel,
)
from robodyn.model.contact import Contact, RigidContact
from robodyn.model.control_model import ControlModel
from robodyn.model.coordinate import (
    Coordinate,
    Distance,
    FunctionCoordinate,
    LinearCombination,
    PointCoordinate,
    TriangleLength,
)
from robodyn.model.delay import Delay
from robodyn.model.describe import describe, digest
from robodyn.model.description import Description
from robodyn.model.elastic import ElasticGear, with_elastic_joints
from robodyn.model.event import Event, SetValues
from robodyn.model.fields import ZERO, quantity, vector
from robodyn.model.flexible import BodyNode, FlexibleBody, ModalInertia
from robodyn.model.formula_signal import FormulaSignal
from robodyn.model.freedom import Freedom
from robodyn.model.interface import Interface
from robodyn.model.joint import GROUND, Joint, Mimic, Point
from robodyn.model.look import BoxLook, CapsuleLook, CylinderLook, MeshLook, SphereLook
from robodyn.model.machine import Load, Machine
from robodyn.model.mechanism import Mechanism
from robodyn.model.numbers import Floats, Number, check_finite, check_vector
from robodyn.model.obstacle import Obstacle
from robodyn.model.recording import Recording
from robodyn.model.scenario import Scenario
from robodyn.model.scenario_sequence import ScenarioSequence
from robodyn.model.shape import Ball, Box, HeightField, Plane, Rim
from robodyn.model.solver import Solver
from robodyn.model.state_controller import StateController
from robodyn.model.workcell import combine

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
