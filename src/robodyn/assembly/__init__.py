"""Assembly, Scenario -> System: one hybrid system of named states, memory, signals, tasks, guards and delays."""

from robodyn.assembly.assembler import assemble
from robodyn.assembly.network import SignalInfo
from robodyn.assembly.system import System

__all__ = ["SignalInfo", "System", "assemble"]
