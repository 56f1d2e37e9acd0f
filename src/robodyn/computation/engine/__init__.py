"""Integration of hybrid systems given by compiled kernels: one engine in C99 and its thin Python side."""

from robodyn.base import imported_names

from .integrate import Integration, ResumableRun, Setup, integrate, set_up
from .problem import EngineProblem, EngineRecording
from .trajectory import BrokenRun, Counters, Status, Trajectory

__all__ = imported_names(__name__)
