"""Realistic dynamic simulation of robots: mechanism, drives, friction, sensors and digital control together.

Names are loaded when first used, so that `import robodyn` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from robodyn.base import lazy as _lazy

if TYPE_CHECKING:
    from .analysis.checked_run import simulate
    from .analysis.commissioning import dress, move, move_fast
    from .analysis.mechanics.machine_dynamics import MachineDynamics
    from .base.errors import ModelError
    from .computation.assembly import System, assemble
    from .computation.cosimulation import Connection, CosimSettings, ScenarioUnit, SignalConnection, cosimulate
    from .computation.perturbation import simulate_perturbed
    from .computation.results import Run, compare, load, save
    from .computation.simulation import compile_rollout, compile_system, simulate_many
    from .description.files import (
        DHRow,
        mechanism_from_dh,
        read_network,
        read_reference,
        read_scenario,
        write_scenario,
    )
    from .description.laws import law
    from .description.model import (
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
    from .description.robots import BalanceSheet, Robot, export_robot, import_robot, read_robot

_find, __dir__, __all__ = _lazy.load_when_used(__name__)

# Results lie below what presents them: the package alone knows both.
_lazy.VIEWS |= {
    "draw_run": "robodyn.presentation.reporting.runs",
    "draw_signal": "robodyn.presentation.reporting.runs",
    "describe": "robodyn.presentation.reporting.displays",
    "notebook_html": "robodyn.presentation.reporting.displays",
    "summary_of": "robodyn.presentation.reporting.summaries",
    "show_run": "robodyn.presentation.pages.page",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("robodyn")
    if name == "symbolic":  # a module: what laws are written with
        return importlib.import_module("robodyn.base.symbolic")
    return _find(name)
