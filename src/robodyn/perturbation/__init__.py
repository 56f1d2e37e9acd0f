"""The second way to simulate: a nominal motion by inverse dynamics, and linear equations of what differs from it."""

from robodyn.perturbation.nominal import Nominal, compute_nominal
from robodyn.perturbation.perturbed import Perturbed, simulate_perturbed

__all__ = ["Nominal", "Perturbed", "compute_nominal", "simulate_perturbed"]
