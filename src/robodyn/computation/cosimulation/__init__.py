"""Co-simulation: subsystems with their own solvers, coupled at communication points."""

from robodyn.base import imported_names

from .connection import Connection, SignalConnection
from .macro_steps import cosimulate
from .reading import CosimulationFile, Part, read_cosimulation
from .record import CosimulationRun, save_cosimulation
from .reduced import reduce_system
from .scenario_unit import ScenarioUnit
from .settings import CosimSettings
from .unit import (
    InterfaceMotion,
    ReducedModel,
    Unit,
    UnitEvent,
    UnitRefusal,
    model_from_mobility,
)

__all__ = imported_names(__name__)
