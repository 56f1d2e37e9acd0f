"""Assembly, Scenario -> System: one hybrid system of named states, memory, signals, tasks, guards and delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.assembly.assembler import assemble
    from robodyn.assembly.system import System
    from robodyn.signals import SignalInfo

__all__ = ["SignalInfo", "System", "assemble"]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.assembly.assembler": "assemble",
        "robodyn.assembly.system": "System",
        "robodyn.signals": "SignalInfo",
    },
)
