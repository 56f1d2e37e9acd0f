"""Co-simulation: subsystems with their own solvers, coupled at communication points."""

from robodyn.cosimulation.connection import Connection, SignalConnection
from robodyn.cosimulation.macro_steps import cosimulate
from robodyn.cosimulation.reading import CosimulationFile, Part, read_cosimulation
from robodyn.cosimulation.reduced import reduce_system
from robodyn.cosimulation.result import CosimulationRun, save_cosimulation
from robodyn.cosimulation.scenario_unit import ScenarioUnit
from robodyn.cosimulation.settings import CosimSettings
from robodyn.cosimulation.unit import (
    InterfaceMotion,
    ReducedModel,
    Unit,
    UnitEvent,
    UnitRefusal,
    model_from_mobility,
)

__all__ = [
    "Connection",
    "CosimulationFile",
    "CosimulationRun",
    "InterfaceMotion",
    "SignalConnection",
    "CosimSettings",
    "Part",
    "ReducedModel",
    "ScenarioUnit",
    "Unit",
    "UnitEvent",
    "UnitRefusal",
    "cosimulate",
    "model_from_mobility",
    "read_cosimulation",
    "reduce_system",
    "save_cosimulation",
]
