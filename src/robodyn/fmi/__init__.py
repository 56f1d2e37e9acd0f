"""Scenarios as units of the Functional Mock-up Interface, and such units as subsystems."""

from robodyn.fmi.checking import Agreement
from robodyn.fmi.compilers import PLATFORMS
from robodyn.fmi.interface_unit import InterfaceFmu
from robodyn.fmi.unit import FmuUnit
from robodyn.fmi.writing import Export, write_fmu

__all__ = ["PLATFORMS", "Agreement", "Export", "FmuUnit", "InterfaceFmu", "write_fmu"]
