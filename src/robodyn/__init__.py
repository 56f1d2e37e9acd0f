"""Realistic dynamic simulation of robots: mechanism, drives, friction, sensors and digital control together.

Names are loaded when first used, so that `import robodyn` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from robodyn.base import lazy as _lazy

if TYPE_CHECKING:
    from robodyn.analysis.checked_run import simulate
    from robodyn.analysis.commissioning import dress, move, move_fast
    from robodyn.analysis.mechanics.machine_dynamics import MachineDynamics
    from robodyn.base.errors import ModelError
    from robodyn.computation.assembly import System, assemble
    from robodyn.computation.cosimulation import Connection, CosimSettings, ScenarioUnit, SignalConnection, cosimulate
    from robodyn.computation.perturbation import simulate_perturbed
    from robodyn.computation.results import Run, compare, load, save
    from robodyn.computation.simulation import compile_rollout, compile_system, simulate_many
    from robodyn.description.files import (
        DHRow,
        mechanism_from_dh,
        read_network,
        read_reference,
        read_scenario,
        write_scenario,
    )
    from robodyn.description.laws import law
    from robodyn.description.model import (
        GROUND,
        Ball,
        Block,
        Body,
        Box,
        BoxLook,
        CapsuleLook,
        ConstraintFunction,
        ConstraintMethod,
        Contact,
        ControlModel,
        CylinderLook,
        Delay,
        Distance,
        ElasticGear,
        Event,
        FormulaSignal,
        FunctionCoordinate,
        HeightField,
        Interface,
        Joint,
        LinearCombination,
        LinearConstraint,
        Load,
        LoopJoint,
        Machine,
        Mechanism,
        MeshLook,
        Mimic,
        Obstacle,
        Plane,
        Point,
        PointCoordinate,
        PrescribedMotion,
        Recording,
        RigidContact,
        Rim,
        Rod,
        Scenario,
        ScenarioSequence,
        Solver,
        SphereLook,
        StateController,
        TriangleLength,
        Wheel,
        combine,
        with_elastic_joints,
    )
    from robodyn.description.robots import BalanceSheet, Robot, export_robot, import_robot, read_robot

_HOMES = {
    "analysis.checked_run": "simulate",
    "analysis.mechanics.machine_dynamics": "MachineDynamics",
    "computation.assembly": "System assemble",
    "analysis.commissioning": "dress move move_fast",
    "computation.cosimulation": "Connection SignalConnection CosimSettings ScenarioUnit cosimulate",
    "base.errors": "ModelError",
    "description.files": "DHRow mechanism_from_dh read_network read_reference read_scenario write_scenario",
    "description.laws": "law",
    "description.model": "GROUND Ball Block Body Box BoxLook CapsuleLook ConstraintFunction ConstraintMethod Contact "
    "ControlModel CylinderLook Delay Distance ElasticGear Event FormulaSignal FunctionCoordinate HeightField Interface "
    "Joint LinearCombination LinearConstraint Load LoopJoint Machine Mechanism MeshLook Mimic Obstacle Plane Point "
    "PointCoordinate PrescribedMotion Recording RigidContact Rim Rod Scenario ScenarioSequence Solver SphereLook "
    "StateController TriangleLength Wheel combine with_elastic_joints",
    "computation.perturbation": "simulate_perturbed",
    "computation.results": "Run compare load save",
    "description.robots": "BalanceSheet Robot export_robot import_robot read_robot",
    "computation.simulation": "compile_rollout compile_system simulate_many",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "GROUND",
    "PointCoordinate",
    "BalanceSheet",
    "Ball",
    "Block",
    "Body",
    "Box",
    "BoxLook",
    "CapsuleLook",
    "CylinderLook",
    "MeshLook",
    "SphereLook",
    "StateController",
    "ScenarioSequence",
    "LoopJoint",
    "LinearCombination",
    "Connection",
    "Contact",
    "ControlModel",
    "LinearConstraint",
    "DHRow",
    "Delay",
    "Distance",
    "ElasticGear",
    "Event",
    "FormulaSignal",
    "HeightField",
    "Interface",
    "Joint",
    "SignalConnection",
    "FunctionCoordinate",
    "Load",
    "Machine",
    "MachineDynamics",
    "CosimSettings",
    "Mechanism",
    "Mimic",
    "ModelError",
    "Obstacle",
    "Plane",
    "Point",
    "PrescribedMotion",
    "Recording",
    "ConstraintFunction",
    "RigidContact",
    "Robot",
    "Rim",
    "Rod",
    "Run",
    "Scenario",
    "ScenarioUnit",
    "Solver",
    "System",
    "ConstraintMethod",
    "TriangleLength",
    "Wheel",
    "assemble",
    "combine",
    "compare",
    "compile_rollout",
    "compile_system",
    "cosimulate",
    "export_robot",
    "import_robot",
    "dress",
    "law",
    "load",
    "mechanism_from_dh",
    "move",
    "move_fast",
    "read_network",
    "read_reference",
    "read_robot",
    "read_scenario",
    "save",
    "simulate",
    "simulate_many",
    "simulate_perturbed",
    "with_elastic_joints",
    "write_scenario",
]


# Results lie below what presents them: the package alone knows both.
_lazy.Displayed.html_of = staticmethod(_lazy.later("robodyn.presentation.reporting.displays:notebook_html"))


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("robodyn")
    if name == "symbolic":  # a module: what laws are written with
        return importlib.import_module("robodyn.base.symbolic")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'robodyn' has no attribute '{name}'")
    return getattr(importlib.import_module(f"robodyn.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
