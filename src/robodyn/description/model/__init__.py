"""Frozen descriptions that check themselves: what a machine and a scenario are."""

from robodyn.base import imported_names

from .block import Block
from .body import (
    Ball,
    Body,
    BodyNode,
    Box,
    BoxLook,
    CapsuleLook,
    CylinderLook,
    FlexibleBody,
    HeightField,
    Look,
    MeshLook,
    ModalInertia,
    Plane,
    Rim,
    SphereLook,
)
from .constraint import (
    Constraint,
    ConstraintFunction,
    ConstraintMethod,
    LinearConstraint,
    LoopJoint,
    PrescribedMotion,
    Rod,
    Wheel,
)
from .contact import Contact, Obstacle, RigidContact
from .control_model import ControlModel, StateController
from .coordinate import (
    Coordinate,
    Distance,
    FunctionCoordinate,
    LinearCombination,
    PointCoordinate,
    TriangleLength,
)
from .description import Description, describe, digest
from .event import Delay, Event, SetValues
from .fields import EMPTY, ZERO, quantity, vector
from .formula import FormulaSignal
from .interface import Interface
from .joint import GROUND, Freedom, Joint, Mimic, Point
from .kinds import Bounds
from .machine import ElasticGear, Load, Machine, combine, with_elastic_joints
from .mechanism import Mechanism
from .numbers import XYZ, Floats, Number, Rows, as_floats, check_finite, check_vector
from .scenario import Recording, Scenario, ScenarioSequence
from .solver import Solver

__all__ = imported_names(__name__)
