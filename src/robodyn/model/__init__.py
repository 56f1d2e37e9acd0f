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
)
from robodyn.model.contact import Contact, RigidContact
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
from robodyn.model.elastic import ElasticGear, with_elastic_joints
from robodyn.model.event import Event
from robodyn.model.flexible import BodyNode, FlexibleBody, ModalInertia, Mode
from robodyn.model.formula_signal import FormulaSignal
from robodyn.model.interface import Interface
from robodyn.model.joint import GROUND, Joint, Point
from robodyn.model.machine import Load, Machine
from robodyn.model.mechanism import Mechanism
from robodyn.model.numbers import Number, check_finite, check_vector
from robodyn.model.obstacle import Obstacle
from robodyn.model.recording import Recording
from robodyn.model.scenario import Scenario
from robodyn.model.scenario_sequence import ScenarioSequence
from robodyn.model.shape import Ball, Box, Plane
from robodyn.model.solver import Solver
from robodyn.model.workcell import combine

__all__ = [
    "GROUND",
    "PointCoordinate",
    "Ball",
    "Block",
    "Body",
    "BodyNode",
    "Box",
    "ScenarioSequence",
    "LoopJoint",
    "LinearCombination",
    "Constraint",
    "Contact",
    "Coordinate",
    "LinearConstraint",
    "Delay",
    "Distance",
    "ElasticGear",
    "Event",
    "FlexibleBody",
    "FormulaSignal",
    "Interface",
    "Joint",
    "FunctionCoordinate",
    "Load",
    "Machine",
    "Mechanism",
    "ModalInertia",
    "Mode",
    "Number",
    "Obstacle",
    "Plane",
    "Point",
    "PrescribedMotion",
    "Recording",
    "ConstraintFunction",
    "RigidContact",
    "Rod",
    "Scenario",
    "Solver",
    "ConstraintMethod",
    "TriangleLength",
    "check_finite",
    "check_vector",
    "combine",
    "describe",
    "digest",
    "with_elastic_joints",
]
