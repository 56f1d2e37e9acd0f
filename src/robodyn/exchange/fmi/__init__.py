"""Functional Mock-up Interface (FMI): scenarios as units for other simulators, and their units as subsystems."""

from robodyn.base import imported_names

from ..codegen.comparison import Agreement
from ..codegen.compilers import PLATFORMS
from .interface_unit import FmuSubsystem, InterfaceFmu, read_fmu
from .simulation import plan_experiment, simulate_fmu
from .unit import FmuUnit
from .writing import Export, write_fmu

__all__ = imported_names(__name__)
