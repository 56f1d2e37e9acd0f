"""Integration of hybrid systems given by compiled kernels: one engine in C99 and its thin Python side."""

from robodyn.computation.engine.integrate import Integration, ResumableRun, Setup, integrate, set_up
from robodyn.computation.engine.problem import EngineProblem, EngineRecording
from robodyn.computation.engine.trajectory import BrokenRun, Counters, Status, Trajectory

__all__ = [
    "BrokenRun",
    "Counters",
    "Integration",
    "EngineProblem",
    "EngineRecording",
    "ResumableRun",
    "Setup",
    "Status",
    "Trajectory",
    "integrate",
    "set_up",
]
