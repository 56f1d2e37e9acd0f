"""Assembly, Scenario -> System: one hybrid system of named states, memory, signals, tasks, guards and delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.base.signals import SignalInfo
    from robodyn.computation.assembly.assembler import assemble
    from robodyn.computation.assembly.system import System

__all__ = ["SignalInfo", "System", "assemble"]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.computation.assembly.assembler": "assemble",
        "robodyn.computation.assembly.system": "System",
        "robodyn.base.signals": "SignalInfo",
    },
)
