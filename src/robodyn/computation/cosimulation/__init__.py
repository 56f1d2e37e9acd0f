"""Co-simulation: subsystems with their own solvers, coupled at communication points."""

from robodyn.computation.cosimulation.connection import Connection, SignalConnection
from robodyn.computation.cosimulation.macro_steps import cosimulate
from robodyn.computation.cosimulation.reading import CosimulationFile, Part, read_cosimulation
from robodyn.computation.cosimulation.record import CosimulationRun, save_cosimulation
from robodyn.computation.cosimulation.reduced import reduce_system
from robodyn.computation.cosimulation.scenario_unit import ScenarioUnit
from robodyn.computation.cosimulation.settings import CosimSettings
from robodyn.computation.cosimulation.unit import (
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
