"""Integration of hybrid systems given by compiled kernels: steppers, ticks, events, delays, recording."""

from robodyn.engine.integrate import integrate
from robodyn.engine.portions import Portions
from robodyn.engine.problem import Problem
from robodyn.engine.record import is_ready
from robodyn.engine.solver import Recording, Solver
from robodyn.engine.trajectory import Counters, Status, Trajectory

__all__ = ["Counters", "Portions", "Problem", "Recording", "Solver", "Status", "Trajectory", "integrate", "is_ready"]
