"""Functional Mock-up Interface (FMI): scenarios as units for other simulators, and their units as subsystems."""

from robodyn.codegen.comparison import Agreement
from robodyn.codegen.compilers import PLATFORMS
from robodyn.fmi.interface_unit import InterfaceFmu
from robodyn.fmi.simulation import plan_experiment, simulate_fmu
from robodyn.fmi.subsystem import FmuSubsystem, read_fmu
from robodyn.fmi.unit import FmuUnit
from robodyn.fmi.writing import Export, write_fmu

__all__ = [
    "PLATFORMS",
    "Agreement",
    "Export",
    "FmuSubsystem",
    "FmuUnit",
    "InterfaceFmu",
    "plan_experiment",
    "read_fmu",
    "simulate_fmu",
    "write_fmu",
]
