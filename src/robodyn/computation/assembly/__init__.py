"""Assembly, Scenario -> System: one hybrid system of named states, memory, signals, tasks, guards and delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from ...base.signals import SignalInfo
    from .assembler import assemble
    from .system import System

__getattr__, __dir__, __all__ = load_when_used(__name__)
