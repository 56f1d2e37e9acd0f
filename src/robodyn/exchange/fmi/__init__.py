"""Functional Mock-up Interface (FMI): scenarios as units for other simulators, and their units as subsystems."""

from robodyn.exchange.codegen.comparison import Agreement
from robodyn.exchange.codegen.compilers import PLATFORMS
from robodyn.exchange.fmi.interface_unit import FmuSubsystem, InterfaceFmu, read_fmu
from robodyn.exchange.fmi.simulation import plan_experiment, simulate_fmu
from robodyn.exchange.fmi.unit import FmuUnit
from robodyn.exchange.fmi.writing import Export, write_fmu

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
