"""Perturbation method: a nominal motion by inverse dynamics, and linear equations of what differs from it."""

from robodyn.computation.perturbation.comparison import (
    Convergence,
    WayComparison,
    WayDifference,
    compare_runs,
    compare_ways,
    find_convergence,
)
from robodyn.computation.perturbation.nominal import Nominal, compute_nominal
from robodyn.computation.perturbation.perturbed import Perturbed, simulate_perturbed
from robodyn.computation.perturbation.storage import load_nominal, save_linear_model, save_nominal

__all__ = [
    "Convergence",
    "Nominal",
    "Perturbed",
    "WayComparison",
    "WayDifference",
    "compare_runs",
    "compare_ways",
    "compute_nominal",
    "find_convergence",
    "load_nominal",
    "save_linear_model",
    "save_nominal",
    "simulate_perturbed",
]
