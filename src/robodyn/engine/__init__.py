"""Integration of hybrid systems given by compiled kernels: one engine in C99 and its thin Python side."""

from robodyn.engine.integrate import Integration, Setup, integrate, set_up
from robodyn.engine.problem import Problem, Recording
from robodyn.engine.resumable import ResumableRun
from robodyn.engine.trajectory import BrokenRun, Counters, Status, Trajectory

__all__ = [
    "BrokenRun",
    "Counters",
    "Integration",
    "Problem",
    "Recording",
    "ResumableRun",
    "Setup",
    "Status",
    "Trajectory",
    "integrate",
    "set_up",
]
