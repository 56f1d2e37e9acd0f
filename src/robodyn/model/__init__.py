"""Frozen descriptions that check themselves: what a machine and a scenario are."""

from robodyn.model.block import Block
from robodyn.model.body import Body
from robodyn.model.chain import Chain
from robodyn.model.constraint import Closure, Constraint, Coupling, Prescribed, Relation, Rod, Treatment
from robodyn.model.contact import Contact, RigidContact
from robodyn.model.coordinate import Along, Combination, Coordinate, Distance, Linkage, Triangle
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
from robodyn.model.shape import Ball, Box, Plane
from robodyn.model.solver import Solver
from robodyn.model.workcell import combine

__all__ = [
    "GROUND",
    "Along",
    "Ball",
    "Block",
    "Body",
    "BodyNode",
    "Box",
    "Chain",
    "Closure",
    "Combination",
    "Constraint",
    "Contact",
    "Coordinate",
    "Coupling",
    "Delay",
    "Distance",
    "ElasticGear",
    "Event",
    "FlexibleBody",
    "FormulaSignal",
    "Interface",
    "Joint",
    "Linkage",
    "Load",
    "Machine",
    "Mechanism",
    "ModalInertia",
    "Mode",
    "Number",
    "Obstacle",
    "Plane",
    "Point",
    "Prescribed",
    "Recording",
    "Relation",
    "RigidContact",
    "Rod",
    "Scenario",
    "Solver",
    "Treatment",
    "Triangle",
    "check_finite",
    "check_vector",
    "combine",
    "describe",
    "digest",
    "with_elastic_joints",
]
