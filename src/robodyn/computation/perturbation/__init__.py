"""Perturbation method: a nominal motion by inverse dynamics, and linear equations of what differs from it."""

from robodyn.base import imported_names

from .comparison import (
    Convergence,
    WayComparison,
    WayDifference,
    compare_runs,
    compare_ways,
    find_convergence,
)
from .nominal import Nominal, compute_nominal
from .perturbed import Perturbed, simulate_perturbed
from .storage import load_nominal, save_linear_model, save_nominal

__all__ = imported_names(__name__)
